package metal

import (
	"math/rand/v2"
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

// TestGuards refuses what MPSGraph would end the process for; no memory is needed for that.
func TestGuards(t *testing.T) {
	b := graphed(t)
	of := func(d dtype.DType, dims ...int64) device.Operand {
		return device.Operand{DType: d, Layout: shape.Contiguous(shapeAs(t, dims...))}
	}
	for name, c := range map[string]struct {
		op      string
		in, out device.Operand
		axes    op.Axes
		want    string
	}{
		"an axis of 2**31":     {"neg", of(dtype.Int8, 1<<31), of(dtype.Int8, 1<<31), 0, "takes 1 to 2147483647"},
		"4 GiB":                {"neg", of(dtype.Float32, 1<<15, 1<<15), of(dtype.Float32, 1<<15, 1<<15), 0, "less than 4 GiB"},
		"4 GiB on the way":     {"all", of(dtype.Uint8, 1<<30, 2), of(dtype.Bool, 1<<30, 1), 2, "less than 4 GiB"},
		"nothing to sum":       {"sum", of(dtype.Float32, 0, 3), of(dtype.Float32, 1, 3), 1, "got an axis of 0"},
		"nothing to write":     {"neg", of(dtype.Float32, 3, 0), of(dtype.Float32, 3, 0), 0, "got an axis of 0"},
		"too many int64 means": {"argmax", of(dtype.Int32, 1<<31-1, 3), of(dtype.Int64, 1, 3), 1, "less than 4 GiB"},
	} {
		t.Run(name, func(t *testing.T) {
			row := op.MustByName(c.op)
			before := fakemetal.Count(t, "live_objects")
			_, err := b.made(&device.Call{
				Op: row.ID, Axes: c.axes, Attrs: attributes(row, dtype.Int64), In: []device.Operand{c.in}, Out: []device.Operand{c.out},
			})
			require.Equal(t, status.Unsupported, status.CodeOf(err))
			require.ErrorContains(t, err, c.want)
			require.Equal(t, before, fakemetal.Count(t, "live_objects"))
		})
	}
}

// The first guard that refuses is what a graph fails with, and nothing is sent after it.
func TestGuardsAreSticky(t *testing.T) {
	b := &builder{}
	x := tensor{1, dtype.Float32, []int64{2, 3}}
	b.reshape(x, 7)
	require.Equal(t, status.Internal, status.CodeOf(b.err))
	first := b.err
	for _, send := range []func() tensor{
		func() tensor { return b.reshape(x, 3, 2) },
		func() tensor { return b.broadcast(x, 2, 2, 3) },
		func() tensor { return b.cast(x, dtype.Float64) },
		func() tensor { return b.concat(0, x, x) },
		func() tensor { return b.slice(x, 5, 0, 9) },
		func() tensor { return b.transpose(x, []int64{4, 5}) },
		func() tensor { return b.fit(x, []int64{1, 2, 3, 4}) },
		func() tensor { return b.number(1, dtype.Int8) },
	} {
		send()
		require.Same(t, first, b.err)
	}
}

// TestQuarantine names a source for each row, and each is where it says.
func TestQuarantine(t *testing.T) {
	long := device.Operand{DType: dtype.Float32, Layout: shape.Contiguous(shapeAs(t, 2, 1<<15+1))}
	calls := map[string]*device.Call{"matmul": {In: []device.Operand{long, long}}}
	for _, s := range quarantine {
		require.NotEmpty(t, s.why)
		require.Regexp(t, `^https://`, s.link)
		c := calls[s.op]
		if c == nil {
			c = &device.Call{In: []device.Operand{{DType: s.dtypes.Members()[0]}}}
		}
		c.Op = op.MustByName(s.op).ID
		require.True(t, s.covers(c, 7, objc.Version{Major: 13}), s.op)
		require.False(t, s.covers(c, 7, objc.Version{Major: 15}), s.op)
		c.Op = op.MustByName("add").ID
		require.False(t, s.covers(c, 7, objc.Version{Major: 13}), s.op)
	}
}

// FuzzGraphs runs calls of any operator, dtype and layout by MPSGraph, or what comes after it, and on the host. The
// stand-in for MPSGraph ends the process where a guard is missing.
func FuzzGraphs(f *testing.F) {
	for seed := range uint64(450) {
		f.Add(seed)
	}
	r := newRig(f, Config{Prefer: PreferGraphs})
	needGraphs(f, r.Device)
	f.Fuzz(func(t *testing.T, seed uint64) {
		b := newBench(t, r)
		g := &chance{rand.New(rand.NewPCG(seed, 1)), b}
		row := &op.Table[g.IntN(len(op.Table))]
		all := graphs.DTypes(row.ID).Members()
		if len(all) == 0 {
			return
		}
		d := all[g.IntN(len(all))]
		c := g.call(row, d)
		if c == nil {
			return
		}
		want := byHost(t, row, *c)
		got := b.byGPU(row, c)
		if want.err != nil {
			require.EqualError(t, got.err, want.err.Error())
			return
		}
		ulps := tolerance(row, c.Out[0].DType)
		if row.Name == "prod" {
			ulps += float64(c.In[0].Numel()) / 2
		}
		agree(t, c.Out[0].DType, want, got, ulps)
	})
}

// chance makes calls.
type chance struct {
	*rand.Rand
	bench *bench
}

// call is one of an operator, nil where the operator has tests of its own.
func (g *chance) call(row *op.Row, d dtype.DType) *device.Call {
	dims := g.dims(5)
	c := &device.Call{Attrs: attributes(row, d)}
	switch row.Kind {
	case op.Unary, op.Binary, op.Compare, op.Select, op.Convert:
		for i := range row.In {
			from := d
			if row.Name == "where" && i == 0 {
				from = dtype.Bool
			}
			c.In = append(c.In, g.operand(from, valuesFor(row, i, from), true, dims...))
		}
		c.Out = []device.Operand{g.operand(resultOf(row, d), steady, false, dims...)}
	case op.Reduce, op.Scan:
		if len(dims) == 0 || slices.Contains(dims, 0) && row.Name != "sum" && row.Name != "any" {
			return nil
		}
		g.fold(c, row, d, dims)
	case op.Product:
		g.multiply(c, d)
	default:
		return nil
	}
	return c
}

// fold fills a call over some axes.
func (g *chance) fold(c *device.Call, row *op.Row, d dtype.DType, dims []int64) {
	out, values, kept := d, steady, slices.Clone(dims)
	c.Axes = 1 << g.IntN(len(dims))
	if row.Kind == op.Reduce {
		c.Attrs = attributes(row, dtype.Int64)
		out, values, _, _ = reductionOf(row, d)
		c.Axes = op.Axes(g.IntN(1 << len(dims)))
		if row.Name == "argmax" || row.Name == "argmin" {
			c.Axes = 1<<len(dims) - 1
		}
		for i := range kept {
			if c.Axes.Has(i) {
				kept[i] = 1
			}
		}
	}
	c.In = []device.Operand{g.operand(d, values, true, dims...)}
	c.Out = []device.Operand{g.operand(out, steady, false, kept...)}
}

// multiply fills a call for matrices.
func (g *chance) multiply(c *device.Call, d dtype.DType) {
	batch := g.dims(2)
	rows, inner, columns := g.Int64N(6), g.Int64N(6), g.Int64N(6)
	of := func(out bool, dims ...int64) device.Operand {
		return g.operand(d, steady, !out, append(slices.Clone(batch), dims...)...)
	}
	c.In = []device.Operand{of(false, rows, inner), of(false, inner, columns)}
	c.Out = []device.Operand{of(true, rows, columns)}
}

// dims are up to most extents, of which few are 0.
func (g *chance) dims(most int) (dims []int64) {
	for range g.IntN(most + 1) {
		extent := 1 + g.Int64N(5)
		if g.IntN(25) == 0 {
			extent = 0
		}
		dims = append(dims, extent)
	}
	return dims
}

// operand lies anyhow: turned, with gaps, backwards, misaligned, and, where it is read only, repeating itself.
func (g *chance) operand(d dtype.DType, values func(int64) float64, input bool, dims ...int64) device.Operand {
	l := shape.Contiguous(shapeAs(g.bench.t, dims...))
	if l.Numel() == 0 {
		return device.Operand{DType: d, Layout: l}
	}
	if g.IntN(3) > 0 {
		step := int64(1)
		for _, axis := range g.Perm(l.Rank) {
			l.Strides[axis] = step
			step *= l.Dims[axis] * (1 + g.Int64N(4)/3)
			switch g.IntN(8) {
			case 0:
				l.Strides[axis] = -l.Strides[axis]
			case 1:
				if input {
					l.Strides[axis] = 0
				}
			}
		}
	}
	low, high, _ := l.Extent()
	first := g.Int64N(3) - low
	at, h := g.bench.memory((first + high + 1) * d.Size())
	o := device.Operand{Addr: unsafe.Add(at, first*d.Size()), Heap: h, DType: d, Layout: l}
	for i := range l.Numel() {
		put(unsafe.Slice((*byte)(elementAt(&o, i)), d.Size()), d, values(i))
	}
	if input && g.IntN(10) == 0 {
		return number(o)
	}
	return o
}
