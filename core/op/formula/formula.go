package formula

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/paddle-mps/paddle-mps/core/op"
)

// A formula is the text of a composite: what it is called with, and the calls that it is made of.
//
//	smooth_l1_loss(input, label, reduction="mean", delta=1.0, is_huber=true) =
//		distance = abs(input - label)
//		near = minimum(distance, delta)
//		loss = near * (distance - 0.5 * near)
//		reduced(is_huber ? loss : loss / delta, reduction)
//
// Several results have names, behind an arrow: f(x) -> values, indices = ..., and the last line is a list of them. Of halves
// only the first is rounded.
//
// In front of the first = stand the operands, then the attributes with their defaults, which say their types: true is a bool,
// 1 an int, 1.0 a float, "mean" a string. One that may be left out has the name of its type instead: int, ints, floats, float or dtype;
// scalar is of one that is an int or a float as it was given, and not left out. An operand with a question mark may be left out, too;
// value=number is an operand that may be a number, and one with three dots, the last, stands for any number of them, a list. The lines behind
// it give names to values, which are computed where they are first used; the others are computed one after
// the other: checks, and at last the result.
//
//	f(x, 1, axis=0)         a call of the row f: its operands, then its attributes by place or by name; none leaves one out
//	f(x)[1], y[1]           the second result of a call, also of one that has a name
//	+ - * / ** //           rows add, subtract, multiply, divide, pow and floor_divide; + joins lists of sizes, * multiplies them
//	< <= > >= == !=         rows of comparisons
//	& | !                   rows logical_and, logical_or and logical_not
//	attribute ? a : b       a or b, of which the other is not computed; also for given(x), whether an operand was given. A line may
//	                        end behind ? and :
//	[0, -1]                 a list of ints, for an attribute, or of operands
//	scan(y, a, i, n, f(y, i))
//	                        a, f(a, 0), f(f(a, 0), 1)..., n of them behind the first one, stacked. Lines are computed once: what
//	                        depends on y and i stands in place, or has a name as an argument in front: scan(y, a, i, n, z=g(y), f(y, z))
//
// Numbers among operands are floats, weak beside tensors as in Python. What has no operand among its parts, like 2 * pi, is
// computed once, in float64. Beside the rows there are the functions of formulaFunctions.
type formula struct {
	name     string
	in       []op.Input
	attrs    []op.Attr
	out      []op.Output // nil: one result
	asFirst  bool        // see composite
	narrow   bool        // likewise
	text     string      // of the lines
	read     sync.Once
	body     []line   // of text, once that was read
	gradient *formula // of the only operand, whose operands are that and dy; nil: that of the calls
}

// line gives a value a name; the last one has none.
type line struct {
	name  string
	value *expression
}

// expression is a node of a formula.
type expression struct {
	kind  expressionKind
	text  string        // a name, that of a call, or an operator
	value op.Value      // of a literal
	args  []*expression // operands, arguments, elements of a list
	keys  []string      // of a call: the names of arguments; "" by place
	index int           // of a call, and of a name of one: which result counts
}

type expressionKind uint8

const (
	isLiteral expressionKind = iota
	isName
	isCall
	isInfix
	isPrefix
	isChoice
	isList
)

// readSignature reads the text of a composite up to its first =. Texts stand in the source, so that what is wrong with one is a
// panic.
func readSignature(text string) *formula {
	p := formulaParser{text: text}
	p.next()
	f := &formula{name: p.word()}
	p.signature(f)
	if p.takes("->") {
		for more := true; more; more = p.takes(",") {
			f.out = append(f.out, op.Output{Name: p.word()})
		}
	}
	p.want("=")
	f.text = text[p.at-len(p.token):]
	return f
}

// slope is the formula of the gradient of another one: it has its operands and attributes, and dy.
func (f *formula) slope(text string) *formula {
	return &formula{name: f.name, in: append(slices.Clone(f.in), op.Input{Name: "dy"}), attrs: f.attrs, text: text}
}

// input is the declaration of an operand of a call, of which the last may be any number.
func (f *formula) input(i int) *op.Input { return &f.in[min(i, len(f.in)-1)] }

