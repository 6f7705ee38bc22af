package host

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
)

// windowed is a convolution of the tests: sizes of x and of the weight, channels first, and attributes by axis.
type windowed struct {
	x, weight                 []int64
	stride, padding, dilation []int64
	groups                    int64
}

var windowedCases = []windowed{
	{x: []int64{2, 3, 6, 7}, weight: []int64{4, 3, 3, 2}, groups: 1},
	{x: []int64{2, 4, 9}, weight: []int64{6, 2, 3}, stride: []int64{2}, padding: []int64{1, 2}, dilation: []int64{2}, groups: 2},
	{x: []int64{1, 4, 8, 7}, weight: []int64{4, 1, 3, 3}, stride: []int64{2, 1}, padding: []int64{1, 1, 0, 2}, groups: 4},
	{x: []int64{2, 3, 4, 5, 5}, weight: []int64{2, 3, 2, 3, 1}, stride: []int64{1, 2, 3}, padding: []int64{0, 1, 1, 1, 0, 0}, groups: 1},
	{x: []int64{2, 5, 4, 4}, weight: []int64{7, 5, 1, 1}, groups: 1},
	{x: []int64{1, 16, 21, 20}, weight: []int64{33, 16, 3, 3}, padding: []int64{1, 1, 1, 1}, groups: 1},
	{x: []int64{1, 3, 34, 28}, weight: []int64{5, 3, 7, 7}, stride: []int64{2, 2}, padding: []int64{3, 3, 3, 3}, groups: 1},
	{x: []int64{1, 8, 2, 2}, weight: []int64{80, 8, 3, 3}, padding: []int64{5, 4, 3, 6}, dilation: []int64{2, 3}, groups: 1}, // mostly padding
	{x: []int64{0, 2, 4, 4}, weight: []int64{3, 2, 2, 2}, groups: 1},
	{x: []int64{2, 0, 4, 4}, weight: []int64{3, 0, 2, 2}, groups: 1},
}

// attrs are the attributes of a call.
func (w *windowed) attrs() op.Attrs {
	list := func(v []int64) op.Value {
		if v == nil {
			return op.Value{}
		}
		return op.Value{Kind: op.Ints, Ints: v}
	}
	at := make(op.Attrs, 5)
	at[op.ConvIntegerStride], at[op.ConvIntegerPadding], at[op.ConvIntegerDilation] = list(w.stride), list(w.padding), list(w.dilation)
	at[op.ConvIntegerGroups], at[op.ConvIntegerChannelsLast] = op.Value{Kind: op.Int, I: w.groups}, op.Value{Kind: op.Bool}
	return at
}

// result convolves by the definition, in 64 bits, all in axes of three.
func (w *windowed) result(x, weight []float64, zero float64) (out []int64, dims []int64) {
	axes := len(w.x) - 2
	size, kernel, count, stride, before, dilation := [3]int64{1, 1, 1}, [3]int64{1, 1, 1}, [3]int64{1, 1, 1}, [3]int64{1, 1, 1}, [3]int64{}, [3]int64{1, 1, 1}
	dims = []int64{w.x[0], w.weight[0]}
	for i := range axes {
		behind := int64(0)
		size[i], kernel[i] = w.x[2+i], w.weight[2+i]
		if w.stride != nil {
			stride[i] = w.stride[i]
		}
		if w.dilation != nil {
			dilation[i] = w.dilation[i]
		}
		if w.padding != nil {
			before[i], behind = w.padding[2*i], w.padding[2*i+1]
		}
		count[i] = (size[i]+before[i]+behind-dilation[i]*(kernel[i]-1)-1)/stride[i] + 1
		dims = append(dims, count[i])
	}
	channels, rows := w.weight[1], w.weight[0]/w.groups
	for n := range w.x[0] {
		for o := range w.weight[0] {
			for p := range count[0] * count[1] * count[2] {
				at := [3]int64{p / count[2] / count[1], p / count[2] % count[1], p % count[2]}
				sum := int64(0)
				for c := range channels {
				taps:
					for tap := range kernel[0] * kernel[1] * kernel[2] {
						by := [3]int64{tap / kernel[2] / kernel[1], tap / kernel[2] % kernel[1], tap % kernel[2]}
						from := n*w.x[1] + o/rows*channels + c
						for i := range at {
							place := at[i]*stride[i] + by[i]*dilation[i] - before[i]
							if place < 0 || place >= size[i] {
								continue taps
							}
							from = from*size[i] + place
						}
						sum += int64((x[from] - zero) * weight[(o*channels+c)*kernel[0]*kernel[1]*kernel[2]+tap])
					}
				}
				out = append(out, sum)
			}
		}
	}
	return out, dims
}

