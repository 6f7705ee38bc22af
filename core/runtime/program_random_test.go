package runtime_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/eager"
	"github.com/paddle-mps/paddle-mps/core/execute"
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/kernels/host"
	"github.com/paddle-mps/paddle-mps/place"
)

func integer(v int64) op.Value  { return op.Value{Kind: op.Int, I: v} }
func double(v float64) op.Value { return op.Value{Kind: op.Float, F: v} }
func yes(b bool) op.Value {
	v := op.Value{Kind: op.Bool}
	if b {
		v.I = 1
	}
	return v
}

func kind(d dtype.DType) op.Value { return op.Value{Kind: op.DType, I: int64(d)} }

// typed is the type of a tensor. Dimensions below 0 are symbols.
func typed(d dtype.DType, dims ...int64) op.Type {
	t := op.Type{DType: d, Shape: shape.Shape{Rank: len(dims)}}
	copy(t.Shape.Dims[:], dims)
	return t
}

// choice is an operator that random graphs have, with random attributes.
type choice struct {
	name     string
	operands int
	attrs    func(r *rand.Rand) []op.Value
}

func axis(r *rand.Rand) op.Value { return integer(int64(r.IntN(3)) - 1) }

func axes(r *rand.Rand) op.Value {
	if r.IntN(3) == 0 {
		return op.Value{}
	}
	return ints(int64(r.IntN(3)) - 1)
}

func oneOf(r *rand.Rand, list ...op.Value) op.Value { return list[r.IntN(len(list))] }

// choices leave out what divides integers and what shifts them: that fails on some data.
var choices = []choice{
	{"add", 2, nil},
	{"subtract", 2, nil},
	{"multiply", 2, nil},
	{"maximum", 2, nil},
	{"divide", 2, nil},
	{"less_than", 2, nil},
	{"equal", 2, nil},
	{"logical_and", 2, nil},
	{"bitwise_xor", 2, nil},
	{"where", 3, nil},
	{"neg", 1, nil},
	{"abs", 1, nil},
	{"tanh", 1, nil},
	{"sigmoid", 1, nil},
	{"relu", 1, nil},
	{"clip", 3, nil},
	{"softmax", 1, func(r *rand.Rand) []op.Value { return []op.Value{axis(r)} }},
	{"sum", 1, func(r *rand.Rand) []op.Value { return []op.Value{axes(r), {}, yes(r.IntN(2) == 0)} }},
	{"mean", 1, func(r *rand.Rand) []op.Value { return []op.Value{axes(r), yes(true)} }},
	{"max", 1, func(r *rand.Rand) []op.Value { return []op.Value{axes(r), yes(true)} }},
	{"min", 1, func(r *rand.Rand) []op.Value { return []op.Value{axes(r), yes(r.IntN(2) == 0)} }},
	{"prod", 1, func(r *rand.Rand) []op.Value { return []op.Value{axes(r), yes(false), {}} }},
	{"any", 1, func(r *rand.Rand) []op.Value { return []op.Value{axes(r), yes(false)} }},
	{"all", 1, func(r *rand.Rand) []op.Value { return []op.Value{axes(r), yes(true)} }},
	{"square_sum", 1, func(r *rand.Rand) []op.Value { return []op.Value{axes(r), yes(false)} }},
	{"argmax", 1, func(r *rand.Rand) []op.Value { return []op.Value{axis(r), yes(r.IntN(2) == 0)} }},
	{"matmul", 2, func(r *rand.Rand) []op.Value { return []op.Value{yes(r.IntN(2) == 0), yes(r.IntN(2) == 0)} }},
	{"cast", 1, func(r *rand.Rand) []op.Value {
		return []op.Value{oneOf(r, kind(dtype.Float32), kind(dtype.Float16), kind(dtype.Int32), kind(dtype.Bool), kind(dtype.Int64))}
	}},
	{"assign", 1, nil},
	{"reshape", 1, func(r *rand.Rand) []op.Value {
		return []op.Value{oneOf(r, ints(-1), ints(0, -1), ints(-1, 4), ints(1, -1))}
	}},
	{"transpose", 1, func(*rand.Rand) []op.Value { return []op.Value{ints(1, 0)} }},
	{"unsqueeze", 1, func(*rand.Rand) []op.Value { return []op.Value{ints(0)} }},
	{"squeeze", 1, nil},
	{"expand", 1, func(*rand.Rand) []op.Value { return []op.Value{ints(2, -1, -1)} }},
	{"slice", 1, func(*rand.Rand) []op.Value { return []op.Value{ints(-1), ints(1), ints(3)} }},
	{"split", 1, func(r *rand.Rand) []op.Value { return []op.Value{oneOf(r, ints(1, -1), integer(2)), integer(-1)} }},
	{"concat", 2, func(r *rand.Rand) []op.Value { return []op.Value{axis(r)} }},
	{"stack", 2, nil},
	{"tile", 1, func(*rand.Rand) []op.Value { return []op.Value{ints(1, 2)} }},
	{"flip", 1, func(r *rand.Rand) []op.Value { return []op.Value{ints(int64(r.IntN(2)))} }},
	{"full", 0, func(*rand.Rand) []op.Value { return []op.Value{ints(4), double(1.5), kind(dtype.Float32)} }},
	{"uniform", 0, func(*rand.Rand) []op.Value { return []op.Value{ints(4), double(0), double(1), kind(dtype.Float32)} }},
	{"normal", 0, func(*rand.Rand) []op.Value { return []op.Value{ints(4, 1), {}, {}, kind(dtype.Float32)} }},
	{"randint", 0, func(*rand.Rand) []op.Value { return []op.Value{ints(4), integer(0), integer(9), kind(dtype.Int32)} }},
}

