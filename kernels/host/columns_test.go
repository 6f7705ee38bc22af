package host

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/internal/sample"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
	"github.com/paddle-mps/paddle-mps/kernels/host/reduce"
)

// bestOf is the place of the first element that no other is better than, nan being worse than all.
func bestOf(vs []float64, better func(x, y float64) bool) float64 {
	best := 0
	for i, v := range vs {
		if better(v, vs[best]) || vs[best] != vs[best] && v == v {
			best = i
		}
	}
	return float64(best)
}

// stacksOf are reductions of elements of any kind, the sums and products of which are exact.
var stacksOf = map[string]func(vs []float64) float64{
	"sum": total,
	"max": func(vs []float64) float64 {
		return folds(vs, math.Inf(-1), func(a, v float64) float64 { return max(a, v) })
	},
	"min": func(vs []float64) float64 {
		return folds(vs, math.Inf(1), func(a, v float64) float64 { return min(a, v) })
	},
	"prod":   func(vs []float64) float64 { return folds(vs, 1, func(a, v float64) float64 { return a * v }) },
	"any":    func(vs []float64) float64 { return float64(engine.Bit(count(vs) > 0)) },
	"all":    func(vs []float64) float64 { return float64(engine.Bit(count(vs) == len(vs))) },
	"argmax": func(vs []float64) float64 { return bestOf(vs, func(x, y float64) bool { return x > y }) },
	"argmin": func(vs []float64) float64 { return bestOf(vs, func(x, y float64) bool { return x < y }) },

	"count_nonzero": func(vs []float64) float64 { return float64(count(vs)) },
}

func folds(vs []float64, a float64, f func(a, v float64) float64) float64 {
	for _, v := range vs {
		a = f(a, v)
	}
	return a
}

func count(vs []float64) (n int) {
	for _, v := range vs {
		n += int(engine.Bit(v != 0))
	}
	return n
}

// oddities are n values, few enough of them other than 0 and 1 that products are exact; floats have zeros of both signs,
// and with special nan and infinities.
func oddities(d dtype.DType, n int64, special bool) []float64 {
	r := rand.New(rand.NewPCG(uint64(n), 3))
	out := make([]float64, n)
	rare := []float64{math.NaN(), math.Inf(1), math.Inf(-1)}
	for i := range out {
		out[i] = float64(r.IntN(2))
		if out[i] == 0 && d.IsFloat() && r.IntN(2) == 0 {
			out[i] = math.Copysign(0, -1)
		}
		if r.IntN(9) == 0 {
			out[i] = float64(r.IntN(4))
		}
		if special && r.IntN(5) == 0 {
			out[i] = rare[r.IntN(len(rare))]
		}
	}
	return out
}

// Columns are reduced in runs that end with the accumulators, with an axis or with a thread, four rows at a time; rows are
// searched in parts. Each of these ends is crossed, on any number of threads.
func TestStacks(t *testing.T) {
	one, three := newRig(t, Config{Threads: 1}), newRig(t, Config{Threads: 3})
	shapes := [][]int64{
		{1, 8},
		{2, 9},
		{3, 31},
		{4, 32},
		{5, 33},
		{7, 129},
		{33, 64},
		{34, 65},
		{8, 2047},
		{3, 2048},
		{4, 2049},
		{5, 4097},
		{2, 16385},
		{2, reduce.Passed - 1},
		{2, reduce.Passed},
		{2, reduce.Passed + 1},
		{3, 5, 17},
		{2, 9, 600},
	}
	dtypes := []dtype.DType{dtype.Float32, dtype.Float16, dtype.Float64, dtype.Uint8, dtype.Int8, dtype.Int16, dtype.Int32, dtype.Int64}
	turn := 0
	for _, d := range dtypes {
		for _, ds := range shapes {
			turn++
			if ds[0]*ds[1] > 4000 && d != dtype.Float32 && d != dtype.Uint8 && d != dtype.Float64 {
				continue // the others share their kernels
			}
			t.Run(fmt.Sprintf("%s %v", d, ds), func(t *testing.T) {
				sample.Skip(t, 7, "stacks", turn)
				for axis := range len(ds) {
					for where, l := range layouts(ds...) {
						checkStacks(t, one, place(d, l, 0, oddities(d, l.Numel(), false)...), op.Axes(1<<axis), where)
						if d.IsFloat() {
							checkStacks(t, three, place(d, l, 0, oddities(d, l.Numel(), true)...), op.Axes(1<<axis), where+" special")
						}
					}
				}
			})
		}
	}
}