// TestConvInteger convolves 8-bit integers of either kind in any layout, with and without a zero point.
func TestConvInteger(t *testing.T) {
	eachMode(t, func(t *testing.T, r *rig) {
		g := rand.New(rand.NewPCG(1, 2))
		for i := range windowedCases {
			w := &windowedCases[i]
			for _, dx := range bytes8 {
				for _, dw := range bytes8 {
					for _, layout := range []int{0, 1 + g.IntN(2), 3} {
						xl, wl := dims(w.x...), dims(w.weight...)
						if layout&1 != 0 {
							xl = scattered(g, true, w.x...)
						}
						if layout&2 != 0 {
							wl = scattered(g, true, w.weight...)
						}
						x, weight, zero := randomOf8(g, dx, xl), randomOf8(g, dw, wl), randomOf8(g, dx, dims())
						in, less := operands(x, weight, zero), zero.values()[0]
						if g.IntN(3) == 0 {
							in[2], less = device.Operand{}, 0
						}
						want, size := w.result(x.values(), weight.values(), less)
						ol := dims(size...)
						if layout == 3 {
							ol = scattered(g, false, size...)
						}
						out := place(dtype.Int32, ol, 0)
						require.NoError(t, r.call("conv_integer", &device.Call{Attrs: w.attrs(), In: in, Out: operands(out)}))
						expect(t, out, func(i int) float64 { return float64(want[i]) }, i, dx, dw, layout, less)
					}
				}
			}
		}
	})
}

// TestConvIntegerConstant compares a weight that is known when the program is made, and what the row is lowered to where a
// device has no kernel of it, with an operand of the call.
func TestConvIntegerConstant(t *testing.T) {
	r, g := newRig(t, Config{Threads: 2}), rand.New(rand.NewPCG(3, 4))
	for i := range windowedCases {
		w := &windowedCases[i]
		if w.x[0] == 0 || w.x[1] == 0 {
			continue // no program
		}
		for _, dx := range bytes8 {
			for _, dw := range bytes8 {
				for _, last := range []bool{false, true} {
					xs, at := append([]int64(nil), w.x...), w.attrs()
					if last {
						xs = append(append(xs[:1:1], xs[2:]...), xs[1])
						at[op.ConvIntegerChannelsLast].I = 1
					}
					b := graph.NewBuilder()
					weight := &op.Const{Type: typed(dw, w.weight...)}
					weight.Bytes = append(make([]byte, 0, 1), randomOf8(g, dw, dims(w.weight...)).memory...)
					in := []graph.Value{b.Input(typed(dx, xs...)), b.Constant(weight), b.Input(typed(dx))}
					program := b.Build(must(b.Call(op.ByID(op.IDConvInteger), in, at))...)
					own, lowered := must(program.PlanFor(r.Composes, nil)), must(program.Plan())
					want, known, other := planCall(own, 3), planCall(own, 3), planCall(lowered, 3)
					fillBytes(g, want, known, len(own.Inputs))
					for k := range own.Inputs {
						copy(engine.Slice[byte](other.In[k].Addr, bytesOf(&other.In[k])), engine.Slice[byte](want.In[k].Addr, bytesOf(&want.In[k])))
					}
					require.NoError(t, runPlan(r, must(r.Compile(withoutConstants(own))), want))
					require.NoError(t, runPlan(r, must(r.Compile(&own.Plan)), known))
					require.NoError(t, runPlan(r, must(r.Compile(&lowered.Plan)), other))
					require.Equal(t, bytesOut(want), bytesOut(known), "%d %s %s %v", i, dx, dw, last)
					require.Equal(t, bytesOut(want), bytesOut(other), "%d %s %s %v", i, dx, dw, last)
				}
			}
		}
	}
}

// The zero point is an element of the dtype of x.
func TestZeroPointOfIntegers(t *testing.T) {
	for _, zero := range []op.Type{typed(dtype.Int8), typed(dtype.Uint8, 1), typed(dtype.Int32)} {
		b := graph.NewBuilder()
		_, err := b.Call(op.ByID(op.IDMatmulInteger), []graph.Value{b.Input(typed(dtype.Uint8, 2, 3)), b.Input(typed(dtype.Int8, 3, 4)), b.Input(zero)}, op.Attrs{{}, {}})
		require.ErrorContains(t, err, "want a tensor of uint8 without dimensions")
	}
	b := graph.NewBuilder()
	_, err := b.Call(op.ByID(op.IDMatmulInteger), []graph.Value{b.Input(typed(dtype.Uint8, 2, 3)), b.Input(typed(dtype.Int32, 3, 4)), b.Scalar(op.Value{})}, op.Attrs{{}, {}})
	require.ErrorContains(t, err, "[matmul_integer] y is int32; want one of [uint8, int8]")
}
