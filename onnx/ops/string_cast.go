package ops

import (
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/core/text"
	"github.com/paddle-mps/paddle-mps/onnx/build"
	"github.com/paddle-mps/paddle-mps/onnx/file"
)

// Casts to and from strings. ONNX leaves the digits of floats open, and its reference has others than onnxruntime. They are those of
// onnxruntime, because models that look up such strings were made with it: 8 significant digits, of float64 too, as printf("%.8g") has
// them. So a 3 is "3", and a bool is "1" or "0".
//
// What ONNX calls undefined is decided here. A text that is no number is an error of the run, with the node and the element, because
// any number in its place would be an invented one. A text of a float becomes an integer without its fraction, as the float would. An
// integer that its type does not have is an error, while a float that is too large is an infinity, as it is everywhere in IEEE 754.

// shown is a string as errors show it: not more than its beginning.
func shown(s string) string {
	const most = 40
	if len(s) <= most {
		return strconv.Quote(s)
	}
	return strconv.Quote(strings.ToValidUTF8(s[:most], "")) + "..."
}

// toStrings is numbers as strings. Small floats are those of float32.
func toStrings(c *build.Call, x *build.Value) *build.Value {
	if x.DType.IsComplex() {
		c.Refuse("a cast of complex numbers is not supported")
	}
	elem := x.Elem
	if elem != 0 && !elem.Unsigned() {
		x, elem = c.Decoded(x, dtype.Float32), 0
	}
	return c.EachString(x, func(_ *text.Table, k *op.Const) ([]string, error) { return printed(k, elem.Unsigned()), nil })
}

// printed are elements as strings. A bool is 1 or 0; what carries unsigned integers is read as such.
func printed(k *op.Const, unsigned bool) (list []string) {
	if ints, ok := k.Ints(); ok {
		for _, n := range ints {
			if unsigned {
				list = append(list, strconv.FormatUint(uint64(n)&(math.MaxUint64>>(64-k.DType.Bits())), 10))
				continue
			}
			list = append(list, strconv.FormatInt(n, 10))
		}
		return list
	}
	for _, f := range build.FloatsOf(k) {
		list = append(list, printedFloat(f))
	}
	return list
}

func printedFloat(f float64) string {
	switch {
	case f != f:
		return "NaN"
	case math.IsInf(f, 1):
		return "INF"
	case math.IsInf(f, -1):
		return "-INF"
	}
	return strconv.FormatFloat(f, 'g', 8, 64)
}

// ofStrings is the numbers that strings stand for: those of d, or of a type that tensors lack where elem is not 0.
func ofStrings(c *build.Call, x *build.Value, d dtype.DType, elem file.ElemType) *build.Value {
	if d.IsComplex() {
		c.Refuse("a cast to complex numbers is not supported")
	}
	if elem != 0 && !elem.Unsigned() {
		return encoded(c, ofStrings(c, x, dtype.Float32, 0), d, elem)
	}
	return c.OfEachString(x, d, func(raw []byte, s string) ([]byte, error) {
		bits, ok := Parsed(strings.TrimSpace(s), d, elem.Unsigned())
		if !ok {
			return nil, status.Errorf(status.Invalid, "%s; want a number of type %s", shown(s), elem.TextOf(d))
		}
		return file.AppendInt(raw, bits, int(d.Size())), nil
	}).As(elem)
}

// Parsed is the bits of the number that a string stands for. An integer may be written as a float, and loses its fraction; one that
// is out of range is no number of its type, whereas a float becomes an infinity. A bool is any number, or true or false.
func Parsed(s string, d dtype.DType, unsigned bool) (bits int64, ok bool) {
	size := int(d.Bits())
	switch {
	case d == dtype.Bool && strings.EqualFold(s, "true"):
		return 1, true
	case d == dtype.Bool && strings.EqualFold(s, "false"):
		return 0, true
	case unsigned || d == dtype.Uint8:
		n, err := strconv.ParseUint(strings.TrimPrefix(s, "+"), 10, size)
		if err == nil {
			return int64(n), true
		}
	case d.IsInt():
		n, err := strconv.ParseInt(s, 10, size)
		if err == nil {
			return n, true
		}
	}
	precision := 64
	if d == dtype.Float32 {
		precision = 32
	}
	f, err := strconv.ParseFloat(s, precision)
	if d == dtype.Bool && (f != f || math.IsInf(f, 0)) {
		return 0, false
	}
	if d.IsFloat() || d == dtype.Bool {
		v := op.Value{Kind: op.Float, F: f}
		return int64(v.Bits(d)), err == nil || math.IsInf(f, 0) // of a number out of range
	}
	low, high := -math.Ldexp(1, size-1), math.Ldexp(1, size-1)
	if unsigned || d == dtype.Uint8 {
		low, high = 0, math.Ldexp(1, size)
	}
	if f = math.Trunc(f); err != nil || !(f >= low && f < high) || !strings.ContainsAny(s, ".eE") {
		return 0, false
	}
	if f >= 1<<63 {
		return int64(uint64(f)), true
	}
	return int64(f), true
}

// ranks is int64 with the order of strings, by bytes, which is that of their characters: equal ones have one rank. With ranks in the
// place of strings an operator that sorts has the right order, whatever the numbers of the strings are; see unique.
func ranks(c *build.Call, x *build.Value) *build.Value {
	rank := func(_ *text.Table, in []*op.Const, lists [][]string) ([]*op.Const, error) {
		all := slices.Clone(lists[0])
		slices.Sort(all)
		all = slices.Compact(all)
		k := &op.Const{Type: in[0].Type}
		for _, s := range lists[0] {
			at, _ := slices.BinarySearch(all, s)
			k.Bytes = binary.LittleEndian.AppendUint64(k.Bytes, uint64(at))
		}
		return []*op.Const{k}, nil
	}
	return c.OnTexts(rank, []*build.Value{x}, build.Typed(dtype.Int64, 0, x.Dims()...))[0]
}
