package host

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/op"
)

// TestConvolutionsOfFewWindows compares the transposed product, whose weight is known, with the other kernels to the last bit.
func TestConvolutionsOfFewWindows(t *testing.T) {
	eachMode(t, func(t *testing.T, r *rig) {
		for _, c := range []struct {
			x, weight []int64
			padding   int64
			turned    string // whether it is, where that does not depend on the tiles of the processor
		}{
			{[]int64{1, 70, 1, 1}, []int64{200, 70, 1, 1}, 0, "always"},
			{[]int64{1, 5, 1, 1}, []int64{33, 5, 1, 1}, 0, "always"},
			{[]int64{1, 40, 7, 7}, []int64{96, 40, 3, 3}, 1, ""}, // 360 terms, in two parts
			{[]int64{3, 12, 4, 3}, []int64{64, 12, 2, 3}, 1, ""},
			{[]int64{1, 300, 7, 7}, []int64{512, 300, 1, 1}, 0, ""}, // several pieces
			{[]int64{1, 12, 14}, []int64{200, 12, 5}, 2, ""},
			{[]int64{1, 12, 20, 20}, []int64{96, 12, 3, 3}, 1, "never"}, // many windows
			{[]int64{1, 12, 7, 7}, []int64{2, 12, 3, 3}, 1, "never"},    // few channels
			{[]int64{1, 12, 7, 7}, []int64{96, 6, 3, 3}, 1, "never"},    // groups
		} {
			weights := &op.Const{Type: typed(dtype.Float32, c.weight...)}
			weights.Bytes = make([]byte, weights.Shape.Numel()*4)
			normals(rand.New(rand.NewPCG(1, 2)), weights.Bytes, dtype.Float32)
			padding := make([]int64, 2*(len(c.x)-2))
			for i := range padding {
				padding[i] = c.padding
			}
			at := op.Attrs{op.ConvPadding: {Kind: op.Ints, Ints: padding}, op.ConvGroups: {Kind: op.Int, I: c.x[1] / c.weight[1]}}
			b := graph.NewBuilder()
			out := must(b.Call(op.ByID(op.IDConv), []graph.Value{b.Input(typed(dtype.Float32, c.x...)), b.Constant(weights)}, at))
			p := must(b.Build(out...).Plan())
			known, plain := must(r.Compile(&p.Plan)), must(r.Compile(withoutConstants(p)))
			k, ok := known.(*program).kernel.(*sequence).stages[0].kernel.(*convolution[float32])
			turned := ok && k.right != nil
			if c.turned != "" {
				require.Equal(t, c.turned == "always", turned, "%v", c)
			}
			if turned {
				require.GreaterOrEqual(t, known.(device.Sized).Bytes(), int64(len(weights.Bytes)))
			}
			want, got := planCall(p, 3), planCall(p, 3)
			normals(rand.New(rand.NewPCG(5, 6)), slice[byte](want.In[0].Addr, bytesOf(&want.In[0])), dtype.Float32)
			copy(slice[byte](got.In[0].Addr, bytesOf(&got.In[0])), slice[byte](want.In[0].Addr, bytesOf(&want.In[0])))
			require.NoError(t, runPlan(r, plain, want))
			require.NoError(t, runPlan(r, known, got))
			require.Equal(t, bytesOut(want), bytesOut(got), "%v", c)
		}
	})
}

// TestProductsShareAWeight: two steps with one constant have one packed copy of it, which counts once.
func TestProductsShareAWeight(t *testing.T) {
	r := newRig(t, Config{Threads: 1})
	weights := &op.Const{Type: typed(dtype.Float32, 64, 64)}
	weights.Bytes = make([]byte, 4*64*64)
	normals(rand.New(rand.NewPCG(1, 2)), weights.Bytes, dtype.Float32)
	b := graph.NewBuilder()
	y := b.Constant(weights)
	x := must(b.Call(op.ByID(op.IDMatmul), []graph.Value{b.Input(typed(dtype.Float32, 3, 64)), y}, nil))
	x = must(b.Call(op.ByID(op.IDMatmul), []graph.Value{x[0], y}, nil))
	turned := op.Attrs{op.MatmulTransposeX: {}, op.MatmulTransposeY: {Kind: op.Bool, I: 1}}
	x = must(b.Call(op.ByID(op.IDMatmul), []graph.Value{x[0], y}, turned))
	p := must(b.Build(x...).Plan())
	known, plain := must(r.Compile(&p.Plan)), must(r.Compile(withoutConstants(p)))
	stages := known.(*program).kernel.(*sequence).stages
	require.Len(t, stages, 3)
	require.Same(t, stages[0].kernel, stages[1].kernel)
	require.NotSame(t, stages[0].kernel, stages[2].kernel, "transposed, it is another operand")
	require.Less(t, known.(device.Sized).Bytes(), int64(3*len(weights.Bytes)))
	want, got := planCall(p, 3), planCall(p, 3)
	require.NoError(t, runPlan(r, plain, want))
	require.NoError(t, runPlan(r, known, got))
	require.Equal(t, bytesOut(want), bytesOut(got))
}
