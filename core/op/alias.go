package op

import (
	"slices"

	"github.com/paddle-mps/paddle-mps/core/dtype"
)

// Alias says what a view is where tensors are values and have no memory to share, as in a function that is traced. There a
// view is computed from what it is a view of, the whole, and a write into the view computes the whole anew.
//
// Rows of Kind View whose results share memory (not Fresh) have a Write. Rules see the attributes of the call, complete.
type Alias struct {
	// Read is the view of a whole. nil: a call of the row.
	Read func(c *Calls, at Attrs, whole Var) Var
	// Write is the whole after a write into the view. part is what the view shows then, before is the whole until then.
	Write func(c *Calls, at Attrs, part, before Var) Var
	// From is set where the view reads memory from the operand's first element on, however the operand lies in it. It is the
	// same view, for an operand that begins by so many elements earlier.
	From func(at Attrs, by int64) Attrs
}

// writeReshaped is of views that show every element once and in the same order.
func writeReshaped(c *Calls, _ Attrs, part, before Var) Var {
	s := c.Shape(before)
	return c.Reshape(part, &s)
}

// writeTransposed undoes the transpose.
func writeTransposed(c *Calls, at Attrs, part, before Var) Var {
	return c.Do(IDTranspose, transposedBack(at, c.Shape(before).Rank), part)
}

// transposedBack are the attributes of the transpose that undoes one of a tensor of a rank: axis perm[i] of x is axis i of the
// result. Axes that perm does not reach have stayed.
func transposedBack(at Attrs, rank int) Attrs {
	perm := at[TransposePerm].Ints
	back := make([]int64, len(perm))
	for i, p := range perm {
		if p < 0 {
			p += int64(rank)
		}
		back[p] = int64(i)
	}
	return Attrs{TransposePerm: {Kind: Ints, Ints: back}}
}

// writeSliced spreads the part over the whole, and takes the elements before where the slice shows none.
//
// The mask of the elements that the slice shows is made by the same call as the part itself, from ones. It costs a byte an
// element; a row of its own would save that. Complex numbers go by their positions, because where has no kernel for them.
func writeSliced(c *Calls, at Attrs, part, before Var) Var {
	if c.Err != nil || c.TypeOf(before).DType.IsComplex() {
		return writeByPosition(IDSlice)(c, at, part, before)
	}
	s, shown := c.Shape(before), c.Shape(part)
	to := Attrs{
		SpreadShape: {Kind: Ints, Ints: slices.Clone(s.Slice())}, SpreadAxes: at[SliceAxes],
		SpreadStarts: at[SliceStarts], SpreadEnds: at[SliceEnds], SpreadSteps: at[SliceSteps],
	}
	written := c.Do(IDSpread, to, c.full(&shown, Value{Kind: Bool, I: 1}, dtype.Bool))
	return c.where(written, c.Do(IDSpread, to, part), before)
}

// readByPosition reads a view of memory: the elements of the whole at the positions that the view shows.
func readByPosition(id ID) func(*Calls, Attrs, Var) Var {
	return func(c *Calls, at Attrs, whole Var) Var {
		return c.Do(IDIndex, nil, c.flat(whole), c.Do(id, at, c.Places(whole)))
	}
}

// writeByPosition writes each element of the part to where the view shows it. A view that shows an element twice is not
// written into: the runtime refuses it.
func writeByPosition(id ID) func(c *Calls, at Attrs, part, before Var) Var {
	return func(c *Calls, at Attrs, part, before Var) Var {
		return c.PutAt(before, part, c.Do(id, at, c.Places(before)))
	}
}

// Places are the positions of the elements of a value in row-major order, 0, 1, 2, ..., in its shape. A view of them says where its
// elements lie.
func (c *Calls) Places(v Var) Var {
	s := c.Shape(v)
	return c.Reshape(c.count(s.Numel()), &s)
}

// PutAt is a value with the elements of part at places, which differ.
func (c *Calls) PutAt(before, part, places Var) Var {
	s := c.Shape(before)
	return c.Reshape(c.Do(IDIndexPut, nil, c.flat(before), part, places), &s)
}

// flat is a value in one axis.
func (c *Calls) flat(v Var) Var {
	s := c.Shape(v)
	return c.Do(IDReshape, Attrs{ReshapeShape: {Kind: Ints, Ints: []int64{s.Numel()}}}, v)
}

// stridedFrom moves the offset of as_strided.
func stridedFrom(at Attrs, by int64) Attrs {
	at = slices.Clone(at)
	at[AsStridedOffset].I += by
	return at
}
