package graph

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
)

// The text of a graph has a line for each input, each constant that is read, each node and each output:
//
//	input %0 float32[s0, 3]
//	constant %1 float32[3, 2]
//	%2 float32[s0, 2] = matmul(%0, %1) transpose_x=false transpose_y=false
//	%3 float32[s0, 2] = multiply(%2, 0.5)
//	output %3
//
// Values are numbered in the order of their lines, and so are dimensions that are not known: s0, s1, ... An operand that is
// left out is none. A size in an attribute may be one that a line above has: full() shape=[s0, 3]. The elements of constants are
// not in the text. Parse makes the graph of a text.

// String is the graph as text.
func (g *Graph) String() string {
	text, _ := g.print()
	return text
}

// print is the graph as text, and its constants in the order of their lines.
func (g *Graph) print() (string, []*op.Const) {
	p := printer{graph: g, names: make([]int, len(g.values)), sizes: map[int64]int{}}
	for v := range p.names {
		p.names[v] = -1
	}
	for _, v := range g.inputs {
		fmt.Fprintf(&p.text, "input %s\n", p.declare(v))
	}
	p.constants()
	for i := range g.nodes {
		n := &g.nodes[i]
		fmt.Fprintf(&p.text, "%s = %s(%s)%s\n", list(n.Out, p.declare), n.Row.Name, list(n.In, p.name), p.attributes(n))
	}
	for _, v := range g.outputs {
		fmt.Fprintf(&p.text, "output %s\n", p.name(v))
	}
	return p.text.String(), p.known
}

// Passes leave values behind that nothing reads any more, and graphs that compute the same may have other values in between.
// Their texts are the same nevertheless: numbers are given anew, and constants that nothing reads are not in them.

type printer struct {
	graph *Graph
	text  strings.Builder
	names []int         // by value: the number in the text; -1: none yet
	count int           // of numbers
	sizes map[int64]int // by symbol: its number in the text
	known []*op.Const
}

// constants declares what is read of constants, in the order in which they were added.
func (p *printer) constants() {
	read := make([]bool, len(p.graph.values))
	for i := range p.graph.nodes {
		for _, v := range p.graph.nodes[i].In {
			read[v] = true
		}
	}
	for _, v := range p.graph.outputs {
		read[v] = true
	}
	for v := range p.graph.values {
		if x := &p.graph.values[v]; x.data != nil && read[v] {
			fmt.Fprintf(&p.text, "constant %s\n", p.declare(Value(v)))
			p.known = append(p.known, x.data)
		}
	}
}

// list is values as text, with commas between.
func list(vs []Value, text func(Value) string) string {
	var texts []string
	for _, v := range vs {
		texts = append(texts, text(v))
	}
	return strings.Join(texts, ", ")
}

// declare gives a value the next number, and is what stands where the value is made.
func (p *printer) declare(v Value) string {
	p.names[v] = p.count
	p.count++
	x := &p.graph.values[v]
	s := x.Shape
	for i, d := range s.Slice() {
		if !shape.IsSymbol(d) {
			continue
		}
		if _, ok := p.sizes[d]; !ok {
			p.sizes[d] = len(p.sizes)
		}
		s.Dims[i] = shape.Symbol(p.sizes[d])
	}
	text := fmt.Sprintf("%%%d %s%s", p.names[v], x.DType, dims(&s))
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
func (p *printer) name(v Value) string {
	if x := &p.graph.values[v]; x.number != nil {
		return number(x.number)
	}
	return fmt.Sprintf("%%%d", p.names[v])
}

// The digits of a float are as many as tell it from all others, so that it is read again bit for bit, except for nan, which has
// one spelling.

// number is a value as text that tells its kind: a float has a point, an exponent or a word for a number.
func number(v *op.Value) string {
	text := v.String()
	if v.Kind == op.Float && strings.Trim(text, "-0123456789") == "" {
		text += ".0"
	}
	return text
}

// attributes is what a node was given, as text.
func attributes(row *op.Row, at op.Attrs) string {
	text := ""
	for i := range at {
		if at[i].Set() {
			text += fmt.Sprintf(" %s=%s", row.Attrs[i].Name, attribute(&at[i]))
		}
	}
	return text
}

// attributes is the attributes of a node, with the symbols of the text in place of those of the graph.
func (p *printer) attributes(n *Node) string {
	at := slices.Clone(n.Attrs)
	for i := range at {
		if !n.Row.TakesSizes(i) {
			continue
		}
		renamed, err := at[i].WithSizes(func(symbol int64) (int64, error) { return op.SizeAttr(shape.Symbol(p.sizes[symbol])), nil })
		if err == nil && renamed != nil {
			at[i] = *renamed
		}
	}
	return attributes(n.Row, at)
}

// size is a number in an attribute as text.
func size(n int64) string {
	if symbol, ok := op.SymbolIn(n); ok {
		return fmt.Sprintf("s%d", shape.SymbolNumber(symbol))
	}
	return strconv.FormatInt(n, 10)
}

func attribute(v *op.Value) string {
	var texts []string
	switch v.Kind {
	case op.Ints:
		for _, n := range v.Ints {
			texts = append(texts, size(n))
		}
	case op.Int:
		return size(v.I)
	case op.Floats:
		for _, x := range v.Floats() {
			texts = append(texts, number(&op.Value{Kind: op.Float, F: x}))
		}
	case op.Strings:
		for _, s := range v.Strings() {
			texts = append(texts, strconv.Quote(s))
		}
	case op.String:
		return strconv.Quote(v.Str())
	default:
		return number(v)
	}
	return "[" + strings.Join(texts, ", ") + "]"
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
