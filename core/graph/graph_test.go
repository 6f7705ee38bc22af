package graph

import (
	"flag"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
)

var update = flag.Bool("update", false, "write the golden files anew")

// typed is the type of a tensor. Dimensions below 0 are symbols.
func typed(d dtype.DType, dims ...int64) op.Type {
	t := op.Type{DType: d, Shape: shape.Shape{Rank: len(dims)}}
	copy(t.Shape.Dims[:], dims)
	return t
}

// must adds a call with one result.
func (b *Builder) must(t testing.TB, name string, at op.Attrs, in ...Value) Value {
	out, err := b.Call(op.MustByName(name), in, at)
	require.NoError(t, err, name)
	require.Len(t, out, 1, name)
	return out[0]
}

func ints(v ...int64) op.Value    { return op.Value{Kind: op.Ints, Ints: v} }
func integer(v int64) op.Value    { return op.Value{Kind: op.Int, I: v} }
func float(v float64) op.Value    { return op.Value{Kind: op.Float, F: v} }
func known(d dtype.DType) op.Type { return typed(d, 2, 3) }

// graphs are what the golden files show: each a rule of Legalize or of the planner.
var graphs = map[string]func(t testing.TB, b *Builder) []Value{
	"casts": func(t testing.TB, b *Builder) []Value {
		x, y := b.Input(known(dtype.Float16)), b.Input(typed(dtype.Float32, 3))
		return []Value{b.must(t, "add", nil, x, y), b.must(t, "exp", nil, b.Input(known(dtype.Int32)))}
	},
	"scalars": func(t testing.TB, b *Builder) []Value {
		x := b.Input(known(dtype.Float16))
		return []Value{b.must(t, "clip", nil, b.must(t, "multiply", nil, b.Scalar(float(2.5)), x), b.Scalar(op.Value{}), b.Scalar(integer(1)))}
	},
	"reductions": func(t testing.TB, b *Builder) []Value {
		x := b.Input(known(dtype.Bool))
		return []Value{b.must(t, "sum", op.Attrs{ints(1)}, x), b.must(t, "max", nil, x)}
	},
	"views": func(t testing.TB, b *Builder) []Value {
		x := b.Input(known(dtype.Float32))
		turned := b.must(t, "transpose", op.Attrs{ints(1, 0)}, x)
		return []Value{b.must(t, "reshape", op.Attrs{ints(6)}, turned), b.must(t, "reshape", op.Attrs{ints(-1)}, x), b.must(t, "exp", nil, turned)}
	},
	"assembled": func(t testing.TB, b *Builder) []Value {
		x, y := b.Input(known(dtype.Float32)), b.Input(typed(dtype.Float32, 2, 1))
		joined := b.must(t, "concat", op.Attrs{integer(1)}, x, b.must(t, "neg", nil, y))
		return []Value{b.must(t, "stack", op.Attrs{integer(1)}, x, x), joined, b.must(t, "tile", op.Attrs{ints(2, 3)}, y)}
	},
	"indexed": func(t testing.TB, b *Builder) []Value {
		x, i := b.Input(known(dtype.Float32)), b.Input(typed(dtype.Int32, 2))
		return []Value{b.must(t, "gather", op.Attrs{integer(1)}, x, i), b.must(t, "index_put", nil, x, b.Input(typed(dtype.Int64, 3)), i)}
	},
	"products": func(t testing.TB, b *Builder) []Value {
		x, y := b.Input(typed(dtype.Float32, 4, 2, 3)), b.Input(typed(dtype.Float32, 5, 3))
		z := b.must(t, "matmul", op.Attrs{{}, {Kind: op.Bool, I: 1}}, x, y)
		return []Value{z, b.must(t, "matmul", nil, b.Input(typed(dtype.Float32, 3)), b.Input(typed(dtype.Float32, 3)))}
	},
	"constants": func(t testing.TB, b *Builder) []Value {
		w := b.Constant(&op.Const{Type: typed(dtype.Float32, 3, 2), Bytes: make([]byte, 24)})
		return []Value{b.must(t, "matmul", nil, b.Input(known(dtype.Float32)), w), w}
	},
	"nothing": func(t testing.TB, b *Builder) []Value {
		x := b.Input(typed(dtype.Float32, 0, 3))
		return []Value{b.must(t, "exp", nil, x), b.must(t, "sum", nil, x), x}
	},
	"arena": func(t testing.TB, b *Builder) []Value { // in place, and a place used twice
		x := b.must(t, "exp", nil, b.Input(typed(dtype.Float32, 256)))
		y := b.must(t, "softmax", nil, x)
		for range 3 {
			x = b.must(t, "tanh", nil, x)
		}
		return []Value{b.must(t, "add", nil, x, y)}
	},
}

