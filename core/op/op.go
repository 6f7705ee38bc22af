// Package op is the one table of operators. A row says everything about an operator that is true
// on every device: its name, inputs, attributes, the dtypes and shapes of its results, what it is
// called in ONNX and how exact it must be. What a device does about it lives in kernels/.
//
// Everything that lists operators is derived from the table by `go generate ./core/op`: the C ids,
// the Python wrappers with their stubs, docs/ops.md and the conformance cases. A new operator is a
// row in one of the rows_*.go files and a kernel per device; no other file is edited by hand.
//
// The package infers; it does not run, allocate or know what a tensor's memory is.
package op

import (
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/shape"
)

// ID is the number of an operator in the C ABI. Numbers are explicit, append-only and locked by
// testdata/ids.golden.
type ID uint16

// Kind says how an operator's operands relate; the runtime and the devices treat all operators of
// one kind alike.
type Kind uint8

// The kinds.
const (
	Unary    Kind = iota + 1 // out[i] = f(x[i])
	Binary                   // out[i] = f(x[i], y[i]), broadcast
	Compare                  // as Binary, to bool
	Select                   // more than two operands, broadcast: where, clip
	Convert                  // out[i] = x[i] in another dtype, any layout on both sides
	Reduce                   // over Axes; the device sees the output with those axes kept as 1
	Scan                     // along one axis, output shaped like the input: softmax
	Product                  // matmul: batch..., M, K times batch..., K, N
	View                     // no work: another layout of the same storage
	Assemble                 // copies into parts of the output: concat, stack, tile
	Index                    // reads or writes through index tensors
	Create                   // no tensor inputs
)

// String names the kind.
func (k Kind) String() string {
	return [...]string{"", "unary", "binary", "compare", "select", "convert", "reduce", "scan", "product", "view", "assemble", "index", "create"}[k]
}

// Input declares an operand.
type Input struct {
	Name     string
	Variadic bool // one or more tensors; only the last input
	Optional bool // may be absent
	Scalar   bool // a Python scalar is welcome
}

// Row is an operator.
type Row struct {
	ID      ID
	Name    string
	Kind    Kind
	In      []Input
	Attrs   []Attr
	Accepts dtype.Set // dtypes that kernels compute in (after promotion and casts)
	Types   TypeRule
	Shape   ShapeRule
	View    ViewRule // Kind View only: replaces Types and Shape
	Many    bool     // makes several tensors
	Random  bool     // draws from the device's generator
	Fresh   bool     // Kind View only: the parts are copied, because Paddle's do not share storage
	Python  Python
	ONNX    string // "Add-14": operator and the first opset that it follows; empty: none
	ULP     ULP
	NumPy   string // the same in NumPy, for the conformance suite; see python/paddle_mps/selftest/oracle.py
	Doc     string // one line: what it computes, with the formula

	direct [dtype.Last + 1]dtype.DType // see Direct
}

// Python says how the wrapper of an operator looks.
type Python struct {
	Module   string   // "" (paddle) or "nn.functional"
	Method   bool     // also a Tensor method
	InPlace  bool     // also name_ as a method
	Alias    []string // further method or function names: "mod" for remainder
	ByHand   bool     // written in Python, because its signature is not inputs then attributes
	Internal bool     // not public in Python
}

// ULP is the largest error of an element on the host device, in units in the last place of the
// result's dtype, against the exact result for the rounded inputs. Zero means exact.
//
// Metal is that of float32 on the Apple GPU, where it is more: what the Metal Shading Language Specification
// (table 8.1) allows for the functions that a kernel calls; where several meet, twice the sum of their parts
// and the roundings, because a unit of one may be two of another.
type ULP struct{ Float32, Float64, Half, Metal float64 }

func (u ULP) onMetal(units float64) ULP {
	u.Metal = units
	return u
}

// Attr declares an attribute.
type Attr struct {
	Name    string
	Type    AttrType
	Default Value // Kind None: absent is allowed and means what Doc says
	Needed  bool  // there is no default
	Doc     string
}

// AttrType is the type of an attribute.
type AttrType uint8

// The attribute types.
const (
	BoolAttr   AttrType = iota + 1
	IntAttr             // int64
	FloatAttr           // float64
	IntsAttr            // up to any number of int64
	DTypeAttr           // a dtype
	ScalarAttr          // bool, int or float, whichever was given
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
)

// Value is an attribute's value or a scalar operand. I holds bools (0, 1), ints and dtypes.
type Value struct {
	Kind ValueKind
	I    int64
	F    float64
	Ints []int64
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

// Attrs are the values of a row's attributes, in the row's order, defaults filled in.
type Attrs []Value

// Arg is what inference sees of an operand.
type Arg struct {
	DType  dtype.DType // of a tensor; of a scalar: Bool, Int64 or Float32 by its Python type
	Scalar bool        // a Python scalar, weak in promotion
	Absent bool        // an optional input that was not given
	Shape  shape.Shape
	Value  Value // of a scalar
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

// Result is what inference says of a call.
type Result struct {
	In    [3]dtype.DType // what each input is cast to; the last entry serves all further inputs
	Out   dtype.DType
	Shape shape.Shape
	Axes  Axes // the axes that the operator works along, normalised
}

// InDType is what input i is cast to before the call.
func (r *Result) InDType(i int) dtype.DType { return r.In[min(i, len(r.In)-1)] }

// TypeRule fills in In and Out of r.
type TypeRule func(row *Row, args []Arg, at Attrs, r *Result) error

// ShapeRule fills in Shape and Axes of r.
type ShapeRule func(row *Row, args []Arg, at Attrs, r *Result) error

// Part is one result of a view: the offset of its first element in elements, and its layout.
type Part struct {
	Offset int64
	shape.Layout
}

// ViewRule appends the results of a view to out. ErrCopy asks for a contiguous input instead.
type ViewRule func(row *Row, in *shape.Layout, at Attrs, out *[]Part) error

// Infer is the dtypes and the shape of a call's result, or what is wrong with the call.
func (row *Row) Infer(args []Arg, at Attrs, r *Result) error {
	if err := row.Types(row, args, at, r); err != nil {
		return err
	}
	return row.Shape(row, args, at, r)
}

// Direct is the dtype of the result when all inputs are tensors of dtype d and need no cast, and
// Invalid when the rules must be asked. It is what they would say, worked out once.
func (row *Row) Direct(d dtype.DType) dtype.DType { return row.direct[d] }

// precompute fills in direct for operators whose operands broadcast.
func (row *Row) precompute() {
	if row.Kind != Unary && row.Kind != Binary && row.Kind != Compare || len(row.Attrs) > 0 {
		return
	}
	vector := shape.Shape{Rank: 1}
	for _, d := range row.Accepts.Members() {
		args := make([]Arg, len(row.In))
		for i := range args {
			args[i] = Arg{DType: d, Shape: vector}
		}
		var r Result
		if row.Types(row, args, nil, &r) == nil && r.In[0] == d {
			row.direct[d] = r.Out
		}
	}
}
