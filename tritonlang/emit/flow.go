// Functions: calls, and bodies of several blocks, which an early return makes.
//
// Branches lead on only, since loops are operations. A block is emitted where the block that dominates it ends, inside an
// if on a flag that the branches to it set. So each value is declared in a scope that holds all its uses, and no block is
// emitted twice.

package emit

import (
	"slices"

	"github.com/paddle-mps/paddle-mps/tritonlang/layout"
	"github.com/paddle-mps/paddle-mps/tritonlang/tree"
	"github.com/paddle-mps/paddle-mps/tritonlang/ttir"
)

// A call has the body of its function in it: see ttir.Inline.
func init() {
	rules[ttir.Inlined] = (*emitter).call
}

// leaving is where results of a function go.
type leaving struct{ slots []*slot }

// call emits the body of a function in place of a call.
func (e *emitter) call(o *ttir.Op) {
	out := e.slots(o.Results, nil)
	params := o.Regions[0].Blocks[0].Args
	e.block("", false, false, func() {
		for i, v := range params {
			var l layout.Layout
			if v.Type.IsTensor() {
				l = e.plan.HomeOf(v)
			}
			e.done(v, e.get(o.Operands[i], l))
		}
		e.body(o.Regions[0], out)
	})
	for i, v := range o.Results {
		e.done(v, out[i].value())
	}
}

// body emits the blocks of a function. Each stands where the block that dominates it ends, behind a condition that a branch
// has set: values of a block are seen in those that it dominates, and only there are they used. Triton's loops are
// operations, so that branches only lead on.
func (e *emitter) body(r *ttir.Region, out []*slot) {
	f := &flow{e: e, out: out, flags: map[*ttir.Block]string{}, args: map[*ttir.Block][]*slot{}}
	f.children = dominators(r)
	e.leave = append(e.leave, leaving{out})
	f.block(r.Blocks[0])
	e.leave = e.leave[:len(e.leave)-1]
}

type flow struct {
	e        *emitter
	out      []*slot
	flags    map[*ttir.Block]string
	args     map[*ttir.Block][]*slot
	children map[*ttir.Block][]*ttir.Block
}

// block emits a block, and behind it those that it dominates.
func (f *flow) block(b *ttir.Block) {
	e := f.e
	// Flags and arguments of the blocks behind this one are declared here, where all branches to them
	// are inside.
	for _, c := range f.children[b] {
		f.flags[c] = e.temp("to")
		e.say("bool ", f.flags[c], " = false;")
		f.args[c] = e.slots(c.Args, nil)
	}
	switch end := e.ops(b); {
	case end == nil:
	case end.Name == "tt.return" || end.Name == "tt.map_elementwise.return":
		e.assign(f.out, end.Operands)
	case end.Name == "cf.br":
		f.jump(end.Succs[0])
	default:
		n := e.block("if ("+e.scalar(end.Operands[0])+")", false, false, func() { f.jump(end.Succs[0]) })
		n.Other = []*tree.Node{}
		e.inside(&n.Other, func() { f.jump(end.Succs[1]) })
	}
	e.closeLoop()
	for _, c := range f.children[b] {
		e.block("if ("+f.flags[c]+")", true, false, func() {
			e.enter(c.Args, f.args[c])
			f.block(c)
		})
	}
}

// jump gives a block its arguments and sets its flag.
func (f *flow) jump(s ttir.Succ) {
	f.e.assign(f.args[s.To], s.Args)
	f.e.say(f.flags[s.To], " = true;")
}

// dominators gives each block the blocks that it dominates immediately, in an order in which branches lead on.
func dominators(r *ttir.Region) map[*ttir.Block][]*ttir.Block {
	order := ordered(r)
	before := map[*ttir.Block][]*ttir.Block{}
	for _, b := range order {
		for _, s := range b.Terminator().Succs {
			before[s.To] = append(before[s.To], b)
		}
	}
	parent := map[*ttir.Block]*ttir.Block{}
	place := func(b *ttir.Block) int { return slices.Index(order, b) }
	children := map[*ttir.Block][]*ttir.Block{}
	// The usual way to find dominators: where two paths to a block meet first, going back.
	for _, b := range order[1:] {
		d := before[b][0]
		for _, x := range before[b][1:] {
			for d != x {
				if place(d) > place(x) {
					d = parent[d]
				} else {
					x = parent[x]
				}
			}
		}
		parent[b] = d
		children[d] = append(children[d], b)
	}
	return children
}

// ordered are the blocks that can be reached, each behind all that branch to it.
func ordered(r *ttir.Region) (order []*ttir.Block) {
	state := map[*ttir.Block]int{}
	var visit func(*ttir.Block)
	visit = func(b *ttir.Block) {
		state[b] = 1
		end := b.Terminator()
		// Depth first from the back, so that the reversed order follows the text.
		for i := len(end.Succs) - 1; i >= 0; i-- {
			switch to := end.Succs[i].To; state[to] {
			case 0:
				visit(to)
			case 1:
				refuse(end, "", "a loop made of branches is not supported")
			}
		}
		state[b] = 2
		order = append(order, b)
	}
	visit(r.Blocks[0])
	slices.Reverse(order)
	return order
}
