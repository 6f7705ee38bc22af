package main

import (
	"fmt"
	"strings"

	"github.com/paddle-mps/paddle-mps/core/op"
)

// attrTypes are the Python types of attributes; Ints and DTypeLike are those of _typing.py.
var attrTypes = map[op.AttrType]string{
	op.BoolAttr:  "bool",
	op.IntAttr:   "int",
	op.FloatAttr: "float",
	op.IntsAttr:  "Ints",
	op.DTypeAttr: "DTypeLike",
}

// stubs is the types of the wrappers, and of the same functions as methods.
func stubs(rows []op.Row) string {
	var b strings.Builder
	b.WriteString(notice + "from ._dtype import DTypeLike\nfrom ._tensor import Tensor\nfrom ._typing import Ints, Scalar\n\n")
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
		list := append(typed(row, indent != ""), "name: str | None = None", "*", "out: Tensor | None = None")
		signature(b, indent, name, list)
		if row.Python.InPlace {
			signature(b, indent, name+"_", append(typed(row, indent != ""), "name: str | None = None"))
		}
	}
}

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
		list = append(list, in.Name+": "+kind)
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
