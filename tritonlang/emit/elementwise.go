// Operations on elements: a table from names to functions that make an expression from those of the operands.
//
// An expression is used for scalars and tensors alike. Operands are names, elements of arrays or literals, never compound,
// so that expressions need no parentheses around them.
//
// What Triton IR defines and C++ does not is made explicit in the expression: sums wrap around because they are computed as
// uint, a divisor of 0 becomes 1, and minima of NaN follow the operation and not the function.
//
//	arith.addi %a, %b : i32        int(uint(a) + uint(b))
//	arith.divsi %a, %b : i32       int(a / (b == 0 ? int(1) : b))
//	arith.addf %a, %b : bf16       float_to_bf16(bf16_to_float(a) + bf16_to_float(b))

package emit

import (
	"math"
	"strconv"
	"strings"

	"github.com/paddle-mps/paddle-mps/tritonlang/layout"
	"github.com/paddle-mps/paddle-mps/tritonlang/tree"
	"github.com/paddle-mps/paddle-mps/tritonlang/ttir"
)

// expression is an operation on elements: from its operands as expressions.
type expression func(e *emitter, o *ttir.Op, x []string) string

// elementwise emits an operation on elements, in its home or in each layout that is wanted.
func (e *emitter) elementwise(o *ttir.Op, f expression) {
	v := o.Results[0]
	switch {
	case !v.Type.IsTensor():
		// A scalar has no layout.
		e.set(v, layout.Layout{}, e.elementsIn(o, f, layout.Layout{}))
	case e.plan.Follows(v):
		for _, l := range e.plan.Wanted[v] {
			e.set(v, l, e.elementsIn(o, f, l))
		}
	default:
		e.done(v, e.elementsIn(o, f, e.plan.HomeOf(v)))
	}
}

// elementsIn emits an operation on elements in one layout. Operands whose registers are fewer than the layout's, because
// they were broadcast, make the result's fewer too.
func (e *emitter) elementsIn(o *ttir.Op, f expression, l layout.Layout) *value {
	v := o.Results[0]
	if !v.Type.IsTensor() {
		args := make([]string, len(o.Operands))
		for i, x := range o.Operands {
			args[i] = e.scalar(x)
		}
		text := f(e, o, args)
		// Literals and names are used as they are.
		if simple(text) {
			return &value{scalar: text}
		}
		r := e.define(v.Name, cType(v.Type), 1, func(func(*tree.Registers) string) string { return text })
		return &value{scalar: r.Name}
	}
	// A constant is a literal wherever it is used.
	if len(o.Operands) == 0 {
		return &value{regs: &tree.Registers{Name: f(e, o, nil), N: 1, Index: nones(len(l.Reg))}}
	}
	args := make([]*tree.Registers, len(o.Operands))
	var texts []string
	for i, x := range o.Operands {
		a := e.get(x, l)
		if args[i] = a.regs; a.regs == nil {
			args[i] = &tree.Registers{Name: a.scalar, N: 1}
		}
	}
	n, index := l.Registers(), identity(l.Registers())
	if one := narrow(args); one {
		n, index = 1, nones(len(l.Reg))
	}
	r := e.define(v.Name, cType(v.Type.Element()), n, func(read func(*tree.Registers) string) string {
		texts = texts[:0]
		for _, a := range args {
			texts = append(texts, read(a))
		}
		return f(e, o, texts)
	})
	r.Index = index
	return &value{regs: r}
}

// narrow reports whether all operands are one register.
func narrow(args []*tree.Registers) bool {
	for _, a := range args {
		if a.N != 1 {
			return false
		}
	}
	return true
}

// nones is the index of a register that stands for all n bits.
func nones(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = layout.None
	}
	return all
}

// simple reports whether an expression is one word, which needs no name.
func simple(text string) bool {
	for i := range len(text) {
		c := text[i]
		if !(c == '_' || c == '.' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z') && !(c == '-' && i == 0) {
			return false
		}
	}
	return true
}

// elements is the table of operations on elements.
var elements = map[string]expression{}

