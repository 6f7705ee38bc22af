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

// attended is attention of one head by the definition, in float64, and the sums that its error is bounded by.
type attended struct {
	queries, keys, size, width int
	q, k, v                    []float64
	mask                       []float64 // queries * keys, or nil; of bools where hides
	hides, causal              bool
	scale                      float64
}

// want are the results, and by how much float32 may be off. A score is a sum of size products and a mask: each rounding is at
// most 2^-24 of the sum of the magnitudes, as is that of the scaled query. The rounding of the difference from the maximum is
// at most 2^-24 of it; what a mask of a large number adds is part of the score. An error of a score is a relative one of its
// weight, of the numerator and of the sum. Exponentials are off by 2^-22, and the sums have a rounding for each key.
func (a *attended) want() (out, off []float64) {
	const eps = 0x1p-24
	for i := range a.queries {
		scores, top, most := make([]float64, a.keys), math.Inf(-1), 0.0
		for j := range scores {
			magnitude := 0.0
			for e := range a.size {
				product := a.scale * a.q[i*a.size+e] * a.k[j*a.size+e]
				scores[j] += product
				magnitude += math.Abs(product)
			}
			if a.mask != nil && a.hides && a.mask[i*a.keys+j] == 0 {
				scores[j] = math.Inf(-1)
			}
			if a.mask != nil && !a.hides {
				scores[j] += a.mask[i*a.keys+j]
			}
			if a.causal && j > i {
				scores[j] = math.Inf(-1)
			}
			if !math.IsInf(scores[j], -1) {
				most = max(most, magnitude*float64(a.size+2)+2*math.Abs(scores[j]))
			}
			if top = max(top, scores[j]); scores[j] != scores[j] {
				top = scores[j]
			}
		}
		sum := 0.0
		for j := range scores {
			scores[j] = math.Exp(scores[j] - top)
			sum += scores[j]
		}
		for e := range a.width {
			result, magnitude, largest := 0.0, 0.0, 0.0
			for j := range scores {
				v := a.v[j*a.width+e]
				result += scores[j] / sum * v
				magnitude += math.Abs(scores[j] / sum * v)
				largest = max(largest, math.Abs(v))
			}
			out = append(out, result)
			off = append(off, eps*(2*most+2*float64(a.keys)+16)*magnitude+largest*float64(a.keys)*0x1p-120)
		}
	}
	return out, off
}

// check compares all heads of a call with the definition.
func checkAttention(t *testing.T, q, k, v, mask, out *tensor, at op.Attrs, msg ...any) {
	t.Helper()
	slices := func(o *tensor, dims ...int64) (list [][]float64) {
		if o == nil {
			return nil
		}
		whole, all := o.Operand, must(shape.Of(dims...))
		whole.Layout = o.BroadcastTo(&all)
		values := (&tensor{Operand: whole}).values()
		n := int(dims[len(dims)-1] * dims[len(dims)-2])
		for len(values) > 0 && n > 0 {
			list, values = append(list, values[:n]), values[n:]
		}
		return list
	}
	b, h, l, s, e, w := q.Dims[0], q.Dims[1], q.Dims[2], k.Dims[2], q.Dims[3], v.Dims[3]
	masks := slices(mask, b, h, l, s)
	keys, values := slices(k, b, k.Dims[1], s, e), slices(v, b, k.Dims[1], s, w)
	queries, results := slices(q, b, h, l, e), slices(out, b, h, l, w)
	group := int(h / k.Dims[1])
	for i := range results {
		a := attended{queries: int(l), keys: int(s), size: int(e), width: int(w), scale: at[op.AttentionScale].F, causal: at[op.AttentionCausal].I != 0}
		if e > 0 {
			a.q = queries[i]
		}
		if e > 0 && s > 0 {
			a.k = keys[i/group]
		}
		if s > 0 {
			a.v = values[i/group]
		}
		if mask != nil && s > 0 {
			a.mask, a.hides = masks[i], mask.DType == dtype.Bool
		}
		want, off := a.want()
		for j, y := range want {
			got := results[i][j]
			if s == 0 {
				require.Zero(t, got, msg...)
				continue
			}
			if y != y {
				require.True(t, math.IsNaN(got), "element %d of head %d is %g of %v", j, i, got, msg)
				continue
			}
			switch out.DType { // one rounding to the dtype
			case dtype.Float16:
				off[j] += max(math.Abs(y)*0x1p-11, 0x1p-25)
			case dtype.BFloat16:
				off[j] += math.Abs(y) * 0x1p-8
			}
			require.InDelta(t, y, got, off[j], "element %d of head %d of %v", j, i, msg)
		}
	}
}

