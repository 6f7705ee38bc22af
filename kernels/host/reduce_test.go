package host

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/kernels/host/reduce"
)

// keep is the shape of a reduction's output with reduced axes of one element.
func keep(ds []int64, axes op.Axes) []int64 {
	out := append([]int64{}, ds...)
	for i := range out {
		if axes.Has(i) {
			out[i] = 1
		}
	}
	return out
}

// groups collects, for each output in row-major order, the elements that it is reduced from.
func groups(values []float64, ds []int64, axes op.Axes) [][]float64 {
	outer := dims(keep(ds, axes)...)
	out := make([][]float64, outer.Numel())
	for i, v := range values {
		number, at := int64(i), int64(0)
		for axis := len(ds) - 1; axis >= 0; axis-- {
			if !axes.Has(axis) {
				at += number % ds[axis] * outer.Strides[axis]
			}
			number /= ds[axis]
		}
		out[at] = append(out[at], v)
	}
	return out
}

func total(vs []float64) (s float64) {
	for _, v := range vs {
		s += v
	}
	return s
}

// reductionsOf are the reductions of small integers, which every dtype and order computes exactly.
var reductionsOf = map[string]func(vs []float64) float64{
	"sum":  total,
	"mean": func(vs []float64) float64 { return total(vs) / float64(len(vs)) },
	"max": func(vs []float64) float64 {
		m := math.Inf(-1)
		for _, v := range vs {
			m = max(m, v)
		}
		return m
	},
	"min": func(vs []float64) float64 {
		m := math.Inf(1)
		for _, v := range vs {
			m = min(m, v)
		}
		return m
	},
	"any": func(vs []float64) float64 {
		for _, v := range vs {
			if v != 0 {
				return 1
			}
		}
		return 0
	},
	"all": func(vs []float64) float64 {
		for _, v := range vs {
			if v == 0 {
				return 0
			}
		}
		return 1
	},
	"argmax": func(vs []float64) float64 {
		best := 0
		for i, v := range vs {
			if v > vs[best] {
				best = i
			}
		}
		return float64(best)
	},
	"argmin": func(vs []float64) float64 {
		best := 0
		for i, v := range vs {
			if v < vs[best] {
				best = i
			}
		}
		return float64(best)
	},
}

// outputs are the dtypes of results that are not those of operands. There are kernels for indices of both sizes.
var outputs = map[string]dtype.DType{
	"any": dtype.Bool, "all": dtype.Bool, "argmax": dtype.Int64, "argmin": dtype.Int32, "count_nonzero": dtype.Int64,
}

// outputOf is the dtype of a reduction's result.
func outputOf(name string, d dtype.DType) dtype.DType {
	if out, ok := outputs[name]; ok {
		return out
	}
	return d
}

func TestReduce(t *testing.T) {
	eachMode(t, func(t *testing.T, r *rig) {
		for name, f := range reductionsOf {
			for _, d := range dtype.Numbers.Members() {
				for _, c := range []struct {
					ds   []int64
					axes op.Axes
				}{
					{[]int64{}, 0},
					{[]int64{9}, 1},
					{[]int64{1}, 1},
					{[]int64{5, 40}, 1},
					{[]int64{5, 40}, 2},
					{[]int64{5, 40}, 3},
					{[]int64{3, 17, 5}, 2},
					{[]int64{3, 17, 5}, 5},
					{[]int64{3, 17, 5}, 0},
					{[]int64{0, 3}, 2},
					{[]int64{2, 600}, 1},
					{[]int64{2, 600}, 2},
					{[]int64{530, 34}, 2}, // more rows than one call folds
					{[]int64{3, 260, 34}, 4},
				} {
					for where, l := range layouts(c.ds...) {
						x := place(d, l, 1, 1, 3, 0, 2, 1, 0, 1)
						out := of(outputOf(name, d), dims(keep(c.ds, c.axes)...))
						call := &device.Call{In: operands(x), Out: operands(out), Axes: c.axes}
						require.NoError(t, r.call(name, call))
						gs := groups(x.values(), c.ds, c.axes)
						expect(t, out, func(i int) float64 { return f(gs[i]) }, name, d, c.ds, c.axes, where)
					}
				}
			}
		}
	})
}

