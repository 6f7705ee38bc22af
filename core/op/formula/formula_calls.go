package formula

import (
	"math"
	"slices"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
)

// The calls of a formula: its lines are computed with the operands and attributes of a call.

// quantity is what a part of a formula is: a value of a calculator, or what is known without one.
type quantity struct {
	v       op.Var
	known   bool
	later   *expression // of a name that was not used yet
	value   op.Value    // of what is known
	list    []*quantity // of a list
	results []op.Var    // of a call, or any number of operands
	pieces  []op.Var    // rows of the value, as many as row() cuts at once
}

// evaluation computes the lines of one formula.
type evaluation struct {
	*op.Calls
	of    *formula
	names map[string]*quantity
}

// calls makes the calls of a formula and returns its results.
func (f *formula) calls(c *op.Calls, in []op.Var, at op.Attrs) []op.Var {
	e := evaluation{Calls: c, of: f, names: map[string]*quantity{"pi": known(math.Pi), "inf": known(math.Inf(1)), "nan": known(math.NaN())}}
	for i, decl := range f.in {
		e.names[decl.Name] = &quantity{v: in[i]}
		if decl.Variadic {
			all := &quantity{results: in[i:]}
			for _, v := range all.results {
				all.list = append(all.list, &quantity{v: v})
			}
			e.names[decl.Name] = all
		}
	}
	for i := range f.attrs {
		e.names[f.attrs[i].Name] = &quantity{known: true, value: at[i]}
	}
	var last *quantity
	for _, l := range f.lines() {
		if l.name != "" {
			e.names[l.name] = &quantity{later: l.value}
			continue
		}
		if last = e.compute(l.value); c.Err != nil {
			return nil
		}
	}
	if f.out == nil {
		return []op.Var{e.variable(last)}
	}
	var out []op.Var
	for _, result := range last.list {
		out = append(out, e.variable(result))
	}
	return out
}

func known(f float64) *quantity { return &quantity{known: true, value: op.Value{Kind: op.Float, F: f}} }

func whether(b bool) *quantity {
	v := op.Value{Kind: op.Bool}
	if b {
		v.I = 1
	}
	return &quantity{known: true, value: v}
}

// variable is a quantity as an operand: what is known is a number, and a float, as most operands of composites are.
func (e *evaluation) variable(t *quantity) op.Var {
	switch {
	case !t.known:
		return t.v
	case t.value.Set():
		return e.Float(t.value.Float64())
	}
	return e.Number(t.value)
}

// compute computes an expression; after an error, nothing.
func (e *evaluation) compute(x *expression) *quantity {
	if e.Err != nil {
		return &quantity{known: true}
	}
	switch x.kind {
	case isLiteral:
		return &quantity{known: true, value: x.value}
	case isName:
		t, ok := e.names[x.text]
		if !ok {
			panic("op: the formula of " + e.of.name + " has no " + x.text)
		}
		if t.later != nil {
			t = e.compute(t.later)
			e.names[x.text] = t
		}
		if x.index > 0 && e.Err == nil {
			picked := *t
			picked.v = t.results[x.index]
			return &picked
		}
		return t
	case isList:
		return e.list(x)
	case isChoice:
		if e.compute(x.args[0]).value.I != 0 {
			return e.compute(x.args[1])
		}
		return e.compute(x.args[2])
	case isCall:
		return e.call(x)
	}
	args := []*quantity{e.compute(x.args[0])}
	if x.kind == isInfix {
		args = append(args, e.compute(x.args[1]))
	}
	return e.operator(x.text, args)
}

// list is a list of ints where all of its elements are.
func (e *evaluation) list(x *expression) *quantity {
	t := &quantity{known: true, value: op.Value{Kind: op.Ints}}
	for _, element := range x.args {
		v := e.compute(element)
		t.list, t.value.Ints = append(t.list, v), append(t.value.Ints, int64(v.value.Float64()))
	}
	return t
}

// operators are the rows of signs. What is known is computed by compute.
var operators = map[string]struct {
	row     op.ID
	compute func(x, y float64) float64
}{
	"+":  {op.IDAdd, func(x, y float64) float64 { return x + y }},
	"-":  {op.IDSubtract, func(x, y float64) float64 { return x - y }},
	"*":  {op.IDMultiply, func(x, y float64) float64 { return x * y }},
	"/":  {op.IDDivide, func(x, y float64) float64 { return x / y }},
	"**": {op.IDPow, math.Pow},
	"//": {op.IDFloorDivide, func(x, y float64) float64 { return math.Floor(x / y) }},
	"<":  {op.IDLessThan, nil}, "<=": {op.IDLessEqual, nil}, ">": {op.IDGreaterThan, nil}, ">=": {op.IDGreaterEqual, nil},
	"==": {op.IDEqual, nil}, "!=": {op.IDNotEqual, nil}, "&": {op.IDLogicalAnd, nil}, "|": {op.IDLogicalOr, nil}, "!": {op.IDLogicalNot, nil},
}