// callAttention runs a call in the frame of the row, and checks it.
func callAttention(t *testing.T, r *rig, q, k, v, mask, out *tensor, at op.Attrs, msg ...any) {
	t.Helper()
	step := op.Step{Row: op.MustByName("attention"), Attrs: at}
	var addrs []device.Operand
	for _, o := range []*tensor{q, k, v, mask, out} {
		if o == nil {
			step.In, addrs = append(step.In, op.Ref{Number: &op.Value{}}), append(addrs, device.Operand{})
			continue
		}
		step.In, addrs = append(step.In, op.Ref{DType: o.DType, Layout: o.Layout}), append(addrs, o.Operand)
	}
	step.In, step.Out = step.In[:4], step.In[4:]
	step.Arrange()
	for i := range addrs {
		if i < 4 {
			addrs[i].Layout = step.In[i].Layout
		} else {
			addrs[i].Layout = step.Out[0].Layout
		}
	}
	require.NoError(t, r.call("attention", &device.Call{In: addrs[:4], Out: addrs[4:], Attrs: at}))
	checkAttention(t, q, k, v, mask, out, at, msg...)
}

func attentionAttrs(scale float64, causal bool) op.Attrs {
	at := op.Attrs{{Kind: op.Float, F: scale}, {Kind: op.Bool}, {}}
	if causal {
		at[op.AttentionCausal].I = 1
	}
	return at
}

// gaussian are numbers of a normal distribution.
func gaussian(r *rand.Rand, n int64) []float64 {
	out := make([]float64, max(n, 1))
	for i := range out {
		out[i] = r.NormFloat64()
	}
	return out
}

// Shapes at both sides of the blocks, heads that share keys, values of another size, masks of all kinds, and any layout.
func TestAttention(t *testing.T) {
	eachMode(t, func(t *testing.T, r *rig) {
		random := rand.New(rand.NewPCG(7, 8))
		for n, s := range [][7]int64{ // batch, heads, heads of keys, queries, keys, size, width
			{1, 1, 1, 1, 1, 1, 1},
			{2, 3, 3, 5, 7, 4, 6},
			{1, 2, 2, 32, 252, 8, 12},
			{1, 2, 2, 33, 253, 8, 13},
			{2, 4, 2, 31, 300, 5, 3},
			{1, 6, 1, 70, 600, 16, 24},
			{1, 1, 1, 1, 1000, 8, 8},
			{2, 4, 2, 3, 520, 7, 5},
			{1, 2, 1, 4, 255, 0, 9},
			{2, 2, 2, 2, 0, 4, 3},
			{1, 1, 1, 100, 1, 8, 8},
			{1, 2, 2, 3, 4, 0, 5},
			{1, 2, 2, 3, 0, 4, 5},
			{3, 2, 1, 64, 64, 64, 64},
		} {
			for m := range 6 {
				d := []dtype.DType{dtype.Float32, dtype.Float16, dtype.BFloat16}[(n+m)%3]
				random := random
				layout := func(read bool, ds ...int64) shape.Layout {
					if m%2 == 0 {
						return dims(ds...)
					}
					l := scattered(random, read, ds...)
					return l
				}
				q := place(d, layout(true, s[0], s[1], s[3], s[5]), 0, gaussian(random, s[0]*s[1]*s[3]*s[5])...)
				k := place(d, layout(true, s[0], s[2], s[4], s[5]), 0, gaussian(random, s[0]*s[2]*s[4]*s[5])...)
				v := place(d, layout(true, s[0], s[2], s[4], s[6]), 0, gaussian(random, s[0]*s[2]*s[4]*s[6])...)
				out := place(d, layout(false, s[0], s[1], s[3], s[6]), 0)
				var mask *tensor
				switch m {
				case 1:
					mask = place(d, layout(true, s[0], 1, 1, s[4]), 0, gaussian(random, s[0]*s[4])...)
				case 2:
					mask = place(d, layout(true, s[3], s[4]), 0, gaussian(random, s[3]*s[4])...)
				case 3:
					mask = place(dtype.Bool, layout(true, s[0], s[1], s[3], s[4]), 0, 1, 0, 1, 1, 0)
				case 4:
					mask = place(d, dims(s[1], 1, s[4]), 0, 0, math.Inf(-1), -1e4, 0, 0)
				}
				callAttention(t, r, q, k, v, mask, out, attentionAttrs([]float64{0.5, 0.3, 1}[m%3], m >= 4), d, s, m)
			}
		}
	})
}

