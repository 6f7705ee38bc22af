package msl

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
)

// Lie is how an operand of a group lies in memory, seen from the elements of the group, which are numbered.
type Lie uint8

// The ways in which operands lie.
const (
	// Straight is element i at place i; the operand begins at a multiple of the vector that a thread takes.
	Straight Lie = iota
	// Runs is for reads whose innermost axis has a multiple of [Group.Lanes] elements, so that those of a thread
	// are one step apart, which may be zero or negative. They are sought once.
	Runs
	// Anywhere is for all others: each element is sought by itself.
	Anywhere
)

// Operand is memory that a group reads or writes.
type Operand struct {
	DType dtype.DType
	Lie   Lie
	// Repeats is for reads that have the same elements again from a period on, as a bias of all rows: a thread goes
	// on by whole periods, and reads them once.
	Repeats bool
}

// Source is where a step of a group gets an input from.
type Source struct {
	From  From
	Index int // of an earlier step, or among the reads or the numbers of the group
}

// From is a kind of [Source].
type From uint8

// The kinds of sources.
const (
	Step   From = iota // the result of an earlier step
	Read               // memory
	Number             // a number of the CPU's
)

// GroupStep is an elementwise operator of a group.
type GroupStep struct {
	Op      op.ID
	Out     dtype.DType
	In      []dtype.DType
	Sources []Source // of the inputs
}

// Group describes the kernel of several elementwise steps: one dispatch, in which each thread computes all steps for a few
// elements. Intermediate results stay in registers. A result is rounded to its dtype before the next step reads it, so that
// the bits are those of the steps one by one.
type Group struct {
	Steps  []GroupStep
	Reads  []Operand
	Writes []Operand
	Stored []int // by write: the step whose result it is
	Wide   bool  // offsets need 64 bits
	Tail   *Tail // nil: there is none
}

// The arguments of the kernel: the reads, the writes, then a Walk of walk.metal for each operand that is not Straight, in
// the same order, then the numbers, and five numbers of 32 bits: the first thread of the dispatch, the count of elements, the
// threads that take vectors, and how many vectors further a thread goes on, and how often; see [Group.Repeats].
// Numbers are of 64 bits: the elements of all inputs from [Number], by their index, then, step by step, the attributes as
// floats.

// More lanes would need more registers, of which long groups have enough to hold; fewer would leave halves of loads unused.

// Lanes is how many elements a thread takes: a vector of at most 16 bytes of the widest dtype, and of four elements at most.
func (g *Group) Lanes() int64 {
	widest := int64(1)
	for _, list := range [][]Operand{g.Reads, g.Writes} {
		for _, o := range list {
			widest = max(widest, o.DType.Size())
		}
	}
	if g.Tail != nil { // whose vectors are whole ones of a thread
		widest = max(widest, g.Steps[g.Tail.Step].Out.Size())
	}
	return min(4, VectorBytes/widest)
}

// Repeats reports whether threads go on by periods. Then some of a SIMD group, those of a line of memory, have neighbouring
// vectors, and the others those of the next periods, so that what repeats is read once for all.
func (g *Group) Repeats() bool {
	return slices.ContainsFunc(g.Reads, func(o Operand) bool { return o.Repeats })
}

// Line is how many threads take vectors of one line of memory, if there is an operand of the widest dtype.
func (g *Group) Line() int64 { return LineSize / VectorSize * (4 / g.Lanes()) }

// An operator that reports faults has a word of its own, which a group does not: it could not say which step has failed.

// GroupTakes reports whether a step with operands of these dtypes can be part of a group.
func GroupTakes(operator op.ID, out dtype.DType, in []dtype.DType) bool {
	f := Form{Op: operator, Out: out, In: in}
	if len(in) == 0 || operator == op.IDWhere && len(in) < 2 || storage[out] == "" || f.Faults() {
		return false
	}
	for _, d := range in {
		if storage[d] == "" {
			return false
		}
	}
	return Has(operator, f.decisive())
}

// Arguments is how many arguments the kernel has.
func (g *Group) Arguments() int {
	n := len(g.Reads) + len(g.Writes) + 2 // the numbers and the range
	if g.Tail != nil {
		n += 2 // the result and its Walk; sizes are in the place of the range
	}
	for _, list := range [][]Operand{g.Reads, g.Writes} {
		for _, o := range list {
			if o.Lie != Straight {
				n++
			}
		}
	}
	return n
}

// Attrs are the attributes of the row of each step that the kernel wants, in the order in which they stand behind the other
// numbers: two to a number.
func (g *Group) Attrs(step int) []int { return table[g.Steps[step].Op].attrs }

// The last threads of a dispatch compute one element each, so the steps are a function that vectors call in a loop.

// Source is the text of the kernel. Each step is one that [GroupTakes].
func (g *Group) Source() string {
	var s strings.Builder
	s.WriteString(prelude)
	if slices.ContainsFunc(g.Steps, func(x GroupStep) bool { return isSpecial(x.Op) }) {
		s.WriteString(file("special"))
	}
	s.WriteString(file("walk"))
	g.functions(&s)
	g.steps(&s)
	if g.Tail != nil {
		g.tailed(&s)
		return s.String()
	}
	fmt.Fprintf(&s, "\nkernel void %s(%s) {\n", Name, strings.Join(g.arguments(), ",\n    "))
	g.body(&s)
	s.WriteString("}\n")
	return s.String()
}