// Rows without elements, which have no memory, as many as would be reduced beside each other.
func TestReduceNothing(t *testing.T) {
	r := newRig(t, Config{Threads: 1})
	for name, want := range map[string]float64{"sum": 0, "mean": math.NaN(), "prod": 1} {
		for _, d := range dtype.Floats.Members() {
			x, out := of(d, dims(33, 0)), of(d, dims(33, 1))
			x.Addr = nil
			require.NoError(t, r.call(name, &device.Call{In: operands(x), Out: operands(out), Axes: 2}))
			expect(t, out, func(int) float64 { return want }, name, d)
		}
	}
}

func TestReduceValues(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	r := newRig(t, Config{Threads: 1})
	for _, c := range []struct {
		op   string
		d    dtype.DType
		x    []float64
		want float64
	}{
		{"argmax", dtype.Float32, []float64{1, nan, 3}, 2},
		{"argmax", dtype.Float32, []float64{nan, 3, 1}, 1},
		{"argmax", dtype.Float16, []float64{nan, nan}, 0},
		{"argmax", dtype.Float64, []float64{nan, -inf}, 1},
		{"argmin", dtype.Float32, []float64{1, nan, 3}, 0},
		{"argmax", dtype.Int8, []float64{1, 3, 3}, 1},
		{"max", dtype.Float32, []float64{1, nan, 3}, nan},
		{"min", dtype.BFloat16, []float64{1, nan, 3}, nan},
		{"max", dtype.Float64, []float64{-inf, -inf}, -inf},
		{"sum", dtype.Int8, []float64{100, 100}, -56},
		{"sum", dtype.Uint8, []float64{200, 100}, 44},
		{"mean", dtype.Int64, []float64{1, 2}, 1},
		{"mean", dtype.Int64, []float64{-1, -2}, -1},
		{"mean", dtype.Int64, []float64{1 << 62, 1 << 62}, 1 << 62},
		{"mean", dtype.Int32, []float64{1<<31 - 1, 1<<31 - 1}, 1<<31 - 1},
		{"mean", dtype.Int64, []float64{-1 << 63, -1 << 63}, -1 << 63},
		{"mean", dtype.Bool, []float64{1, 1, 0}, 1},
		{"mean", dtype.Bool, []float64{0, 0}, 0},
		{"max", dtype.Bool, []float64{0, 1}, 1},
		{"min", dtype.Bool, []float64{0, 1}, 0},
		{"prod", dtype.Float32, []float64{2, 3, 0.5}, 3},
		{"prod", dtype.Int16, []float64{256, 256}, 0},
		{"prod", dtype.Int32, []float64{-2, 5}, -10},
		{"sum", dtype.Float64, []float64{1e300, 1, -1e300}, 1},
		{"sum", dtype.Float64, []float64{inf, -inf}, nan},
		{"sum", dtype.Float64, []float64{inf, 1}, inf},
		{"sum", dtype.Float32, nil, 0},
		{"mean", dtype.Float32, nil, nan},
		{"prod", dtype.Float64, nil, 1},
		{"sum", dtype.Int64, nil, 0},
		{"any", dtype.Bool, nil, 0},
		{"all", dtype.Bool, nil, 1},
		{"any", dtype.Float32, []float64{0, nan}, 1},
		{"all", dtype.Float16, []float64{math.Copysign(0, -1)}, 0},
	} {
		l := dims(int64(len(c.x)))
		out := of(outputOf(c.op, c.d), dims(1))
		require.NoError(t, r.call(c.op, &device.Call{In: operands(of(c.d, l, c.x...)), Out: operands(out), Axes: 1}), c.op)
		sameBits(t, []float64{c.want}, out.values(), c.op, c.d, c.x)
	}
}

