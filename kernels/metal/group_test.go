package metal

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/graph/graphtest"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/internal/fakemetal"
	"github.com/paddle-mps/paddle-mps/kernels/metal/metaltest"
)

// callOf is a call of a planned graph with memory of its own; inputs are the same for equal seeds.
func callOf(b *metaltest.Bench, p *graph.Planned, seed uint64) *device.Call {
	g := rand.New(rand.NewPCG(seed, 2))
	c := &device.Call{}
	add := func(os *[]device.Operand, t *op.Type) []byte {
		n := t.Shape.Numel() * t.DType.Size()
		at, h := b.Memory(max(n, 1))
		*os = append(*os, device.Operand{Addr: at, Heap: h, DType: t.DType, Layout: shape.Contiguous(t.Shape)})
		return h.Bytes()[:n]
	}
	for i := range p.Inputs {
		t := &p.Inputs[i]
		memory, size := add(&c.In, t), t.DType.Size()
		for n := int64(0); n < int64(len(memory)); n += size {
			metaltest.Put(memory[n:n+size], t.DType, float64(g.IntN(64)-20)/8)
		}
	}
	for _, k := range p.Constants {
		copy(add(&c.In, &k.Type), k.Bytes)
	}
	for i := range p.Outputs {
		add(&c.Out, &p.Outputs[i])
	}
	return c
}

// outputs are the bytes of all outputs.
func outputs(c *device.Call) (all [][]byte) {
	for i := range c.Out {
		all = append(all, metaltest.Contents(&c.Out[i]))
	}
	return all
}

// Groups give the bits of their steps one by one, with one dispatch for all their steps.
func TestGroups(t *testing.T) {
	seeds := uint64(12)
	if testing.Short() {
		seeds = 2
	}
	r := newRig(t, Config{})
	steps, dispatches, groups := 0, int64(0), 0
	for seed := range seeds {
		size := [][2]int64{{7, 33}, {1, 1}, {64, 48}, {5, 4}}[seed%4]
		g := graphtest.Elementwise(seed, 6+int(seed%4)*3, size[0], size[1])
		plain, err := g.PlanFor(r.Composes, nil)
		require.NoError(t, err)
		fused, err := g.PlanFor(r.Composes, r.Fuses)
		require.NoError(t, err)
		if len(fused.Groups) == 0 {
			continue
		}
		b := r.bench(t)
		want, got := callOf(b, plain, seed), callOf(b, fused, seed)
		program, err := b.Compile(&plain.Plan)
		if err != nil { // a step that Metal lacks
			continue
		}
		require.NoError(t, b.Runs(program, want).Err)
		program, err = b.Compile(&fused.Plan)
		require.NoError(t, err, "%s", g)
		fakemetal.Reset(t)
		require.NoError(t, b.Runs(program, got).Err)
		dispatches += fakemetal.Count(t, "dispatches")
		steps, groups = steps+len(plain.Steps), groups+len(fused.Groups)
		require.Equal(t, outputs(want), outputs(got), "seed %d:\n%s", seed, g)
	}
	t.Logf("%d steps, %d groups, %d dispatches", steps, groups, dispatches)
	require.Positive(t, groups)
	require.Less(t, dispatches, int64(steps))
}

// A chain of ten steps is one dispatch, which reads and writes each array once.
func TestGroupIsOneDispatch(t *testing.T) {
	r := newRig(t, Config{})
	b := graph.NewBuilder()
	s, err := shape.Of(33, 129)
	require.NoError(t, err)
	x, y := b.Input(op.Type{DType: dtype.Float32, Shape: s}), b.Input(op.Type{DType: dtype.Float32, Shape: s})
	v := x
	for i := range 10 {
		id := []op.ID{op.IDAdd, op.IDMultiply, op.IDTanh, op.IDSubtract, op.IDGelu}[i%5]
		in := []graph.Value{v, y}
		if id == op.IDTanh || id == op.IDGelu {
			in = in[:1]
		}
		out, err := b.Call(op.ByID(id), in, nil)
		require.NoError(t, err)
		v = out[0]
	}
	p, err := b.Build(v).PlanFor(r.Composes, r.Fuses)
	require.NoError(t, err)
	require.Len(t, p.Groups, 1)
	require.Zero(t, p.Arena)
	bench := r.bench(t)
	program, err := bench.Compile(&p.Plan)
	require.NoError(t, err)
	c := callOf(bench, p, 1)
	fakemetal.Reset(t)
	require.NoError(t, bench.Runs(program, c).Err)
	require.EqualValues(t, 1, fakemetal.Count(t, "dispatches"))
}

// A group with more numbers than a dispatch has room for has no kernel, so that its steps run one by one.
func TestGroupOfManyNumbers(t *testing.T) {
	r := newRig(t, Config{})
	s, err := shape.Of(7, 5)
	require.NoError(t, err)
	for _, calls := range []int{500, 600} {
		b := graph.NewBuilder()
		v := b.Input(op.Type{DType: dtype.Float32, Shape: s})
		for i := range calls {
			out, err := b.Call(op.ByID(op.IDAdd), []graph.Value{v, b.Scalar(op.Value{Kind: op.Float, F: float64(i)})}, nil)
			require.NoError(t, err)
			v = out[0]
		}
		p, err := b.Build(v).PlanFor(r.Composes, r.Fuses)
		require.NoError(t, err)
		require.Len(t, p.Groups, 1)
		bench := r.bench(t)
		program, err := bench.Compile(&p.Plan)
		if calls == 600 {
			require.Equal(t, status.Unsupported, status.CodeOf(err))
			continue
		}
		require.NoError(t, err)
		require.NoError(t, bench.Runs(program, callOf(bench, p, 1)).Err)
	}
}

