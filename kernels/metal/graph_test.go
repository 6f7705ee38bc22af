package metal

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
	"github.com/paddle-mps/paddle-mps/objc"
)

// graphed is a bench whose device prefers MPSGraph.
func graphed(t *testing.T) *bench {
	r := newRig(t, Config{Prefer: PreferGraphs})
	needGraphs(t, r.Device)
	return newBench(t, r)
}

// agrees runs a call by MPSGraph and on the host, and wants the same within so many units in the last place.
// What MPSGraph refuses before macOS 13.3, where it has no reliable int64, is no difference.
func (b *bench) agrees(row *op.Row, c *device.Call, ulps float64) {
	b.t.Helper()
	want := byHost(b.t, row, *c)
	c.Op = row.ID
	k, err := b.made(c)
	if err != nil {
		require.False(b.t, objc.MacOS().AtLeast("13.3"), "%v", err)
		require.Equal(b.t, status.Unsupported, status.CodeOf(err), "%v", err)
		return
	}
	agree(b.t, c.Out[0].DType, want, b.runs(&program{k}, c), ulps)
}

// made is what MPSGraph has for a call.
func (b *bench) made(c *device.Call) (kernel, error) {
	defer objc.Pool().Close()
	way, ok := graphs.Find(c.Op, decisive(c))
	require.True(b.t, ok)
	return way.make(b.Device, c)
}

// runs is the outcome of a program.
func (b *bench) runs(p *program, c *device.Call) outcome {
	if n := p.Workspace(c); n > 0 {
		c.Workspace, c.Scratch = b.memory(n)
	}
	o := newOwner()
	c.Owner = o
	b.stream.Sync(b.stream.Run(p, c))
	err := <-o.ended
	require.NoError(b.t, p.Close())
	return outcome{contents(&c.Out[0]), c.Count, err}
}

// tolerance is what a row allows MPSGraph beside the host, which has its own.
func tolerance(row *op.Row, d dtype.DType) float64 {
	if d != dtype.Float32 {
		return 2 * row.ULP.Half
	}
	return row.ULP.Float32 + 2*max(row.ULP.Float32, row.ULP.Metal) // below a power of two a unit is half of one
}

// valuesFor are such as an operator's operand takes.
func valuesFor(row *op.Row, operand int, d dtype.DType) func(i int64) float64 {
	switch {
	case operand == 1 && !d.IsFloat() && (row.Name == "floor_divide" || row.Name == "remainder"):
		return func(i int64) float64 { return []float64{1, 3, -1, -4, 7}[i%5] }
	case operand == 1 && row.Name == "pow":
		return func(i int64) float64 { return float64(i%7) - 2 }
	}
	return mixed(d)
}

// resultOf is the dtype of an elementwise operator's result.
func resultOf(row *op.Row, d dtype.DType) dtype.DType {
	var r op.Result
	args := make([]op.Arg, len(row.In))
	for i := range args {
		args[i] = op.Arg{DType: d}
	}
	if row.Name == "where" {
		args[0].DType = dtype.Bool
	}
	if row.Types(row, args, attributes(row, d), &r) != nil {
		return d
	}
	return r.Out
}

// attributes are a row's defaults, and a dtype where it wants one.
func attributes(row *op.Row, d dtype.DType) op.Attrs {
	at := make(op.Attrs, len(row.Attrs))
	for i := range row.Attrs {
		at[i] = row.Attrs[i].Default
		if row.Attrs[i].Type == op.DTypeAttr {
			at[i] = op.Value{Kind: op.DType, I: int64(d)}
		}
	}
	return at
}

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
	b := graphed(t)
	for _, row := range elementwiseRows() {
		for _, d := range graphs.DTypes(row.ID).Members() {
			to := []dtype.DType{resultOf(row, d)}
			if row.Name == "cast" {
				to = elements.Members()
			}
			t.Run(fmt.Sprintf("%s/%s", row.Name, d), func(t *testing.T) {
				b.t = t
				for _, out := range to {
					for n := range arrangementNames {
						b.elementwise(row, d, out, n)
					}
				}
			})
		}
	}
}

