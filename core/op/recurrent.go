package op

import "slices"

// Recurrent layers in terms of other rows, for devices without kernels of them: the steps of the sequence one after the other.

// lstmCalls is an LSTM as calls of other rows.
func lstmCalls(c *Calls, in []Var, at Attrs) []Var {
	h, cell := in[2], in[3]
	hidden := c.Shape(h).Dims[1]
	out := c.unrolled(in[0], at[LstmReverse].I != 0, func(x Var) Var {
		g := c.gates(c.add(x, c.product(h, in[1], false, false)), hidden, hidden, hidden, hidden)
		cell = c.add(c.multiply(c.sigmoid(g[2]), cell), c.multiply(c.sigmoid(g[0]), c.tanh(g[3])))
		h = c.multiply(c.sigmoid(g[1]), c.tanh(cell))
		return h
	})
	return []Var{out, cell}
}

// gruCalls is a GRU as calls of other rows.
func gruCalls(c *Calls, in []Var, at Attrs) []Var {
	h, bias := in[2], in[3]
	n := c.Shape(h).Dims[1]
	linear, biased := at[GruLinear].I != 0, c.Err == nil && !c.Absent(bias)
	// A product of its own is that of the state times the reset gate.
	weights, biases := []Var{in[1]}, []Var{bias}
	if !linear {
		weights = c.gates(in[1], 2*n, n)
		if biased {
			biases = c.parts(bias, 0, 2*n, n)
		}
	}
	times := func(state Var, i int) Var {
		p := c.product(state, weights[i], false, false)
		if biased {
			p = c.add(p, biases[i])
		}
		return p
	}
	out := c.unrolled(in[0], at[GruReverse].I != 0, func(all Var) Var {
		x := c.gates(all, n, n, n)
		var p []Var
		if linear {
			p = c.gates(times(h, 0), n, n, n)
		} else {
			p = c.gates(times(h, 0), n, n)
		}
		z, r := c.sigmoid(c.add(x[0], p[0])), c.sigmoid(c.add(x[1], p[1]))
		var own Var
		if linear {
			own = c.multiply(r, p[2])
		} else {
			own = times(c.multiply(r, h), 1)
		}
		own = c.tanh(c.add(x[2], own))
		h = c.add(c.multiply(c.subtract(c.Float(1), z), own), c.multiply(z, h))
		return h
	})
	return []Var{out}
}

// unrolled calls next with each step of a sequence, and stacks what it returns in the order of the sequence.
func (c *Calls) unrolled(x Var, reverse bool, next func(Var) Var) Var {
	n := c.Shape(x).Dims[0]
	made := make([]Var, n)
	for i := int64(0); i < n && c.Err == nil; i++ {
		t := i
		if reverse {
			t = n - 1 - i
		}
		step := c.Do(IDSlice, Attrs{
			SliceAxes: {Kind: Ints, Ints: []int64{0}}, SliceStarts: {Kind: Ints, Ints: []int64{t}}, SliceEnds: {Kind: Ints, Ints: []int64{t + 1}},
		}, x)
		made[t] = next(c.Do(IDSqueeze, Attrs{SqueezeAxis: {Kind: Ints, Ints: []int64{0}}}, step))
	}
	return c.Do(IDStack, Attrs{StackAxis: {Kind: Int}}, made...)
}

// gates are parts of the columns of a matrix, of these widths.
func (c *Calls) gates(v Var, widths ...int64) []Var { return c.parts(v, 1, widths...) }

// parts are parts of a value along an axis, of these sizes. After an error they are as many, so that rules need not look at it.
func (c *Calls) parts(v Var, axis int64, sizes ...int64) []Var {
	out := c.DoMany(IDSplit, Attrs{SplitSections: {Kind: Ints, Ints: sizes}, SplitAxis: {Kind: Int, I: axis}}, v)
	return append(out, make([]Var, len(sizes)-len(out))...)
}

func (c *Calls) sigmoid(x Var) Var { return c.Do(IDSigmoid, nil, x) }
func (c *Calls) tanh(x Var) Var    { return c.Do(IDTanh, nil, x) }

// lowerToCalls is the lowering of rows that say themselves by Row.Calls: the results are moved to their places.
func lowerToCalls(e Emitter, s *Step) error {
	l := emitted{e: e, refs: slices.Clone(s.In)}
	c := Calls{Calculator: &l}
	in := make([]Var, len(s.In))
	for i := range in {
		in[i] = Var(i)
	}
	made := s.Row.Calls(&c, in, s.Attrs)
	for i := 0; i < len(made) && c.Err == nil; i++ {
		if int(made[i]) < len(in) || slices.Contains(made[:i], made[i]) || slices.Contains(made[i+1:], made[i]) {
			c.Err = e.Copy(l.refs[made[i]], s.Out[i])
		} else {
			c.Err = e.Move(l.refs[made[i]], s.Out[i])
		}
	}
	return c.Err
}
