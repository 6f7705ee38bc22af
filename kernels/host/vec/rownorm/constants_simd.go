//go:build goexperiment.simd && amd64 && !race

package rownorm

import (
	"math"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// constants are what the loops load beside those of exp; see vec.NewAligned.
type constants struct {
	wideDown      vec.Splat64 // 2^-64
	narrowDeepest vec.Splat32 // see softmaxDepth
	padding       vec.Splat32 // -Inf, whose exponential is 0 beside any other
}

var consts = newConstants()

// newConstants fills them.
// SAFETY: see vec.NewAligned; the type has no pointers.
func newConstants() *constants {
	c := (*constants)(vec.NewAligned(unsafe.Sizeof(constants{})))
	c.wideDown.Set(0x1p-64)
	c.narrowDeepest.Set(-softmaxDepth)
	c.padding.Set(float32(math.Inf(-1)))
	return c
}

// momentsLength is the longest row whose mean and deviation are computed in one pass. Of short rows normalizeBlock elements are normalized
// together, which stay in the first-level cache, and of longer ones four rows if they are no more than normalizeMost, which the second-level
// cache holds twice.
const (
	momentsLength  = 4096
	normalizeBlock = 2048
	normalizeMost  = 65536
)
