package op

import (
	"strings"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// A composite is an operator that is a formula of other operators: elu is where(x > 0, x, alpha * expm1(min(x, 0))). Its row
// says the formula once, as calls of rows, and every caller of the library has it: Python, C, C++, ONNX, programs. Callers
// translate arguments and compute nothing themselves.
//
// What a composite writes down is its formula, which has its name, operands and attributes too, its names elsewhere and how
// it is tested. The rest follows from the calls that the formula makes:
//
//   - The types of the results, where no rule is named: the calls are made with types alone; see inferFromCalls.
//   - The kernels: a device sees the calls. Programs replace the node by them before their passes run. The second eager call of
//     one kind becomes one program of the device, in which elementwise steps run as a group; see core/runtime/composed.go.
//   - The gradient, where the composite gives no rule: the calls are differentiated, one after the other from the last one; see
//     differentiateCalls. Eager passes run it as one call of a row that is not in the table, so that it is one program too.
//   - Float16 and bfloat16 are computed in float32 and rounded once, at the end.
//
// A composite gives a gradient of its own where Paddle's differs from that of the calls, at an edge, or where a shorter formula
// is known.
type composite struct {
	id       ID
	formula  string    // see formula.go
	gradient string    // the lines of a formula for the gradient of the only operand, of which dy is that of the result; "": of the calls
	kind     Kind      // 0: Unary
	domain   Domain    // of the values that tests give all operands
	accepts  dtype.Set // 0: Floats
	narrow   bool      // halves stay halves: elements are moved, or computed with once
	asFirst  bool      // the result has the dtype of the first operand, whatever others are; else halves beside a float32 count as such
	infer    rules     // nil: of the calls
	python   Python
	onnx     string

	tolerance Tolerance
}

// composites are complete rows.
func composites(list []composite) []Row {
	rows := make([]Row, len(list))
	for i := range list {
		rows[i] = list[i].row()
	}
	return rows
}

// row is the composite as a row of the table.
func (k *composite) row() Row {
	f := readSignature(k.formula)
	if k.kind == 0 {
		k.kind = Unary
	}
	if k.infer == nil {
		k.infer = rules{inferFromCalls}
	}
	for i := range f.in {
		f.in[i].Domain = k.domain
	}
	f.asFirst, f.narrow = k.asFirst, k.narrow
	if k.accepts == 0 {
		k.accepts = dtype.Floats
	}
	if k.gradient != "" {
		f.gradient = f.slope(k.gradient)
	}
	return Row{
		ID: k.id, Name: f.name, Kind: k.kind, In: f.in, Attrs: f.attrs, Accepts: k.accepts, Infer: k.infer,
		Lower: lowerToCalls, Calls: f.rounded, Grad: Grad{Rule: gradOfComposite, Reads: ReadsX | ReadsY | ReadsZ}, formula: f, pullback: f.pullback(k.id, k.kind),
		Python: k.python, ONNX: k.onnx, Tolerance: k.tolerance,
	}
}

// IsComposite reports whether the row is made of a composite: a device has no kernels for it.
func (row *Row) IsComposite() bool { return row.formula != nil }

// rounded is the calls of the row: those of the formula, with halves computed in float32, and rounded to at the end. Operands that
// may be left out do not count: a loss of halves with a weight of float32 is a half.
func (f *formula) rounded(c *Calls, in []Var, at Attrs) []Var {
	if f.narrow {
		return []Var{f.calls(c, in, at)}
	}
	out := f.calls(c, c.widened(in), at)
	if c.Err != nil {
		return []Var{out}
	}
	d := c.TypeOf(in[0]).DType
	for i, v := range in {
		if other := c.TypeOf(v).DType; !f.asFirst && !f.in[i].Optional && !c.IsNumber(v) && other != d && other.IsFloat() {
			return []Var{out}
		}
	}
	if f.asFirst || d.IsFloat() && d.Size() == 2 {
		out = c.Cast(out, d)
	}
	return []Var{out}
}

// widened are operands in the dtype that a formula computes in: all floats as float32, or as float64 if one of them is.
func (c *Calls) widened(in []Var) []Var {
	if c.Err != nil {
		return in
	}
	d, wide := dtype.Float32, make([]Var, len(in))
	float := func(v Var) bool { return !c.IsNumber(v) && c.TypeOf(v).DType.IsFloat() }
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

// inferFromCalls is the rule of composites without another one: the results are those of the calls.
func inferFromCalls(c *Inference) error {
	if d := c.In[0].DType; !c.Row.Accepts.Has(d) {
		return c.settle(d) // which has the error
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