// TestGolden shows each graph as it was built, legalized and planned. `go test -update` writes the files.
func TestGolden(t *testing.T) {
	for name, build := range graphs {
		t.Run(name, func(t *testing.T) {
			b := NewBuilder()
			g := b.Build(build(t, b)...)
			var l Legal
			require.NoError(t, l.addGraph(g, &Planned{}))
			p, err := g.Plan()
			require.NoError(t, err)
			got := g.String() + "\n" + l.String() + "\n" + Explain(&p.Plan, func(int) string { return "" })
			golden(t, name, got)
		})
	}
}

// rewritten are what the golden files of passes show: the graph before, after all passes, and its plan for a device that
// fuses everything.
var rewritten = map[string]func(t testing.TB, b *Builder) []Value{
	"pass_views": func(t testing.TB, b *Builder) []Value {
		x := b.Input(known(dtype.Float32))
		turn := op.Attrs{ints(1, 0)}
		back := b.must(t, "transpose", turn, b.must(t, "transpose", turn, x))                                             // x
		flat := b.must(t, "reshape", op.Attrs{ints(-1)}, b.must(t, "reshape", op.Attrs{ints(3, 2)}, x))                   // one reshape
		copied := b.must(t, "reshape", op.Attrs{ints(-1)}, b.must(t, "transpose", turn, x))                               // stays
		same := b.must(t, "cast", op.Attrs{{Kind: op.DType, I: int64(dtype.Float32)}}, back)                              // x
		whole := b.must(t, "slice", op.Attrs{ints(0), ints(0), ints(2)}, b.must(t, "expand", op.Attrs{ints(2, 3)}, same)) // x
		part := b.must(t, "slice", op.Attrs{ints(0), ints(1), ints(2)}, x)
		again := b.must(t, "reshape", op.Attrs{ints(3)}, b.must(t, "reshape", op.Attrs{ints(1, 3)}, part)) // reads the slice
		return []Value{b.must(t, "exp", nil, whole), b.must(t, "neg", nil, flat), b.must(t, "neg", nil, copied), again}
	},
	"pass_common": func(t testing.TB, b *Builder) []Value {
		x, y := b.Input(known(dtype.Float32)), b.Input(known(dtype.Float32))
		noise := op.Attrs{ints(2, 3), float(0), float(1), {Kind: op.DType, I: int64(dtype.Float32)}}
		twice := func(f func() Value) Value { return b.must(t, "add", nil, f(), f()) }
		return []Value{
			twice(func() Value { return b.must(t, "exp", nil, b.must(t, "multiply", nil, x, b.Scalar(float(2)))) }),
			twice(func() Value { return b.must(t, "uniform", noise) }), // two draws
			b.must(t, "subtract", nil, b.must(t, "subtract", nil, x, y), b.must(t, "subtract", nil, y, x)),
			b.must(t, "add", nil, b.must(t, "multiply", nil, x, b.Scalar(float(0))), b.must(t, "multiply", nil, x, b.Scalar(float(math.Copysign(0, -1))))),
		}
	},
	"pass_dead": func(t testing.TB, b *Builder) []Value {
		x, unread := b.Input(known(dtype.Float32)), b.Input(known(dtype.Float32))
		w := b.Constant(&op.Const{Type: known(dtype.Float32), Bytes: make([]byte, 24)})
		noise := op.Attrs{ints(4), float(0), float(1), {Kind: op.DType, I: int64(dtype.Float32)}}
		b.must(t, "exp", nil, b.must(t, "add", nil, unread, w))
		b.must(t, "uniform", noise) // draws all the same
		return []Value{b.must(t, "neg", nil, x), b.must(t, "uniform", noise)}
	},
	"heads": func(t testing.TB, b *Builder) []Value {
		x, w, bias := b.Input(typed(dtype.Float32, 64, 65)), b.Input(typed(dtype.Float32, 65, 66)), b.Input(typed(dtype.Float32, 66))
		y := b.must(t, "relu", nil, b.must(t, "add", nil, b.must(t, "matmul", nil, x, w), bias)) // in the memory of the product
		z := b.must(t, "matmul", nil, b.must(t, "exp", nil, b.must(t, "matmul", nil, y, weight(b))), weight(b))
		return []Value{z, b.must(t, "add", nil, z, y)} // the product is an output itself
	},
	"groups": func(t testing.TB, b *Builder) []Value {
		x, bias := b.Input(typed(dtype.Float32, 64, 65)), b.Input(typed(dtype.Float16, 65))
		y := b.must(t, "multiply", nil, b.must(t, "exp", nil, x), x)
		y = b.must(t, "add", nil, y, bias) // the cast of the bias moves in front
		half := b.must(t, "cast", op.Attrs{{Kind: op.DType, I: int64(dtype.Float16)}}, y)
		total := b.must(t, "sum", op.Attrs{ints(1), {}, {Kind: op.Bool, I: 1}}, y) // the last step of the group
		z := b.must(t, "subtract", nil, y, total)
		turned := b.must(t, "transpose", op.Attrs{ints(1, 0)}, z)
		return []Value{b.must(t, "neg", nil, turned), half, b.must(t, "tanh", nil, z)} // neg reads what the group has written as it lies
	},
}