// Infinities and NaN of each operand, and what a mask leaves nothing of, are what the definition gives; so are values whose sum
// would overflow.
func TestAttentionOfSpecials(t *testing.T) {
	inf := math.Inf(1)
	nan := math.NaN()
	r := newRig(t, Config{Threads: 2})
	random := rand.New(rand.NewPCG(9, 10))
	for operand := range 4 {
		for _, special := range []float64{inf, -inf, nan, 3e38, -3e38} {
			for mode := range 4 {
				const s, e = 300, 4
				causal, l := mode%2 == 1, []int64{40, 2}[mode/2]
				ts := []*tensor{
					of(dtype.Float32, dims(1, 1, l, e), gaussian(random, l*e)...), of(dtype.Float32, dims(1, 1, s, e), gaussian(random, s*e)...),
					of(dtype.Float32, dims(1, 1, s, e), gaussian(random, s*e)...), of(dtype.Float32, dims(1, 1, l, s), gaussian(random, l*s)...),
				}
				put(ts[operand].at(ts[operand].Numel()/2), dtype.Float32, special)
				if operand == 3 || math.Abs(special) != 3e38 || operand == 2 {
					callAttention(t, r, ts[0], ts[1], ts[2], ts[3], of(dtype.Float32, dims(1, 1, l, e)), attentionAttrs(0.5, causal), operand, special, mode)
				}
			}
		}
	}
	for _, n := range []int64{70, 2} {
		attentionOfNothing(t, r, n)
	}
}

// attentionOfNothing has values whose sum overflows, and masks that leave nothing.
func attentionOfNothing(t *testing.T, r *rig, n int64) {
	inf, nan := math.Inf(1), math.NaN()
	q, k, v := of(dtype.Float32, dims(1, 1, n, 2), 0), of(dtype.Float32, dims(1, 1, n, 2), 0), of(dtype.Float32, dims(1, 1, n, 2), 3e38)
	callAttention(t, r, q, k, v, nil, of(dtype.Float32, dims(1, 1, n, 2)), attentionAttrs(0.5, false), "large values")
	callAttention(t, r, q, k, v, of(dtype.Bool, dims(n, n), 0), of(dtype.Float32, dims(1, 1, n, 2)), attentionAttrs(0.5, false), "all hidden")
	callAttention(t, r, q, k, v, of(dtype.Float32, dims(n, n), -inf), of(dtype.Float32, dims(1, 1, n, 2)), attentionAttrs(0.5, false), "all at -inf")
	callAttention(t, r, q, k, v, of(dtype.Float32, dims(n, 1), 0, -inf, 5), of(dtype.Float32, dims(1, 1, n, 2)), attentionAttrs(0.5, true), "some queries see none")
	// The NaN of a later key, which no query sees, times its weight of 0.
	put(v.at(2*n-1), dtype.Float32, nan)
	callAttention(t, r, q, k, v, nil, of(dtype.Float32, dims(1, 1, n, 2)), attentionAttrs(0.5, true), "a value that is not seen is NaN")
}

