// Package op says what an operator is, and has the table of all. A [Row] defines everything about an operator that is the same
// on every device: its name, inputs, attributes, the dtypes and shapes of its results, its name in
// ONNX, how exact it must be and how it is tested. The implementations are in kernels/.
//
// The rows themselves are in core/op/rows, and in core/op/formula those that are formulas of others; core/op/table puts both into
// [Table]. What is said of rows for readers and tests is in core/op/describe.
//
// Everything that lists operators is derived from the table by `go generate ./core/op`: the C ids,
// the Python wrappers with their stubs, docs/ops.md and the conformance cases. A new operator is a
// row in one of the files of core/op/rows, or a formula in core/op/formula, a description in core/op/describe and a kernel per device.
//
// A call of an operator goes through its row in this order, from an eager caller and from a program alike:
//
//  1. [Row.Fill] completes the attributes and [Row.Arity] checks the operands against their declarations.
//  2. [Inference.Infer] asks the row's rules: which dtype each operand is cast to, what the results are and which axes
//     the operator works along. It sees types, attributes and constants, and dimensions that may be symbols.
//  3. The caller (core/graph) makes the casts explicit. The call is then a [Step]: views of memory and nothing implied.
//  4. A composite says the step in terms of other rows ([Lowering]); a view has become layouts of its operand.
//  5. [Step.Arrange] lays the operands out in the frame in which devices take the row's kind; see device.Call.
//
// Rows are literals, and their rules are small functions named after what they define, so that a row is readable:
// reshape is of kind View, accepts everything, and its view is viewReshape. A rule that several rows share finds
// attributes by name, because their positions differ; kernels use the generated constants.
//
// The package infers; it does not run, allocate or know what a tensor's memory is.
package op