// tails are groups that end in a reduction, and what ends a group without being part of it.
var tails = map[string]func(t testing.TB, b *Builder, x, y Value) []Value{
	"tail_all": func(t testing.TB, b *Builder, x, y Value) []Value { // mean squared error
		d := b.must(t, "subtract", nil, x, y)
		return []Value{b.must(t, "mean", nil, b.must(t, "multiply", nil, d, d))}
	},
	"tail_last": func(t testing.TB, b *Builder, x, y Value) []Value { // a count of matches, cast before it is summed
		return []Value{b.must(t, "sum", op.Attrs{ints(1, 2), {}, {}}, b.must(t, "equal", nil, x, y))}
	},
	"tail_reshaped": func(t testing.TB, b *Builder, x, _ Value) []Value {
		flat := b.must(t, "reshape", op.Attrs{ints(8, -1)}, b.must(t, "abs", nil, x))
		return []Value{b.must(t, "max", op.Attrs{ints(-1), {Kind: op.Bool, I: 1}}, flat)}
	},
	"tail_kept": func(t testing.TB, b *Builder, x, y Value) []Value { // what is reduced is written, because others read it
		z := b.must(t, "exp", nil, b.must(t, "subtract", nil, x, y))
		return []Value{b.must(t, "divide", nil, z, b.must(t, "sum", op.Attrs{ints(2), {}, {Kind: op.Bool, I: 1}}, z))}
	},
	"tail_two": func(t testing.TB, b *Builder, x, _ Value) []Value { // a group has one
		z := b.must(t, "abs", nil, x)
		return []Value{b.must(t, "max", nil, z), b.must(t, "min", nil, z)}
	},
	"tail_none": func(t testing.TB, b *Builder, x, y Value) []Value { // other axes, in another order, at once, by index, after a product
		z, u, v := b.must(t, "abs", nil, x), b.must(t, "exp", nil, x), b.must(t, "tanh", nil, x)
		p := b.must(t, "relu", nil, b.must(t, "matmul", op.Attrs{{Kind: op.Bool}, {Kind: op.Bool, I: 1}}, x, y))
		return []Value{
			b.must(t, "sum", op.Attrs{ints(1), {}, {}}, z),
			b.must(t, "max", op.Attrs{ints(2), {}}, b.must(t, "transpose", op.Attrs{ints(0, 2, 1)}, u)),
			b.must(t, "sum", op.Attrs{ints(-1), {}, {}}, x),
			b.must(t, "argmax", op.Attrs{{}, {}, {}}, v),
			b.must(t, "sum", op.Attrs{ints(-1), {}, {}}, p),
		}
	},
}

