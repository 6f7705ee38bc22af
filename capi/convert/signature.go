package convert

import (
	"strconv"
	"strings"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
)

// Signature is how a row reads: `softmax(x, axis: int = -1) -> tensor`. An input that takes any number
// of tensors has a star, and what may be left out has its default or `none`.
func Signature(row *op.Row) string {
	var list []string
	for i := range row.In {
		list = append(list, inputText(&row.In[i]))
	}
	for i := range row.Attrs {
		list = append(list, attributeText(&row.Attrs[i]))
	}
	result := "tensor"
	if row.Many() {
		result = "tensors"
	}
	return row.Name + "(" + strings.Join(list, ", ") + ") -> " + result
}

// inputText is an operand in a signature.
func inputText(in *op.Input) string {
	switch {
	case in.Variadic:
		return "*" + in.Name
	case in.Optional:
		return in.Name + " = none"
	}
	return in.Name
}

// attributeText is an attribute with its type and its default.
func attributeText(a *op.Attr) string {
	text := a.Name + ": " + a.Type.String()
	if a.Needed {
		return text
	}
	return text + " = " + valueText(&a.Default)
}

// valueText is a default; `none` for one without a value.
func valueText(v *op.Value) string {
	switch v.Kind {
	case op.Bool:
		return strconv.FormatBool(v.I != 0)
	case op.Int:
		return strconv.FormatInt(v.I, 10)
	case op.Float:
		return strconv.FormatFloat(v.F, 'g', -1, 64)
	case op.DType:
		return dtype.DType(v.I).String()
	case op.Ints:
		var list []string
		for _, n := range v.Ints {
			list = append(list, strconv.FormatInt(n, 10))
		}
		return "[" + strings.Join(list, ", ") + "]"
	}
	return "none"
}
