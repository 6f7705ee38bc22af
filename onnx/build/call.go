package build

import (
	"slices"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/onnx/file"
)

// Call is a node while the function of its operator runs. What the function cannot do it refuses, which ends it.
type Call struct {
	*Builder
	Scope   *Scope
	Node    *file.Node
	Opset   int64
	Row     op.ID    // of the operator's entry
	In      []*Value // nil: left out
	Tainted bool     // elements were looked at that depend on the inputs of the model
}

// Refuse ends the function with status.Unsupported. The message says what is not supported and, where that helps,
// what is.
func (c *Call) Refuse(format string, args ...any) {
	panic(refusal{status.Errorf(status.Unsupported, format, args...)})
}

// Wrong ends the function with status.Invalid: the model is wrong, whatever this package supports. Checkers of ONNX
// would refuse the model as well.
func (c *Call) Wrong(format string, args ...any) {
	panic(refusal{status.Errorf(status.Invalid, format, args...)})
}

// Must ends the function on an error.
func (c *Call) Must(err error) {
	if err != nil {
		panic(refusal{err})
	}
}

// Operands.

// Has reports whether operand i is given. Exporters leave operands out by an empty name, or at the end by a shorter
// list; and an optional may be nothing.
func (c *Call) Has(i int) bool { return i < len(c.In) && c.In[i] != nil && !c.In[i].None }

// Wants reports whether the node names result i.
func (c *Call) Wants(i int) bool { return i < len(c.Node.Out) && c.Node.Out[i] != "" }

// X is operand i, a tensor, which has to be given. Functions call it for operands that ONNX does not declare
// optional.
func (c *Call) X(i int) *Value {
	if !c.Has(i) {
		c.Wrong("operand %d is missing", i)
	}
	if c.In[i].IsList {
		c.Wrong("operand %d is a sequence; want a tensor", i)
	}
	c.Must(c.settle(c.In[i]))
	return c.In[i]
}

// Optional is operand i for a row, absent where it is left out.
func (c *Call) Optional(i int) *Value {
	if !c.Has(i) {
		return Absent()
	}
	return c.X(i)
}

// Any is operand i, a tensor or a sequence, which has to be given.
func (c *Call) Any(i int) *Value {
	if !c.Has(i) {
		c.Wrong("operand %d is missing", i)
	}
	return c.In[i]
}

// Passed is operand i, whatever it is: a tensor, a sequence or nothing.
func (c *Call) Passed(i int) *Value {
	if i < len(c.In) && c.In[i] != nil {
		return c.In[i]
	}
	return &Value{None: true}
}

// Look is the elements of a tensor that has to be known while the graph is built. Elements that depend on the inputs
// of a call taint it: its results are not kept for other shapes.
func (c *Call) Look(v *Value, what string) *op.Const {
	if v.Data == nil {
		panic(refusal{c.needs(v, what)})
	}
	c.Room(v.Shape.Numel()) // the caller makes a list of the elements
	c.Tainted = c.Tainted || !v.Fixed
	return v.Data
}

// needs is the error of a value that depends on elements of inputs. Their numbers are those of the inputs that a
// call gives: of a decided model without those that are known. The runtime reads these inputs and asks again with
// their elements; see Model.Given.
func (c *Call) needs(v *Value, what string) error {
	err := error(status.Errorf(status.Unsupported, "%s depends on the elements of an input; want it to follow from constants and shapes", what))
	var list []int
	at := 0
	for i := range c.tensors {
		if c.Builder.known[i] != nil {
			continue
		}
		if v.inputs>>min(i, 63)&1 == 1 {
			list = append(list, at)
		}
		at++
	}
	if len(list) == 0 { // random numbers
		return err
	}
	return &graph.NeedsElements{Inputs: list, Err: err}
}

