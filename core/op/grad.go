package op

import (
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// Grad says how the gradient of an operator is computed: the vector-Jacobian product of reverse-mode differentiation.
//
// The rule is written once, in terms of rows. Eager backward passes, gradients of gradients and compiled backward
// passes run the same rule with different calculators. A row whose results are floats has a rule or is Constant;
// results of other dtypes have no gradient.
type Grad struct {
	Rule     func(*Gradient)
	Reads    Reads                // which values the rule reads; only those are kept until the backward pass
	ReadsOf  func(at Attrs) Reads // in place of Reads, where attributes decide
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

// Var names a value of a [Calculator].
type Var int

// NoVar stands for a gradient that is zero everywhere, or that is not asked for.
const NoVar Var = -1

// Calculator is what a rule speaks to. One that runs calls at once serves eager backward passes, one that adds nodes
// to a graph serves compiled ones. Its values live as long as the calculator.
type Calculator interface {
	// Call runs a row on values, with whatever the call implies: promotion, casts and broadcasting.
	Call(row *Row, in []Var, at Attrs) ([]Var, error)
	// Number is a Python scalar, weak in promotion.
	Number(v Value) Var
	// IsNumber reports whether a value is a Python scalar.
	IsNumber(v Var) bool
	// Absent reports whether an operand was left out.
	Absent(v Var) bool
	// TypeOf is the dtype and the shape of a value. All dimensions are known.
	TypeOf(v Var) Type
}

// Gradient is one question to a rule and its answer: what the gradients of the operands are, given those of the
// results. The first error of a call is kept in Err, after which further calls do nothing.
type Gradient struct {
	Calculator
	Row   *Row
	Attrs Attrs // complete, see [Row.Fill]
	In    []Var // the operands, as they were given: neither cast nor broadcast
	Out   []Var // the results
	Dy    []Var // the gradients of the results; NoVar for results that nothing depends on, but not for all
	Wants []bool

	// The answer.

	Dx  []Var // the gradients of the operands, with their dtypes and shapes; NoVar for zero
	Err error
}

// Differentiate asks the rule of the row.
func (g *Gradient) Differentiate() error {
	g.Dx = make([]Var, len(g.In))
	for i := range g.Dx {
		g.Dx[i] = NoVar
	}
	if g.Row.Grad.Rule == nil {
		return status.Errorf(status.Unsupported, "[%s] has no gradient", g.Row.Name)
	}
	g.Row.Grad.Rule(g)
	return g.Err
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

// Do calls a row and returns its first result.
func (g *Gradient) Do(id ID, at Attrs, in ...Var) Var {
	out := g.DoMany(id, at, in...)
	if len(out) == 0 {
		return NoVar
	}
	return out[0]
}

// DoMany calls a row and returns its results; none after an error.
//
// The first error ends the rule: what follows is skipped, so that rules need not look at errors.
func (g *Gradient) DoMany(id ID, at Attrs, in ...Var) []Var {
	if g.Err != nil {
		return nil
	}
	row := byID[id]
	full := make(Attrs, len(row.Attrs))
	copy(full, at)
	out, err := g.Call(row, in, full)
	g.Err = err
	return out
}

// Shape is the shape of a value.
func (g *Gradient) Shape(v Var) shape.Shape {
	if g.Err != nil {
		return shape.Shape{}
	}
	return g.TypeOf(v).Shape
}

// Float is a number.
func (g *Gradient) Float(f float64) Var { return g.Number(Value{Kind: Float, F: f}) }

// The calls that most rules make, by their names.

func (g *Gradient) add(x, y Var) Var           { return g.Do(IDAdd, nil, x, y) }
func (g *Gradient) subtract(x, y Var) Var      { return g.Do(IDSubtract, nil, x, y) }
func (g *Gradient) multiply(x, y Var) Var      { return g.Do(IDMultiply, nil, x, y) }
func (g *Gradient) divide(x, y Var) Var        { return g.Do(IDDivide, nil, x, y) }
func (g *Gradient) neg(x Var) Var              { return g.Do(IDNeg, nil, x) }
func (g *Gradient) square(x Var) Var           { return g.Do(IDSquare, nil, x) }
func (g *Gradient) scale(x Var, f float64) Var { return g.multiply(x, g.Float(f)) }
func (g *Gradient) plus(x Var, f float64) Var  { return g.add(x, g.Float(f)) }
func (g *Gradient) where(c, x, y Var) Var      { return g.Do(IDWhere, nil, c, x, y) }

// zero is the number 0, which where takes the dtype of the other side for.
func (g *Gradient) zero() Var { return g.Float(0) }

// Cast casts a value, unless it has the dtype.
func (g *Gradient) Cast(v Var, d dtype.DType) Var {
	if g.Err != nil || g.TypeOf(v).DType == d {
		return v
	}
	return g.Do(IDCast, Attrs{{Kind: DType, I: int64(d)}}, v)
}

// Sum sums over axes, which the result lacks.
func (g *Gradient) Sum(v Var, axes []int64) Var {
	return g.Do(IDSum, Attrs{SumAxis: {Kind: Ints, Ints: axes}, SumKeepdim: {Kind: Bool}}, v)
}

// sumKept sums over one axis, which stays with one element.
func (g *Gradient) sumKept(v Var, axis int64) Var {
	return g.Do(IDSum, Attrs{SumAxis: {Kind: Ints, Ints: []int64{axis}}, SumKeepdim: {Kind: Bool, I: 1}}, v)
}

// Reshape gives a value another shape.
func (g *Gradient) Reshape(v Var, s *shape.Shape) Var {
	if g.Err != nil || g.TypeOf(v).Shape == *s {
		return v
	}
	dims := append([]int64{}, s.Slice()...)
	return g.Do(IDReshape, Attrs{{Kind: Ints, Ints: dims}}, v)
}

// Expand broadcasts a value to a shape, in new memory.
func (g *Gradient) Expand(v Var, s *shape.Shape) Var {
	if g.Err != nil || g.TypeOf(v).Shape == *s {
		return v
	}
	dims := append([]int64{}, s.Slice()...)
	return g.Do(IDExpand, Attrs{{Kind: Ints, Ints: dims}}, v)
}

// Full is a tensor of one value, of the shape and the dtype of another.
func (g *Gradient) Full(like Var, f float64) Var {
	if g.Err != nil {
		return NoVar
	}
	t := g.TypeOf(like)
	return g.Do(IDFull, Attrs{
		FullShape:     {Kind: Ints, Ints: append([]int64{}, t.Shape.Slice()...)},
		FullFillValue: {Kind: Float, F: f},
		FullDtype:     {Kind: DType, I: int64(t.DType)},
	})
}

// dy is the gradient of result i: zeros where nothing depends on it.
func (g *Gradient) dy(i int) Var {
	if g.Dy[i] == NoVar {
		return g.Full(g.Out[i], 0)
	}
	return g.Dy[i]
}

// count is the integers from 0 on, as many as that.
func (g *Gradient) count(n int64) Var {
	return g.Do(IDRange, Attrs{
		RangeStart: {Kind: Int}, RangeStep: {Kind: Int, I: 1},
		RangeCount: {Kind: Int, I: n}, RangeDtype: {Kind: DType, I: int64(dtype.Int64)},
	})
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
