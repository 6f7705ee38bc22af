// The objects of the representation. They are made by the parser, and changed by Inline and package clean alone.

package ttir

import (
	"slices"
	"strconv"
)

// Module is a file: functions in the order of the text.
type Module struct {
	File  string
	Attrs []Attr
	Funcs []*Func
	Loc   *Loc
}

// Func is a function. Its first block's arguments are its parameters.
type Func struct {
	Name string
	// Public, private or "".
	Visibility string
	Body       *Region
	ParamAttrs [][]Attr
	Results    []*Type
	Attrs      []Attr
	Loc        *Loc
	Line, Col  int
}

// Params are the parameters.
func (f *Func) Params() []*Value { return f.Body.Blocks[0].Args }

// Region is a list of blocks, of which the first is entered.
type Region struct {
	Blocks []*Block
	// Nil for a function's body.
	Parent *Op
}

// Block is a list of operations that ends with a terminator.
type Block struct {
	Label string // ^bb1; "" for a first block that is printed without one
	Args  []*Value
	Ops   []*Op
}

// Value is a result of an operation, or an argument of a block.
type Value struct {
	// As printed, without #n.
	Name string
	Type *Type
	// Nil for an argument.
	Def *Op
	// Of an argument.
	Block *Block
	// Among the results of Def, or the arguments of Block.
	Index int
	// Of an argument.
	Loc *Loc
}

// Ref is the value as a use of it is printed.
func (v *Value) Ref() string {
	if v.Def != nil && len(v.Def.Results) > 1 && v.Def.packed {
		return v.Name + "#" + strconv.Itoa(v.Index)
	}
	return v.Name
}

// Op is an operation.
type Op struct {
	Name      string
	Operands  []*Value
	Results   []*Value
	Attrs     []Attr
	Regions   []*Region
	Succs     []Succ
	Loc       *Loc
	Line, Col int

	row *row
	// Results are one name with a count.
	packed bool
}

// New makes an operation with results of these types, for passes that add to a module. Its form is the table's.
func New(name string, operands []*Value, types []*Type, attrs ...Attr) *Op {
	o := &Op{Name: name, Operands: operands, Attrs: attrs, row: rows[name]}
	if o.row == nil {
		panic("ttir: no operation " + name)
	}
	o.SetResults(types)
	return o
}

// SetResults gives an operation other results.
func (o *Op) SetResults(types []*Type) {
	// Several results are printed as one name with numbers.
	o.Results, o.packed = nil, len(types) > 1
	for i, t := range types {
		o.Results = append(o.Results, &Value{Type: t, Def: o, Index: i})
	}
}

// Succ is a branch to a block, with values for its arguments.
type Succ struct {
	To   *Block
	Args []*Value
}

// Attr is a named attribute.
type Attr struct {
	Name  string
	Value AttrValue
}

// AttrValue is an attribute as text, and decoded where it is a number, a list of numbers or a word.
type AttrValue struct {
	Text string
	// Of integers, booleans and array<...>.
	Ints []int64
	// Of words and strings, without quotes.
	Word string
}

// Attr finds an attribute.
func (o *Op) Attr(name string) (AttrValue, bool) {
	i := slices.IndexFunc(o.Attrs, func(a Attr) bool { return a.Name == name })
	if i < 0 {
		return AttrValue{}, false
	}
	return o.Attrs[i].Value, true
}

// Int is an integer attribute, or the default where there is none.
func (o *Op) Int(name string, otherwise int) int {
	if a, ok := o.Attr(name); ok && len(a.Ints) == 1 {
		return int(a.Ints[0])
	}
	return otherwise
}

// Word is an attribute that is a word, "" where there is none.
func (o *Op) Word(name string) string {
	a, _ := o.Attr(name)
	return a.Word
}

// Where is the operation's line of the program: file.py:line, "" if unknown.
func (o *Op) Where() string { return o.Loc.Where() }

// Terminator is the last operation of a block.
func (b *Block) Terminator() *Op { return b.Ops[len(b.Ops)-1] }

// Walk calls visit for the operations of a region, outer ones before those in them.
func (r *Region) Walk(visit func(*Op)) {
	for _, b := range r.Blocks {
		for _, o := range b.Ops {
			visit(o)
			for _, inner := range o.Regions {
				inner.Walk(visit)
			}
		}
	}
}

// Func finds a function, nil if there is none.
func (m *Module) Func(name string) *Func {
	for _, f := range m.Funcs {
		if f.Name == name {
			return f
		}
	}
	return nil
}
