// Heads of operations: the part between the name and the colon, parsed and printed by one description.

package ttir

import "strconv"

// parseHead parses the words of a head: see row.
func (p *parser) parseHead(o *Op) {
	for _, part := range o.row.head {
		switch {
		case part == "%":
			o.Operands = append(o.Operands, p.use())
		case part == "?%":
			// A comma may also stand before a word, such as inputPrecision.
			if p.is(",") && p.tokens[p.at+1].kind == percent {
				p.next()
				o.Operands = append(o.Operands, p.use())
			}
		case part == "%*":
			o.Operands = p.uses()
		case part == "{}":
			if p.is("{") {
				o.Attrs = append(o.Attrs, p.dict()...)
			}
		case part == "f":
			p.flags(o)
		case part == "@":
			p.symbol(o)
		case len(part) > 1 && part[len(part)-1] == '?':
			p.maybe(o, part[:len(part)-1])
		case len(part) > 2 && part[1] == ':':
			p.named(o, part[0], part[2:])
		default:
			p.want(part)
		}
	}
}

// named parses an attribute that the head has outside of braces.
func (p *parser) named(o *Op, form byte, name string) {
	switch form {
	case 'w':
		w := p.word()
		o.Attrs = append(o.Attrs, Attr{name, AttrValue{Text: w, Word: w}})
	case 's':
		t := p.next()
		o.Attrs = append(o.Attrs, Attr{name, AttrValue{Text: t.text, Word: p.unquote(t)}})
	case 'k':
		// With a comma in front, or not at all.
		if !p.is(",") || p.tokens[p.at+1].text != name {
			return
		}
		p.next()
		fallthrough
	case 'o':
		if !p.take(name) {
			return
		}
		p.want("=")
		w := p.word()
		o.Attrs = append(o.Attrs, Attr{name, AttrValue{Text: w, Word: w}})
	}
}

// maybe parses a word that may be absent: a flag of its own name, or with w: any words between bars.
func (p *parser) maybe(o *Op, part string) {
	if part[1] != ':' {
		if p.take(part) {
			o.Attrs = append(o.Attrs, Attr{part, AttrValue{Word: part}})
		}
		return
	}
	t := p.peek()
	// gpu.barrier has nothing behind it, ttg.barrier a word: the next line is another operation.
	if t.kind != word || t.text == "loc" || t.line != o.Line {
		return
	}
	text := p.word()
	for p.take("|") {
		text += "|" + p.word()
	}
	o.Attrs = append(o.Attrs, Attr{part[2:], AttrValue{Text: text, Word: text}})
}

// flags parses overflow<nsw> and fastmath<fast>.
func (p *parser) flags(o *Op) {
	for p.is("overflow") || p.is("fastmath") {
		name, from := p.word(), p.at
		p.want("<")
		for !p.take(">") {
			p.skip()
		}
		o.Attrs = append(o.Attrs, Attr{name, AttrValue{Text: p.text(from, p.at)}})
	}
}

// symbol parses the name of a function that is called.
func (p *parser) symbol(o *Op) {
	t := p.next()
	if t.kind != at {
		p.failAt(t, "want the name of a function, got "+strconv.Quote(t.text))
	}
	o.Attrs = append(o.Attrs, Attr{"callee", AttrValue{Text: t.text, Word: p.symbolName(t)}})
}

// symbolName is the name in @name or @"name".
func (p *parser) symbolName(t token) string {
	if len(t.text) > 1 && t.text[1] == '"' {
		return p.unquote(token{str, t.text[1:], t.line, t.col + 1})
	}
	return t.text[1:]
}

// printHead prints what parseHead parses.
func (p *printer) printHead(o *Op) {
	// A blank stands before each part, but not behind an opening bracket or a symbol.
	operands, blank := o.Operands, true
	space := func() {
		if blank {
			p.out.WriteByte(' ')
		}
		blank = true
	}
	for _, part := range o.row.head {
		switch {
		case part == "%":
			space()
			p.out.WriteString(operands[0].Ref())
			operands = operands[1:]
		case part == "?%":
			if len(operands) > 0 {
				p.out.WriteString(", " + operands[0].Ref())
				operands = operands[1:]
			}
		case part == "%*":
			if len(operands) > 0 {
				space()
				p.values(operands)
			}
			blank = true
		case part == "{}":
			p.dict(o, headNames(o.row))
		case part == "f":
			for _, name := range []string{"overflow", "fastmath"} {
				if a, ok := o.Attr(name); ok {
					p.out.WriteString(" " + name + a.Text)
				}
			}
		case part == "@":
			a, _ := o.Attr("callee")
			p.out.WriteString(" " + a.Text)
			blank = false
		case len(part) > 1 && part[len(part)-1] == '?':
			name := part[:len(part)-1]
			if a, ok := o.Attr(trimForm(name)); ok {
				p.out.WriteString(" " + a.Word)
			}
		case len(part) > 2 && part[1] == ':':
			p.named(o, part[0], part[2:])
		case part == "," || part == ")" || part == "]":
			p.out.WriteString(part)
		default:
			p.out.WriteString(part)
			blank = false
		}
	}
}

// named prints an attribute outside of braces.
func (p *printer) named(o *Op, form byte, name string) {
	a, ok := o.Attr(name)
	switch {
	case !ok:
	case form == 'k':
		p.out.WriteString(", " + name + " = " + a.Text)
	case form == 'o':
		p.out.WriteString(" " + name + " = " + a.Text)
	default:
		p.out.WriteString(" " + a.Text)
	}
}

// trimForm is the name of an attribute in a word of a head.
func trimForm(name string) string {
	if len(name) > 2 && name[1] == ':' {
		return name[2:]
	}
	return name
}

// headNames are the attributes that a head prints outside of braces.
func headNames(r *row) map[string]bool {
	if r == nil {
		return nil
	}
	all := map[string]bool{"overflow": true, "fastmath": true}
	for _, part := range r.head {
		switch {
		case part == "@":
			all["callee"] = true
		case len(part) > 1 && part[len(part)-1] == '?':
			all[trimForm(part[:len(part)-1])] = true
		case len(part) > 2 && part[1] == ':':
			all[part[2:]] = true
		}
	}
	return all
}