// A group that the compiler refuses is reported once, and refused in words that have the runtime divide it.
func TestRefusedGroup(t *testing.T) {
	r := newRig(t, Config{})
	var said []string
	r.OnRefusal(func(text string) { said = append(said, text) })
	builder := graph.NewBuilder()
	x := builder.Input(op.Type{DType: dtype.Float32, Shape: line(9).Shape})
	y, err := builder.Call(op.ByID(op.IDTanh), []graph.Value{x}, nil)
	require.NoError(t, err)
	z, err := builder.Call(op.ByID(op.IDAdd), []graph.Value{x, y[0]}, nil)
	require.NoError(t, err)
	p, err := builder.Build(z[0]).PlanFor(r.Composes, r.Fuses)
	require.NoError(t, err)
	require.Len(t, p.Groups, 1)
	fakemetal.Refuse(t, "library:*")
	b := r.bench(t)
	for range 2 {
		_, err = b.Compile(&p.Plan)
		require.Equal(t, status.Unsupported, status.CodeOf(err))
	}
	require.Len(t, said, 1)
	require.Regexp(t, `^\[\w+\] in a group of \d+ steps: Metal refuses its shader: .*; the group is divided, which is slower$`, said[0])
}

// What a group cannot have: integers that are divided, which may fail, operators of another kind, and operands that lie
// across the result.
func TestGroupsLeaveOut(t *testing.T) {
	r := newRig(t, Config{})
	step := func(id op.ID, d dtype.DType, in int) *op.Step {
		s := &op.Step{Row: op.ByID(id), Out: []op.Ref{{DType: d, Layout: line(900)}}}
		for range in {
			s.In = append(s.In, s.Out[0])
		}
		return s
	}
	require.True(t, r.Fuses(step(op.IDAdd, dtype.Float32, 2)))
	require.True(t, r.Fuses(step(op.IDFloorDivide, dtype.Float32, 2)))
	require.False(t, r.Fuses(step(op.IDFloorDivide, dtype.Int32, 2)))
	require.True(t, r.Fuses(step(op.IDSum, dtype.Float32, 1)))
	require.False(t, r.Fuses(step(op.IDSum, dtype.Float64, 1)))
	require.False(t, r.Fuses(step(op.IDArgmax, dtype.Float32, 1)))
	require.False(t, r.Fuses(step(op.IDAdd, dtype.Float64, 2)))
	apart := step(op.IDAdd, dtype.Float32, 2)
	apart.In[1].Layout.Strides[0] = 7
	require.False(t, r.Fuses(apart))
	require.False(t, newRig(t, Config{Prefer: PreferGraphs}).Fuses(step(op.IDAdd, dtype.Float32, 2)))
	require.False(t, newRig(t, Config{Leave: []op.ID{op.IDAdd}}).Fuses(step(op.IDAdd, dtype.Float32, 2)))
}

// A program that does not read the indices of a pool has the values of one that does.
func TestPoolWithoutIndices(t *testing.T) {
	r := newRig(t, Config{})
	bench := r.bench(t)
	ints := func(n ...int64) op.Value { return op.Value{Kind: op.Ints, Ints: n} }
	s, err := shape.Of(2, 3, 9, 11)
	require.NoError(t, err)
	attrs := op.Attrs{op.MaxPoolKernelSize: ints(3, 3), op.MaxPoolStride: ints(2, 2), op.MaxPoolPadding: ints(1, 1, 1, 1)}
	var made [2][]byte
	for i := range made {
		b := graph.NewBuilder()
		out, err := b.Call(op.ByID(op.IDMaxPool), []graph.Value{b.Input(op.Type{DType: dtype.Float32, Shape: s})}, attrs)
		require.NoError(t, err)
		p, err := b.Build(out[:1+i]...).PlanFor(r.Composes, r.Fuses)
		require.NoError(t, err)
		require.Equal(t, i == 0, p.Steps[0].Call.Out[1].Absent())
		program, err := bench.Compile(&p.Plan)
		require.NoError(t, err)
		c := callOf(bench, p, 1)
		require.NoError(t, bench.Runs(program, c).Err)
		made[i] = metaltest.Contents(&c.Out[0])
	}
	require.Equal(t, made[1], made[0])
}

// Sorts are steps of programs too, where no operand has an address when they are compiled.
func TestSortInProgram(t *testing.T) {
	r := newRig(t, Config{})
	bench := r.bench(t)
	s, err := shape.Of(3, 50)
	require.NoError(t, err)
	b := graph.NewBuilder()
	x := b.Input(op.Type{DType: dtype.Float32, Shape: s})
	sorted, err := b.Call(op.ByID(op.IDSort), []graph.Value{x}, nil)
	require.NoError(t, err)
	best, err := b.Call(op.ByID(op.IDTopk), []graph.Value{x}, op.Attrs{op.TopkK: {Kind: op.Int, I: 4}})
	require.NoError(t, err)
	p, err := b.Build(sorted[0], best[0]).PlanFor(r.Composes, r.Fuses)
	require.NoError(t, err)
	program, err := bench.Compile(&p.Plan)
	require.NoError(t, err)
	c := callOf(bench, p, 1)
	require.NoError(t, bench.Runs(program, c).Err)
	line, largest := metaltest.Floats(&c.Out[0]), metaltest.Floats(&c.Out[1])
	require.IsNonDecreasing(t, line[:50])
	require.Equal(t, []float32{line[49], line[48], line[47], line[46]}, largest[:4])
}
