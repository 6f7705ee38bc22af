package ops

import (
	"slices"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/onnx/build"
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
	{"GatherElements", 11, 0, gatherElements}, // data, indices of the same rank
	{"GatherND", 11, op.IDGatherNd, renamed{{op.GatherNdBatchDims, "batch_dims", 0}}.call}, // data, indices whose last axis are coordinates
	{"Scatter", 9, op.IDPutAlongAxis, scatterElements},
	{"ScatterElements", 11, op.IDPutAlongAxis, scatterElements},
	{"ScatterND", 11, op.IDScatterNd, scatterND},
	{"TensorScatter", 24, 0, tensorScatter}, // cache, updates, positions
	{"OneHot", 9, 0, oneHot},                // indices, depth, values
	{"Trilu", 14, 0, trilu},
	{"Compress", 9, 0, compress},
	{"NonZero", 9, 0, nonZero}, // int64 [rank, count]
}

// gather reads slices along an axis; the axes of the indices take its place. The rank of the result is that of both
// less one.
func gather(c *build.Call) []*build.Value {
	return build.One(gathered(c, c.X(0), c.X(1), c.Axis(c.Int("axis", 0), c.X(0).Rank())))
}

// gathered is gather. The row takes indices of one axis.
func gathered(c *build.Call, x, index *build.Value, axis int) *build.Value {
	if index.Rank() == 0 && x.Rank() == 1 && index.Data != nil && x.Dims()[0] > 0 { // the size of one axis of a shape
		if list, ok := index.Data.Ints(); ok && x.Data != nil {
			c.Tainted = c.Tainted || !index.Fixed
			return c.Pick(x, 0, inside(c, list[0], x.Dims()[0]))
		}
	}
	flat := c.Reshape(index, index.Shape.Numel())
	y := c.Do(op.IDGather, build.With(op.GatherAxis, axis), x, c.Cast(flat, dtype.Int64))
	dims := slices.Concat(x.Dims()[:axis], index.Dims(), x.Dims()[axis+1:])
	return c.Reshape(y, dims...)
}

// inside is an index of an axis of n elements.
func inside(c *build.Call, i, n int64) int64 {
	if i < -n || i >= n {
		c.Wrong("index %d is out of range for an axis of %d elements", i, n)
	}
	if i < 0 {
		i += n
	}
	return i
}

// fromStart is indices of an axis of n elements for an operator that does not count from the end: a negative one becomes n,
// which rows refuse.
func fromStart(c *build.Call, index *build.Value, n int64) *build.Value {
	index = c.Cast(index, dtype.Int64)
	return c.Where(c.Binary(op.IDLessThan, index, build.Whole(0)), build.Whole(n), index)
}

// alongAxis is attribute axis, of operands of one rank.
func alongAxis(c *build.Call) int {
	x, index := c.X(0), c.X(1)
	axis := c.Axis(c.Int("axis", 0), x.Rank())
	if index.Rank() != x.Rank() {
		c.Wrong("the operands have %d and %d dimensions; want as many", x.Rank(), index.Rank())
	}
	return axis
}

// gatherElements reads x at its own place for each index, but for one axis, where the index counts.
func gatherElements(c *build.Call) []*build.Value {
	return build.One(c.Do(op.IDTakeAlongAxis, build.With(op.TakeAlongAxisAxis, alongAxis(c)), c.X(0), c.X(1)))
}

// reduction is how updates join what is there; of updates for one place the last wins, or all are joined.
func reduction(c *build.Call) string {
	how, ok := map[string]string{"none": "assign", "add": "add", "mul": "multiply", "min": "minimum", "max": "maximum"}[c.Text("reduction", "none")]
	if !ok {
		c.Wrong("reduction is %q", c.Text("reduction", "none"))
	}
	return how
}

// scatterElements writes updates to the places that gatherElements would read.
func scatterElements(c *build.Call) []*build.Value {
	return written(c, build.With(op.PutAlongAxisAxis, alongAxis(c), op.PutAlongAxisReduce, reduction(c)))
}

// scatterND writes slices to the places that GatherND would read.
func scatterND(c *build.Call) []*build.Value {
	return written(c, build.With(op.ScatterNdReduce, reduction(c)))
}

