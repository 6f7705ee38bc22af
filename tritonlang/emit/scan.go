// Scans, with any region and any number of operands, in either direction.
//
// A scan needs the elements of a line in order: a thread's registers follow each other along the axis, then lanes, then SIMD
// groups. Each level scans its own and combines what stands before from the right side, so that regions need not commute.
//
// Of 8 elements a thread, in lines of 8 lanes, this becomes
//
//	for (ushort k = 1; k < 8; k++) v[k] = v[k - 1] + v[k];     // registers
//	float total = v[7];
//	float o = simd_shuffle_up(total, ushort(1));               // lanes: 1, 2, 4
//	if ((lane & 7) >= 1) total = o + total;
//	...
//	float before = simd_shuffle_up(total, ushort(1));          // what stands before this thread
//	if ((lane & 7) >= 1) for (ushort k = 0; k < 8; k++) v[k] = before + v[k];
//
// with a call of the region's function for each sum. A line that goes over SIMD groups has their totals in threadgroup
// memory: each group combines those before it. A reverse scan is the same with lanes, groups and registers counted from the
// other end.

package emit

import (
	"github.com/paddle-mps/paddle-mps/tritonlang/layout"
	"github.com/paddle-mps/paddle-mps/tritonlang/plan"
	"github.com/paddle-mps/paddle-mps/tritonlang/tree"
	"github.com/paddle-mps/paddle-mps/tritonlang/ttir"
)

// A scan wants its operands in the layout in which threads follow each other along the axis.
func init() {
	rules["tt.scan"] = (*emitter).scan
	plan.WantRules["tt.scan"] = func(p *plan.Plan, o *ttir.Op) {
		if unused(p, o) {
			return
		}
		for _, v := range o.Operands {
			p.Want(v, scanLayout(p, o))
		}
	}
}

// scanLayout is the layout that a scan's operands are wanted in.
func scanLayout(p *plan.Plan, o *ttir.Op) layout.Layout {
	return plan.ScanLayout(o.Operands[0].Type.Shape, o.Int("axis", 0), p.Warps)
}

// scanner is a scan while it is emitted. Along the axis, a thread holds elements that follow each other, its neighbour the
// next ones, and the next SIMD group the next ones: each scans its own, then adds what stands before.
type scanner struct {
	e       *emitter
	o       *ttir.Op
	l       layout.Layout
	f       *combiner
	xs      []*tree.Registers
	reverse bool
	// Bits of registers on the axis, which are the first ones, and of others.
	inner, outer int
	// On the axis, which are the first ones.
	laneBits, warpBits    int
	lane, warp            string
	totals, before, extra []*tree.Registers
}

// scan emits tt.scan.
func (e *emitter) scan(o *ttir.Op) {
	if unused(e.plan, o) {
		return
	}
	s := &scanner{e: e, o: o, l: scanLayout(e.plan, o), f: e.combiner(o)}
	if r, ok := o.Attr("reverse"); ok && len(r.Ints) == 1 {
		s.reverse = r.Ints[0] != 0
	}
	s.count()
	for i, v := range o.Operands {
		x := e.get(v, s.l).regs
		// A copy, since the operand may be used later.
		own := e.array(nameOf(o.Results[i]), cType(v.Type.Element()), s.l.Registers())
		e.whole(own.N, func(k tree.RegisterNumber) string { return e.element(own, nil, k) + " = " + e.element(x, nil, k) + ";" })
		s.xs = append(s.xs, own)
	}
	s.registers()
	if s.laneBits+s.warpBits > 0 {
		s.lanes()
		s.warps()
		s.apply()
	}
	for i, v := range o.Results {
		e.done(v, e.convert(v, &value{regs: s.xs[i]}, s.l, e.plan.HomeOf(v)))
	}
}

// count finds how many bits of each kind lie on the axis.
func (s *scanner) count() {
	shape, axis := s.o.Operands[0].Type.Shape, s.o.Int("axis", 0)
	low, n := layout.Dims(shape)[axis], layout.Log(shape[axis])
	on := func(part []int) (k int) {
		for k < len(part) && part[k] >= low && part[k] < low+n {
			k++
		}
		return k
	}
	s.inner, s.laneBits, s.warpBits = on(s.l.Reg), on(s.l.Lane), on(s.l.Warp)
	s.outer = len(s.l.Reg) - s.inner
	s.lane = "(lane & " + itoa(1<<s.laneBits-1) + ")"
	s.warp = "(warp & " + itoa(1<<s.warpBits-1) + ")"
}

