// The scf and cf dialects, whose syntax the table of heads cannot say: regions, values that loops carry, branches.

package ttir

import "strings"

// scf.for %i = %lo to %hi step %s iter_args(%a = %x) -> (T) : i32 { ... } {attributes}. Operands are lo, hi, step and the
// initial values; the region's arguments the induction variable and the values that the loop carries.
func parseFor(p *parser, o *Op, names []token) {
	// Bounds that are compared as unsigned numbers.
	if p.take("unsigned") {
		o.Attrs = append(o.Attrs, Attr{"unsigned", AttrValue{Word: "unsigned"}})
	}
	i := p.next()
	p.want("=")
	lo := p.use()
	p.want("to")
	hi := p.use()
	p.want("step")
	o.Operands = append(o.Operands, lo, hi, p.use())
	carried := p.assignments(o, "iter_args")
	var types []*Type
	if carried != nil {
		p.want("->")
		types = p.types()
	}
	// Bounds are of type index unless the text says otherwise.
	t := IndexType()
	if p.take(":") {
		t = p.typ()
	}
	p.operandTypes(&Op{Name: o.Name, Operands: o.Operands[:3]}, t, t, t)
	p.operandTypes(&Op{Name: o.Name, Operands: o.Operands[3:]}, types...)
	// The induction variable first, then what is carried.
	b := &Block{}
	p.inside(o, b, append([]token{i}, carried...), append([]*Type{t}, types...))
	if p.is("{") {
		o.Attrs = append(o.Attrs, p.dict()...)
	}
	p.bind(o, names, types)
}

// assignments parses WORD(%a = %x, ...), appends what is assigned to the operands and answers the names.
func (p *parser) assignments(o *Op, word string) (names []token) {
	if word != "" && !p.take(word) {
		return nil
	}
	names = []token{}
	p.want("(")
	for !p.take(")") {
		names = append(names, p.next())
		p.want("=")
		o.Operands = append(o.Operands, p.use())
		if !p.take(",") {
			p.want(")")
			break
		}
	}
	return names
}

// inside parses a region of one block whose arguments stand before it.
func (p *parser) inside(o *Op, b *Block, names []token, types []*Type) {
	p.scopes = append(p.scopes, map[string]*Value{})
	// Names and types come from two lists of the text, which may differ in length.
	for i, t := range names {
		if t.kind != percent || i >= len(types) {
			p.failAt(t, "want a name for each value that is carried")
		}
		v := &Value{Name: t.text, Type: types[i], Block: b, Index: i}
		p.define(t, v)
		b.Args = append(b.Args, v)
	}
	r := &Region{Parent: o}
	o.Regions = append(o.Regions, r)
	p.body(r, b)
	p.scopes = p.scopes[:len(p.scopes)-1]
}

// printFor prints scf.for with two blanks in front of the type, as MLIR does.
func printFor(p *printer, o *Op) {
	b := o.Regions[0].Blocks[0]
	if _, ok := o.Attr("unsigned"); ok {
		p.out.WriteString(" unsigned")
	}
	p.out.WriteString(" " + b.Args[0].Name + " = " + o.Operands[0].Ref() + " to " + o.Operands[1].Ref() + " step " + o.Operands[2].Ref())
	if len(o.Results) > 0 {
		p.out.WriteString(" iter_args(")
		p.assignments(b.Args[1:], o.Operands[3:])
		p.out.WriteString(") -> (" + strings.Join(resultTypesOf(o), ", ") + ")")
	}
	p.out.WriteString(" ")
	if t := b.Args[0].Type; t.Kind != Index {
		p.out.WriteString(" : " + t.String() + " ")
	}
	p.region(o.Regions[0], false)
	p.dict(o, map[string]bool{"unsigned": true})
}

// scf.if %c -> (T) { ... } else { ... }.
func parseIf(p *parser, o *Op, names []token) {
	o.Operands = []*Value{p.use()}
	p.operandTypes(o, IntType(1))
	var types []*Type
	if p.take("->") {
		types = p.types()
	}
	p.inside(o, nil, nil, nil)
	if p.take("else") {
		p.inside(o, nil, nil, nil)
	}
	if p.is("{") {
		o.Attrs = p.dict()
	}
	p.bind(o, names, types)
}

