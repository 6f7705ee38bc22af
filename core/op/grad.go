package op

import "github.com/paddle-mps/paddle-mps/core/shape"

// Grad says how the gradient of an operator is computed: the vector-Jacobian product of reverse-mode differentiation.
//
// The rule is written once, in terms of rows. Eager backward passes, gradients of gradients and compiled backward
// passes run the same rule with different calculators. A row whose results are floats has a rule or is Constant;
// results of other dtypes have no gradient.
type Grad struct {
	Rule     func(*Gradient)
	Reads    Reads                // which values the rule reads; only those are kept until the backward pass
	ReadsOf  func(at Attrs) Reads // in place of Reads, where attributes decide
	Crossed  bool                 // there are two operands, and each is read for the gradient of the other one alone
	Compact  bool                 // operand 0 has to be contiguous
	Once     bool                 // the rule is right, but its own gradient would not be: it has none
	Constant bool                 // the results do not depend on the operands as far as gradients go, as those of argmax
}

// ReadsFor is what the rule reads for a call with these attributes.
func (g *Grad) ReadsFor(at Attrs) Reads {
	if g.ReadsOf != nil {
		return g.ReadsOf(at)
	}
	return g.Reads
}

// Reads is a set of operands and results whose values a rule reads. Their dtypes and shapes are always known.
type Reads uint16

// What a rule may read.
const (
	ReadsX    Reads = 1 << iota // operand 0
	ReadsY                      // operand 1
	ReadsZ                      // operand 2 and all that follow
	ReadsOut                    // result 0
	ReadsNext                   // result 1
)

// Operand reports whether the value of operand i is read.
func (r Reads) Operand(i int) bool { return r&(ReadsX<<min(i, 2)) != 0 }

// Result reports whether the value of result i is read.
func (r Reads) Result(i int) bool { return i < 2 && r&(ReadsOut<<i) != 0 }

// Gradient is one question to a rule and its answer: what the gradients of the operands are, given those of the
// results. An error of a call is that of the answer.
type Gradient struct {
	Calls
	Row   *Row
	Attrs Attrs // complete, see [Row.Fill]
	In    []Var // the operands, as they were given: neither cast nor broadcast
	Out   []Var // the results
	Dy    []Var // the gradients of the results; NoVar for results that nothing depends on, but not for all
	Wants []bool

	// The answer.

	Dx []Var // the gradients of the operands, with their dtypes and shapes; NoVar for zero
}

// Set answers for operand i. dx may have the shape that the operand was broadcast to and any floating dtype: it is
// summed to the operand's shape and cast to its dtype.
//
// A rule may therefore compute with dy as it is, whatever the operands were broadcast and promoted to. It calls Set at most
// once for an operand.
func (g *Gradient) Set(i int, dx Var) {
	if g.Err != nil || dx == NoVar || !g.Wants[i] {
		return
	}
	want := g.TypeOf(g.In[i])
	dx = g.SumTo(dx, &want.Shape)
	g.Dx[i] = g.Cast(dx, want.DType)
}

// SumTo sums a value over the axes along which a shape was broadcast to its own.
//
// Broadcasting repeats an element; its gradient is the sum over the repetitions.
func (g *Gradient) SumTo(v Var, s *shape.Shape) Var {
	if g.Err != nil {
		return v
	}
	t := g.TypeOf(v)
	if t.Shape == *s {
		return v
	}
	var axes []int64
	extra := t.Shape.Rank - s.Rank
	for i := range t.Shape.Rank {
		if i < extra || s.Dims[i-extra] == 1 && t.Shape.Dims[i] != 1 {
			axes = append(axes, int64(i))
		}
	}
	if len(axes) > 0 {
		v = g.Sum(v, axes)
	}
	return g.Reshape(v, s)
}

// dy is the gradient of result i: zeros where nothing depends on it.
func (g *Gradient) dy(i int) Var {
	if g.Dy[i] == NoVar {
		return g.Full(g.Out[i], 0)
	}
	return g.Dy[i]
}

// column is 0, 1, ... along one axis of a tensor of a rank, whose other axes have one element.
func (g *Gradient) column(n int64, rank, axis int) Var {
	r := g.count(n)
	s := shape.Shape{Rank: rank}
	for i := range rank {
		s.Dims[i] = 1
	}
	s.Dims[axis] = n
	return g.Reshape(r, &s)
}
