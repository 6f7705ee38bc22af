// Signatures: the part behind the colon. Triton prints as few types as it can, so each signature says how those of all operands
// and results follow, and the parser checks them against the operands.

package ttir

import "strings"

// signature is how the types behind the colon give those of operands and results. parse answers the types of results;
// it fails where the types of operands are others than the text says.
type signature struct {
	parse func(p *parser, o *Op) []*Type
	print func(p *printer, o *Op)
}

// operandTypes fails unless operands have these types.
func (p *parser) operandTypes(o *Op, want ...*Type) {
	// The text lists another number of types than of operands.
	if len(want) != len(o.Operands) {
		p.failAt(p.tokens[p.at-1], o.Name+" has other types than operands")
	}
	for i, v := range o.Operands {
		if !v.Type.Same(want[i]) {
			p.failAt(p.tokens[p.at-1], o.Name+": operand "+v.Ref()+" is "+v.Type.String()+", but the text says "+want[i].String())
		}
	}
}

// colonType parses a colon and a type.
func (p *parser) colonType() *Type {
	p.want(":")
	return p.typ()
}

// with is a type for each operand.
func repeat(t *Type, n int) []*Type {
	all := make([]*Type, n)
	for i := range all {
		all[i] = t
	}
	return all
}

// sameType: "x, y : T"; the result is of T too.
var sameType = &signature{
	func(p *parser, o *Op) []*Type {
		t := p.colonType()
		p.operandTypes(o, repeat(t, len(o.Operands))...)
		return []*Type{t}
	},
	func(p *printer, o *Op) { p.out.WriteString(" : " + o.Results[0].Type.String()) },
}

// compared: "x, y : T"; the result is i1.
var compared = &signature{
	func(p *parser, o *Op) []*Type {
		t := p.colonType()
		p.operandTypes(o, t, t)
		return []*Type{t.With(IntType(1))}
	},
	printOperand,
}

// elementOf: "x : T"; the result is an element of the tensor.
var elementOf = &signature{
	func(p *parser, o *Op) []*Type {
		t := p.colonType()
		p.operandTypes(o, t)
		return []*Type{t.Element()}
	},
	printOperand,
}

// printOperand prints the type of the first operand, which says all others.
func printOperand(p *printer, o *Op) { p.out.WriteString(" : " + o.Operands[0].Type.String()) }

// selected: "c, x, y : T", with the condition's type in front where it is a tensor.
var selected = &signature{
	func(p *parser, o *Op) []*Type {
		p.want(":")
		c, t := IntType(1), p.typ()
		// A scalar condition selects between whole tensors, and is not printed.
		if p.take(",") {
			c, t = t, p.typ()
		}
		p.operandTypes(o, c, t, t)
		return []*Type{t}
	},
	func(p *printer, o *Op) {
		p.out.WriteString(" : ")
		if c := o.Operands[0].Type; c.IsTensor() {
			p.out.WriteString(c.String() + ", ")
		}
		p.out.WriteString(o.Results[0].Type.String())
	},
}

// cast: "x : A to B".
var cast = &signature{
	func(p *parser, o *Op) []*Type {
		p.operandTypes(o, p.colonType())
		p.want("to")
		return []*Type{p.typ()}
	},
	func(p *printer, o *Op) {
		p.out.WriteString(" : " + o.Operands[0].Type.String() + " to " + o.Results[0].Type.String())
	},
}

// arrow: "x : A -> B"; one type stands for all operands that have it, and for both results of a split.
var arrow = &signature{
	func(p *parser, o *Op) []*Type {
		from := []*Type{p.colonType()}
		for p.take(",") {
			from = append(from, p.typ())
		}
		// One type stands for all.
		if len(from) == 1 {
			from = repeat(from[0], len(o.Operands))
		}
		p.operandTypes(o, from...)
		p.want("->")
		to := p.typ()
		// A split prints the type of both results once.
		if o.Name == "tt.split" {
			return []*Type{to, to}
		}
		all := []*Type{to}
		for p.take(",") {
			all = append(all, p.typ())
		}
		return all
	},
	func(p *printer, o *Op) {
		from := operandTypesOf(o)
		if len(from) == 2 && (o.Name == "tt.cat" || o.Name == "tt.join") {
			from = from[:1]
		}
		to := resultTypesOf(o)
		if o.Name == "tt.split" {
			to = to[:1]
		}
		p.out.WriteString(" : " + strings.Join(from, ", ") + " -> " + strings.Join(to, ", "))
	},
}

// function: "x, y : (A, B) -> C".
var function = &signature{
	func(p *parser, o *Op) []*Type {
		p.want(":")
		p.operandTypes(o, p.types()...)
		p.want("->")
		return p.types()
	},
	printFunctionType,
}

