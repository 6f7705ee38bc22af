// Operations that move nothing: broadcasts, reshapes, ranges, offsets of pointers. Registers of the result are those of the
// operand under other numbers, or follow from the thread's number.
//
// A range of 1,024 elements, with 4 of them in registers that follow each other, is computed where it is used:
//
//	offs[r] = int(lane * 4 + warp * 128 + (r & 3) + (r & 4) * 128);
//
// Each term is a part of the layout: lanes hold bits 2 to 6 of the number, SIMD groups 7 and 8, registers 0, 1 and 9. If a
// tensor of pointers is a scalar and this range, an access is x_ptr[offs[r]], and x_ptr + pid * 1024 stays a scalar pointer.

package emit

import (
	"strconv"

	"github.com/paddle-mps/paddle-mps/tritonlang/layout"
	"github.com/paddle-mps/paddle-mps/tritonlang/plan"
	"github.com/paddle-mps/paddle-mps/tritonlang/tree"
	"github.com/paddle-mps/paddle-mps/tritonlang/ttir"
)

// Rules of operations that move nothing.
func init() {
	for name := range plan.Views {
		rules[name] = (*emitter).view
	}
	rules["tt.make_range"] = (*emitter).makeRange
	rules["tt.addptr"] = (*emitter).addptr
	rules["tt.get_program_id"] = func(e *emitter, o *ttir.Op) { e.program(o, "program") }
	rules["tt.get_num_programs"] = func(e *emitter, o *ttir.Op) { e.program(o, "programs") }
	rules["tt.unsplat"] = func(e *emitter, o *ttir.Op) {
		x := e.get(o.Operands[0], e.plan.HomeOf(o.Operands[0]))
		if x.regs != nil {
			x = &value{scalar: e.element(x.regs, nil, tree.RegisterNumber{})}
		}
		e.set(o.Results[0], layout.Layout{}, x)
	}
	rules["llvm.intr.assume"] = func(*emitter, *ttir.Op) {}
}

// view emits nothing: the registers of a view are those of its operand.
func (e *emitter) view(o *ttir.Op) {
	v := o.Results[0]
	for _, l := range e.plan.Wanted[v] {
		if o.Name == "tt.splat" {
			s := e.scalar(o.Operands[0])
			if v.Type.IsPointer() {
				e.set(v, l, &value{scalar: s})
			} else {
				e.set(v, l, &value{regs: &tree.Registers{Name: s, N: 1, Index: nones(len(l.Reg))}})
			}
			continue
		}
		// The operand's registers under the view's numbers: both values share one array in the text.
		from := plan.OperandLayout(o, 0, l)
		x := *e.get(o.Operands[0], from)
		if x.regs != nil {
			r := *x.regs
			r.Index = viewIndex(o, l, from, x.regs.Index)
			x.regs = &r
		}
		e.set(v, l, &x)
	}
}

// viewIndex is the index of a view's registers: of those that the operand has too, in their order.
func viewIndex(o *ttir.Op, l, from layout.Layout, index []int) []int {
	if o.Name != "tt.broadcast" {
		return index
	}
	out, k := nones(len(l.Reg)), 0
	big, small := o.Results[0].Type.Shape, o.Operands[0].Type.Shape
	for i, bit := range l.Reg {
		if d, _ := layout.DimOf(big, bit); big[d] == small[d] {
			out[i] = index[k]
			k++
		}
	}
	return out
}

// program emits a program's number in the grid, or how many there are, along an axis.
func (e *emitter) program(o *ttir.Op, which string) {
	axis := o.Word("axis")
	if axis != "x" && axis != "y" && axis != "z" {
		refuse(o, "", "axis "+axis+" is unknown")
	}
	r := e.define(o.Results[0].Name, "int", 1, func(func(*tree.Registers) string) string { return "int(" + which + "." + axis + ")" })
	e.set(o.Results[0], layout.Layout{}, &value{scalar: r.Name})
}

// makeRange computes the numbers of the elements that a thread holds.
func (e *emitter) makeRange(o *ttir.Op) {
	v := o.Results[0]
	for _, l := range e.plan.Wanted[v] {
		start := o.Int("start", 0)
		threads := threadPart(l, nil)
		r := e.define(v.Name, "int", l.Registers(), func(func(*tree.Registers) string) string {
			return "int(" + tree.Sum(append(append([]string{}, threads...), tree.Scatter("r", l.Reg)...), start) + ")"
		})
		e.set(v, l, &value{regs: r})
	}
}