// many reports whether the last operand is any number of them.
func (f *formula) many() bool { return len(f.in) > 0 && f.in[len(f.in)-1].Variadic }

// lines are read when they are wanted for the first time: most programs call few formulas.
func (f *formula) lines() []line {
	f.read.Do(func() {
		p := formulaParser{text: f.text}
		p.next()
		f.body = p.lines()
	})
	return f.body
}

// formulaParser reads a text from left to right.
type formulaParser struct {
	text  string
	at    int    // behind the token
	token string // "" at the end
	depth int    // of brackets, in which a line may end anywhere
}

// signature reads the operands and attributes.
func (p *formulaParser) signature(f *formula) {
	p.want("(")
	for first := true; !p.takes(")"); first = false {
		if !first {
			p.want(",")
		}
		word := p.word()
		switch {
		case strings.HasSuffix(word, "..."):
			f.in = append(f.in, op.Input{Name: strings.TrimSuffix(word, "..."), Variadic: true})
		case p.takes("?"):
			f.in = append(f.in, op.Input{Name: word, Optional: true})
		case p.takes("="):
			if e := p.expression(); e.kind == isName && e.text == "number" {
				f.in = append(f.in, op.Input{Name: word, Scalar: true})
			} else {
				f.attrs = append(f.attrs, attrOf(word, e))
			}
		default:
			f.in = append(f.in, op.Input{Name: word})
		}
	}
}

// attrOf is an attribute of the type of its default, or of the type that is named instead of one.
func attrOf(name string, e *expression) op.Attr {
	if e.kind == isName {
		types := map[string]op.AttrType{"int": op.IntAttr, "ints": op.IntsAttr, "floats": op.FloatsAttr, "float": op.FloatAttr, "scalar": op.ScalarAttr, "dtype": op.DTypeAttr}
		return op.Attr{Name: name, Type: types[e.text], Needed: e.text == "scalar"}
	}
	kind := op.StringAttr
	switch e.value.Kind {
	case op.Bool:
		kind = op.BoolAttr
	case op.Int:
		kind = op.IntAttr
	case op.Float:
		kind = op.FloatAttr
	}
	return op.Attr{Name: name, Type: kind, Default: e.value}
}

// lines reads what stands behind the signature.
func (p *formulaParser) lines() (list []line) {
	for {
		if p.lineEnds(); p.token == "" {
			return list
		}
		l := line{value: p.expression()}
		if l.value.kind == isName && p.takes("=") {
			l = line{l.value.text, p.expression()}
		}
		if list = append(list, l); p.token != "" {
			p.want("\n")
		}
	}
}

// levels are the operators between two operands, those that bind least first.
var levels = [][]string{{"|"}, {"&"}, {"<=", "<", ">=", ">", "==", "!="}, {"+", "-"}, {"*", "/", "//"}}

func (p *formulaParser) expression() *expression {
	e := p.level(0)
	if !p.takes("?") {
		return e
	}
	p.lineEnds()
	yes := p.expression()
	p.want(":")
	p.lineEnds()
	return &expression{kind: isChoice, args: []*expression{e, yes, p.expression()}}
}

func (p *formulaParser) level(n int) *expression {
	if n == len(levels) {
		return p.unary()
	}
	e := p.level(n + 1)
	for {
		token := p.token
		if !p.takesOneOf(levels[n]) {
			return e
		}
		e = &expression{kind: isInfix, text: token, args: []*expression{e, p.level(n + 1)}}
	}
}

// unary binds less than a power: -x ** 2 is -(x ** 2).
func (p *formulaParser) unary() *expression {
	token := p.token
	if !p.takesOneOf([]string{"-", "!"}) {
		e := p.primary()
		if p.takes("**") {
			e = &expression{kind: isInfix, text: "**", args: []*expression{e, p.unary()}}
		}
		return e
	}
	e := p.unary()
	if token == "-" && e.kind == isLiteral {
		e.value.I, e.value.F = -e.value.I, -e.value.F
		return e
	}
	return &expression{kind: isPrefix, text: token, args: []*expression{e}}
}

