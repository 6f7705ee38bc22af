// Operations with a form of their own: constants, prints, and those in MLIR's generic form because they have a region.

package ttir

import "strings"

// arith.constant 12 : i32, arith.constant true, arith.constant dense<0.0> : tensor<8xf32>.
func parseConstant(p *parser, o *Op, names []token) {
	if p.is("{") {
		o.Attrs = p.dict()
	}
	var a AttrValue
	switch t := p.next(); {
	case t.text == "true" || t.text == "false":
		a = AttrValue{Text: t.text, Word: t.text}
		o.Attrs = append(o.Attrs, Attr{"value", a})
		p.bind(o, names, []*Type{IntType(1)})
		return
	case t.kind == num:
		a = AttrValue{Text: t.text, Word: t.text}
	case t.text == "dense":
		from := p.at - 1
		p.want("<")
		inner := p.at
		if !p.is(">") {
			p.balanced()
		}
		a.Word = p.text(inner, p.at)
		p.want(">")
		a.Text = p.text(from, p.at)
	default:
		p.failAt(t, "want a number, true, false or dense<...>")
	}
	o.Attrs = append(o.Attrs, Attr{"value", a})
	typ := p.colonType()
	p.bind(o, names, []*Type{typ})
	// The compiler decodes it again, and may rely on it.
	if _, err := Literal(o); err != "" {
		p.failAt(p.tokens[p.at-1], err)
	}
}

// printConstant prints arith.constant; the type of true and false is implied.
func printConstant(p *printer, o *Op) {
	p.dict(o, map[string]bool{"value": true})
	a, _ := o.Attr("value")
	p.out.WriteString(" " + a.Text)
	if a.Text != "true" && a.Text != "false" {
		p.out.WriteString(" : " + o.Results[0].Type.String())
	}
}

// tt.print " x: " {hex = false, isSigned = array<i32: 0>} : %x : T.
func parsePrint(p *parser, o *Op, names []token) {
	t := p.next()
	o.Attrs = []Attr{{"prefix", AttrValue{Text: t.text, Word: p.unquote(t)}}}
	if p.is("{") {
		o.Attrs = append(o.Attrs, p.dict()...)
	}
	if p.take(":") {
		o.Operands = p.uses()
		listed.parse(p, o)
	}
	p.bind(o, names, nil)
}

// printPrint prints tt.print, whose text stands first.
func printPrint(p *printer, o *Op) {
	a, _ := o.Attr("prefix")
	p.out.WriteString(" " + a.Text)
	p.dict(o, map[string]bool{"prefix": true})
	if len(o.Operands) > 0 {
		p.out.WriteString(" : ")
		p.values(o.Operands)
		listed.print(p, o)
	}
}

// parseGeneric parses MLIR's generic form: "tt.reduce"(%x) <{axis = 0 : i32}> ({ ... }) {attributes} : (A) -> B.
func parseGeneric(p *parser, o *Op, names []token) {
	p.want("(")
	o.Operands = p.uses()
	p.want(")")
	// Properties stand in <{...}> in front of the regions, other attributes behind them.
	if p.take("<") {
		o.Attrs = p.dict()
		p.want(">")
	}
	p.want("(")
	p.inside(o, nil, nil, nil)
	for p.take(",") {
		p.inside(o, nil, nil, nil)
	}
	p.want(")")
	if p.is("{") {
		o.Attrs = append(o.Attrs, p.dict()...)
	}
	p.want(":")
	p.operandTypes(o, p.types()...)
	p.want("->")
	p.bind(o, names, p.types())
}

// printGeneric prints MLIR's generic form.
func printGeneric(p *printer, o *Op) {
	p.out.WriteString("(")
	p.values(o.Operands)
	p.out.WriteString(")")
	if len(o.Attrs) > 0 {
		p.out.WriteString(" <")
		p.braces(o.Attrs)
		p.out.WriteString(">")
	}
	p.out.WriteString(" (")
	for i, r := range o.Regions {
		if i > 0 {
			p.out.WriteString(", ")
		}
		p.region(r, false)
	}
	p.out.WriteString(") : (" + strings.Join(operandTypesOf(o), ", ") + ") -> ")
	if to := resultTypesOf(o); len(to) == 1 {
		p.out.WriteString(to[0])
	} else {
		p.out.WriteString("(" + strings.Join(to, ", ") + ")")
	}
}
