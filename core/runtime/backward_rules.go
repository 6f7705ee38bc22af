package runtime

import (
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// through computes the gradients of the operands.
//
// Operands that ask for no gradient cost nothing: the rule is told which are wanted, and is not asked at all where none is.
func (b *backward) through(n *node, dy []*Tensor) error {
	wants, any := make([]bool, len(n.in)), false
	for i := range n.in {
		wants[i] = b.wanted(&n.in[i])
		any = any || wants[i]
	}
	if !any {
		return nil
	}
	dx, err := b.differentiate(n, dy, wants)
	if err != nil {
		b.rt.freeAll(dx)
		return err
	}
	for i, d := range dx {
		if d == nil {
			continue
		}
		dx[i] = nil
		if !wants[i] {
			b.rt.Free(d.handle)
			continue
		}
		d, err = b.move(d, n.in[i].ctx)
		if err == nil && n.in[i].displaced != 0 {
			d, err = b.returnTo(&n.in[i], d)
		}
		if err == nil {
			err = b.add(n.in[i].from, d)
		}
		if err != nil {
			b.rt.freeAll(dx)
			return err
		}
	}
	return nil
}

// move brings a gradient to the device of its tensor, where it is on another: a 0-d operand may have been on the CPU.
//
// The copy is recorded where the pass is.
func (b *backward) move(d *Tensor, to *Context) (*Tensor, error) {
	if d.store.ctx == to {
		return d, nil
	}
	defer b.rt.Free(d.handle)
	return b.rt.In(b.mode).To(d, to, false, b.on)
}

// differentiate asks the rule of the node. What it kept is released unless another pass is to come.
//
// The rule runs with the mode of the pass: recorded, its calls become nodes like any others, with higher numbers than all
// that there are. So gradients of gradients need no rules of their own.
func (b *backward) differentiate(n *node, dy []*Tensor, wants []bool) ([]*Tensor, error) {
	if n.kind == movedNode {
		same, err := dy[0].Same()
		return []*Tensor{same}, err
	}
	if err := n.whole(); err != nil {
		return nil, err
	}
	if n.kind != otherNode {
		dx, err := b.throughKind(n, dy[0])
		if err == nil {
			b.spend(n)
		}
		return dx, err
	}
	if f := n.function(); f != nil {
		defer f.release()
		dx, err := b.Call(n, f, dy)
		if err == nil {
			b.spend(n)
		}
		return dx, err
	}
	if n.row == nil { // a function that another pass has just spent
		return nil, n.whole()
	}
	mode := b.mode
	if n.row.Grad.Once {
		mode = 0
	}
	c := calculator{rt: b.rt, ctx: dyContext(dy), on: b.on, mode: mode}
	defer c.free()
	g := op.Gradient{Calls: op.Calls{Calculator: &c}, Row: n.row, Attrs: n.attrs, Wants: wants}
	if err := c.unpack(n, &g); err != nil {
		return nil, err
	}
	for _, d := range dy {
		if d == nil {
			g.Dy = append(g.Dy, op.NoVar)
		} else {
			g.Dy = append(g.Dy, c.push(operandVar{Operand: Operand{Tensor: d}}))
		}
	}
	if err := g.Differentiate(); err != nil {
		return nil, err
	}
	dx := make([]*Tensor, len(g.Dx))
	for i, v := range g.Dx {
		if v == op.NoVar {
			continue
		}
		var err error
		if dx[i], err = c.take(v); err != nil {
			return dx, err
		}
	}
	if n.row.Grad.Once && b.mode != 0 {
		why := status.Errorf(status.Unsupported, "[%s] its gradient has no gradient; want create_graph=False", n.row.Name)
		b.End(n, dy, dx, &Function{Backward: func([]*Tensor) ([]*Tensor, error) { return nil, why }})
	}
	b.spend(n)
	return dx, nil
}

// End makes gradients of a recorded pass the results of a function, which a pass calls that goes through them. They depend on
// whatever the node was computed from and, behind that, on the gradients of the node's results. An operand that asks for nothing
// has its place, and no history.
//
// A pass may be recorded only in case that it is differentiated again, as those of paddle.func are. So the pass that is recorded
// costs little and succeeds, and what is missing is an error of the one that would need it.
func (b *backward) End(n *node, dy, dx []*Tensor, f *Function) {
	end := newNode(nil, nil)
	end.custom = f
	f.refs.Add(1)
	end.refs.Add(1)
	defer end.release()
	for i := range n.in {
		h := n.in[i].from
		if h != nil {
			h.node.refs.Add(1)
		}
		end.in = append(end.in, kept{Type: n.in[i].Type, ctx: n.in[i].ctx, from: h})
	}
	for _, d := range dy {
		k := kept{}
		if d != nil {
			k = kept{Type: op.Type{DType: d.dtype, Shape: d.Shape}, ctx: d.store.ctx, from: d.holdAsked()}
		}
		end.in = append(end.in, k)
	}
	for i, d := range dx {
		if d == nil {
			end.out = append(end.out, kept{})
			continue
		}
		end.keepResult(i, d)
		d.inherit(&history{node: end, index: i})
	}
}

// spend releases what a node kept, unless another pass is to come.
func (b *backward) spend(n *node) {
	if b.pass.Keep || b.pass.Again {
		return
	}
	var room [4]*storage
	n.mu.Lock()
	values := n.drop(room[:0])
	f := n.custom
	n.custom = nil
	n.mu.Unlock()
	releaseValues(values)
	if f != nil {
		f.release() // what it has kept of the call may be its own result
	}
}

// dyContext is the device of the gradients, at least one of which there is.
func dyContext(dy []*Tensor) *Context {
	for _, d := range dy {
		if d != nil {
			return d.store.ctx
		}
	}
	return nil
}

// Records reports whether the gradients have gradients themselves.
func (b *backward) Records() bool { return b.mode.has(Recording) }

// Call calls the function of the caller.
func (b *backward) Call(n *node, f *Function, dy []*Tensor) ([]*Tensor, error) {
	var dx []*Tensor
	var err error
	if f.through != nil {
		dx, err = f.through(b, n, dy)
	} else {
		dx, err = f.Backward(dy)
	}
	if err != nil {
		return dx, err
	}
	if len(dx) != len(n.in) {
		return dx, status.Errorf(status.Invalid, "[backward] the function returned %d gradients; want %d, one an operand", len(dx), len(n.in))
	}
	for i, d := range dx {
		if want := &n.in[i]; d != nil && (d.Shape != want.Shape || d.dtype != want.DType && want.displaced == 0) {
			return dx, status.Errorf(status.Invalid, "[backward] the function returned gradient %d as %s of shape %s; want %s of shape %s", i, d.dtype, &d.Shape, want.DType, &want.Shape)
		}
	}
	return dx, nil
}

// returnTo brings the gradient of a displaced operand back to its dtype and marks it as displaced.
func (b *backward) returnTo(k *kept, d *Tensor) (*Tensor, error) {
	if d.dtype != k.DType {
		defer b.rt.Free(d.handle)
		made, err := b.rt.In(b.mode).Call(casting, []Operand{{Tensor: d}}, castTo(k.DType), nil, b.on)
		if err != nil {
			return nil, err
		}
		d = made[0]
	}
	d.store.displace(k.displaced)
	return d, nil
}
