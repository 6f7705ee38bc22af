// The parser: a token stream, values by name in nested scopes, and the module.
//
// Functions that parse leave by a panic with an *Error at the first thing that is wrong, which Parse turns into a result.
// What nests has a bound, so that no text exhausts the stack.

package ttir

import (
	"strconv"
	"strings"
)

// Parse reads a module. file is the name that errors give.
func Parse(text, file string) (m *Module, err error) {
	p := &parser{file: file, aliases: map[string]int{}, locs: map[string]*Loc{}}
	// Anything but these two is a bug, and goes on as a panic.
	defer func() {
		switch e := recover().(type) {
		case nil:
		case *Error:
			m, err = nil, e
		case *Unsupported:
			m, err = nil, e
		default:
			panic(e)
		}
	}()
	tokens, bad := lex(text)
	p.tokens = tokens
	if bad >= 0 {
		line := 1 + strings.Count(text[:bad], "\n")
		panic(&Error{file, line, bad - strings.LastIndexByte(text[:bad], '\n'), "no token begins here"})
	}
	p.findAliases()
	return p.module(), nil
}

// parser goes over tokens once. It leaves by a panic with an *Error, which Parse returns.
type parser struct {
	file   string
	tokens []token
	at     int
	// Where the value of #loc4 begins.
	aliases  map[string]int
	locs     map[string]*Loc
	locDepth int
	// Of nested regions and types.
	depth int
	// Values by name; inner regions see outer ones.
	scopes []map[string]*Value
	// Of the region that is being parsed.
	blocks map[string]*Block
	// Of the function.
	results []*Type
}

// failAt leaves with an error at a token.
func (p *parser) failAt(t token, message string) {
	panic(&Error{p.file, t.line, t.col, message})
}

// fail leaves with an error at the next token.
func (p *parser) fail(message string) { p.failAt(p.peek(), message) }

// peek is the next token, which is not taken.
func (p *parser) peek() token { return p.tokens[p.at] }

// next takes a token. The last one, which is the end of the text, stays.
func (p *parser) next() token {
	t := p.tokens[p.at]
	if t.kind != end {
		p.at++
	}
	return t
}

// skip takes a token whose value is of no interest, but not the end.
func (p *parser) skip() {
	if p.next().kind == end {
		p.fail("the text ends here")
	}
}

// is reports whether the next token is a word or mark.
func (p *parser) is(text string) bool {
	t := p.tokens[p.at]
	return t.text == text && (t.kind == word || t.kind == mark)
}

// take takes the next token if it is a certain word or mark, and reports whether it was.
func (p *parser) take(text string) bool {
	if !p.is(text) {
		return false
	}
	p.at++
	return true
}

// want takes a certain word or mark, and fails at any other.
func (p *parser) want(text string) {
	if !p.take(text) {
		p.fail("want " + strconv.Quote(text) + ", got " + strconv.Quote(p.peek().text))
	}
}

// number takes a decimal number.
func (p *parser) number() int {
	t := p.next()
	n, err := strconv.Atoi(t.text)
	if t.kind != num || err != nil {
		p.failAt(t, "want a number, got "+strconv.Quote(t.text))
	}
	return n
}

// word takes a word.
func (p *parser) word() string {
	t := p.next()
	if t.kind != word {
		p.failAt(t, "want a word, got "+strconv.Quote(t.text))
	}
	return t.text
}

// unquote is the value of a string, in which a backslash stands before a quote, a backslash, n, t or two hex digits.
func (p *parser) unquote(t token) string {
	if t.kind != str {
		p.failAt(t, "want a string, got "+strconv.Quote(t.text))
	}
	body := t.text[1 : len(t.text)-1]
	if strings.IndexByte(body, '\\') < 0 {
		return body
	}
	var out strings.Builder
	for i := 0; i < len(body); i++ {
		if body[i] != '\\' {
			out.WriteByte(body[i])
			continue
		}
		i++
		switch {
		case body[i] == 'n':
			// MLIR itself writes hex digits only; people write the others.
			out.WriteByte('\n')
		case body[i] == 't':
			out.WriteByte('\t')
		case i+1 < len(body):
			if c, err := strconv.ParseUint(body[i:i+2], 16, 8); err == nil {
				out.WriteByte(byte(c))
				i++
				continue
			}
			out.WriteByte(body[i])
		default:
			out.WriteByte(body[i])
		}
	}
	return out.String()
}

// findAliases notes where aliases are defined: at the beginning of a line, behind their uses or before.
func (p *parser) findAliases() {
	// An alias begins a line; a use of one never does.
	for i := 0; i+2 < len(p.tokens); i++ {
		if p.tokens[i].kind == hash && p.tokens[i].col == 1 && p.tokens[i+1].text == "=" {
			p.aliases[p.tokens[i].text] = i + 2
		}
	}
}

// module parses the file: aliases, which are skipped, and the module.
func (p *parser) module() *Module {
	// Aliases may stand in front of the module and behind it.
	m := &Module{File: p.file}
	p.skipAliases()
	p.want("module")
	if p.peek().kind == at {
		p.next()
	}
	if p.take("attributes") {
		m.Attrs = p.dict()
	}
	p.want("{")
	for !p.take("}") {
		m.Funcs = append(m.Funcs, p.function())
	}
	m.Loc = p.trailing()
	p.skipAliases()
	if p.peek().kind != end {
		p.fail("want the end of the file, got " + strconv.Quote(p.peek().text))
	}
	if len(m.Funcs) == 0 {
		p.fail("the module has no function")
	}
	p.calls(m)
	return m
}

// skipAliases passes over lines that begin with #.
func (p *parser) skipAliases() {
	for p.peek().kind == hash && p.peek().col == 1 {
		for p.next(); p.peek().kind != end && p.peek().col != 1; {
			p.next()
		}
	}
}

// values of names.

// define gives a name to a value. Names are unique in a function, and in what encloses a region.
func (p *parser) define(t token, v *Value) {
	scope := p.scopes[len(p.scopes)-1]
	// MLIR lets regions that are isolated use names again; Triton's are not.
	for _, s := range p.scopes {
		if s[v.Name] != nil {
			p.failAt(t, "value "+v.Name+" is defined twice")
		}
	}
	scope[v.Name] = v
}

// use finds a value that stands here: %x or %x#1.
func (p *parser) use() *Value {
	t := p.next()
	if t.kind != percent {
		p.failAt(t, "want a value, got "+strconv.Quote(t.text))
	}
	for i := len(p.scopes) - 1; i >= 0; i-- {
		v := p.scopes[i][t.text]
		if v == nil {
			continue
		}
		n := p.tokens[p.at]
		// %x#1 is one token with %x only if nothing stands between.
		packed := v.Def != nil && v.Def.packed
		if n.kind != hash || n.col != t.col+len(t.text) || n.line != t.line {
			if packed {
				p.failAt(t, "value "+t.text+" has several results; want one by #")
			}
			return v
		}
		k, err := strconv.Atoi(n.text[1:])
		if err != nil || !packed || k < 0 || k >= len(v.Def.Results) {
			p.failAt(n, "value "+t.text+" has no result "+n.text)
		}
		p.at++
		return v.Def.Results[k]
	}
	p.failAt(t, "value "+t.text+" is not defined")
	return nil
}

// uses parses values between commas; none if no value stands here.
func (p *parser) uses() (all []*Value) {
	if p.peek().kind != percent {
		return nil
	}
	all = append(all, p.use())
	for p.take(",") {
		all = append(all, p.use())
	}
	return all
}
