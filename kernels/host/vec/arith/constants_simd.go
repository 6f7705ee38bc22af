//go:build goexperiment.simd && amd64 && !race

package arith

import (
	"unsafe"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// constants are what the loops load; see vec.NewAligned.
type constants struct {
	narrowInt32 vec.Splat32 // the first float beyond int32
}

var consts = newConstants()

// newConstants fills them.
// SAFETY: see vec.NewAligned; the type has no pointers.
func newConstants() *constants {
	c := (*constants)(vec.NewAligned(unsafe.Sizeof(constants{})))
	c.narrowInt32.Set(0x1p31)
	return c
}
