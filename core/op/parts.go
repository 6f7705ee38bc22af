package op

import "slices"

// PartsRule says a call on complex tensors as a call of the same row on their real and imaginary parts: floats in the same
// memory, with one more axis at the end. It gives the attributes of that call; rank is that of the first tensor, without the
// axis. ok is false for calls that are not the same function of either part.
//
// Kernels compute with real numbers. Backward passes need some sums of complex ones, and those have this rule. Its row's
// gradient needs no arithmetic on complex numbers but by rows that have the rule too, so that passes may be recorded.
type PartsRule func(at Attrs, rank int) (parts Attrs, ok bool)

// partsSame is of functions of single elements.
func partsSame(at Attrs, _ int) (Attrs, bool) { return at, true }

// partsReduced counts axes from the front, and names them all where the call names none. It refuses a tensor without axes,
// because a call that names none would be over that of the parts, and a cast before the sum.
func partsReduced(at Attrs, rank int) (Attrs, bool) {
	axes := []int64{}
	for i, reduced := 0, axesOf(&at[SumAxis], rank); i < rank; i++ {
		if reduced.Has(i) {
			axes = append(axes, int64(i))
		}
	}
	at = slices.Clone(at)
	at[SumAxis] = Value{Kind: Ints, Ints: axes}
	return at, len(axes) > 0 && !at[SumDtype].Set()
}

// partsSpread makes room for both parts, and counts axes from the front.
func partsSpread(at Attrs, rank int) (Attrs, bool) {
	at = slices.Clone(at)
	axes := slices.Clone(at[SpreadAxes].Ints)
	for i, axis := range axes {
		if axis < 0 {
			axes[i] += int64(rank)
		}
	}
	at[SpreadAxes].Ints = axes
	at[SpreadShape].Ints = append(slices.Clone(at[SpreadShape].Ints), 2)
	return at, true
}

// partsAdded is of sums alone: a product mixes the parts, and complex numbers have no order.
func partsAdded(at Attrs, _ int) (Attrs, bool) { return at, at[IndexReduceReduce].Str() == Folds[0] }
