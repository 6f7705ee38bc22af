package graph

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
)

// Matching is a search with backtracking. A term either fits a value, binds operands and takes the calls in between, or
// leaves the match as it was. An alternative that has fit is not tried again when a later term fails: an expression
// may then be missed, but never be taken for another.

// term is a part of an expression; see op.Spelling.
type term struct {
	kind    termKind
	operand int // of the row
	number  float64
	row     *op.Row
	of      []*term
}

// termKind says what a term fits.
type termKind uint8

const (
	operandTerm termKind = iota // a tensor; where an expression has one twice, both are the same value
	literalTerm                 // a constant that is as near to a number as the dtype of the calls allows; see near
	epsilonTerm                 // a constant, which the match remembers
	callTerm                    // a call with operands in this order
	eitherTerm                  // one of several
)

// mostOperands is the largest number of operands of a row with spellings.
const mostOperands = 3

// termParser parses the expressions of a row, by recursive descent:
//
//	either = one {"|" one}
//	one    = number | operand | "epsilon" | definition | row "(" either {"," either} ")"
type termParser struct {
	row   *op.Row
	names []*term // of definitions, as many as have been parsed
	text  string  // what is left
}

// parse is the term of an expression. The texts are those of the table, so that one that is wrong is a panic.
func (p *termParser) parse(expr string) *term {
	p.text = expr
	t := p.either()
	if p.text != "" {
		panic("graph: " + expr)
	}
	return t
}

// skip skips one of some characters.
func (p *termParser) skip(any string) bool {
	ok := p.text != "" && strings.Contains(any, p.text[:1])
	if ok {
		p.text = p.text[1:]
	}
	return ok
}

// either parses a term with alternatives.
func (p *termParser) either() *term {
	t := p.one()
	if !strings.HasPrefix(p.text, "|") {
		return t
	}
	t = &term{kind: eitherTerm, of: []*term{t}}
	for p.skip("|") {
		t.of = append(t.of, p.one())
	}
	return t
}

// one parses a term without alternatives.
func (p *termParser) one() *term {
	end := strings.IndexAny(p.text+")", "(),|")
	word := strings.TrimSpace(p.text[:end])
	p.text = p.text[end:]
	if f, err := strconv.ParseFloat(word, 64); err == nil {
		return &term{kind: literalTerm, number: f}
	}
	for i := range p.row.In {
		if p.row.In[i].Name == word {
			return &term{operand: i}
		}
	}
	for i, t := range p.names {
		if op.Definitions[i].Name == word {
			return t
		}
	}
	if word == "epsilon" {
		return &term{kind: epsilonTerm}
	}
	t := &term{kind: callTerm, row: op.MustByName(word)}
	for p.skip("(,") {
		t.of = append(t.of, p.either())
	}
	p.skip(")")
	p.text = strings.TrimLeft(p.text, " ")
	return t
}

// match is what has been found of an expression so far. A copy of it is a point to which a search can go back: nodes grows at its
// end alone.
type match struct {
	g       *Graph
	made    []*Node // by value: the call that makes it
	dtype   dtype.DType
	nodes   []*Node             // the calls of the expression
	bound   [mostOperands]Value // -1: nothing yet
	axis    int                 // the one along which the expression reduces; -1: none yet
	epsilon float64
}

// fits reports whether a value is a term, and leaves the match as it was otherwise.
func (m *match) fits(t *term, v Value) bool {
	before := *m
	ok := m.is(t, v)
	if !ok {
		*m = before
	}
	return ok
}

// is is fits, but for what a failure leaves behind.
func (m *match) is(t *term, v Value) (ok bool) {
	switch t.kind {
	case operandTerm:
		if m.bound[t.operand] < 0 && m.g.values[v].number == nil {
			m.bound[t.operand] = v
		}
		return m.bound[t.operand] == v
	case literalTerm:
		return m.near(v, t.number)
	case epsilonTerm:
		m.epsilon, ok = m.g.number(v)
		return ok
	case eitherTerm:
		return slices.ContainsFunc(t.of, func(t *term) bool { return m.fits(t, v) })
	}
	if t.row.Factor == op.Plus || t.row.Factor == op.Times {
		return m.joins(t.row, t.of, v)
	}
	n := m.take(t.row, v)
	if n == nil || t.row.Kind == op.Reduce && !m.reducesAxis(n) {
		return false
	}
	for i := range t.of {
		if !m.fits(t.of[i], n.In[i]) {
			return false
		}
	}
	return true
}