import (
	"fmt"
	"math"
	"strconv"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// Output declares a result.
type Output struct {
	Name     string
	Variadic bool // any number of tensors; only the last result
	Optional bool // not computed in programs where nothing reads it; never the first result
}

// ID is the number of an operator in the C ABI. Numbers are explicit, append-only and locked by
// testdata/ids.golden.
type ID uint16

// Kind says how an operator's operands relate; the runtime and the devices treat all operators of
// one kind alike.
type Kind uint8

const (
	Unary     Kind = iota + 1 // out[i] = f(x[i])
	Binary                    // out[i] = f(x[i], y[i]), broadcast
	Compare                   // as Binary, to bool
	Select                    // more than two operands, broadcast: where, clip
	Convert                   // out[i] = x[i] in another dtype, any layout on both sides
	Reduce                    // over Axes; the device sees the output with those axes kept as 1
	Scan                      // along one axis, output shaped like the input: softmax
	Product                   // matmul: batch..., M, K times batch..., K, N
	View                      // no work: another layout of the same storage
	Assemble                  // copies into parts of the output: concat, stack, tile
	Index                     // reads or writes through index tensors
	Create                    // no tensor inputs
	Window                    // moves a window over images: convolution, pooling
	Normalize                 // over lines along the last axis, of which Axes is the set: layer_norm
	Attend                    // each row of the first operand looks at all rows of the second: attention
	Recur                     // along the first axis, where each step sees the one before: lstm
	Composed                  // a composite whose result has a shape of its own: a loss, a norm
)

// String names the kind.
func (k Kind) String() string {
	return [...]string{"", "unary", "binary", "compare", "select", "convert", "reduce", "scan", "product", "view", "assemble", "index", "create", "window", "lines", "attend", "recur", "composed"}[k]
}

// Input declares an operand. The zero Input is a tensor that has to be given, with any values. An operand that is left
// out keeps its place in the list, so that those behind it are found by number.
type Input struct {
	Name     string
	Variadic bool   // one or more tensors; only the last input
	Optional bool   // may be absent
	Form     Form   // what the operand is made of
	Scalar   bool   // may be a Python scalar
	Domain   Domain // which values tests give it
	Fixed    Value  // the one number that tests give it; None: tensors from Domain
}

// Row is an operator. The table holds the only one of each, so that rows are compared by address; nothing changes it
// after init. What a row does not say has the zero value, which is the usual case: one result, no attributes, exact,
// deterministic, and laid out by its kind.
type Row struct {
	ID       ID
	Name     string
	Kind     Kind
	In       []Input
	Attrs    []Attr
	Accepts  dtype.Set // dtypes that kernels compute in (after promotion and casts)
	Infer    Rules
	View     ViewRule                                 // Kind View only: replaces Infer
	Alias    Alias                                    // Kind View only: the view where tensors have no memory
	Lower    Lowering                                 // of composites: the call in terms of other rows; a device sees the row only if it composes it
	Calls    func(c *Calls, in []Var, at Attrs) []Var // of composites: the same on values, for passes over programs; nil: there is none
	Grad     Grad
	Parts    PartsRule   // the call on complex tensors, which kernels do not compute; nil: there is none
	Uncast   ID          // Kind Reduce only: the composite, whose attributes this row has too, that does without the cast of an operand to int64; 0: there is none
	Own      bool        // with Lower: it may emit the row itself, so that devices have kernels
	Frame    func(*Step) // how operands are completed and laid out for devices, where that is not by Kind
	Out      []Output    // nil: one result, "out"
	Random   bool        // draws from the device's generator, one counter an element of the result
	Fresh    bool        // Kind View only: the parts are copied, because Paddle's do not share storage
	Updates  bool        // the result begins as In[0], which the device does not see: In[1], in its frame, is written into it
	Counted  bool        // the size of the result's first axis is known only after the call
	Counter  ID          // Counted only: the row that computes this size of the same operands, as int64; 0: there is none
	Factor   Factor      // what graph.TakeFactors may make of it
	Channels Channels    // likewise, of a product with a weight; else nil
	Tail     bool        // Kind Reduce only: a reduction that may end a group of elementwise steps
	ByValue  bool        // rules or Frame look at the numbers among the operands, where others see only their kinds
	Python   *Python     // of a row of the table never nil
	ONNX     string      // "Add-14": operator and the first opset that it follows; empty: none

	// What tests need to know; see conformance.go, and core/op/describe for what the library does without: how exact results are, too.
	Jumps bool   // any error of an operand may make the result quite another: a quotient that is rounded down
	Lacks []Lack // kernels that the row is meant to have and that a device does not have yet

	Pullback *Row // of composites: the row of their gradient, which is not in the table; see core/op/formula

	direct [dtype.Last + 1]dtype.DType // see Direct
}

// Python says how the wrapper of an operator looks.
type Python struct {
	Module   string   // "" (paddle) or "nn.functional"
	Method   bool     // also a Tensor method
	InPlace  bool     // also name_ as a function and a method
	Alias    []string // further method or function names: "mod" for remainder
	ByHand   bool     // written in Python, because its signature is not inputs then attributes
	Internal bool     // not public in Python
	PartOf   string   // of internal ones: the function of Python that calls the row, which later errors name

	TensorsOnly bool // the function refuses Python scalars, as Paddle's does; the library and x * y accept them
	OutByPlace  bool // out stands before the parameter name, and may come without its name, as in Paddle
}

// Attr declares an attribute.
type Attr struct {
	Name    string
	Type    AttrType
	Default Value // Kind None: absent is allowed and means what the description says
	Needed  bool  // there is no default
	Sizes   Sizes // how it says the size of an input that is not known yet
}

// AttrType is the type of an attribute.
type AttrType uint8

// The attribute types.
const (
	BoolAttr    AttrType = iota + 1
	IntAttr              // int64
	FloatAttr            // float64
	IntsAttr             // up to any number of int64
	DTypeAttr            // a dtype
	ScalarAttr           // bool, int or float, whichever was given
	StringAttr           // text
	FloatsAttr           // up to any number of float64
	StringsAttr          // up to any number of texts
	TensorAttr           // a constant tensor
	GraphAttr            // a nested graph
)

// ValueKind says which field of a Value counts.
type ValueKind uint8

// The kinds of values. Numbers are those of the C header.
const (
	None ValueKind = iota
	Bool
	Int
	Float
	Ints
	DType
	String
	Floats
	Strings
	Tensor
	Graph
)

// Value is an attribute's value or a scalar operand. I holds bools (0, 1), ints and dtypes; Ref holds
// what has no field of its own: a string, a []float64, a []string, or the object of a Tensor or a Graph,
// whose type belongs to a package that this one does not import.
type Value struct {
	Kind ValueKind
	I    int64
	F    float64
	Ints []int64
	Ref  any
}

// Str is the text of a String; "" of any other kind.
func (v *Value) Str() string {
	text, _ := v.Ref.(string)
	return text
}

// Floats are the numbers of a Floats; nil of any other kind.
func (v *Value) Floats() []float64 {
	list, _ := v.Ref.([]float64)
	return list
}

// Strings are the texts of a Strings; nil of any other kind.
func (v *Value) Strings() []string {
	list, _ := v.Ref.([]string)
	return list
}

// Set reports whether there is a value.
func (v *Value) Set() bool { return v.Kind != None }

// Float64 is a bool, int or float as a float64.
func (v *Value) Float64() float64 {
	if v.Kind == Float {
		return v.F
	}
	return float64(v.I)
}

// DType is what a scalar counts as beside tensors: bool, int64 or float32; Invalid for other values.
func (v *Value) DType() dtype.DType {
	switch v.Kind {
	case Bool:
		return dtype.Bool
	case Int:
		return dtype.Int64
	case Float:
		return dtype.Float32
	}
	return dtype.Invalid
}

// Bits is a scalar as an element of a dtype, in the low bytes.
//
// A float becomes an integer by truncation, and one that is too large the nearest integer of 64 bits; of those the
// low bits count, as of an integer that is too large. Anything but 0 is true.
func (v *Value) Bits(d dtype.DType) uint64 {
	switch d {
	case dtype.Float64:
		return math.Float64bits(v.Float64())
	case dtype.Float32:
		return uint64(math.Float32bits(float32(v.Float64())))
	case dtype.Float16:
		return uint64(dtype.F64ToF16(v.Float64()))
	case dtype.BFloat16:
		return uint64(dtype.F64ToBF16(v.Float64()))
	}
	n := v.I
	if v.Kind == Float {
		n = dtype.Saturate(v.F)
	}
	if d == dtype.Bool && n != 0 {
		n = 1
	}
	return uint64(n)
}

// String is the value as text.
func (v *Value) String() string {
	switch v.Kind {
	case None:
		return "none"
	case Bool:
		return strconv.FormatBool(v.I != 0)
	case Float:
		return strconv.FormatFloat(v.F, 'g', -1, 64)
	case Ints:
		return fmt.Sprint(v.Ints)
	case DType:
		return dtype.DType(v.I).String()
	}
	return strconv.FormatInt(v.I, 10)
}

// Attrs are the values of a row's attributes, in the row's order, defaults filled in.
type Attrs []Value

// Direct is the dtype of the result when all inputs are tensors of dtype d and need no cast, and
// Invalid when the rules must be asked. It is what they would say, worked out once.
func (row *Row) Direct(d dtype.DType) dtype.DType { return row.direct[d] }

// precompute fills in direct for operators whose operands broadcast.
//
// Rows with attributes are left out, because an attribute may decide the dtype, and composites, which no kernel computes. The
// question is asked of tensors of one axis: those without are weak in promotion, but among tensors of one dtype that changes nothing.
func (row *Row) precompute() {
	if row.Kind != Unary && row.Kind != Binary && row.Kind != Compare || len(row.Attrs) > 0 || row.Lower != nil {
		return
	}
	for _, d := range row.Accepts.Members() {
		var c Inference
		c.Reset(row, nil)
		for range row.In {
			c.In = append(c.In, Arg{Type: Type{DType: d, Shape: shape.Shape{Rank: 1}}})
		}
		if c.Infer() == nil && c.Cast[0] == d {
			row.direct[d] = c.Out[0].DType
		}
	}
}

// Elementwise reports whether each element of the result depends on one element of each input only,
// so that the result may be written over an input that has the very same layout.
//
// This is the one licence to compute in place: legalizing gives it to calls that write into an operand, and the planner
// to results that take the place of an operand in the arena. Both still make sure that the layouts are the same.
func (row *Row) Elementwise() bool { return row.Kind >= Unary && row.Kind <= Convert }

// Refuses reports whether a kernel may refuse elements of dtype d when it has written others: it divides by integers, of which
// one may be 0. Such a call does not write into its caller's memory, so that an error leaves that as it was.
func (row *Row) Refuses(d dtype.DType) bool {
	for i := range row.In {
		if row.In[i].Domain == Divisor {
			return d.IsInt()
		}
	}
	return false
}

// Shown is the name of the row in errors that come later than its call: that of the function that a program has called.
func (row *Row) Shown() string {
	if row.Python != nil && row.Python.PartOf != "" {
		return row.Python.PartOf
	}
	return row.Name
}

// Many reports whether a call may have other than one result.
func (row *Row) Many() bool { return len(row.Out) > 1 || len(row.Out) == 1 && row.Out[0].Variadic }

// Into refuses rows whose calls cannot write into a tensor: those of views, of several results, and of results whose size the call says.
func (row *Row) Into() error {
	if row.Kind == View || row.Counted || row.Many() {
		return status.Errorf(status.Unsupported, "[%s] cannot write into a tensor; assign its result", row.Name)
	}
	return nil
}

// IsComposite reports whether the row is made of a composite: a device has no kernels for it.
func (row *Row) IsComposite() bool { return row.Pullback != nil }

// Folds are the values of attribute reduce of index_reduce. Kernels number them in this order. A mean is none of them:
// it is a sum, and a division by how often each place was named.
var Folds = [...]string{"add", "multiply", "minimum", "maximum"}
