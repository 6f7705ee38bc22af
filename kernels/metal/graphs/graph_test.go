package graphs_test

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/internal/fakemetal"
	"github.com/paddle-mps/paddle-mps/internal/sample"
	"github.com/paddle-mps/paddle-mps/kernels/metal/gpu"
	"github.com/paddle-mps/paddle-mps/kernels/metal/graphs"
	"github.com/paddle-mps/paddle-mps/kernels/metal/metaltest"
	"github.com/paddle-mps/paddle-mps/objc"
)

// elementwiseRows are those that MPSGraph has.
func elementwiseRows() (rows []*op.Row) {
	for i := range op.Table {
		switch row := &op.Table[i]; row.Kind {
		case op.Unary, op.Binary, op.Compare, op.Select, op.Convert:
			rows = append(rows, row)
		}
	}
	return rows
}

// Every elementwise operator of MPSGraph gives what the host gives, in every dtype: on operands that lie
// as it takes them, that are turned or have gaps, that repeat, and on numbers.
func TestGraphElementwise(t *testing.T) {
	b := open(t)
	for _, row := range elementwiseRows() {
		for _, d := range graphTypes(row.ID).Members() {
			to := []dtype.DType{metaltest.ResultOf(row, d)}
			if row.Kind == op.Convert {
				to = gpu.Elements.Members()
			}
			t.Run(fmt.Sprintf("%s/%s", row.Name, d), func(t *testing.T) {
				b := b.on(t)
				for _, out := range to {
					for n := range metaltest.ArrangementNames {
						b.elementwise(row, d, out, n)
					}
				}
			})
		}
	}
}

// What no graph can be trusted with is left to shaders: fmod may be naive there, products that are added to may be
// fused, which breaks sums in two floats, and angles may be reduced in float32.
func TestWhatIsLeftToShaders(t *testing.T) {
	for _, name := range []string{"floor_divide", "remainder", "gelu", "sin", "cos", "tan"} {
		row := op.MustByName(name)
		require.Empty(t, gpu.Named(row.ID, dtype.Float32, gpu.Graph), name)
		require.NotEmpty(t, gpu.Named(row.ID, dtype.Float32, gpu.Shader), name)
	}
}

// With fast math MPSGraph's tanh of large numbers is NaN; here it is 1.
func TestGraphTanhOfLargeNumbers(t *testing.T) {
	t.Setenv("FAKEMETAL_GRAPH_FAST_MATH", "1")
	b := open(t)
	row := op.MustByName("tanh")
	for _, d := range []dtype.DType{dtype.Float32, dtype.Float16} {
		value := func(i int64) float64 { return []float64{-60000, -45, -9, 0.5, 9, 45, 88.5, 60000}[i] }
		c := &device.Call{In: []device.Operand{b.Operand(d, "contiguous", value, 8)}, Out: []device.Operand{b.Operand(d, "contiguous", metaltest.Steady, 8)}}
		b.agrees(row, c)
	}
}

// elementwise tries one call: the arrangements of its operands follow from n.
func (b bench) elementwise(row *op.Row, d, out dtype.DType, n int) {
	dims := []int64{3, 13, 5}
	c := &device.Call{Attrs: metaltest.Attributes(row, out)}
	for i := range row.In {
		from := metaltest.InputType(row, i, d)
		own := slices.Clone(dims)
		if n == i {
			own[n%3] = 1
		}
		o := b.Operand(from, metaltest.ArrangementNames[(n+i)%4], metaltest.ValuesFor(row, i, from), own...)
		whole := metaltest.ShapeAs(b.T, dims...)
		o.Layout = o.BroadcastTo(&whole)
		if n == 3 && i == 1 && row.In[i].Scalar {
			o = metaltest.Number(o)
		}
		c.In = append(c.In, o)
	}
	c.Out = []device.Operand{b.Operand(out, metaltest.ArrangementNames[n], metaltest.Steady, dims...)}
	b.agrees(row, c)
}

// Reductions and softmax over every set of axes.
func TestGraphReductions(t *testing.T) {
	b := open(t)
	for i := range op.Table {
		row := &op.Table[i]
		if row.Kind != op.Reduce && row.Kind != op.Scan {
			continue
		}
		for _, d := range graphTypes(row.ID).Members() {
			t.Run(fmt.Sprintf("%s/%s", row.Name, d), func(t *testing.T) {
				b := b.on(t)
				for n, axes := range []op.Axes{0b0001, 0b1000, 0b0101, 0b1111, 0b0110} {
					if row.Kind == op.Scan {
						axes = 1 << (n % 4)
					}
					b.folds(row, d, axes, metaltest.ArrangementNames[n%4], 3, 7, 2, 5)
				}
				b.folds(row, d, 1, "contiguous", 300)
			})
		}
	}
}

