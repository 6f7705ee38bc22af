package msl

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
)

// Way is how a kernel walks the elements.
type Way uint8

// The ways.
const (
	// Vectors is for contiguous operands that begin at a multiple of [Form.Several] elements: each thread takes that
	// many neighbours, which are 16 bytes of the widest operand.
	Vectors Way = iota
	// Grid is for operands with strides, which may be zero or negative: each thread takes four elements along the
	// innermost axis, and several times so where an operand is the same each time.
	Grid
	// Tiles is for inputs whose neighbours in memory are not the output's: a threadgroup reads a square of elements along
	// their axis and goes through it along the output's, so that all is coalesced.
	Tiles
)

// Place says where the elements of an input are.
type Place uint8

// The places.
const (
	Moving Place = iota // in memory, each at its own address
	Fixed               // one number of the CPU's for all
	Turned              // of [Tiles]: read by way of a tile
)

// Form is what a kernel is for.
type Form struct {
	Op     op.ID
	In     []dtype.DType
	Out    dtype.DType
	Places []Place // of the inputs
	Way    Way
	Wide   bool // offsets need 64 bits
}

// VectorBytes is what a thread of [Vectors] takes of the widest operand: the longest load that a lane does at once.
const VectorBytes = 16

// Several is how many elements a thread of [Vectors] takes.
func (f *Form) Several() int64 {
	widest := f.Out.Size()
	for _, d := range f.In {
		widest = max(widest, d.Size())
	}
	return VectorBytes / widest
}

// TileSide is the side of the squares of [Tiles]; threadgroups are that wide.
const TileSide = 32

// Name is what the kernel of every form is called in its source.
const Name = "run"

// The arguments of a kernel: buffer 0 is the output, 1 and so on are the inputs (a fixed one is eight bytes that begin
// with the element), then the number of elements for [Vectors], else a Walks of grid.metal; then, as far as the form has
// them, the attributes as floats, and a word that becomes 1 when an integer is divided by zero.

// Attrs are the attributes that the kernel wants, by their places in the row, in order.
func (f *Form) Attrs() []int { return table[f.Op].attrs }

// Faults reports whether kernels of an operator want a word for faults when they compute in a dtype.
func Faults(operator op.ID, d dtype.DType) bool {
	return table[operator].faults && !d.IsFloat() && d != dtype.Bool
}

// Faults reports whether the kernel wants a word for faults.
func (f *Form) Faults() bool { return Faults(f.Op, f.decisive()) }

// Has reports whether there are kernels for an operator of a dtype, that of its first input, or of its
// second where the first is a condition.
func Has(operator op.ID, d dtype.DType) bool {
	r := table[operator]
	return storage[d] != "" && r.expression(d) != ""
}

// decisive is the dtype whose expression is computed: of the first input, but of the second where the
// first is a condition.
func (f *Form) decisive() dtype.DType {
	if f.Op == op.IDWhere {
		return f.In[1]
	}
	return f.In[0]
}

// Source is the text of the kernel; ok is false for what the table has not.
func (f *Form) Source() (source string, ok bool) {
	r := table[f.Op]
	expression := r.expression(f.decisive())
	for _, d := range append([]dtype.DType{f.Out}, f.In...) {
		ok = storage[d] != ""
		if !ok || expression == "" {
			return "", false
		}
	}
	var s strings.Builder
	s.WriteString(prelude)
	if isSpecial(f.Op) {
		s.WriteString(file("special"))
	}
	if f.Way != Vectors {
		s.WriteString(file("grid"))
	}
	f.one(&s, "one", store(f.Out, f.convert(expression)))
	if f.Way != Tiles {
		f.several(&s)
	}
	fmt.Fprintf(&s, "\nkernel void %s(%s) {\n", Name, strings.Join(f.arguments(), ",\n    "))
	[]func(*strings.Builder){Vectors: f.vectors, Grid: f.grid, Tiles: f.tiles}[f.Way](&s)
	s.WriteString("}\n")
	return s.String(), true
}