// written is x with updates that the row writes; without elements of these it is x.
func written(c *build.Call, at op.Attrs) []*build.Value {
	if c.X(2).Shape.Numel() == 0 {
		return build.One(c.X(0))
	}
	return build.One(c.Do(c.Row, at, c.X(0), c.X(1), c.X(2)))
}

// tensorScatter writes updates into a cache, for each batch from its own position on, which is not negative.
func tensorScatter(c *build.Call) []*build.Value {
	x, updates := c.X(0), c.X(1)
	axis := c.Axis(c.Int("axis", -2), x.Rank())
	n, at := x.Dims()[axis], c.Steps(updates.Dims()[axis], axis, x.Rank())
	var first *build.Value
	if c.Has(2) {
		dims := slices.Repeat([]int64{1}, x.Rank())
		dims[0] = x.Dims()[0]
		first = c.Reshape(c.Cast(c.X(2), dtype.Int64), dims...)
		at = c.Add(at, first)
	}
	if c.Text("mode", "linear") == "circular" {
		at = c.Binary(op.IDRemainder, at, build.Whole(n))
	}
	if first != nil {
		at = c.Where(c.Binary(op.IDLessThan, first, build.Whole(0)), build.Whole(n), at)
	}
	in := []*build.Value{x, updates} // and an index for each axis: the own place, but along one axis
	for i, n := range updates.Dims() {
		if i == axis {
			in = append(in, at)
			continue
		}
		in = append(in, c.Steps(n, i, x.Rank()))
	}
	return build.One(c.Do(op.IDIndexPut, nil, in...))
}

// oneHot is values[1] where the index is and values[0] elsewhere, along a new axis. Operands: indices, depth, and
// the two values. Indices out of range are nowhere.
func oneHot(c *build.Call) []*build.Value {
	index, depth, values := c.X(0), int64(c.Number(1, "depth")), c.X(2)
	axis := c.Axis(c.Int("axis", -1), index.Rank()+1)
	if depth < 0 {
		c.Wrong("depth is %d; want 0 or more", depth)
	}
	at := c.Unsqueeze(c.Cast(index, dtype.Int64), int64(axis))
	at = c.Where(c.Binary(op.IDLessThan, at, build.Whole(0)), c.Add(at, build.Whole(depth)), at)
	hot := c.Binary(op.IDEqual, at, c.Steps(depth, axis, index.Rank()+1))
	return build.One(c.Where(hot, c.Pick(values, 0, 1), c.Pick(values, 0, 0)))
}

// trilu keeps a triangle of matrices. What is beyond the triangle is 0, be it NaN or infinite before.
func trilu(c *build.Call) []*build.Value {
	x, row := c.X(0), op.IDTril
	if x.Rank() < 2 {
		c.Wrong("the operand has %d dimensions; want 2 or more", x.Rank())
	}
	if c.Yes("upper", 1) {
		row = op.IDTriu
	}
	return build.One(c.Do(row, build.With(op.TrilDiagonal, int64(c.NumberOr(1, "k", 0))), x))
}

func zero(c *build.Call, d dtype.DType) *build.Value {
	return c.Constant(d, nil, make([]byte, d.Size()))
}

// compress keeps the slices for which a condition holds. A condition that is shorter than the axis drops what is behind it.
func compress(c *build.Call) []*build.Value {
	x, axis := c.X(0), 0
	if n := c.X(1).Rank(); n != 1 {
		c.Wrong("the condition has %s; want 1", status.Count(n, "dimension", "dimensions"))
	}
	if c.Given("axis") {
		axis = c.Axis(c.Int("axis", 0), x.Rank())
	} else {
		x = c.Reshape(x, x.Shape.Numel())
	}
	return build.One(gathered(c, x, c.Squeeze(c.Counted(op.IDNonzero, nil, c.X(1)), 1), axis))
}

// nonZero is the indices of the elements that are not 0, an axis a row. A single number has one axis here.
func nonZero(c *build.Call) []*build.Value {
	x := c.X(0)
	if x.Rank() == 0 {
		x = c.Reshape(x, 1)
	}
	return build.One(c.Transpose(c.Counted(op.IDNonzero, nil, x), 1, 0))
}
