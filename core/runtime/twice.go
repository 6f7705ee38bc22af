package runtime

import (
	"slices"

	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// Gradients of the gradients of traced functions. A pullback has no gradient by itself: it reads values on the way through the
// function, and a gradient of it would end there. So the calls of the function are traced once more, with a backward pass that is
// recorded, as a program of its own that computes the gradients from the arguments:
//
//	function: in x, w            out y
//	twice:    in x, dy, w        out dx, dw, which are traced, with gradients, as results of x, dy and w
//
// The program has the arguments of the function in their order, then the gradients of those results that ask for some, and captures
// what the function has captured. Its results are in the order of pullback.to.
//
// A recorded pass runs the pullback as any pass does, because most gradients are not differentiated again. Only a pass through what
// it has computed runs this program, and then the pullback of that. Results of this run may be differentiated again in the same way.

// differentiated is a recorded backward pass through a run of a program: its operands are those of the run, and behind
// them the gradients of the results.
type differentiated struct {
	of       *pullback
	in       []*Tensor // arguments and gradients of results, nil for one that there was none of or that nothing depends on; handles of its own
	versions []uint32  // of their memory
}

// The histories of the operands are those of the node, and not kept here: a tensor that named them would keep their nodes alive for
// as long as the gradients, and the node that end makes does so already.

// differentiated makes gradients that a recorded pass has computed results of a function, whose gradient is that of twice.
func (r *recorded) differentiated(b backwardPass, n *node, dy, dx []*Tensor) error {
	d := &differentiated{of: r.pullback}
	r.refs.Add(1)
	for _, t := range append(slices.Clone(r.arguments), dy...) {
		same, version := (*Tensor)(nil), uint32(0)
		if t != nil {
			var err error
			if same, err = t.Alias(); err != nil {
				d.close()
				return err
			}
			version = t.Version()
		}
		d.in, d.versions = append(d.in, same), append(d.versions, version)
	}
	copy(d.versions, r.argumentsAt) // arguments may have changed since the call
	b.End(n, dy, dx, &Function{through: d.through, Close: d.close, back: r.pullback})
	return nil
}

// close frees the handles.
func (d *differentiated) close() {
	d.of.program.ctx.rt.freeAll(d.in)
	d.in = nil
	d.of.Release()
}

// through computes the gradients of the operands from those of the gradients. n is the node that end has made.
//
// It runs twice for the sake of what this keeps for its pullback, and then goes through the run as a pass does. A recorded pass thereby
// records that run's gradients in the same way, so that there are gradients of every order. No hook is called on the way.
func (d *differentiated) through(b backwardPass, n *node, of []*Tensor) ([]*Tensor, error) {
	twice, err := d.of.twice()
	if err != nil {
		return nil, err
	}
	if twice.back == nil { // gradients that depend on nothing, as those of a sum
		return make([]*Tensor, len(n.in)), nil
	}
	in, err := d.operands(n)
	rt := d.of.program.ctx.rt
	defer rt.freeAll(in)
	if err != nil {
		return nil, err
	}
	made, err := twice.run(in, nil, Recording, nil, nil)
	if err != nil {
		return nil, err
	}
	defer rt.freeAll(made)
	h := made[pullbackOf(twice).of[0]].hold()
	if h == nil { // no operand asks any more
		return make([]*Tensor, len(n.in)), nil
	}
	defer h.node.release()
	f := h.node.function()
	defer f.release()
	dy := make([]*Tensor, len(pullbackOf(twice).of))
	for i, at := range pullbackOf(twice).of {
		dy[i] = of[at]
	}
	dx, err := b.Call(h.node, f, dy)
	if err != nil {
		return dx, err
	}
	return d.ordered(n, twice, dx), nil
}

// operands are the arguments of twice, with the histories that the operands of the node have.
func (d *differentiated) operands(n *node) (in []*Tensor, err error) {
	given := d.of.function.given
	types := d.of.function.source.Outputs()
	for i, t := range d.in {
		if t == nil {
			var kind *op.Type
			if i < given {
				kind = &d.of.function.inputs[i]
			} else {
				kind = &types[d.of.of[i-given]]
			}
			made, err := zeros(kind, d.of.program.ctx)
			if err != nil {
				return in, err
			}
			in = append(in, made)
			continue
		}
		if now := t.Version(); now != d.versions[i] {
			return in, changedInPlace(now, d.versions[i])
		}
		same, err := t.Alias()
		if err != nil {
			return in, err
		}
		in = append(in, same)
		at := len(d.of.to) + i - given
		if i < given {
			at = slices.Index(d.of.to, i)
		}
		if at >= 0 {
			same.inherit(n.in[at].from)
		}
	}
	return in, nil
}

// ordered puts gradients of the operands of twice where the node has these operands. Those that nothing asks for are freed.
func (d *differentiated) ordered(n *node, twice *Program, dx []*Tensor) []*Tensor {
	given := d.of.function.given
	found := make([]*Tensor, len(n.in))
	for i, at := range pullbackOf(twice).to {
		to := -1
		switch {
		case at < given:
			to = slices.Index(d.of.to, at)
		case at < twice.given:
			to = len(d.of.to) + at - given
		default: // a captured tensor
			h := twice.asking[at-twice.given].history.Load()
			to = slices.IndexFunc(d.of.function.asking, func(t *Tensor) bool {
				k := t.history.Load()
				return k.node == h.node && k.index == h.index
			})
			to = slices.Index(d.of.to, given+to)
		}
		if to >= 0 && n.in[to].from != nil {
			found[to] = dx[i]
		} else if dx[i] != nil {
			d.of.program.ctx.rt.Free(dx[i].handle)
		}
	}
	return found
}

// twice is the program that computes the gradients from the arguments; it is traced when it is first asked for.
func (b *pullback) twice() (*Program, error) {
	b.tracing.Lock() // no function of the caller is called, as in replays.tracing
	defer b.tracing.Unlock()
	if b.second == nil {
		made, err := b.function.twice()
		if err != nil {
			return nil, err
		}
		b.second = made
	}
	return b.second, nil
}

// once is the error of functions of which only the first gradient is known.
func once(why string) error {
	return status.Errorf(status.Unsupported, "[jit] the gradient of the traced function has no gradient, because %s; want create_graph=False, or both gradients taken within the function", why)
}

// What a graph does not tell is refused: see replay.go. A hook or a PyLayer is found as it is there, by tracing the calls again
// and comparing the pullback with the one that the function had.

// twice traces the calls of the program with a recorded backward pass, from its arguments and the gradients of its results to the
// gradients in the order of back.to.
func (p *Program) twice() (*Program, error) {
	g := p.source.(*graph.Graph)
	for _, n := range g.Nodes() {
		if n.Row.Random {
			return nil, once("[" + n.Row.Name + "] would draw other numbers")
		}
	}
	if len(p.changed) > 0 {
		return nil, once("the function writes into a tensor")
	}
	again, err := p.replay(g, pullbackOf(p).of, p.quiet)
	if err != nil {
		return nil, err
	}
	_, same := again.differs(p)
	again.Close()
	if !same {
		return nil, once("it is not that of the calls alone: the function has a hook or a gradient of its own")
	}
	tr, err := p.ctx.newTrace(p.given + len(pullbackOf(p).of))
	if err != nil {
		return nil, err
	}
	r := &replay{Trace: tr, graph: g, quiet: p.quiet, operands: map[graph.Value]Operand{}}
	defer func() { p.ctx.rt.freeAll(r.made) }()
	made, err := r.twice(p)
	if err != nil {
		tr.Abort()
		return nil, err
	}
	return made, nil
}

// twice makes the calls and the pass, and the program of both.
func (r *replay) twice(p *Program) (*Program, error) {
	inputs, outputs := r.graph.Ends(p.results)
	pass := Pass{Keep: true, Again: true, Ends: true}
	if err := r.arguments(p, inputs); err != nil {
		return nil, err
	}
	for _, at := range pullbackOf(p).of {
		dy, err := r.stand(r.graph.TypeOf(outputs[at]), true)
		if err != nil {
			return nil, err
		}
		r.made, pass.Dy = append(r.made, dy), append(pass.Dy, dy)
	}
	if err := r.captures(p, inputs); err != nil {
		return nil, err
	}
	if err := r.calls(); err != nil {
		return nil, err
	}
	for _, at := range pullbackOf(p).of {
		t, err := r.operand(outputs[at])
		if err != nil {
			return nil, err
		}
		pass.Of = append(pass.Of, t.Tensor)
	}
	for _, at := range pullbackOf(p).to {
		if at < p.given {
			pass.To = append(pass.To, r.operands[inputs[at]].Tensor)
		} else {
			pass.To = append(pass.To, p.asking[at-p.given])
		}
	}
	found, err := r.ctx.rt.Backward(&pass, r.stream)
	r.made = append(r.made, found...)
	if err == nil && slices.Contains(found, nil) {
		err = once("it is not that of the calls alone")
	}
	if err != nil {
		return nil, err
	}
	return r.end(found, nil, nil)
}
