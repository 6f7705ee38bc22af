package formula

import (
	"slices"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/op/rows"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// Formulas that read and write through tensors of indices: the rows index, index_put and index_reduce want an index tensor for each of the
// first axes, broadcast to each other. Functions here make them of indices along one axis, and of coordinates.

// ownPlaces are index tensors for all axes of an index tensor, which counts along one of them: on the others each element has its own
// place.
func ownPlaces(e *evaluation, args []*quantity) *quantity {
	index := args[0]
	s := e.Shape(index.v)
	axis, ok := e.axis(&s, args[1])
	if !ok {
		return index
	}
	t := &quantity{}
	for i, n := range s.Slice() {
		if i != axis {
			t.list = append(t.list, &quantity{v: rows.Column(e.Calls, n, s.Rank, i)})
		} else {
			t.list = append(t.list, index)
		}
	}
	return t
}

// slicePlaces are index tensors for the axes of x up to one, along which a line of indices counts: they name slices.
func slicePlaces(e *evaluation, args []*quantity) *quantity {
	s, line := e.Shape(args[0].v), e.Shape(args[1].v)
	axis, ok := e.axis(&s, args[2])
	if !ok {
		return args[1]
	}
	if line.Rank > 1 {
		return e.refuse("index has shape %s; want one axis", &line)
	}
	t, index := &quantity{}, args[1].v
	for i := range axis {
		t.list = append(t.list, &quantity{v: rows.Column(e.Calls, s.Dims[i], axis+1, i)})
	}
	if axis > 0 && line.Rank == 1 {
		along := rows.Line(line.Dims[0], axis+1, axis)
		index = e.Reshape(index, &along)
	}
	t.list = append(t.list, &quantity{v: index})
	return t
}

// coordinates are the index tensors that the last axis of an index tensor holds, for as many of the first axes of x. Those of batches
// come first: an element of batch b is of batch b of x.
func coordinates(e *evaluation, args []*quantity) *quantity {
	index, s, x, batch := args[0].v, e.Shape(args[0].v), e.Shape(args[1].v), args[2].value.I
	last := s.Rank - 1
	switch {
	case last < 0 || shape.IsSymbol(s.Dims[last]) || s.Dims[last] > int64(x.Rank)-max(batch, 0) || s.Dims[last] == 0:
		return e.refuse("index has shape %s and x %d axes; want rows of 1 to as many indices", &s, x.Rank)
	case batch < 0 || batch >= int64(s.Rank):
		return e.refuse("batch_dims is %d; want 0 to %d", batch, s.Rank-1)
	}
	n := s.Dims[last]
	s.Rank, s.Dims[last] = last, 0
	t := &quantity{}
	for i := range batch {
		t.list = append(t.list, &quantity{v: rows.Column(e.Calls, s.Dims[i], last, int(i))})
	}
	for i := range n {
		t.list = append(t.list, &quantity{v: e.Reshape(between(e.Calls, index, int64(last), i, i+1), &s)})
	}
	return t
}

// putAt is x with values at places, which replace what is there or are joined with it by a reduction. Without include_self what is
// there does not count: it is the neutral number first, or for a minimum and a maximum any of the values, which changes nothing then.
func putAt(e *evaluation, args []*quantity) *quantity {
	x, values, reduce, include := args[0].v, castLike(e, []*quantity{args[1], args[0]}).v, args[3].value.Str(), args[4].value.I != 0
	places := make([]op.Var, len(args[2].list))
	for i, place := range args[2].list {
		places[i] = place.v
	}
	put := func(x, values op.Var) op.Var {
		return e.Do(op.IDIndexPut, nil, append([]op.Var{x, values}, places...)...)
	}
	join := func(x, values op.Var, reduce string) op.Var {
		return e.Do(op.IDIndexReduce, op.Attrs{{Kind: op.String, Ref: reduce}}, append([]op.Var{x, values}, places...)...)
	}
	extreme := slices.Contains(op.Folds[2:], reduce)
	switch {
	case reduce == "assign":
		return &quantity{v: put(x, values)}
	case reduce != "mean" && !slices.Contains(op.Folds[:], reduce):
		return e.refuse("reduce is '%s'; want one of 'assign', 'add', 'multiply', 'mean', 'minimum', 'maximum'", reduce)
	case extreme && !include:
		x = put(x, values)
	case !include:
		neutral := whole(0)
		if reduce == op.Folds[1] {
			neutral = whole(1)
		}
		x = put(x, numberLike(e, []*quantity{args[0], neutral}).v)
	}
	if reduce != "mean" {
		return &quantity{v: join(x, values, reduce)}
	}
	total := join(x, values, op.Folds[0])
	one, d := e.Filled(&shape.Shape{}, op.Value{Kind: op.Int, I: 1}, dtype.Int64), e.TypeOf(x).DType
	s := e.Shape(x)
	counts := join(e.full(&s, args[4].value, dtype.Int64), one, op.Folds[0])
	if !include {
		counts = e.Do(op.IDMaximum, nil, counts, e.Int(1))
	}
	if d.IsFloat() {
		return &quantity{v: e.Divide(total, e.Cast(counts, d))}
	}
	return &quantity{v: e.Cast(e.Do(op.IDFloorDivide, nil, e.Cast(total, dtype.Int64), counts), d)} // rounded down
}

// poolSegments are slices joined by a reduction where an index tensor has the same number, of which there are n, or as many as slices.
func poolSegments(e *evaluation, args []*quantity) *quantity {
	word, n := args[2].value.Str(), args[3].value.I
	fold, ok := map[string]string{"sum": op.Folds[0], "mean": "mean", "max": op.Folds[3], "min": op.Folds[2]}[word]
	s, index := e.Shape(args[0].v), e.Shape(args[1].v)
	switch {
	case !ok:
		return e.refuse("the reduction is '%s'; want one of 'sum', 'mean', 'max', 'min'", word)
	case s.Rank == 0 || index.Rank != 1 || !shape.IsSymbol(index.Dims[0]) && !shape.IsSymbol(s.Dims[0]) && index.Dims[0] != s.Dims[0]:
		return e.refuse("values have shape %s and indices %s; want an index for each slice", &s, &index)
	}
	if size, is := op.SymbolIn(n); is {
		s.Dims[0] = size
	} else if n > 0 {
		s.Dims[0] = n
	}
	zeros, places := e.full(&s, op.Value{Kind: op.Int}, e.TypeOf(args[0].v).DType), checkLabels(e, []*quantity{args[1], whole(s.Dims[0])})
	if e.Err != nil {
		return args[0]
	}
	return putAt(e, []*quantity{{v: zeros}, args[0], {list: []*quantity{places}}, {value: op.Value{Kind: op.String, Ref: fold}}, whether(fold == op.Folds[0])})
}

// full is a tensor of one value, whose sizes may be symbols where types alone are computed.
func (e *evaluation) full(s *shape.Shape, v op.Value, d dtype.DType) op.Var {
	return e.Do(op.IDFull, op.Attrs{op.FullShape: sizes(dimensions(s)).value, op.FullFillValue: v, op.FullDtype: {Kind: op.DType, I: int64(d)}})
}

// message is what an edge sends: of two values their sum, difference, product or quotient, as Paddle divides.
func message(e *evaluation, args []*quantity) *quantity {
	x, y := args[0].v, args[1].v
	switch word := args[2].value.Str(); word {
	case "add":
		return &quantity{v: e.Add(x, y)}
	case "sub":
		return &quantity{v: e.Subtract(x, y)}
	case "mul":
		return &quantity{v: e.Multiply(x, y)}
	case "div":
		return &quantity{v: e.Multiply(x, e.Divide(e.Float(1), e.Add(y, e.Float(1e-12))))}
	default:
		return e.refuse("message_op is '%s'; want one of 'add', 'sub', 'mul', 'div'", word)
	}
}

// reversedSequences is the rule of reverse_sequence: one of the two first axes is that of sequences, the other that of their elements.
func reversedSequences(c *op.Inference) error {
	s, lengths, batch, time := &c.In[0].Shape, &c.In[1].Shape, c.Attr("batch_axis").I, c.Attr("time_axis").I
	if s.Rank < 2 || min(batch, time) != 0 || max(batch, time) != 1 {
		return status.Errorf(status.Invalid, "[%s] batch_axis is %d and time_axis %d for x of shape %s; want 0 and 1", c.Row.Name, batch, time, s)
	}
	if !c.In[1].DType.IsInt() || lengths.Rank != 1 || op.Differ(lengths.Dims[0], s.Dims[batch]) {
		return status.Errorf(status.Invalid, "[%s] lengths is %s%s; want an integer for each of the sequences of x %s", c.Row.Name, c.In[1].DType, lengths, s)
	}
	return nil
}