func (e *evaluation) operator(sign string, args []*quantity) *quantity {
	if !slices.ContainsFunc(args, func(t *quantity) bool { return !t.known }) {
		return e.settled(sign, args)
	}
	if len(args) == 1 && sign == "-" {
		return &quantity{v: e.Neg(e.variable(args[0]))}
	}
	in := make([]op.Var, len(args))
	for i, t := range args {
		if in[i] = e.variable(t); t.known && t.value.Kind == op.Int && op.ByID(operators[sign].row).Kind == op.Compare && e.TypeOf(args[1-i].v).DType == dtype.Int64 {
			in[i] = e.Number(t.value) // a class, which float32 may not hold
		}
	}
	return &quantity{v: e.Do(operators[sign].row, nil, in...)}
}

// settled is an operator on what is known.
func (e *evaluation) settled(sign string, args []*quantity) *quantity {
	x := args[0].value
	if len(args) == 1 {
		if sign == "!" {
			return whether(x.I == 0)
		}
		return &quantity{known: true, value: op.Value{Kind: x.Kind, I: -x.I, F: -x.F}}
	}
	y := args[1].value
	if x.Kind == op.Ints && y.Kind == op.Ints {
		return e.settledSizes(sign, x.Ints, y.Ints)
	}
	switch sign {
	case "&":
		return whether(x.I != 0 && y.I != 0)
	case "|":
		return whether(x.I != 0 || y.I != 0)
	case "==":
		return whether(equalValues(x, y))
	case "!=":
		return whether(!equalValues(x, y))
	case "<":
		return whether(x.Float64() < y.Float64())
	case "<=":
		return whether(x.Float64() <= y.Float64())
	case ">":
		return whether(x.Float64() > y.Float64())
	case ">=":
		return whether(x.Float64() >= y.Float64())
	}
	if size, ok := e.unknown(x, y); ok {
		return size
	}
	f := operators[sign].compute(x.Float64(), y.Float64())
	if x.Kind == op.Int && y.Kind == op.Int && sign != "/" && f == math.Trunc(f) {
		return &quantity{known: true, value: op.Value{Kind: op.Int, I: int64(f)}}
	}
	return known(f)
}

// settledSizes joins two lists of sizes, or multiplies them, one by one.
func (e *evaluation) settledSizes(sign string, x, y []int64) *quantity {
	if sign == "+" {
		return sizes(slices.Concat(x, y))
	}
	products := make([]int64, len(x))
	for i := range x {
		products[i] = e.settled(sign, []*quantity{whole(x[i]), whole(y[i])}).value.I
	}
	return sizes(products)
}

// unknown is what is computed with a size that is a symbol, where types alone are: another symbol.
func (e *evaluation) unknown(x, y op.Value) (*quantity, bool) {
	for _, v := range []op.Value{x, y} {
		if _, is := op.SymbolIn(v.I); is && v.Kind == op.Int {
			size, ok := e.NewSize()
			return whole(size), ok
		}
	}
	return &quantity{}, false
}

func equalValues(x, y op.Value) bool {
	if x.Kind == op.String || y.Kind == op.String {
		return x.Kind == y.Kind && x.Str() == y.Str()
	}
	return x.Set() == y.Set() && x.Float64() == y.Float64()
}

// scan computes scan(name, first, step, n, next): n values, each from the one before it, which next has by that name, and from the
// number of its step. All of them, behind the first one, are stacked. Arguments with names in front of next are its own lines.
func (e *evaluation) scan(x *expression) *quantity {
	last, n := e.compute(x.args[1]), e.compute(x.args[3]).value.I
	all := []op.Var{last.v}
	for step := int64(0); step < n && e.Err == nil; step++ {
		e.names[x.args[0].text], e.names[x.args[2].text] = last, whole(step)
		for i := 4; i < len(x.args); i++ {
			if last = e.compute(x.args[i]); x.keys[i] != "" {
				e.names[x.keys[i]] = last
			}
		}
		all = append(all, last.v)
	}
	return &quantity{v: e.Do(op.IDStack, op.Attrs{{Kind: op.Int}}, all...)}
}

// call calls a row, or a function of formulas.
func (e *evaluation) call(x *expression) *quantity {
	if x.text == "scan" {
		return e.scan(x)
	}
	args := make([]*quantity, len(x.args))
	for i := range x.args {
		args[i] = e.compute(x.args[i])
	}
	if e.Err != nil {
		return &quantity{known: true}
	}
	if function := functionNamed(x.text); function != nil {
		return function(e, args)
	}
	row, err := op.ByName(x.text)
	if err != nil {
		panic("op: the formula of " + e.of.name + " calls " + x.text + ", which is no row")
	}
	var in []op.Var
	at := make(op.Attrs, len(row.Attrs))
	for i, t := range args {
		switch key := x.keys[i]; {
		case key != "":
			at[row.AttrIndex(key)] = t.value
		case len(t.list) > 0 && !t.list[0].known: // operands of a row with any number of them
			for _, v := range t.list {
				in = append(in, e.variable(v))
			}
		case len(in) < len(row.In):
			in = append(in, e.variable(t))
		default:
			at[i-len(row.In)] = t.value
		}
	}
	for len(in) < len(row.In) {
		in = append(in, e.Number(op.Value{}))
	}
	out := e.DoMany(row.ID, at, in...)
	if e.Err != nil {
		return &quantity{known: true}
	}
	return &quantity{v: out[x.index], results: out}
}