// Ints are the elements of operand i, integers that have to be known. what names them in errors, as in "the shape".
func (c *Call) Ints(i int, what string) []int64 {
	k := c.Look(c.X(i), what)
	list, ok := k.Ints()
	if !ok {
		c.Wrong("%s is %s; want integers", what, k.DType)
	}
	if list == nil {
		return []int64{} // other than an operand that is left out
	}
	return list
}

// IntsOr is Ints, or the attribute that the operand was in older opsets.
func (c *Call) IntsOr(i int, name, what string) []int64 {
	if !c.Has(i) && c.Given(name) {
		return c.List(name)
	}
	return c.Ints(i, what)
}

// OptionalInts is IntsOr for what may be left out; given says whether it is there.
func (c *Call) OptionalInts(i int, name string) (list []int64, given bool) {
	if !c.Has(i) && !c.Given(name) {
		return nil, false
	}
	return c.IntsOr(i, name, name), true
}

// Number is the one element of a tensor that has to be known. It may have any number of dimensions: exporters write
// 0-d tensors and vectors of one element.
func (c *Call) Number(i int, what string) float64 { return FloatsOf(c.single(i, what))[0] }

// NumberOr is Number of an operand that may be left out.
func (c *Call) NumberOr(i int, what string, otherwise float64) float64 {
	if !c.Has(i) {
		return otherwise
	}
	return c.Number(i, what)
}

// Integer is number for an operand of integers. A float64 does not hold the largest of them: exporters write 2**63 - 1
// where there is no limit.
func (c *Call) Integer(i int, what string) int64 {
	c.single(i, what)
	return c.Ints(i, what)[0]
}

// single is operand i, which has to be known and have one element.
func (c *Call) single(i int, what string) *op.Const {
	x := c.X(i)
	if n := int(x.Shape.Numel()); n != 1 && x.Data != nil {
		c.Wrong("%s has %s; want 1", what, status.Count(n, "element", "elements"))
	}
	return c.Look(x, what)
}

// Attributes.

// Attr is an attribute; nil where it is not given. Within a function it may stand for one of the function's.
// Attributes of a node within a function may refer to attributes of the call of that function.
func (c *Call) Attr(name string) *file.Attribute {
	a := c.Node.Attrs[name]
	if a == nil || a.Ref == "" {
		return a
	}
	return c.Scope.attrs[a.Ref]
}

func (c *Call) Given(name string) bool { return c.Attr(name) != nil }

// kinds are the types of attributes that functions ask for, in the words of an error, by AttributeProto.AttributeType.
var kinds = [...]string{kindFloat: "a float", kindInt: "an int", kindString: "a string", kindFloats: "floats", kindInts: "ints"}

const (
	kindFloat  = 1
	kindInt    = 2
	kindString = 3
	kindFloats = 6
	kindInts   = 7
)

// kind is attr, which has to be of this type: another one has its value in another field, so that this one reads 0. Files
// of the first version of ONNX do not say the type.
func (c *Call) kind(name string, want int64) *file.Attribute {
	a := c.Attr(name)
	if a != nil && a.Kind != 0 && a.Kind != want {
		c.Wrong("attribute %s is of type %d; want %d, %s", name, a.Kind, want, kinds[want])
	}
	return a
}

// Int is an integer.
func (c *Call) Int(name string, otherwise int64) int64 {
	if a := c.kind(name, kindInt); a != nil {
		return a.I
	}
	return otherwise
}

// Yes is an integer that says yes or no.
func (c *Call) Yes(name string, otherwise int64) bool { return c.Int(name, otherwise) != 0 }

// Float is a number.
func (c *Call) Float(name string, otherwise float64) float64 {
	if a := c.kind(name, kindFloat); a != nil {
		return float64(a.F)
	}
	return otherwise
}

func (c *Call) Text(name, otherwise string) string {
	if a := c.kind(name, kindString); a != nil {
		return string(a.S)
	}
	return otherwise
}

// List is a list of integers; nil where it is not given.
func (c *Call) List(name string) []int64 {
	if a := c.kind(name, kindInts); a != nil {
		return a.Ints
	}
	return nil
}

