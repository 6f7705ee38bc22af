package rows

import (
	"slices"

	"github.com/paddle-mps/paddle-mps/core/op"
)

// partsSame is of functions of single elements.
func partsSame(at op.Attrs, _ int) (op.Attrs, bool) { return at, true }

// partsReduced counts axes from the front, and names them all where the call names none. It refuses a tensor without axes,
// because a call that names none would be over that of the parts, and a cast before the sum.
func partsReduced(at op.Attrs, rank int) (op.Attrs, bool) {
	axes := []int64{}
	for i, reduced := 0, axesOf(&at[op.SumAxis], rank); i < rank; i++ {
		if reduced.Has(i) {
			axes = append(axes, int64(i))
		}
	}
	at = slices.Clone(at)
	at[op.SumAxis] = op.Value{Kind: op.Ints, Ints: axes}
	return at, len(axes) > 0 && !at[op.SumDtype].Set()
}

// partsSpread makes room for both parts, and counts axes from the front.
func partsSpread(at op.Attrs, rank int) (op.Attrs, bool) {
	at = slices.Clone(at)
	axes := slices.Clone(at[op.SpreadAxes].Ints)
	for i, axis := range axes {
		if axis < 0 {
			axes[i] += int64(rank)
		}
	}
	at[op.SpreadAxes].Ints = axes
	at[op.SpreadShape].Ints = append(slices.Clone(at[op.SpreadShape].Ints), 2)
	return at, true
}

// partsAdded is of sums alone: a product mixes the parts, and complex numbers have no order.
func partsAdded(at op.Attrs, _ int) (op.Attrs, bool) {
	return at, at[op.IndexReduceReduce].Str() == op.Folds[0]
}
