package host

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
)

// TestConvolutionsOfChannelsLast compares convolutions of images with their channels last, and a constant weight, with the
// kernels for any layout. The elements are small integers, so that sums are exact in every order.
func TestConvolutionsOfChannelsLast(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 32))
	eachMode(t, func(t *testing.T, rig *rig) {
		for range 60 {
			c := randomConv(r)
			if c.groups > 1 && r.IntN(2) == 0 { // depthwise
				c.in, c.out = 1, 1
			} else if r.IntN(2) == 0 {
				c.groups = 1
			}
			if r.IntN(3) == 0 {
				c.in, c.out = c.in*40, c.out*9
			}
			known, plain, call := channelsLastCase(r, rig, &c, false)
			want, got := call(), call()
			fill := engine.Slice[float32](want.In[0].Addr, want.In[0].Numel())
			for i := range fill {
				fill[i] = float32(r.IntN(5) - 2)
			}
			copy(engine.Slice[float32](got.In[0].Addr, got.In[0].Numel()), fill)
			require.NoError(t, runPlan(rig, plain, want))
			require.NoError(t, runPlan(rig, known, got))
			require.Equal(t, bytesOut(want), bytesOut(got), "%+v", c)
		}
	})
}

// channelsLastCase compiles a case twice, with its weight as a constant and without, and makes calls of it. The program may get
// its image with channels first, and turn it.
func channelsLastCase(r *rand.Rand, rig *rig, c *convCase, turns bool) (known, plain device.Program, call func() *device.Call) {
	weights := &op.Const{Type: typed(dtype.Float32, c.sizes(c.groups*c.out, c.in, c.kernel)...)}
	weights.Bytes = make([]byte, weights.Shape.Numel()*4)
	elements := engine.Slice[float32](unsafe.Pointer(&weights.Bytes[0]), weights.Shape.Numel())
	for i := range elements {
		elements[i] = float32(r.IntN(5) - 2)
	}
	first := c.sizes(c.batch, c.groups*c.in, c.size)
	last := append(append([]int64{first[0]}, first[2:]...), first[1])
	at := c.attrs("conv")
	at[op.ByID(op.IDConv).AttrIndex("channels_last")] = op.Value{Kind: op.Bool, I: 1}
	b := graph.NewBuilder()
	var x graph.Value
	if turns {
		perm := []int64{0}
		for axis := range c.axes {
			perm = append(perm, int64(axis+2))
		}
		x = must(b.Call(op.ByID(op.IDTranspose), []graph.Value{b.Input(typed(dtype.Float32, first...))}, op.Attrs{op.TransposePerm: {Kind: op.Ints, Ints: append(perm, 1)}}))[0]
	} else {
		x = b.Input(typed(dtype.Float32, last...))
	}
	out := must(b.Call(op.ByID(op.IDConv), []graph.Value{x, b.Constant(weights)}, at))
	p := must(b.Build(out...).Plan())
	return must(rig.Compile(&p.Plan)), must(rig.Compile(withoutConstants(p))), func() *device.Call { return planCall(p, 3) }
}