// drawn is a graph with what its values are that no node makes.
type drawn struct {
	*graph.Graph
	inputs, outputs []graph.Value
	constants       map[graph.Value]*op.Const
	scalars         map[graph.Value]op.Value
}

// randomGraph is a graph of three inputs, the first two of them with a dimension that is a symbol, and of as
// many calls as happen to fit together.
func randomGraph(r *rand.Rand, calls int) *drawn {
	b, g := graph.NewBuilder(), &drawn{constants: map[graph.Value]*op.Const{}, scalars: map[graph.Value]op.Value{}}
	n := b.Symbol()
	g.inputs = []graph.Value{b.Input(typed(dtype.Float32, n, 4)), b.Input(typed(dtype.Int32, n, 4)), b.Input(typed(dtype.Float32, 4))}
	weights := &op.Const{Type: typed(dtype.Float32, 4, 4), Bytes: numbers(r, dtype.Float32, 16)}
	values := append(append([]graph.Value(nil), g.inputs...), b.Constant(weights))
	g.constants[values[3]] = weights
	for _, number := range []op.Value{double(0.5), integer(3)} {
		values = append(values, b.Scalar(number))
		g.scalars[values[len(values)-1]] = number
	}
	const scalars = 6 // from here on values may be outputs
	for range calls {
		c := &choices[r.IntN(len(choices))]
		row := op.MustByName(c.name)
		var at op.Attrs
		if c.attrs != nil {
			at = c.attrs(r)
		}
		var in []graph.Value
		for range c.operands {
			in = append(in, values[max(r.IntN(len(values)), r.IntN(len(values)))])
		}
		if out, err := b.Call(row, in, at); err == nil && within(b, out) {
			values = append(values, out...)
		}
	}
	for i := range values {
		if i < 4 && r.IntN(8) == 0 || i >= scalars && (r.IntN(4) == 0 || i == len(values)-1) {
			g.outputs = append(g.outputs, values[i])
		}
	}
	g.outputs = append(g.outputs, values[0])
	g.Graph = b.Build(g.outputs...)
	return g
}

// within keeps tensors small: tiles of tiles grow.
func within(b *graph.Builder, out []graph.Value) bool {
	for _, v := range out {
		n, s := int64(1), b.TypeOf(v).Shape
		for _, d := range s.Slice() {
			n *= max(d, 4)
		}
		if n > 1<<14 || s.Rank > 5 {
			return false
		}
	}
	return true
}

// numbers are small elements of a dtype.
func numbers(r *rand.Rand, d dtype.DType, count int) []byte {
	var bytes []byte
	for range count {
		v := double(float64(r.IntN(17)-8) / 4)
		if d.IsInt() {
			v = integer(int64(r.IntN(9) - 4))
		}
		bits := v.Bits(d)
		for range d.Size() {
			bytes = append(bytes, byte(bits))
			bits >>= 8
		}
	}
	return bytes
}

// tensor makes a tensor of small numbers: contiguous, or a view with strides that begins anywhere.
func (w *world) tensor(r *rand.Rand, c *runtime.Context, t op.Type) *runtime.Tensor {
	room := t.Shape
	strided := t.Shape.Rank > 0 && r.IntN(2) == 0
	if strided {
		room.Dims[room.Rank-1] = 2*room.Dims[room.Rank-1] + 1
	}
	x, err := w.rt.FromHost(c, t.DType, room, numbers(r, t.DType, int(room.Numel())))
	require.NoError(w, err)
	if !strided {
		return x
	}
	item := oneOf2(r, runtime.IndexItem{Kind: runtime.IndexSlice, Has: 5, Start: 1, Step: 2}, runtime.IndexItem{
		Kind: runtime.IndexSlice, Has: 3, Start: 1, Stop: 1 + t.Shape.Dims[t.Shape.Rank-1],
	})
	v, err := x.Index([]runtime.IndexItem{{Kind: runtime.IndexEllipsis}, item})
	require.NoError(w, err)
	w.free(x)
	return v
}

