package host

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
)

// Sums of integers wrap around in their own dtype and those of halves are rounded once; lines may be longer than a
// block and lie in any way.
func TestCumsum(t *testing.T) {
	eachMode(t, func(t *testing.T, r *rig) {
		for _, d := range dtype.Numbers.Members() {
			for axis, ds := range [][]int64{{3, 700}, {700, 3}} {
				for where, l := range layouts(ds...) {
					x := place(d, l, 0, ramp(int(ds[0]*ds[1]), -2, 0.25)...)
					out := place(d, layouts(ds...)["contiguous"], 0)
					axes := op.Axes(1 << (1 - axis))
					want := cumsumOf(d, x.values(), ds, axes)
					require.NoError(t, r.call("cumsum", &device.Call{In: operands(x), Out: operands(out), Axes: axes}))
					require.Equal(t, want, out.values(), "%s %v %s", d, ds, where)
				}
			}
		}
	})
}

// cumsumOf adds up quarters, which float64 does exactly.
func cumsumOf(d dtype.DType, values []float64, ds []int64, axes op.Axes) []float64 {
	out := make([]float64, len(values))
	for _, group := range groups(ramp(len(values), 0, 1), ds, axes) {
		sum := 0.0
		for _, i := range group {
			sum += values[int(i)]
			out[int(i)] = rounded(d, sum)
		}
	}
	return out
}

// Lines beside each other are scanned together, in runs that end where a block of accumulators does and where an axis
// does; the result may lie in the operand's place.
func TestScansOfColumns(t *testing.T) {
	r := newRig(t, Config{Threads: 3})
	for _, d := range []dtype.DType{dtype.Float32, dtype.Float16, dtype.Float64, dtype.Int32, dtype.Uint8} {
		for _, ds := range [][]int64{{5, 7}, {5, 8}, {3, 9}, {3, 511}, {3, 513}, {4, 2047}, {4, 2049}, {3, 4100}, {2, 3, 17}, {3, 4, 600}} {
			for axis := range len(ds) - 1 {
				for where, l := range layouts(ds...) {
					x := place(d, l, 0, ramp(int(l.Numel()), -2, 0.25)...)
					axes := op.Axes(1 << axis)
					want := cumsumOf(d, x.values(), ds, axes)
					out := of(d, dims(ds...))
					require.NoError(t, r.call("cumsum", &device.Call{In: operands(x), Out: operands(out), Axes: axes}))
					require.Equal(t, want, out.values(), "%s %v %s", d, ds, where)
					require.NoError(t, r.call("cumsum", &device.Call{In: operands(x), Out: operands(x), Axes: axes}))
					require.Equal(t, want, x.values(), "in place: %s %v %s", d, ds, where)
				}
			}
		}
	}
}

// An infinity stays, two of different sign make nan, and neither reaches the elements before it or other lines.
func TestCumsumOfInfinities(t *testing.T) {
	r := newRig(t, Config{Threads: 1})
	inf, nan := math.Inf(1), math.NaN()
	for at := range 7 {
		for _, other := range []float64{-inf, nan} {
			line := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9}
			line[at], line[at+2] = inf, other
			want, sum := make([]float64, len(line)), 0.0
			for i, v := range line {
				sum += v
				want[i] = sum
			}
			for axis, l := range []shape.Layout{layouts(9, 9)["transposed"], dims(9, 9)} {
				x := of(dtype.Float32, l)
				for i := range int64(81) {
					along := i / 9
					if axis == 1 {
						along = i % 9
					}
					put(x.at(i), dtype.Float32, line[along])
				}
				for _, out := range []*tensor{of(dtype.Float32, dims(9, 9)), of(dtype.Float32, layouts(9, 9)["transposed"])} {
					require.NoError(t, r.call("cumsum", &device.Call{In: operands(x), Out: operands(out), Axes: 1 << axis}))
					expect(t, out, func(i int) float64 {
						if axis == 1 {
							return want[i%9]
						}
						return want[i/9]
					}, at, axis)
				}
			}
		}
	}
}

// Sums of nothing but -0 are -0, as NumPy's are, whichever way lines lie.
func TestCumsumKeepsNegativeZero(t *testing.T) {
	negative := math.Copysign(0, -1)
	for _, d := range []dtype.DType{dtype.Float16, dtype.BFloat16, dtype.Float32, dtype.Float64} {
		for axis := range 2 {
			r := newRig(t, Config{Threads: 1})
			x, y := of(d, dims(20, 20), negative), of(d, dims(20, 20))
			require.NoError(t, r.call("cumsum", &device.Call{In: operands(x), Out: operands(y), Axes: op.Axes(1 << axis)}))
			for i, v := range y.values() {
				require.True(t, v == 0 && math.Signbit(v), "%s along axis %d: element %d is %g", d, axis, i, v)
			}
		}
	}
}
