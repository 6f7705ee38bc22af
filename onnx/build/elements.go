package build

import (
	"slices"
	"strings"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/onnx/file"
)

// Element types that tensors lack: unsigned integers of 16 bits and more, 8-bit floats, elements of 4 and 2 bits, and strings. A tensor
// of another dtype carries their bits, in the graph as in inputs and outputs of a model:
//
//   - Unsigned integers are the signed integers of the same size with the same bits. Sums and products wrap around, so that
//     those of signed integers have the right bits; ops/elements.go has what differs.
//   - An element of 8 bits or less is a byte, uint8, whose low bits it is; see small.go. Files have several in a byte.
//   - A string is its number in the table of a run, int64; see strings.go.
//
// A value knows the type of its elements (value.elem). Rows do not: the result of one is a tensor of the dtype that carries.
// Functions of operators are therefore only called with such operands where the table of treatments says what happens, and
// their results get the type back here. Every other operator is refused with the name of the type.

// As is the value with elements of a type that tensors lack, which it carries; 0: of its dtype. The value itself may be
// an operand and stays what it is.
func (v *Value) As(e file.ElemType) *Value {
	if v.Elem == e {
		return v
	}
	made := *v
	made.Elem = e
	return &made
}

// ElemText is the name of the type of elements, for errors.
func (v *Value) ElemText() string {
	if v.Elem != 0 {
		return v.Elem.String()
	}
	return v.DType.String()
}

// Carrier is the dtype of tensors that carry elements of a type. Types that nothing carries are refused by name.
func (c *Call) Carrier(e file.ElemType) dtype.DType {
	if d := e.Carrier(); d != dtype.Invalid {
		return d
	}
	return c.dtype(e)
}

// Alike is the type that the elements of all tensors of a list have; see [value.as].
func (c *Call) Alike(list []*Value) file.ElemType {
	for _, v := range list {
		if v.Elem != list[0].Elem {
			c.Wrong("elements are %s and %s; want one type", list[0].ElemText(), v.ElemText())
		}
	}
	return list[0].Elem
}

// treatment is what an operator does with elements of types that tensors lack.
type treatment struct {
	How     How
	data    uint32 // operands that may have such elements, bit i for operand i; bit 31 for all from there on
	results uint32 // results that have them, likewise; the others have the dtype that the function gives them
}

// How is a kind of treatment.
type How uint8

const (
	Refuses How = iota
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
	{"If Loop Scan Identity Shape Size Optional OptionalGetElement OptionalHasElement SequenceConstruct SequenceAt SequenceInsert SequenceErase SequenceLength SequenceMap", treatment{How: passes}},
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
	{"Cast CastLike BitCast QuantizeLinear com.microsoft:QuantizeLinear SplitToSequence ConcatFromSequence Unique", treatment{How: itself}},
	{"StringConcat StringSplit StringNormalizer TfIdfVectorizer ai.onnx.ml:LabelEncoder ai.onnx.ml:CategoryMapper", treatment{How: itself}},
	{"DequantizeLinear com.microsoft:DequantizeLinear", treatment{decodes, 0b101, 0}},
	{"Pow", treatment{decodes, 0b10, 0}},
}

// Treatments are the rows by name of the operator.
var Treatments = map[string]treatment{}

func init() {
	for i := range treatmentRows {
		for _, name := range strings.Fields(treatmentRows[i].names) {
			Treatments[name] = treatmentRows[i].treatment
		}
	}
}

// lacking is a type of elements of operands that tensors lack, be it in a sequence; 0 where there is none.
func lacking(list []*Value) file.ElemType {
	for _, v := range list {
		if v == nil {
			continue
		}
		if e := max(v.Elem, lacking(v.List)); e != 0 {
			return e
		}
	}
	return 0
}

// results calls the function of the operator, which may be one of the model. Operands of types that tensors lack are
// treated as the operator is listed. A function of the model is expanded, and its nodes are looked at one by one; so are those
// of graphs in attributes, which read values of the graphs around them as well.
func (c *Call) results(e *Entry) []*Value {
	elem := lacking(c.In)
	if elem == 0 || e.Name == "" {
		return e.Build(c)
	}
	t := Treatments[e.Name]
	switch {
	case t.How == passes || t.How == itself:
		return e.Build(c)
	case t.How == Refuses || !elem.Unsigned() && (t.How == wraps || t.How == orders) || elem != file.ElemString && !elem.Unsigned() && t.How == fills || elem == file.ElemString && t.How == decodes:
		c.Refuse("elements of type %s are not supported", elem)
	}
	c.treat(t, elem)
	out := e.Build(c)
	for i, v := range out {
		if v != nil && t.results>>min(i, 31)&1 == 1 {
			if t.How == orders {
				v = c.Reordered(v)
			}
			out[i] = v.As(elem)
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
func (c *Call) treat(t treatment, elem file.ElemType) {
	if how := c.Text("reduction", "none"); how == "min" || how == "max" || how != "none" && elem == file.ElemString {
		c.Refuse("reduction %s of elements of type %s is not supported", how, elem)
	}
	if t.How == decodes && t.data&1 == 1 { // the first operand of a DequantizeLinear
		c.Quantizes(elem)
	}
	c.In = slices.Clone(c.In)
	counts := func(i int) bool { return t.data>>min(i, 31)&1 == 1 }
	for i, v := range c.In { // first, because indices that are strings are no reason to want data that are strings
		if c.Has(i) && !v.IsList && v.Elem != 0 && !counts(i) {
			c.Refuse("operand %d of elements of type %s is not supported", i, v.Elem)
		}
	}
	for i, v := range c.In {
		switch {
		case !c.Has(i):
		case v.IsList:
			c.X(i) // the error
		case v.Elem == 0 && (!counts(i) || t.How == decodes):
		case t.How == decodes:
			c.In[i] = c.Decoded(v, dtype.Float32)
		case v.Elem != elem:
			c.Wrong("operands have elements of types %s and %s; want one type", elem, v.ElemText())
		case t.How == orders:
			c.In[i] = c.Reordered(v)
		}
	}
}

// Reordered is integers with the highest bit the other way round: unsigned ones have the order of signed ones then.
func (c *Call) Reordered(x *Value) *Value {
	low, _ := x.DType.Range()
	return c.Binary(op.IDBitwiseXor, x.As(0), c.IntegerOf(x.DType, low))
}

func (c *Call) IntegerOf(d dtype.DType, n int64) *Value {
	return c.Constant(d, nil, file.AppendInt(nil, n, int(d.Size())))
}

// BitCast is the bits of x as elements of another type of the same size. Files have several elements of 4 and 2 bits in a byte,
// tensors one, so that these would be other elements.
func (c *Call) BitCast(x *Value) *Value {
	to := file.ElemType(c.Int("to", 0))
	if x.Elem.Bits() != 0 || to.Bits() != 0 || x.Elem == file.ElemString || to == file.ElemString {
		c.Refuse("elements of type %s and %s are not supported", x.ElemText(), to)
	}
	d := c.Carrier(to)
	if d == x.DType {
		return x.As(to.Lacking())
	}
	return c.Do(op.IDBitcast, With(op.BitcastDtype, d), x.As(0)).As(to.Lacking())
}

// Quantizes refuses types that ONNX does not quantize to.
func (c *Call) Quantizes(elem file.ElemType) {
	if elem == file.ElemUint32 || elem == file.ElemUint64 || elem == file.ElemFloat8E8M0 || elem == file.ElemString {
		c.Refuse("quantized elements of type %s are not supported", elem)
	}
}
