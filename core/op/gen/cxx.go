package main

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/paddle-mps/paddle-mps/core/op"
)

// cxxTypes are the C++ types of attributes; those that may be left out are std::optional, or an Axes without axes.
var cxxTypes = map[op.AttrType]string{
	op.BoolAttr:   "bool",
	op.IntAttr:    "std::int64_t",
	op.FloatAttr:  "double",
	op.IntsAttr:   "Axes",
	op.DTypeAttr:  "pmps_dtype",
	op.StringAttr: "std::string_view",
	op.ScalarAttr: "Number",
	op.FloatsAttr: "const std::vector<double>&",
}

// cxxHead is what comes before the functions: the classes of their operands and attributes.
//
//go:embed functions.hpp.in
var cxxHead string

// functions is every operator as a function of C++: paddlemps::sum(x, -1) for call(PMPS_OP_SUM, {x}, {attr("axis", -1)}).
func functions(rows []op.Row) string {
	// In the order of the table, which is that of the C header and of docs/ops.md.
	var b strings.Builder
	b.WriteString(cxxHead)
	for i := range rows {
		cxxFunction(&b, &rows[i])
	}
	b.WriteString("\n}  // namespace paddlemps\n\n#endif /* PADDLEMPS_OPS_HPP */\n")
	return b.String()
}

// cxxFunction is a row: its operands, then its attributes. What creates takes a place first, and what has several
// results returns a list, and takes last how many it may have.
func cxxFunction(b *strings.Builder, row *op.Row) {
	var list []string
	// How the call is run says what comes back.
	result, run := "Tensor", "one()"
	if row.Many() {
		result, run = "std::vector<Tensor>", "all(most)"
	}
	if row.Kind == op.Create {
		list, run = append(list, "Place place"), "on(place)"
	}
	body := ""
	// Operands are borrowed for the call, and only those that are optional have a default.
	for i, in := range row.In {
		kind, name := "const Operand&", in.Name
		if in.Variadic {
			kind = "const Tensors&"
		}
		parameter := kind + " " + name
		if in.Optional && !mustGive(row, i+1, 0) {
			parameter += " = {}"
		}
		list = append(list, parameter)
		body += ".with(" + name + ")"
	}
	// An attribute that is not given stays out of the call: the library has the default, and its meaning.
	for i := range row.Attrs {
		a := &row.Attrs[i]
		list = append(list, cxxParameter(row, i))
		value := a.Name
		if a.Needed && a.Type == op.IntsAttr {
			value += ".values()" // an empty list is one
		}
		body += fmt.Sprintf(".give(%q, %s)", a.Name, value)
	}
	if row.Many() { // the C interface fills an array of the caller's
		list = append(list, "std::size_t most = 64")
	}
	// One statement, so that what the call borrows is alive until it has run.
	fmt.Fprintf(b, "\n/* %s */\ninline %s %s(%s) {\n  return detail::Call(PMPS_OP_%s)%s.%s;\n}\n",
		described[row.Name].Doc, result, row.Name, strings.Join(list, ", "), strings.ToUpper(row.Name), body, run)
}

// mustGive says whether an operand from the given one on, or an attribute, has to be given: C++ has defaults for the last
// parameters only, so that what stands before such a one has none.
func mustGive(row *op.Row, operand, attribute int) bool {
	for _, in := range row.In[operand:] {
		if !in.Optional {
			return true
		}
	}
	for i := range row.Attrs[attribute:] {
		if row.Attrs[attribute+i].Needed {
			return true
		}
	}
	return false
}

// cxxParameter is attribute i with its default, unless one behind it has to be given.
func cxxParameter(row *op.Row, i int) string {
	a := &row.Attrs[i]
	// A new type of attribute has to be decided on here, and until then nothing is generated.
	kind := cxxTypes[a.Type]
	if kind == "" {
		panic(fmt.Sprintf("[%s] attribute %s has a type that C++ has no parameter for", row.Name, a.Name))
	}
	// No default and none needed: the meaning of that is the row's.
	optional := !a.Needed && a.Default.Kind == op.None
	// Axes have a state of their own for none, because {} would be an optional without a value as well as no axes. Of floats no
	// list means none.
	if optional && a.Type != op.IntsAttr && a.Type != op.FloatsAttr {
		kind = "std::optional<" + kind + ">"
	}
	// The name is that of the row, which is also what the call gives it as.
	parameter := kind + " " + a.Name
	if mustGive(row, len(row.In), i) {
		return parameter
	}
	// Nothing given is a value of its own, for which the row has a meaning.
	if optional {
		return parameter + " = {}"
	}
	return parameter + " = " + cxxLiteral(row, a)
}

func cxxLiteral(row *op.Row, a *op.Attr) string {
	switch v := &a.Default; v.Kind {
	case op.Bool:
		return map[int64]string{0: "false", 1: "true"}[v.I]
	case op.Int:
		return fmt.Sprint(v.I)
	case op.Float:
		return fmt.Sprintf("%v", v.F)
	case op.DType:
		return "PMPS_" + strings.ToUpper(dtypeOf(v))
	case op.String: // of letters, which both languages write alike
		return fmt.Sprintf("%q", v.Str())
	}
	panic(fmt.Sprintf("[%s] attribute %s has a default that C++ has no literal for", row.Name, a.Name))
}