// parameters are those of a function of elements: what each input gives, then attributes and the word for faults.
func (f *Form) parameters(element func(i int) string) string {
	var takes []string
	for i := range f.In {
		takes = append(takes, element(i))
	}
	if len(f.Attrs()) > 0 {
		takes = append(takes, "constant float *attributes")
	}
	if f.Faults() {
		takes = append(takes, "device uint *fault")
	}
	return strings.Join(takes, ", ")
}

// one writes a function of one element.
func (f *Form) one(s *strings.Builder, name, value string) {
	fmt.Fprintf(s, "\ninline %s %s(%s) {\n", storage[f.Out], name,
		f.parameters(func(i int) string { return fmt.Sprintf("%s x%d", storage[f.In[i]], i) }))
	for _, t := range [][2]string{{"T", computed(f.decisive())}, {"W", wrapping(f.decisive())}} {
		if mentions(value, t[0]) {
			fmt.Fprintf(s, "    typedef %s %s;\n", t[1], t[0])
		}
	}
	for i, d := range f.In {
		fmt.Fprintf(s, "    const %s %c = %s;\n", computed(d), "xyz"[i], load(d, fmt.Sprintf("x%d", i)))
	}
	if f.Faults() {
		s.WriteString("    if (y == 0) {\n        *fault = 1;\n        return 0;\n    }\n")
	}
	for i := range f.Attrs() {
		fmt.Fprintf(s, "    const float %c = attributes[%d];\n", "ab"[i], i)
	}
	fmt.Fprintf(s, "    return %s;\n}\n", value)
}

// mentions reports whether an expression has a name of one letter as a word.
func mentions(expression, name string) bool {
	return slices.Contains(strings.FieldsFunc(expression, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }), name)
}

// lanes is how many elements the vectors of several have: four, which is the longest vector, or two.
func (f *Form) lanes() int64 {
	if f.Way == Vectors {
		return min(f.Several(), 4)
	}
	return 4
}

// vector is the type of several elements.
func (f *Form) vector(d dtype.DType) string { return fmt.Sprintf("%s%d", storage[d], f.lanes()) }

// several writes the function of a vector of elements.
func (f *Form) several(s *strings.Builder) {
	takes := func(i int) string {
		if f.Places[i] == Fixed {
			return fmt.Sprintf("%s x%d", storage[f.In[i]], i)
		}
		return fmt.Sprintf("%s x%d", f.vector(f.In[i]), i)
	}
	element := func(i int) string {
		if f.Places[i] == Fixed {
			return fmt.Sprintf("x%d", i)
		}
		return fmt.Sprintf("x%d[k]", i)
	}
	fmt.Fprintf(s, "\ninline %s several(%s) {\n    %[1]s to;\n", f.vector(f.Out), f.parameters(takes))
	fmt.Fprintf(s, "    for (uint k = 0; k < %d; k++) to[k] = %s;\n    return to;\n}\n", f.lanes(), f.call("one", element))
}

// call is a call of a function of elements, with what stands for each input.
func (f *Form) call(function string, element func(i int) string) string {
	var gives []string
	for i := range f.In {
		gives = append(gives, element(i))
	}
	if len(f.Attrs()) > 0 {
		gives = append(gives, "attributes")
	}
	if f.Faults() {
		gives = append(gives, "fault")
	}
	return function + "(" + strings.Join(gives, ", ") + ")"
}

// input is what stands for an input: the number of a fixed one, else a text for its index.
func (f *Form) input(moving string) func(i int) string {
	return func(i int) string {
		if f.Places[i] == Fixed {
			return fmt.Sprintf("in%d[0]", i)
		}
		return fmt.Sprintf(moving, i)
	}
}

