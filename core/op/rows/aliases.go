package rows

import (
	"slices"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
)

// writeReshaped is of views that show every element once and in the same order.
func writeReshaped(c *op.Calls, _ op.Attrs, part, before op.Var) op.Var {
	s := c.Shape(before)
	return c.Reshape(part, &s)
}

// writeTransposed undoes the transpose.
func writeTransposed(c *op.Calls, at op.Attrs, part, before op.Var) op.Var {
	return c.Do(op.IDTranspose, transposedBack(at, c.Shape(before).Rank), part)
}

// transposedBack are the attributes of the transpose that undoes one of a tensor of a rank: axis perm[i] of x is axis i of the
// result. Axes that perm does not reach have stayed.
func transposedBack(at op.Attrs, rank int) op.Attrs {
	perm := at[op.TransposePerm].Ints
	back := make([]int64, len(perm))
	for i, p := range perm {
		if p < 0 {
			p += int64(rank)
		}
		back[p] = int64(i)
	}
	return op.Attrs{op.TransposePerm: {Kind: op.Ints, Ints: back}}
}

// writeSliced spreads the part over the whole, and takes the elements before where the slice shows none.
//
// The mask of the elements that the slice shows is made by the same call as the part itself, from ones. It costs a byte an
// element; a row of its own would save that. Complex numbers go by their positions, because where has no kernel for them.
func writeSliced(c *op.Calls, at op.Attrs, part, before op.Var) op.Var {
	if c.Err != nil || c.TypeOf(before).DType.IsComplex() {
		return writeByPosition(op.IDSlice)(c, at, part, before)
	}
	s, shown := c.Shape(before), c.Shape(part)
	to := op.Attrs{
		op.SpreadShape: {Kind: op.Ints, Ints: slices.Clone(s.Slice())}, op.SpreadAxes: at[op.SliceAxes],
		op.SpreadStarts: at[op.SliceStarts], op.SpreadEnds: at[op.SliceEnds], op.SpreadSteps: at[op.SliceSteps],
	}
	written := c.Do(op.IDSpread, to, c.Filled(&shown, op.Value{Kind: op.Bool, I: 1}, dtype.Bool))
	return c.Where(written, c.Do(op.IDSpread, to, part), before)
}

// readByPosition reads a view of memory: the elements of the whole at the positions that the view shows.
func readByPosition(id op.ID) func(*op.Calls, op.Attrs, op.Var) op.Var {
	return func(c *op.Calls, at op.Attrs, whole op.Var) op.Var {
		return c.Do(op.IDIndex, nil, c.Flat(whole), c.Do(id, at, c.Places(whole)))
	}
}

// writeByPosition writes each element of the part to where the view shows it. A view that shows an element twice is not
// written into: the runtime refuses it.
func writeByPosition(id op.ID) func(c *op.Calls, at op.Attrs, part, before op.Var) op.Var {
	return func(c *op.Calls, at op.Attrs, part, before op.Var) op.Var {
		return c.PutAt(before, part, c.Do(id, at, c.Places(before)))
	}
}

// stridedFrom moves the offset of as_strided.
func stridedFrom(at op.Attrs, by int64) op.Attrs {
	at = slices.Clone(at)
	at[op.AsStridedOffset].I += by
	return at
}