// TestSearchOfLongRows has rows of several parts, with the best in any of them, the limits of each dtype, and nan in one part.
func TestSearchOfLongRows(t *testing.T) {
	r := newRig(t, Config{Threads: 1})
	const n = 3*reduce.Passed + 5
	inf, nan := math.Inf(1), math.NaN()
	for _, d := range dtype.Numbers.Members() {
		if d == dtype.Bool {
			continue
		}
		low, high := -inf, inf
		if !d.IsFloat() {
			l, h := d.Range()
			low, high = float64(l), float64(h)
			if d == dtype.Int64 {
				high = 1<<63 - 1024 // the largest that float64 holds too
			}
		}
		for _, background := range []float64{1, low, high} {
			for _, at := range []int{0, reduce.Passed - 1, reduce.Passed, 2*reduce.Passed + 7, n - 1} {
				for _, best := range []float64{2, low, high, math.Copysign(0, -1)} {
					values := make([]float64, n)
					for i := range values {
						values[i] = background
					}
					values[at] = best
					if d.IsFloat() {
						values[reduce.Passed+3], values[(at+1)%n] = nan, nan
					}
					x, out := of(d, dims(n), values...), of(dtype.Int64, dims(1))
					require.NoError(t, r.call("argmax", &device.Call{In: operands(x), Out: operands(out), Axes: 1}))
					sameBits(t, []float64{bestOf(values, func(x, y float64) bool { return x > y })}, out.values(), "argmax", d, background, at, best)
					small := of(dtype.Int32, dims(1))
					require.NoError(t, r.call("argmin", &device.Call{In: operands(x), Out: operands(small), Axes: 1}))
					sameBits(t, []float64{bestOf(values, func(x, y float64) bool { return x < y })}, small.values(), "argmin", d, background, at, best)
				}
			}
		}
	}
}

// TestSearchOfFewOutputs has so few rows that threads divide them: the best in any piece or in two, nothing but nan, and elements
// that do not lie behind each other.
func TestSearchOfFewOutputs(t *testing.T) {
	const rows, n = 5, 2*reduce.LongPiece + 7
	bests := [rows][]int{{0}, {n - 1}, {reduce.LongPiece - 1, reduce.LongPiece}, {5, 2 * reduce.LongPiece}, {}}
	for _, d := range []dtype.DType{dtype.Float32, dtype.Float16, dtype.Int32, dtype.Float64} {
		values := make([]float64, rows*n)
		for row, places := range bests {
			for i := range n {
				values[row*n+i] = float64(i % 3)
				if len(places) == 0 && d.IsFloat() {
					values[row*n+i] = math.NaN()
				}
			}
			for _, at := range places {
				values[row*n+at] = 9
			}
		}
		apart := dims(rows, n)
		apart.Strides[0], apart.Strides[1] = 2*n+3, 2
		for _, l := range []shape.Layout{dims(rows, n), apart} {
			x := place(d, l, 0, values...)
			for threads := 1; threads <= 3; threads += 2 {
				r := newRig(t, Config{Threads: threads})
				for _, to := range []dtype.DType{dtype.Int64, dtype.Int32} {
					out := of(to, dims(rows, 1))
					c := &device.Call{In: operands(x), Out: operands(out), Axes: 2}
					require.EqualValues(t, 3, reduce.DivisionOf(c, reduce.LongPiece).Pieces)
					require.NoError(t, r.call("argmax", c))
					for row := range rows {
						want := bestOf(values[row*n:][:n], func(x, y float64) bool { return x > y })
						require.EqualValues(t, want, out.values()[row], "row %d of %s, %d threads", row, d, threads)
					}
				}
			}
		}
	}
}

