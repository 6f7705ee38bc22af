package msl

import (
	"fmt"
	"strings"

	"github.com/paddle-mps/paddle-mps/core/dtype"
)

// Place says how an operand lies in memory.
type Place uint8

// The places.
const (
	Line    Place = iota // element i at i
	Fixed                // one element for all
	Strided              // by strides, which may be zero or negative
)

// Form is what a kernel is for.
type Form struct {
	Op     string
	In     []dtype.DType
	Out    dtype.DType
	Places []Place // of the inputs
	Spread bool    // the output is strided too
	Wide   bool    // offsets need 64 bits
	Vector bool    // nothing is strided, and lines begin at multiples of four elements
}

// Threads is how many threads a kernel needs for n elements. One that reads vectors does four elements a
// thread, and what is left one by one.
func (f *Form) Threads(n int64) int64 {
	if f.Vector {
		return n/4 + n%4
	}
	return n
}

// Name is what the kernel of every form is called in its source.
const Name = "run"

// The arguments of a kernel: buffer 0 is the output, 1 and so on are the inputs (a Fixed one is eight
// bytes that begin with the element), then, as far as the form has them, a Shape, the number of elements
// where they are read as vectors, the attributes as floats, and a word that becomes 1 when an integer is
// divided by zero.

// Strides reports whether the kernel wants a Shape.
func (f *Form) Strides() bool {
	for _, p := range f.Places {
		if p == Strided {
			return true
		}
	}
	return f.Spread
}

// Attrs are the attributes that the kernel wants, in order.
func (f *Form) Attrs() []string { return table[f.Op].attrs }

// Faults reports whether kernels of an operator want a word for faults when they compute in a dtype.
func Faults(operator string, d dtype.DType) bool {
	return table[operator].faults && !d.IsFloat() && d != dtype.Bool
}

// Faults reports whether the kernel wants a word for faults.
func (f *Form) Faults() bool { return Faults(f.Op, f.decisive()) }

// Has reports whether there are kernels for an operator of a dtype, that of its first input, or of its
// second where the first is a condition.
func Has(operator string, d dtype.DType) bool {
	r := table[operator]
	return storage[d] != "" && r.expression(d) != ""
}

// decisive is the dtype whose expression is computed: of the first input, but of the second where the
// first is a condition.
func (f *Form) decisive() dtype.DType {
	if f.Op == "where" {
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
	if f.Strides() {
		s.WriteString(file("shape"))
	}
	fmt.Fprintf(&s, "\ntypedef %s T;\ntypedef %s W;\n", computed(f.decisive()), wrapping(f.decisive()))
	f.one(&s, store(f.Out, f.convert(expression)))
	fmt.Fprintf(&s, "\nkernel void %s(%s) {\n", Name, strings.Join(f.arguments(), ",\n    "))
	f.body(&s)
	s.WriteString("}\n")
	return s.String(), true
}

// one writes the function of one element.
func (f *Form) one(s *strings.Builder, value string) {
	var takes []string
	for i, d := range f.In {
		takes = append(takes, fmt.Sprintf("%s x%d", storage[d], i))
	}
	if len(f.Attrs()) > 0 {
		takes = append(takes, "constant float *attributes")
	}
	if f.Faults() {
		takes = append(takes, "device uint *fault")
	}
	fmt.Fprintf(s, "\ninline %s one(%s) {\n", storage[f.Out], strings.Join(takes, ", "))
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

// call is the function of one element, of what stands for each input.
func (f *Form) call(element func(i int) string) string {
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
	return "one(" + strings.Join(gives, ", ") + ")"
}

// body writes what a thread does.
func (f *Form) body(s *strings.Builder) {
	if !f.Vector {
		f.find(s)
		fmt.Fprintf(s, "    out[%s] = %s;\n", f.index(-1), f.call(func(i int) string { return fmt.Sprintf("in%d[%s]", i, f.index(i)) }))
		return
	}
	s.WriteString("    if (i >= count / 4) {\n        const uint last = count / 4 * 3 + i;\n")
	fmt.Fprintf(s, "        out[last] = %s;\n        return;\n    }\n", f.call(func(i int) string {
		if f.Places[i] == Fixed {
			return fmt.Sprintf("in%d[0]", i)
		}
		return fmt.Sprintf("in%d[last]", i)
	}))
	for i, d := range f.In {
		if f.Places[i] == Line {
			fmt.Fprintf(s, "    const %s4 v%d = ((device const %s4 *)in%d)[i];\n", storage[d], i, storage[d], i)
		}
	}
	fmt.Fprintf(s, "    %s4 to;\n    for (uint k = 0; k < 4; k++) to[k] = %s;\n    ((device %s4 *)out)[i] = to;\n", storage[f.Out],
		f.call(func(i int) string {
			if f.Places[i] == Fixed {
				return fmt.Sprintf("in%d[0]", i)
			}
			return fmt.Sprintf("v%d[k]", i)
		}), storage[f.Out])
}

// convert is an expression in the type that the output is stored from.
func (f *Form) convert(expression string) string {
	from, to := f.decisive(), f.Out
	switch {
	case f.Op != "cast" && f.Op != "assign" || from == to:
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
	more(f.Strides(), "constant Shape<"+offset(f.Wide)+"> &shape")
	more(f.Vector, "constant uint &count")
	more(len(f.Attrs()) > 0, "constant float *attributes")
	more(f.Faults(), "device uint *fault")
	return append(a, "uint i [[thread_position_in_grid]]")
}

// find writes what finds the elements of strided operands.
func (f *Form) find(s *strings.Builder) {
	if !f.Strides() {
		return
	}
	t := offset(f.Wide)
	var step strings.Builder
	for operand := -1; operand < len(f.In); operand++ {
		if f.strided(operand) {
			fmt.Fprintf(s, "    %s at%d = shape.first[%d];\n", t, operand+1, operand+1)
			fmt.Fprintf(&step, "        at%d += %s(k) * shape.strides[%d][axis];\n", operand+1, t, operand+1)
		}
	}
	fmt.Fprintf(s, "    uint rest = i;\n    for (uint axis = shape.rank; axis-- > 0;) {\n"+
		"        const uint k = rest %% shape.dims[axis];\n        rest /= shape.dims[axis];\n%s    }\n", step.String())
}

// strided reports whether an operand, -1 for the output, is found by strides.
func (f *Form) strided(operand int) bool {
	if operand < 0 {
		return f.Spread
	}
	return f.Places[operand] == Strided
}

// index is where an operand's element is.
func (f *Form) index(operand int) string {
	switch {
	case f.strided(operand):
		return fmt.Sprintf("at%d", operand+1)
	case operand >= 0 && f.Places[operand] == Fixed:
		return "0"
	}
	return "i"
}