// Floats is a list of numbers; nil where it is not given.
func (c *Call) Floats(name string) []float64 {
	a := c.kind(name, kindFloats)
	if a == nil {
		return nil
	}
	c.Room(int64(len(a.Floats)))
	list := make([]float64, len(a.Floats))
	for i, f := range a.Floats {
		list[i] = float64(f)
	}
	return list
}

// TensorOf is a tensor; nil where it is not given.
func (c *Call) TensorOf(name string) *Value {
	a := c.Attr(name)
	if a == nil || a.T == nil {
		return nil
	}
	k, err := c.Model.Constant(a.T)
	c.Must(err)
	return &Value{Type: k.Type, Elem: a.T.Elem.Lacking(), Data: k}
}

// Elem is an attribute that names an element type, as a dtype of tensors. It is an integer in the file.
func (c *Call) Elem(name string, otherwise dtype.DType) dtype.DType {
	a := c.kind(name, kindInt)
	if a == nil {
		return otherwise
	}
	return c.dtype(file.ElemType(a.I))
}

// dtype is the dtype of tensors with such elements. Types that ONNX has and tensors lack are refused by name.
func (c *Call) dtype(e file.ElemType) dtype.DType {
	d := e.DType()
	if d == dtype.Invalid {
		c.Refuse("elements of type %s are not supported", e)
	}
	return d
}

// Results.

// All calls a row and returns its results. Operands are cast, broadcast and checked as the row says. Where
// everything is known the results are constants.
func (c *Call) All(id op.ID, at op.Attrs, in ...*Value) []*Value {
	out, err := c.apply(op.ByID(id), at, in, c.Tainted)
	c.Must(err)
	return out
}

// Do calls a row and returns its first result.
func (c *Call) Do(id op.ID, at op.Attrs, in ...*Value) *Value { return c.All(id, at, in...)[0] }

// Unary is do for a row with one operand and defaults for its attributes, and binary for one with two. Lists of operands at every
// call would make the library larger.
func (c *Call) Unary(id op.ID, x *Value) *Value { return c.Do(id, nil, x) }

func (c *Call) Binary(id op.ID, x, y *Value) *Value { return c.Do(id, nil, x, y) }

// Axis is an axis of a tensor of a rank, which may count from the end. An error says how many axes there are.
func (c *Call) Axis(i int64, rank int) int {
	a, err := shape.Axis("onnx", i, rank)
	c.Must(err)
	return a
}

// Axes are many, in ascending order. One that is named twice counts once.
func (c *Call) Axes(list []int64, rank int) []int64 {
	if list == nil {
		return nil
	}
	out := c.InOrder(list, rank)
	slices.Sort(out)
	return slices.Compact(out)
}

// InOrder are axes in the order of the list; all where it is nil.
func (c *Call) InOrder(list []int64, rank int) []int64 {
	if list == nil {
		return Count(rank)
	}
	c.Room(int64(len(list)))
	out := make([]int64, len(list))
	for i, a := range list {
		out[i] = int64(c.Axis(a, rank))
	}
	return out
}

// The rows that most operators are made of, under short names. Numbers take the dtype of the tensor beside them.

func (c *Call) Add(x, y *Value) *Value { return c.Binary(op.IDAdd, x, y) }

func (c *Call) Sub(x, y *Value) *Value { return c.Binary(op.IDSubtract, x, y) }

func (c *Call) Mul(x, y *Value) *Value { return c.Binary(op.IDMultiply, x, y) }

func (c *Call) Div(x, y *Value) *Value { return c.Binary(op.IDDivide, x, y) }

func (c *Call) Exp(x *Value) *Value { return c.Unary(op.IDExp, x) }

func (c *Call) Neg(x *Value) *Value { return c.Unary(op.IDNeg, x) }

func (c *Call) Where(yes, x, y *Value) *Value { return c.Do(op.IDWhere, nil, yes, x, y) }