// threadPart are the terms of an element's number that lane and warp give; to maps bits, nil for none.
func threadPart(l layout.Layout, to func(int) int) []string {
	apply := func(part []int) []int {
		if to == nil {
			return part
		}
		out := nones(len(part))
		for i, b := range part {
			if b != layout.None {
				out[i] = to(b)
			}
		}
		return out
	}
	return append(tree.Scatter("lane", apply(l.Lane)), tree.Scatter("warp", apply(l.Warp))...)
}

// uniform reports whether all elements of a tensor are one scalar.
func uniform(v *ttir.Value) bool {
	for v.Def != nil && plan.Views[v.Def.Name] && v.Def.Name != "tt.splat" {
		v = v.Def.Operands[0]
	}
	if v.Def == nil {
		return false
	}
	if v.Def.Name == "arith.constant" {
		all, _ := ttir.Literal(v.Def)
		return len(all) == 1
	}
	return v.Def.Name == "tt.splat"
}

// addptr adds offsets in elements. A tensor of pointers is a scalar base and offsets: one that is the same for all
// elements goes to the base. Offsets are added as 64-bit integers, as Triton does.
func (e *emitter) addptr(o *ttir.Op) {
	v := o.Results[0]
	if !v.Type.IsTensor() {
		e.set(v, layout.Layout{}, &value{scalar: e.pointer(v, e.scalar(o.Operands[0])+" + "+e.scalar(o.Operands[1]))})
		return
	}
	if !e.plan.Follows(v) {
		e.done(v, e.addptrIn(o, e.plan.HomeOf(v)))
		return
	}
	for _, l := range e.plan.Wanted[v] {
		e.set(v, l, e.addptrIn(o, l))
	}
}

// pointer defines a scalar pointer.
func (e *emitter) pointer(v *ttir.Value, text string) string {
	name := e.name(v.Name)
	e.before(&tree.Node{Kind: tree.Statement, Text: e.pointerType(v) + name + " = " + text + ";"})
	return name
}

// addptrIn adds offsets in one layout: to the base if they are the same for all elements, else to each element's own.
func (e *emitter) addptrIn(o *ttir.Op, l layout.Layout) *value {
	v := o.Results[0]
	p, x := e.get(o.Operands[0], l), e.get(o.Operands[1], l)
	wide := o.Operands[1].Type.Element().Bits == 64
	switch {
	case p.full:
		// Pointers that are whole: each has its own base.
		r := e.combine(v.Name, e.pointerType(v), l, []*tree.Registers{p.regs, x.regs}, func(t []string) string { return t[0] + " + " + t[1] })
		return &value{regs: r, full: true}
	case uniform(o.Operands[1]):
		// One offset for all elements moves the base, and the offsets of elements stay 32 bits wide.
		return &value{scalar: e.pointer(v, p.scalar+" + "+x.regs.Name), regs: p.regs, wide: p.wide}
	case p.regs == nil:
		// The first offsets are used as they are, 32 bits wide.
		return &value{scalar: p.scalar, regs: x.regs, wide: wide}
	}
	// A sum of two offsets may be more than 32 bits hold, even if each of them is less.
	r := e.combine(v.Name, "long", l, []*tree.Registers{p.regs, x.regs}, func(t []string) string { return "long(" + t[0] + ") + " + t[1] })
	return &value{scalar: p.scalar, regs: r, wide: true}
}

// combine computes registers from others in one layout. Of operands that are one register each, such as constants, the
// result is one register too.
func (e *emitter) combine(like, ctype string, l layout.Layout, args []*tree.Registers, f func([]string) string) *tree.Registers {
	n, index := l.Registers(), identity(l.Registers())
	if narrow(args) {
		n, index = 1, nones(len(l.Reg))
	}
	r := e.define(like, ctype, n, func(read func(*tree.Registers) string) string {
		texts := make([]string, len(args))
		for i, a := range args {
			texts[i] = read(a)
		}
		return f(texts)
	})
	r.Index = index
	return r
}

// temp is a name for something that the program has no name for.
func (e *emitter) temp(like string) string {
	e.count++
	return e.name(like + strconv.Itoa(e.count))
}
