// Package formula has the operators that are formulas of others: the language of formulas (formula.go), what it calls
// (formula_calls.go, formula_functions.go), the rows and gradients that it makes of them (composite.go, pullback.go), and the formulas
// themselves, in a file composites_*.go for each family.
//
// A formula says nothing about devices. Its kernels, types and gradient follow from the rows that it calls, by their names in the
// table. Package core/op/table adds these rows to it.
package formula

import (
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
)

// A composite is an operator that is a formula of other operators: elu is where(x > 0, x, alpha * expm1(min(x, 0))). Its row
// says the formula once, as calls of rows, and every caller of the library has it: Python, C, C++, ONNX, programs. Callers
// translate arguments and compute nothing themselves.
//
// What a composite writes down is its formula, which has its name, operands and attributes too, its names elsewhere and how
// it is tested. The rest follows from the calls that the formula makes:
//
//   - The types of the results, where no rule is named: the calls are made with types alone; see op.InferFromCalls.
//   - The kernels: a device sees the calls. Programs replace the node by them before their passes run. The second eager call of
//     one kind becomes one program of the device, in which elementwise steps run as a group; see core/runtime/composed.go.
//   - The gradient, where the composite gives no rule: the calls are differentiated, one after the other from the last one; see
//     op.DifferentiateCalls. Eager passes run it as one call of a row that is not in the table, so that it is one program too.
//   - Float16 and bfloat16 are computed in float32 and rounded once, at the end.
//
// A composite gives a gradient of its own where Paddle's differs from that of the calls, at an edge, or where a shorter formula
// is known.
type composite struct {
	id       op.ID
	formula  string     // see formula.go
	gradient string     // the lines of a formula for the gradient of the only operand, of which dy is that of the result; "": of the calls
	kind     op.Kind    // 0: Unary
	domain   op.Domain  // of the values that tests give all operands
	accepts  dtype.Set  // 0: Floats
	asFirst  bool       // the result has the dtype of the first operand, whatever others are; else halves beside a float32 count as such
	narrow   bool       // halves are not computed in float32: the formula moves elements, or is a product, which adds up in float32 itself
	infer    op.Rules   // nil: of the calls
	python   *op.Python // nil: not public there
	onnx     string

	tolerance *op.Tolerance
}

// All are the rows of all formulas.
var All = composites(activationFormulas, lossFormulas, normFormulas, mathFormulas, productFormulas, indexFormulas, imageFormulas, stepFormulas, attentionFormulas, detectionFormulas)

// composites are complete rows.
func composites(lists ...[]composite) (rows []op.Row) {
	for _, list := range lists {
		for i := range list {
			rows = append(rows, list[i].row())
		}
	}
	return rows
}

// row is the composite as a row of the table.
func (k *composite) row() op.Row {
	f := readSignature(k.formula)
	if k.kind == 0 {
		k.kind = op.Unary
	}
	if k.infer == nil {
		k.infer = op.Rules{op.InferFromCalls}
	}
	for i := range f.in {
		f.in[i].Domain = k.domain
	}
	f.asFirst, f.narrow = k.asFirst, k.narrow
	if k.accepts == 0 {
		k.accepts = dtype.Floats
	}
	if k.python == nil {
		k.python = &op.Python{Internal: true}
	}
	if k.gradient != "" {
		f.gradient = f.slope(k.gradient)
	}
	return op.Row{
		ID: k.id, Name: f.name, Kind: k.kind, In: f.in, Attrs: f.attrs, Out: f.out, Accepts: k.accepts, Infer: k.infer,
		Lower: op.LowerToCalls, Calls: f.rounded, Grad: op.Grad{Rule: gradOfComposite, Reads: op.ReadsX | op.ReadsY | op.ReadsZ}, Pullback: f.pullback(k.id, k.kind),
		Python: k.python, ONNX: k.onnx, Tolerance: k.tolerance,
	}
}

// rounded is the calls of the row: those of the formula, with halves computed in float32, and rounded to at the end. Operands that
// may be left out do not count: a loss of halves with a weight of float32 is a half.
func (f *formula) rounded(c *op.Calls, in []op.Var, at op.Attrs) []op.Var {
	if f.narrow {
		return f.calls(c, in, at)
	}
	out := f.calls(c, widened(c, in), at)
	if c.Err != nil || !c.TypeOf(out[0]).DType.IsFloat() {
		return out
	}
	d := c.TypeOf(in[0]).DType
	for i, v := range in {
		if other := c.TypeOf(v).DType; !f.asFirst && !f.input(i).Optional && !c.IsNumber(v) && other != d && other.IsFloat() {
			return out
		}
	}
	if f.asFirst || d.IsFloat() && d.Size() == 2 {
		out[0] = c.Cast(out[0], d)
	}
	return out
}

// widened are operands in the dtype that a formula computes in: all floats as float32, or as float64 if one of them is.
func widened(c *op.Calls, in []op.Var) []op.Var {
	if c.Err != nil {
		return in
	}
	d, wide := dtype.Float32, make([]op.Var, len(in))
	float := func(v op.Var) bool { return !c.IsNumber(v) && c.TypeOf(v).DType.IsFloat() }
	for _, v := range in {
		if float(v) && c.TypeOf(v).DType == dtype.Float64 {
			d = dtype.Float64
		}
	}
	for i, v := range in {
		if wide[i] = v; float(v) {
			wide[i] = c.Cast(v, d)
		}
	}
	return wide
}
