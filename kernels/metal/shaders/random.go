package shaders

import (
	"math"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/metal/msl"
)

// Random numbers are those of every device: the same Philox counters, and the same arithmetic for uniform
// numbers and integers. Normal ones differ by what logarithm, root and sine of the GPU do.
func init() {
	// Rounding to the dtype could reach the upper bound, so the largest value below it is given too. Where the bounds
	// are equal or exchanged there is no such value, and nothing is cut.
	create(op.IDUniform, dtype.Floats, recipe{name: "uniform_", source: msl.Random, numbers: func(c *device.Call) [6]uint64 {
		low, high := c.Attrs[op.UniformMin].Float64(), c.Attrs[op.UniformMax].Float64()
		top := math.Inf(1)
		if low < high {
			top = below(c.Out[0].DType, high)
		}
		return [6]uint64{c.Seed[0], c.Seed[1], math.Float64bits(low), math.Float64bits(high - low), math.Float64bits(top)}
	}})
	// Normal numbers are computed in float32, so their parameters are given as such.
	create(op.IDNormal, dtype.Floats, recipe{name: "normal", source: msl.Random, numbers: func(c *device.Call) [6]uint64 {
		mean, deviation := float32(c.Attrs[op.NormalMean].Float64()), float32(c.Attrs[op.NormalStd].Float64())
		return [6]uint64{c.Seed[0], c.Seed[1], uint64(math.Float32bits(mean)), uint64(math.Float32bits(deviation))}
	}})
	// The width of the range is given instead of its end: it fits 64 bits even where the range is all of int64.
	create(op.IDRandint, dtype.Integers, recipe{name: "randint", source: msl.Random, numbers: func(c *device.Call) [6]uint64 {
		low, high := c.Attrs[op.RandintLow].I, c.Attrs[op.RandintHigh].I
		return [6]uint64{c.Seed[0], c.Seed[1], uint64(low), uint64(high - low)}
	}})
}

// below is the largest value of a float dtype that is less than x: the upper bound of uniform numbers is excluded, and
// rounding must not reach it.
func below(d dtype.DType, x float64) float64 {
	// The dtype's bits are the upper ones of 32, so that one step is the same operation for all three.
	narrow, widen := float32Bits, float32Of
	switch d {
	case dtype.Float16:
		narrow = func(x float64) uint32 { return uint32(dtype.F64ToF16(x)) << 16 }
		widen = func(u uint32) float64 { return float64(dtype.F16ToF32(uint16(u >> 16))) }
	case dtype.BFloat16:
		narrow = func(x float64) uint32 { return uint32(dtype.F64ToBF16(x)) << 16 }
		widen = func(u uint32) float64 { return float64(dtype.BF16ToF32(uint16(u >> 16))) }
	}
	step := uint32(1)
	if d != dtype.Float32 {
		step = 1 << 16
	}
	const negative = 1 << 31
	u := narrow(x)
	switch {
	case widen(u) < x:
		return widen(u)
	case u&^negative == 0:
		return widen(negative | step)
	case u&negative != 0:
		return widen(u + step)
	}
	return widen(u - step)
}

// float32Bits and float32Of convert between a number and the bits of its float32.
func float32Bits(x float64) uint32 { return math.Float32bits(float32(x)) }
func float32Of(u uint32) float64   { return float64(math.Float32frombits(u)) }
