// Loops and conditions of the scf dialect. What they carry becomes variables that are assigned at the end of a body.
//
// Conditions are scalars, which all threads compute alike, so that all threads go the same way and meet at barriers.
//
// Two kinds of values are carried better than by copies: pointers that move by one offset for all elements are a base that
// moves and offsets that stay, and sums of products stay in matrices of SIMD groups.
//
//	scf.for %k = 0 to %n iter_args(%sum = %zero, %p = %a_ptrs)      float sum = 0.0f;
//	                                                                device const float *p = a_ptr;
//	                                                                for (int k = 0; k < n; k += 32) {
//	  %x = tt.load %p                                                   float x = p[offs];
//	  %s = arith.addf %sum, %x                                          float s = sum + x;
//	  %q = tt.addptr %p, %c32                                           device const float *q = p + 32;
//	  scf.yield %s, %q                                                  sum = s;
//	                                                                    p = q;
//	                                                                }
//
// A body may yield what it carries in another place, so that an assignment could overwrite what the next one reads. assign
// makes copies where that is so.

package emit

import (
	"slices"

	"github.com/paddle-mps/paddle-mps/tritonlang/layout"
	"github.com/paddle-mps/paddle-mps/tritonlang/tree"
	"github.com/paddle-mps/paddle-mps/tritonlang/ttir"
)

// Rules of loops and conditions.
func init() {
	rules["scf.for"] = (*emitter).forLoop
	rules["scf.if"] = (*emitter).condition
	rules["scf.while"] = (*emitter).while
}

// slot is a value that a loop carries, or that a condition or block gives: variables that are assigned.
type slot struct {
	v *ttir.Value
	// Of a scalar, or of the base of pointers.
	name string
	// Of a tensor.
	regs *tree.Registers
	wide bool
	// Offsets of pointers that the loop does not change; nil if it does.
	steady *tree.Registers
	// That the loop adds products to; nil if it does not.
	sums *fragments
}

// slotFor declares variables for a value.
func (e *emitter) slotFor(v *ttir.Value) *slot {
	s := &slot{v: v}
	switch {
	case v.Type.IsPointer() && !v.Type.IsTensor():
		s.name = e.name(nameOf(v))
		e.say(e.pointerType(v), s.name, ";")
	case v.Type.IsPointer():
		s.name = e.name(nameOf(v))
		s.wide = true
		e.say(e.pointerType(v), s.name, ";")
		s.regs = e.array(nameOf(v)+"_offset", "long", e.plan.HomeOf(v).Registers())
	case v.Type.IsTensor():
		s.regs = e.array(nameOf(v), cType(v.Type.Element()), e.plan.HomeOf(v).Registers())
	default:
		s.name = e.name(nameOf(v))
		e.say(cType(v.Type), " ", s.name, ";")
	}
	return s
}

// value is what a slot holds.
func (s *slot) value() *value { return &value{scalar: s.name, regs: s.offsets(), wide: s.wide} }

// offsets are the registers of a tensor, or of pointers the offsets that stay or move.
func (s *slot) offsets() *tree.Registers {
	if s.steady != nil {
		return s.steady
	}
	return s.regs
}

// assign gives slots values that are computed already. All are read before one is written, since a loop may swap them.
func (e *emitter) assign(slots []*slot, from []*ttir.Value) {
	// A value that another slot holds now is copied first.
	temps := make([]*value, len(slots))
	for i, s := range slots {
		var l layout.Layout
		if s.sums != nil {
			continue
		}
		if s.v.Type.IsTensor() {
			l = e.plan.HomeOf(s.v)
		}
		x := e.get(from[i], l)
		if x.full {
			panic(&ttir.Unsupported{Op: "tensor of pointers", Where: e.where, Why: "pointers from several arguments, or cast to another size, cannot be carried"})
		}
		temps[i] = x
		if !e.carriedBy(slots, i, x) {
			continue
		}
		c := *x
		if c.regs != nil && c.regs.N > 0 {
			c.regs = e.array("%next", regType(s), l.Registers())
			e.whole(l.Registers(), func(k tree.RegisterNumber) string {
				return e.element(c.regs, nil, k) + " = " + e.element(x.regs, nil, k) + ";"
			})
		}
		if c.scalar != "" {
			t := e.temp("next")
			ctype := cType(s.v.Type.Element()) + " "
			if s.v.Type.IsPointer() {
				ctype = e.pointerType(s.v)
			}
			e.say(ctype, t, " = ", c.scalar, ";")
			c.scalar = t
		}
		temps[i] = &c
	}
	for i, s := range slots {
		x := temps[i]
		if s.sums != nil {
			continue
		}
		if s.name != "" && x.scalar != s.name {
			e.say(s.name, " = ", x.scalar, ";")
		}
		// Offsets that stay were there before the loop.
		if s.regs == nil || s.steady != nil {
			continue
		}
		if x.regs == nil {
			e.whole(s.regs.N, func(k tree.RegisterNumber) string { return e.element(s.regs, nil, k) + " = 0;" })
			continue
		}
		if same(x.regs, s.regs) {
			continue
		}
		e.whole(s.regs.N, func(k tree.RegisterNumber) string {
			return e.element(s.regs, nil, k) + " = " + e.element(x.regs, nil, k) + ";"
		})
	}
}

// regType is the type of a slot's registers: pointers have offsets.
func regType(s *slot) string {
	if s.v.Type.IsPointer() {
		return "long"
	}
	return cType(s.v.Type.Element())
}

