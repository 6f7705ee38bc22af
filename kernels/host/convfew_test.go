package host

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/host/conv"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
)

// TestConvolutionsOfFewWindows compares convolutions with channels first whose weight is known with the other kernels, to the last
// bit. Whether a product is turned may depend on the tiles of the processor.
func TestConvolutionsOfFewWindows(t *testing.T) {
	eachMode(t, func(t *testing.T, r *rig) {
		for _, c := range []struct {
			x, weight []int64
			stride    int64
			turned    string // "": as the tiles have it
		}{
			{[]int64{1, 70, 1, 1}, []int64{200, 70, 1, 1}, 1, "always"},
			{[]int64{3, 5, 1, 1}, []int64{3, 5, 1, 1}, 1, "always"},
			{[]int64{1, 300, 7, 7}, []int64{512, 300, 1, 1}, 1, ""}, // several pieces, and terms in two parts
			{[]int64{2, 40, 9, 7}, []int64{96, 40, 1, 1}, 2, ""},
			{[]int64{1, 12, 20, 20}, []int64{96, 12, 1, 1}, 1, "never"}, // many windows
			{[]int64{1, 12, 7, 7}, []int64{96, 12, 3, 3}, 1, "never"},   // sums in another order
			{[]int64{1, 12, 7, 7}, []int64{96, 6, 1, 1}, 1, "never"},    // groups
		} {
			weights := &op.Const{Type: typed(dtype.Float32, c.weight...)}
			weights.Bytes = make([]byte, weights.Shape.Numel()*4)
			normals(rand.New(rand.NewPCG(1, 2)), weights.Bytes, dtype.Float32)
			at := op.Attrs{op.ConvStride: {Kind: op.Ints, Ints: []int64{c.stride, c.stride}}, op.ConvGroups: {Kind: op.Int, I: c.x[1] / c.weight[1]}}
			b := graph.NewBuilder()
			out := must(b.Call(op.ByID(op.IDConv), []graph.Value{b.Input(typed(dtype.Float32, c.x...)), b.Constant(weights)}, at))
			p := must(b.Build(out...).Plan())
			known, plain := must(r.Compile(&p.Plan)), must(r.Compile(withoutConstants(p)))
			k, ok := known.(*program).kernel.(*sequence).stages[0].kernel.(*conv.Convolution[float32])
			if c.turned != "" {
				require.Equal(t, c.turned == "always", ok && k.Right != nil, "%v", c)
			}
			want, got := planCall(p, 3), planCall(p, 3)
			normals(rand.New(rand.NewPCG(5, 6)), engine.Slice[byte](want.In[0].Addr, bytesOf(&want.In[0])), dtype.Float32)
			copy(engine.Slice[byte](got.In[0].Addr, bytesOf(&got.In[0])), engine.Slice[byte](want.In[0].Addr, bytesOf(&want.In[0])))
			require.NoError(t, runPlan(r, plain, want))
			require.NoError(t, runPlan(r, known, got))
			require.Equal(t, bytesOut(want), bytesOut(got), "%v", c)
		}
	})
}

// TestConvolutionsOfNoWindows has results without elements, of which no kernel by rows can make pieces.
func TestConvolutionsOfNoWindows(t *testing.T) {
	x, weight, out := of(dtype.Float32, dims(0, 5, 1, 1)), of(dtype.Float32, dims(3, 5, 1, 1), 1), of(dtype.Float32, dims(0, 3, 1, 1))
	weight.Const = weight.memory
	_, accepted := conv.AcceptsRows(nil, &device.Call{In: operands(x, weight), Out: operands(out)})
	require.False(t, accepted)
}