func oneOf2[T any](r *rand.Rand, a, b T) T {
	if r.IntN(2) == 0 {
		return a
	}
	return b
}

// bytes reads a tensor.
func (w *world) bytes(t *runtime.Tensor) []byte {
	b := make([]byte, t.Layout.Numel()*t.DType.Size())
	require.NoError(w, t.Read(b))
	return b
}

// oneByOne runs the calls of a graph as calls.
func (w *world) oneByOne(c *runtime.Context, g *drawn, in []*runtime.Tensor) (out []string, err error) {
	values := map[graph.Value]runtime.Operand{}
	var made []*runtime.Tensor
	defer func() { w.free(made...) }()
	for i, v := range g.inputs {
		values[v] = runtime.Operand{Tensor: in[i]}
	}
	for v, k := range g.constants {
		t, err := w.rt.FromHost(c, k.DType, k.Shape, k.Bytes)
		require.NoError(w, err)
		made = append(made, t)
		values[v] = runtime.Operand{Tensor: t}
	}
	for v, number := range g.scalars {
		values[v] = runtime.Operand{Value: number}
	}
	for i := range g.Nodes() {
		n := &g.Nodes()[i]
		var operands []runtime.Operand
		for _, v := range n.In {
			operands = append(operands, values[v])
		}
		ts, err := eager.Call(w.rt, n.Row, operands, append(op.Attrs(nil), n.Attrs...), c, nil)
		if err != nil {
			return nil, err
		}
		made = append(made, ts...)
		for j, v := range n.Out {
			values[v] = runtime.Operand{Tensor: ts[j]}
		}
	}
	for _, v := range g.outputs {
		out = append(out, w.describe(values[v].Tensor))
	}
	return out, nil
}

// describe is a tensor as text, bit for bit.
func (w *world) describe(t *runtime.Tensor) string {
	return fmt.Sprintf("%s%s %x", t.DType, &t.Shape, w.bytes(t))
}

// agree runs a program and the calls of its graph from the same random numbers.
func (w *world) agree(p *execute.Program, g *drawn, in []*runtime.Tensor) {
	c := p.Context()
	c.Seed(11)
	out, err := p.Run(in, nil)
	_, after := c.State()
	c.Seed(11)
	want, wrong := w.oneByOne(c, g, in)
	if wrong != nil {
		require.EqualError(w, err, wrong.Error(), "%s", g)
		return
	}
	require.NoError(w, err, "%s", g)
	_, expected := c.State()
	require.Equal(w, expected, after, "random numbers taken\n%s", g)
	for i, t := range out {
		require.Equal(w, want[i], w.describe(t), "output %d of\n%s", i, g)
	}
	w.again(p, in, out, want)
	w.free(out...)
}

// again runs a program once more, from the same random numbers, into the tensors that it has made, after they were overwritten.
func (w *world) again(p *execute.Program, in, out []*runtime.Tensor, want []string) {
	for _, t := range out {
		require.NoError(w, t.Write(bytes.Repeat([]byte{1}, int(t.Layout.Numel()*t.DType.Size()))))
	}
	p.Context().Seed(11)
	require.NoError(w, execute.RunInto(eager.In(w.rt, 0), p, in, out, nil))
	for i, t := range out {
		require.Equal(w, want[i], w.describe(t), "output %d in place of\n%s", i, p)
	}
}

// Programs compute the same bits with all passes, with each of them alone and without any, on any number of threads, for sizes
// from none to what is worth several threads.
func TestRandomProgramsByPasses(t *testing.T) {
	rounds := 24
	if testing.Short() {
		rounds = 6
	}
	for _, off := range []graph.Passes{0, graph.AllPasses, ^graph.Views, ^graph.Common, ^graph.DeadCode, ^graph.Groups, ^graph.Constants, ^graph.Patterns} {
		for _, threads := range []int{1, 2, 5} {
			rt, err := runtime.New(runtime.Config{CPU: host.New(host.Config{Threads: threads}), WithoutPasses: off})
			require.NoError(t, err)
			w := &world{T: t, rt: rt}
			w.cpu, _ = rt.Context(place.CPU)
			r := rand.New(rand.NewPCG(7, 8)) // the same programs for all
			grouped, arena := 0, int64(0)
			for range rounds {
				g := randomGraph(r, 1+r.IntN(60))
				p := execute.New(w.cpu, g.Graph)
				for _, n := range []int64{0, 1, 7, 1031} {
					var in []*runtime.Tensor
					for _, t := range []op.Type{typed(dtype.Float32, n, 4), typed(dtype.Int32, n, 4), typed(dtype.Float32, 4)} {
						in = append(in, w.tensor(r, w.cpu, t))
					}
					w.agree(p, g, in)
					w.free(in...)
				}
				info := p.Info()
				grouped, arena = grouped+info.Grouped, arena+info.Arena
				p.Close()
			}
			t.Logf("without %07b, %d threads: %d steps in groups, arenas of %d bytes", off&graph.AllPasses, threads, grouped, arena)
			require.Equal(t, off&graph.Groups == 0, grouped > 0)
			require.NoError(t, rt.Close())
		}
	}
}

