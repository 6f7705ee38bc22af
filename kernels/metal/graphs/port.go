package graphs

import (
	"slices"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/kernels/metal/gpu"
	"github.com/paddle-mps/paddle-mps/objc"
)

// port is how an operand comes to a graph or leaves it. MPSGraph takes elements without gaps from the
// start of a buffer; what lies otherwise is copied by a shader of ours, which also converts what this
// macOS has no type for.
type port struct {
	layout shape.Layout // in memory, its axes in the order of memory, those that repeat elements with one
	shape  objc.Array   // the same dimensions, retained
	memory dtype.DType
	dtype  dtype.DType // in the graph
	gaps   bool        // or steps backwards

	// value is a number of the call that is fed instead of an operand; nil: an operand is.
	value func(c *device.Call) uint64
}

// bitsOf are the integers that floats move as.
var bitsOf = map[dtype.DType]dtype.DType{
	dtype.Float16: dtype.Int16, dtype.BFloat16: dtype.Int16, dtype.Float32: dtype.Int32,
}

// port is one for elements of a dtype that lie as l says; gaps says that they have to be staged wherever they are.
func (b *builder) port(l shape.Layout, d dtype.DType, gaps bool) port {
	if b.bits && d.IsFloat() {
		d = bitsOf[d]
	}
	return port{layout: l, memory: d, dtype: b.stored(d), gaps: gaps}
}

// bytes is what the elements take in the dtype that the graph has them in.
func (p *port) bytes() uint64 { return uint64(p.layout.Numel() * p.dtype.Size()) }

// span finds the elements of an operand if they can be fed as they lie: without gaps, in the graph's dtype, and at an
// offset at which Metal makes a buffer.
func (p *port) span(o *device.Operand) (s gpu.Span, ok bool) {
	// What has gaps or another dtype is staged wherever it lies, and so is what does not begin where Metal can make a
	// buffer; the heap says where that is.
	if p.gaps || p.memory != p.dtype {
		return s, false
	}
	at := p.operand(o)
	s, ok = gpu.Locate(&at)
	return s, ok && s.First == 0 && gpu.HeapOf(o).Takes(s.Offset, p.bytes())
}

// operand is the port's view of an operand.
func (p *port) operand(o *device.Operand) device.Operand {
	return device.Operand{Addr: o.Addr, Heap: o.Heap, DType: p.memory, Layout: p.layout}
}

// framed is how the operands of a call lie, the output last. Those of elementwise operators are collapsed together,
// so that operators of any rank are few axes for MPSGraph.
func framed(c *device.Call) (all []shape.Layout) {
	operands := append(append([]device.Operand(nil), c.In...), c.Out[0])
	switch kindOf(c) {
	case op.Unary, op.Binary, op.Compare, op.Select, op.Convert:
		axes := c.Out[0].Shape
		walks := make([]*[shape.MaxRank]int64, len(operands))
		for i := range operands {
			walks[i] = &operands[i].Strides
		}
		shape.Collapse(&axes, walks...)
		for i := range operands {
			all = append(all, shape.Layout{Shape: axes, Strides: operands[i].Strides})
		}
	default:
		for i := range operands {
			all = append(all, operands[i].Layout)
		}
	}
	return all
}

// withoutRepeats is a layout with one element on each axis along which it repeats its elements.
func withoutRepeats(l *shape.Layout) (out shape.Layout) {
	out = *l
	for i := range out.Rank {
		if out.Strides[i] == 0 && out.Dims[i] > 1 {
			out.Dims[i] = 1
		}
	}
	return out
}

// inMemory puts the axes of a layout in the order of memory: axis i of l is axis order[i] of m. gaps
// says that even so the elements do not lie one behind the other; then the order is that of l.
func inMemory(l *shape.Layout) (m shape.Layout, order []int64, gaps bool) {
	axes := make([]int64, l.Rank)
	for i := range axes {
		axes[i] = int64(i)
	}
	if l.IsContiguous() {
		return *l, axes, false
	}
	// A tensor whose axes are only in another order is fed as it lies, and transposed in the graph.
	sorted := slices.Clone(axes)
	slices.SortStableFunc(sorted, func(a, b int64) int { return compareAxes(l, a, b) })
	m = l.Permute(sorted)
	if !m.IsContiguous() {
		return *l, axes, true
	}
	order = make([]int64, l.Rank)
	for at, axis := range sorted {
		order[axis] = int64(at)
	}
	return m, order, false
}

// compareAxes orders axes as memory does: by falling strides, and those of one element, whose stride means
// nothing, first.
func compareAxes(l *shape.Layout, a, b int64) int {
	stride := func(axis int64) int64 {
		if l.Dims[axis] == 1 {
			return 1<<63 - 1
		}
		return l.Strides[axis]
	}
	switch x, y := stride(a), stride(b); {
	case x > y:
		return -1
	case x < y:
		return 1
	}
	return 0
}

// dimsOf is a shape for MPSGraph, which has no tensors without axes: a scalar has one axis of one.
func dimsOf(s *shape.Shape) []int64 {
	if s.Rank == 0 {
		return []int64{1}
	}
	return slices.Clone(s.Slice())
}
