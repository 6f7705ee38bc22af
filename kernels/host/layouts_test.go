package host

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
)

// scattered is a layout of these dimensions with axes in any order in memory, some backwards, some with room between elements, and
// for operands that are only read, some of stride 0.
func scattered(random *rand.Rand, read bool, ds ...int64) shape.Layout {
	l, step := dims(ds...), int64(1)
	for _, axis := range random.Perm(len(ds)) {
		step *= 1 + int64(random.IntN(4)/3)
		l.Strides[axis] = step
		step *= max(ds[axis], 1)
		switch random.IntN(8) {
		case 0:
			l.Strides[axis] *= -1
		case 1:
			if read {
				l.Strides[axis] = 0
			}
		}
	}
	return l
}

// along are the operators of lines and of reductions, with their attributes for an axis.
var along = []struct {
	name   string
	attrs  func(axis int64) op.Attrs
	keeps  bool // whether the result has all elements
	last   bool // whether the axis is the last one
	scaled bool // whether there are a weight and a bias, and a second result: a scale for each line
	floats bool // whether there is no kernel for integers
	close  bool // whether sums of another order are right as well
}{
	{name: "sum", close: true},
	{name: "max"},
	{name: "min"},
	{name: "argmax"},
	{name: "argmin"},
	{name: "any"},
	{name: "all"},
	{name: "count_nonzero"},
	{name: "cumsum", keeps: true, close: true},
	{name: "cumprod", keeps: true, close: true},
	{name: "softmax", keeps: true, floats: true, close: true},
	{name: "sort", keeps: true, attrs: func(axis int64) op.Attrs { return op.Attrs{{Kind: op.Int, I: axis}, {Kind: op.Bool}} }},
	{name: "sort", keeps: true, attrs: func(axis int64) op.Attrs { return op.Attrs{{Kind: op.Int, I: axis}, {Kind: op.Bool, I: 1}} }},
	{name: "layer_norm", keeps: true, floats: true, last: true, scaled: true, close: true, attrs: func(int64) op.Attrs { return op.Attrs{{Kind: op.Float, F: 1e-5}, {Kind: op.Bool, I: 1}} }},
	{name: "layer_norm", keeps: true, floats: true, last: true, scaled: true, close: true, attrs: func(int64) op.Attrs { return op.Attrs{{Kind: op.Float, F: 1e-5}, {Kind: op.Bool}} }},
}

// However operands lie in memory and however many threads there are, results are those of contiguous operands on one thread.
// Where the order of a sum follows the layout, they are within its roundings.
func TestLinesOfAnyLayout(t *testing.T) {
	rounds := 100
	if testing.Short() {
		rounds = 40
	}
	random := rand.New(rand.NewPCG(21, 22))
	var rigs []*rig
	for _, threads := range []int{1, 2, 5} {
		rigs = append(rigs, newRig(t, Config{Threads: threads}))
	}
	sizes := []int64{1, 2, 3, 7, 8, 9, 15, 16, 17, 33, 64, 100}
	for range rounds {
		var ds []int64
		for range 1 + random.IntN(3) {
			ds = append(ds, sizes[random.IntN(len(sizes))])
		}
		if random.IntN(4) == 0 {
			ds[random.IntN(len(ds))] = int64(500 + random.IntN(800))
		}
		if l := dims(ds...); l.Numel() > 20000 {
			continue
		}
		for _, d := range []dtype.DType{dtype.Float32, dtype.Float16, dtype.BFloat16, dtype.Float64, dtype.Int8, dtype.Int64} {
			o := along[random.IntN(len(along))]
			if o.floats && !d.IsFloat() {
				continue
			}
			axis := random.IntN(len(ds))
			if o.last {
				axis = len(ds) - 1
			}
			x := place(d, scattered(random, true, ds...), 0)
			for i := range x.Numel() {
				v := math.Round(random.NormFloat64()*8) / 4
				if special := random.IntN(200); d.IsFloat() && special < 4 && !o.close {
					v = []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1)}[special]
				}
				put(x.at(i), d, v)
			}
			same := of(d, dims(ds...), x.values()...)
			axes := op.Axes(1 << axis)
			to := ds
			if !o.keeps {
				to = keep(ds, axes)
			}
			od := outputOf(o.name, d)
			call := func(r *rig, x *tensor, l shape.Layout, weight, bias *tensor) []float64 {
				y := place(od, l, 0)
				c := &device.Call{In: operands(x), Out: operands(y), Axes: axes}
				if o.attrs != nil {
					c.Attrs = o.attrs(int64(axis))
				}
				var scale *tensor
				if o.scaled {
					scale = of(weight.DType, dims(keep(ds, axes)...))
					c.In, c.Out = operands(x, weight, bias), operands(y, scale)
				}
				require.NoError(t, r.call(o.name, c))
				if scale != nil {
					return append(y.values(), scale.values()...)
				}
				return y.values()
			}
			wide := dtype.Float32
			if d == dtype.Float64 {
				wide = dtype.Float64
			}
			length := ds[len(ds)-1]
			weights := [2]*tensor{place(wide, scattered(random, true, length), 0), place(wide, scattered(random, true, length), 0)}
			var plain [2]*tensor
			for i, w := range weights {
				for j := range length {
					put(w.at(j), wide, random.NormFloat64())
				}
				plain[i] = of(wide, dims(length), w.values()...)
			}
			want := call(rigs[0], same, dims(to...), plain[0], plain[1])
			for i, r := range rigs {
				got := call(r, x, scattered(random, false, to...), weights[0], weights[1])
				what := fmt.Sprintf("%s of %s %v along %d, strides %v, rig %d", o.name, d, ds, axis, x.Strides[:x.Rank], i)
				if !o.close {
					sameBits(t, want, got, what)
					continue
				}
				rounding := 1e-5
				if d.Size() == 2 {
					rounding = 1e-2
				}
				for j := range want {
					same := want[j] == got[j] || math.IsNaN(want[j]) && math.IsNaN(got[j])
					if !same && !(math.Abs(want[j]-got[j]) <= rounding*(1+math.Abs(want[j]))) {
						t.Fatalf("element %d is %g; want %g: %s", j, got[j], want[j], what)
					}
				}
			}
		}
	}
}