// printFunctionType prints the types of operands and results as a function's.
func printFunctionType(p *printer, o *Op) {
	p.out.WriteString(" : (" + strings.Join(operandTypesOf(o), ", ") + ") -> ")
	to := resultTypesOf(o)
	if len(to) == 1 {
		p.out.WriteString(to[0])
		return
	}
	p.out.WriteString("(" + strings.Join(to, ", ") + ")")
}

// offset: "p, x : A, B"; the result is of A.
var offset = &signature{
	func(p *parser, o *Op) []*Type {
		t := p.colonType()
		p.want(",")
		p.operandTypes(o, t, p.typ())
		return []*Type{t}
	},
	func(p *printer, o *Op) {
		p.out.WriteString(" : " + strings.Join(operandTypesOf(o), ", "))
	},
}

// pointee fails unless a type is a pointer, and answers what it points to.
func (p *parser) pointee(t *Type) *Type {
	if !t.IsPointer() {
		p.failAt(p.tokens[p.at-1], "want pointers, got "+t.String())
	}
	return t.With(t.Element().Elem)
}

// access are the types of a pointer, a mask and other values.
func (p *parser) access(o *Op, t *Type, values int) []*Type {
	// All operands but the mask have the type that the pointer points to.
	elem := p.pointee(t)
	want := []*Type{t}
	for i := 1; i < len(o.Operands); i++ {
		// The mask of a load stands behind the pointer, that of a store behind the value.
		w := elem
		if o.Name == "tt.load" && i == 1 || o.Name != "tt.load" && i == 1+values {
			w = t.With(IntType(1))
		}
		want = append(want, w)
	}
	return want
}

// loaded: "p, mask, other : P"; the result is what P points to.
var loaded = &signature{
	func(p *parser, o *Op) []*Type {
		t := p.colonType()
		p.operandTypes(o, p.access(o, t, 0)...)
		return []*Type{p.pointee(t)}
	},
	printOperand,
}

// stored: "p, x, mask : P"; no result.
var stored = &signature{
	func(p *parser, o *Op) []*Type {
		t := p.colonType()
		p.operandTypes(o, p.access(o, t, 1)...)
		return nil
	},
	printOperand,
}

// product: "a, b, c : A * B -> C".
var product = &signature{
	func(p *parser, o *Op) []*Type {
		a := p.colonType()
		p.want("*")
		b := p.typ()
		p.want("->")
		c := p.typ()
		p.operandTypes(o, a, b, c)
		return []*Type{c}
	},
	func(p *printer, o *Op) {
		p.out.WriteString(" : " + o.Operands[0].Type.String() + " * " + o.Operands[1].Type.String() + " -> " + o.Results[0].Type.String())
	},
}

// histogram: "x, mask : A -> B"; the mask's type follows from A.
var histogram = &signature{
	func(p *parser, o *Op) []*Type {
		a := p.colonType()
		want := []*Type{a}
		// Which elements count.
		if len(o.Operands) == 2 {
			want = append(want, a.With(IntType(1)))
		}
		p.operandTypes(o, want...)
		p.want("->")
		return []*Type{p.typ()}
	},
	func(p *printer, o *Op) {
		p.out.WriteString(" : " + o.Operands[0].Type.String() + " -> " + o.Results[0].Type.String())
	},
}

// takes: "x : T"; no result.
var takes = &signature{
	func(p *parser, o *Op) []*Type {
		p.operandTypes(o, p.colonType())
		return nil
	},
	printOperand,
}

// listed: "x, y : A, B", or nothing at all; no result.
var listed = &signature{
	func(p *parser, o *Op) []*Type {
		if len(o.Operands) == 0 {
			return nil
		}
		want := []*Type{p.colonType()}
		for p.take(",") {
			want = append(want, p.typ())
		}
		p.operandTypes(o, want...)
		return nil
	},
	func(p *printer, o *Op) {
		if len(o.Operands) > 0 {
			p.out.WriteString(" : " + strings.Join(operandTypesOf(o), ", "))
		}
	},
}

// nothing has no types.
var nothing = &signature{
	func(*parser, *Op) []*Type { return nil },
	func(*printer, *Op) {},
}

// operandTypesOf are the types of operands as text.
func operandTypesOf(o *Op) (all []string) {
	for _, v := range o.Operands {
		all = append(all, v.Type.String())
	}
	return all
}

// resultTypesOf are the types of results as text.
func resultTypesOf(o *Op) (all []string) {
	for _, v := range o.Results {
		all = append(all, v.Type.String())
	}
	return all
}
