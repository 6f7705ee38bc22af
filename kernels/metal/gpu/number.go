package gpu

import (
	"math"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
)

// Element is a number as an element, in the lowest bytes.
func Element(v *op.Value, d dtype.DType) uint64 {
	if v.Kind != op.Float {
		return integerAs(v.I, d)
	}
	switch x := v.F; d {
	case dtype.Float32:
		return uint64(math.Float32bits(float32(x)))
	case dtype.Float16:
		return uint64(dtype.F64ToF16(x))
	case dtype.BFloat16:
		return uint64(dtype.F64ToBF16(x))
	case dtype.Bool:
		if x != 0 {
			return 1
		}
		return 0
	default:
		return uint64(nearest(x, d))
	}
}

func integerAs(n int64, d dtype.DType) uint64 {
	switch d {
	case dtype.Float32:
		return uint64(math.Float32bits(float32(n)))
	case dtype.Float16:
		return uint64(dtype.F64ToF16(float64(n)))
	case dtype.BFloat16:
		return uint64(dtype.F64ToBF16(float64(n)))
	case dtype.Bool:
		if n != 0 {
			return 1
		}
		return 0
	default:
		return uint64(n)
	}
}

// nearest is a float as an integer of a dtype: towards zero; what does not fit is the nearest that does,
// nan is 0.
func nearest(x float64, d dtype.DType) int64 {
	bits := uint(8 * d.Size())
	low, high := int64(-1)<<(bits-1), int64(uint64(1)<<(bits-1)-1)
	if d == dtype.Uint8 {
		low, high = 0, math.MaxUint8
	}
	switch {
	case x != x:
		return 0
	case x <= float64(low):
		return low
	case x >= float64(high):
		return high
	}
	return int64(x)
}
