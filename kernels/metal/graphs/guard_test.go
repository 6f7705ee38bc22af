package graphs_test

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
	"github.com/paddle-mps/paddle-mps/kernels/metal/metaltest"
)

// TestGuards refuses what MPSGraph would end the process for; no memory is needed for that.
func TestGuards(t *testing.T) {
	b := open(t)
	of := func(d dtype.DType, dims ...int64) device.Operand {
		return device.Operand{DType: d, Layout: shape.Contiguous(metaltest.ShapeAs(t, dims...))}
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
				Op: row.ID, Axes: c.axes, Attrs: metaltest.Attributes(row, dtype.Int64), In: []device.Operand{c.in}, Out: []device.Operand{c.out},
			})
			require.Equal(t, status.Unsupported, status.CodeOf(err))
			require.ErrorContains(t, err, c.want)
			require.Equal(t, before, fakemetal.Count(t, "live_objects"))
		})
	}
}

// FuzzGraphs runs calls of any operator, dtype and layout by MPSGraph, or what comes after it, and on the host. The
// mock of MPSGraph ends the process where a guard is missing.
func FuzzGraphs(f *testing.F) {
	for seed := range uint64(450) {
		f.Add(seed)
	}
	r := open(f)
	f.Fuzz(func(t *testing.T, seed uint64) {
		b := r.on(t)
		g := &chance{rand.New(rand.NewPCG(seed, 1)), b}
		row := &op.Table[g.IntN(len(op.Table))]
		all := graphTypes(row.ID).Members()
		if len(all) == 0 {
			return
		}
		d := all[g.IntN(len(all))]
		c := g.call(row, d)
		if c == nil {
			return
		}
		want := metaltest.ByHost(t, row, *c)
		got := b.ByGPU(row, c)
		if want.Err != nil {
			require.EqualError(t, got.Err, want.Err.Error())
			return
		}
		metaltest.AgreeWithin(t, c.Out[0].DType, want, got, metaltest.BoundOf(t, row, c))
	})
}

// chance makes calls.
type chance struct {
	*rand.Rand
	bench bench
}

// call is one of an operator, nil where the operator has tests of its own.
func (g *chance) call(row *op.Row, d dtype.DType) *device.Call {
	dims := g.dims(5)
	c := &device.Call{Attrs: metaltest.Attributes(row, d)}
	switch row.Kind {
	case op.Unary, op.Binary, op.Compare, op.Select, op.Convert:
		for i := range row.In {
			from := metaltest.InputType(row, i, d)
			c.In = append(c.In, g.operand(from, metaltest.ValuesFor(row, i, from), true, dims...))
		}
		c.Out = []device.Operand{g.operand(metaltest.ResultOf(row, d), metaltest.Steady, false, dims...)}
	case op.Reduce, op.Scan:
		if len(dims) == 0 || slices.Contains(dims, 0) && row.In[0].Domain == op.NonEmpty {
			return nil
		}
		g.fold(c, row, d, dims)
	case op.Product:
		g.multiply(c, d)
		if slices.ContainsFunc(c.In, func(o device.Operand) bool { return o.Layout.Numel() == 0 }) {
			return nil // which devices are not asked for: without terms a sum is 0
		}
	default:
		return nil
	}
	return c
}

// fold fills a call over some axes.
func (g *chance) fold(c *device.Call, row *op.Row, d dtype.DType, dims []int64) {
	out, kept := metaltest.ResultOf(row, d), slices.Clone(dims)
	c.Axes = 1 << g.IntN(len(dims))
	if row.Kind == op.Reduce {
		c.Attrs = metaltest.Attributes(row, dtype.Int64)
		c.Axes = op.Axes(g.IntN(1 << len(dims)))
		if axis := row.AttrIndex("axis"); row.Attrs[axis].Type == op.IntAttr { // one axis, or all
			c.Axes = 1<<len(dims) - 1
		}
		for i := range kept {
			if c.Axes.Has(i) {
				kept[i] = 1
			}
		}
	}
	c.In = []device.Operand{g.operand(d, metaltest.ValuesFor(row, 0, d), true, dims...)}
	c.Out = []device.Operand{g.operand(out, metaltest.Steady, false, kept...)}
}

// multiply fills a call for matrices.
func (g *chance) multiply(c *device.Call, d dtype.DType) {
	batch := g.dims(2)
	rows, inner, columns := g.Int64N(6), g.Int64N(6), g.Int64N(6)
	of := func(out bool, dims ...int64) device.Operand {
		return g.operand(d, metaltest.Steady, !out, append(slices.Clone(batch), dims...)...)
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
	l := shape.Contiguous(metaltest.ShapeAs(g.bench.T, dims...))
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
	at, h := g.bench.Memory((first + high + 1) * d.Size())
	o := device.Operand{Addr: unsafe.Add(at, first*d.Size()), Heap: h, DType: d, Layout: l}
	for i := range l.Numel() {
		metaltest.Put(unsafe.Slice((*byte)(metaltest.ElementAt(&o, i)), d.Size()), d, values(i))
	}
	if input && g.IntN(10) == 0 {
		return metaltest.Number(o)
	}
	return o
}