// vectors writes what a thread of Vectors does: the last threads take what is left, one element each.
func (f *Form) vectors(s *strings.Builder) {
	several := f.Several()
	fmt.Fprintf(s, "    if (i >= count / %d) {\n        const uint last = count / %[1]d * %d + i;\n", several, several-1)
	fmt.Fprintf(s, "        out[last] = %s;\n        return;\n    }\n", f.call("one", f.input("in%d[last]")))
	if several <= 4 {
		fmt.Fprintf(s, "    ((device %s *)out)[i] = %s;\n", f.vector(f.Out), f.call("several", func(i int) string {
			if f.Places[i] == Fixed {
				return fmt.Sprintf("in%d[0]", i)
			}
			return fmt.Sprintf("((device const %s *)in%d)[i]", f.vector(f.In[i]), i)
		}))
		return
	}
	// Vectors have four elements at most, so those of short dtypes are read as words, of which each four elements are
	// a part.
	words := func(d dtype.DType) string { return fmt.Sprintf("uint%d", several*d.Size()/4) }
	for i, d := range f.In {
		if f.Places[i] != Fixed {
			fmt.Fprintf(s, "    const %s w%d = ((device const %[1]s *)in%[2]d)[i];\n", words(d), i)
		}
	}
	fmt.Fprintf(s, "    %s to;\n", words(f.Out))
	for part := range several / 4 {
		value := f.call("several", func(i int) string {
			if f.Places[i] == Fixed {
				return fmt.Sprintf("in%d[0]", i)
			}
			return fmt.Sprintf("as_type<%s>(%s)", f.vector(f.In[i]), wordsOf(fmt.Sprintf("w%d", i), f.In[i], part))
		})
		kind := "uint"
		if f.Out.Size() == 2 {
			kind = "uint2"
		}
		fmt.Fprintf(s, "    to.%s = as_type<%s>(%s);\n", component(f.Out, part), kind, value)
	}
	fmt.Fprintf(s, "    ((device %s *)out)[i] = to;\n", words(f.Out))
}

// component names the words of a vector of them that hold four elements of a dtype.
func component(d dtype.DType, part int64) string {
	if d.Size() == 2 {
		return [...]string{"xy", "zw"}[part]
	}
	return "xyzw"[part : part+1]
}

// wordsOf are those words as a value.
func wordsOf(vector string, d dtype.DType, part int64) string {
	if d.Size() == 2 {
		return fmt.Sprintf("uint2(%s.%s)", vector, component(d, part))
	}
	return vector + "." + component(d, part)
}

// find writes what finds the first element of a thread in each moving operand: at0 for the output, at1 and so on for the
// inputs. x and y are the thread's places on the two innermost axes, rest its place on all others; only of four axes or
// more has that to be divided.
func (f *Form) find(s *strings.Builder) {
	each := func(format string) {
		for o := range len(f.In) + 1 {
			if o == 0 || f.Places[o-1] != Fixed {
				fmt.Fprintf(s, format, offset(f.Wide), o)
			}
		}
	}
	each("    %[1]s at%[2]d = walks.first[%[2]d] + %[1]s(x) * walks.strides[%[2]d][0] + %[1]s(y) * walks.strides[%[2]d][1];\n")
	s.WriteString("    for (uint axis = 2; axis < walks.last; axis++) {\n" +
		"        const uint k = rest % walks.dims[axis];\n        rest /= walks.dims[axis];\n")
	each("        at%[2]d += %[1]s(k) * walks.strides[%[2]d][axis];\n")
	s.WriteString("    }\n")
	each("    at%[2]d += %[1]s(rest) * walks.strides[%[2]d][walks.last];\n")
}

// grid writes what a thread of Grid does. An operand that does not move from one time to the next is read once.
func (f *Form) grid(s *strings.Builder) {
	s.WriteString("    const uint mask = (1u << walks.shift) - 1;\n" +
		"    uint x = (at.x & ~mask) * 4 + (at.x & mask), y = at.y, rest = at.z;\n" +
		"    if (x >= walks.dims[0] || y >= walks.dims[1]) return;\n")
	f.find(s)
	for i, d := range f.In {
		if f.Places[i] != Fixed {
			fmt.Fprintf(s, "    %s v%d;\n", f.vector(d), i)
		}
	}
	s.WriteString("    for (uint n = 0; n < walks.times && x < walks.dims[0] && y < walks.dims[1]; n++) {\n" +
		"        const uint count = min(4u, (walks.dims[0] - x + mask) >> walks.shift);\n")
	move := "        at0 += walks.jump[0];\n"
	for i, d := range f.In {
		if f.Places[i] == Fixed {
			continue
		}
		fmt.Fprintf(s, "        if (n == 0 || walks.jump[%[1]d] != 0) "+
			"v%d = read_four<%s>(in%[2]d + at%[1]d, walks.step[%[1]d], walks.lies[%[1]d], count);\n", i+1, i, f.vector(d))
		move += fmt.Sprintf("        at%[1]d += walks.jump[%[1]d];\n", i+1)
	}
	fmt.Fprintf(s, "        write_four(out + at0, walks.step[0], walks.lies[0], count, %s);\n", f.call("several", f.input("v%d")))
	s.WriteString(move + "        x += walks.right;\n        y += walks.down;\n    }\n")
}

