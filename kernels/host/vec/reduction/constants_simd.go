//go:build goexperiment.simd && amd64 && !race

package reduction

import (
	"unsafe"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// constants are what the loops load; see vec.NewAligned.
type constants struct{ zero, one, minusOne, productLow, productHigh, productDown, productUp, magnitude vec.Splat64 }

var consts = newConstants()

// newConstants fills them.
// SAFETY: see vec.NewAligned; the type has no pointers.
func newConstants() *constants {
	c := (*constants)(vec.NewAligned(unsafe.Sizeof(constants{})))
	c.zero.Set(0)
	c.one.Set(1)
	c.minusOne.Set(-1)
	c.productLow.Set(1 / productLimit)
	c.productHigh.Set(productLimit)
	c.productDown.Set(0x1p-600)
	c.productUp.Set(0x1p600)
	c.magnitude.SetBits(1<<63 - 1)
	return c
}