// same reports whether registers are others under the same numbers.
func same(x, y *tree.Registers) bool {
	return x.Name == y.Name && x.Plus == y.Plus && slices.Equal(x.Index, y.Index)
}

// carriedBy reports whether a value is held by another slot, or by its own in another order, which may be assigned before it
// is read.
func (e *emitter) carriedBy(slots []*slot, i int, x *value) bool {
	for k, s := range slots {
		if k == i && (x.regs == nil || s.regs == nil || same(x.regs, s.regs)) {
			continue
		}
		if k != i && s.name != "" && x.scalar == s.name || s.regs != nil && x.regs != nil && x.regs.Name == s.regs.Name {
			return true
		}
	}
	return false
}

// slots declares variables for values and gives them their first ones.
func (e *emitter) slots(all []*ttir.Value, first []*ttir.Value) (out []*slot) {
	for _, v := range all {
		out = append(out, e.slotFor(v))
	}
	if first != nil {
		e.assign(out, first)
	}
	return out
}

// enter makes the slots the values of block arguments.
func (e *emitter) enter(args []*ttir.Value, slots []*slot) {
	for i, v := range args {
		if slots[i].sums == nil {
			e.done(v, slots[i].value())
		}
	}
}

// forLoop emits scf.for. Its results are the variables that it carries.
func (e *emitter) forLoop(o *ttir.Op) {
	b := o.Regions[0].Blocks[0]
	var out []*slot
	for i, v := range b.Args[1:] {
		next, first := b.Terminator().Operands[i], o.Operands[3+i]
		if p := e.stays(v, next, first, b); p != nil {
			s := &slot{v: v, sums: e.newFragments(p)}
			e.fragments[v] = s.sums
			out = append(out, s)
			continue
		}
		out = append(out, e.carried(v, next, first))
	}
	e.assign(out, o.Operands[3:])
	// Triton's loops have signed bounds and a positive step, or do not run.
	i, t := e.name(b.Args[0].Name), cType(b.Args[0].Type)
	lo, hi, step := e.scalar(o.Operands[0]), e.scalar(o.Operands[1]), e.scalar(o.Operands[2])
	e.block("for ("+t+" "+i+" = "+lo+"; "+i+" < "+hi+"; "+i+" += "+step+")", true, true, func() {
		e.set(b.Args[0], layout.Layout{}, &value{scalar: i})
		e.enter(b.Args[1:], out)
		end := e.ops(b)
		e.assign(out, end.Operands)
	})
	e.closeLoop()
	e.where = o.Where()
	for k, v := range o.Results {
		switch {
		case out[k].sums == nil:
			e.done(v, out[k].value())
		case e.counts[v] > 0:
			e.done(v, &value{regs: e.collect(nameOf(v), out[k].sums, e.plan.HomeOf(v), nil)})
		}
	}
}

// carried is the slot of a value that a loop carries. Pointers to which the loop adds the same offset for all elements
// are a base that moves, and offsets that stay.
func (e *emitter) carried(v, next, first *ttir.Value) *slot {
	if !v.Type.IsTensor() || !v.Type.IsPointer() {
		return e.slotFor(v)
	}
	// From what the loop yields back to what it began with, by offsets that are one for all elements.
	for at := next; ; at = at.Def.Operands[0] {
		if at == v {
			x := e.get(first, e.plan.HomeOf(v))
			s := &slot{v: v, name: e.name(nameOf(v)), wide: x.wide, steady: x.regs}
			e.say(e.pointerType(v), s.name, ";")
			return s
		}
		if at.Def == nil || at.Def.Name != "tt.addptr" || !uniform(at.Def.Operands[1]) {
			return e.slotFor(v)
		}
	}
}

// condition emits scf.if, whose condition is the same in all threads.
func (e *emitter) condition(o *ttir.Op) {
	out := e.slots(o.Results, nil)
	n := e.block("if ("+e.scalar(o.Operands[0])+")", len(o.Regions) < 2, false, func() {
		if end := e.ops(o.Regions[0].Blocks[0]); end != nil {
			e.assign(out, end.Operands)
		}
	})
	if len(o.Regions) > 1 {
		n.Other = []*tree.Node{}
		e.inside(&n.Other, func() {
			if end := e.ops(o.Regions[1].Blocks[0]); end != nil {
				e.assign(out, end.Operands)
			}
		})
	}
	e.closeLoop()
	for i, v := range o.Results {
		e.done(v, out[i].value())
	}
}

// while emits scf.while: what is computed before the condition, the way out, and what follows it.
func (e *emitter) while(o *ttir.Op) {
	e.waits(o)
	before, after := o.Regions[0].Blocks[0], o.Regions[1].Blocks[0]
	carried := e.slots(before.Args, o.Operands)
	passed := e.slots(after.Args, nil)
	e.block("while (true)", false, true, func() {
		e.enter(before.Args, carried)
		// What is passed on is assigned before the loop is left, because it is the result then.
		end := e.ops(before)
		e.assign(passed, end.Operands[1:])
		e.closeLoop()
		e.add(&tree.Node{Kind: tree.Leave, Text: "if (!(" + e.scalar(end.Operands[0]) + ")) break;"})
		e.enter(after.Args, passed)
		end = e.ops(after)
		e.assign(carried, end.Operands)
	})
	e.closeLoop()
	for i, v := range o.Results {
		e.done(v, passed[i].value())
	}
}
