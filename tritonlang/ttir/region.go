// Functions, regions, blocks and operations.

package ttir

import "strconv"

// function parses tt.func.
func (p *parser) function() *Func {
	t := p.next()
	if t.text != "tt.func" {
		p.failAt(t, "want tt.func, got "+strconv.Quote(t.text))
	}
	f := &Func{Line: t.line, Col: t.col, Body: &Region{}}
	if p.is("public") || p.is("private") {
		f.Visibility = p.word()
	}
	name := p.next()
	if name.kind != at {
		p.failAt(name, "want the name of a function")
	}
	f.Name = p.symbolName(name)
	p.scopes = []map[string]*Value{{}}
	// The parameters are the arguments of the first block, which is printed without a label.
	entry := &Block{}
	p.want("(")
	for !p.take(")") {
		p.parameter(f, entry)
		if !p.take(",") {
			p.want(")")
			break
		}
	}
	if p.take("->") {
		f.Results = p.types()
	}
	if p.take("attributes") {
		f.Attrs = p.dict()
	}
	p.results = f.Results
	p.body(f.Body, entry)
	f.Loc = p.trailing()
	return f
}

// parameter parses %x: T {attributes} loc(...).
func (p *parser) parameter(f *Func, entry *Block) {
	p.argument(entry)
	var attrs []Attr
	if p.is("{") {
		attrs = p.dict()
	}
	f.ParamAttrs = append(f.ParamAttrs, attrs)
	entry.Args[len(entry.Args)-1].Loc = p.trailing()
}

// argument parses %x: T, and defines it.
func (p *parser) argument(b *Block) {
	t := p.next()
	if t.kind != percent {
		p.failAt(t, "want the name of an argument")
	}
	p.want(":")
	v := &Value{Name: t.text, Type: p.typ(), Block: b, Index: len(b.Args)}
	p.define(t, v)
	b.Args = append(b.Args, v)
}

// body parses { blocks }. The first block exists already, with arguments that stand before the brace, or is nil.
func (p *parser) body(r *Region, entry *Block) {
	if p.depth++; p.depth > mostNested {
		p.fail("regions are nested too deeply")
	}
	// Labels are those of one region; values of regions around are seen.
	outer := p.blocks
	p.blocks = map[string]*Block{}
	p.scopes = append(p.scopes, map[string]*Value{})
	p.want("{")
	if entry == nil && p.peek().kind != caret {
		entry = &Block{}
	}
	if entry != nil {
		r.Blocks = append(r.Blocks, entry)
		p.ops(entry)
	}
	for p.peek().kind == caret {
		r.Blocks = append(r.Blocks, p.block())
	}
	p.want("}")
	// A branch may name a block before it is defined.
	for label, b := range p.blocks {
		if b.Label == "" {
			p.fail("block " + label + " is not defined")
		}
	}
	p.scopes = p.scopes[:len(p.scopes)-1]
	p.blocks = outer
	p.depth--
}

// block parses ^bb1(%x: T): and what follows.
func (p *parser) block() *Block {
	t := p.next()
	b := p.target(t)
	if b.Label != "" {
		p.failAt(t, "block "+t.text+" is defined twice")
	}
	b.Label = t.text
	if p.take("(") {
		for !p.take(")") {
			p.argument(b)
			b.Args[len(b.Args)-1].Loc = p.trailing()
			if !p.take(",") {
				p.want(")")
				break
			}
		}
	}
	p.want(":")
	p.ops(b)
	return b
}

// target is the block of a label, which may be defined later.
func (p *parser) target(t token) *Block {
	if t.kind != caret {
		p.failAt(t, "want a block")
	}
	if p.blocks[t.text] == nil {
		p.blocks[t.text] = &Block{}
	}
	return p.blocks[t.text]
}

// ops parses operations up to the block's end.
func (p *parser) ops(b *Block) {
	for !p.is("}") && p.peek().kind != caret {
		if p.peek().kind == end {
			p.fail("the text ends in a block")
		}
		// What follows a branch or a return can never run, and is a mistake in the text.
		if n := len(b.Ops); n > 0 && terminators[b.Ops[n-1].Name] {
			p.fail("an operation follows the end of its block")
		}
		b.Ops = append(b.Ops, p.op())
	}
}