// TestGoldenTails shows plans for a device that fuses everything, for one that refuses tails, and without groups. Only the
// first has tails, and with -update the files are what all of them say.
func TestGoldenTails(t *testing.T) {
	for name, build := range tails {
		t.Run(name, func(t *testing.T) {
			b := NewBuilder()
			x, y := b.Input(typed(dtype.Float32, 4, 8, 64)), b.Input(typed(dtype.Float32, 1, 8, 64))
			g := b.Build(build(t, b, x, y)...)
			got := g.String()
			for _, fuses := range []Fuses{nil, func(s *op.Step) bool { return !s.Row.Tail }, func(*op.Step) bool { return true }} {
				p, err := g.PlanFor(nil, fuses)
				require.NoError(t, err)
				got += "\n" + Explain(&p.Plan, func(int) string { return "" })
			}
			golden(t, name, got)
		})
	}
}

// weight is that of a product of 66 columns.
func weight(b *Builder) Value { return b.Input(typed(dtype.Float32, 66, 66)) }

// TestGoldenPasses shows graphs before and after the passes.
func TestGoldenPasses(t *testing.T) {
	for name, build := range rewritten {
		t.Run(name, func(t *testing.T) {
			b := NewBuilder()
			g := b.Build(build(t, b)...)
			before := g.String()
			after := g.Rewrite(AllPasses)
			require.Equal(t, before, g.String(), "the graph that was given has changed")
			require.Equal(t, g.Inputs(), after.Inputs())
			require.Equal(t, g.Outputs(), after.Outputs())
			require.Equal(t, before, g.Rewrite(0).String())
			p, err := after.PlanFor(nil, func(*op.Step) bool { return true })
			require.NoError(t, err)
			golden(t, name, before+"\n"+after.String()+"\n"+Explain(&p.Plan, func(int) string { return "" }))
		})
	}
}

// golden compares a text with a file, or writes it there.
func golden(t *testing.T, name, got string) {
	file := filepath.Join("testdata", name+".golden")
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), got, "if that is right: go test ./core/graph -update")
}

