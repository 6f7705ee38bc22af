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
	"github.com/paddle-mps/paddle-mps/tritonlang/plan"
	"github.com/paddle-mps/paddle-mps/tritonlang/tree"
	"github.com/paddle-mps/paddle-mps/tritonlang/ttir"
)

// Rules of join, cat and split. Each wants operands without, or with, the bit that tells them apart.
func init() {
	rules["tt.join"] = (*emitter).join
	rules["tt.cat"] = (*emitter).join
	rules["tt.split"] = (*emitter).split
	plan.WantRules["tt.join"] = joined
	plan.WantRules["tt.cat"] = joined
	plan.WantRules["tt.split"] = func(p *plan.Plan, o *ttir.Op) {
		if !unused(p, o) {
			p.Want(o.Operands[0], plan.WithMinor(p.HomeOf(o.Results[0])))
		}
	}
}

// joined wants the operands in the result's layout without the bit that tells them apart.
func joined(p *plan.Plan, o *ttir.Op) {
	if unused(p, o) {
		return
	}
	l := p.HomeOf(o.Results[0])
	for _, v := range o.Operands {
		p.Want(v, plan.OperandLayout(o, 0, l))
	}
}

// join emits tt.join and tt.cat: one bit of the element's number selects the operand.
func (e *emitter) join(o *ttir.Op) {
	if unused(e.plan, o) {
		return
	}
	v := o.Results[0]
	l := e.plan.HomeOf(v)
	// tt.join adds a last dimension, whose bit is the lowest one; tt.cat makes the first dimension longer.
	bit := 0
	if o.Name == "tt.cat" {
		bit = l.Bits() - 1
	}
	from := plan.OperandLayout(o, 0, l)
	// Where the bit is, is where the choice is made: by thread or by register.
	which := ""
	if k := indexOf(l.Lane, bit); k >= 0 {
		which = "(lane >> " + strconv.Itoa(k) + " & 1) != 0"
	} else if k := indexOf(l.Warp, bit); k >= 0 {
		which = "(warp >> " + strconv.Itoa(k) + " & 1) != 0"
	}
	at := indexOf(l.Reg, bit)
	var args []*tree.Registers
	for _, x := range o.Operands {
		r := *e.get(x, from).regs
		if at >= 0 {
			// The operand has no register bit here: both values of it are the same register.
			r.Index = append(append(append([]int{}, r.Index[:at]...), layout.None), r.Index[at:]...)
		}
		args = append(args, &r)
	}
	r := e.define(v.Name, cType(v.Type.Element()), l.Registers(), func(read func(*tree.Registers) string) string {
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
	if unused(e.plan, o) {
		return
	}
	home := e.plan.HomeOf(o.Results[0])
	x := e.get(o.Operands[0], plan.WithMinor(home)).regs
	for i, v := range o.Results {
		if len(e.plan.Wanted[v]) == 0 {
			continue
		}
		// A result is a view of the operand's registers, from the first or the second one on: nothing is copied.
		r := *x
		r.Index = x.Index[1:]
		if i == 1 && x.Index[0] >= 0 {
			r.Plus += 1 << x.Index[0]
		}
		e.done(v, e.convert(v, &value{regs: &r}, home, e.plan.HomeOf(v)))
	}
}