func (p *formulaParser) primary() *expression {
	switch {
	case p.takes("("):
		e := p.expression()
		p.want(")")
		return e
	case p.takes("["):
		return p.list()
	}
	if v, ok := literalOf(p.token); ok {
		p.next()
		return &expression{kind: isLiteral, value: v}
	}
	word := p.word()
	e := &expression{kind: isName, text: word}
	if p.takes("(") {
		e = p.call(word)
	}
	if p.takes("[") {
		v, _ := literalOf(p.token)
		e.index = int(v.I)
		p.next()
		p.want("]")
	}
	return e
}

// list reads a list of ints, or of values.
func (p *formulaParser) list() *expression {
	e := &expression{kind: isList}
	for !p.takes("]") {
		if e.args = append(e.args, p.expression()); p.token != "]" {
			p.want(",")
		}
	}
	return e
}

// call reads arguments.
func (p *formulaParser) call(word string) *expression {
	e := &expression{kind: isCall, text: word}
	for !p.takes(")") {
		arg, key := p.expression(), ""
		if arg.kind == isName && p.takes("=") {
			arg, key = p.expression(), arg.text
		}
		e.args, e.keys = append(e.args, arg), append(e.keys, key)
		if p.token != ")" {
			p.want(",")
		}
	}
	return e
}

// literalOf is the value of a token, if it is no word and no sign.
func literalOf(token string) (op.Value, bool) {
	switch {
	case token == "true":
		return op.Value{Kind: op.Bool, I: 1}, true
	case token == "false":
		return op.Value{Kind: op.Bool}, true
	case token == "none":
		return op.Value{}, true
	case strings.HasPrefix(token, `"`):
		return op.Value{Kind: op.String, Ref: token[1 : len(token)-1]}, true
	case token == "" || token[0] < '0' || token[0] > '9':
		return op.Value{}, false
	}
	if n, err := strconv.ParseInt(token, 10, 64); err == nil {
		return op.Value{Kind: op.Int, I: n}, true
	}
	f, err := strconv.ParseFloat(token, 64)
	return op.Value{Kind: op.Float, F: f}, err == nil
}

// The tokens.

func (p *formulaParser) takes(token string) bool {
	if p.token != token || token == "" {
		return false
	}
	p.next()
	return true
}

// lineEnds skips the ends of lines, where an expression goes on in the next one.
func (p *formulaParser) lineEnds() {
	for p.takes("\n") {
	}
}

func (p *formulaParser) takesOneOf(tokens []string) bool {
	for _, token := range tokens {
		if p.takes(token) {
			return true
		}
	}
	return false
}

func (p *formulaParser) want(token string) {
	if !p.takes(token) {
		panic("op: a formula has " + p.token + " where " + token + " is wanted, in " + p.text)
	}
}

func (p *formulaParser) word() string {
	word := p.token
	if word == "" || !isWord(word[0]) {
		panic("op: a formula has " + word + " where a name is wanted, in " + p.text)
	}
	p.next()
	return word
}

func isWord(c byte) bool { return c == '_' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '.' }

// next goes on to the next token: a word, a number, a string, a sign of one or two bytes, or the end of a line that is not
// within brackets.
func (p *formulaParser) next() {
	spaces := " \t"
	if p.depth > 0 {
		spaces += "\n"
	}
	text := strings.TrimLeft(p.text[p.at:], spaces)
	p.at = len(p.text) - len(text)
	size := 1
	switch {
	case text == "":
		size = 0
	case isWord(text[0]):
		for size < len(text) && (isWord(text[size]) || text[size] == '-' && text[size-1] == 'e' && text[0] <= '9') {
			size++
		}
	case text[0] == '"':
		size = 2 + strings.IndexByte(text[1:], '"')
	case strings.HasPrefix(text, "**"), strings.HasPrefix(text, "->"), strings.HasPrefix(text, "//"), len(text) > 1 && text[1] == '=' && strings.Contains("<>=!", text[:1]):
		size = 2
	}
	p.token = text[:size]
	p.at += size
	switch p.token {
	case "(", "[":
		p.depth++
	case ")", "]":
		p.depth--
	}
}
