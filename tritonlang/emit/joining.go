// Joining tensors along a new or the first dimension, and splitting along the last: one bit of the element's number tells
// operands or results apart, and where that bit is a register's, nothing moves.
//
//	join of x and y, tensor<8xf32> each      element number of the result:  b2 b1 b0 w
//	                                         w is 0 for x and 1 for y, and the bits above are those of x and y
//
// If w is register bit 0, the result's registers are those of x and y in turn, and z[r] is `(r & 1) != 0 ? y[r / 2] : x[r / 2]`.
// If it is a lane's bit, both operands are held by pairs of lanes, and each lane takes one: `(lane & 1) != 0 ? y : x`.
// A split is the inverse: with w in a register its results are every other register, and no statement is needed.

package emit

import (
	"strconv"

	"github.com/paddle-mps/paddle-mps/tritonlang/layout"
	"github.com/paddle-mps/paddle-mps/tritonlang/ttir"
)

// Rules of join, cat and split. Each wants operands without, or with, the bit that tells them apart.
func init() {
	rules["tt.join"] = (*emitter).join
	rules["tt.cat"] = (*emitter).join
	rules["tt.split"] = (*emitter).split
	wantRules["tt.join"] = (*plan).joined
	wantRules["tt.cat"] = (*plan).joined
	wantRules["tt.split"] = func(p *plan, o *ttir.Op) {
		if !p.unused(o) {
			p.want(o.Operands[0], minor(p.homeOf(o.Results[0])))
		}
	}
}

// without is a layout without one bit of the element's number: bits above it move down.
func without(l layout.Layout, bit int) layout.Layout {
	return l.Map(func(b int) int {
		switch {
		case b == bit:
			return layout.None
		case b > bit:
			return b - 1
		}
		return b
	})
}

// minor is a layout with a new last dimension of 2, in registers.
func minor(l layout.Layout) layout.Layout {
	up := l.Map(func(b int) int { return b + 1 })
	up.Reg = append([]int{0}, up.Reg...)
	return up
}

// joined wants the operands in the result's layout without the bit that tells them apart.
func (p *plan) joined(o *ttir.Op) {
	if p.unused(o) {
		return
	}
	l := p.homeOf(o.Results[0])
	for _, v := range o.Operands {
		p.want(v, operandLayout(o, 0, l))
	}
}

// join emits tt.join and tt.cat: one bit of the element's number selects the operand.
func (e *emitter) join(o *ttir.Op) {
	if e.plan.unused(o) {
		return
	}
	v := o.Results[0]
	l := e.plan.homeOf(v)
	// tt.join adds a last dimension, whose bit is the lowest one; tt.cat makes the first dimension longer.
	bit := 0
	if o.Name == "tt.cat" {
		bit = l.Bits() - 1
	}
	from := operandLayout(o, 0, l)
	// Where the bit is, is where the choice is made: by thread or by register.
	which := ""
	if k := indexOf(l.Lane, bit); k >= 0 {
		which = "(lane >> " + strconv.Itoa(k) + " & 1) != 0"
	} else if k := indexOf(l.Warp, bit); k >= 0 {
		which = "(warp >> " + strconv.Itoa(k) + " & 1) != 0"
	}
	at := indexOf(l.Reg, bit)
	var args []*reg
	for _, x := range o.Operands {
		r := *e.get(x, from).regs
		if at >= 0 {
			// The operand has no register bit here: both values of it are the same register.
			r.index = append(append(append([]int{}, r.index[:at]...), layout.None), r.index[at:]...)
		}
		args = append(args, &r)
	}
	r := e.define(v.Name, cType(v.Type.Element()), l.Registers(), func(read func(*reg) string) string {
		c := which
		if at >= 0 {
			c = "(r >> " + strconv.Itoa(at) + " & 1) != 0"
		}
		return c + " ? " + read(args[1]) + " : " + read(args[0])
	})
	e.done(v, &value{regs: r})
}

// split emits tt.split, whose results are every other register of the operand.
func (e *emitter) split(o *ttir.Op) {
	if e.plan.unused(o) {
		return
	}
	home := e.plan.homeOf(o.Results[0])
	x := e.get(o.Operands[0], minor(home)).regs
	for i, v := range o.Results {
		if len(e.plan.wanted[v]) == 0 {
			continue
		}
		// A result is a view of the operand's registers, from the first or the second one on: nothing is copied.
		r := *x
		r.index = x.index[1:]
		if i == 1 && x.index[0] >= 0 {
			r.plus += 1 << x.index[0]
		}
		e.done(v, e.convert(v, &value{regs: &r}, home, e.plan.homeOf(v)))
	}
}
