package runtime_test

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/execute"
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/kernels/host"
	"github.com/paddle-mps/paddle-mps/place"
)

// imageNetwork makes random graphs of images whose elements stay small integers, so that sums are exact in every order.
type imageNetwork struct {
	*testing.T
	*rand.Rand
	b      *graph.Builder
	images []graph.Value
}

// ints is a constant with elements from -2 to 2.
func (n *imageNetwork) ints(dims ...int64) graph.Value {
	k := &op.Const{Type: typed(dtype.Float32, dims...)}
	for range k.Shape.Numel() {
		k.Bytes = binary.LittleEndian.AppendUint32(k.Bytes, math.Float32bits(float32(n.IntN(5)-2)))
	}
	return n.b.Constant(k)
}

// call adds a call; attributes are in the order of the row.
func (n *imageNetwork) call(name string, at op.Attrs, in ...graph.Value) graph.Value {
	out, err := n.b.Call(op.MustByName(name), in, at)
	require.NoError(n, err)
	return out[0]
}

func intsAttr(v ...int64) op.Value { return op.Value{Kind: op.Ints, Ints: v} }

// dims are those of a value.
func (n *imageNetwork) dims(v graph.Value) []int64 {
	s := n.b.TypeOf(v).Shape
	return append([]int64(nil), s.Slice()...)
}

// small clips a value, so that what follows stays exact.
func (n *imageNetwork) small(v graph.Value) graph.Value {
	return n.call("clip", nil, v, n.b.Scalar(op.Value{Kind: op.Float, F: -3}), n.b.Scalar(op.Value{Kind: op.Float, F: 3}))
}

// grow adds a few random calls.
func (n *imageNetwork) grow() {
	x := n.images[n.IntN(len(n.images))]
	d := n.dims(x)
	channels := d[1]
	switch n.IntN(17) {
	case 0, 1, 2: // a convolution, mostly with a bias
		side, stride := int64(1+n.IntN(3)), int64(1+n.IntN(2))
		pad := int64(n.IntN(2))
		if d[2]+2*pad < side || d[3]+2*pad < side {
			return
		}
		out, groups, in := int64(1+n.IntN(40)), int64(1), channels
		if n.IntN(3) == 0 {
			out, groups, in = channels, channels, 1
		}
		at := op.Attrs{op.ConvStride: intsAttr(stride, stride), op.ConvPadding: intsAttr(pad, pad, 0, pad), op.ConvGroups: {Kind: op.Int, I: groups}}
		if d[3]+pad < side {
			return
		}
		y := n.call("conv", at, x, n.ints(out, in, side, side))
		if n.IntN(3) > 0 {
			y = n.call("add", nil, y, n.ints(out, 1, 1))
		}
		x = n.small(y)
	case 3:
		x = n.call("relu", nil, x)
	case 4: // with the channels of another image, where they fit
		other := n.images[n.IntN(len(n.images))]
		if o := n.dims(other); o[2] != d[2] || o[3] != d[3] {
			return
		}
		x = n.call("concat", op.Attrs{op.ConcatAxis: {Kind: op.Int, I: int64(1 - 4*n.IntN(2))}}, x, other)
	case 5:
		for _, other := range n.images {
			if n.b.TypeOf(other) == n.b.TypeOf(x) && other != x {
				x = n.small(n.call("add", nil, x, other))
				break
			}
		}
	case 6:
		if d[2] < 3 || d[3] < 3 {
			return
		}
		x = n.call("max_pool", op.Attrs{op.MaxPoolKernelSize: intsAttr(3, 2), op.MaxPoolStride: intsAttr(2, 1), op.MaxPoolPadding: intsAttr(1, 0, 0, 1)}, x)
	case 7: // a gate for each channel
		keep := op.Attrs{op.MaxAxis: intsAttr(2, 3), op.MaxKeepdim: {Kind: op.Bool, I: 1}}
		x = n.small(n.call("multiply", nil, x, n.call("max", keep, x)))
	case 8:
		x = n.small(n.call("multiply", nil, n.ints(1, channels, 1, 1), x))
	case 9:
		if channels < 2 {
			return
		}
		x = n.call("slice", op.Attrs{op.SliceAxes: intsAttr(1, -1), op.SliceStarts: intsAttr(int64(n.IntN(int(channels-1))), 0), 2: intsAttr(channels, d[3])}, x)
	case 10: // there and back
		x = n.call("transpose", op.Attrs{op.TransposePerm: intsAttr(0, 2, 3, 1)}, x)
		x = n.small(n.call("add", nil, x, n.ints(channels)))
		x = n.call("transpose", op.Attrs{op.TransposePerm: intsAttr(0, 3, 1, 2)}, x)
	case 12: // a shuffle of channels
		groups := int64(2)
		if channels%groups != 0 {
			return
		}
		x = n.call("reshape", op.Attrs{op.ReshapeShape: intsAttr(d[0], groups, channels/groups, d[2], d[3])}, x)
		x = n.call("transpose", op.Attrs{op.TransposePerm: intsAttr(0, 2, 1, 3, -1)}, x)
		x = n.call("reshape", op.Attrs{op.ReshapeShape: intsAttr(0, channels, d[2], d[3])}, x)
	case 13: // an image twice as large, or some of its channels
		axis := int64(1 + n.IntN(3))
		k := &op.Const{Type: typed(dtype.Int64, 2*d[axis])}
		for i := range 2 * d[axis] {
			k.Bytes = binary.LittleEndian.AppendUint64(k.Bytes, uint64(i/2))
		}
		x = n.call("gather", op.Attrs{op.GatherAxis: {Kind: op.Int, I: axis - 4*int64(n.IntN(2))}}, x, n.b.Constant(k))
	case 16: // a larger image whose elements are made of tiles, or of what overlaps
		side, out := int64(2), int64(1+n.IntN(9))
		at := op.Attrs{op.ConvTransposeStride: intsAttr(side, side), op.ConvTransposePadding: intsAttr(0, 0, 0, int64(n.IntN(2)))}
		if d[2]*d[3] > 200 {
			return
		}
		x = n.small(n.call("conv_transpose", at, x, n.ints(channels, out, side, side+int64(n.IntN(3)/2))))
	case 15: // along one axis, from both ends
		axis := op.Value{Kind: op.Int, I: int64(n.IntN(8) - 4)}
		x = n.small(n.call("cumsum", op.Attrs{op.CumsumAxis: axis}, n.call("sort", op.Attrs{op.SortAxis: axis}, x)))
	case 14:
		at := op.Attrs{op.SplitAxis: {Kind: op.Int, I: int64(n.IntN(4))}}
		if at[op.SplitAxis].I != 0 {
			at[0] = intsAttr(1, d[at[op.SplitAxis].I]-1)
		} else {
			at[0] = intsAttr(1)
		}
		parts, err := n.b.Call(op.MustByName("split"), []graph.Value{x}, at)
		require.NoError(n, err)
		x = parts[0]
	case 11: // as a line, which is in the order of the memory
		x = n.call("reshape", op.Attrs{op.ReshapeShape: intsAttr(d[0], -1)}, x)
		x = n.call("reshape", op.Attrs{op.ReshapeShape: intsAttr(d[0], d[3], channels, d[2])}, n.small(n.call("add", nil, x, n.ints(1))))
	}
	n.images = append(n.images, x)
}

