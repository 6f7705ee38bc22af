package ops

import (
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/core/text"
	"github.com/paddle-mps/paddle-mps/onnx/build"
	"github.com/paddle-mps/paddle-mps/onnx/file"
)

// Operators that look into strings; build/strings.go says how they are called. Strings are UTF-8, and upper and lower case are those of
// Unicode, whatever the locale is.
//
// A function of an operator checks operands and attributes when the graph is built, and makes a closure of what it needs, which is
// called in each run, maybe in several at a time. So a closure changes nothing that it shares: compiled expressions and sets of words
// are only read. What a closure makes is bounded. The table of the run bounds the bytes of strings, and refuses a string before it is
// made where that may be much longer than its parts. The number of results is that of the elements of the operand, but for StringSplit,
// which has a limit of its own.
//
// Casts: ONNX leaves the digits of floats open, and its reference has others than onnxruntime. They are those of
// onnxruntime, because models that look up such strings were made with it: 8 significant digits, of float64 too, as printf("%.8g") has
// them. So a 3 is "3", and a bool is "1" or "0".
//
// What ONNX calls undefined is decided here. A text that is no number is an error of the run, with the node and the element, because
// any number in its place would be an invented one. A text of a float becomes an integer without its fraction, as the float would. An
// integer that its type does not have is an error, while a float that is too large is an infinity, as it is everywhere in IEEE 754.

var stringed = []entry{
	{"StringConcat", 20, 0, stringConcat},
	{"StringSplit", 20, 0, stringSplit},           // x. Results: the parts along a new last axis, and how many there are of each string.
	{"StringNormalizer", 10, 0, stringNormalizer}, // [words] or [1, words]
}

// stringConcat is the strings of x with those of y behind them. The graph broadcasts both, as numbers, before the call.
func stringConcat(c *build.Call) []*build.Value {
	x, y := c.Strings(0), c.Strings(1)
	s, err := shape.Broadcast("onnx", &x.Shape, &y.Shape)
	c.Must(err)
	join := func(t *text.Table, in []*op.Const, lists [][]string) ([]*op.Const, error) {
		k := &op.Const{Type: in[0].Type}
		for i, front := range lists[0] {
			behind := lists[1][i]
			if err := t.Room(len(front) + len(behind)); err != nil {
				return nil, err
			}
			id, err := t.ID(front + behind)
			if err != nil {
				return nil, err
			}
			k.Bytes = file.AppendInt(k.Bytes, id, 8)
		}
		return []*op.Const{k}, nil
	}
	operands := []*build.Value{c.Expand(x.As(0), s.Slice()...), c.Expand(y.As(0), s.Slice()...)}
	return c.OnTexts(join, operands, build.Typed(dtype.Int64, file.ElemString, s.Slice()...))
}

// mostParts is how many strings StringSplit makes at most, those that fill shorter lists included.
const mostParts = 1 << 26

// stringSplit cuts strings at a delimiter, or between words where there is none. Lists that are shorter than the longest one end
// with empty strings.
func stringSplit(c *build.Call) []*build.Value {
	x := c.Strings(0)
	if x.Rank() == shape.MaxRank {
		c.Refuse("the result has %d dimensions; want at most %d", x.Rank()+1, shape.MaxRank)
	}
	delimiter, most := c.Text("delimiter", ""), c.Int("maxsplit", -1)
	split := func(t *text.Table, in []*op.Const, lists [][]string) ([]*op.Const, error) {
		list := lists[0]
		parts, width, counts := make([][]string, len(list)), 0, &op.Const{Type: in[0].Type}
		for i, s := range list {
			parts[i] = splitString(s, delimiter, most)
			counts.Bytes = file.AppendInt(counts.Bytes, int64(len(parts[i])), 8)
			width = max(width, len(parts[i]))
			if build.Times(int64(len(list)), int64(width)) > mostParts { // before more of them are cut
				return nil, status.Errorf(status.Unsupported, "[onnx] the parts of %d strings are up to %d; want at most %d in all", len(list), width, mostParts)
			}
		}
		k := &op.Const{Type: op.Type{DType: dtype.Int64, Shape: build.ShapeOf(append(slices.Clone(in[0].Shape.Slice()), int64(width)))}}
		k.Bytes = make([]byte, 0, 8*width*len(list))
		for _, of := range parts {
			for i := range width {
				s := ""
				if i < len(of) {
					s = of[i]
				}
				id, err := t.ID(s)
				if err != nil {
					return nil, err
				}
				k.Bytes = file.AppendInt(k.Bytes, id, 8)
			}
		}
		return []*op.Const{k, counts}, nil
	}
	dims := append(slices.Clone(x.Dims()), c.Graph.Symbol())
	return c.OnTexts(split, []*build.Value{x}, build.Typed(dtype.Int64, file.ElemString, dims...), build.Typed(dtype.Int64, 0, x.Dims()...))
}