// divides reports whether dividing by a value is multiplying by a term.
func (m *match) divides(t *term, v Value) bool {
	switch {
	case t.kind == literalTerm:
		return m.near(v, 1/t.number)
	case t.kind == eitherTerm:
		return slices.ContainsFunc(t.of, func(t *term) bool { return m.divides(t, v) })
	case t.kind == callTerm && t.row.Factor == op.Over && t.of[0].number == 1:
		return m.fits(t.of[1], v)
	}
	return false
}

// take is the call that makes a value, which becomes part of the match; nil if it is not of this row, or not in the dtype of the
// match: a cast in between has a meaning.
func (m *match) take(row *op.Row, v Value) *Node {
	n := m.made[v]
	if n == nil || n.Row != row || m.g.values[v].DType != m.dtype {
		return nil
	}
	if !slices.Contains(m.nodes, n) {
		m.nodes = append(m.nodes, n)
	}
	return n
}

// reducesAxis reports whether a call reduces the axis of the match and keeps it.
func (m *match) reducesAxis(n *Node) bool {
	for i := range n.Attrs {
		if n.Row.Attrs[i].Name == "keepdim" && n.Attrs[i].I == 0 {
			return false
		}
	}
	axes := n.Attrs[0].Ints // of none, which are all, and of several there is no one axis that a row has
	if len(axes) != 1 {
		return false
	}
	axis := int(axes[0])
	if axis < 0 {
		axis += m.g.values[n.In[0]].Shape.Rank
	}
	if m.axis < 0 {
		m.axis = axis
	}
	return m.axis == axis
}

// near reports whether a value is the number f, or one of its neighbours in the dtype of the calls: exporters write constants
// such as sqrt(2) with the digits of this dtype, rounded this way or that. Of a number that float32 holds, such as 2, a neighbour
// is another one: negative numbers have a square, and no power of 2.0000002.
func (m *match) near(v Value, f float64) bool {
	got, ok := m.g.number(v)
	if float64(float32(f)) == f {
		return ok && got == f
	}
	spacing := 0x1p-23 // the distance from 1 to the next number; Python scalars beside halves are not rounded to halves
	switch {
	case m.dtype == dtype.Float64:
		spacing = 0x1p-52
	case m.g.values[v].number != nil:
	case m.dtype == dtype.Float16:
		spacing = 0x1p-10
	case m.dtype == dtype.BFloat16:
		spacing = 0x1p-7
	}
	return ok && math.Abs(got-f) <= math.Abs(f)*spacing
}

// number is a Python scalar, or the only element of a constant, whatever its dimensions: if they made the result of the expression
// larger, the row would not have the type of the result.
func (g *Graph) number(v Value) (f float64, ok bool) {
	switch x := &g.values[v]; {
	case x.number != nil && x.number.Kind == op.Float:
		return x.number.F, true
	case x.number != nil && x.number.Kind == op.Int:
		return float64(x.number.I), true
	case x.data != nil && x.DType.IsFloat() && x.Shape.Numel() == 1:
		return elementAt(x.data, 0), true
	}
	return 0, false
}

// joins reports whether a value is the sum or the product of terms: some of them are one operand of its call, and the rest the
// other. It tries every division of the terms into two parts, in both orders; of four terms, which are the most, these are 14.
// The part with the first term is looked for first, because that binds what the others read.
func (m *match) joins(row *op.Row, of []*term, v Value) bool {
	if len(of) == 1 {
		return m.fits(of[0], v)
	}
	if n := m.made[v]; n != nil && n.Row.Factor == op.Over && row.Factor == op.Times {
		return m.quotient(row, of, m.take(n.Row, v))
	}
	n := m.take(row, v)
	if n == nil {
		return false
	}
	before := *m
	for set := 1; set < 1<<len(of)-1; set += 2 { // the terms on the side of the first
		var with, without []*term
		for i, t := range of {
			if set>>i&1 != 0 {
				with = append(with, t)
			} else {
				without = append(without, t)
			}
		}
		for side := range 2 {
			if m.joins(row, with, n.In[side]) && m.joins(row, without, n.In[1-side]) {
				return true
			}
			*m = before
		}
	}
	return false
}

// quotient is joins for a product whose last step divides by one of the terms.
func (m *match) quotient(row *op.Row, of []*term, n *Node) bool {
	before := *m
	for i := range of {
		rest := append(append([]*term(nil), of[:i]...), of[i+1:]...)
		if n != nil && m.divides(of[i], n.In[1]) && m.joins(row, rest, n.In[0]) {
			return true
		}
		*m = before
	}
	return false
}
