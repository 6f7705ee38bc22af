package host

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/internal/sample"
)

// calling adds a call of one result to a graph.
type calling func(id op.ID, in ...graph.Value) graph.Value

// behind are the elementwise calls that the epilogues of tests consist of, each of the result so far, a bias of the channels and
// a tensor of the size of the result.
var behind = map[string]func(call calling, y, bias, same graph.Value, number func(float64) graph.Value) graph.Value{
	"bias": func(call calling, y, bias, _ graph.Value, _ func(float64) graph.Value) graph.Value {
		return call(op.IDRelu, call(op.IDAdd, y, bias))
	},
	"scale and residual": func(call calling, y, bias, same graph.Value, _ func(float64) graph.Value) graph.Value {
		return call(op.IDRelu, call(op.IDAdd, call(op.IDAdd, call(op.IDMultiply, y, bias), bias), same))
	},
	"relu6": func(call calling, y, bias, _ graph.Value, number func(float64) graph.Value) graph.Value {
		return call(op.IDClip, call(op.IDAdd, y, bias), number(0), number(6))
	},
	"silu": func(call calling, y, bias, _ graph.Value, _ func(float64) graph.Value) graph.Value {
		z := call(op.IDAdd, y, bias)
		return call(op.IDMultiply, z, call(op.IDSigmoid, z))
	},
	"hardswish": func(call calling, y, bias, _ graph.Value, number func(float64) graph.Value) graph.Value {
		z := call(op.IDAdd, y, bias)
		gate := call(op.IDClip, call(op.IDAdd, call(op.IDMultiply, z, number(1.0/6)), number(0.5)), number(0), number(1))
		return call(op.IDMultiply, z, gate)
	},
	"gelu": func(call calling, y, bias, _ graph.Value, number func(float64) graph.Value) graph.Value {
		z := call(op.IDAdd, y, bias)
		return call(op.IDMultiply, call(op.IDAdd, call(op.IDErf, call(op.IDMultiply, z, number(0.7))), number(1)), z)
	},
	"tanh, and another order": func(call calling, y, bias, same graph.Value, _ func(float64) graph.Value) graph.Value {
		return call(op.IDSubtract, same, call(op.IDTanh, call(op.IDMaximum, bias, y)))
	},
}

// led are products whose results are large enough for an epilogue, in shapes that are cut in different ways.
var led = []struct {
	name    string
	id      op.ID
	x, w, b []int64
	at      op.Attrs
	known   bool // whether the weight is a constant
}{
	{"strips", op.IDConv, []int64{1, 5, 61, 67}, []int64{33, 5, 3, 3}, []int64{33, 1, 1}, convolving3(1, 1), true},
	{"strips of two images", op.IDConv, []int64{2, 5, 53, 49}, []int64{33, 5, 3, 3}, []int64{33, 1, 1}, convolving3(1, 1), false},
	{"strips and parts of their rows", op.IDConv, []int64{1, 5, 46, 47}, []int64{61, 5, 3, 3}, []int64{61, 1, 1}, convolving3(1, 1), false},
	{"one element", op.IDConv, []int64{2, 9, 48, 51}, []int64{31, 9, 1, 1}, []int64{31, 1, 1}, convolving3(0, 1), true},
	{"groups", op.IDConv, []int64{1, 32, 50, 49}, []int64{32, 1, 3, 3}, []int64{32, 1, 1}, convolving3(1, 32), true},
	{"gathered", op.IDConv, []int64{2, 3, 70, 70}, []int64{40, 3, 23, 23}, []int64{40, 1, 1}, convolving3(0, 1), false},
	{"rows", op.IDMatmul, []int64{1001, 40}, []int64{40, 77}, []int64{77}, nil, true},
	{"rows of no constant", op.IDMatmul, []int64{1001, 40}, []int64{40, 77}, []int64{77}, nil, false},
	{"columns", op.IDMatmul, []int64{37, 21}, []int64{21, 2001}, []int64{2001}, nil, true},
	{"batch", op.IDMatmul, []int64{7, 101, 21}, []int64{7, 21, 103}, []int64{103}, nil, false},
	{"no terms", op.IDMatmul, []int64{700, 0}, []int64{0, 101}, []int64{101}, nil, false},
}