// Operations on elements, by name. Those of one kind are made by one function.
func init() {
	// Integers.
	for name, op := range map[string]string{"addi": "+", "subi": "-", "muli": "*"} {
		elements["arith."+name] = wrapping(op)
	}
	for name, op := range map[string]string{"andi": "&", "ori": "|", "xori": "^"} {
		elements["arith."+name] = bitwise(op)
	}
	elements["arith.shli"] = shift("<<", true)
	elements["arith.shrui"] = shift(">>", true)
	elements["arith.shrsi"] = shift(">>", false)
	elements["arith.divsi"] = quotient("/", true)
	elements["arith.remsi"] = quotient("%", true)
	elements["arith.divui"] = quotient("/", false)
	elements["arith.remui"] = quotient("%", false)
	for name, f := range map[string]string{"minsi": "min", "maxsi": "max", "minui": "min", "maxui": "max"} {
		elements["arith."+name] = extreme(f, name[3] == 's')
	}
	// Floats.
	for name, op := range map[string]string{"addf": "+", "subf": "-", "mulf": "*", "divf": "/"} {
		elements["arith."+name] = arithmetic(op)
	}
	elements["tt.precise_divf"] = arithmetic("/")
	elements["tt.approx_divf"] = arithmetic("/")
	elements["arith.remf"] = floatCall("triton_fmod")
	elements["arith.negf"] = ofSign(" ^ 0x80", func(_ *emitter, o *ttir.Op, x []string) string {
		return narrowFloat(o, "-"+wideFloat(o, x[0]))
	})
	// Of a number and NaN, Metal's fmin and fmax give the number, as minnumf and maxnumf do.
	elements["arith.minnumf"] = floatCall("fmin")
	elements["arith.maxnumf"] = floatCall("fmax")
	elements["arith.minimumf"] = nanExtreme("fmin")
	elements["arith.maximumf"] = nanExtreme("fmax")
	elements["tt.clampf"] = clamped
	// Comparisons and choices.
	elements["arith.cmpi"] = compareInts
	elements["arith.cmpf"] = compareFloats
	elements["arith.select"] = func(_ *emitter, _ *ttir.Op, x []string) string { return x[0] + " ? " + x[1] + " : " + x[2] }
	// Functions, of which Metal has most under the same name.
	for name, f := range map[string]string{
		"exp": "exp", "exp2": "exp2", "log": "log", "log2": "log2", "log10": "log10", "sin": "sin", "cos": "cos", "tan": "tan",
		"tanh": "tanh", "sinh": "sinh", "cosh": "cosh", "asin": "asin", "acos": "acos", "atan": "atan", "sqrt": "sqrt", "rsqrt": "rsqrt",
		"absf": "fabs", "floor": "floor", "ceil": "ceil", "roundeven": "rint", "round": "round", "trunc": "trunc",
		"powf": "pow", "atan2": "atan2", "copysign": "copysign", "fma": "fma",
	} {
		elements["math."+name] = floatCall(f)
	}
	elements["math.absf"] = ofSign(" & 0x7f", elements["math.absf"])
	elements["tt.precise_sqrt"] = floatCall("precise::sqrt")
	for _, name := range []string{"erf", "expm1", "log1p", "cbrt"} {
		elements["math."+name] = floatCall("triton_" + name)
	}
	// The absolute value of the least integer is itself, which unsigned arithmetic gives.
	elements["math.absi"] = func(_ *emitter, o *ttir.Op, x []string) string {
		t := cType(o.Results[0].Type.Element())
		return t + "(" + x[0] + " < 0 ? " + unsigned(o.Results[0].Type.Element().Bits) + "(0) - " + unsigned(o.Results[0].Type.Element().Bits) + "(" + x[0] + ") : " +
			unsigned(o.Results[0].Type.Element().Bits) + "(" + x[0] + "))"
	}
	// The upper half of an unsigned product: the core of Philox, exact to the bit.
	elements["tt.mulhiui"] = func(_ *emitter, o *ttir.Op, x []string) string {
		t := o.Results[0].Type.Element()
		u := unsigned(t.Bits)
		return cType(t) + "(mulhi(" + u + "(" + x[0] + "), " + u + "(" + x[1] + ")))"
	}
	// Constants and values that do not matter.
	elements["arith.constant"] = constant
	elements["ub.poison"] = func(_ *emitter, o *ttir.Op, _ []string) string { return cType(o.Results[0].Type.Element()) + "(0)" }
}