// elementwise tries one call: the arrangements of its operands follow from n.
func (b *bench) elementwise(row *op.Row, d, out dtype.DType, n int) {
	dims := []int64{3, 13, 5}
	c := &device.Call{Attrs: attributes(row, out)}
	for i := range row.In {
		from := d
		if row.Name == "where" && i == 0 {
			from = dtype.Bool
		}
		own := slices.Clone(dims)
		if n == i {
			own[n%3] = 1
		}
		o := b.operand(from, arrangementNames[(n+i)%4], valuesFor(row, i, from), own...)
		whole := shapeAs(b.t, dims...)
		o.Layout = o.BroadcastTo(&whole)
		if n == 3 && i == 1 && row.In[i].Scalar {
			o = number(o)
		}
		c.In = append(c.In, o)
	}
	c.Out = []device.Operand{b.operand(out, arrangementNames[n], steady, dims...)}
	b.agrees(row, c, tolerance(row, out))
}

// number is an operand that is one number of the CPU's.
func number(o device.Operand) device.Operand {
	word := new([8]byte)
	copy(word[:], contents(&o)[:o.DType.Size()])
	o.Addr, o.Heap, o.Strides = unsafe.Pointer(word), nil, [len(o.Strides)]int64{}
	return o
}

// Reductions and softmax over every set of axes.
func TestGraphReductions(t *testing.T) {
	b := graphed(t)
	for i := range op.Table {
		row := &op.Table[i]
		if row.Kind != op.Reduce && row.Kind != op.Scan {
			continue
		}
		for _, d := range graphs.DTypes(row.ID).Members() {
			t.Run(fmt.Sprintf("%s/%s", row.Name, d), func(t *testing.T) {
				b.t = t
				for n, axes := range []op.Axes{0b0001, 0b1000, 0b0101, 0b1111, 0b0110} {
					if row.Kind == op.Scan {
						axes = 1 << (n % 4)
					}
					b.folds(row, d, axes, arrangementNames[n%4], 3, 7, 2, 5)
				}
				b.folds(row, d, 1, "contiguous", 300)
			})
		}
	}
}

func (b *bench) folds(row *op.Row, d dtype.DType, axes op.Axes, arrangement string, dims ...int64) {
	out, values, kept := d, mixed(d), slices.Clone(dims)
	if row.Kind == op.Reduce {
		var ok bool
		if out, values, _, ok = reductionOf(row, d); !ok {
			return
		}
		for i := range kept {
			if axes.Has(i) {
				kept[i] = 1
			}
		}
	}
	c := &device.Call{Axes: axes, Attrs: attributes(row, dtype.Int64)}
	c.In = []device.Operand{b.operand(d, arrangement, values, dims...)}
	c.Out = []device.Operand{b.operand(out, arrangement, steady, kept...)}
	ulps := tolerance(row, out) // the sums are exact
	if row.Name == "prod" {
		ulps += float64(c.In[0].Numel()/c.Out[0].Numel()) / 2
	}
	b.agrees(row, c, ulps)
}

// Products of matrices, in batches that repeat and in ones that do not.
func TestGraphMatmul(t *testing.T) {
	b := graphed(t)
	row := op.MustByName("matmul")
	for _, d := range graphs.DTypes(row.ID).Members() {
		t.Run(d.String(), func(t *testing.T) {
			b.t = t
			for n, batches := range [][3][]int64{{{}, {}, {}}, {{4}, {4}, {4}}, {{2, 3}, {}, {2, 3}}, {{2, 1}, {3}, {2, 3}}} {
				for inner := range []int64{1, 37} {
					b.multiplies(row, d, batches, [3]int64{5, int64(1 + 36*inner), 19}, arrangementNames[n])
				}
			}
		})
	}
}

func (b *bench) multiplies(row *op.Row, d dtype.DType, batches [3][]int64, size [3]int64, arrangement string) *device.Call {
	operand := func(batch []int64, rows, columns int64) device.Operand {
		o := b.operand(d, arrangement, steady, append(slices.Clone(batch), rows, columns)...)
		whole := shapeAs(b.t, append(slices.Clone(batches[2]), rows, columns)...)
		o.Layout = o.BroadcastTo(&whole)
		return o
	}
	c := &device.Call{Attrs: make(op.Attrs, len(row.Attrs))}
	c.In = []device.Operand{operand(batches[0], size[0], size[1]), operand(batches[1], size[1], size[2])}
	c.Out = []device.Operand{operand(batches[2], size[0], size[2])}
	b.agrees(row, c, tolerance(row, d)) // in float32 the sums are exact
	return c
}