// A composite that the device composes stays one step, in graphs and in calls; all others are lowered.
func TestComposites(t *testing.T) {
	var asked []op.ID
	stacks := func(s *op.Step) bool {
		asked = append(asked, s.Row.ID)
		return s.Row.ID == op.IDStack && s.In[1].DType == dtype.Float32
	}
	b := NewBuilder()
	x, y, z := b.Input(known(dtype.Float32)), b.Input(known(dtype.Float32)), b.Input(known(dtype.Int32))
	stacked, joined := b.must(t, "stack", nil, x, y), b.must(t, "concat", nil, x, y)
	g := b.Build(stacked, joined, b.must(t, "stack", nil, z, z))
	rows := func(p *Planned, err error) (ids []op.ID) {
		require.NoError(t, err)
		for i := range p.Steps {
			ids = append(ids, p.Steps[i].Call.Op)
		}
		return ids
	}
	copied := []op.ID{op.IDAssign, op.IDAssign, op.IDAssign, op.IDAssign}
	require.Equal(t, append([]op.ID{op.IDStack}, copied...), rows(g.PlanFor(stacks, nil)))
	require.Equal(t, []op.ID{op.IDStack, op.IDConcat, op.IDStack}, asked, "each is asked about once, elementwise rows never")
	require.Equal(t, append(copied, op.IDAssign, op.IDAssign), rows(g.Plan()))

	l := Legal{Composes: stacks}
	row := op.ByID(op.IDStack)
	line := shape.Contiguous(known(dtype.Float32).Shape)
	at := op.Attrs{integer(1)}
	out, err := l.Call(row, []op.Ref{given(&l, dtype.Float32, &line, 0, 0), given(&l, dtype.Float32, &line, 0, 1)}, at)
	require.NoError(t, err)
	require.Len(t, l.Steps, 1)
	s := &l.Steps[0]
	require.Same(t, row, s.Row)
	require.Equal(t, at, s.Attrs)
	require.Equal(t, 1, s.Axes.First())
	require.Equal(t, []int64{2, 2, 3}, out[0].Slice())
	require.Equal(t, out, s.Out)
	l.Reset()
	require.NotNil(t, l.Composes)

	// A row that its lowering completes has kernels of its own, which need what the lowering does.
	b = NewBuilder()
	whole := func(*op.Step) bool { return true }
	p, err := b.Build(b.must(t, "cumsum", nil, b.Input(known(dtype.Float32)))).PlanFor(whole, nil)
	require.NoError(t, err)
	require.Equal(t, []int64{6}, p.Steps[0].Call.In[0].Slice(), "one line of all elements")
}

// TestResolve puts numbers in the place of symbols.
func TestResolve(t *testing.T) {
	b := NewBuilder()
	n := b.Symbol()
	x := b.Input(typed(dtype.Float32, n, 4))
	y := b.Input(typed(dtype.Float32, n, 1))
	joined := b.must(t, "concat", op.Attrs{integer(1)}, x, y)
	flat := b.must(t, "reshape", op.Attrs{ints(-1)}, joined)
	g := b.Build(flat)
	require.False(t, g.Known())
	require.Less(t, g.Outputs()[0].Shape.Dims[0], int64(0))
	_, err := g.Plan()
	require.ErrorContains(t, err, "a dimension of an input is not known")

	r, err := g.Resolve([]op.Type{typed(dtype.Float32, 7, 4), typed(dtype.Float32, 7, 1)})
	require.NoError(t, err)
	require.True(t, r.Known())
	require.Equal(t, []int64{35}, func() []int64 { s := r.Outputs()[0].Shape; return s.Slice() }())

	for says, types := range map[string][]op.Type{
		"got 1 inputs; want 2":                   {typed(dtype.Float32, 7, 4)},
		"input 1 is float32 of shape [8, 1]":     {typed(dtype.Float32, 7, 4), typed(dtype.Float32, 8, 1)},
		"input 0 is float16 of shape [7, 4]":     {typed(dtype.Float16, 7, 4), typed(dtype.Float32, 7, 1)},
		"input 0 is float32 of shape [7]; want ": {typed(dtype.Float32, 7), typed(dtype.Float32, 7, 1)},
	} {
		_, err := g.Resolve(types)
		require.ErrorContains(t, err, says)
		require.Equal(t, status.Invalid, status.CodeOf(err))
	}
}

