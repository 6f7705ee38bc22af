package tape

import (
	"github.com/paddle-mps/paddle-mps/core/eager"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// through computes the gradients of the operands.
//
// Operands that ask for no gradient cost nothing: the rule is told which are wanted, and is not asked at all where none is.
func (b *backward) through(n *runtime.Node, dy []*runtime.Tensor) error {
	wants, any := make([]bool, len(n.In)), false
	for i := range n.In {
		wants[i] = b.wanted(&n.In[i])
		any = any || wants[i]
	}
	if !any {
		return nil
	}
	dx, err := b.differentiate(n, dy, wants)
	if err != nil {
		b.rt.FreeAll(dx)
		return err
	}
	for i, d := range dx {
		if d == nil {
			continue
		}
		dx[i] = nil
		if !wants[i] {
			b.rt.Free(d.Handle())
			continue
		}
		d, err = b.move(d, n.In[i].Context)
		if err == nil && n.In[i].Displaced != 0 {
			d, err = b.returnTo(&n.In[i], d)
		}
		if err == nil {
			err = b.add(n.In[i].From, d)
		}
		if err != nil {
			b.rt.FreeAll(dx)
			return err
		}
	}
	return nil
}

// move brings a gradient to the device of its tensor, where it is on another: a 0-d operand may have been on the CPU.
//
// The copy is recorded where the pass is.
func (b *backward) move(d *runtime.Tensor, to *runtime.Context) (*runtime.Tensor, error) {
	if d.Store.Context == to {
		return d, nil
	}
	defer b.rt.Free(d.Handle())
	return eager.In(b.rt, b.mode).To(d, to, false, b.on)
}

// differentiate asks the rule of the node. What it kept is released unless another pass is to come.
//
// The rule runs with the mode of the pass: recorded, its calls become nodes like any others, with higher numbers than all
// that there are. So gradients of gradients need no rules of their own.
func (b *backward) differentiate(n *runtime.Node, dy []*runtime.Tensor, wants []bool) ([]*runtime.Tensor, error) {
	if n.Kind == runtime.MovedNode {
		same, err := dy[0].Same()
		return []*runtime.Tensor{same}, err
	}
	if err := n.CheckUnspent(); err != nil {
		return nil, err
	}
	if n.Kind != runtime.RuleNode {
		dx, err := b.throughKind(n, dy[0])
		if err == nil {
			b.spend(n)
		}
		return dx, err
	}
	if f := n.RetainFunction(); f != nil {
		defer f.Release()
		dx, err := b.Call(n, f, dy)
		if err == nil {
			b.spend(n)
		}
		return dx, err
	}
	if n.Row == nil { // a function that another pass has just spent
		return nil, n.CheckUnspent()
	}
	mode := b.mode
	if n.Row.Grad.Once {
		mode = 0
	}
	c := eager.Calculator{Runtime: b.rt, Context: dyContext(dy), Stream: b.on, Mode: mode}
	defer c.Free()
	g := op.Gradient{Calls: op.Calls{Calculator: &c}, Row: n.Row, Attrs: n.Attrs, Wants: wants}
	if err := c.Unpack(n, &g); err != nil {
		return nil, err
	}
	for _, d := range dy {
		if d == nil {
			g.Dy = append(g.Dy, op.NoVar)
		} else {
			g.Dy = append(g.Dy, c.Push(eager.Variable{Operand: runtime.Operand{Tensor: d}}))
		}
	}
	if err := g.Differentiate(); err != nil {
		return nil, err
	}
	dx := make([]*runtime.Tensor, len(g.Dx))
	for i, v := range g.Dx {
		if v == op.NoVar {
			continue
		}
		var err error
		if dx[i], err = c.Take(v); err != nil {
			return dx, err
		}
	}
	if n.Row.Grad.Once && b.mode != 0 {
		why := status.Errorf(status.Unsupported, "[%s] its gradient has no gradient; want create_graph=False", n.Row.Name)
		b.End(n, dy, dx, &runtime.Function{Backward: func([]*runtime.Tensor) ([]*runtime.Tensor, error) { return nil, why }})
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
func (b *backward) End(n *runtime.Node, dy, dx []*runtime.Tensor, f *runtime.Function) {
	end := runtime.NewNode(nil, nil)
	end.Custom = f
	f.Refs.Add(1)
	end.Refs.Add(1)
	defer end.Release()
	for i := range n.In {
		h := n.In[i].From
		if h != nil {
			h.Node.Refs.Add(1)
		}
		end.In = append(end.In, runtime.NodeValue{Type: n.In[i].Type, Context: n.In[i].Context, From: h})
	}
	for _, d := range dy {
		k := runtime.NodeValue{}
		if d != nil {
			k = runtime.NodeValue{Type: op.Type{DType: d.DType, Shape: d.Shape}, Context: d.Store.Context, From: d.HoldAskedHistory()}
		}
		end.In = append(end.In, k)
	}
	for i, d := range dx {
		if d == nil {
			end.Out = append(end.Out, runtime.NodeValue{})
			continue
		}
		end.KeepResult(i, d)
		d.InheritHistory(&runtime.History{Node: end, Index: i})
	}
}

// spend releases what a node kept, unless another pass is to come.
func (b *backward) spend(n *runtime.Node) {
	if b.pass.Keep || b.pass.Again {
		return
	}
	var room [4]*runtime.Storage
	n.Mu.Lock()
	values := n.DropValues(room[:0])
	f := n.Custom
	n.Custom = nil
	n.Mu.Unlock()
	runtime.ReleaseValues(values)
	if f != nil {
		f.Release() // what it has kept of the call may be its own result
	}
}

// dyContext is the device of the gradients, at least one of which there is.
func dyContext(dy []*runtime.Tensor) *runtime.Context {
	for _, d := range dy {
		if d != nil {
			return d.Store.Context
		}
	}
	return nil
}

// Records reports whether the gradients have gradients themselves.
func (b *backward) Records() bool { return b.mode.Has(runtime.Recording) }

// Call calls the function of the caller.
func (b *backward) Call(n *runtime.Node, f *runtime.Function, dy []*runtime.Tensor) ([]*runtime.Tensor, error) {
	var dx []*runtime.Tensor
	var err error
	if f.Through != nil {
		dx, err = f.Through(b, n, dy)
	} else {
		dx, err = f.Backward(dy)
	}
	if err != nil {
		return dx, err
	}
	if len(dx) != len(n.In) {
		return dx, status.Errorf(status.Invalid, "[backward] the function returned %d gradients; want %d, one an operand", len(dx), len(n.In))
	}
	for i, d := range dx {
		if want := &n.In[i]; d != nil && (d.Shape != want.Shape || d.DType != want.DType && want.Displaced == 0) {
			return dx, status.Errorf(status.Invalid, "[backward] the function returned gradient %d as %s of shape %s; want %s of shape %s", i, d.DType, &d.Shape, want.DType, &want.Shape)
		}
	}
	return dx, nil
}

// returnTo brings the gradient of a displaced operand back to its dtype and marks it as displaced.
func (b *backward) returnTo(k *runtime.NodeValue, d *runtime.Tensor) (*runtime.Tensor, error) {
	if d.DType != k.DType {
		defer b.rt.Free(d.Handle())
		made, err := eager.In(b.rt, b.mode).Call(eager.CastRow, []runtime.Operand{{Tensor: d}}, eager.CastTo(k.DType), nil, b.on)
		if err != nil {
			return nil, err
		}
		d = made[0]
	}
	d.Store.Displace(k.Displaced)
	return d, nil
}
