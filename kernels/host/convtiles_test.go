package host

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/host/conv"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
)

// TestTransposedConvolutionsOfTiles compares transposed convolutions whose results are made of tiles with the kernels for any
// layout, and with a sum by definition. The elements are small integers, so that sums are exact in every order.
func TestTransposedConvolutionsOfTiles(t *testing.T) {
	r := rand.New(rand.NewPCG(37, 38))
	eachMode(t, func(t *testing.T, rig *rig) {
		for _, c := range []struct {
			x, weight []int64 // channels last, and [channels, outputs, kernel...]
			tiles     bool
		}{
			{[]int64{1, 16, 16, 64}, []int64{64, 32, 2, 2}, true},
			{[]int64{2, 3, 5, 7}, []int64{7, 5, 2, 3}, true},
			{[]int64{1, 4, 1, 300}, []int64{300, 3, 4, 1}, true}, // terms in two parts, and one element a line
			{[]int64{2, 9, 6}, []int64{6, 70, 3}, true},
			{[]int64{1, 2, 3, 4, 5}, []int64{5, 6, 3, 1, 2}, true},
			{[]int64{1, 3, 3, 4}, []int64{4, 1, 2, 2}, false}, // one channel, which is nowhere last
		} {
			weights := &op.Const{Type: typed(dtype.Float32, c.weight...)}
			weights.Bytes = make([]byte, weights.Shape.Numel()*4)
			elements := engine.Slice[float32](unsafe.Pointer(&weights.Bytes[0]), weights.Shape.Numel())
			for i := range elements {
				elements[i] = float32(r.IntN(5) - 2)
			}
			row, kernel := op.ByID(op.IDConvTranspose), c.weight[2:]
			at := op.Attrs{op.ConvTransposeStride: {Kind: op.Ints, Ints: kernel}, op.ConvTransposeChannelsLast: {Kind: op.Bool, I: 1}}
			b := graph.NewBuilder()
			out := must(b.Call(row, []graph.Value{b.Input(typed(dtype.Float32, c.x...)), b.Constant(weights)}, at))
			p := must(b.Build(out...).Plan())
			known, plain := must(rig.Compile(&p.Plan)), must(rig.Compile(withoutConstants(p)))
			k := known.(*program).kernel.(*sequence).stages[0].kernel.(*conv.Convolution[float32])
			require.Equal(t, c.tiles, k.Right != nil, "%v", c)
			want, got := planCall(p, 3), planCall(p, 3)
			x := engine.Slice[float32](want.In[0].Addr, want.In[0].Numel())
			for i := range x {
				x[i] = float32(r.IntN(5) - 2)
			}
			copy(engine.Slice[float32](got.In[0].Addr, got.In[0].Numel()), x)
			require.NoError(t, runPlan(rig, plain, want))
			require.NoError(t, runPlan(rig, known, got))
			require.Equal(t, bytesOut(want), bytesOut(got), "%v", c)
			require.Equal(t, tilesOf(x, elements, c.x, c.weight), engine.Slice[float32](got.Out[0].Addr, got.Out[0].Numel()), "%v", c)
		}
	})
}

// tilesOf is the result by definition: element i of an axis of the image makes elements i*kernel to i*kernel+kernel-1.
func tilesOf(x, weight []float32, image, kernel []int64) []float32 {
	axes, channels, outputs := len(image)-2, kernel[0], kernel[1]
	size := image[0] * outputs
	for axis := range axes {
		size *= image[1+axis] * kernel[2+axis]
	}
	out := make([]float32, size)
	for i := range out {
		rest := int64(i) / outputs
		from, tap, step, tapStep := int64(0), int64(0), int64(1), int64(1)
		for axis := axes - 1; axis >= 0; axis-- {
			k := kernel[2+axis]
			at := rest % (image[1+axis] * k)
			rest /= image[1+axis] * k
			from, tap = from+at/k*step, tap+at%k*tapStep
			step, tapStep = step*image[1+axis], tapStep*k
		}
		from += rest * step
		for c := range channels {
			out[i] += x[from*channels+c] * weight[(c*outputs+int64(i)%outputs)*tapStep+tap]
		}
	}
	return out
}