// wrapping arithmetic is done on unsigned integers, which have no overflow.
func wrapping(op string) expression {
	return func(_ *emitter, o *ttir.Op, x []string) string {
		t := o.Results[0].Type.Element()
		switch t.Bits {
		case 1:
			// Modulo 2, sum and difference are exclusive or.
			if op == "*" {
				return x[0] + " && " + x[1]
			}
			return x[0] + " != " + x[1]
		case 8, 16:
			// Metal computes in int, where no sum or product of 16 bits but 65535 * 65535 overflows, and
			// signed ones do not.
			return cType(t) + "(" + x[0] + " " + op + " " + x[1] + ")"
		}
		u := unsigned(t.Bits)
		return cType(t) + "(" + as(u, x[0]) + " " + op + " " + as(u, x[1]) + ")"
	}
}

// as converts to an unsigned type; a constant gets its suffix, so that sums of small numbers stay readable.
func as(u, x string) string {
	if n, err := strconv.ParseInt(x, 10, 32); err == nil && n >= 0 && u == "uint" {
		return x + "u"
	}
	return u + "(" + x + ")"
}

// bitwise operations on bool are logical ones, since bool is kept as a value and not as bits.
func bitwise(op string) expression {
	return func(_ *emitter, o *ttir.Op, x []string) string {
		switch t := o.Results[0].Type.Element(); {
		case t.Bits == 1 && op == "^":
			return x[0] + " != " + x[1]
		case t.Bits == 1:
			return x[0] + " " + op + op + " " + x[1]
		case t.Bits < 32:
			return cType(t) + "(" + x[0] + " " + op + " " + x[1] + ")"
		}
		return x[0] + " " + op + " " + x[1]
	}
}

// shift: by the width or more the result is poison in Triton IR and unspecified in Metal.
func shift(op string, plain bool) expression {
	return func(_ *emitter, o *ttir.Op, x []string) string {
		t := o.Results[0].Type.Element()
		if !plain {
			return cType(t) + "(" + x[0] + " >> " + x[1] + ")"
		}
		u := unsigned(t.Bits)
		return cType(t) + "(" + as(u, x[0]) + " " + op + " " + as(u, x[1]) + ")"
	}
}

// quotient: a division by zero, which elements that are masked off may have, is made one by 1: its result is not used.
func quotient(op string, signed bool) expression {
	return func(_ *emitter, o *ttir.Op, x []string) string {
		t := o.Results[0].Type.Element()
		a, b := x[0], x[1]
		// A positive literal needs no test.
		if n, err := strconv.ParseInt(b, 10, 64); err != nil || n <= 0 {
			b = "(" + b + " == 0 ? " + cType(t) + "(1) : " + b + ")"
		}
		if !signed {
			u := unsigned(t.Bits)
			a, b = as(u, a), as(u, b)
		}
		return cType(t) + "(" + a + " " + op + " " + b + ")"
	}
}

// extreme is a minimum or maximum of integers. Both operands get one type, because Metal has no other overloads.
func extreme(f string, signed bool) expression {
	return func(_ *emitter, o *ttir.Op, x []string) string {
		t := o.Results[0].Type.Element()
		if t.Bits == 1 {
			if (f == "max") != signed {
				return x[0] + " || " + x[1]
			}
			return x[0] + " && " + x[1]
		}
		c := cType(t)
		if !signed {
			c = unsigned(t.Bits)
		}
		return cType(t) + "(" + f + "(" + c + "(" + x[0] + "), " + c + "(" + x[1] + ")))"
	}
}

