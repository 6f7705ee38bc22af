package runtime

import (
	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
)

// frame lays the operands out as device.Call promises, by kind of operator: devices then see one form
// of broadcasting, of reduced axes and of matrices.
func (l *launch) frame(row *op.Row) {
	switch row.Kind {
	case op.Unary, op.Binary, op.Compare, op.Select, op.Convert:
		stretch(l.In, &l.Out[0].Shape)
	case op.Reduce:
		l.keepAxes()
	case op.Product:
		l.frameMatrices(l.Attrs[0].I != 0, l.Attrs[1].I != 0)
	case op.Index:
		l.frameIndices(row.Name)
	}
}

// stretch broadcasts operands to a shape.
func stretch(os []device.Operand, s *shape.Shape) {
	for i := range os {
		if os[i].Shape != *s {
			os[i].Layout = os[i].BroadcastTo(s)
		}
	}
}

// keepAxes gives the output the axes that were reduced back, with one element each.
func (l *launch) keepAxes() {
	in, out := &l.In[0], &l.Out[0]
	if out.Rank == in.Rank {
		return
	}
	for i := range in.Rank {
		if l.Axes.Has(i) {
			out.Insert(i)
		}
	}
}

// frameMatrices turns the operands of matmul into batches of matrices.
func (l *launch) frameMatrices(transposeX, transposeY bool) {
	x, y, out := &l.In[0], &l.In[1], &l.Out[0]
	if y.Rank == 1 {
		y.Insert(1)
		out.Insert(out.Rank)
	} else if transposeY {
		swapLast(&y.Layout)
	}
	if x.Rank == 1 {
		x.Insert(0)
		out.Insert(out.Rank - 1)
	} else if transposeX {
		swapLast(&x.Layout)
	}
	batchTo(&x.Layout, &out.Shape)
	batchTo(&y.Layout, &out.Shape)
}

func swapLast(l *shape.Layout) {
	i, j := l.Rank-2, l.Rank-1
	l.Dims[i], l.Dims[j] = l.Dims[j], l.Dims[i]
	l.Strides[i], l.Strides[j] = l.Strides[j], l.Strides[i]
}

// batchTo broadcasts all axes but the last two to those of a shape.
func batchTo(l *shape.Layout, s *shape.Shape) {
	want := *s
	want.Dims[s.Rank-2], want.Dims[s.Rank-1] = l.Dims[l.Rank-2], l.Dims[l.Rank-1]
	*l = l.BroadcastTo(&want)
}

// frameIndices broadcasts index tensors to one shape, and the value of index_put to that shape
// followed by the axes that are not indexed.
func (l *launch) frameIndices(name string) {
	var b shape.Shape
	switch name {
	case "index":
		rest := l.In[0].Rank - (len(l.In) - 1)
		b = first(&l.Out[0].Shape, l.Out[0].Rank-rest)
	case "index_put":
		k := len(l.In) - 1
		b = l.indexed
		full := b
		for _, d := range l.Out[0].Slice()[k:] {
			full.Append(d)
		}
		stretch(l.In[:1], &full)
	default:
		return
	}
	stretch(l.In[1:], &b)
}

// first is the shape of the first n axes.
func first(s *shape.Shape, n int) (f shape.Shape) {
	f.Rank = n
	copy(f.Dims[:n], s.Dims[:n])
	return f
}
