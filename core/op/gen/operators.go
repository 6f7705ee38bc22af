package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
)

// operators is every operator as a function of its operands and attributes: what the wrappers, and the
// functions that are written by hand, call.
func operators(rows []op.Row) string {
	var b strings.Builder
	b.WriteString(notice + `"""Every operator as a function of its operands and attributes; see operator in _call.

Those that create take a place first. The functions for expressions take numbers on either side.
"""

from ._call import PLACE, operator

`)
	// An expression may have its number on the left (1 - x), which a function of Paddle does not take: operators of two
	// operands are written twice, and differ by what may be a number.
	for i := range rows {
		row := &rows[i]
		operator(&b, row, row.Name, takesScalar)
		if (row.Kind == op.Binary || row.Kind == op.Compare) && row.Calls == nil { // a composite is no operator of Python
			operator(&b, row, row.Name+"_expression", func(row *op.Row, i int) bool { return row.In[i].Scalar })
		}
	}
	return b.String()
}

// operator is a function of a row; scalar says which operands may be numbers.
func operator(b *strings.Builder, row *op.Row, name string, scalar func(*op.Row, int) bool) {
	// What depends on the kind is said in the line, because the number alone says nothing in Python: creation takes a
	// place, and results are one tensor, a list, or one that may keep a large operand alive.
	line := fmt.Sprintf("%s = operator(%d, %q, %q, %q", name, row.ID, row.Name, operandWords(row, scalar), attributeWords(row))
	if row.Kind == op.Create {
		line += ", PLACE"
	}
	switch {
	case row.Many():
		line += `, result="many"`
	case row.Kind == op.View && !row.Fresh:
		line += `, result="view"`
	}
	if kept := keeps(row); kept != "" {
		line += fmt.Sprintf(", keeps=%q", kept)
	}
	b.WriteString(line + ")\n")
}

// keeps says when an operator on the elements of tensors of one dtype has a result of that dtype: "bool int float" are the
// kinds of dtypes for which it has. "test" is an operator whose result is always bool. It is empty for other rows.
func keeps(row *op.Row) string {
	made := row.Accepts.Members()
	for i, d := range made {
		made[i] = result(row, d)
	}
	if slices.Equal(slices.Compact(made), []dtype.DType{dtype.Bool}) {
		return "test"
	}
	var words []string
	for _, kind := range dtypeKinds {
		if !slices.ContainsFunc(kind.set.Members(), func(d dtype.DType) bool { return result(row, d) != d }) {
			words = append(words, kind.word)
		}
	}
	return strings.Join(words, " ")
}

// result is the dtype of the result for tensors of dtype d, where that is certain: see [op.Row.Direct], and beside the rows
// there, of elementwise rows whose attributes say nothing about it.
func result(row *op.Row, d dtype.DType) dtype.DType {
	if len(row.Attrs) == 0 && row.Kind != op.Select && row.Calls == nil {
		return row.Direct(d)
	}
	if row.Kind != op.Unary && row.Kind != op.Select || !row.Accepts.Has(d) {
		return dtype.Invalid
	}
	// The condition of where is bool beside operands of any dtype: these are not tensors of one.
	for i := range row.In {
		if row.In[i].Domain == op.Condition {
			return dtype.Invalid
		}
	}
	// The rules are asked about operands without axes, which every shape rule of these kinds accepts. What they cast, a kernel
	// does not compute in d.
	var c op.Inference
	c.Reset(row, make(op.Attrs, len(row.Attrs)))
	for range row.In {
		c.In = append(c.In, op.Arg{Type: op.Type{DType: d}})
	}
	if row.Fill(c.Attrs) != nil || c.Infer() != nil || c.Cast[0] != d {
		return dtype.Invalid
	}
	return c.Out[0].DType
}

// dtypeKinds are the kinds of dtypes by the names that Python has for them.
var dtypeKinds = []struct {
	word string
	set  dtype.Set
}{{"bool", dtype.SetOf(dtype.Bool)}, {"int", dtype.Integers}, {"float", dtype.Floats}}

// operandWords are the operands as one string, a word each: "x y? indices* min?=". A star stands for any number of
// tensors, a question mark for one that may be a number, and an equals sign for one that may be left out. Python
// reads them once, when the module is imported.
func operandWords(row *op.Row, scalar func(*op.Row, int) bool) string {
	var words []string
	for i, in := range row.In {
		word := in.Name
		if in.Variadic {
			word += "*"
		}
		if scalar(row, i) {
			word += "?"
		}
		if in.Optional {
			word += "="
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// attributeWords are the attributes in the order of the row, each with the type that its argument is converted to:
// "axis:ints keepdim:bool".
func attributeWords(row *op.Row) string {
	var words []string
	for i := range row.Attrs {
		words = append(words, row.Attrs[i].Name+":"+attrWords[row.Attrs[i].Type])
	}
	return strings.Join(words, " ")
}
