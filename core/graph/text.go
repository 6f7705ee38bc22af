package graph

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
)

// String is the graph as text, a node a line:
//
//	%2 float32[2, 3] = add(%0, %1)
func (g *Graph) String() string {
	var b strings.Builder
	for _, v := range g.inputs {
		fmt.Fprintf(&b, "input %s\n", g.describe(v))
	}
	for i := range g.nodes {
		n := &g.nodes[i]
		fmt.Fprintf(&b, "%s = %s(%s)%s\n", list(n.Out, g.describe), n.Row.Name, list(n.In, g.name), attributes(n.Row, n.Attrs))
	}
	for _, v := range g.outputs {
		fmt.Fprintf(&b, "output %s\n", g.name(v))
	}
	return b.String()
}

// list is values as text, with commas between.
func list(vs []Value, text func(Value) string) string {
	var texts []string
	for _, v := range vs {
		texts = append(texts, text(v))
	}
	return strings.Join(texts, ", ")
}

func (g *Graph) describe(v Value) string {
	x := &g.values[v]
	text := fmt.Sprintf("%%%d %s%s", v, x.DType, dims(&x.Shape))
	if x.Form != op.TensorForm {
		text += " (" + x.Form.String() + ")"
	}
	return text
}

// dims is what Shape.String answers where nothing is a symbol: a shape as text, in which symbols have names: "[s0, 4]".
func dims(s *shape.Shape) string {
	var texts []string
	for _, d := range s.Slice() {
		text := strconv.FormatInt(d, 10)
		if shape.IsSymbol(d) {
			text = fmt.Sprintf("s%d", shape.SymbolNumber(d))
		}
		texts = append(texts, text)
	}
	return "[" + strings.Join(texts, ", ") + "]"
}

// name is how a value is written where it is used.
func (g *Graph) name(v Value) string {
	switch x := &g.values[v]; {
	case x.number != nil:
		return x.number.String()
	case x.data != nil:
		return fmt.Sprintf("const %s%s", x.DType, &x.Shape)
	}
	return fmt.Sprintf("%%%d", v)
}

// attributes is what a node was given, as text.
func attributes(row *op.Row, at op.Attrs) string {
	text := ""
	for i := range at {
		if at[i].Set() {
			text += fmt.Sprintf(" %s=%s", row.Attrs[i].Name, at[i].String())
		}
	}
	return text
}

// String is the legal graph as text: the buffers, then a step a line, with what it writes and reads as
// views of buffers:
//
//	b2 temporary float32 x 6
//	b2 float32[2, 3] = assign(b0[+1] int32[2, 3])
func (l *Legal) String() string {
	var b strings.Builder
	for i := range l.Buffers {
		x := &l.Buffers[i]
		fmt.Fprintf(&b, "b%d %s %s", i, x.Role, x.DType)
		if x.Role != Given {
			fmt.Fprintf(&b, " x %d", x.Count)
		}
		b.WriteByte('\n')
	}
	for i := range l.Steps {
		s := &l.Steps[i]
		fmt.Fprintf(&b, "%s = %s(%s)%s\n", refs(s.Out), s.Row.Name, refs(s.In), attributes(s.Row, s.Attrs))
	}
	return b.String()
}

// String names the role.
func (r Role) String() string { return [...]string{"temporary", "given", "output", "constant"}[r] }

func refs(list []op.Ref) string {
	var texts []string
	for i := range list {
		texts = append(texts, ref(&list[i]))
	}
	return strings.Join(texts, ", ")
}

// ref is a view: where it begins unless that is the start of the buffer, and strides unless they are those
// of contiguous elements.
func ref(r *op.Ref) string {
	if r.Number != nil {
		return fmt.Sprintf("%s %s%s", r.Number, r.DType, &r.Shape)
	}
	text := fmt.Sprintf("b%d", r.Buffer)
	if r.Offset != 0 {
		text += fmt.Sprintf("[+%d]", r.Offset)
	}
	text += fmt.Sprintf(" %s%s", r.DType, &r.Shape)
	if !r.IsContiguous() {
		strides := shape.Shape{Rank: r.Rank, Dims: r.Strides}
		text += "/" + strides.String()
	}
	return text
}