func TestBuilderRefuses(t *testing.T) {
	b := NewBuilder()
	x := b.Input(known(dtype.Float32))
	add := op.MustByName("add")
	for says, in := range map[string][]Value{
		"[add] got 1 operands; want 2":                 {x},
		"[add] operand y is missing":                   {x, b.Scalar(op.Value{})},
		"[add] an operand is no value of this graph":   {x, 99},
		"do not broadcast: axis 1 has 3 and 4":         {x, b.Input(typed(dtype.Float32, 4))},
		"[add] got tensors of float32 and int64; want": {x, b.Input(known(dtype.Int64))},
	} {
		_, err := b.Call(add, in, nil)
		require.Error(t, err)
		require.ErrorContains(t, err, says)
	}
	require.Empty(t, b.graph.nodes)
	count := b.must(t, "nonzero", nil, x)
	_, err := b.Build(count).Plan()
	require.Equal(t, status.Unsupported, status.CodeOf(err))
	require.ErrorContains(t, err, "[nonzero] has a result of unknown size")
}

// given is a view of memory that there is already.
func given(l *Legal, d dtype.DType, layout *shape.Layout, addr uintptr, index int) (r op.Ref) {
	l.Give(&r, d, layout, addr, index)
	return r
}

// TestOverlap: what may share memory is found by addresses and by offsets.
func TestOverlap(t *testing.T) {
	var l Legal
	line := shape.Contiguous(typed(dtype.Float32, 4).Shape)
	a := given(&l, dtype.Float32, &line, 1000, 0)
	same := given(&l, dtype.Float32, &line, 1000, 0)
	ahead := given(&l, dtype.Float32, &line, 1012, 0)
	apart := given(&l, dtype.Float32, &line, 1016, 0)
	unknown := given(&l, dtype.Float32, &line, 0, 0)
	back := given(&l, dtype.Float32, &shape.Layout{Shape: line.Shape, Strides: [shape.MaxRank]int64{-1}}, 1020, 0)
	empty := given(&l, dtype.Float32, &shape.Layout{Shape: typed(dtype.Float32, 0).Shape}, 1000, 0)
	require.True(t, l.overlap(&a, &same))
	require.True(t, l.same(&a, &same))
	require.True(t, l.overlap(&a, &ahead))
	require.False(t, l.same(&a, &ahead))
	require.False(t, l.overlap(&a, &apart))
	require.False(t, l.overlap(&a, &unknown))
	require.True(t, l.overlap(&a, &back))
	require.False(t, l.overlap(&a, &empty))
	later := a
	later.Offset = 4
	require.False(t, l.overlap(&a, &later))
	require.False(t, l.overlap(&a, &op.Ref{Number: &op.Value{}}))
}

// TestArena plans random graphs and checks, independently of the planner, that no step writes memory which
// holds a value that a later step reads.
func TestArena(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	saved, grouped := int64(0), 0
	for range 600 {
		b := NewBuilder()
		side := []int64{64, 4}[r.IntN(2)]
		values := []Value{b.Input(typed(dtype.Float32, 64)), b.Input(typed(dtype.Float32, side, 64))}
		for range 1 + r.IntN(50) {
			x, y := values[r.IntN(len(values))], values[r.IntN(len(values))]
			if b.TypeOf(x) == typed(dtype.Float32, 64, 64) && r.IntN(3) == 0 { // read in two orders, perhaps
				x = b.must(t, "transpose", op.Attrs{ints(1, 0)}, x)
			}
			switch r.IntN(6) {
			case 0:
				values = append(values, b.must(t, "add", nil, x, y))
			case 1:
				values = append(values, b.must(t, "softmax", nil, x))
			case 2:
				values = append(values, b.must(t, "sum", op.Attrs{ints(-1), {}, {Kind: op.Bool, I: 1}}, x))
			case 3:
				values = append(values, b.must(t, "exp", nil, x))
			case 4:
				values = append(values, b.must(t, "reshape", op.Attrs{ints(-1)}, x))
				values = values[:len(values)-1] // a view that nothing reads
			default:
				values = append(values, b.must(t, "multiply", nil, x, b.Scalar(float(2))))
			}
		}
		g := b.Build(values[len(values)-1], values[r.IntN(len(values))])
		var l Legal
		require.NoError(t, l.addGraph(g, &Planned{}))
		saved += check(t, &l, makePlan(&l, 2, nil))
		groups, _ := l.group(func(*op.Step) bool { return r.IntN(5) > 0 }, nil)
		plan := makePlan(&l, 2, groups)
		check(t, &l, plan)
		grouped += len(groups)
	}
	require.Positive(t, grouped)
	require.Positive(t, saved, "no arena was smaller than its buffers")
}