// convolving3 are attributes of a conv with that padding on all sides.
func convolving3(padding, groups int64) op.Attrs {
	return op.Attrs{op.ConvPadding: {Kind: op.Ints, Ints: []int64{padding, padding, padding, padding}}, op.ConvGroups: {Kind: op.Int, I: groups}}
}

// An epilogue gives the bits of its steps one by one, for any product, any number of threads, and with constants or without.
func TestEpilogues(t *testing.T) {
	for _, threads := range []int{1, 2, 5} {
		r := newRig(t, Config{Threads: threads})
		for _, c := range led {
			for name, steps := range behind {
				t.Run(fmt.Sprintf("%s/%s/threads=%d", c.name, name, threads), func(t *testing.T) {
					if testing.Short() && c.name == "gathered" && (name != "silu" || threads != 2) {
						t.Skip("-short: a product of 600 million terms, of which one epilogue is tried")
					}
					b := graph.NewBuilder()
					call := func(id op.ID, in ...graph.Value) graph.Value { return must(b.Call(op.ByID(id), in, nil))[0] }
					number := func(v float64) graph.Value { return b.Scalar(op.Value{Kind: op.Float, F: v}) }
					x := b.Input(typed(dtype.Float32, c.x...))
					var w graph.Value
					if weight := typed(dtype.Float32, c.w...); c.known {
						k := &op.Const{Type: weight, Bytes: make([]byte, weight.Shape.Numel()*4)}
						normals(rand.New(rand.NewPCG(1, 2)), k.Bytes, dtype.Float32)
						w = b.Constant(k)
					} else {
						w = b.Input(weight)
					}
					y := must(b.Call(op.ByID(c.id), []graph.Value{x, w}, c.at))[0]
					same := b.Input(b.TypeOf(y))
					out := steps(call, y, b.Input(typed(dtype.Float32, c.b...)), same, number)
					g := b.Build(out)
					plain, fused := planFused(r.Device, g, false), planFused(r.Device, g, true)
					require.Len(t, fused.Groups, 1)
					require.True(t, fused.Groups[0].Head)
					require.Equal(t, len(fused.Steps), fused.Groups[0].End)
					require.Zero(t, fused.Arena, "the product is made in the memory of the output")
					want, got := planCall(plain, 3), planCall(fused, 3)
					require.NoError(t, oneByOne(r, plain, want))
					require.NoError(t, runPlan(r, must(r.Compile(&fused.Plan)), got))
					require.Equal(t, bytesOut(want), bytesOut(got))
				})
			}
		}
	}
}

// What is small, what is converted, and what is no product of ours leads no group.
func TestLeads(t *testing.T) {
	r := newRig(t, Config{})
	heads := func(d dtype.DType, m, k, n int64) int {
		b := graph.NewBuilder()
		y := must(b.Call(op.ByID(op.IDMatmul), []graph.Value{b.Input(typed(d, m, k)), b.Input(typed(d, k, n))}, nil))
		return len(planFused(r.Device, b.Build(must(b.Call(op.ByID(op.IDRelu), y, nil))...), true).Groups)
	}
	require.Equal(t, 1, heads(dtype.Float32, 256, 4, 256))
	require.Equal(t, 1, heads(dtype.Float64, 256, 4, 256))
	require.Zero(t, heads(dtype.Float32, 255, 4, 256), "it stays in the cache")
	require.Zero(t, heads(dtype.Float16, 1024, 4, 256), "it is converted")
	require.Zero(t, heads(dtype.Float32, 0, 4, 256), "there is nothing")
}

// A result of a head that later steps read too is there when its group ends, and what a head reads is not written over.
func TestHeadsKeepMemory(t *testing.T) {
	for _, threads := range []int{1, 3} {
		r := newRig(t, Config{Threads: threads})
		b := graph.NewBuilder()
		call := func(id op.ID, in ...graph.Value) graph.Value { return must(b.Call(op.ByID(id), in, nil))[0] }
		x := call(op.IDExp, b.Input(typed(dtype.Float32, 300, 300))) // an intermediate result that the head reads last
		y := call(op.IDMatmul, x, x)
		z := call(op.IDRelu, call(op.IDAdd, y, x))
		again := call(op.IDMatmul, z, y)
		g := b.Build(call(op.IDTanh, again), call(op.IDSum, y))
		plain, fused := planFused(r.Device, g, false), planFused(r.Device, g, true)
		require.Len(t, fused.Groups, 2)
		want, got := planCall(plain, 3), planCall(fused, 3)
		require.NoError(t, oneByOne(r, plain, want))
		require.NoError(t, runPlan(r, must(r.Compile(&fused.Plan)), got))
		require.Equal(t, bytesOut(want), bytesOut(got))
	}
}

