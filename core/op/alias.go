package op

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