// tiles writes what a thread of Tiles does: in.x walks the turned inputs' axis first, and the output's after the barrier.
func (f *Form) tiles(s *strings.Builder) {
	t := offset(f.Wide)
	turned := func(format string) {
		for i, d := range f.In {
			if f.Places[i] == Turned {
				fmt.Fprintf(s, format, i, i+1, storage[d], TileSide, TileSide+1, t)
			}
		}
	}
	turned("    threadgroup %[3]s tile%[1]d[%[4]d][%[5]d];\n")
	fmt.Fprintf(s, "    const uint x = group.x * %d, y = group.y * %[1]d, left = walks.dims[0] - x, below = walks.dims[1] - y;\n"+
		"    uint rest = group.z;\n", TileSide)
	f.find(s)
	fmt.Fprintf(s, "    for (uint k = in.y; k < %d && k < left && in.x < below; k += size.y) {\n", TileSide)
	turned("        tile%[1]d[k][in.x] = in%[1]d[at%[2]d + %[6]s(k) * walks.strides[%[2]d][0] + %[6]s(in.x) * walks.strides[%[2]d][1]];\n")
	s.WriteString("    }\n    threadgroup_barrier(mem_flags::mem_threadgroup);\n")
	place := func(operand int) string {
		return fmt.Sprintf("at%[1]d + %[2]s(in.x) * walks.strides[%[1]d][0] + %[2]s(k) * walks.strides[%[1]d][1]", operand, t)
	}
	value := f.call("one", func(i int) string {
		switch f.Places[i] {
		case Fixed:
			return fmt.Sprintf("in%d[0]", i)
		case Turned:
			return fmt.Sprintf("tile%d[in.x][k]", i)
		}
		return fmt.Sprintf("in%d[%s]", i, place(i+1))
	})
	fmt.Fprintf(s, "    for (uint k = in.y; k < %d && in.x < left && k < below; k += size.y)\n        out[%s] = %s;\n", TileSide, place(0), value)
}

// convert is an expression in the type that the output is stored from.
func (f *Form) convert(expression string) string {
	from, to := f.decisive(), f.Out
	switch {
	case f.Op != op.IDCast && f.Op != op.IDAssign || from == to:
		return expression
	case to == dtype.Bool:
		return expression + " != 0"
	case from.IsFloat() && !to.IsFloat():
		return "to_integer<" + storage[to] + ">(" + expression + ")"
	case to.IsFloat():
		return "float(" + expression + ")"
	}
	return expression
}

// arguments are the parameters of the kernel.
func (f *Form) arguments() []string {
	a := []string{fmt.Sprintf("device %s *out [[buffer(0)]]", storage[f.Out])}
	for i, d := range f.In {
		space := "device const %s *in%d [[buffer(%d)]]"
		if f.Places[i] == Fixed {
			space = "constant %s *in%d [[buffer(%d)]]"
		}
		a = append(a, fmt.Sprintf(space, storage[d], i, i+1))
	}
	n := len(f.In) + 1
	more := func(want bool, text string) {
		if want {
			a = append(a, fmt.Sprintf(text+" [[buffer(%d)]]", n))
			n++
		}
	}
	more(f.Way == Vectors, "constant uint &count")
	more(f.Way != Vectors, "constant Walks<"+offset(f.Wide)+"> &walks")
	more(len(f.Attrs()) > 0, "constant float *attributes")
	more(f.Faults(), "device uint *fault")
	switch f.Way {
	case Vectors:
		return append(a, "uint i [[thread_position_in_grid]]")
	case Grid:
		return append(a, "uint3 at [[thread_position_in_grid]]")
	}
	return append(a, "uint3 group [[threadgroup_position_in_grid]]", "uint3 in [[thread_position_in_threadgroup]]",
		"uint3 size [[threads_per_threadgroup]]")
}