// lacking is the emulated mps device without some operators, which it may only have one at a time.
type lacking struct {
	*host.Device
	has func(id op.ID) bool
}

func (d *lacking) Compile(p *device.Plan) (device.Program, error) {
	for i := range p.Steps {
		if id := p.Steps[i].Call.Op; !d.has(id) {
			err := error(status.Errorf(status.Unsupported, "[%s] not here", op.ByID(id).Name))
			if len(p.Steps) > 1 {
				err = &device.StepError{Step: i, Err: err}
			}
			return nil, err
		}
	}
	return d.Device.Compile(p)
}

func testRandomPrograms(t *testing.T, rounds int, mps device.Device) {
	w := newWorldOn(t, mps)
	r := rand.New(rand.NewPCG(5, 6))
	var steps, cpuSteps, parts int
	for i := range rounds {
		g := randomGraph(r, 1+r.IntN(60))
		c := []*runtime.Context{w.mps, w.cpu}[i%2]
		p := execute.New(c, g.Graph)
		for range 3 {
			n := int64(r.IntN(6))
			var in []*runtime.Tensor
			for _, t := range []op.Type{typed(dtype.Float32, n, 4), typed(dtype.Int32, n, 4), typed(dtype.Float32, 4)} {
				in = append(in, w.tensor(r, c, t))
			}
			w.agree(p, g, in)
			w.free(in...)
		}
		info := p.Info()
		steps, cpuSteps, parts = steps+info.Steps, cpuSteps+info.CPUSteps, parts+info.Parts
		p.Close()
	}
	t.Logf("%d programs: %d steps, %d of them on the CPU instead, in %d parts", rounds, steps, cpuSteps, parts)
	require.Greater(t, steps, 5*rounds, "graphs that are worth it")
}

// Programs of random operators compute, bit for bit, what the operators compute one by one.
func TestRandomPrograms(t *testing.T) {
	testRandomPrograms(t, 300, host.New(host.Config{Async: true, InlineLimit: -1}))
}

// TestRandomProgramsInParts does so on a device that leaves half of the operators to the CPU.
func TestRandomProgramsInParts(t *testing.T) {
	testRandomPrograms(t, 200, &lacking{host.New(host.Config{Async: true, InlineLimit: -1}), func(id op.ID) bool { return id%2 == 0 }})
}

// What no device has is the error that names it, and is remembered like a program.
func TestUnsupportedPrograms(t *testing.T) {
	cpu := &lacking{host.New(host.Config{}), func(id op.ID) bool { return id != op.IDExp }}
	mps := &lacking{host.New(host.Config{Async: true}), func(id op.ID) bool { return id != op.IDExp }}
	rt, err := runtime.New(runtime.Config{CPU: cpu, MPS: []device.Device{mps}})
	require.NoError(t, err)
	w := &world{T: t, rt: rt}
	w.cpu, _ = rt.Context(place.CPU)
	w.mps, _ = rt.Context(place.MPS(0))
	for _, c := range []*runtime.Context{w.cpu, w.mps} {
		b := graph.NewBuilder()
		x := b.Input(typed(dtype.Float32, 2))
		y, err := b.Call(op.MustByName("neg"), []graph.Value{x}, nil)
		require.NoError(t, err)
		z, err := b.Call(op.MustByName("exp"), y, nil)
		require.NoError(t, err)
		p := execute.New(c, b.Build(z...))
		in := w.f32(c, []float32{1, 2}, 2)
		for range 2 {
			_, err = p.Run([]*runtime.Tensor{in}, nil)
			require.ErrorContains(t, err, "[exp] not here")
			require.Equal(t, status.Unsupported, status.CodeOf(err))
			require.Equal(t, status.Unsupported, status.CodeOf(p.Prepare(p.Inputs())))
		}
		require.EqualValues(t, 1, c.Programs().Compilations)
		w.free(in)
		p.Close()
		require.Zero(t, c.Programs().Entries)
	}
	require.NoError(t, rt.Close())
}