func (b bench) folds(row *op.Row, d dtype.DType, axes op.Axes, arrangement string, dims ...int64) {
	out, kept := metaltest.ResultOf(row, d), slices.Clone(dims)
	if row.Kind == op.Reduce {
		for i := range kept {
			if axes.Has(i) {
				kept[i] = 1
			}
		}
	}
	c := &device.Call{Axes: axes, Attrs: metaltest.Attributes(row, dtype.Int64)}
	c.In = []device.Operand{b.Operand(d, arrangement, metaltest.ValuesFor(row, 0, d), dims...)}
	c.Out = []device.Operand{b.Operand(out, arrangement, metaltest.Steady, kept...)}
	b.agrees(row, c)
}

// Products of matrices, in batches that repeat and in ones that do not.
func TestGraphMatmul(t *testing.T) {
	b := open(t)
	row := op.MustByName("matmul")
	for _, d := range graphTypes(row.ID).Members() {
		t.Run(d.String(), func(t *testing.T) {
			b := b.on(t)
			for n, batches := range [][3][]int64{{{}, {}, {}}, {{4}, {4}, {4}}, {{2, 3}, {}, {2, 3}}, {{2, 1}, {3}, {2, 3}}} {
				for inner := range []int64{1, 37} {
					b.multiplies(row, d, batches, [3]int64{5, int64(1 + 36*inner), 19}, metaltest.ArrangementNames[n])
				}
			}
		})
	}
}

func (b bench) multiplies(row *op.Row, d dtype.DType, batches [3][]int64, size [3]int64, arrangement string) *device.Call {
	operand := func(batch []int64, rows, columns int64) device.Operand {
		o := b.Operand(d, arrangement, metaltest.Steady, append(slices.Clone(batch), rows, columns)...)
		whole := metaltest.ShapeAs(b.T, append(slices.Clone(batches[2]), rows, columns)...)
		o.Layout = o.BroadcastTo(&whole)
		return o
	}
	c := &device.Call{Attrs: make(op.Attrs, len(row.Attrs))}
	c.In = []device.Operand{operand(batches[0], size[0], size[1]), operand(batches[1], size[1], size[2])}
	c.Out = []device.Operand{operand(batches[2], size[0], size[2])}
	b.agrees(row, c)
	return c
}

// On the GPUs that go wrong over long inner axes, and only there, the product is made in parts.
func TestGraphMatmulInParts(t *testing.T) {
	b := open(t)
	row := op.MustByName("matmul")
	size := func(family int, inner int64) int64 {
		b.GPU.Family = family
		wrong := "0" // the mock is wrong where a GPU of that family is
		if family <= 8 {
			wrong = "1"
		}
		t.Setenv("FAKEMETAL_GRAPH_LIMITS", wrong)
		c := b.multiplies(row, dtype.Float32, [3][]int64{}, [3]int64{16, inner, 16}, "contiguous")
		fakemetal.Reset(t)
		defer objc.Pool().Close()
		k, err := b.made(c)
		require.NoError(t, err)
		k.Close()
		return fakemetal.Count(t, "sends")
	}
	require.Greater(t, size(8, graphs.LongInner), size(9, graphs.LongInner))
	require.Equal(t, size(8, graphs.LongInner-1), size(9, graphs.LongInner-1))
}

// Slices are taken and written by indices, of which the last counts, and indices out of range are errors
// that change nothing.
func TestGraphIndexing(t *testing.T) {
	b := open(t)
	take, put := op.MustByName("index"), op.MustByName("index_put")
	for _, d := range gpu.Elements.Members() {
		t.Run(d.String(), func(t *testing.T) {
			b := b.on(t)
			for n, arrangement := range metaltest.ArrangementNames {
				first := func(i int64) float64 { return float64([]int64{2, -1, 0, 2, -3}[i%5]) }
				second := func(i int64) float64 { return float64([]int64{-4, 3, 1, -4, 0}[i%5]) }
				rows := b.Operand(dtype.Int64, arrangement, first, 5)
				columns := b.Operand(dtype.Int64, metaltest.ArrangementNames[3-n], second, 5)
				x := b.Operand(d, arrangement, metaltest.Mixed(d), 3, 4, 2)
				list := b.Operand(d, metaltest.ArrangementNames[3-n], metaltest.Steady, 5, 2)
				b.agrees(take, &device.Call{In: []device.Operand{x, rows, columns}, Out: []device.Operand{list}})
				b.agrees(put, &device.Call{In: []device.Operand{list, rows, columns}, Out: []device.Operand{x}})
			}
		})
	}
	x, list := b.Operand(dtype.Float32, "contiguous", metaltest.Steady, 3, 2), b.Operand(dtype.Float32, "contiguous", metaltest.Steady, 2, 2)
	beyond := b.Operand(dtype.Int64, "contiguous", func(i int64) float64 { return float64(2 + 3*i) }, 2)
	for row, c := range map[*op.Row]*device.Call{
		take: {In: []device.Operand{x, beyond}, Out: []device.Operand{list}},
		put:  {In: []device.Operand{list, beyond}, Out: []device.Operand{x}},
	} {
		before := metaltest.Contents(&x)
		want := metaltest.ByHost(t, row, *c)
		got := b.ByGPU(row, c)
		require.EqualError(t, got.Err, want.Err.Error())
		require.Equal(t, status.Index, status.CodeOf(got.Err))
		require.Equal(t, before, metaltest.Contents(&x))
	}
}

