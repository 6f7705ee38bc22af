package emit

import (
	"strconv"
	"strings"
)

// kind tells nodes of the statement tree apart.
type kind uint8

const (
	// A statement.
	line kind = iota
	// A loop over a thread's registers.
	loop
	// A header with a body, such as if or for; maybe with another body for else.
	block
	// Declares an area of threadgroup memory.
	open
	// Reads or writes areas or device memory: see sync.go.
	touch
	// A barrier, with the memory that it orders.
	barrier
	// A statement that may leave the loop around it.
	leave
)

// node is a statement. The text is made at the end, when it is known which registers need an array, where areas lie and
// where barriers are needed.
type node struct {
	kind kind
	// A statement, or a header.
	text string
	// File.py:line.
	where       string
	body, other []*node
	// Of a loop.
	trips int
	// That the statement of a loop defines as text.
	def *reg
	// The body may be left out: of a loop of the program.
	may bool
	// The body may be run again.
	again  bool
	area   *area
	effect effect
	// Roots that a loop over registers loads from.
	loaded map[string]bool
}

// reg is a tensor in some layout, as one thread holds it: n registers, or fewer where several registers of the layout are
// the same one.
type reg struct {
	name, ctype string
	n           int
	// Added to every register's number.
	plus int
	// The bit of the register's number here, for each register bit of the layout; layout.None for none.
	index []int
	// In which it is computed, until another statement uses it.
	loop *node
	// Whether it must outlive the loop.
	array *bool
}

// at is the number of a register: the bits of a variable above those of a constant.
type at struct {
	name         string
	shift, fixed int
	// Bits of the number from top on are those of above, if that is not 0.
	above, top int
}

// number is the register's number in storage, as an expression.
func (a at) number(index []int, plus int) string {
	fixed, from := plus, []int{}
	for i, b := range index {
		switch {
		case i < a.shift:
			// A bit of the constant part.
			if b >= 0 {
				fixed += a.fixed >> i & 1 << b
			}
		case a.above != 0 && i >= a.top:
			if b >= 0 {
				fixed += a.above >> i & 1 << b
			}
		default:
			from = append(from, b)
		}
	}
	return sum(scatter(a.name, from), fixed)
}

// scatter is an expression that moves bits of a variable: bit i to bit to[i], if that is not negative.
func scatter(name string, to []int) (terms []string) {
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

// sum is an expression that adds terms and a constant.
func sum(terms []string, fixed int) string {
	if fixed != 0 || len(terms) == 0 {
		terms = append(terms, strconv.Itoa(fixed))
	}
	return strings.Join(terms, " + ")
}

// writer prints the tree.
type writer struct {
	out   strings.Builder
	depth int
	where string
}

// line writes a line, with the program's line as a comment where it is another one than before.
func (w *writer) line(text, where string) {
	for range w.depth {
		w.out.WriteString("    ")
	}
	w.out.WriteString(text)
	if where != "" && where != w.where {
		w.out.WriteString("  // " + where)
		w.where = where
	}
	w.out.WriteByte('\n')
}

// nodes prints statements. Touches have no text.
func (w *writer) nodes(all []*node) {
	for _, n := range all {
		switch n.kind {
		case line, leave:
			w.line(n.text, n.where)
		case loop:
			w.registers(n)
		case block:
			w.line(strings.TrimLeft(n.text+" {", " "), n.where)
			w.depth++
			w.nodes(n.body)
			w.depth--
			if n.other != nil {
				w.line("} else {", "")
				w.depth++
				w.nodes(n.other)
				w.depth--
			}
			w.line("}", "")
		case open:
			w.line("threadgroup "+n.area.ctype+" *"+n.area.name+" = (threadgroup "+n.area.ctype+" *)(pool + "+strconv.Itoa(n.area.offset/16)+");", n.where)
		case barrier:
			w.line("threadgroup_barrier("+n.text+");", n.where)
		}
	}
}

// registers prints a loop over registers: what is used behind it is an array.
func (w *writer) registers(n *node) {
	// Arrays are declared in front of the loop.
	arrays := map[string]bool{}
	for _, s := range n.body {
		if s.def != nil && *s.def.array {
			arrays[s.def.name] = true
			w.line(s.def.ctype+" "+s.def.name+"["+strconv.Itoa(s.def.n)+"];", "")
		}
	}
	w.line("for (ushort r = 0; r < "+strconv.Itoa(n.trips)+"; r++) {", n.where)
	w.depth++
	for _, s := range n.body {
		text := local(s.text, arrays)
		switch {
		case s.def == nil:
			w.line(text, s.where)
		case *s.def.array:
			w.line(s.def.name+"[r] = "+text+";", s.where)
		default:
			w.line(s.def.ctype+" "+s.def.name+" = "+text+";", s.where)
		}
	}
	w.depth--
	w.line("}", "")
}

// In the text of a loop's statement, a register that the loop computes stands between these.
const opens, closes = "\x01", "\x02"

// local is the text of a loop's statement: a register that is an array is an element of it.
func local(text string, arrays map[string]bool) string {
	before, rest, found := strings.Cut(text, opens)
	if !found {
		return text
	}
	var out strings.Builder
	for found {
		name, after, _ := strings.Cut(rest, closes)
		out.WriteString(before + name)
		if arrays[name] {
			out.WriteString("[r]")
		}
		before, rest, found = strings.Cut(after, opens)
	}
	return out.String() + before
}