// What a mask says of a key behind the query changes nothing where causal hides the key: neither its fill nor a NaN becomes a score.
func TestAttentionHidesLaterKeysBehindMasks(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	eachMode(t, func(t *testing.T, r *rig) {
		random := rand.New(rand.NewPCG(13, 14))
		for _, l := range []int64{1, 2, 40, 300} {
			const s, e = 300, 4
			q, k, v := of(dtype.Float32, dims(1, 1, l, e), gaussian(random, l*e)...), of(dtype.Float32, dims(1, 1, s, e), gaussian(random, s*e)...), of(dtype.Float32, dims(1, 1, s, e), gaussian(random, s*e)...)
			for _, d := range []dtype.DType{dtype.Bool, dtype.Float32} {
				at := attentionAttrs(0.5, true)
				at[op.AttentionFill] = op.Value{Kind: op.Float, F: 2}
				var want []float64
				for _, later := range []float64{1, 0, nan, inf, -inf} {
					mask := make([]float64, l*s)
					for i := range mask {
						mask[i] = float64(i % 3 & 1)
						if int64(i)%s > int64(i)/s {
							mask[i] = later
						}
					}
					out := of(dtype.Float32, dims(1, 1, l, e))
					step := &device.Call{In: operands(q, k, v, of(d, dims(1, 1, l, s), mask...)), Out: operands(out), Attrs: at}
					require.NoError(t, r.call("attention", step))
					if want == nil {
						want = out.values()
					}
					sameBits(t, want, out.values(), fmt.Sprint(l, d, later))
				}
				require.False(t, math.IsNaN(want[0]), "%d %s", l, d)
			}
		}
	})
}

// A result has the same bits for any number of threads.
func TestAttentionOnThreads(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	for _, causal := range []bool{false, true} {
		var want []float64
		q, k, v := gaussian(random, 5*130*16), gaussian(random, 5*520*16), gaussian(random, 5*520*20)
		for threads := 1; threads <= 7; threads++ {
			out := of(dtype.Float32, dims(5, 130, 20))
			r := newRig(t, Config{Threads: threads})
			call := &device.Call{
				In:  append(operands(of(dtype.Float32, dims(5, 130, 16), q...), of(dtype.Float32, dims(5, 520, 16), k...), of(dtype.Float32, dims(5, 520, 20), v...)), device.Operand{}),
				Out: operands(out), Attrs: attentionAttrs(0.5, causal),
			}
			require.NoError(t, r.call("attention", call))
			if want == nil {
				want = out.values()
			}
			sameBits(t, want, out.values(), fmt.Sprint(threads))
		}
	}
}

// BenchmarkAttention is heads of 128 and 512 queries and keys of 64 elements, on one thread.
func BenchmarkAttention(b *testing.B) {
	random := rand.New(rand.NewPCG(13, 14))
	for _, s := range [][2]int64{{96, 128}, {12, 512}} {
		for _, causal := range []bool{false, true} {
			b.Run(fmt.Sprintf("%dx%d/causal=%t", s[0], s[1], causal), func(b *testing.B) {
				r := newRig(b, Config{Threads: 1})
				l := dims(s[0], s[1], 64)
				q, k, v, out := of(dtype.Float32, l, gaussian(random, 4096)...), of(dtype.Float32, l, gaussian(random, 4096)...), of(dtype.Float32, l, gaussian(random, 4096)...), of(dtype.Float32, l)
				for b.Loop() {
					call := &device.Call{In: append(operands(q, k, v), device.Operand{}), Out: operands(out), Attrs: attentionAttrs(0.125, causal)}
					if err := r.call("attention", call); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
