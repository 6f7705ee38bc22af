package elem

import (
	"math"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/arith"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/maths"
)

// Functions that package maths does not have, or not for one operand. The halves arrive as float32, which their codec makes of
// them.
func init() {
	registerUnaryFloats(op.IDErfinv, 2*engine.Heavy, through[float32](math.Erfinv), through[float64](math.Erfinv))
	registerBinaryFloats(op.IDAtan2, 2*engine.Heavy, rows[float32, float32]{vv: maths.Atan2}, rows[float64, float64]{vv: maths.Atan264})
	registerBinaryFloats(op.IDCopysign, 1, rows[float32, float32]{vv: copysigns32}, rows[float64, float64]{vv: copysigns64})
	registerBinaryFloats(op.IDFmax, 2, passingNaN[float32](arith.Max), passingNaN[float64](arith.Max))
	registerBinaryFloats(op.IDFmin, 2, passingNaN[float32](arith.Min), passingNaN[float64](arith.Min))
	engine.Register(op.IDNextafter, dtype.Float32, newBinary(engine.Plain, engine.Plain, 2, rows[float32, float32]{vv: nextafters32}))
	engine.Register(op.IDNextafter, dtype.Float64, newBinary(engine.Plain, engine.Plain, 2, rows[float64, float64]{vv: nextafters64}))
	engine.Register(op.IDGcd, dtype.Int32, newBinary(engine.Plain, engine.Plain, 4*engine.Heavy, eachPair(gcd[int32])))
	engine.Register(op.IDGcd, dtype.Int64, newBinary(engine.Plain, engine.Plain, 4*engine.Heavy, eachPair(gcd[int64])))
}

// through is the rows of T that a function of float64 gives.
func through[T float32 | float64](f func(float64) float64) func(*device.Call, []T, []T) {
	return func(_ *device.Call, dst, src []T) {
		for i, x := range src {
			dst[i] = T(f(float64(x)))
		}
	}
}

// nextafters32 is math.Nextafter32, but y where x equals it, which shows for zeros. Away from zero the bits count up, whichever
// sign there is; the direction is not predictable, so that it must not be a branch.
func nextafters32(dst, x, y []float32) {
	y, dst = y[:len(x)], dst[:len(x)]
	for i, v := range x {
		switch w := y[i]; {
		case v == w:
			dst[i] = w
		case v == 0 || v != v || w != w:
			dst[i] = math.Nextafter32(v, w)
		default:
			away := engine.Bit(w > v) ^ engine.Bit(v < 0)
			dst[i] = math.Float32frombits(math.Float32bits(v) + 2*uint32(away) - 1)
		}
	}
}

// nextafters64 is nextafters32 among the numbers of float64.
func nextafters64(dst, x, y []float64) {
	y, dst = y[:len(x)], dst[:len(x)]
	for i, v := range x {
		switch w := y[i]; {
		case v == w:
			dst[i] = w
		case v == 0 || v != v || w != w:
			dst[i] = math.Nextafter(v, w)
		default:
			away := engine.Bit(w > v) ^ engine.Bit(v < 0)
			dst[i] = math.Float64frombits(math.Float64bits(v) + 2*uint64(away) - 1)
		}
	}
}

// copysigns32 is math.Copysign on the bits of float32. A function of two elements, as for eachPair, would be called for each
// of them, which takes three times as long as the work.
func copysigns32(dst, x, y []float32) {
	const sign = 1 << 31
	y = y[:len(x)]
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] = math.Float32frombits(math.Float32bits(v)&^sign | math.Float32bits(y[i])&sign)
	}
}

// copysigns64 is math.Copysign of each pair.
func copysigns64(dst, x, y []float64) {
	y = y[:len(x)]
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] = math.Copysign(v, y[i])
	}
}

// passingNaN is the larger or smaller number, of equal ones the second, as in Paddle, which shows for zeros. Of a number
// and a nan it is the number, where the function of vec is nan.
func passingNaN[T float32 | float64](f arith.Binary) rows[T, T] {
	// A nan is rare, so that the test for one is predicted, and the numbers are compared in vectors.
	each := arith.RowsOf[T](f).VV
	return rows[T, T]{vv: func(dst, a, b []T) {
		f := engine.NewFrame()
		defer f.Free()
		best := engine.Slice[T](f.Room(), engine.Block) // dst may be a or b
		for len(a) > 0 {
			n := min(len(a), engine.Block)
			each(best[:n], a, b)
			for i, v := range best[:n] {
				switch {
				case v == v:
				case b[i] == b[i]:
					best[i] = b[i]
				default:
					best[i] = a[i]
				}
			}
			copy(dst, best[:n])
			dst, a, b = dst[n:], a[n:], b[n:]
		}
	}}
}

// gcd is Euclid's, on magnitudes: about 1.4 divisions a bit of the smaller operand at most, and none for a zero. The least integer has no magnitude of its type, and is its own.
func gcd[T int32 | int64](x, y T) T {
	a, b := magnitudeOf(x), magnitudeOf(y)
	for b != 0 {
		a, b = b, a%b
	}
	return T(a)
}

// magnitudeOf is |x| without a sign.
func magnitudeOf[T int32 | int64](x T) uint64 {
	if x < 0 {
		return -uint64(x)
	}
	return uint64(x)
}