func (c *Call) Matmul(x, y *Value) *Value { return c.Binary(op.IDMatmul, x, y) }

// Cast is x in another dtype. A float that becomes an integer loses its fraction and saturates.
func (c *Call) Cast(x *Value, d dtype.DType) *Value {
	if x.DType == d {
		return x
	}
	return c.Do(op.IDCast, With(op.CastDtype, d), x)
}

// Reshape is x under other dimensions, all of them known. None of them is 0 or -1 in the sense of ONNX:
// call.reshaped has resolved those.
func (c *Call) Reshape(x *Value, dims ...int64) *Value {
	if slices.Equal(x.Dims(), dims) {
		return x
	}
	if len(dims) > shape.MaxRank {
		c.Refuse("a shape of %d dimensions is not supported; want at most %d", len(dims), shape.MaxRank)
	}
	if Product(c.Checked(dims)) != x.Shape.Numel() {
		c.Wrong("a tensor of shape %s cannot have shape %v", &x.Shape, dims)
	}
	if Product(dims) == 0 {
		return c.Constant(x.DType, dims, nil)
	}
	return c.Do(op.IDReshape, With(op.ReshapeShape, dims), x)
}

// Transpose is x with its axes in another order.
func (c *Call) Transpose(x *Value, perm ...int64) *Value {
	for i, a := range perm {
		if int64(i) != a {
			return c.Do(op.IDTranspose, With(op.TransposePerm, perm), x)
		}
	}
	return x
}

// Swap is x with two axes exchanged.
func (c *Call) Swap(x *Value, a, b int) *Value {
	perm := Count(x.Rank())
	perm[a], perm[b] = perm[b], perm[a]
	return c.Transpose(x, perm...)
}

// Unsqueeze adds axes of one element, at these places of the result.
func (c *Call) Unsqueeze(x *Value, axes ...int64) *Value {
	return c.Do(op.IDUnsqueeze, With(op.UnsqueezeAxis, axes), x)
}

// Squeeze drops axes of one element.
func (c *Call) Squeeze(x *Value, axes ...int64) *Value {
	return c.Do(op.IDSqueeze, With(op.SqueezeAxis, axes), x)
}

// Expand is x broadcast to dimensions.
func (c *Call) Expand(x *Value, dims ...int64) *Value {
	if slices.Equal(x.Dims(), dims) {
		return x
	}
	return c.Do(op.IDExpand, With(op.ExpandShape, dims), x)
}

// Slice is a range of indices on one axis, with 0 <= from <= to <= its size.
func (c *Call) Slice(x *Value, axis int, from, to int64) *Value {
	if from == 0 && to == x.Shape.Dims[axis] {
		return x
	}
	return c.Do(op.IDSlice, With(op.SliceAxes, []int64{int64(axis)}, op.SliceStarts, []int64{from}, op.SliceEnds, []int64{to}), x)
}

// Pick is one index of an axis, which is gone. It is a slice of one element without its axis.
func (c *Call) Pick(x *Value, axis int, i int64) *Value {
	return c.Squeeze(c.Slice(x, axis, i, i+1), int64(axis))
}

// Concat joins tensors. A single tensor is returned as it is.
func (c *Call) Concat(axis int, list ...*Value) *Value {
	if len(list) == 1 {
		return list[0]
	}
	return c.Do(op.IDConcat, With(op.ConcatAxis, axis), list...)
}

// Take is the slices of x that these indices name. The indices are constants, computed by functions of this package,
// and not negative.
func (c *Call) Take(x *Value, axis int, indices []int64) *Value {
	return c.Do(op.IDGather, With(op.GatherAxis, axis), x, c.Vector(indices...))
}

// Flip is x with axes reversed.
func (c *Call) Flip(x *Value, axes ...int64) *Value {
	return c.Do(op.IDFlip, With(op.FlipAxis, axes), x)
}