func TestGraphNonzero(t *testing.T) {
	b := open(t)
	row := op.MustByName("nonzero")
	for _, d := range gpu.Elements.Members() {
		for n, dims := range [][]int64{{40}, {5, 8}, {2, 3, 7}} {
			x := b.Operand(d, metaltest.ArrangementNames[n], metaltest.Mixed(d), dims...)
			count := x.Numel()
			out := b.Operand(dtype.Int64, "contiguous", metaltest.Steady, count, int64(len(dims)))
			c := &device.Call{Op: row.ID, In: []device.Operand{x}, Out: []device.Operand{out}}
			want := metaltest.ByHost(t, row, *c)
			got := b.ByGPU(row, c)
			require.NoError(t, got.Err)
			require.Equal(t, want.Count, got.Count)
			kept := 8 * want.Count * int64(len(dims))
			require.Equal(t, want.Bytes[:kept], got.Bytes[:kept], "%s %v", d, dims)
		}
	}
}

// A number to fill with or to count from is no part of a program.
func TestGraphCreations(t *testing.T) {
	b := open(t)
	fill, count := op.MustByName("full"), op.MustByName("range")
	whole := func(n int64) op.Value { return op.Value{Kind: op.Int, I: n} }
	var keys []device.Key
	for _, d := range gpu.Elements.Members() {
		for n := range int64(2) {
			dims := op.Value{Kind: op.Ints, Ints: []int64{3, 5}}
			c := &device.Call{Attrs: op.Attrs{dims, {Kind: op.Float, F: float64(n) + 0.5}, {}}, Out: []device.Operand{b.Operand(d, metaltest.ArrangementNames[n], metaltest.Steady, 3, 5)}}
			b.agrees(fill, c)
			c.Out[0] = b.Operand(dtype.Float32, "contiguous", metaltest.Steady, 3, 5)
			keys = append(keys, b.Key(fill.ID, c))
			if d.IsInt() {
				c := &device.Call{Attrs: op.Attrs{whole(7 * n), whole(-3), whole(50), {}}, Out: []device.Operand{b.Operand(d, "contiguous", metaltest.Steady, 50)}}
				b.agrees(count, c)
			}
		}
	}
	for _, k := range keys[1:] {
		require.Equal(t, keys[0], k)
	}
}

// A warm call makes no buffer and compiles nothing.
func TestGraphWarmCalls(t *testing.T) {
	r := open(t)
	row := op.MustByName("add")
	c, o := metaltest.Call(r.Of(metaltest.Random(100)...), r.Of(metaltest.Random(100)...), metaltest.Scalar(2, 100))
	p, err := r.Compile(metaltest.Single(row, c))
	require.NoError(t, err)
	run := func() {
		r.Stream.Sync(r.Stream.Run(p, c))
		require.NoError(t, <-o.Ended)
	}
	run()
	fakemetal.Reset(t)
	for range 10 {
		run()
	}
	require.Zero(t, fakemetal.Count(t, "buffers"))
	require.Zero(t, fakemetal.Count(t, "compiles"))
	require.NoError(t, p.Close())
}

