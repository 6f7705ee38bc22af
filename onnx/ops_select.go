package onnx

import (
	"slices"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// Operators that read or write through tensors of indices, and those whose result has a size that follows from elements,
// which have to be known.
//
// The rows index and index_put take an index tensor for each of the first axes, broadcast to each other. The
// operators of ONNX differ in how they name these places: by one axis, by all other axes being the own ones, or by
// coordinates in a last axis. Functions here bring them into that form. Negative indices count from the end: the rows do that, and
// refuse what is out of range, so that no function here may change an index before a row sees it.

var selections = []entry{
	{"Gather", 1, 0, gather},
	// GatherElements: data, indices of the same rank.
	{"GatherElements", 11, 0, gatherElements},
	// GatherND: data, indices whose last axis are coordinates.
	{"GatherND", 11, 0, gatherND},
	{"Scatter", 9, 0, scatterElements},
	{"ScatterElements", 11, 0, scatterElements},
	{"ScatterND", 11, 0, scatterND},
	// TensorScatter: cache, updates, positions.
	{"TensorScatter", 24, 0, tensorScatter},
	// OneHot: indices, depth, values.
	{"OneHot", 9, 0, oneHot},
	{"Trilu", 14, 0, trilu},
	{"Compress", 9, 0, compress},
	// NonZero: int64 [rank, count].
	{"NonZero", 9, 0, nonZero},
}

// gather reads slices along an axis; the axes of the indices take its place. The rank of the result is that of both
// less one.
func gather(c *call) []*value {
	x, index := c.x(0), c.x(1)
	axis := c.axis(c.int("axis", 0), x.rank())
	return one(c.gathered(x, index, axis))
}

// gathered is gather. The row takes indices of one axis.
func (c *call) gathered(x, index *value, axis int) *value {
	if index.rank() == 0 && x.rank() == 1 && index.data != nil && x.dims()[0] > 0 { // the size of one axis of a shape
		if list, ok := index.data.Ints(); ok && x.data != nil {
			c.tainted = c.tainted || !index.fixed
			return c.pick(x, 0, c.inside(list[0], x.dims()[0]))
		}
	}
	flat := c.reshape(index, index.Shape.Numel())
	y := c.do(op.IDGather, with(op.GatherAxis, axis), x, c.cast(flat, dtype.Int64))
	dims := slices.Concat(x.dims()[:axis], index.dims(), x.dims()[axis+1:])
	return c.reshape(y, dims...)
}

// inside is an index of an axis of n elements.
func (c *call) inside(i, n int64) int64 {
	if i < -n || i >= n {
		c.wrong("index %d is out of range for an axis of %d elements", i, n)
	}
	if i < 0 {
		i += n
	}
	return i
}

// fromStart is indices of an axis of n elements for an operator that does not count from the end: a negative one becomes n,
// which rows refuse.
func (c *call) fromStart(index *value, n int64) *value {
	index = c.cast(index, dtype.Int64)
	return c.where(c.binary(op.IDLessThan, index, whole(0)), whole(n), index)
}

// grid are index tensors for all axes of a tensor of these dimensions: each element's own place, but on one axis.
// With it an operator along one axis becomes one that reads or writes through all axes.
func (c *call) grid(dims []int64, axis int, index *value) []*value {
	list := make([]*value, len(dims))
	for i, n := range dims {
		if list[i] = index; i != axis {
			list[i] = c.steps(n, i, len(dims))
		}
	}
	return list
}

// gatherElements reads x at its own place for each index, but for one axis, where the index counts.
func gatherElements(c *call) []*value {
	x, index := c.x(0), c.x(1)
	axis := c.axis(c.int("axis", 0), x.rank())
	if index.rank() != x.rank() {
		c.wrong("the operands have %d and %d dimensions; want as many", x.rank(), index.rank())
	}
	index = c.cast(index, dtype.Int64)
	return one(c.do(op.IDIndex, nil, append([]*value{x}, c.grid(index.dims(), axis, index)...)...))
}

// columns are the index tensors that the last axis of index holds. The batches come first: an element of batch b
// reads batch b of x.
func (c *call) columns(x, index *value, batch int) []*value {
	last := index.rank() - 1
	if last < 0 || batch+int(index.dims()[last]) > x.rank() || index.dims()[last] == 0 {
		c.wrong("the indices have shape %s and the operand %d dimensions; want 1 to as many in the last axis", &index.Shape, x.rank())
	}
	var list []*value
	for i := range batch {
		list = append(list, c.steps(index.dims()[i], i, last))
	}
	index = c.cast(index, dtype.Int64)
	for i := range index.dims()[last] {
		list = append(list, c.pick(index, last, i))
	}
	return list
}

// gatherND reads slices at places whose coordinates are the last axis of the indices, within each of the batches.
func gatherND(c *call) []*value {
	x, index, batch := c.x(0), c.x(1), int(c.int("batch_dims", 0))
	if batch < 0 || batch >= index.rank() {
		c.wrong("batch_dims is %d; want 0 to %d", batch, index.rank()-1)
	}
	return one(c.do(op.IDIndex, nil, append([]*value{x}, c.columns(x, index, batch)...)...))
}

// scattered writes into x through index tensors. Attribute reduction says what happens to what is there. Of updates
// for one place the last wins, or all are joined.
func (c *call) scattered(x, updates *value, indices []*value) *value {
	fold := map[string]string{"none": "", "add": "add", "mul": "multiply", "min": "minimum", "max": "maximum"}
	how, ok := fold[c.text("reduction", "none")]
	if !ok {
		c.wrong("reduction is %q", c.text("reduction", "none"))
	}
	in := append([]*value{x, updates}, indices...)
	if updates.Shape.Numel() == 0 {
		return x
	}
	if how == "" {
		return c.do(op.IDIndexPut, nil, in...)
	}
	return c.do(op.IDIndexReduce, with(op.IndexReduceReduce, how), in...)
}

// scatterElements writes updates to the places that gatherElements would read.
func scatterElements(c *call) []*value {
	x, index, updates := c.x(0), c.x(1), c.x(2)
	axis := c.axis(c.int("axis", 0), x.rank())
	if index.rank() != x.rank() {
		c.wrong("the operands have %d and %d dimensions; want as many", x.rank(), index.rank())
	}
	index = c.cast(index, dtype.Int64)
	return one(c.scattered(x, updates, c.grid(index.dims(), axis, index)))
}

// scatterND writes slices to the places that gatherND would read.
func scatterND(c *call) []*value {
	x, index, updates := c.x(0), c.x(1), c.x(2)
	return one(c.scattered(x, updates, c.columns(x, index, 0)))
}

// tensorScatter writes updates into a cache, for each batch from its own position on, which is not negative.
func tensorScatter(c *call) []*value {
	x, updates := c.x(0), c.x(1)
	axis := c.axis(c.int("axis", -2), x.rank())
	n, at := x.dims()[axis], c.steps(updates.dims()[axis], axis, x.rank())
	var first *value
	if c.has(2) {
		dims := slices.Repeat([]int64{1}, x.rank())
		dims[0] = x.dims()[0]
		first = c.reshape(c.cast(c.x(2), dtype.Int64), dims...)
		at = c.add(at, first)
	}
	if c.text("mode", "linear") == "circular" {
		at = c.binary(op.IDRemainder, at, whole(n))
	}
	if first != nil {
		at = c.where(c.binary(op.IDLessThan, first, whole(0)), whole(n), at)
	}
	return one(c.do(op.IDIndexPut, nil, append([]*value{x, updates}, c.grid(updates.dims(), axis, at)...)...))
}

// oneHot is values[1] where the index is and values[0] elsewhere, along a new axis. Operands: indices, depth, and
// the two values. Indices out of range are nowhere.
func oneHot(c *call) []*value {
	index, depth, values := c.x(0), int64(c.number(1, "depth")), c.x(2)
	axis := c.axis(c.int("axis", -1), index.rank()+1)
	if depth < 0 {
		c.wrong("depth is %d; want 0 or more", depth)
	}
	at := c.unsqueeze(c.cast(index, dtype.Int64), int64(axis))
	at = c.where(c.binary(op.IDLessThan, at, whole(0)), c.add(at, whole(depth)), at)
	hot := c.binary(op.IDEqual, at, c.steps(depth, axis, index.rank()+1))
	return one(c.where(hot, c.pick(values, 0, 1), c.pick(values, 0, 0)))
}

// trilu keeps a triangle of matrices. What is beyond the triangle is 0, be it NaN or infinite before.
func trilu(c *call) []*value {
	x, k := c.x(0), int64(0)
	if c.has(1) {
		k = int64(c.number(1, "k"))
	}
	n := x.rank()
	if n < 2 {
		c.wrong("the operand has %d dimensions; want 2 or more", n)
	}
	diagonal := c.sub(c.steps(x.dims()[n-1], 1, 2), c.steps(x.dims()[n-2], 0, 2))
	compare := op.IDLessEqual
	if c.yes("upper", 1) {
		compare = op.IDGreaterEqual
	}
	return one(c.where(c.do(compare, nil, diagonal, whole(k)), x, c.zero(x.DType)))
}

func (c *call) zero(d dtype.DType) *value { return c.constant(d, nil, make([]byte, d.Size())) }

// compress keeps the slices for which a condition holds. A condition that is shorter than the axis drops what is behind it.
func compress(c *call) []*value {
	x, axis := c.x(0), 0
	if n := c.x(1).rank(); n != 1 {
		c.wrong("the condition has %s; want 1", status.Count(n, "dimension", "dimensions"))
	}
	if c.given("axis") {
		axis = c.axis(c.int("axis", 0), x.rank())
	} else {
		x = c.reshape(x, x.Shape.Numel())
	}
	return one(c.gathered(x, c.squeeze(c.counted(op.IDNonzero, nil, c.x(1)), 1), axis))
}

// nonZero is the indices of the elements that are not 0, an axis a row. A single number has one axis here.
func nonZero(c *call) []*value {
	x := c.x(0)
	if x.rank() == 0 {
		x = c.reshape(x, 1)
	}
	return one(c.transpose(c.counted(op.IDNonzero, nil, x), 1, 0))
}