// A program with a head allocates nothing when it is warm.
func TestHeadsDoNotAllocate(t *testing.T) {
	if sample.UnderRace {
		t.Skip("the race detector makes sync.Pool forget at random")
	}
	r := newRig(t, Config{Threads: 1})
	b := graph.NewBuilder()
	y := must(b.Call(op.ByID(op.IDMatmul), []graph.Value{b.Input(typed(dtype.Float32, 300, 3)), b.Input(typed(dtype.Float32, 3, 300))}, nil))
	p := planFused(r.Device, b.Build(must(b.Call(op.ByID(op.IDRelu), y, nil))...), true)
	require.Len(t, p.Groups, 1)
	program, c := must(r.Compile(&p.Plan)), planCall(p, 1)
	c.Workspace, c.Owner = room(program.Workspace(c)), quiet{}
	require.LessOrEqual(t, testing.AllocsPerRun(50, func() { r.stream.Run(program, c) }), 0.3)
}

// Random programs of products and what follows them have the bits of their steps one by one: residuals, transposed and smaller
// operands, results that are read later, and several outputs.
func TestRandomHeads(t *testing.T) {
	rounds := 40
	if testing.Short() {
		rounds = 5
	}
	random, heads := rand.New(rand.NewPCG(19, 20)), 0
	for round := range rounds {
		r := newRig(t, Config{Threads: 1 + round%3})
		b := graph.NewBuilder()
		call := func(id op.ID, at op.Attrs, in ...graph.Value) graph.Value {
			return must(b.Call(op.ByID(id), in, at))[0]
		}
		values := []graph.Value{b.Input(typed(dtype.Float32, 257, 257)), b.Input(typed(dtype.Float32, 257, 257))}
		small := []graph.Value{b.Input(typed(dtype.Float32, 257)), b.Input(typed(dtype.Float32, 257, 1))}
		some := func() graph.Value {
			return values[max(random.IntN(len(values)), random.IntN(len(values)), random.IntN(len(values)))]
		}
		for range 4 + random.IntN(16) {
			var v graph.Value
			switch random.IntN(10) {
			case 0, 1, 2:
				v = call(op.IDMatmul, nil, some(), some())
			case 3:
				v = call([]op.ID{op.IDTanh, op.IDRelu, op.IDAbs}[random.IntN(3)], nil, some())
			case 4:
				v = call(op.IDTranspose, op.Attrs{{Kind: op.Ints, Ints: []int64{1, 0}}}, some())
			case 5:
				small = append(small, call(op.IDTanh, nil, call(op.IDMean, op.Attrs{{Kind: op.Ints, Ints: []int64{int64(random.IntN(2))}}, {Kind: op.Bool, I: 1}}, some())))
				continue
			case 6, 7:
				v = call([]op.ID{op.IDAdd, op.IDMultiply, op.IDMaximum}[random.IntN(3)], nil, some(), small[random.IntN(len(small))])
			default:
				v = call([]op.ID{op.IDAdd, op.IDSubtract, op.IDMinimum}[random.IntN(3)], nil, some(), some())
			}
			values = append(values, call(op.IDClip, nil, v, b.Scalar(op.Value{Kind: op.Float, F: -9}), b.Scalar(op.Value{Kind: op.Float, F: 9})))
		}
		outputs := []graph.Value{values[len(values)-1]}
		for i := 2; i < len(values)-1; i++ {
			if random.IntN(6) == 0 {
				outputs = append(outputs, values[i])
			}
		}
		g := b.Build(outputs...)
		plain, fused := planFused(r.Device, g, false), planFused(r.Device, g, true)
		for _, group := range fused.Groups {
			if group.Head {
				heads++
			}
		}
		want, got := planCall(plain, 3), planCall(fused, 3)
		require.NoError(t, oneByOne(r, plain, want))
		require.NoError(t, runPlan(r, must(r.Compile(&fused.Plan)), got))
		require.Equal(t, bytesOut(want), bytesOut(got), "%s", g)
	}
	require.Greater(t, heads, rounds/2)
}