// splitString cuts a string at a delimiter, or between words if it is empty, at most so many times; below 0 as often as possible.
// The last part is what is left then. Between words it has no white space in front, and keeps what is at its end, as in Python.
func splitString(s, delimiter string, most int64) (parts []string) {
	if delimiter != "" {
		if most < 0 || most >= int64(len(s)) {
			return strings.Split(s, delimiter)
		}
		return strings.SplitN(s, delimiter, int(most)+1)
	}
	if most < 0 {
		return strings.Fields(s)
	}
	for s = strings.TrimLeftFunc(s, unicode.IsSpace); s != ""; s = strings.TrimLeftFunc(s, unicode.IsSpace) {
		end := strings.IndexFunc(s, unicode.IsSpace)
		if end < 0 || int64(len(parts)) == most {
			return append(parts, s)
		}
		parts, s = append(parts, s[:end]), s[end:]
	}
	return parts
}

// stringNormalizer drops stop words, and makes all letters of the others lower or upper case. A result without words has one,
// the empty string. A stop word is a whole element, as ONNX says and onnxruntime has it; ONNX's reference drops words within elements.
// Whether it counts as one is decided by what the element was before its letters were changed.
func stringNormalizer(c *build.Call) []*build.Value {
	x := c.Strings(0)
	if x.Rank() != 1 && (x.Rank() != 2 || x.Dims()[0] != 1) {
		c.Wrong("the operand has shape %s; want [words] or [1, words]", &x.Shape)
	}
	change := map[string]func(string) string{"NONE": nil, "LOWER": strings.ToLower, "UPPER": strings.ToUpper}
	action := c.Text("case_change_action", "NONE")
	to, ok := change[action]
	if !ok {
		c.Wrong("case_change_action is %q; want NONE, LOWER or UPPER", action)
	}
	exact, stop := c.Yes("is_case_sensitive", 0), map[string]bool{}
	if a := c.Attr("stopwords"); a != nil {
		c.Numbers("stopwords", a.Texts...) // they have to be UTF-8
		for _, s := range a.Texts {
			stop[compared(string(s), exact)] = true
		}
	}
	normalize := func(t *text.Table, in []*op.Const, lists [][]string) ([]*op.Const, error) {
		ids, _ := in[0].Ints()
		var kept []string
		changed := map[int64]string{} // each string once, however often it occurs: they may be long
		for i, s := range lists[0] {
			made, known := changed[ids[i]]
			if !known {
				if stop[compared(s, exact)] {
					continue
				}
				if made = s; to != nil {
					made = to(s)
				}
				changed[ids[i]] = made
			}
			kept = append(kept, made)
		}
		if len(kept) == 0 {
			kept = []string{""}
		}
		s := in[0].Shape
		s.Dims[s.Rank-1] = int64(len(kept))
		return build.StringConst(t, s, kept)
	}
	dims := slices.Clone(x.Dims())
	dims[len(dims)-1] = c.Graph.Symbol()
	return c.OnTexts(normalize, []*build.Value{x}, build.Typed(dtype.Int64, file.ElemString, dims...))
}

// compared is a string as stop words are compared.
func compared(s string, exact bool) string {
	if exact {
		return s
	}
	return strings.ToLower(s)
}

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
