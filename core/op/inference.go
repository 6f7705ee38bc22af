package op

import (
	"encoding/binary"
	"math"
	"strings"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// Form says what a value is made of. Sequences and optionals are values of graphs alone; no tensor of
// the runtime has one.
type Form uint8

// The forms: those of ONNX.
const (
	TensorForm           Form = iota
	SequenceForm              // any number of tensors
	OptionalForm              // a tensor or nothing
	OptionalSequenceForm      // a sequence or nothing
)

// String names the form in messages.
func (f Form) String() string {
	return [...]string{"a tensor", "a sequence", "an optional tensor", "an optional sequence"}[f]
}

// Type is what is known of a value before it is computed. Dimensions may be symbols; see
// [shape.Symbol]. For other forms than TensorForm, dtype and shape are those of the elements, as far as
// they are known.
type Type struct {
	Form  Form
	DType dtype.DType
	Shape shape.Shape
}

// Possible refuses a tensor that no address space holds, whatever sizes its symbols stand for; they count
// as 1.
// It is asked of every result before anything multiplies its dimensions again, so that those products, which
// sizes of memory and strides are, never overflow.
func (t *Type) Possible(who string) error {
	s := t.Shape
	for i, d := range s.Slice() {
		if shape.IsSymbol(d) {
			s.Dims[i] = 1
		}
	}
	if _, err := s.Bytes(t.DType.Size()); err != nil {
		return status.Errorf(status.Invalid, "[%s] %s", who, strings.TrimPrefix(err.Error(), "[shape] "))
	}
	return nil
}

// Const is a tensor whose elements are known when a graph is built.
type Const struct {
	Type
	Bytes []byte // the elements in row-major order, little-endian; read-only
	// Local says that the constant is of one resolution of a graph alone: those for other shapes have others, so that
	// nothing outlives the program that it was made for.
	Local bool
	// Mapped says that the elements are those of a file, which is mapped as long as its model or program is open: pages that
	// were read can be given back to the system.
	Mapped bool
}

// Known is an operand that is known when a graph is built: a constant, or a number where Const is nil.
type Known struct {
	Const  *Const
	Number Value
}

// Ints are the elements of a constant of integers; ok is false for other dtypes.
func (c *Const) Ints() (list []int64, ok bool) {
	if c == nil || !c.DType.IsInt() {
		return nil, false
	}
	size := int(c.DType.Size())
	for at := 0; at+size <= len(c.Bytes); at += size {
		var raw [8]byte
		copy(raw[:], c.Bytes[at:at+size])
		v := int64(binary.LittleEndian.Uint64(raw[:]))
		if shift := 64 - 8*size; c.DType != dtype.Uint8 {
			v = v << shift >> shift
		}
		list = append(list, v)
	}
	return list, true
}

// Arg is what inference sees of an operand.
type Arg struct {
	Type          // of a scalar: dtype Bool, Int64 or Float32 by its Python type, and no dimensions
	Scalar bool   // a Python scalar, weak in promotion
	Absent bool   // an optional input that was not given
	Value  *Value // of a scalar
	Const  *Const // of a tensor whose elements are known; else nil
}

// Axes is a set of axes, bit i for axis i.
type Axes uint16

// Has reports whether axis i is in the set.
func (a Axes) Has(i int) bool { return a&(1<<i) != 0 }

// First is the lowest axis of a set that is not empty.
func (a Axes) First() int {
	for i := range shape.MaxRank {
		if a.Has(i) {
			return i
		}
	}
	return 0
}

// Last reports whether the axes of a set are the last ones of a shape, apart from those of one element.
func (a Axes) Last(s *shape.Shape) bool {
	kept := false // an axis of more than one element, on the way from the last to the first
	for i := s.Rank - 1; i >= 0; i-- {
		if s.Dims[i] == 1 {
			continue
		}
		if a.Has(i) && kept {
			return false
		}
		kept = kept || !a.Has(i)
	}
	return true
}

// Inference is one question to a row and its answer: what a call with these operands and attributes
// is. It can be asked again after Reset, and then allocates nothing.
type Inference struct {
	Row   *Row
	In    []Arg
	Attrs Attrs // complete, see [Row.Fill]
	// NewSymbol makes a symbol for a dimension that follows from others in a way that symbols do not
	// say. It may be nil where no dimension is a symbol.
	NewSymbol func() int64
	Open      bool // there are symbols, which attributes may have too

	// The answer.

	Cast  []dtype.DType // what each input is cast to before the call; Invalid: it stays as it is
	Out   []Type        // the results
	Axes  Axes          // the axes that the operator works along, normalised
	Parts []Part        // of Kind View: where the results lie in In[0]
}

// Reset begins a question about a row. The caller appends the operands to In.
func (c *Inference) Reset(row *Row, at Attrs) {
	c.Row, c.Attrs, c.Axes = row, at, 0
	c.In, c.Cast, c.Out, c.Parts = c.In[:0], c.Cast[:0], append(c.Out[:0], Type{}), c.Parts[:0]
}

// Rule works out a part of the answer, or says what is wrong with the call.
//
// A rule leaves the operands alone and writes the answer, of which Cast and Out are there before it is asked: one cast of
// Invalid an operand, and one result. It must not keep the inference, which is used again, nor allocate where it can do
// without: inference is part of every eager call that has no shorter way.
type Rule func(c *Inference) error

// Rules are asked in order; a later one may use what an earlier one has answered.
type Rules []Rule

// Infer answers: the dtypes and shapes of a call's results, or what is wrong with the call.
func (c *Inference) Infer() error {
	for range c.In {
		c.Cast = append(c.Cast, dtype.Invalid)
	}
	if c.Row.Kind == View {
		return c.inferView()
	}
	for _, rule := range c.Row.Infer {
		if err := rule(c); err != nil {
			return err
		}
	}
	return nil
}

// inferView asks the rule of a view about a contiguous input.
func (c *Inference) inferView() error {
	x := c.In[0].Type
	if err := c.Settle(x.DType); err != nil {
		return err
	}
	l := shape.Contiguous(x.Shape)
	if err := c.Row.View(c, &l); err != nil {
		return err
	}
	c.Out = c.Out[:0]
	for i := range c.Parts {
		c.Out = append(c.Out, Type{DType: x.DType, Shape: c.Parts[i].Shape})
	}
	return nil
}

// Attr finds a value by the attribute's name; every row that uses the rule declares that attribute.
func (c *Inference) Attr(name string) *Value {
	if i := c.Row.AttrIndex(name); i >= 0 {
		return &c.Attrs[i]
	}
	return &Value{}
}

// Settle makes all inputs and the output one dtype, if the row has kernels for it. No operand loses its imaginary part
// but of a cast and of what is written into a tensor.
func (c *Inference) Settle(d dtype.DType) error {
	if !c.Row.Accepts.Has(d) {
		return status.Errorf(status.Unsupported, "[%s] has no kernel for %s; want one of %v", c.Row.Name, d, c.Row.Accepts.Members())
	}
	for i := range c.Cast {
		if x := c.In[i].DType; x.IsComplex() && !d.IsComplex() && c.Row.Kind != Convert && !c.Row.Updates {
			return status.Errorf(status.Unsupported, "[%s] got a tensor of %s where %s is computed; want a cast, which takes the real part", c.Row.Name, x, d)
		}
		c.Cast[i] = d
	}
	c.Out[0].DType = d
	return nil
}

// Unknown is a dimension of which nothing is known.
func (c *Inference) Unknown() int64 {
	if c.NewSymbol == nil {
		panic("op: a symbol is wanted where there are none")
	}
	return c.NewSymbol()
}

// Two symbols may stand for one size, and a symbol for any: what follows refuses only what is wrong for every size. The
// rest is found when the graph is resolved for sizes, by the same rules.

// Differ reports whether two dimensions cannot be equal.
func Differ(x, y int64) bool { return x != y && !shape.IsSymbol(x) && !shape.IsSymbol(y) }

// Broadcast is the common shape of two shapes. Where one dimension is a symbol, the other decides,
// unless it is 1.
func (c *Inference) Broadcast(x, y *shape.Shape) (out shape.Shape, err error) {
	if x.Known() && y.Known() {
		return shape.Broadcast(c.Row.Name, x, y)
	}
	out.Rank = max(x.Rank, y.Rank)
	for i := 1; i <= out.Rank; i++ {
		dx, dy := x.FromEnd(i), y.FromEnd(i)
		d := &out.Dims[out.Rank-i]
		switch {
		case dx == dy || dy == 1:
			*d = dx
		case dx == 1:
			*d = dy
		case Differ(dx, dy):
			_, err = shape.Broadcast(c.Row.Name, x, y)
			return out, err
		case shape.IsSymbol(dx) && shape.IsSymbol(dy):
			*d = c.Unknown()
		default:
			*d = max(dx, dy) // the one that is known
		}
	}
	return out, nil
}

// Unlike reports whether two shapes cannot be equal.
func Unlike(x, y *shape.Shape) bool {
	if x.Rank != y.Rank {
		return true
	}
	for i := range x.Rank {
		if Differ(x.Dims[i], y.Dims[i]) {
			return true
		}
	}
	return false
}

// Arithmetic on dimensions. What cannot be said by a symbol that exists is a new one, of which nothing is known; what
// is too large for an int64 stays a size, because a number below 0 would be taken for a symbol.

// Plus adds dimensions.
func (c *Inference) Plus(x, y int64) int64 {
	switch {
	case x == 0:
		return y
	case y == 0:
		return x
	case shape.IsSymbol(x) || shape.IsSymbol(y):
		return c.Unknown()
	case x > math.MaxInt64-y:
		return math.MaxInt64 // no tensor is that large: a sum below 0 would be a symbol
	}
	return x + y
}

// Times multiplies a dimension by a number that is not negative.
func (c *Inference) Times(d, n int64) int64 {
	switch {
	case n == 1:
		return d
	case shape.IsSymbol(d) && n > 0:
		return c.Unknown()
	case n == 0:
		return 0
	}
	return d * n
}

// InferFromCalls is the rule of composites without another one: the results are those of the calls.
func InferFromCalls(c *Inference) error {
	if d := c.In[0].DType; !c.Row.Accepts.Has(d) {
		return c.Settle(d) // which has the error
	}
	t := typed{of: c}
	calls := Calls{Calculator: &t}
	in := make([]Var, len(c.In))
	for i := range in {
		in[i] = Var(i)
	}
	t.values = append(t.values, c.In...)
	out := c.Row.Calls(&calls, in, c.Attrs)
	if calls.Err != nil {
		_, text, _ := strings.Cut(calls.Err.Error(), "] ")
		return status.Errorf(status.CodeOf(calls.Err), "[%s] %s", c.Row.Name, text)
	}
	c.Out = c.Out[:0]
	for _, v := range out {
		c.Out = append(c.Out, t.values[v].Type)
	}
	return nil
}

// typed is a calculator that computes types alone.
type typed struct {
	of     *Inference
	values []Arg
}

// NewSize is a size in an attribute that follows from symbols in a way that none of them says; false where values are computed and
// all sizes are known.
func (c *Calls) NewSize() (int64, bool) {
	t, ok := c.Calculator.(*typed)
	if !ok || t.of.NewSymbol == nil {
		return 0, false
	}
	return SizeAttr(t.of.NewSymbol()), true
}

// Call infers a call.
func (t *typed) Call(row *Row, in []Var, at Attrs) ([]Var, error) {
	c := Inference{NewSymbol: t.of.NewSymbol, Open: t.of.Open}
	c.Reset(row, at)
	for _, v := range in {
		c.In = append(c.In, t.values[v])
	}
	if err := row.Arity(c.In); err != nil {
		return nil, err
	}
	if err := c.Infer(); err != nil {
		return nil, err
	}
	out := make([]Var, len(c.Out))
	for i := range out {
		out[i] = Var(len(t.values))
		t.values = append(t.values, Arg{Type: c.Out[i]})
	}
	return out, nil
}

// Number adds a Python scalar.
func (t *typed) Number(v Value) Var {
	t.values = append(t.values, Arg{Type: Type{DType: v.DType()}, Scalar: true, Absent: !v.Set(), Value: &v})
	return Var(len(t.values) - 1)
}

// IsNumber reports whether a value is a Python scalar.
func (t *typed) IsNumber(v Var) bool { return t.values[v].Scalar }

// Absent reports whether an operand was left out.
func (t *typed) Absent(v Var) bool { return t.values[v].Absent }

// TypeOf is the dtype and the shape of a value.
func (t *typed) TypeOf(v Var) Type { return t.values[v].Type }
