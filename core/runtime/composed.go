package runtime

import (
	"slices"
	"sync/atomic"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// Eager calls of composites. The recipe of such a call has a step for each call of the composite. Where the operands are
// contiguous, as they mostly are, a recipe that is kept has a second way: one program of the device, with all steps, in which
// elementwise ones run as a group and their intermediate results take no memory.
//
// A call that cannot go this way makes the steps one by one, with the same bits.

// whole is a recipe as one program.
type whole struct {
	plan    *device.Plan
	key     device.Key
	refused atomic.Bool // the device turned out to lack a step
}

// wholeOf is a recipe of the call as one program; nil where there is none.
func (e *EagerCall) wholeOf(r *Recipe, at op.Attrs) *whole {
	c := e.Stream.ctx
	if e.Row.Calls == nil || e.into || c.fuses == nil || len(r.Steps) < 2 {
		return nil
	}
	b := graph.NewBuilder()
	in := make([]graph.Value, len(e.args))
	for i := range e.args {
		switch a := &e.args[i]; {
		case a.view != nil && a.view.IsContiguous():
			in[i] = b.Input(op.Type{DType: a.view.DType, Shape: a.view.Shape})
		case a.view == nil && !a.number.Set():
			in[i] = b.Scalar(op.Value{})
		default:
			return nil
		}
	}
	out, err := b.Call(e.Row, in, slices.Clone(at))
	if err != nil {
		return nil
	}
	g := b.Build(out...).Expand(c.composes).Rewrite(graph.Common | graph.DeadCode)
	p, err := g.PlanFor(c.composes, c.fuses)
	if err != nil || p.Draws > 0 || len(p.Constants) > 0 || c.SupportsAll(&p.Plan) != nil {
		return nil
	}
	w := &whole{plan: &p.Plan, key: device.Key{Op: e.Row.ID}}
	w.key.AppendRest(e.key) // no key of a call has no operands
	return w
}

// runsWhole reports whether the call can go the way of one program: plans want aligned operands.
func (e *EagerCall) runsWhole(r *Recipe) bool {
	if r.whole == nil || r.whole.refused.Load() {
		return false
	}
	for i := range e.args {
		// SAFETY: only the alignment of the address is looked at.
		if v := e.args[i].view; v != nil && uintptr(v.Addr)%device.PlanAlign != 0 {
			return false
		}
	}
	return true
}

// runWhole submits the program. The first buffers of the recipe are those of the results. ErrLowered: the device lacks
// a step, and the call has to be made step by step.
func (e *EagerCall) runWhole(r *Recipe) error {
	if err := e.allocate(r.Buffers[:len(r.Out)]); err != nil {
		return err
	}
	l := e.Stream.ctx.Runtime.NewLaunch(e.Stream.ctx, e.Stream)
	for i := range e.args {
		if v := e.args[i].view; v != nil {
			l.ReadView(v)
		}
	}
	for i := range r.Out {
		l.writePart(&e.bases[r.Out[i].Buffer], &r.Out[i])
	}
	l.whole, l.nonBlocking = r.whole, e.nonBlocking
	err := l.run(e.Row)
	if status.CodeOf(err) == status.Unsupported {
		r.whole.refused.Store(true)
		return ErrLowered
	}
	return err
}

// SupportsAll refuses plans with dtypes that the device does not have, with the error that a call of the
// operator would return.
func (c *Context) SupportsAll(plan *device.Plan) error {
	for i := range plan.Steps {
		call := plan.Steps[i].Call
		for _, list := range [2][]device.Operand{call.In, call.Out} {
			for j := range list {
				if err := c.Supports(op.ByID(call.Op).Name, list[j].DType); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
