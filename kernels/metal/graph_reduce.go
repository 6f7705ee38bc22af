package metal

import (
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/objc/mpsgraph"
)

// A reduction sees three axes: what is reduced in the middle. MPSGraph has ended processes over more than
// four, and keeps the extent of 1 that is left.
const reducedAxis = 1

// fold is a reduction of an input with three axes, in the dtype that it is computed in.
type fold func(b *builder, x tensor) tensor

// lines are floats in float32, and the small integers and bools in int32.
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

func init() {
	integers := dtype.Integers
	narrow := dtype.SetOf(dtype.Uint8, dtype.Int8, dtype.Int16, dtype.Int32)
	for name, o := range map[string]struct{ float, integer mpsgraph.Listed }{
		"sum":  {mpsgraph.ReductionSum, mpsgraph.ReductionSum},
		"prod": {mpsgraph.ReductionProduct, mpsgraph.ReductionProduct},
		"max":  {mpsgraph.ReductionMaximumPropagateNaN, mpsgraph.ReductionMaximum},
		"min":  {mpsgraph.ReductionMinimumPropagateNaN, mpsgraph.ReductionMinimum},
	} {
		fold(folding(o.float)).lower(name, graphFloats)
		fold(folding(o.integer)).lower(name, integers)
	}
	fold(folding(mpsgraph.Mean)).lower("mean", graphFloats)
	fold(meanOfIntegers).lower("mean", narrow)
	for _, name := range []string{"any", "sum", "mean", "max"} {
		fold(anyOf).lower(name, dtype.Bools)
	}
	for _, name := range []string{"all", "prod", "min"} {
		fold(allOf).lower(name, dtype.Bools)
	}
	fold(anyOf).lower("any", elements&^dtype.Bools)
	fold(allOf).lower("all", elements&^dtype.Bools)
	fold(searching(mpsgraph.ReductionArgMaximum)).lower("argmax", elements&^dtype.Bools)
	fold(searching(mpsgraph.ReductionArgMinimum)).lower("argmin", elements&^dtype.Bools)
}

// lower registers a reduction; integers that were computed in more bits wrap around.
func (f fold) lower(name string, set dtype.Set) {
	lower(name, set, func(b *builder) tensor {
		y := f(b, b.lines())
		if d := b.call.Out[0].DType; d.IsInt() && y.dtype != d && b.err == nil {
			return b.wrap(y, d)
		}
		return y
	})
}

func folding(o mpsgraph.Listed) fold {
	return func(b *builder, x tensor) tensor { return b.reduce(o, x, reducedAxis) }
}

// meanOfIntegers is truncated; the sum has room in int64.
func meanOfIntegers(b *builder, x tensor) tensor {
	sum := b.reduce(mpsgraph.ReductionSum, b.cast(x, dtype.Int64), reducedAxis)
	return b.over(sum, b.integer(volume(x.dims)/volume(sum.dims), dtype.Int64))
}

func anyOf(b *builder, x tensor) tensor { return b.extreme(mpsgraph.ReductionMaximum, x) }
func allOf(b *builder, x tensor) tensor { return b.extreme(mpsgraph.ReductionMinimum, x) }

// extreme is the largest or the least of 1 for what is not zero and 0 for what is.
func (b *builder) extreme(o mpsgraph.Listed, x tensor) tensor {
	return b.nonZero(b.reduce(o, b.cast(b.nonZero(x), dtype.Int32), reducedAxis))
}

// searching is the index of the first extreme; where all are NaN, for which MPSGraph has -1, the first.
func searching(o mpsgraph.Axial) fold {
	return func(b *builder, x tensor) tensor {
		return b.binary(mpsgraph.Maximum, b.search(o, x, reducedAxis), b.integer(0, dtype.Int32))
	}
}