// each runs body for each line that a thread has a part of.
func (s *scanner) each(body func(i tree.RegisterNumber)) {
	if s.outer == 0 {
		s.e.block("", false, false, func() { body(tree.RegisterNumber{}) })
		return
	}
	s.e.block("for (ushort r = 0; r < "+itoa(1<<s.outer)+"; r++)", false, false, func() { body(tree.RegisterNumber{Name: "r"}) })
}

// element is a register of a line: number k of those on the axis.
func (s *scanner) element(x *tree.Registers, i tree.RegisterNumber, k string) string {
	if x.N == 1 {
		return x.Name
	}
	text := k
	if i.Name != "" {
		text = i.Name + " * " + itoa(1<<s.inner) + " + " + k
	}
	return x.Name + "[" + text + "]"
}

// fold emits x = before combined with x, in this order; reversed scans combine from the other end.
func (s *scanner) fold(before, x []string) {
	e := s.e
	var temps []string
	for i, r := range s.xs {
		t := e.temp("t")
		e.say(r.CType, " ", t, " = ", before[i], ";")
		temps = append(temps, t)
	}
	// The function writes to its first arguments, which are copies: what stands before is used again.
	e.say(s.f.call(append(append([]string{}, temps...), x...)), ";")
	for i := range x {
		e.say(x[i], " = ", temps[i], ";")
	}
}

// all are registers of a line, number k of those on the axis, for each operand.
func (s *scanner) all(xs []*tree.Registers, i tree.RegisterNumber, k string) (out []string) {
	for _, x := range xs {
		out = append(out, s.element(x, i, k))
	}
	return out
}

// registers scans what a thread has itself.
func (s *scanner) registers() {
	n := 1 << s.inner
	if n == 1 {
		return
	}
	s.each(func(i tree.RegisterNumber) {
		header, before := "for (ushort k = 1; k < "+itoa(n)+"; k++)", "(k - 1)"
		if s.reverse {
			header, before = "for (short k = "+itoa(n-2)+"; k >= 0; k--)", "(k + 1)"
		}
		s.e.block(header, false, false, func() { s.fold(s.all(s.xs, i, before), s.all(s.xs, i, "k")) })
	})
}

// last is the register on the axis that holds a thread's total.
func (s *scanner) last() string {
	if s.reverse {
		return "0"
	}
	return itoa(1<<s.inner - 1)
}

// elements1 are registers of several tensors under one number.
func elements1(e *emitter, xs []*tree.Registers, i tree.RegisterNumber) (out []string) {
	for _, x := range xs {
		out = append(out, e.element(x, nil, i))
	}
	return out
}

// lanes finds what stands before a thread's elements in its SIMD group, and the totals up to it.
func (s *scanner) lanes() {
	e := s.e
	// A thread's total is its last element; combining it with those of lanes 1, 2, 4, ... before gives
	// the total up to it.
	for _, x := range s.xs {
		s.totals = append(s.totals, e.array("%total", x.CType, 1<<s.outer))
		s.before = append(s.before, e.array("%before", x.CType, 1<<s.outer))
	}
	s.each(func(i tree.RegisterNumber) {
		for m, x := range s.xs {
			e.say(e.element(s.totals[m], nil, i), " = ", s.element(x, i, s.last()), ";")
		}
		for b := range s.laneBits {
			s.step(i, 1<<b)
		}
		// Now the neighbour's total is all that stands before this thread in the SIMD group.
		for m, t := range s.totals {
			e.say(e.element(s.before[m], nil, i), " = ", s.shifted(t.CType, e.element(t, nil, i), 1), ";")
		}
	})
}

// step combines with the total of the lane some places before.
func (s *scanner) step(i tree.RegisterNumber, by int) {
	e := s.e
	var others []string
	for _, t := range s.totals {
		o := e.temp("o")
		e.say(t.CType, " ", o, " = ", s.shifted(t.CType, e.element(t, nil, i), by), ";")
		others = append(others, o)
	}
	e.block("if ("+s.has(s.lane, s.laneBits, by)+")", true, false, func() { s.fold(others, elements1(e, s.totals, i)) })
}

// has is the condition that there is something so many places before.
func (s *scanner) has(number string, bits, by int) string {
	if s.reverse {
		return number + " + " + itoa(by) + " < " + itoa(1<<bits)
	}
	return number + " >= " + itoa(by)
}