// printIf prints scf.if; a yield of nothing is implied.
func printIf(p *printer, o *Op) {
	p.out.WriteString(" " + o.Operands[0].Ref())
	if len(o.Results) > 0 {
		p.out.WriteString(" -> (" + strings.Join(resultTypesOf(o), ", ") + ")")
	}
	p.out.WriteString(" ")
	p.region(o.Regions[0], len(o.Results) == 0)
	if len(o.Regions) > 1 {
		p.out.WriteString(" else ")
		p.region(o.Regions[1], len(o.Results) == 0)
	}
	p.dict(o, nil)
}

// scf.while (%a = %x) : (T) -> U { ... } do { ... }.
func parseWhile(p *parser, o *Op, names []token) {
	// The first region's arguments stand in front of it, the second's in its first block.
	var carried []token
	if p.is("(") {
		carried = p.assignments(o, "")
	}
	p.want(":")
	from := p.types()
	p.operandTypes(o, from...)
	p.want("->")
	types := p.types()
	p.inside(o, &Block{}, carried, from)
	p.want("do")
	p.inside(o, nil, nil, nil)
	if p.take("attributes") {
		o.Attrs = p.dict()
	}
	p.bind(o, names, types)
}

// printWhile prints scf.while with both regions.
func printWhile(p *printer, o *Op) {
	if len(o.Operands) > 0 {
		p.out.WriteString(" (")
		p.assignments(o.Regions[0].Blocks[0].Args, o.Operands)
		p.out.WriteString(")")
	}
	printFunctionType(p, o)
	p.out.WriteString(" ")
	p.region(o.Regions[0], false)
	p.out.WriteString(" do ")
	p.region(o.Regions[1], false)
	if len(o.Attrs) > 0 {
		p.out.WriteString(" attributes")
		p.dict(o, nil)
	}
}

// scf.condition(%c) %x, %y : T, U.
func parseCondition(p *parser, o *Op, names []token) {
	p.want("(")
	c := p.use()
	p.want(")")
	o.Operands = p.uses()
	listed.parse(p, o)
	// The condition is operand 0.
	o.Operands = append([]*Value{c}, o.Operands...)
	p.operandTypes(&Op{Name: o.Name, Operands: o.Operands[:1]}, IntType(1))
	p.bind(o, names, nil)
}

// printCondition prints scf.condition, whose first operand stands in parentheses.
func printCondition(p *printer, o *Op) {
	p.out.WriteString("(" + o.Operands[0].Ref() + ")")
	rest := &Op{Operands: o.Operands[1:]}
	if len(rest.Operands) > 0 {
		p.out.WriteString(" ")
		p.values(rest.Operands)
	}
	listed.print(p, rest)
}

// cf.br ^bb1(%x : T), cf.cond_br %c, ^bb1, ^bb2(%x, %y : T, U).
func parseBranch(p *parser, o *Op, names []token) {
	n := 1
	if o.Name == "cf.cond_br" {
		o.Operands = []*Value{p.use()}
		p.operandTypes(o, IntType(1))
		// How likely each branch is, which no version prints so far.
		if p.take("weights") {
			for !p.take(")") {
				p.skip()
			}
		}
		p.want(",")
		n = 2
	}
	for i := range n {
		if i > 0 {
			p.want(",")
		}
		s := Succ{To: p.target(p.next())}
		if p.take("(") {
			s.Args = p.uses()
			listed.parse(p, &Op{Name: o.Name, Operands: s.Args})
			p.want(")")
		}
		o.Succs = append(o.Succs, s)
	}
	if p.is("{") {
		o.Attrs = p.dict()
	}
	p.bind(o, names, nil)
}

// printBranch prints cf.br and cf.cond_br.
func printBranch(p *printer, o *Op) {
	if len(o.Operands) > 0 {
		p.out.WriteString(" " + o.Operands[0].Ref() + ",")
	}
	for i, s := range o.Succs {
		if i > 0 {
			p.out.WriteString(",")
		}
		p.out.WriteString(" " + s.To.Label)
		if len(s.Args) > 0 {
			p.out.WriteString("(")
			p.values(s.Args)
			listed.print(p, &Op{Operands: s.Args})
			p.out.WriteString(")")
		}
	}
	p.dict(o, nil)
}
