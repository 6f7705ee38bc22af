package main

import (
	"fmt"
	"strings"

	"github.com/paddle-mps/paddle-mps/core/op"
)

// attrTypes are the Python types of attributes; Ints and DTypeLike are those of _typing.py.
var attrTypes = map[op.AttrType]string{
	op.BoolAttr:    "bool",
	op.IntAttr:     "int",
	op.FloatAttr:   "float",
	op.IntsAttr:    "Ints",
	op.DTypeAttr:   "DTypeLike",
	op.StringAttr:  "str",
	op.FloatsAttr:  "float | Sequence[float]",
	op.StringsAttr: "str | Sequence[str]",
	op.TensorAttr:  "Tensor",
}

// stubs is the types of the wrappers, and of the same functions as methods.
//
// Wrappers have no annotations themselves: they would be evaluated on every import, and editors and checkers read the
// stubs. That both have the same parameters is for the tests of Python to see.
func stubs(rows []op.Row) string {
	var b strings.Builder
	b.WriteString(notice + "from .._core._dtype import DTypeLike\nfrom .._core._typing import Ints, Scalar, Tensor\n\n")
	exported(&b, "__all__ = ", publicNames(rows, ""))
	b.WriteString("\n")
	for i := range rows {
		if generated(&rows[i]) {
			stub(&b, &rows[i], "")
		}
	}
	b.WriteString("\nclass Methods:\n    __slots__: tuple[str, ...]\n")
	for i := range rows {
		if row := &rows[i]; generated(row) && row.Python.Method {
			stub(&b, row, "    ")
		}
	}
	return b.String()
}

// stub is a function with its aliases and in-place form; indented, they are methods.
func stub(b *strings.Builder, row *op.Row, indent string) {
	for _, name := range append([]string{row.Name}, row.Python.Alias...) {
		others := otherNames(row, indent != "")
		list := append(typed(row, indent != ""), labels(row, "name: str | None = None", "out: Tensor | None = None", others)...)
		signature(b, indent, name, list)
		if row.Python.InPlace {
			signature(b, indent, name+"_", append(typed(row, indent != ""), "name: str | None = None"))
		}
	}
}

// signature is a function with its parameters broken into lines as the formatter of the Python sources would: all on one
// line, all on a line of their own, or one a line with a comma behind the last.
func signature(b *strings.Builder, indent, name string, list []string) {
	line := fmt.Sprintf("%sdef %s(%s) -> Tensor: ...\n", indent, name, strings.Join(list, ", "))
	if len(line) <= lineLength+1 {
		b.WriteString(line)
		return
	}
	inner := indent + "    "
	if line = inner + strings.Join(list, ", ") + "\n"; len(line) > lineLength+1 {
		line = inner + strings.Join(list, ",\n"+inner) + ",\n"
	}
	fmt.Fprintf(b, "%sdef %s(\n%s%s) -> Tensor: ...\n", indent, name, line, indent)
}

// typed is the parameters with their types; the first one of a method is self.
//
// Every operand has a default in the stubs, as in the wrappers, although all but optional ones have to be given: a checker
// could not tell that one came under its other name.
func typed(row *op.Row, method bool) (list []string) {
	for i, in := range row.In {
		kind := "Tensor"
		if takesScalar(row, i) {
			kind = "Tensor | Scalar"
		}
		if method && i == 0 {
			list = append(list, "self")
			continue
		}
		list = append(list, in.Name+": "+kind+" = ...") // it may come under another name
	}
	for i := range row.Attrs {
		a := &row.Attrs[i]
		kind, value := attrTypes[a.Type], literal(row, a)
		if value == "None" {
			kind += " | None"
		}
		list = append(list, fmt.Sprintf("%s: %s = %s", a.Name, kind, value))
	}
	return list
}

// otherNames are the parameters that stand for others, with their types; none stands for self.
//
// They come behind the star, because a position has one name: x may be given without any, input has to be written.
func otherNames(row *op.Row, method bool) (list []string) {
	// Another name has the type of what it stands for, without None: a caller who writes it means to give something.
	types := map[string]string{}
	for _, p := range typed(row, false) {
		name, kind, _ := strings.Cut(p, ": ")
		kind, _, _ = strings.Cut(kind, " = ")
		types[name] = strings.TrimSuffix(kind, " | None")
	}
	for i, other := range renames(row) {
		if method && i == 0 && other.name == row.In[0].Name {
			continue
		}
		list = append(list, fmt.Sprintf("%s: %s | None = None", other.alias, types[other.name]))
	}
	return list
}
