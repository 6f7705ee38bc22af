// Types.

package ttir

import (
	"strconv"
	"strings"
)

// typ parses a type.
func (p *parser) typ() *Type {
	if p.depth++; p.depth > mostNested {
		p.fail("types are nested too deeply")
	}
	defer func() { p.depth-- }()
	t := p.next()
	switch {
	case t.kind == bang && t.text == "!tt.ptr":
		return p.pointer()
	case t.kind == word && t.text == "tensor":
		return p.tensor(t)
	case t.kind == bang && t.text == "!tt.tensordesc":
		return p.descriptor(t)
	case t.kind == word:
		if s := scalarType(t.text); s != nil {
			return s
		}
	case t.kind == bang:
		// The line of the program stands behind what has the type: that of the text is known here.
		panic(&Unsupported{Op: "type " + t.text, Where: p.file + ":" + strconv.Itoa(t.line), Why: "values of this type are not supported"})
	}
	p.failAt(t, strconv.Quote(t.text)+" is no type")
	return nil
}

// scalarType is a type that is one word, nil if it is none.
func scalarType(name string) *Type {
	if name == "index" {
		return IndexType()
	}
	// i1 to i128, without a sign or leading zeros.
	if name[0] == 'i' && len(name) < 5 {
		if n, err := strconv.Atoi(name[1:]); err == nil && n > 0 && n <= 128 && name[1] != '+' && name[1] != '0' {
			return IntType(n)
		}
	}
	return FloatType(name)
}

// pointer parses what follows !tt.ptr.
func (p *parser) pointer() *Type {
	p.want("<")
	elem, space := p.typ(), 1
	if p.take(",") {
		space = p.number()
	}
	p.want(">")
	return PointerTo(elem, space)
}

// tensor parses the shape and elements of a tensor: the text has been cut into 64 and x32xf16.
func (p *parser) tensor(from token) *Type {
	p.want("<")
	var shape []int
	var elem *Type
	// 64, then x32xf16: a number and the rest, or a type in the next token, as in 64x!tt.ptr<f16>.
	for p.peek().kind == num {
		n := p.number()
		shape = append(shape, n)
		rest := p.next()
		if rest.kind != word || rest.text[0] != 'x' {
			p.failAt(rest, "want x behind a dimension")
		}
		shape, elem = p.dimensions(rest, shape)
		if elem != nil {
			break
		}
	}
	if elem == nil {
		elem = p.typ()
	}
	if p.is(",") {
		p.fail("tensors with an encoding are Triton GPU IR; want Triton IR, which the stage ttir gives")
	}
	p.want(">")
	if len(shape) == 0 || elem.Kind == Tensor {
		p.failAt(from, "a tensor has a shape, and elements that are scalars")
	}
	if wrong := shapeError(shape); wrong != "" {
		p.failAt(from, wrong)
	}
	return TensorOf(shape, elem)
}

// descriptor parses what follows !tt.tensordesc: <16x32xf16>, <16x32xui8>.
func (p *parser) descriptor(from token) *Type {
	p.want("<")
	if p.peek().kind != num {
		p.fail("want the shape of a descriptor's blocks")
	}
	shape := []int{p.number()}
	rest := p.next()
	if rest.kind != word || rest.text[0] != 'x' {
		p.failAt(rest, "want x behind a dimension")
	}
	// The sign of integers stands in front of their type, which has none otherwise.
	text, sign := rest.text, ""
	if i := strings.LastIndexByte(text, 'x'); len(text) > i+2 && (text[i+1] == 's' || text[i+1] == 'u') {
		text, sign = text[:i+1]+text[i+2:], text[i+1:i+2]
	}
	rest.text = text
	shape, elem := p.dimensions(rest, shape)
	p.want(">")
	if elem == nil || shapeError(shape) != "" {
		p.failAt(from, "a descriptor has a shape of powers of two, and elements")
	}
	return DescriptorOf(shape, elem, sign)
}

// dimensions splits x32x16xf16 into numbers and a type; the type may stand in the next token.
func (p *parser) dimensions(t token, shape []int) ([]int, *Type) {
	rest := t.text[1:]
	for rest != "" && digit(rest[0]) {
		size := run(rest, digit)
		n, err := strconv.Atoi(rest[:size])
		if err != nil || len(rest) == size || rest[size] != 'x' || len(shape) > 24 {
			p.failAt(t, strconv.Quote(t.text)+" is no part of a shape")
		}
		shape, rest = append(shape, n), rest[size+1:]
	}
	if rest == "" {
		return shape, nil
	}
	elem := scalarType(rest)
	if elem == nil || strings.HasPrefix(rest, "x") {
		p.failAt(t, strconv.Quote(rest)+" is no type")
	}
	return shape, elem
}

// types parses a list of types, in parentheses or a single one.
func (p *parser) types() (all []*Type) {
	if !p.take("(") {
		return []*Type{p.typ()}
	}
	for !p.take(")") {
		all = append(all, p.typ())
		if !p.take(",") {
			p.want(")")
			break
		}
	}
	return all
}