// shifted is what the lane some places before has: by shuffles of a type that Metal can shuffle.
func (s *scanner) shifted(ctype, x string, by int) string {
	f := "simd_shuffle_up"
	if s.reverse {
		f = "simd_shuffle_down"
	}
	m := "ushort(" + itoa(by) + ")"
	switch ctype {
	case "bool":
		return "(" + f + "(ushort(" + x + "), " + m + ") != 0)"
	case "char", "uchar":
		return ctype + "(" + f + "(short(" + x + "), " + m + "))"
	case "long", "ulong":
		return "as_type<" + ctype + ">(" + f + "(as_type<uint2>(" + x + "), " + m + "))"
	}
	return f + "(" + x + ", " + m + ")"
}

// warps gives each SIMD group the totals of those before it, through threadgroup memory.
func (s *scanner) warps() {
	if s.warpBits == 0 {
		return
	}
	e := s.e
	// What is not on the axis tells lines apart: each has slots of its own.
	lines := layout.Layout{Lane: s.l.Lane[s.laneBits:], Warp: s.l.Warp[s.warpBits:]}
	slot := func(i tree.RegisterNumber, warp string) string {
		// A line's number: bits of lanes and SIMD groups that are not on the axis, then of registers.
		n, terms := s.warpBits, []string{warp}
		if k := len(lines.Lane); k > 0 && s.laneBits < layout.Lanes {
			terms = append(terms, "(lane >> "+itoa(s.laneBits)+") * "+itoa(1<<n))
			n += k
		}
		if k := len(lines.Warp); k > 0 {
			terms = append(terms, "(warp >> "+itoa(s.warpBits)+") * "+itoa(1<<n))
			n += k
		}
		if i.Name != "" {
			terms = append(terms, i.Name+" * "+itoa(1<<n))
		}
		return tree.Sum(terms, 0)
	}
	size := 1 << (s.warpBits + len(lines.Lane) + len(lines.Warp) + s.outer)
	var areas []*tree.Area
	for _, t := range s.totals {
		memory, bytes := sharedType(t.CType)
		areas = append(areas, e.area(memory, bytes, size))
	}
	// The last lane of a line has the SIMD group's total.
	end := itoa(1<<s.laneBits - 1)
	if s.reverse {
		end = "0"
	}
	for _, a := range areas {
		e.writes(a)
	}
	e.block("if ("+s.lane+" == "+end+")", true, false, func() {
		e.whole(1<<s.outer, func(i tree.RegisterNumber) string {
			text := ""
			for m, t := range s.totals {
				text += areas[m].Name + "[" + slot(i, s.warp) + "] = " + toShared(t.CType, e.element(t, nil, i)) + "; "
			}
			return text
		})
	})
	for _, a := range areas {
		e.reads(a)
	}
	for _, x := range s.xs {
		s.extra = append(s.extra, e.array("%earlier", x.CType, 1<<s.outer))
	}
	s.each(func(i tree.RegisterNumber) {
		// The totals of SIMD groups before, combined in their order.
		from, header := "0", "for (uint k = 1; k < "+s.warp+"; k++)"
		if s.reverse {
			from, header = itoa(1<<s.warpBits-1), "for (uint k = "+itoa(1<<s.warpBits-2)+"; k > "+s.warp+"; k--)"
		}
		for m, x := range s.extra {
			e.say(e.element(x, nil, i), " = ", fromShared(x.CType, areas[m].Name+"["+slot(i, from)+"]"), ";")
		}
		e.block(header, false, false, func() {
			args := elements1(e, s.extra, i)
			for m, x := range s.extra {
				args = append(args, fromShared(x.CType, areas[m].Name+"["+slot(i, "k")+"]"))
			}
			e.say(s.f.call(args), ";")
		})
	})
}

// apply adds what stands before a thread's elements to each of them.
func (s *scanner) apply() {
	e := s.e
	k := func(i tree.RegisterNumber, before []*tree.Registers) {
		n := 1 << s.inner
		e.block("for (ushort k = 0; k < "+itoa(n)+"; k++)", false, false, func() {
			s.fold(elements1(e, before, i), s.all(s.xs, i, "k"))
		})
	}
	s.each(func(i tree.RegisterNumber) {
		// First what stands before in the SIMD group, then what stands before that.
		if s.laneBits > 0 {
			e.block("if ("+s.has(s.lane, s.laneBits, 1)+")", true, false, func() { k(i, s.before) })
		}
		if s.warpBits > 0 {
			e.block("if ("+s.has(s.warp, s.warpBits, 1)+")", true, false, func() { k(i, s.extra) })
		}
	})
}