// outputs are all images, and the sums of some of them with and without their channels.
func (n *imageNetwork) outputs() []graph.Value {
	out := append([]graph.Value(nil), n.images...)
	for _, v := range n.images {
		for _, axes := range [][]int64{{2, 3}, {1}, {-2, -1}, {3}} {
			at := op.Attrs{op.SumAxis: intsAttr(axes...), op.SumKeepdim: {Kind: op.Bool, I: int64(n.IntN(2))}}
			out = append(out, n.call("sum", at, v))
		}
	}
	return out
}

// TestChannelsLast: programs with convolutions have the same results wherever their channels are.
func TestChannelsLast(t *testing.T) {
	for seed := range uint64(150) {
		results := map[graph.Passes][][]float32{}
		for _, off := range []graph.Passes{graph.Layout, 0, graph.Groups} {
			n := &imageNetwork{T: t, Rand: rand.New(rand.NewPCG(seed, 7)), b: graph.NewBuilder()}
			batch, channels, high, wide := int64(1+n.IntN(3)), int64(1+n.IntN(20)), int64(1+n.IntN(12)), int64(1+n.IntN(12))
			n.images = append(n.images, n.b.Input(typed(dtype.Float32, batch, channels, high, wide)))
			for range 1 + n.IntN(14) {
				n.grow()
			}
			g := n.b.Build(n.outputs()...)
			rt, err := runtime.New(runtime.Config{CPU: host.New(host.Config{Threads: 1 + int(seed%3)}), WithoutPasses: off})
			require.NoError(t, err)
			w := &world{T: t, rt: rt}
			w.cpu, err = rt.Context(place.CPU)
			require.NoError(t, err)
			p := execute.New(w.cpu, g)
			in := w.whole(w.cpu, seed, batch, channels, high, wide)
			for _, out := range w.run(p, in) {
				results[off] = append(results[off], w.floats(out))
				w.free(out)
			}
			w.free(in)
			p.Close()
			require.NoError(t, rt.Close())
			if off != graph.Layout {
				require.Equal(t, results[graph.Layout], results[off], "seed %d:\n%s", seed, g)
			}
		}
	}
}

// whole is a tensor of small integers.
func (w *world) whole(c *runtime.Context, seed uint64, dims ...int64) *runtime.Tensor {
	r, s := rand.New(rand.NewPCG(seed, 8)), typed(dtype.Float32, dims...).Shape
	var b []byte
	for range s.Numel() {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(r.IntN(5)-2)))
	}
	x, err := w.rt.FromHost(c, dtype.Float32, s, b)
	require.NoError(w, err)
	return x
}

// TestChannelsLastIsWanted: a graph without a constant weight stays as it is.
func TestChannelsLastIsWanted(t *testing.T) {
	n := &imageNetwork{T: t, Rand: rand.New(rand.NewPCG(1, 7)), b: graph.NewBuilder()}
	x := n.b.Input(typed(dtype.Float32, 1, 3, 8, 8))
	turned := n.b.Build(n.call("relu", nil, n.call("conv", nil, x, n.ints(4, 3, 3, 3)))).ChannelsLast().String()
	require.Contains(t, turned, "channels_last=true")
	require.Equal(t, 2, strings.Count(turned, "transpose"), turned)
	n.b = graph.NewBuilder()
	x, w := n.b.Input(typed(dtype.Float32, 1, 3, 8, 8)), n.b.Input(typed(dtype.Float32, 4, 3, 3, 3))
	g := n.b.Build(n.call("conv", nil, x, w))
	require.Same(t, g, g.ChannelsLast())
}
