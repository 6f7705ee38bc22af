package onnx

import (
	"slices"
	"strings"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// Element types that tensors lack: unsigned integers of 16 bits and more, 8-bit floats, elements of 4 and 2 bits, and strings. A tensor
// of another dtype carries their bits, in the graph as in inputs and outputs of a model:
//
//   - Unsigned integers are the signed integers of the same size with the same bits. Sums and products wrap around, so that
//     those of signed integers have the right bits; ops_unsigned.go has what differs.
//   - An element of 8 bits or less is a byte, uint8, whose low bits it is; see ops_small.go. Files have several in a byte.
//   - A string is its number in the table of a run, int64; see strings.go.
//
// A value knows the type of its elements (value.elem). Rows do not: the result of one is a tensor of the dtype that carries.
// Functions of operators are therefore only called with such operands where the table of treatments says what happens, and
// their results get the type back here. Every other operator is refused with the name of the type.

// lacking is the type where tensors lack it and something carries it, and else 0.
func (e ElemType) lacking() ElemType {
	if e.DType() == e.carrier() {
		return 0
	}
	return e
}

// textOf is the name of a dtype where elements of a type are expected, for errors: that of the type if it is what carries it.
func (e ElemType) textOf(d dtype.DType) string {
	if e.lacking() != 0 && d == e.carrier() {
		return e.String()
	}
	return d.String()
}

// unsigned reports whether elements are unsigned integers that signed ones carry.
func (e ElemType) unsigned() bool { return e == elemUint16 || e == elemUint32 || e == elemUint64 }

// The element types that functions name.
const (
	elemUint16     ElemType = 4
	elemString     ElemType = 8
	elemUint32     ElemType = 12
	elemUint64     ElemType = 13
	elemUint4      ElemType = 21
	elemInt4       ElemType = 22
	elemFloat4E2M1 ElemType = 23
	elemFloat8E8M0 ElemType = 24
	elemUint2      ElemType = 25
	elemInt2       ElemType = 26
)

// bits is how many bits an element takes in a file, where that is less than a byte; otherwise 0.
func (e ElemType) bits() int {
	switch e {
	case elemUint4, elemInt4, elemFloat4E2M1:
		return 4
	case elemUint2, elemInt2:
		return 2
	}
	return 0
}

// carried lists the types of elements that models may have, for errors.
func carried() string {
	var names []string
	for _, e := range elems {
		if e.carrier != dtype.Invalid {
			names = append(names, e.name)
		}
	}
	return strings.Join(names, ", ")
}

// unpacked is n elements that take a byte each, of bytes that have several, the first in the lowest bits. Elements of a byte
// or more are returned as they are.
func (t *Tensor) unpacked(packed []byte, n int64) ([]byte, error) {
	bits := t.Elem.bits()
	if bits == 0 {
		return packed, nil
	}
	each := int64(8 / bits)
	if int64(len(packed)) != n/each+min(n%each, 1) {
		return nil, status.Errorf(status.Invalid, "[onnx] tensor %q has %s; want %s of %s, %d in a byte", t.Name, status.Count(len(packed), "byte", "bytes"), status.Count(int(n), "element", "elements"), t.Elem, each)
	}
	made := make([]byte, n)
	for i := range made {
		made[i] = packed[int64(i)/each] >> (i % int(each) * bits) & (1<<bits - 1)
	}
	return made, nil
}

// as is the value with elements of a type that tensors lack, which it carries; 0: of its dtype. The value itself may be
// an operand and stays what it is.
func (v *value) as(e ElemType) *value {
	if v.elem == e {
		return v
	}
	made := *v
	made.elem = e
	return &made
}

// elemText is the name of the type of elements, for errors.
func (v *value) elemText() string {
	if v.elem != 0 {
		return v.elem.String()
	}
	return v.DType.String()
}

// carrier is the dtype of tensors that carry elements of a type. Types that nothing carries are refused by name.
func (c *call) carrier(e ElemType) dtype.DType {
	if d := e.carrier(); d != dtype.Invalid {
		return d
	}
	return c.dtype(e)
}

// alike is the type that the elements of all tensors of a list have; see [value.as].
func (c *call) alike(list []*value) ElemType {
	for _, v := range list {
		if v.elem != list[0].elem {
			c.wrong("elements are %s and %s; want one type", list[0].elemText(), v.elemText())
		}
	}
	return list[0].elem
}

// treatment is what an operator does with elements of types that tensors lack.
type treatment struct {
	how     how
	data    uint32 // operands that may have such elements, bit i for operand i; bit 31 for all from there on
	results uint32 // results that have them, likewise; the others have the dtype that the function gives them
}

// how is a kind of treatment.
type how uint8

const (
	refuses how = iota
	passes      // the function hands values on, or looks at nothing but their shapes
	moves       // results are elements of operands, at other places
	fills       // moves, compares for equality, or makes zeros, which are empty strings
	wraps       // the same, or computes in a way that is the same for signed and unsigned integers
	orders      // compares unsigned integers: with the highest bit the other way round they have the order of signed ones
	decodes     // computes with the numbers that elements stand for
	itself      // the function knows all types
)

const every = ^uint32(0)

// treatmentRows are the operators that know these types, those of one treatment on a line.
var treatmentRows = [...]struct {
	names string
	treatment
}{
	{"If Loop Scan Identity Shape Size Optional OptionalGetElement OptionalHasElement SequenceConstruct SequenceAt SequenceInsert SequenceErase SequenceLength SequenceMap", treatment{how: passes}},
	{"Reshape Transpose Squeeze Unsqueeze Flatten Expand Slice Split Tile DepthToSpace SpaceToDepth ReverseSequence Gather GatherElements GatherND Compress ai.onnx.ml:ArrayFeatureExtractor", treatment{moves, 1, every}},
	{"Concat", treatment{moves, every, every}},
	{"Where", treatment{moves, 0b110, every}},
	{"OneHot", treatment{moves, 0b100, every}},
	{"BitwiseNot ReduceSum ReduceProd CumSum", treatment{wraps, 1, every}},
	{"Trilu CenterCropPad", treatment{fills, 1, every}},
	{"Add Sub Mul Div Mod Sum BitShift BitwiseAnd BitwiseOr BitwiseXor MatMul", treatment{wraps, every, every}},
	{"Pad Scatter ScatterElements ScatterND", treatment{fills, 0b101, every}},
	{"TensorScatter", treatment{fills, 0b11, every}},
	{"NonZero", treatment{fills, 1, 0}},
	{"Equal", treatment{fills, 0b11, 0}},
	{"Max Min Clip", treatment{orders, every, every}},
	{"ReduceMax ReduceMin TopK", treatment{orders, 1, 1}},
	{"ArgMax ArgMin", treatment{orders, 1, 0}},
	{"Less LessOrEqual Greater GreaterOrEqual", treatment{orders, every, 0}},
	{"Cast CastLike BitCast QuantizeLinear com.microsoft:QuantizeLinear SplitToSequence ConcatFromSequence Unique", treatment{how: itself}},
	{"StringConcat StringSplit StringNormalizer TfIdfVectorizer ai.onnx.ml:LabelEncoder ai.onnx.ml:CategoryMapper", treatment{how: itself}},
	{"DequantizeLinear com.microsoft:DequantizeLinear", treatment{decodes, 0b101, 0}},
	{"Pow", treatment{decodes, 0b10, 0}},
}

// treatments are the rows by name of the operator.
var treatments = map[string]treatment{}

func init() {
	for i := range treatmentRows {
		for _, name := range strings.Fields(treatmentRows[i].names) {
			treatments[name] = treatmentRows[i].treatment
		}
	}
}

// lacking is a type of elements of operands that tensors lack, be it in a sequence; 0 where there is none.
func lacking(list []*value) ElemType {
	for _, v := range list {
		if v == nil {
			continue
		}
		if e := max(v.elem, lacking(v.list)); e != 0 {
			return e
		}
	}
	return 0
}

// results calls the function of the operator, which may be one of the model. Operands of types that tensors lack are
// treated as the operator is listed. A function of the model is expanded, and its nodes are looked at one by one; so are those
// of graphs in attributes, which read values of the graphs around them as well.
func (c *call) results(e *entry) []*value {
	elem := lacking(c.in)
	if elem == 0 || e.name == "" {
		return e.build(c)
	}
	t := treatments[e.name]
	switch {
	case t.how == passes || t.how == itself:
		return e.build(c)
	case t.how == refuses || !elem.unsigned() && (t.how == wraps || t.how == orders) || elem != elemString && !elem.unsigned() && t.how == fills || elem == elemString && t.how == decodes:
		c.refuse("elements of type %s are not supported", elem)
	}
	c.treat(t, elem)
	out := e.build(c)
	for i, v := range out {
		if v != nil && t.results>>min(i, 31)&1 == 1 {
			if t.how == orders {
				v = c.reordered(v)
			}
			out[i] = v.as(elem)
		}
	}
	return out
}

// Strings take part in what moves them, compares them for equality or makes zeros, since 0 is the number of the empty string. The
// order of their numbers means nothing, and neither does a sum.

// treat checks the operands and replaces those that the function cannot take as they are. All operands that count have
// elements of one type, but where these are decoded. The others, such as indices and axes, have to have dtypes of tensors.
//
// The largest and the smallest of elements that are scattered to one place would need another order than their sums and
// products, which only the bits of signed integers have. An attribute decides which of them a node wants.
func (c *call) treat(t treatment, elem ElemType) {
	if how := c.text("reduction", "none"); how == "min" || how == "max" || how != "none" && elem == elemString {
		c.refuse("reduction %s of elements of type %s is not supported", how, elem)
	}
	if t.how == decodes && t.data&1 == 1 { // the first operand of a DequantizeLinear
		c.quantizes(elem)
	}
	c.in = slices.Clone(c.in)
	counts := func(i int) bool { return t.data>>min(i, 31)&1 == 1 }
	for i, v := range c.in { // first, because indices that are strings are no reason to want data that are strings
		if c.has(i) && !v.isList && v.elem != 0 && !counts(i) {
			c.refuse("operand %d of elements of type %s is not supported", i, v.elem)
		}
	}
	for i, v := range c.in {
		switch {
		case !c.has(i):
		case v.isList:
			c.x(i) // the error
		case v.elem == 0 && (!counts(i) || t.how == decodes):
		case t.how == decodes:
			c.in[i] = c.decoded(v, dtype.Float32)
		case v.elem != elem:
			c.wrong("operands have elements of types %s and %s; want one type", elem, v.elemText())
		case t.how == orders:
			c.in[i] = c.reordered(v)
		}
	}
}

// reordered is integers with the highest bit the other way round: unsigned ones have the order of signed ones then.
func (c *call) reordered(x *value) *value {
	low, _ := x.DType.Range()
	return c.binary(op.IDBitwiseXor, x.as(0), c.integerOf(x.DType, low))
}

func (c *call) integerOf(d dtype.DType, n int64) *value {
	return c.constant(d, nil, appendInt(nil, n, int(d.Size())))
}

// bitCast is the bits of x as elements of another type of the same size. Files have several elements of 4 and 2 bits in a byte,
// tensors one, so that these would be other elements.
func (c *call) bitCast(x *value) *value {
	to := ElemType(c.int("to", 0))
	if x.elem.bits() != 0 || to.bits() != 0 || x.elem == elemString || to == elemString {
		c.refuse("elements of type %s and %s are not supported", x.elemText(), to)
	}
	d := c.carrier(to)
	if d == x.DType {
		return x.as(to.lacking())
	}
	return c.do(op.IDBitcast, with(op.BitcastDtype, d), x.as(0)).as(to.lacking())
}