// Names have all dtypes of a step, the result's first, so that no function stands for two.

// function is the name of the function of a step: equal steps share one.
func (x *GroupStep) function() string {
	name := op.ByID(x.Op).Name + "_" + x.Out.String()
	for _, d := range x.In {
		name += "_" + d.String()
	}
	return name
}

// functions writes the function of each operator for one element.
func (g *Group) functions(s *strings.Builder) {
	written := map[string]bool{}
	for i := range g.Steps { // in their order, so that equal groups have equal texts
		x := &g.Steps[i]
		if name := x.function(); !written[name] {
			written[name] = true
			f := Form{Op: x.Op, Out: x.Out, In: x.In}
			r := table[x.Op]
			f.one(s, name, store(f.Out, f.convert(r.expression(f.decisive()))))
		}
	}
}

// Numbers is how many numbers inputs are.
func (g *Group) Numbers() (n int) {
	for i := range g.Steps {
		for _, from := range g.Steps[i].Sources {
			if from.From == Number {
				n = max(n, from.Index+1)
			}
		}
	}
	return n
}

// steps writes the function of all steps for one element: of what is read it makes what is written.
func (g *Group) steps(s *strings.Builder) {
	var takes []string
	for i, r := range g.Reads {
		takes = append(takes, fmt.Sprintf("%s r%d", storage[r.DType], i))
	}
	for i, w := range g.Writes {
		takes = append(takes, fmt.Sprintf("thread %s &w%d", storage[w.DType], i))
	}
	stored := g.Stored
	if g.Tail != nil {
		takes = append(takes, fmt.Sprintf("thread %s &w%d", storage[g.Steps[g.Tail.Step].Out], len(stored)))
		stored = append(stored[:len(stored):len(stored)], g.Tail.Step)
	}
	fmt.Fprintf(s, "\ninline void steps(%s, constant ulong *numbers) {\n", strings.Join(takes, ", "))
	attributes := g.Numbers() // where those of the next step begin
	for i := range g.Steps {
		x := &g.Steps[i]
		// Values are in the dtype in which they would be in memory: half(x) rounds, and safe math keeps it.
		var gives []string
		for j, from := range x.Sources {
			switch from.From {
			case Step:
				gives = append(gives, fmt.Sprintf("v%d", from.Index))
			case Read:
				gives = append(gives, fmt.Sprintf("r%d", from.Index))
			case Number:
				gives = append(gives, fmt.Sprintf("*(constant %s *)(numbers + %d)", storage[x.In[j]], from.Index))
			}
		}
		if n := len(table[x.Op].attrs); n > 0 {
			gives = append(gives, fmt.Sprintf("(constant float *)(numbers + %d)", attributes))
			attributes += (n + 1) / 2
		}
		fmt.Fprintf(s, "    const %s v%d = %s(%s);\n", storage[x.Out], i, x.function(), strings.Join(gives, ", "))
	}
	for i, step := range stored {
		fmt.Fprintf(s, "    w%d = v%d;\n", i, step)
	}
	s.WriteString("}\n")
}

// parameter is one of a kernel or function.
type parameter struct {
	kind, name string
}

// What lies straight needs no Walk: it is found by the number of the element alone.

// operands are the parameters that the steps need, in the order of the arguments.
func (g *Group) operands() (a []parameter) {
	add := func(kind, name string, number int) { a = append(a, parameter{kind, name + strconv.Itoa(number)}) }
	for i, r := range g.Reads {
		add("device const "+storage[r.DType]+" *", "in", i)
	}
	for i, w := range g.Writes {
		add("device "+storage[w.DType]+" *", "out", i)
	}
	walk := "constant Walk<" + offset(g.Wide) + "> &"
	for i, r := range g.Reads {
		if r.Lie != Straight {
			add(walk, "walk", i)
		}
	}
	for i, w := range g.Writes {
		if w.Lie != Straight {
			add(walk, "to", i)
		}
	}
	return append(a, parameter{"constant ulong *", "numbers"})
}

// arguments are the parameters of the kernel.
func (g *Group) arguments() (a []string) {
	for i, p := range append(g.operands(), parameter{"constant uint *", "bounds"}) {
		a = append(a, fmt.Sprintf("%s%s [[buffer(%d)]]", p.kind, p.name, i))
	}
	return append(a, "uint i [[thread_position_in_grid]]")
}

