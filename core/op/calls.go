package op

import (
	"slices"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/shape"
)

// Rules that compute: gradients, and what views are where there is no memory. They are written once, as calls of rows on
// values, and run by each caller that has values.

// Var names a value of a [Calculator].
type Var int

// NoVar stands for a gradient that is zero everywhere, or that is not asked for.
const NoVar Var = -1

// Calculator is what a rule speaks to. One runs calls at once and serves backward passes; another adds nodes to a graph.
// Its values live as long as the calculator.
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

// Calls runs the calls of a rule one after the other. The first error is kept in Err, after which further calls do nothing.
type Calls struct {
	Calculator
	Err error
}

// Do calls a row and returns its first result.
func (c *Calls) Do(id ID, at Attrs, in ...Var) Var {
	out := c.DoMany(id, at, in...)
	if len(out) == 0 {
		return NoVar
	}
	return out[0]
}

// DoMany calls a row and returns its results; none after an error.
//
// The first error ends the rule: what follows is skipped, so that rules need not look at errors.
func (c *Calls) DoMany(id ID, at Attrs, in ...Var) []Var {
	if c.Err != nil {
		return nil
	}
	row := byID[id]
	full := make(Attrs, len(row.Attrs))
	copy(full, at)
	if c.Err = row.Fill(full); c.Err != nil {
		return nil
	}
	out, err := c.Call(row, in, full)
	c.Err = err
	return out
}

// Shape is the shape of a value.
func (c *Calls) Shape(v Var) shape.Shape {
	if c.Err != nil {
		return shape.Shape{}
	}
	return c.TypeOf(v).Shape
}

// Float is a number.
func (c *Calls) Float(f float64) Var { return c.Number(Value{Kind: Float, F: f}) }

// Int is a whole number.
func (c *Calls) Int(n int64) Var { return c.Number(Value{Kind: Int, I: n}) }

// The calls that most rules make, by their names.

// Add is x + y.
func (c *Calls) Add(x, y Var) Var { return c.Do(IDAdd, nil, x, y) }

// Subtract is x - y.
func (c *Calls) Subtract(x, y Var) Var { return c.Do(IDSubtract, nil, x, y) }

// Multiply is x * y.
func (c *Calls) Multiply(x, y Var) Var { return c.Do(IDMultiply, nil, x, y) }

// Divide is x / y.
func (c *Calls) Divide(x, y Var) Var { return c.Do(IDDivide, nil, x, y) }

// Neg is -x.
func (c *Calls) Neg(x Var) Var { return c.Do(IDNeg, nil, x) }

// Square is x * x.
func (c *Calls) Square(x Var) Var { return c.Do(IDSquare, nil, x) }

// Scale is x * f.
func (c *Calls) Scale(x Var, f float64) Var { return c.Multiply(x, c.Float(f)) }

// Plus is x + f.
func (c *Calls) Plus(x Var, f float64) Var { return c.Add(x, c.Float(f)) }

// Where is x where cond holds and y elsewhere.
func (c *Calls) Where(cond, x, y Var) Var { return c.Do(IDWhere, nil, cond, x, y) }

// Zero is the number 0, which where takes the dtype of the other side for.
func (c *Calls) Zero() Var { return c.Float(0) }

// Cast casts a value, unless it has the dtype.
func (c *Calls) Cast(v Var, d dtype.DType) Var {
	if c.Err != nil || c.TypeOf(v).DType == d {
		return v
	}
	return c.Do(IDCast, Attrs{{Kind: DType, I: int64(d)}}, v)
}

// Sum sums over axes, which the result lacks.
func (c *Calls) Sum(v Var, axes []int64) Var {
	return c.Do(IDSum, Attrs{SumAxis: {Kind: Ints, Ints: axes}, SumKeepdim: {Kind: Bool}}, v)
}

// SumKept sums over one axis, which stays with one element.
func (c *Calls) SumKept(v Var, axis int64) Var {
	return c.Do(IDSum, Attrs{SumAxis: {Kind: Ints, Ints: []int64{axis}}, SumKeepdim: {Kind: Bool, I: 1}}, v)
}

// Reshape gives a value another shape.
func (c *Calls) Reshape(v Var, s *shape.Shape) Var {
	if c.Err != nil || c.TypeOf(v).Shape == *s {
		return v
	}
	dims := append([]int64{}, s.Slice()...)
	for i, d := range dims {
		if shape.IsSymbol(d) { // where types alone are computed
			dims[i] = SizeAttr(d)
		}
	}
	return c.Do(IDReshape, Attrs{{Kind: Ints, Ints: dims}}, v)
}

// Expand broadcasts a value to a shape, in new memory.
func (c *Calls) Expand(v Var, s *shape.Shape) Var {
	if c.Err != nil || c.TypeOf(v).Shape == *s {
		return v
	}
	dims := append([]int64{}, s.Slice()...)
	return c.Do(IDExpand, Attrs{{Kind: Ints, Ints: dims}}, v)
}

// Full is a tensor of one value, of the shape and the dtype of another.
func (c *Calls) Full(like Var, f float64) Var {
	if c.Err != nil {
		return NoVar
	}
	t := c.TypeOf(like)
	return c.Filled(&t.Shape, Value{Kind: Float, F: f}, t.DType)
}

// Filled is a tensor of one value. No kernel fills memory with complex numbers: those are a cast of floats, with imaginary
// parts of 0.
func (c *Calls) Filled(s *shape.Shape, v Value, d dtype.DType) Var {
	if d.IsComplex() {
		return c.Cast(c.Filled(s, v, d.Part()), d)
	}
	return c.Do(IDFull, Attrs{
		FullShape: {Kind: Ints, Ints: slices.Clone(s.Slice())}, FullFillValue: v, FullDtype: {Kind: DType, I: int64(d)},
	})
}

// Range is the integers from 0 on, as many as that.
func (c *Calls) Range(n int64) Var {
	if _, is := SymbolIn(n); !is && shape.IsSymbol(n) { // where types alone are computed
		n = SizeAttr(n)
	}
	return c.Do(IDRange, Attrs{
		RangeStart: {Kind: Int}, RangeStep: {Kind: Int, I: 1},
		RangeCount: {Kind: Int, I: n}, RangeDtype: {Kind: DType, I: int64(dtype.Int64)},
	})
}

// Places are the positions of the elements of a value in row-major order, 0, 1, 2, ..., in its shape. A view of them says where its
// elements lie.
func (c *Calls) Places(v Var) Var {
	s := c.Shape(v)
	return c.Reshape(c.Range(s.Numel()), &s)
}

// PutAt is a value with the elements of part at places, which differ.
func (c *Calls) PutAt(before, part, places Var) Var {
	s := c.Shape(before)
	return c.Reshape(c.Do(IDIndexPut, nil, c.Flat(before), part, places), &s)
}

// Flat is a value in one axis.
func (c *Calls) Flat(v Var) Var {
	s := c.Shape(v)
	return c.Do(IDReshape, Attrs{ReshapeShape: {Kind: Ints, Ints: []int64{s.Numel()}}}, v)
}

// Whole is a calculator that runs the call of a composite as one program. Rules of composites are then one call.
type Whole interface {
	Calculator
	RunsWhole() bool
}
