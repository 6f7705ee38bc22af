// Package tree is a kernel as a tree of statements, before it is text.
//
// Package emit builds the tree: statements, loops over the registers of a thread, conditions and loops of the program. It requests
// threadgroup memory as areas, and marks where areas and device memory are read and written. Then, in this order,
//
//   - [Measure] and [PlaceAreas] give the areas their places, by their lifetimes (sync.go);
//   - [Synchronize] inserts the barriers that accesses need on every path, and no other;
//   - a [Writer] prints. Only then is it known which registers need an array.
//
// The package knows no operation: a statement is a text with the registers that it reads and defines.
package tree

import (
	"strconv"
	"strings"
)

// kind tells nodes of the statement tree apart.
type kind uint8

const (
	// A statement.
	Statement kind = iota
	// A loop over a thread's registers.
	Loop
	// A header with a body, such as if or for; maybe with another body for else.
	Block
	// Declares an area of threadgroup memory.
	OpenArea
	// Reads or writes areas or device memory: see sync.go.
	TouchMemory
	// A barrier, with the memory that it orders.
	Barrier
	// A statement that may leave the loop around it.
	Leave
)

// Node is a statement. The text is made at the end, when it is known which registers need an array, where areas lie and
// where barriers are needed.
type Node struct {
	Kind kind
	// A statement, or a header.
	Text string
	// File.py:line.
	Where       string
	Body, Other []*Node
	// Of a loop.
	Trips int
	// That the statement of a loop defines as text.
	Def *Registers
	// The body may be left out: of a loop of the program.
	May bool
	// The body may be run again.
	Again  bool
	Area   *Area
	Effect Effect
	// Roots that a loop over registers loads from.
	Loaded map[string]bool
}

// Registers is a tensor in some layout, as one thread holds it: n registers, or fewer where several registers of the layout are
// the same one.
type Registers struct {
	Name, CType string
	N           int
	// Added to every register's number.
	Plus int
	// The bit of the register's number here, for each register bit of the layout; layout.None for none.
	Index []int
	// In which it is computed, until another statement uses it.
	Loop *Node
	// Whether it must outlive the loop.
	Array *bool
}

// RegisterNumber is the number of a register: the bits of a variable above those of a constant.
type RegisterNumber struct {
	Name         string
	Shift, Fixed int
	// Bits of the number from top on are those of above, if that is not 0.
	Above, Top int
}

// Text is the register's number in storage, as an expression.
func (a RegisterNumber) Text(index []int, plus int) string {
	fixed, from := plus, []int{}
	for i, b := range index {
		switch {
		case i < a.Shift:
			// A bit of the constant part.
			if b >= 0 {
				fixed += a.Fixed >> i & 1 << b
			}
		case a.Above != 0 && i >= a.Top:
			if b >= 0 {
				fixed += a.Above >> i & 1 << b
			}
		default:
			from = append(from, b)
		}
	}
	return Sum(Scatter(a.Name, from), fixed)
}

// Scatter is an expression that moves bits of a variable: bit i to bit to[i], if that is not negative.
func Scatter(name string, to []int) (terms []string) {
	for i := 0; i < len(to); {
		if to[i] < 0 {
			i++
			continue
		}
		// Neighbouring bits that move together are one term.
		n := 1
		for i+n < len(to) && to[i+n] == to[i]+n {
			n++
		}
		terms = append(terms, moved(name, i, n, to[i], i+n == len(to)))
		i += n
	}
	return terms
}

// moved is n bits of a variable from one place to another; last says that no higher bits are set.
func moved(name string, from, n, to int, last bool) string {
	t := name
	masked := func(m int) {
		// Bits above and below have to go, unless there are none or the shift drops them.
		if !last || from > 0 && to > 0 {
			t = "(" + t + " & " + strconv.Itoa(m) + ")"
		}
	}
	switch {
	case from == to:
		masked((1<<n - 1) << from)
		return t
	case from < to:
		masked((1<<n - 1) << from)
		return t + " * " + strconv.Itoa(1<<(to-from))
	}
	t = "(" + t + " >> " + strconv.Itoa(from-to) + ")"
	masked((1<<n - 1) << to)
	return t
}

// Sum is an expression that adds terms and a constant.
func Sum(terms []string, fixed int) string {
	if fixed != 0 || len(terms) == 0 {
		terms = append(terms, strconv.Itoa(fixed))
	}
	return strings.Join(terms, " + ")
}

// Writer prints the tree.
type Writer struct {
	Out   strings.Builder
	Depth int
	where string
}

// Line writes a line, with the program's line as a comment where it is another one than before.
func (w *Writer) Line(text, where string) {
	for range w.Depth {
		w.Out.WriteString("    ")
	}
	w.Out.WriteString(text)
	if where != "" && where != w.where {
		w.Out.WriteString("  // " + where)
		w.where = where
	}
	w.Out.WriteByte('\n')
}

// Nodes prints statements. Touches have no text.
func (w *Writer) Nodes(all []*Node) {
	for _, n := range all {
		switch n.Kind {
		case Statement, Leave:
			w.Line(n.Text, n.Where)
		case Loop:
			w.registers(n)
		case Block:
			w.Line(strings.TrimLeft(n.Text+" {", " "), n.Where)
			w.Depth++
			w.Nodes(n.Body)
			w.Depth--
			if n.Other != nil {
				w.Line("} else {", "")
				w.Depth++
				w.Nodes(n.Other)
				w.Depth--
			}
			w.Line("}", "")
		case OpenArea:
			w.Line("threadgroup "+n.Area.CType+" *"+n.Area.Name+" = (threadgroup "+n.Area.CType+" *)(pool + "+strconv.Itoa(n.Area.offset/16)+");", n.Where)
		case Barrier:
			w.Line("threadgroup_barrier("+n.Text+");", n.Where)
		}
	}
}

// registers prints a loop over registers: what is used behind it is an array.
func (w *Writer) registers(n *Node) {
	// Arrays are declared in front of the loop.
	arrays := map[string]bool{}
	for _, s := range n.Body {
		if s.Def != nil && *s.Def.Array {
			arrays[s.Def.Name] = true
			w.Line(s.Def.CType+" "+s.Def.Name+"["+strconv.Itoa(s.Def.N)+"];", "")
		}
	}
	w.Line("for (ushort r = 0; r < "+strconv.Itoa(n.Trips)+"; r++) {", n.Where)
	w.Depth++
	for _, s := range n.Body {
		text := local(s.Text, arrays)
		switch {
		case s.Def == nil:
			w.Line(text, s.Where)
		case *s.Def.Array:
			w.Line(s.Def.Name+"[r] = "+text+";", s.Where)
		default:
			w.Line(s.Def.CType+" "+s.Def.Name+" = "+text+";", s.Where)
		}
	}
	w.Depth--
	w.Line("}", "")
}

// In the text of a loop's statement, a register that the loop computes stands between these.
const Opens, Closes = "\x01", "\x02"

// local is the text of a loop's statement: a register that is an array is an element of it.
func local(text string, arrays map[string]bool) string {
	before, rest, found := strings.Cut(text, Opens)
	if !found {
		return text
	}
	var out strings.Builder
	for found {
		name, after, _ := strings.Cut(rest, Closes)
		out.WriteString(before + name)
		if arrays[name] {
			out.WriteString("[r]")
		}
		before, rest, found = strings.Cut(after, Opens)
	}
	return out.String() + before
}
