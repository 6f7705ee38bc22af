// Constants, decoded when they are parsed, so that a wrong one is an error with a place.

package ttir

import (
	"math"
	"strconv"
	"strings"
)

// Number is the value of a constant's element: an integer, or a float with its exact bits where the text gives bits.
type Number struct {
	Int   int64
	Float float64
	// Of a float that the text has as bits.
	Bits  uint64
	IsBit bool
}

// Literal decodes the value of an arith.constant: one number that stands for all elements, or a number for each, in
// row-major order. wrong is "" if the text is fine.
func Literal(o *Op) (all []Number, wrong string) {
	a, _ := o.Attr("value")
	t := o.Results[0].Type
	// dense<[[1, 2], [3, 4]]>: brackets follow from the shape.
	for _, w := range strings.FieldsFunc(a.Word, func(r rune) bool { return strings.ContainsRune("[], ", r) }) {
		n, ok := literal(w, t.Element())
		if !ok {
			return nil, strconv.Quote(w) + " is no constant of type " + t.Element().String()
		}
		all = append(all, n)
	}
	// dense<0> stands for all elements.
	if len(all) != 1 && len(all) != t.Count() {
		return nil, "the constant has " + strconv.Itoa(len(all)) + " elements, its type " + strconv.Itoa(t.Count())
	}
	return all, ""
}

// literal decodes one number.
func literal(w string, t *Type) (n Number, ok bool) {
	switch {
	case w == "true":
		n.Int = 1
	case w == "false":
	case t.Kind == Float && strings.HasPrefix(w, "0x"):
		bits, err := strconv.ParseUint(w[2:], 16, t.Bits)
		n.Bits, n.IsBit = bits, true
		return n, err == nil
	case t.Kind == Float:
		f, err := strconv.ParseFloat(w, 64)
		n.Float = f
		return n, err == nil && !math.IsInf(f, 0)
	case t.Kind == Int || t.Kind == Index:
		// Unsigned 64-bit constants are printed as signed ones, but people write them otherwise.
		i, err := strconv.ParseInt(w, 0, 64)
		if err != nil {
			var u uint64
			u, err = strconv.ParseUint(w, 0, 64)
			i = int64(u)
		}
		n.Int = i
		return n, err == nil
	}
	return n, t.Kind == Int
}