// wideFloat is an operand as Metal computes with it: bfloat16 is kept as bits and computed as float.
func wideFloat(o *ttir.Op, x string) string { return widened(o.Operands[0].Type, x) }

// widened is an operand of a type as float, where Metal cannot compute in the type itself.
func widened(t *ttir.Type, x string) string {
	if e := t.Element(); keptAsBits(e) {
		return toFloat(e.Name, x)
	}
	return x
}

// keptAsBits reports whether Metal has no arithmetic on a float type: bfloat16 and float8.
func keptAsBits(t *ttir.Type) bool { return t.Kind == ttir.Float && (t.Name == "bf16" || t.Bits == 8) }

// narrowFloat rounds a result to the type that is kept.
func narrowFloat(o *ttir.Op, x string) string { return narrowed(o.Results[0].Type, x) }

// narrowed rounds an expression to a type.
func narrowed(t *ttir.Type, x string) string {
	if e := t.Element(); keptAsBits(e) {
		return rounded(e.Name, "", x)
	}
	if t.Element().Name == "f16" {
		return "half(" + x + ")"
	}
	return x
}

// ofSign is an operation on the sign alone: of float8, whose other bits it keeps, it is one on bits.
func ofSign(bits string, f expression) expression {
	return func(e *emitter, o *ttir.Op, x []string) string {
		if t := o.Results[0].Type.Element(); t.Name == "f8E5M2" || t.Name == "f8E4M3FN" {
			return "uchar(" + x[0] + bits + ")"
		}
		return f(e, o, x)
	}
}

// arithmetic on float and half is Metal's own; that on bfloat16 is done in float and rounded once.
func arithmetic(op string) expression {
	return func(_ *emitter, o *ttir.Op, x []string) string {
		text := wideFloat(o, x[0]) + " " + op + " " + wideFloat(o, x[1])
		if keptAsBits(o.Results[0].Type.Element()) {
			return narrowFloat(o, text)
		}
		return text
	}
}

// floatCall is a function of Metal on floats. Those on half are done on float, and rounded once.
func floatCall(f string) expression {
	return func(_ *emitter, o *ttir.Op, x []string) string {
		args := make([]string, len(x))
		for i := range x {
			args[i] = wideFloat(o, x[i])
			if o.Results[0].Type.Element().Name == "f16" {
				args[i] = "float(" + x[i] + ")"
			}
		}
		return narrowFloat(o, f+"("+strings.Join(args, ", ")+")")
	}
}

// nanExtreme is NaN if either operand is.
func nanExtreme(f string) expression {
	return func(_ *emitter, o *ttir.Op, x []string) string {
		a, b := "float("+wideFloat(o, x[0])+")", "float("+wideFloat(o, x[1])+")"
		return narrowFloat(o, "(isnan("+a+") || isnan("+b+") ? NAN : "+f+"("+a+", "+b+"))")
	}
}

// clamped is tt.clampf: NaN becomes the lower bound, unless the operation says that it stays.
func clamped(_ *emitter, o *ttir.Op, x []string) string {
	a, lo, hi := "float("+wideFloat(o, x[0])+")", "float("+wideFloat(o, x[1])+")", "float("+wideFloat(o, x[2])+")"
	text := "fmin(fmax(" + a + ", " + lo + "), " + hi + ")"
	if o.Word("propagateNan") == "all" {
		text = "(isnan(" + a + ") ? NAN : " + text + ")"
	}
	return narrowFloat(o, text)
}