// op parses an operation with its results and location.
func (p *parser) op() *Op {
	first := p.peek()
	o := &Op{Line: first.line, Col: first.col}
	names := p.resultNames(o)
	t := p.next()
	switch t.kind {
	case word:
		o.Name = t.text
	case str:
		o.Name = p.unquote(t)
	default:
		p.failAt(t, "want an operation, got "+strconv.Quote(t.text))
	}
	o.row = rows[o.Name]
	if o.row == nil {
		p.unknown(o)
	}
	var results []*Type
	// Operations with a form of their own bind their results themselves.
	switch {
	case o.row.parse != nil:
		o.row.parse(p, o, names)
	default:
		p.parseHead(o)
		results = o.row.sig.parse(p, o)
		p.bind(o, names, results)
	}
	o.Loc = p.trailing()
	return o
}

// resultNames parses %x = or %a, %b = or %x:2 =.
func (p *parser) resultNames(o *Op) (names []token) {
	if p.peek().kind != percent {
		return nil
	}
	names = append(names, p.next())
	// %x:2 names two results, which are used as %x#0 and %x#1.
	if p.take(":") {
		n := p.number()
		if n < 1 || n > 1<<12 {
			p.fail("an operation has at most 4096 results")
		}
		o.packed = true
		for len(names) < n {
			names = append(names, names[0])
		}
	}
	for !o.packed && p.take(",") {
		names = append(names, p.next())
	}
	p.want("=")
	return names
}

// bind makes the results of an operation.
func (p *parser) bind(o *Op, names []token, types []*Type) {
	// The printer of MLIR gives each result a name, used or not.
	if len(types) != len(names) {
		if len(names) > 0 || !o.row.mayDrop() {
			p.failAt(p.tokens[p.at-1], o.Name+" has "+strconv.Itoa(len(types))+" results, but the text names "+strconv.Itoa(len(names)))
		}
	}
	// The first name of a pack is that of all its results.
	for i, t := range types {
		v := &Value{Type: t, Def: o, Index: i}
		if i < len(names) {
			v.Name = names[i].text
			if names[i].kind != percent {
				p.failAt(names[i], "want the name of a result")
			}
		}
		o.Results = append(o.Results, v)
		if v.Name != "" && (i == 0 || !o.packed) {
			p.define(names[i], v)
		}
	}
}

// MLIR prints names for all results. Text written by hand may leave out those of an operation with effects.
func (r *row) mayDrop() bool {
	return r.name == "tt.atomic_rmw" || r.name == "tt.atomic_cas" || r.name == "tt.call"
}

// unknown refuses an operation that the table lacks. Its location stands at the end of its line.
func (p *parser) unknown(o *Op) {
	// The rest of the operation cannot be parsed, but its location can be found.
	line := p.tokens[p.at-1].line
	for i := p.at; p.tokens[i].kind != end && p.tokens[i].line == line; i++ {
		if p.tokens[i].text == "loc" && p.tokens[i+1].text == "(" {
			p.at = i
			o.Loc = p.trailing()
			break
		}
	}
	where := o.Where()
	if where == "" {
		where = p.file + ":" + strconv.Itoa(o.Line)
	}
	panic(&Unsupported{Op: o.Name, Where: where, Why: "this operation is not supported"})
}

// calls checks that functions which are called exist, and have the types of the call.
func (p *parser) calls(m *Module) {
	for _, f := range m.Funcs {
		f.Body.Walk(func(o *Op) {
			if o.Name != "tt.call" {
				return
			}
			wrong := func(what string) { panic(&Error{p.file, o.Line, o.Col, what}) }
			callee := m.Func(o.Word("callee"))
			if callee == nil {
				wrong("function " + o.Word("callee") + " is not defined")
			}
			if len(callee.Params()) != len(o.Operands) || len(callee.Results) != len(o.Results) {
				wrong("the call and the function differ in their types")
			}
			for i, v := range callee.Params() {
				if !v.Type.Same(o.Operands[i].Type) {
					wrong("the call and the function differ in their types")
				}
			}
		})
	}
}