// body writes what a thread does: the last threads take what is left behind the last vector, one element each.
func (g *Group) body(s *strings.Builder) {
	lanes := g.Lanes()
	// Elements are numbered by 32 bits, of which a dispatch has the range.
	line := func(format string, values ...any) { fmt.Fprintf(s, format+"\n", values...) }
	line("    i += bounds[0];\n    const uint whole = bounds[1] / %d;", lanes)
	line("    if (i >= bounds[2]) {\n        const uint e = whole * %d + i - bounds[2];\n        if (e >= bounds[1]) return;", lanes)
	g.call(s, "        ", "e", func(i int) string { return g.element(i, "e") })
	line("        return;\n    }")
	indent := "    "
	if g.Repeats() {
		width, rows := g.Line(), 32/g.Line()
		line("    const uint first = i / 32 * %d + i %% %[1]d;\n    if (first >= bounds[3]) return;", width)
		line("    i = first + i / %d %% %d * bounds[3];\n    if (i >= whole) return;", width, rows)
		g.read(s, indent, true)
		line("    for (uint n = 0; n < bounds[4] && i < whole; n++, i += %d * bounds[3]) {", rows)
		indent += "    "
	}
	g.vector(s, indent, "")
	if g.Repeats() {
		line("    }")
	}
}

// vector writes what a thread does with vector i; then is done behind the steps of each element.
func (g *Group) vector(s *strings.Builder, indent, then string) {
	lanes := g.Lanes()
	line := func(format string, values ...any) { fmt.Fprintf(s, format+"\n", values...) }
	g.read(s, indent, false)
	// Stores of elements one by one would be of four times as many transactions as one of a vector.
	for i, w := range g.Writes {
		if w.Lie == Straight {
			line("%s%s%d y%d;", indent, storage[w.DType], lanes, i)
		}
	}
	line("%sfor (uint k = 0; k < %d; k++) {", indent, lanes)
	g.call(s, indent+"    ", fmt.Sprintf("i * %d + k", lanes), func(i int) string {
		if r := &g.Reads[i]; r.Lie == Anywhere && !r.Repeats {
			return g.element(i, fmt.Sprintf("i * %d + k", lanes))
		}
		return fmt.Sprintf("x%d[k]", i)
	})
	if then != "" {
		line("%s    %s", indent, then)
	}
	line("%s}", indent)
	for i, w := range g.Writes {
		if w.Lie == Straight {
			line("%s((device %s%d *)out%d)[i] = y%[4]d;", indent, storage[w.DType], lanes, i)
		}
	}
}

// read writes what reads the vectors of a thread: those that repeat, or the others.
func (g *Group) read(s *strings.Builder, indent string, repeats bool) {
	lanes, t := g.Lanes(), offset(g.Wide)
	for i, r := range g.Reads {
		line := func(format string, values ...any) { fmt.Fprintf(s, indent+format+"\n", values...) }
		vector := fmt.Sprintf("%s%d", storage[r.DType], lanes)
		switch {
		case r.Repeats != repeats:
		case r.Lie == Straight:
			line("const %s x%d = ((device const %[1]s *)in%[2]d)[i];", vector, i)
		case r.Lie == Runs:
			// One element that is the same for all lanes, as of a row that is broadcast, is read once.
			line("const %s at%d = seek(walk%[2]d, i * %[3]d), by%[2]d = walk%[2]d.strides[walk%[2]d.rank - 1];", t, i, lanes)
			line("%s x%d = in%[2]d[at%[2]d];", vector, i)
			line("if (by%d != 0)\n%s    for (uint k = 1; k < %d; k++) x%[1]d[k] = in%[1]d[at%[1]d + %[4]s(k) * by%[1]d];", i, indent, lanes, t)
		case r.Repeats:
			line("%s x%d;\n%sfor (uint k = 0; k < %d; k++) x%[2]d[k] = %[5]s;", vector, i, indent, lanes, g.element(i, fmt.Sprintf("i * %d + k", lanes)))
		}
	}
}

// To seek costs a division for each axis but one, which loads hide only in part.

// element is element e of a read.
func (g *Group) element(i int, e string) string {
	if g.Reads[i].Lie == Straight {
		return fmt.Sprintf("in%d[%s]", i, e)
	}
	return fmt.Sprintf("in%d[seek(walk%[1]d, %s)]", i, e)
}

// call writes a call of steps for element e, and what becomes of its results. In the loop over a vector those that lie
// straight are kept for a store of all.
func (g *Group) call(s *strings.Builder, indent, e string, read func(i int) string) {
	var gives []string
	for i := range g.Reads {
		gives = append(gives, read(i))
	}
	for i, w := range g.Writes {
		fmt.Fprintf(s, "%s%s t%d;\n", indent, storage[w.DType], i)
		gives = append(gives, fmt.Sprintf("t%d", i))
	}
	if g.Tail != nil {
		fmt.Fprintf(s, "%sE t%d;\n", indent, len(g.Writes))
		gives = append(gives, fmt.Sprintf("t%d", len(g.Writes)))
	}
	fmt.Fprintf(s, "%ssteps(%s, numbers);\n", indent, strings.Join(gives, ", "))
	for i, w := range g.Writes {
		switch {
		case w.Lie != Straight:
			fmt.Fprintf(s, "%sout%d[seek(to%[2]d, %s)] = t%[2]d;\n", indent, i, e)
		case e == "e":
			fmt.Fprintf(s, "%sout%d[e] = t%[2]d;\n", indent, i)
		default:
			fmt.Fprintf(s, "%sy%d[k] = t%[2]d;\n", indent, i)
		}
	}
}