// compareInts: integers have no sign, predicates do.
func compareInts(_ *emitter, o *ttir.Op, x []string) string {
	p := o.Word("predicate")
	t := o.Operands[0].Type.Element()
	op := map[string]string{"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
	if p == "eq" || p == "ne" {
		return x[0] + " " + op[p] + " " + x[1]
	}
	if len(p) != 3 || op[p[1:]] == "" {
		refuse(o, "", "predicate "+p+" is unknown")
	}
	a, b := x[0], x[1]
	switch {
	case t.Bits == 1 && p[0] == 's':
		// A signed i1 is 0 or -1.
		a, b = "-int("+a+")", "-int("+b+")"
	case t.Bits == 1:
		a, b = "int("+a+")", "int("+b+")"
	case p[0] == 'u':
		a, b = as(unsigned(t.Bits), a), as(unsigned(t.Bits), b)
	}
	return a + " " + op[p[1:]] + " " + b
}

// compareFloats: an ordered predicate is false if an operand is NaN, an unordered one true.
func compareFloats(_ *emitter, o *ttir.Op, x []string) string {
	a, b := wideFloat(o, x[0]), wideFloat(o, x[1])
	switch p := o.Word("predicate"); p {
	case "oeq":
		return a + " == " + b
	case "olt":
		return a + " < " + b
	case "ole":
		return a + " <= " + b
	case "ogt":
		return a + " > " + b
	case "oge":
		return a + " >= " + b
	case "one":
		return a + " < " + b + " || " + a + " > " + b
	case "ord":
		return a + " == " + a + " && " + b + " == " + b
	case "ueq":
		return "!(" + a + " < " + b + " || " + a + " > " + b + ")"
	case "ult":
		return "!(" + a + " >= " + b + ")"
	case "ule":
		return "!(" + a + " > " + b + ")"
	case "ugt":
		return "!(" + a + " <= " + b + ")"
	case "uge":
		return "!(" + a + " < " + b + ")"
	case "une":
		return a + " != " + b
	case "uno":
		return a + " != " + a + " || " + b + " != " + b
	case "false", "true":
		return p
	default:
		refuse(o, "", "predicate "+p+" is unknown")
	}
	return ""
}

// constant is a literal, the same for all elements of a tensor. Triton prints no others, which are refused.
func constant(_ *emitter, o *ttir.Op, _ []string) string {
	all, _ := ttir.Literal(o)
	for _, n := range all[1:] {
		if n != all[0] {
			refuse(o, o.Results[0].Type.String(), "its elements differ; want one for all")
		}
	}
	return literal(o.Results[0].Type.Element(), all[0])
}

// literal is a number of a type, exact to the bit.
func literal(t *ttir.Type, n ttir.Number) string {
	switch {
	case t.Kind == ttir.Int && t.Bits == 1:
		return strconv.FormatBool(n.Int&1 != 0)
	case t.Kind == ttir.Int && t.Bits == 64 && n.Int == math.MinInt64:
		return "(-9223372036854775807l - 1)"
	case t.Kind == ttir.Int && t.Bits == 32 && n.Int == math.MinInt32:
		return "(-2147483647 - 1)"
	case t.Kind == ttir.Int && t.Bits == 64:
		return strconv.FormatInt(n.Int, 10) + "l"
	case t.Kind != ttir.Float:
		if t.Kind == ttir.Int && t.Bits == 32 {
			return strconv.FormatInt(int64(int32(n.Int)), 10)
		}
		return cType(t) + "(" + strconv.FormatInt(n.Int, 10) + ")"
	}
	// MLIR prints infinities and NaN as bits.
	f := n.Float
	if n.IsBit {
		f = fromBits(t, n.Bits)
	}
	switch t.Name {
	case "bf16":
		return "ushort(" + strconv.Itoa(int(toBfloat(float32(f)))) + ")"
	case "f16":
		return "half(" + floatText(f) + ")"
	case "f32", "f64":
		return floatText(f)
	}
	if n.IsBit {
		return "uchar(" + strconv.Itoa(int(n.Bits)) + ")"
	}
	return "uchar(" + strconv.Itoa(int(toFloat8(t.Name, f))) + ")"
}

// floatText is a float32 as a literal, exact.
func floatText(f float64) string {
	switch {
	case math.IsInf(f, 1):
		return "INFINITY"
	case math.IsInf(f, -1):
		return "(-INFINITY)"
	case math.IsNaN(f):
		return "NAN"
	}
	// The shortest text that reads back as the same float.
	s := strconv.FormatFloat(f, 'g', -1, 32)
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	if s[0] == '-' {
		return "(" + s + "f)"
	}
	return s + "f"
}