// TestSumAccuracy adds values of very different size, along rows and along columns, and compares
// with exact arithmetic.
func TestSumAccuracy(t *testing.T) {
	r := newRig(t, Config{Threads: 2})
	const n, cols = 20000, 9
	random := rand.New(rand.NewPCG(1, 2))
	values := make([]float64, n*cols)
	for i := range values {
		values[i] = random.NormFloat64() * math.Pow(10, float64(random.IntN(8)))
	}
	for _, d := range dtype.Floats.Members() {
		if d == dtype.Float16 {
			continue // the sum is infinite
		}
		x := of(d, dims(n, cols), values...)
		for _, axes := range []op.Axes{1, 3} {
			out := of(d, dims(keep([]int64{n, cols}, axes)...))
			require.NoError(t, r.call("sum", &device.Call{In: operands(x), Out: operands(out), Axes: axes}))
			gs := groups(x.values(), []int64{n, cols}, axes)
			if d != dtype.Float64 {
				near(t, out, 1, func(i int) float64 { return exactly(gs[i]) }, d, axes)
				continue
			}
			for i, got := range out.values() {
				magnitude := 0.0
				for _, v := range gs[i] {
					magnitude += math.Abs(v)
				}
				bound := (2 + math.Log2(float64(len(gs[i])))) * 0x1p-53 * magnitude
				require.LessOrEqual(t, math.Abs(got-exactly(gs[i])), bound)
			}
		}
	}
}

// exactly is the sum of values, rounded once.
func exactly(vs []float64) float64 {
	s := new(big.Float).SetPrec(600)
	for _, v := range vs {
		s.Add(s, big.NewFloat(v))
	}
	f, _ := s.Float64()
	return f
}

func TestSoftmax(t *testing.T) {
	eachMode(t, func(t *testing.T, r *rig) {
		for _, d := range dtype.Floats.Members() {
			for _, c := range []struct {
				ds   []int64
				axis int
			}{{[]int64{}, 0}, {[]int64{600}, 0}, {[]int64{7, 70}, 1}, {[]int64{7, 70}, 0}, {[]int64{3, 5, 7}, 1}, {[]int64{0, 3}, 1}} {
				for where, l := range layouts(c.ds...) {
					x, out := place(d, l, 0, ramp(97, -20, 0.375)...), place(d, layouts(c.ds...)["contiguous"], 0)
					axes := op.Axes(1 << c.axis)
					require.NoError(t, r.call("softmax", &device.Call{In: operands(x), Out: operands(out), Axes: axes}))
					want := softmaxOf(x.values(), c.ds, axes)
					near(t, out, 2, func(i int) float64 { return want[i] }, d, c.ds, c.axis, where)
				}
			}
		}
	})
}

// softmaxOf is softmax in exact arithmetic, rounded once.
func softmaxOf(values []float64, ds []int64, axes op.Axes) []float64 {
	number := ramp(len(values), 0, 1)
	out := make([]float64, len(values))
	for _, group := range groups(number, ds, axes) {
		sum := new(big.Float).SetPrec(200)
		for _, i := range group {
			sum.Add(sum, exactExp(values[int(i)]))
		}
		for _, i := range group {
			out[int(i)], _ = new(big.Float).Quo(exactExp(values[int(i)]), sum).Float64()
		}
	}
	return out
}

var exps = map[float64]*big.Float{}

// exactExp is e**x to 200 bits, by the series of e**(x/256).
func exactExp(x float64) *big.Float {
	if e := exps[x]; e != nil {
		return e
	}
	term, sum := big.NewFloat(1).SetPrec(300), big.NewFloat(1).SetPrec(300)
	small := big.NewFloat(x / 256).SetPrec(300)
	for n := int64(1); n < 60; n++ {
		term.Mul(term, small).Quo(term, new(big.Float).SetInt64(n))
		sum.Add(sum, term)
	}
	for range 8 {
		sum.Mul(sum, sum)
	}
	exps[x] = sum
	return sum
}
