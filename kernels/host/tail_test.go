package host

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/internal/sample"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
	"github.com/paddle-mps/paddle-mps/kernels/host/fusion"
)

// shapesOfTails have outputs of one element, of less than 32, of up to a segment, of a segment and one more, of several
// blocks, and enough for five threads, divided by outputs or within one.
var shapesOfTails = [][]int64{{1}, {1, 1}, {40, 1}, {300, 7}, {3, 5}, {9, 1024}, {3, 2048}, {4, 2049}, {2, 3, 2500}, {1, 150001}, {130, 2100}, {64, 4, 1, 33}, {5, 1, 40000}}

// axesOfTails are the sets of axes that a tail may reduce in a shape: all, and the last ones.
func axesOfTails(rank int) (sets [][]int64) {
	sets = append(sets, nil)
	for first := 1; first < rank; first++ {
		var set []int64
		for axis := first; axis < rank; axis++ {
			set = append(set, int64(axis))
		}
		sets = append(sets, set)
	}
	return sets
}

// tailGraph is a group of elementwise steps that ends in a reduction: of a tensor, one with its axes turned around, a row of
// the last axis and a scalar, with a cast. kept says that the reduced tensor is a result too, or read once more.
func tailGraph(id op.ID, d dtype.DType, dims, axes []int64, keepDim bool, kept int) *graph.Graph {
	b := graph.NewBuilder()
	call := func(id op.ID, at op.Attrs, in ...graph.Value) graph.Value {
		return must(b.Call(op.ByID(id), in, at))[0]
	}
	turned, perm := make([]int64, len(dims)), make([]int64, len(dims))
	for i := range dims {
		perm[i] = int64(len(dims) - 1 - i)
		turned[i] = dims[perm[i]]
	}
	x, row := b.Input(typed(d, dims...)), b.Input(typed(d, dims[len(dims)-1]))
	v := call(op.IDTranspose, op.Attrs{{Kind: op.Ints, Ints: perm}}, b.Input(typed(d, turned...)))
	if d == dtype.Bool {
		v = call(op.IDLogicalOr, nil, call(op.IDLogicalAnd, nil, x, v), row)
	} else {
		v = call(op.IDMultiply, nil, call(op.IDSubtract, nil, x, v), row)
		if d.IsFloat() {
			v = call(op.IDMultiply, nil, v, b.Scalar(op.Value{Kind: op.Float, F: 0.7390851}))
		}
		v = call(op.IDCast, op.Attrs{{Kind: op.DType, I: int64(d)}}, call(op.IDAbs, nil, v))
	}
	attrs := op.ByID(id).Attrs
	at := make(op.Attrs, len(attrs))
	for i := range attrs {
		switch attrs[i].Name {
		case "axis":
			if axes != nil {
				at[i] = op.Value{Kind: op.Ints, Ints: axes}
			}
		case "keepdim":
			at[i] = op.Value{Kind: op.Bool}
			if keepDim {
				at[i].I = 1
			}
		}
	}
	out := call(id, at, v)
	switch kept {
	case 1:
		return b.Build(out, v)
	case 2:
		return b.Build(call(op.IDAdd, nil, v, call(op.IDMax, op.Attrs{{}, {Kind: op.Bool, I: 1}}, v)), out)
	}
	return b.Build(out)
}

// scatterFloats replaces the floats of a call by ones of all signs and sizes, whose sums depend on the order; with special,
// there are zeros, infinities and NaN among them.
func scatterFloats(c *device.Call, seed uint64, special bool) {
	r := rand.New(rand.NewPCG(seed, 9))
	values := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1)}
	for i := range c.In {
		x := &c.In[i]
		if !x.DType.IsFloat() {
			continue
		}
		size := x.DType.Size()
		all := engine.Slice[byte](x.Addr, bytesOf(x))
		for ; len(all) > 0; all = all[size:] {
			v := r.NormFloat64() * math.Pow(2, float64(r.IntN(8)))
			if special && r.IntN(40) == 0 {
				v = values[r.IntN(len(values))]
			}
			put(all, x.DType, v)
		}
	}
}

// A group with a tail gives the bits of its steps one by one, for any number of threads, whether or not what it reduces is
// kept.
func TestTails(t *testing.T) {
	var rigs []*rig
	for _, threads := range []int{1, 2, 5} {
		rigs = append(rigs, newRig(t, Config{Threads: threads}))
	}
	for i := range op.Table {
		row := op.Table[i]
		if !row.Tail {
			continue
		}
		t.Run(row.Name, func(t *testing.T) {
			sample.Skip(t, 5, "tails", i)
			for _, d := range row.Accepts.Members() {
				for number, dims := range shapesOfTails {
					for _, axes := range axesOfTails(len(dims)) {
						compareTail(t, rigs, row.ID, d, dims, axes, uint64(number*31+len(axes)+int(d)))
					}
				}
			}
		})
	}
}

// compareTail compares a group with a tail with its steps.
func compareTail(t *testing.T, rigs []*rig, id op.ID, d dtype.DType, dims, axes []int64, seed uint64) {
	r := rigs[0]
	g := tailGraph(id, d, dims, axes, seed%2 == 0, int(seed%3))
	fused, plain := must(g.PlanFor(r.Composes, r.Fuses)), must(g.PlanFor(r.Composes, nil))
	require.True(t, len(fused.Groups) > 0 && fused.Groups[0].Tail, "%s %v over %v", d, dims, axes)
	want := planCall(plain, seed)
	scatterFloats(want, seed, seed%4 == 1)
	require.NoError(t, oneByOne(r, plain, want))
	for _, r := range rigs {
		got := planCall(fused, seed)
		scatterFloats(got, seed, seed%4 == 1)
		require.NoError(t, runPlan(r, must(r.Compile(&fused.Plan)), got))
		require.Equal(t, bytesOut(want), bytesOut(got), "%s %v over %v, seed %d", d, dims, axes, seed)
	}
}

