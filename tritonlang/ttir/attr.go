// Attributes. The printer needs their text, the compiler only numbers, lists of numbers and words: these are decoded, and
// everything else is kept as text in the form that MLIR prints.

package ttir

import (
	"strconv"
	"strings"
)

// dict parses {name = value, name}.
func (p *parser) dict() (all []Attr) {
	p.want("{")
	for !p.take("}") {
		t := p.next()
		name := t.text
		// Names that are no words are quoted.
		if t.kind == str {
			name = p.unquote(t)
		} else if t.kind != word {
			p.failAt(t, "want the name of an attribute")
		}
		a := Attr{Name: name}
		if p.take("=") {
			a.Value = p.attrValue()
		} else {
			a.Value = AttrValue{Text: ""}
		}
		all = append(all, a)
		if !p.take(",") {
			p.want("}")
			break
		}
	}
	return all
}

// attrValue parses an attribute's value and keeps its text; numbers, lists of numbers and words are decoded too.
func (p *parser) attrValue() AttrValue {
	from := p.at
	t := p.peek()
	var a AttrValue
	switch {
	case t.kind == str:
		p.next()
		a.Word = p.unquote(t)
	case t.kind == num:
		p.next()
		// A float has text only.
		if n, err := strconv.ParseInt(t.text, 0, 64); err == nil {
			a.Ints = []int64{n}
		}
		if p.take(":") {
			p.typ()
		}
	case p.is("true") || p.is("false"):
		a.Ints = []int64{0}
		if p.next().text == "true" {
			a.Ints[0] = 1
		}
	case p.is("array"):
		a.Ints = p.array()
	default:
		p.balanced()
		a.Word = t.text
	}
	a.Text = p.text(from, p.at)
	return a
}

// array parses array<i32: 1, 0>.
func (p *parser) array() (all []int64) {
	p.next()
	p.want("<")
	elem := p.typ()
	// array<i32> has no elements.
	if p.take(":") {
		for {
			t := p.next()
			n, err := strconv.ParseInt(t.text, 0, 64)
			switch {
			case t.text == "true":
				n = 1
			case t.text == "false":
				n = 0
			case err != nil && elem.Kind == Int:
				p.failAt(t, "want a number, got "+strconv.Quote(t.text))
			}
			all = append(all, n)
			if !p.take(",") {
				break
			}
		}
	}
	p.want(">")
	return all
}

// balanced passes over a value of any other form: up to a comma or a bracket that closes what is around it.
func (p *parser) balanced() {
	var open []byte
	pairs := map[string]byte{"(": ')', "[": ']', "{": '}', "<": '>'}
	// Brackets are counted by kind, so that a comma inside of them ends nothing.
	for first := true; ; first = false {
		t := p.peek()
		if t.kind == end {
			p.fail("the text ends in an attribute")
		}
		if t.kind == mark && len(t.text) == 1 {
			if c, ok := pairs[t.text]; ok {
				if open = append(open, c); len(open) > mostNested {
					p.fail("an attribute is nested too deeply")
				}
			} else if strings.IndexByte(")]}>", t.text[0]) >= 0 {
				if len(open) == 0 {
					if first {
						p.fail("want the value of an attribute")
					}
					return
				}
				if open[len(open)-1] != t.text[0] {
					p.fail("brackets do not match")
				}
				open = open[:len(open)-1]
			} else if t.text == "," && len(open) == 0 {
				return
			}
		}
		p.next()
	}
}

// text is what tokens stand for, with the blanks that MLIR prints: one after a comma or colon, and around = and ->.
func (p *parser) text(from, to int) string {
	var s strings.Builder
	for i := from; i < to; i++ {
		t := p.tokens[i]
		if i > from && spaced(p.tokens[i-1], t) {
			s.WriteByte(' ')
		}
		s.WriteString(t.text)
	}
	return s.String()
}

// spaced reports whether a blank stands between two tokens.
func spaced(a, b token) bool {
	switch {
	case a.text == "," || a.text == "=" || b.text == "=" || a.text == "->" || b.text == "->":
		return true
	case a.text == ":":
		return true
	case b.text == ":":
		// 16 : i32, but array<i32: 1>.
		return a.kind == num
	}
	// Without a blank the second of these would be read as the end of the first. Only marks cannot.
	apart := func(k lexeme) bool { return k != mark && k != end }
	// A shape is cut into tokens that belong together.
	joined := a.kind == num && b.kind == word && b.text[0] == 'x' || a.kind == word && b.kind == bang && a.text == "x"
	return apart(a.kind) && apart(b.kind) && !joined
}