// What lies without gaps, in whatever order of axes, is fed as it lies; a copy of anything else goes to the
// workspace.
func TestGraphLayouts(t *testing.T) {
	r := open(t)
	row := op.MustByName("exp")
	for name, c := range map[string]struct {
		dims, strides [3]int64
		start         int64
		copied        bool
	}{
		"contiguous":           {[3]int64{2, 3, 5}, [3]int64{15, 5, 1}, 0, false},
		"turned":               {[3]int64{5, 3, 2}, [3]int64{1, 5, 15}, 0, false},
		"turned in part":       {[3]int64{3, 2, 5}, [3]int64{5, 15, 1}, 0, false},
		"repeating":            {[3]int64{2, 4, 5}, [3]int64{5, 0, 1}, 0, false},
		"turned and repeating": {[3]int64{5, 4, 2}, [3]int64{1, 0, 5}, 0, false},
		"one element":          {[3]int64{1, 1, 1}, [3]int64{7, -3, 9}, 0, false},
		"farther on":           {[3]int64{2, 3, 5}, [3]int64{15, 5, 1}, gpu.Granule / 4, false},
		"off the granule":      {[3]int64{2, 3, 5}, [3]int64{15, 5, 1}, 1, true},
		"with gaps":            {[3]int64{2, 3, 5}, [3]int64{30, 10, 2}, 0, true},
		"backwards":            {[3]int64{2, 3, 5}, [3]int64{-15, 5, 1}, 15, true},
	} {
		t.Run(name, func(t *testing.T) {
			at, heap := r.on(t).Memory(4096)
			in := device.Operand{Addr: unsafe.Add(at, 4*c.start), Heap: heap, DType: dtype.Float32}
			in.Layout = shape.Layout{Shape: metaltest.ShapeAs(t, c.dims[:]...)}
			copy(in.Strides[:], c.strides[:])
			out := device.Operand{Addr: unsafe.Add(at, 2048), Heap: heap, DType: dtype.Float32}
			out.Layout = shape.Contiguous(in.Shape)
			call := &device.Call{In: []device.Operand{in}, Out: []device.Operand{out}}
			p, err := r.Compile(metaltest.Single(row, call))
			require.NoError(t, err)
			require.GreaterOrEqual(t, p.(device.Sized).Bytes(), int64(graphs.GraphBytes), "a graph")
			require.Equal(t, c.copied, p.Workspace(call) > 0)
			require.NoError(t, p.Close())
		})
	}
}

// An input may be the output: MPSGraph writes elsewhere first where it may not have read all of it.
func TestGraphInPlace(t *testing.T) {
	b := open(t)
	for _, name := range []string{"add", "matmul", "softmax"} {
		row := op.MustByName(name)
		x, y := b.Operand(dtype.Float32, "contiguous", metaltest.Steady, 16, 16), b.Operand(dtype.Float32, "contiguous", metaltest.Steady, 16, 16)
		c := &device.Call{Axes: 0b01, Attrs: make(op.Attrs, len(row.Attrs)), Out: []device.Operand{x}}
		c.In = []device.Operand{x, y}[:len(row.In)]
		c.Op = row.ID
		k, err := b.made(c)
		require.NoError(t, err)
		require.Equal(t, name == "add", k.Workspace(c) == 0, name)
		k.Close()
		b.agrees(row, c)
	}
}

// BenchmarkGraphCall is what a warm call of MPSGraph costs, with what the mock takes to compute one element.
func BenchmarkGraphCall(b *testing.B) {
	r := open(b)
	c := &device.Call{In: []device.Operand{r.Of(1), r.Of(2)}, Out: []device.Operand{r.Of(0)}, Owner: metaltest.Silent{}}
	p, err := r.Compile(metaltest.Single(op.MustByName("add"), c))
	require.NoError(b, err)
	b.ReportAllocs()
	last := device.Ticket(0)
	for b.Loop() {
		last = r.Stream.Run(p, c)
	}
	r.Stream.Sync(last)
	b.ReportMetric(float64(fakemetal.Count(b, "sends"))/float64(b.N), "sends/op")
}

// TestGraphSystems runs the tests of MPSGraph as other systems: the oldest, the first with bfloat16, a new
// one, and one that computes as badly as it may.
func TestGraphSystems(t *testing.T) {
	if testing.Short() || os.Getenv("FAKEMETAL_MACOS") != "" {
		t.Skip("-short, or one of these systems already")
	}
	for i, system := range []struct {
		name        string
		environment []string
	}{
		{"13.0", []string{"FAKEMETAL_MACOS=13.0"}},
		{"14.0", []string{"FAKEMETAL_MACOS=14.0", "FAKEMETAL_FAMILY=1008"}},
		{"15.2 at its worst", []string{"FAKEMETAL_MACOS=15.2", "FAKEMETAL_WORST=1"}},
	} {
		t.Run(system.name, func(t *testing.T) {
			sample.Skip(t, 3, "systems", i)
			tests := exec.Command(os.Args[0], "-test.run", "^TestGraph", "-test.short")
			tests.Env = append(append(os.Environ(), "PADDLE_MPS_SAMPLE="), system.environment...) // all tests of this one
			text, err := tests.CombinedOutput()
			require.NoError(t, err, "%s", text)
		})
	}
}