// checkStacks reduces a tensor along axes in all ways.
func checkStacks(t *testing.T, r *rig, x *tensor, axes op.Axes, what string) {
	t.Helper()
	gs := groups(x.values(), x.Slice(), axes)
	for name, f := range stacksOf {
		d := outputOf(name, x.DType)
		out := of(d, dims(keep(x.Slice(), axes)...))
		require.NoError(t, r.call(name, &device.Call{In: operands(x), Out: operands(out), Axes: axes}))
		for i, got := range out.values() {
			if want := rounded(d, f(gs[i])); got != want && (got == got || want == want) {
				t.Fatalf("%s of %s, %v, %s, output %d is %g; want %g", name, x.DType, axes, what, i, got, want)
			}
		}
	}
}

// A dimension that is broadcast has a stride of 0, along the reduced axis and across it.
func TestStacksOfBroadcasts(t *testing.T) {
	three := newRig(t, Config{Threads: 3})
	for _, d := range []dtype.DType{dtype.Float32, dtype.Uint8, dtype.Int64} {
		for axis := range 2 {
			l := dims(37, 70)
			l.Strides = [len(l.Strides)]int64{}
			l.Strides[axis] = 1
			for reduced := range 2 {
				values := oddities(d, l.Numel(), d.IsFloat())
				for i, v := range values { // products of many others would be no numbers of the oracle
					if v > 1 && !d.IsFloat() {
						values[i] = 1
					}
				}
				checkStacks(t, three, place(d, l, 0, values...), op.Axes(1<<reduced), "broadcast")
			}
		}
	}
}

// Sums of columns do not depend on the number of threads, to the last bit.
func TestColumnSumsOfThreads(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 5))
	values := make([]float64, 100*5003)
	for i := range values {
		values[i] = random.NormFloat64() * math.Exp(10*random.NormFloat64())
	}
	for _, d := range []dtype.DType{dtype.Float32, dtype.Float64} {
		x := of(d, dims(100, 5003), values...)
		var want []float64
		for threads := 1; threads < 5; threads++ {
			out := of(d, dims(1, 5003))
			r := newRig(t, Config{Threads: threads})
			require.NoError(t, r.call("sum", &device.Call{In: operands(x), Out: operands(out), Axes: 1}))
			if want == nil {
				want = out.values()
			}
			sameBits(t, want, out.values(), threads)
		}
	}
}

// Extremes of more columns than one run has, halves too, which are converted, and rows in the opposite order.
func TestExtremesOfManyColumns(t *testing.T) {
	const rows, columns = 9, reduce.WideBuffers*engine.Block*2 + 4099
	random := rand.New(rand.NewPCG(6, 7))
	values := make([]float64, rows*columns)
	for i := range values {
		values[i] = math.Round(random.NormFloat64() * 100)
	}
	want := map[string][]float64{"max": make([]float64, columns), "min": make([]float64, columns)}
	for i := range columns {
		high, low := math.Inf(-1), math.Inf(1)
		for row := range rows {
			high, low = max(high, values[row*columns+i]), min(low, values[row*columns+i])
		}
		want["max"][i], want["min"][i] = high, low
	}
	for _, d := range []dtype.DType{dtype.Float32, dtype.Float16} {
		x := of(d, dims(rows, columns), values...)
		backwards := *x
		backwards.Addr = unsafe.Add(x.Addr, (rows-1)*columns*d.Size())
		backwards.Strides[0] = -columns
		for name, want := range want {
			for threads := 1; threads <= 3; threads += 2 {
				r := newRig(t, Config{Threads: threads})
				for _, x := range []*tensor{x, &backwards} {
					out := of(d, dims(1, columns))
					require.NoError(t, r.call(name, &device.Call{In: operands(x), Out: operands(out), Axes: 1}))
					require.Equal(t, want, out.values())
				}
			}
		}
	}
}