// On the GPUs that go wrong over long inner axes, and only there, the product is made in parts.
func TestGraphMatmulInParts(t *testing.T) {
	b := graphed(t)
	row := op.MustByName("matmul")
	size := func(family int, inner int64) int64 {
		b.family = family
		c := b.multiplies(row, dtype.Float32, [3][]int64{}, [3]int64{16, inner, 16}, "contiguous")
		fakemetal.Reset(t)
		defer objc.Pool().Close()
		k, err := b.made(c)
		require.NoError(t, err)
		k.close()
		return fakemetal.Count(t, "sends")
	}
	require.Greater(t, size(8, longInner), size(9, longInner))
	require.Equal(t, size(8, longInner-1), size(9, longInner-1))
}

// Slices are taken and written by indices, of which the last counts, and indices out of range are errors
// that change nothing.
func TestGraphIndexing(t *testing.T) {
	b := graphed(t)
	take, put := op.MustByName("index"), op.MustByName("index_put")
	for _, d := range elements.Members() {
		t.Run(d.String(), func(t *testing.T) {
			b.t = t
			for n, arrangement := range arrangementNames {
				first := func(i int64) float64 { return float64([]int64{2, -1, 0, 2, -3}[i%5]) }
				second := func(i int64) float64 { return float64([]int64{-4, 3, 1, -4, 0}[i%5]) }
				rows := b.operand(dtype.Int64, arrangement, first, 5)
				columns := b.operand(dtype.Int64, arrangementNames[3-n], second, 5)
				x := b.operand(d, arrangement, mixed(d), 3, 4, 2)
				list := b.operand(d, arrangementNames[3-n], steady, 5, 2)
				b.agrees(take, &device.Call{In: []device.Operand{x, rows, columns}, Out: []device.Operand{list}}, 0)
				b.agrees(put, &device.Call{In: []device.Operand{list, rows, columns}, Out: []device.Operand{x}}, 0)
			}
		})
	}
	b.t = t
	x, list := b.operand(dtype.Float32, "contiguous", steady, 3, 2), b.operand(dtype.Float32, "contiguous", steady, 2, 2)
	beyond := b.operand(dtype.Int64, "contiguous", func(i int64) float64 { return float64(2 + 3*i) }, 2)
	for row, c := range map[*op.Row]*device.Call{
		take: {In: []device.Operand{x, beyond}, Out: []device.Operand{list}},
		put:  {In: []device.Operand{list, beyond}, Out: []device.Operand{x}},
	} {
		before := contents(&x)
		want := byHost(t, row, *c)
		got := b.byGPU(row, c)
		require.EqualError(t, got.err, want.err.Error())
		require.Equal(t, status.Index, status.CodeOf(got.err))
		require.Equal(t, before, contents(&x))
	}
}

func TestGraphNonzero(t *testing.T) {
	b := graphed(t)
	row := op.MustByName("nonzero")
	for _, d := range elements.Members() {
		for n, dims := range [][]int64{{40}, {5, 8}, {2, 3, 7}} {
			x := b.operand(d, arrangementNames[n], mixed(d), dims...)
			count := x.Numel()
			out := b.operand(dtype.Int64, "contiguous", steady, count, int64(len(dims)))
			c := &device.Call{Op: row.ID, In: []device.Operand{x}, Out: []device.Operand{out}}
			want := byHost(t, row, *c)
			got := b.byGPU(row, c)
			require.NoError(t, got.err)
			require.Equal(t, want.count, got.count)
			kept := 8 * want.count * int64(len(dims))
			require.Equal(t, want.bytes[:kept], got.bytes[:kept], "%s %v", d, dims)
		}
	}
}

// A number to fill with or to count from is no part of a program.
func TestGraphCreations(t *testing.T) {
	b := graphed(t)
	fill, count := op.MustByName("full"), op.MustByName("range")
	whole := func(n int64) op.Value { return op.Value{Kind: op.Int, I: n} }
	var keys []device.Key
	for _, d := range elements.Members() {
		for n := range int64(2) {
			dims := op.Value{Kind: op.Ints, Ints: []int64{3, 5}}
			c := &device.Call{Attrs: op.Attrs{dims, {Kind: op.Float, F: float64(n) + 0.5}, {}}, Out: []device.Operand{b.operand(d, arrangementNames[n], steady, 3, 5)}}
			b.agrees(fill, c, 0)
			c.Out[0] = b.operand(dtype.Float32, "contiguous", steady, 3, 5)
			keys = append(keys, b.Key(fill.ID, c))
			if d.IsInt() {
				c := &device.Call{Attrs: op.Attrs{whole(7 * n), whole(-3), whole(50), {}}, Out: []device.Operand{b.operand(d, "contiguous", steady, 50)}}
				b.agrees(count, c, 0)
			}
		}
	}
	for _, k := range keys[1:] {
		require.Equal(t, keys[0], k)
	}
}

