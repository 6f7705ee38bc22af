package graphs

import (
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/metal/gpu"
	"github.com/paddle-mps/paddle-mps/objc/mpsgraph"
)

// A reduction sees three axes: what is reduced in the middle. MPSGraph has ended processes over more than
// four, and keeps the extent of 1 that is left.
const reducedAxis = 1

// fold is a reduction of an input with three axes (see reducedAxis), in the dtype that it is computed in.
type fold func(b *builder, x tensor) tensor

// lines is the input with three axes, ready to be folded: floats in float32, and small integers and bools in int32,
// because folds in fewer bits saturate.
func (b *builder) lines() tensor {
	x := b.alongAxes(b.full(0), b.call.Axes)
	if x.dtype.IsFloat() {
		return b.wide(x)
	}
	if x.dtype.Size() < dtype.Int32.Size() {
		return b.cast(x, dtype.Int32)
	}
	return x
}

// alongAxes is x with three axes, the middle one made of those in a set: where they are not neighbours,
// the others come first.
func (b *builder) alongAxes(x tensor, set op.Axes) tensor {
	if b.err != nil {
		return x
	}
	// As long as the folded axes are neighbours, a reshape is enough: what comes before them is outer, what comes
	// behind is inner. If a kept axis stands between two of them, middle does not come out as their volume.
	var kept, folded, extents []int64
	outer, middle, inner := int64(1), int64(1), int64(1)
	for i, d := range x.dims {
		if set.Has(i) {
			folded = append(folded, int64(i))
			middle, inner = middle*inner*d, 1
			extents = append(extents, d)
			continue
		}
		kept = append(kept, int64(i))
		if len(folded) == 0 {
			outer *= d
		} else {
			inner *= d
		}
	}
	if whole := volume(extents); middle != whole {
		x = b.transpose(x, append(kept, folded...))
		outer, middle, inner = volume(x.dims)/whole, whole, 1
	}
	return b.reshape(x, outer, middle, inner)
}

// Reductions. Where MPSGraph has none for a dtype, another one stands for it: sums, means and maxima of bools are
// whether any of them holds, and products and minima whether all do.
func init() {
	integers := dtype.Integers
	narrow := dtype.SetOf(dtype.Uint8, dtype.Int8, dtype.Int16, dtype.Int32)
	for id, o := range map[op.ID]struct{ float, integer mpsgraph.Listed }{
		op.IDSum:  {mpsgraph.ReductionSum, mpsgraph.ReductionSum},
		op.IDProd: {mpsgraph.ReductionProduct, mpsgraph.ReductionProduct},
		op.IDMax:  {mpsgraph.ReductionMaximumPropagateNaN, mpsgraph.ReductionMaximum},
		op.IDMin:  {mpsgraph.ReductionMinimumPropagateNaN, mpsgraph.ReductionMinimum},
	} {
		fold(folding(o.float)).lower(id, graphFloats)
		fold(folding(o.integer)).lower(id, integers)
	}
	fold(folding(mpsgraph.Mean)).lower(op.IDMean, graphFloats)
	fold(meanOfIntegers).lower(op.IDMean, narrow)
	for _, id := range []op.ID{op.IDAny, op.IDSum, op.IDMean, op.IDMax} {
		fold(anyOf).lower(id, dtype.Bools)
	}
	for _, id := range []op.ID{op.IDAll, op.IDProd, op.IDMin} {
		fold(allOf).lower(id, dtype.Bools)
	}
	fold(anyOf).lower(op.IDAny, gpu.Elements&^dtype.Bools)
	fold(allOf).lower(op.IDAll, gpu.Elements&^dtype.Bools)
	fold(searching(mpsgraph.ReductionArgMaximum)).lower(op.IDArgmax, gpu.Elements&^dtype.Bools)
	fold(searching(mpsgraph.ReductionArgMinimum)).lower(op.IDArgmin, gpu.Elements&^dtype.Bools)
}

// lower registers a reduction for a set of dtypes. Integers that were computed in more bits wrap around.
func (f fold) lower(id op.ID, set dtype.Set) {
	lower(id, set, func(b *builder) tensor {
		y := f(b, b.lines())
		if d := b.call.Out[0].DType; d.IsInt() && y.dtype != d && b.err == nil {
			return b.wrap(y, d)
		}
		return y
	})
}

// folding is a fold that MPSGraph has as it is.
func folding(o mpsgraph.Listed) fold {
	return func(b *builder, x tensor) tensor { return b.reduce(o, x, reducedAxis) }
}

// meanOfIntegers is truncated towards zero, as in Paddle; the sum has room in int64, and the count is a constant.
func meanOfIntegers(b *builder, x tensor) tensor {
	// The division of int64 is towards zero.
	sum := b.reduce(mpsgraph.ReductionSum, b.cast(x, dtype.Int64), reducedAxis)
	return b.over(sum, b.integer(volume(x.dims)/volume(sum.dims), dtype.Int64))
}

// anyOf and allOf are of elements of any dtype: whether one is, or all are, not zero.
func anyOf(b *builder, x tensor) tensor { return b.extreme(mpsgraph.ReductionMaximum, x) }
func allOf(b *builder, x tensor) tensor { return b.extreme(mpsgraph.ReductionMinimum, x) }

// extreme is the largest or the least of 1 for what is not zero and 0 for what is, as a bool: MPSGraph's own
// reductions of bools do not exist on every system.
func (b *builder) extreme(o mpsgraph.Listed, x tensor) tensor {
	return b.nonZero(b.reduce(o, b.cast(b.nonZero(x), dtype.Int32), reducedAxis))
}

// searching is the index of the first extreme; where all are NaN, for which MPSGraph has -1, the first. Indices are
// int32, which an axis that MPSGraph takes always fits.
func searching(o mpsgraph.Axial) fold {
	return func(b *builder, x tensor) tensor {
		return b.binary(mpsgraph.Maximum, b.search(o, x, reducedAxis), b.integer(0, dtype.Int32))
	}
}