// TestChainAlternates: a chain of layers that cannot be computed in place has two of them at a time, however long it is: one in
// the arena, one in the memory of the output.
func TestChainAlternates(t *testing.T) {
	for layers := 2; layers < 9; layers++ {
		for _, activation := range []string{"", "tanh"} {
			b := NewBuilder()
			x, w := b.Input(typed(dtype.Float32, 64, 64)), b.Input(typed(dtype.Float32, 64, 64))
			for range layers {
				if x = b.must(t, "matmul", op.Attrs{{Kind: op.Bool}, {Kind: op.Bool}}, x, w); activation != "" {
					x = b.must(t, activation, nil, x)
				}
			}
			var l Legal
			require.NoError(t, l.addGraph(b.Build(x), &Planned{}))
			groups, _ := l.group(func(*op.Step) bool { return true }, nil)
			for _, groups := range [][]device.Group{nil, groups} {
				plan := makePlan(&l, 2, groups)
				check(t, &l, plan)
				require.EqualValues(t, 64*64*4, plan.Arena, "%d layers with %q, %d groups", layers, activation, len(groups))
			}
		}
	}
}

// check runs a plan on an arena and outputs that remember which buffer each granule holds, and answers how much smaller
// the arena is than all buffers. Groups run in two blocks, the second first: a step touches half of what it reads and
// writes in order, and all of what lies in another way.
func check(t *testing.T, l *Legal, p *device.Plan) int64 {
	holds := map[int][]int{-1: make([]int, p.Arena/granule)} // by output; -1: the arena
	total := int64(0)
	for i := range l.Buffers {
		switch b := &l.Buffers[i]; b.Role {
		case Temporary:
			total += b.bytes()
		case Made:
			holds[b.Index] = make([]int, b.bytes()/granule)
		}
	}
	// granules calls f for those of an operand that a block of a group touches; half is -1 for a step that runs alone.
	granules := func(r *op.Ref, slot *device.Slot, half int64, f func(held *int)) {
		memory := holds[slot.Index]
		switch slot.Space {
		case device.Output:
		case device.Scratch:
			memory = holds[-1]
		default:
			return
		}
		first, n := (slot.Offset-r.Offset*4)/granule, l.Buffers[r.Buffer].bytes()/granule
		from, to := int64(0), n
		if half >= 0 && l.linear(r) {
			from, to = half*(n/2), max(n/2, half*n)
		}
		for k := from; k < to; k++ {
			f(&memory[first+k])
		}
	}
	run := func(i int, half int64) {
		s := &p.Steps[i]
		for j := range s.In {
			r := &l.Steps[i].In[j]
			granules(r, &s.In[j], half, func(held *int) {
				require.Equal(t, r.Buffer+1, *held, "step %d reads what is not there (half %d):\n%s", i, half, l)
			})
		}
		for j := range s.Out {
			r := &l.Steps[i].Out[j]
			granules(r, &s.Out[j], half, func(held *int) { *held = r.Buffer + 1 })
		}
	}
	groups := p.Groups
	for i := 0; i < len(p.Steps); i++ {
		if len(groups) == 0 || groups[0].First != i {
			run(i, -1)
			continue
		}
		for half := int64(1); half >= 0; half-- {
			for j := i; j < groups[0].End; j++ {
				run(j, half)
			}
		}
		i, groups = groups[0].End-1, groups[1:]
	}
	return total - p.Arena
}
