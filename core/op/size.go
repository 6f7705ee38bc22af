package op

import (
	"slices"

	"github.com/paddle-mps/paddle-mps/core/shape"
)

// A call may have a size of an earlier value of its graph in an attribute: zeros([s0, 3]) for an input of s0 rows. -1 and 0 mean
// something else in a list of dimensions, so that symbols are other numbers there, which no call can mean as sizes. A bound of
// a slice may be any number: it is a symbol only in a graph that has symbols.

const (
	openSize  = -1 << 40 // for the first symbol; those of the others are below it
	openSizes = 1 << 16  // how many there can be
)

// SizeAttr is what stands in an attribute for a symbol.
func SizeAttr(symbol int64) int64 { return openSize - int64(shape.SymbolNumber(symbol)) }

// SymbolIn is the symbol that a number in an attribute stands for, if it does for one.
func SymbolIn(n int64) (symbol int64, ok bool) {
	if n > openSize || n <= openSize-openSizes {
		return 0, false
	}
	return shape.Symbol(int(openSize - n)), true
}

// Sizes is how an attribute says a size that is not known: by a symbol, and in the other ways that the row has for it.
type Sizes uint8

// The ways.
const (
	NoSizes    Sizes = iota // not at all
	AsDims                  // a dimension of the result
	AsReshaped              // likewise; 0 where it is that of the operand, and one may be -1
	AsExpanded              // likewise; -1 where it is that of the operand, counted from the last axis
	AsStart                 // an index on one of axes; below 0 from the end
	AsEnd                   // likewise; the end itself is the largest number, or the smallest one backwards
	AsAdded                 // no symbol: the result is that for 0, plus the number
)

// TakesSizes reports whether an attribute may have symbols in it: the rules for it ask.
func (r *Row) TakesSizes(attr int) bool {
	use := r.Attrs[attr].Sizes
	return use != NoSizes && use != AsAdded
}

// SizeOf is a dimension that an attribute asks for, of which a symbol is one where the graph has symbols.
func (c *Inference) SizeOf(d int64) int64 {
	if symbol, ok := SymbolIn(d); ok && c.Open {
		return symbol
	}
	return d
}

// HasSymbols reports whether a list of dimensions has a symbol in it.
func (c *Inference) HasSymbols(dims []int64) bool {
	for _, d := range dims {
		if c.SizeOf(d) != d {
			return true
		}
	}
	return false
}

// WithSizes is an attribute with numbers in place of its symbols; nil if it has none.
func (v *Value) WithSizes(of func(symbol int64) (int64, error)) (*Value, error) {
	list := []int64{v.I}
	switch v.Kind {
	case Int:
	case Ints:
		list = slices.Clone(v.Ints)
	default:
		return nil, nil
	}
	found := false
	for i, n := range list {
		symbol, ok := SymbolIn(n)
		if !ok {
			continue
		}
		size, err := of(symbol)
		if err != nil {
			return nil, err
		}
		list[i], found = size, true
	}
	switch {
	case !found:
		return nil, nil
	case v.Kind == Int:
		return &Value{Kind: Int, I: list[0]}, nil
	}
	return &Value{Kind: Ints, Ints: list}, nil
}
