package host

import (
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/internal/sample"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
)

// TestCastPairs casts values that both dtypes hold, from every layout to every layout.
func TestCastPairs(t *testing.T) {
	if sample.UnderRace {
		sample.Skip(t, 5, t.Name(), 0)
	}
	r := newRig(t, Config{Threads: 1})
	for _, from := range dtype.All.Members() {
		for _, to := range dtype.All.Members() {
			for where, l := range layouts(33, 35) {
				for _, target := range layouts(33, 35) {
					x, out := place(from, l, 1, 0, 1, 2, 3, 100), place(to, target, 0)
					if from == dtype.Bool {
						x = place(from, l, 1, 0, 1, 1)
					}
					require.NoError(t, r.call("cast", &device.Call{In: operands(x), Out: operands(out)}))
					xs := x.values()
					expect(t, out, func(i int) float64 {
						if to == dtype.Bool {
							return float64(engine.Bit(xs[i] != 0))
						}
						return xs[i]
					}, from, to, where)
				}
			}
		}
	}
}

func TestCastFloatToInteger(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	xs := []float64{nan, inf, -inf, 1e30, -1e30, -0.9, 0.9, 2.99, -2.99, 127.5, 255.5, -128.5, 32767.5, 2147483648, -2147483648}
	r := newRig(t, Config{Threads: 1})
	for _, from := range dtype.Floats.Members() {
		for _, to := range dtype.Integers.Members() {
			l := dims(int64(len(xs)))
			x, out := of(from, l, xs...), of(to, l)
			require.NoError(t, r.call("cast", &device.Call{In: operands(x), Out: operands(out)}))
			low, high := to.Range()
			got := out.ints()
			for i, v := range x.values() {
				want := int64(0)
				switch {
				case v != v:
				case math.IsInf(v, 0):
					want = map[bool]int64{true: high, false: low}[v > 0]
				default:
					whole, _ := big.NewFloat(v).Int(nil)
					if whole.Cmp(big.NewInt(high)) > 0 {
						whole.SetInt64(high)
					}
					if whole.Cmp(big.NewInt(low)) < 0 {
						whole.SetInt64(low)
					}
					want = whole.Int64()
				}
				require.Equal(t, want, got[i], "%s %v to %s", from, v, to)
			}
		}
	}
}

// TestCastRoundsOnce compares large integers and doubles with exact arithmetic.
func TestCastRoundsOnce(t *testing.T) {
	r := newRig(t, Config{Threads: 1})
	tie := int64(1)<<60 + 1<<52 // halfway between two bfloat16s
	for _, c := range []struct {
		x    int64
		to   dtype.DType
		want float64
	}{
		{tie, dtype.BFloat16, 1 << 60},
		{tie + 1, dtype.BFloat16, 1<<60 + 1<<53},
		{-tie - 1, dtype.BFloat16, -(1<<60 + 1<<53)},
		{tie - 1, dtype.BFloat16, 1 << 60},
		{1<<24 + 1, dtype.Float32, 1 << 24},
		{1<<53 + 1, dtype.Float64, 1 << 53},
		{1<<53 + 3, dtype.Float64, 1<<53 + 4},
		{65519, dtype.Float16, 65504},
		{65520, dtype.Float16, math.Inf(1)},
	} {
		x, out := of(dtype.Int64, dims(1)), of(c.to, dims(1))
		for i := range 8 {
			x.memory[i] = byte(c.x >> (8 * i))
		}
		require.NoError(t, r.call("cast", &device.Call{In: operands(x), Out: operands(out)}))
		require.Equal(t, c.want, out.values()[0], "%d to %s", c.x, c.to)
	}
	x, out := of(dtype.Float64, dims(2), 1+0x1p-11+0x1p-40, 1+0x1p-11), of(dtype.Float16, dims(2))
	require.NoError(t, r.call("cast", &device.Call{In: operands(x), Out: operands(out)}))
	require.Equal(t, []float64{1 + 0x1p-10, 1}, out.values())
}

func TestCastWraps(t *testing.T) {
	r := newRig(t, Config{Threads: 1})
	x, out := of(dtype.Int64, dims(4), 300, -1, 1<<40, 128), of(dtype.Int8, dims(4))
	require.NoError(t, r.call("cast", &device.Call{In: operands(x), Out: operands(out)}))
	require.Equal(t, []int64{44, -1, 0, -128}, out.ints())
}

// TestCopies moves between all pairs of layouts, large enough for tiles and threads.
func TestCopies(t *testing.T) {
	eachMode(t, func(t *testing.T, r *rig) {
		shapes := [][]int64{{}, {0}, {5}, {70, 71}, {2, 67, 40}, {67, 2, 40}, {3, 1, 70, 1, 17}, {2, 2, 2, 2, 2, 2, 2, 2, 2}}
		for _, d := range []dtype.DType{dtype.Bool, dtype.Float16, dtype.Float32, dtype.Int64} {
			for _, ds := range shapes {
				for from, l := range layouts(ds...) {
					for to, target := range layouts(ds...) {
						x, out := place(d, l, 0, ramp(101, 0, 1)...), place(d, target, 0)
						require.NoError(t, r.call("assign", &device.Call{In: operands(x), Out: operands(out)}))
						xs := x.values()
						expect(t, out, func(i int) float64 { return xs[i] }, d, ds, from, to)
					}
				}
			}
		}
	})
}

// TestCopySplit transposes so much that several threads take part, in the middle of tiles.
func TestCopySplit(t *testing.T) {
	r := newRig(t, Config{Threads: 3})
	x, out := place(dtype.Int16, layouts(500, 451)["transposed"], 0, ramp(30011, 0, 1)...), of(dtype.Int16, dims(500, 451))
	require.NoError(t, r.call("assign", &device.Call{In: operands(x), Out: operands(out)}))
	xs := x.values()
	expect(t, out, func(i int) float64 { return xs[i] })
}
