package graph

import (
	"math"
	"strconv"
	"strings"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// A text is read line by line, and each node goes through the builder like the call that it was made by. What the line says
// of a result has to be what the rules of the row infer, so that a text which parses is a graph which is right.
//
// The grammar, with one blank or more between words where none is written; NAME is that of a dtype, an operator or an
// attribute:
//
//	line      = "input" declared | "constant" declared | "output" operand | node | nothing
//	declared  = "%" NUMBER NAME "[" [ dimension { "," dimension } ] "]"
//	dimension = NUMBER | "s" NUMBER
//	node      = declared { "," declared } "=" NAME "(" [ operand { "," operand } ] ")" { attribute }
//	operand   = "%" NUMBER | scalar
//	scalar    = NUMBER | FLOAT | "true" | "false" | "none"
//	attribute = NAME "=" ( scalar | NAME | QUOTED | dimension | "[" [ item { "," item } ] "]" )
//
// A declared value has the next number, from %0 on. A text may come from a stranger: it is bounded by its length alone, a
// line adds at most one node, and nothing is computed but types.

// Parse makes the graph of a text, as String writes it. data gives the elements of its constants, in the order of their
// lines: how many bytes it is asked for is known from the line. Errors are status.Invalid and name the line.
func Parse(text string, data func(bytes int64) ([]byte, error)) (*Graph, error) {
	p := parser{builder: NewBuilder(), data: data, sizes: sizes{}}
	for text != "" {
		var line string
		line, text, _ = strings.Cut(text, "\n")
		p.line++
		if err := p.parse(line); err != nil {
			return nil, status.Errorf(status.Invalid, "[program] line %d: %s", p.line, strings.TrimPrefix(err.Error(), "[program] "))
		}
	}
	return p.builder.Build(p.outputs...), nil
}

// parser reads a text.
type parser struct {
	builder *Builder
	data    func(bytes int64) ([]byte, error)
	values  []Value // by number
	outputs []Value
	sizes   sizes // symbols of the text as those of the builder
	line    int
	rest    string // of the line
	word    string // the latest token: punctuation, a quoted text, or anything else up to one of both
}

// mostSymbols bounds the number of a symbol.
const mostSymbols = 1 << 16

// parse reads one line.
func (p *parser) parse(line string) error {
	p.rest = line
	p.next()
	switch p.word {
	case "":
		return p.end()
	case "input":
		p.next()
		t, err := p.declared()
		if err != nil {
			return err
		}
		p.values = append(p.values, p.builder.Input(t))
		p.sizes.bind(&t.Shape, &t.Shape)
	case "constant":
		if err := p.constant(); err != nil {
			return err
		}
	case "output":
		p.next()
		v, err := p.value()
		if err != nil {
			return err
		}
		if p.builder.IsScalar(v) {
			return wrong("a number as an output", "a tensor")
		}
		p.outputs = append(p.outputs, v)
	default:
		return p.node()
	}
	return p.end()
}

func wrong(got, want string) error {
	return status.Errorf(status.Invalid, "got %s; want %s", got, want)
}

// end expects the end of a line.
func (p *parser) end() error {
	if p.word != "" {
		return wrong(strconv.Quote(p.word), "the end of the line")
	}
	return nil
}

// A token ends before a blank or punctuation, so that a sign, a point and an exponent belong to a number, and the percent
// sign to the name of a value. A quoted text is one token with its quotes, whatever is in it.

// next reads the next token; it is empty at the end of the line.
func (p *parser) next() {
	p.rest = strings.TrimLeft(p.rest, " ")
	n := strings.IndexAny(p.rest, " ()[]=,\"")
	switch {
	case n < 0:
		n = len(p.rest)
	case n > 0:
	case p.rest[0] == '"':
		n = 1 // a quote without an end
		if quoted, err := strconv.QuotedPrefix(p.rest); err == nil {
			n = len(quoted)
		}
	default:
		n = 1
	}
	p.word, p.rest = p.rest[:n], p.rest[n:]
}

// expect reads over a token.
func (p *parser) expect(word string) error {
	if p.word != word {
		return wrong(strconv.Quote(p.word), strconv.Quote(word))
	}
	p.next()
	return nil
}

// The number of a new value is checked and not looked up, so that a text cannot name one value twice, nor leave one out.

// declared reads the number of a new value, its dtype and its shape.
func (p *parser) declared() (t op.Type, err error) {
	if want := "%" + strconv.Itoa(len(p.values)); p.word != want {
		return t, wrong(strconv.Quote(p.word), want)
	}
	p.next()
	if t.DType, err = dtype.Parse(p.word); err != nil {
		return t, wrong(strconv.Quote(p.word), "a dtype")
	}
	p.next()
	var dims []int64
	err = p.list(func() error {
		if len(dims) == shape.MaxRank {
			return wrong("more dimensions", "at most "+strconv.Itoa(shape.MaxRank))
		}
		d, err := p.dimension()
		dims = append(dims, d)
		p.next()
		return err
	})
	if err != nil {
		return t, err
	}
	t.Shape.Rank = len(dims)
	copy(t.Shape.Dims[:], dims)
	return t, t.Possible("program")
}

// dimension is the latest token as a dimension.
func (p *parser) dimension() (int64, error) {
	if name, ok := strings.CutPrefix(p.word, "s"); ok {
		n, err := strconv.ParseInt(name, 10, 64)
		if err != nil || n < 0 || n >= mostSymbols {
			return 0, wrong(strconv.Quote(p.word), "a symbol, such as s0")
		}
		return shape.Symbol(int(n)), nil
	}
	n, err := strconv.ParseInt(p.word, 10, 64)
	if err != nil || n < 0 {
		return 0, wrong(strconv.Quote(p.word), "a dimension")
	}
	return n, nil
}

// list reads items between brackets, with commas between; item begins at the first token of one and ends behind its last.
func (p *parser) list(item func() error) error { return p.between("[", "]", item) }

// between is list with other tokens around it.
func (p *parser) between(open, closing string, item func() error) error {
	if err := p.expect(open); err != nil {
		return err
	}
	for first := true; p.word != closing; first = false {
		if !first {
			if err := p.expect(","); err != nil {
				return err
			}
		}
		if err := item(); err != nil {
			return err
		}
	}
	p.next()
	return nil
}

// Elements are asked for in the order of the lines, and only once the size that a line asks for is known to be possible.

// constant reads the rest of a line that declares one.
func (p *parser) constant() error {
	p.next()
	t, err := p.declared()
	if err != nil {
		return err
	}
	if !t.Shape.Known() {
		return wrong("a constant of unknown size", "numbers")
	}
	bytes, err := t.Shape.Bytes(t.DType.Size())
	if err != nil {
		return err
	}
	elements, err := p.data(bytes)
	if err != nil {
		return err
	}
	p.values = append(p.values, p.builder.Constant(&op.Const{Type: t, Bytes: elements}))
	return nil
}

// value reads an operand: a value with a number, or a scalar, which it adds.
func (p *parser) value() (Value, error) {
	defer p.next()
	name, ok := strings.CutPrefix(p.word, "%")
	if !ok {
		v, err := scalar(p.word)
		if err != nil {
			return 0, err
		}
		return p.builder.Scalar(v), nil
	}
	n, err := strconv.Atoi(name)
	if err != nil || n < 0 || n >= len(p.values) {
		return 0, wrong(p.word, "a value of a line above")
	}
	return p.values[n], nil
}

// The kind of a scalar decides promotion, so that 2 and 2.0 are two things. inf and nan are floats; integers that do not fit 64
// bits are floats too, as Go reads them.

// scalar is a token as a number; none is one that is left out.
func scalar(word string) (v op.Value, err error) {
	switch word {
	case "none":
		return v, nil
	case "true", "false":
		v.Kind = op.Bool
		if word == "true" {
			v.I = 1
		}
		return v, nil
	}
	if n, err := strconv.ParseInt(word, 10, 64); err == nil {
		return op.Value{Kind: op.Int, I: n}, nil
	}
	f, err := strconv.ParseFloat(word, 64)
	if err != nil && !math.IsInf(f, 0) || word == "" {
		return v, wrong(strconv.Quote(word), "a value, a number, true, false or none")
	}
	return op.Value{Kind: op.Float, F: f}, nil
}

// The results stand in front of the call, before it is known what they are: their types are kept until the call has been made,
// and their numbers given up meanwhile.

// node reads a line with a call: the results, the operator, the operands and the attributes.
func (p *parser) node() error {
	before := len(p.values)
	var types []op.Type
	for p.word != "=" {
		if len(types) > 0 {
			if err := p.expect(","); err != nil {
				return err
			}
		}
		t, err := p.declared()
		if err != nil {
			return err
		}
		types, p.values = append(types, t), append(p.values, 0)
	}
	p.next()
	row, err := op.ByName(p.word)
	if err != nil {
		return wrong(strconv.Quote(p.word), "an operator")
	}
	p.values = p.values[:before] // a node does not read itself
	p.next()
	var in []Value
	err = p.between("(", ")", func() error {
		v, err := p.value()
		in = append(in, v)
		return err
	})
	if err != nil {
		return err
	}
	at := make(op.Attrs, len(row.Attrs))
	for p.word != "" {
		if err := p.attribute(row, at); err != nil {
			return err
		}
	}
	made, err := p.builder.Call(row, in, at)
	if err != nil {
		return err
	}
	return p.check(row, made, types)
}

// The row says what type an attribute has, and with it how its value is written. Attributes that are left out get their
// defaults, which the builder fills in.

// attribute reads the name and the value of an attribute.
func (p *parser) attribute(row *op.Row, at op.Attrs) error {
	i := row.AttrIndex(p.word)
	if i < 0 || at[i].Set() {
		return wrong(strconv.Quote(p.word), "an attribute of "+row.Name+", once")
	}
	p.next()
	if err := p.expect("="); err != nil {
		return err
	}
	v := &at[i]
	switch row.Attrs[i].Type {
	case op.IntsAttr:
		v.Kind = op.Ints
		return p.list(func() error {
			n, err := p.integer(row, i)
			if err != nil {
				return err
			}
			v.Ints = append(v.Ints, n)
			p.next()
			return nil
		})
	case op.FloatsAttr:
		var floats []float64
		defer func() { v.Kind, v.Ref = op.Floats, floats }()
		return p.list(func() error {
			x, err := scalar(p.word)
			if err != nil || x.Kind != op.Float {
				return wrong(strconv.Quote(p.word), "a float")
			}
			floats = append(floats, x.F)
			p.next()
			return nil
		})
	case op.StringsAttr:
		var texts []string
		defer func() { v.Kind, v.Ref = op.Strings, texts }()
		return p.list(func() error {
			text, err := p.quoted()
			texts = append(texts, text)
			return err
		})
	case op.StringAttr:
		text, err := p.quoted()
		v.Kind, v.Ref = op.String, text
		return err
	case op.DTypeAttr:
		d, err := dtype.Parse(p.word)
		v.Kind, v.I = op.DType, int64(d)
		p.next()
		return err
	case op.TensorAttr, op.GraphAttr:
		return wrong("a tensor or a graph as an attribute", "a value that has a text")
	}
	if strings.HasPrefix(p.word, "s") && row.Attrs[i].Type == op.IntAttr {
		n, err := p.integer(row, i)
		*v = op.Value{Kind: op.Int, I: n}
		p.next()
		return err
	}
	x, err := scalar(p.word)
	*v = x
	p.next()
	return err
}

// integer is the latest token as an integer in an attribute, or as a size of a line above where the attribute takes one.
func (p *parser) integer(row *op.Row, attr int) (int64, error) {
	if row.TakesSizes(attr) && strings.HasPrefix(p.word, "s") {
		d, err := p.dimension()
		known, ok := p.sizes[d]
		switch {
		case err != nil:
			return 0, err
		case !ok:
			return 0, wrong(strconv.Quote(p.word), "a size of a line above")
		}
		return op.SizeAttr(known), nil
	}
	n, err := strconv.ParseInt(p.word, 10, 64)
	if err != nil {
		return 0, wrong(strconv.Quote(p.word), "an integer")
	}
	return n, nil
}

func (p *parser) quoted() (string, error) {
	text, err := strconv.Unquote(p.word)
	if err != nil {
		return "", wrong(p.word, "a quoted text")
	}
	p.next()
	return text, nil
}

// What is inferred of a text may depend on the version of the library that reads it. A rule that has changed is noticed here and
// not by the shapes of results.

// check adds what a node has made to the values, if it is what the line says. A size that only the call knows is a symbol of
// its own, and may have any number in the text.
func (p *parser) check(row *op.Row, made []Value, types []op.Type) error {
	if len(made) != len(types) {
		return wrong(strconv.Itoa(len(types))+" results", strconv.Itoa(len(made))+", as "+row.Name+" makes them")
	}
	for i, v := range made {
		is, said := p.builder.TypeOf(v), types[i]
		same := is.Form == op.TensorForm && is.DType == said.DType && is.Shape.Rank == said.Shape.Rank
		for axis := 0; same && axis < is.Shape.Rank; axis++ {
			d, s := is.Shape.Dims[axis], said.Shape.Dims[axis]
			same = d == s || shape.IsSymbol(d) && shape.IsSymbol(s)
		}
		if !same {
			return wrong(said.DType.String()+dims(&said.Shape), is.DType.String()+dims(&is.Shape)+", which "+row.Name+" makes")
		}
		p.values = append(p.values, v)
		p.sizes.bind(&said.Shape, &is.Shape)
	}
	return nil
}