// Full is a tensor of one value, whose dimensions may follow from shapes of inputs. The value is an integer, a float
// or a bool, and is cast.
func (c *Call) Full(d dtype.DType, v op.Value, dims ...int64) *Value {
	return c.Created(op.IDFull, With(op.FullShape, dims, op.FullFillValue, v, op.FullDtype, d))
}

// Created is the result of a row without operands, which counts as a consequence of the shapes of inputs. Masks and
// grids are made this way: they are as large as the input, and another input has others.
func (c *Call) Created(id op.ID, at op.Attrs) *Value {
	out, err := c.apply(op.ByID(id), at, nil, true)
	c.Must(err)
	return out[0]
}

// Sum adds up along axes, which stay as 1 if keep says so, in x's dtype. The row alone would add bools and int32 in
// int64, as Paddle does.
func (c *Call) Sum(x *Value, keep bool, axes ...int64) *Value {
	return c.Do(op.IDSum, With(op.SumAxis, axes, op.SumDtype, x.DType, op.SumKeepdim, keep), x)
}

// Mean is the arithmetic mean along axes, which stay as 1 if keep says so.
func (c *Call) Mean(x *Value, keep bool, axes ...int64) *Value {
	return c.Do(op.IDMean, With(op.MeanAxis, axes, op.MeanKeepdim, keep), x)
}

// Highest is the largest elements along axes.
func (c *Call) Highest(x *Value, keep bool, axes ...int64) *Value {
	return c.Do(op.IDMax, With(op.MaxAxis, axes, op.MaxKeepdim, keep), x)
}

// Softmax is along one axis.
func (c *Call) Softmax(x *Value, axis int) *Value {
	return c.Do(op.IDSoftmax, With(op.SoftmaxAxis, axis), x)
}

// Clamp is x between numbers.
func (c *Call) Clamp(x *Value, low, high float64) *Value {
	return c.Do(op.IDClip, nil, x, Num(low), Num(high))
}

// Constants.

func (c *Call) Vector(list ...int64) *Value { return c.Tensor([]int64{int64(len(list))}, list) }

// Constant is a tensor with these elements, for which there is room. Dimensions are checked: those of an empty tensor
// may have any product.
func (c *Call) Constant(d dtype.DType, dims []int64, raw []byte) *Value {
	made := op.Type{DType: d, Shape: ShapeOf(c.Checked(dims))}
	c.Must(made.Possible("onnx"))
	return c.Builder.constant(d, dims, raw)
}

func (c *Call) Tensor(dims, list []int64) *Value {
	raw := make([]byte, 0, 8*len(list))
	for _, n := range list {
		raw = file.AppendInt(raw, n, 8)
	}
	return c.Constant(dtype.Int64, dims, raw)
}

// Reals is a tensor of numbers in a dtype. They are computed in double precision and rounded once.
func (c *Call) Reals(d dtype.DType, dims []int64, list []float64) *Value {
	raw := make([]byte, 0, int(d.Size())*len(list))
	for _, f := range list {
		v := op.Value{Kind: op.Float, F: f}
		raw = file.AppendInt(raw, int64(v.Bits(d)), int(d.Size()))
	}
	return c.Constant(d, dims, raw)
}

// Count is 0, 1, ..., n-1.
func Count(n int) []int64 {
	list := make([]int64, n)
	for i := range list {
		list[i] = int64(i)
	}
	return list
}

// Steps is the integers below n, laid out along one axis of a tensor of a rank. Compared with others of its kind
// along other axes it makes masks: triangles, diagonals, lengths.
func (c *Call) Steps(n int64, axis, rank int) *Value {
	dims := make([]int64, rank)
	for i := range dims {
		dims[i] = 1
	}
	dims[axis] = n
	return c.Reshape(c.Created(op.IDRange, With(op.RangeStart, 0, op.RangeStep, 1, op.RangeCount, n, op.RangeDtype, dtype.Int64)), dims...)
}

// One is a list with one result.
func One(v *Value) []*Value { return []*Value{v} }