// A warm call makes no buffer and compiles nothing.
func TestGraphWarmCalls(t *testing.T) {
	r := newRig(t, Config{Prefer: PreferGraphs})
	needGraphs(t, r.Device)
	row := op.MustByName("add")
	c, o := call(r.of(random(100)...), r.of(random(100)...), scalar(2, 100))
	p, err := r.Compile(single(row, c))
	require.NoError(t, err)
	run := func() {
		r.stream.Sync(r.stream.Run(p, c))
		require.NoError(t, <-o.ended)
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
	r := newRig(t, Config{Prefer: PreferGraphs})
	needGraphs(t, r.Device)
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
		"farther on":           {[3]int64{2, 3, 5}, [3]int64{15, 5, 1}, granule / 4, false},
		"off the granule":      {[3]int64{2, 3, 5}, [3]int64{15, 5, 1}, 1, true},
		"with gaps":            {[3]int64{2, 3, 5}, [3]int64{30, 10, 2}, 0, true},
		"backwards":            {[3]int64{2, 3, 5}, [3]int64{-15, 5, 1}, 15, true},
	} {
		t.Run(name, func(t *testing.T) {
			in := r.at(4*c.start, dtype.Float32, 1)
			in.Layout = shape.Layout{Shape: shapeAs(t, c.dims[:]...)}
			copy(in.Strides[:], c.strides[:])
			out := r.at(room/2, dtype.Float32, 1)
			out.Layout = shape.Contiguous(in.Shape)
			call := &device.Call{In: []device.Operand{in}, Out: []device.Operand{out}}
			p, err := r.Compile(single(row, call))
			require.NoError(t, err)
			require.IsType(t, &executable{}, p.(*program).kernel)
			require.Equal(t, c.copied, p.Workspace(call) > 0)
			require.NoError(t, p.Close())
		})
	}
}

// An input may be the output: MPSGraph writes elsewhere first where it may not have read all of it.
func TestGraphInPlace(t *testing.T) {
	b := graphed(t)
	for _, name := range []string{"add", "matmul", "softmax"} {
		row := op.MustByName(name)
		x, y := b.operand(dtype.Float32, "contiguous", steady, 16, 16), b.operand(dtype.Float32, "contiguous", steady, 16, 16)
		c := &device.Call{Axes: 0b01, Attrs: make(op.Attrs, len(row.Attrs)), Out: []device.Operand{x}}
		c.In = []device.Operand{x, y}[:len(row.In)]
		c.Op = row.ID
		k, err := b.made(c)
		require.NoError(t, err)
		require.Equal(t, name == "add", k.workspace(c) == 0, name)
		k.close()
		b.agrees(row, c, tolerance(row, dtype.Float32))
	}
}

// BenchmarkGraphCall is what a warm call of MPSGraph costs, with what the stand-in takes to compute one element.
func BenchmarkGraphCall(b *testing.B) {
	r := newRig(b, Config{Prefer: PreferGraphs})
	needGraphs(b, r.Device)
	p, c := r.sum(1)
	b.ReportAllocs()
	for b.Loop() {
		r.stream.Run(p, c)
	}
	r.stream.Sync(r.stream.submitted)
	b.ReportMetric(float64(fakemetal.Count(b, "sends"))/float64(b.N), "sends/op")
}

// TestGraphSystems runs the tests of MPSGraph as other systems: the oldest, the first with bfloat16, a new
// one, and one that computes as badly as it may.
func TestGraphSystems(t *testing.T) {
	if testing.Short() || os.Getenv("FAKEMETAL_MACOS") != "" {
		t.Skip("-short, or one of these systems already")
	}
	for name, environment := range map[string][]string{
		"13.0": {"FAKEMETAL_MACOS=13.0"}, "14.0": {"FAKEMETAL_MACOS=14.0", "FAKEMETAL_FAMILY=1008"},
		"15.2 at its worst": {"FAKEMETAL_MACOS=15.2", "FAKEMETAL_WORST=1"},
	} {
		t.Run(name, func(t *testing.T) {
			tests := exec.Command(os.Args[0], "-test.run", "^TestGraph", "-test.short")
			tests.Env = append(os.Environ(), environment...)
			text, err := tests.CombinedOutput()
			require.NoError(t, err, "%s", text)
		})
	}
}