// meanSquares is the mean of the squares of the differences of two tensors, for each row or of all elements.
func meanSquares(rows, columns int64, axes ...int64) *graph.Graph {
	b := graph.NewBuilder()
	x, y := b.Input(typed(dtype.Float32, rows, columns)), b.Input(typed(dtype.Float32, rows, columns))
	v := must(b.Call(op.ByID(op.IDSubtract), []graph.Value{x, y}, nil))[0]
	v = must(b.Call(op.ByID(op.IDMultiply), []graph.Value{v, v}, nil))[0]
	return b.Build(must(b.Call(op.ByID(op.IDMean), []graph.Value{v}, op.Attrs{{Kind: op.Ints, Ints: axes}, {Kind: op.Bool}}))[0])
}

// A program with tails allocates nothing when it is warm, on one thread and several, and remembers no memory of a run.
func TestTailsDoNotAllocate(t *testing.T) {
	if sample.UnderRace {
		t.Skip("the race detector makes sync.Pool forget at random")
	}
	for _, threads := range []int{1, 3} {
		for _, columns := range []int64{100, 70000} { // whole outputs, and segments
			r := newRig(t, Config{Threads: threads})
			p := planFused(r.Device, meanSquares(5, columns, 1), true)
			program, c := must(r.Compile(&p.Plan)), planCall(p, 1)
			c.Workspace, c.Owner = room(program.Workspace(c)), quiet{}
			require.LessOrEqual(t, testing.AllocsPerRun(50, func() { r.stream.Run(program, c) }), 0.3)
		}
	}
}

func TestTailsForgetMemory(t *testing.T) {
	for _, columns := range []int64{100, 70000} {
		r := newRig(t, Config{Threads: 1})
		p := planFused(r.Device, meanSquares(5, columns, 1), true)
		s := must(r.sequence(&p.Plan))
		f := s.stages[0].kernel.(*fusion.Group)
		c := planCall(p, 1)
		c.Workspace = room(s.Workspace(c))
		b := f.NewBlocks()
		b.Open(c)
		require.NoError(t, f.Reduce(b, c, 0, f.Tail.Units()))
		b.Close()
		e := b.Ending
		require.Nil(t, e.Frame)
		for _, at := range []unsafe.Pointer{e.Next, e.In.Outer.Base, e.From.Walk.Base, e.From.Buf, e.To.Walk.Base, e.To.Raw, e.To.Buf} {
			require.Nil(t, at)
		}
	}
}

// Threads divide one output: a sum of many elements is not left to one of them.
func TestTailsDivideOneOutput(t *testing.T) {
	r := newRig(t, Config{Threads: 2})
	p := planFused(r.Device, meanSquares(1, 1<<20), true)
	f := must(r.sequence(&p.Plan)).stages[0].kernel.(*fusion.Group)
	require.EqualValues(t, 512, f.Tail.Units())
	require.EqualValues(t, 512*8, f.Workspace(nil))
	require.Zero(t, must(r.sequence(&planFused(r.Device, meanSquares(1<<20, 1, 1), true).Plan)).Workspace(nil))
}

// A tail that is no reduction, or reduces what no step of the group makes, is refused, so that the group is divided.
func TestTailsRefuse(t *testing.T) {
	r := newRig(t, Config{})
	p := planFused(r.Device, meanSquares(3, 5, 1), true)
	ks := make([]engine.Kernel, 3)
	for i := range ks {
		ks[i] = must(r.kernelFor(p.Steps[i].Call))
	}
	f := must(fusion.Fuse(p.Steps[:2], ks[:2], 15, p.Groups[0].Locals))
	require.Equal(t, status.Unsupported, status.CodeOf(f.EndWith(&p.Steps[2], ks[1], 0)))
	other := p.Steps[2]
	other.In = []device.Slot{{Space: device.Input}}
	require.Equal(t, status.Unsupported, status.CodeOf(f.EndWith(&other, ks[2], 0)))
	require.Nil(t, f.Tail)
	require.NoError(t, f.EndWith(&p.Steps[2], ks[2], 0))
}

// BenchmarkTail is the mean squared error of two tensors of 16 MiB, as a group and step by step.
func BenchmarkTail(b *testing.B) {
	const elements = 4 << 20
	for _, rows := range []int64{1, 64, 4096, 1 << 18} {
		for _, threads := range []int{1, 2} {
			for name, fused := range map[string]bool{"steps": false, "group": true} {
				b.Run(fmt.Sprintf("%d/%s/threads=%d", rows, name, threads), func(b *testing.B) {
					r := newRig(b, Config{Threads: threads})
					p := planFused(r.Device, meanSquares(rows, elements/rows, 1), fused)
					program, call := must(r.Compile(&p.Plan)), planCall(p, 1)
					call.Workspace, call.Owner = room(program.Workspace(call)), quiet{}
					b.SetBytes(elements * 4 * 2)
					for b.Loop() {
						r.stream.Run(program, call)
					}
				})
			}
		}
	}
}
