package onnx

import (
	"slices"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// call is a node while the function of its operator runs. What the function cannot do it refuses, which ends it.
type call struct {
	*builder
	scope   *scope
	node    *Node
	opset   int64
	row     op.ID    // of the operator's entry
	in      []*value // nil: left out
	tainted bool     // elements were looked at that depend on the inputs of the model
}

// refuse ends the function with status.Unsupported. The message says what is not supported and, where that helps,
// what is.
func (c *call) refuse(format string, args ...any) {
	panic(refusal{status.Errorf(status.Unsupported, format, args...)})
}

// wrong ends the function with status.Invalid: the model is wrong, whatever this package supports. Checkers of ONNX
// would refuse the model as well.
func (c *call) wrong(format string, args ...any) {
	panic(refusal{status.Errorf(status.Invalid, format, args...)})
}

// must ends the function on an error.
func (c *call) must(err error) {
	if err != nil {
		panic(refusal{err})
	}
}

// Operands.

// has reports whether operand i is given. Exporters leave operands out by an empty name, or at the end by a shorter
// list; and an optional may be nothing.
func (c *call) has(i int) bool { return i < len(c.in) && c.in[i] != nil && !c.in[i].none }

// wants reports whether the node names result i.
func (c *call) wants(i int) bool { return i < len(c.node.Out) && c.node.Out[i] != "" }

// x is operand i, a tensor, which has to be given. Functions call it for operands that ONNX does not declare
// optional.
func (c *call) x(i int) *value {
	if !c.has(i) {
		c.wrong("operand %d is missing", i)
	}
	if c.in[i].isList {
		c.wrong("operand %d is a sequence; want a tensor", i)
	}
	c.must(c.settle(c.in[i]))
	return c.in[i]
}

// any is operand i, a tensor or a sequence, which has to be given.
func (c *call) any(i int) *value {
	if !c.has(i) {
		c.wrong("operand %d is missing", i)
	}
	return c.in[i]
}

// passed is operand i, whatever it is: a tensor, a sequence or nothing.
func (c *call) passed(i int) *value {
	if i < len(c.in) && c.in[i] != nil {
		return c.in[i]
	}
	return &value{none: true}
}

// look is the elements of a tensor that has to be known while the graph is built. Elements that depend on the inputs
// of a call taint it: its results are not kept for other shapes.
func (c *call) look(v *value, what string) *op.Const {
	if v.data == nil {
		panic(refusal{c.needs(v, what)})
	}
	c.room(v.Shape.Numel()) // the caller makes a list of the elements
	c.tainted = c.tainted || !v.fixed
	return v.data
}

// needs is the error of a value that depends on elements of inputs. Their numbers are those of the inputs that a
// call gives: of a decided model without those that are known. The runtime reads these inputs and asks again with
// their elements; see Model.Given.
func (c *call) needs(v *value, what string) error {
	err := error(status.Errorf(status.Unsupported, "%s depends on the elements of an input; want it to follow from constants and shapes", what))
	var list []int
	at := 0
	for i := range c.tensors {
		if c.builder.known[i] != nil {
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

// ints are the elements of operand i, integers that have to be known. what names them in errors, as in "the shape".
func (c *call) ints(i int, what string) []int64 {
	k := c.look(c.x(i), what)
	list, ok := k.Ints()
	if !ok {
		c.wrong("%s is %s; want integers", what, k.DType)
	}
	return list
}

// number is the one element of a tensor that has to be known. It may have any number of dimensions: exporters write
// 0-d tensors and vectors of one element.
func (c *call) number(i int, what string) float64 { return floatsOf(c.single(i, what))[0] }

// integer is number for an operand of integers. A float64 does not hold the largest of them: exporters write 2**63 - 1
// where there is no limit.
func (c *call) integer(i int, what string) int64 {
	c.single(i, what)
	return c.ints(i, what)[0]
}

// single is operand i, which has to be known and have one element.
func (c *call) single(i int, what string) *op.Const {
	x := c.x(i)
	if n := int(x.Shape.Numel()); n != 1 && x.data != nil {
		c.wrong("%s has %s; want 1", what, status.Count(n, "element", "elements"))
	}
	return c.look(x, what)
}

// Attributes.

// attr is an attribute; nil where it is not given. Within a function it may stand for one of the function's.
// Attributes of a node within a function may refer to attributes of the call of that function.
func (c *call) attr(name string) *Attribute {
	a := c.node.Attrs[name]
	if a == nil || a.Ref == "" {
		return a
	}
	return c.scope.attrs[a.Ref]
}

func (c *call) given(name string) bool { return c.attr(name) != nil }

// kinds are the types of attributes that functions ask for, in the words of an error, by AttributeProto.AttributeType.
var kinds = [...]string{kindFloat: "a float", kindInt: "an int", kindString: "a string", kindInts: "ints"}

const (
	kindFloat  = 1
	kindInt    = 2
	kindString = 3
	kindInts   = 7
)

// kind is attr, which has to be of this type: another one has its value in another field, so that this one reads 0. Files
// of the first version of ONNX do not say the type.
func (c *call) kind(name string, want int64) *Attribute {
	a := c.attr(name)
	if a != nil && a.Kind != 0 && a.Kind != want {
		c.wrong("attribute %s is of type %d; want %d, %s", name, a.Kind, want, kinds[want])
	}
	return a
}

// int is an integer.
func (c *call) int(name string, otherwise int64) int64 {
	if a := c.kind(name, kindInt); a != nil {
		return a.I
	}
	return otherwise
}

// yes is an integer that says yes or no.
func (c *call) yes(name string, otherwise int64) bool { return c.int(name, otherwise) != 0 }

// float is a number.
func (c *call) float(name string, otherwise float64) float64 {
	if a := c.kind(name, kindFloat); a != nil {
		return float64(a.F)
	}
	return otherwise
}

func (c *call) text(name, otherwise string) string {
	if a := c.kind(name, kindString); a != nil {
		return string(a.S)
	}
	return otherwise
}

// list is a list of integers; nil where it is not given.
func (c *call) list(name string) []int64 {
	if a := c.kind(name, kindInts); a != nil {
		return a.Ints
	}
	return nil
}

// elem is an attribute that names an element type, as a dtype of tensors. It is an integer in the file.
func (c *call) elem(name string, otherwise dtype.DType) dtype.DType {
	a := c.kind(name, kindInt)
	if a == nil {
		return otherwise
	}
	return c.dtype(ElemType(a.I))
}

// dtype is the dtype of tensors with such elements. Types that ONNX has and tensors lack are refused by name.
func (c *call) dtype(e ElemType) dtype.DType {
	d := e.DType()
	if d == dtype.Invalid {
		c.refuse("elements of type %s are not supported", e)
	}
	return d
}

// Results.

// all calls a row and returns its results. Operands are cast, broadcast and checked as the row says. Where
// everything is known the results are constants.
func (c *call) all(id op.ID, at op.Attrs, in ...*value) []*value {
	out, err := c.apply(op.ByID(id), at, in, c.tainted)
	c.must(err)
	return out
}

// do calls a row and returns its first result.
func (c *call) do(id op.ID, at op.Attrs, in ...*value) *value { return c.all(id, at, in...)[0] }

// unary is do for a row with one operand and defaults for its attributes, and binary for one with two. Lists of operands at every
// call would make the library larger.
func (c *call) unary(id op.ID, x *value) *value { return c.do(id, nil, x) }

func (c *call) binary(id op.ID, x, y *value) *value { return c.do(id, nil, x, y) }

// axis is an axis of a tensor of a rank, which may count from the end. An error says how many axes there are.
func (c *call) axis(i int64, rank int) int {
	a, err := shape.Axis("onnx", i, rank)
	c.must(err)
	return a
}

// axes are many, in ascending order. One that is named twice counts once.
func (c *call) axes(list []int64, rank int) []int64 {
	c.room(int64(len(list)))
	out := make([]int64, len(list))
	for i, a := range list {
		out[i] = int64(c.axis(a, rank))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// The rows that most operators are made of, under short names. Numbers take the dtype of the tensor beside them.

func (c *call) add(x, y *value) *value { return c.binary(op.IDAdd, x, y) }

func (c *call) sub(x, y *value) *value { return c.binary(op.IDSubtract, x, y) }

func (c *call) mul(x, y *value) *value { return c.binary(op.IDMultiply, x, y) }

func (c *call) div(x, y *value) *value { return c.binary(op.IDDivide, x, y) }

func (c *call) exp(x *value) *value { return c.unary(op.IDExp, x) }

func (c *call) neg(x *value) *value { return c.unary(op.IDNeg, x) }

func (c *call) where(yes, x, y *value) *value { return c.do(op.IDWhere, nil, yes, x, y) }

func (c *call) matmul(x, y *value) *value { return c.binary(op.IDMatmul, x, y) }

// cast is x in another dtype. A float that becomes an integer loses its fraction and saturates.
func (c *call) cast(x *value, d dtype.DType) *value {
	if x.DType == d {
		return x
	}
	return c.do(op.IDCast, with(op.CastDtype, d), x)
}

// reshape is x under other dimensions, all of them known. None of them is 0 or -1 in the sense of ONNX:
// call.reshaped has resolved those.
func (c *call) reshape(x *value, dims ...int64) *value {
	if slices.Equal(x.dims(), dims) {
		return x
	}
	if len(dims) > shape.MaxRank {
		c.refuse("a shape of %d dimensions is not supported; want at most %d", len(dims), shape.MaxRank)
	}
	if product(c.checked(dims)) != x.Shape.Numel() {
		c.wrong("a tensor of shape %s cannot have shape %v", &x.Shape, dims)
	}
	if product(dims) == 0 {
		return c.constant(x.DType, dims, nil)
	}
	return c.do(op.IDReshape, with(op.ReshapeShape, dims), x)
}

// transpose is x with its axes in another order.
func (c *call) transpose(x *value, perm ...int64) *value {
	for i, a := range perm {
		if int64(i) != a {
			return c.do(op.IDTranspose, with(op.TransposePerm, perm), x)
		}
	}
	return x
}

// swap is x with two axes exchanged.
func (c *call) swap(x *value, a, b int) *value {
	perm := count(x.rank())
	perm[a], perm[b] = perm[b], perm[a]
	return c.transpose(x, perm...)
}

// unsqueeze adds axes of one element, at these places of the result.
func (c *call) unsqueeze(x *value, axes ...int64) *value {
	return c.do(op.IDUnsqueeze, with(op.UnsqueezeAxis, axes), x)
}

// squeeze drops axes of one element.
func (c *call) squeeze(x *value, axes ...int64) *value {
	return c.do(op.IDSqueeze, with(op.SqueezeAxis, axes), x)
}

// expand is x broadcast to dimensions.
func (c *call) expand(x *value, dims ...int64) *value {
	if slices.Equal(x.dims(), dims) {
		return x
	}
	return c.do(op.IDExpand, with(op.ExpandShape, dims), x)
}

// slice is a range of indices on one axis, with 0 <= from <= to <= its size.
func (c *call) slice(x *value, axis int, from, to int64) *value {
	if from == 0 && to == x.Shape.Dims[axis] {
		return x
	}
	return c.do(op.IDSlice, with(op.SliceAxes, []int64{int64(axis)}, op.SliceStarts, []int64{from}, op.SliceEnds, []int64{to}), x)
}

// pick is one index of an axis, which is gone. It is a slice of one element without its axis.
func (c *call) pick(x *value, axis int, i int64) *value {
	return c.squeeze(c.slice(x, axis, i, i+1), int64(axis))
}

// concat joins tensors. A single tensor is returned as it is.
func (c *call) concat(axis int, list ...*value) *value {
	if len(list) == 1 {
		return list[0]
	}
	return c.do(op.IDConcat, with(op.ConcatAxis, axis), list...)
}

// take is the slices of x that these indices name. The indices are constants, computed by functions of this package,
// and not negative.
func (c *call) take(x *value, axis int, indices []int64) *value {
	return c.do(op.IDGather, with(op.GatherAxis, axis), x, c.vector(indices...))
}

// flip is x with axes reversed.
func (c *call) flip(x *value, axes ...int64) *value {
	return c.do(op.IDFlip, with(op.FlipAxis, axes), x)
}

// full is a tensor of one value, whose dimensions may follow from shapes of inputs. The value is an integer, a float
// or a bool, and is cast.
func (c *call) full(d dtype.DType, v op.Value, dims ...int64) *value {
	return c.created(op.IDFull, with(op.FullShape, dims, op.FullFillValue, v, op.FullDtype, d))
}

// created is the result of a row without operands, which counts as a consequence of the shapes of inputs. Masks and
// grids are made this way: they are as large as the input, and another input has others.
func (c *call) created(id op.ID, at op.Attrs) *value {
	out, err := c.apply(op.ByID(id), at, nil, true)
	c.must(err)
	return out[0]
}

// sum adds up along axes, which stay as 1 if keep says so, in x's dtype. The row alone would add bools and int32 in
// int64, as Paddle does.
func (c *call) sum(x *value, keep bool, axes ...int64) *value {
	return c.do(op.IDSum, with(op.SumAxis, axes, op.SumDtype, x.DType, op.SumKeepdim, keep), x)
}

// mean is the arithmetic mean along axes, which stay as 1 if keep says so.
func (c *call) mean(x *value, keep bool, axes ...int64) *value {
	return c.do(op.IDMean, with(op.MeanAxis, axes, op.MeanKeepdim, keep), x)
}

// highest is the largest elements along axes.
func (c *call) highest(x *value, keep bool, axes ...int64) *value {
	return c.do(op.IDMax, with(op.MaxAxis, axes, op.MaxKeepdim, keep), x)
}

// softmax is along one axis.
func (c *call) softmax(x *value, axis int) *value {
	return c.do(op.IDSoftmax, with(op.SoftmaxAxis, axis), x)
}

// clamp is x between numbers.
func (c *call) clamp(x *value, low, high float64) *value {
	return c.do(op.IDClip, nil, x, num(low), num(high))
}

// Constants.

func (c *call) vector(list ...int64) *value { return c.tensor([]int64{int64(len(list))}, list) }

// constant is a tensor with these elements, for which there is room. Dimensions are checked: those of an empty tensor
// may have any product.
func (c *call) constant(d dtype.DType, dims []int64, raw []byte) *value {
	made := op.Type{DType: d, Shape: shapeOf(c.checked(dims))}
	c.must(made.Possible("onnx"))
	return c.builder.constant(d, dims, raw)
}

func (c *call) tensor(dims, list []int64) *value {
	raw := make([]byte, 0, 8*len(list))
	for _, n := range list {
		raw = appendInt(raw, n, 8)
	}
	return c.constant(dtype.Int64, dims, raw)
}

// reals is a tensor of numbers in a dtype. They are computed in double precision and rounded once.
func (c *call) reals(d dtype.DType, dims []int64, list []float64) *value {
	raw := make([]byte, 0, int(d.Size())*len(list))
	for _, f := range list {
		v := op.Value{Kind: op.Float, F: f}
		raw = appendInt(raw, int64(v.Bits(d)), int(d.Size()))
	}
	return c.constant(d, dims, raw)
}

// count is 0, 1, ..., n-1.
func count(n int) []int64 {
	list := make([]int64, n)
	for i := range list {
		list[i] = int64(i)
	}
	return list
}

// steps is the integers below n, laid out along one axis of a tensor of a rank. Compared with others of its kind
// along other axes it makes masks: triangles, diagonals, lengths.
func (c *call) steps(n int64, axis, rank int) *value {
	dims := make([]int64, rank)
	for i := range dims {
		dims[i] = 1
	}
	dims[axis] = n
	return c.reshape(c.created(op.IDRange, with(op.RangeStart, 0, op.RangeStep, 1, op.RangeCount, n, op.RangeDtype, dtype.Int64)), dims...)
}

// one is a list with one result.
func one(v *value) []*value { return []*value{v} }
