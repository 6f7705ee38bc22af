package trace

import (
	"slices"

	"github.com/paddle-mps/paddle-mps/core/eager"
	"github.com/paddle-mps/paddle-mps/core/execute"
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/core/tape"
)

// Gradients of the gradients of traced functions. A pullback has no gradient by itself: it reads values on the way through the
// function, and a gradient of it would end there. So the calls of the function are traced once more, with a backward pass that is
// recorded, as a program of its own that computes the gradients from the arguments:
//
//	function: in x, w            out y
//	twice:    in x, dy, w        out dx, dw, which are traced, with gradients, as results of x, dy and w
//
// The program has the arguments of the function in their order, then the gradients of those results that ask for some, and captures
// what the function has captured. Its results are in the order of Pullback.to.
//
// A recorded pass runs the pullback as any pass does, because most gradients are not differentiated again. Only a pass through what
// it has computed runs this program, and then the pullback of that. Results of this run may be differentiated again in the same way.

// differentiated is a recorded backward pass through a run of a program: its operands are those of the run, and behind
// them the gradients of the results.
type differentiated struct {
	of       *Pullback
	in       []*runtime.Tensor // arguments and gradients of results, nil for one that there was none of or that nothing depends on; handles of its own
	versions []uint32          // of their memory
}

// The histories of the operands are those of the node, and not kept here: a tensor that named them would keep their nodes alive for
// as long as the gradients, and the node that end makes does so already.

// differentiated makes gradients that a recorded pass has computed results of a function, whose gradient is that of twice.
func (r *recorded) differentiated(b runtime.BackwardPass, n *runtime.Node, dy, dx []*runtime.Tensor) error {
	d := &differentiated{of: r.Pullback}
	r.Refs.Add(1)
	for _, t := range append(slices.Clone(r.arguments), dy...) {
		same, version := (*runtime.Tensor)(nil), uint32(0)
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
	b.End(n, dy, dx, &runtime.Function{Through: d.through, Close: d.close, Back: r.Pullback})
	return nil
}

// close frees the handles.
func (d *differentiated) close() {
	d.of.program.Context().Runtime.FreeAll(d.in)
	d.in = nil
	d.of.Release()
}

// through computes the gradients of the operands from those of the gradients. n is the node that end has made.
//
// It runs twice for the sake of what this keeps for its pullback, and then goes through the run as a pass does. A recorded pass thereby
// records that run's gradients in the same way, so that there are gradients of every order. No hook is called on the way.
func (d *differentiated) through(b runtime.BackwardPass, n *runtime.Node, of []*runtime.Tensor) ([]*runtime.Tensor, error) {
	twice, err := d.of.secondOrder()
	if err != nil {
		return nil, err
	}
	if twice.Gradient == nil { // gradients that depend on nothing, as those of a sum
		return make([]*runtime.Tensor, len(n.In)), nil
	}
	in, err := d.operands(n)
	rt := d.of.program.Context().Runtime
	defer rt.FreeAll(in)
	if err != nil {
		return nil, err
	}
	made, err := twice.RunWith(in, nil, runtime.Recording, nil, nil)
	if err != nil {
		return nil, err
	}
	defer rt.FreeAll(made)
	h := made[PullbackOf(twice).of[0]].HoldHistory()
	if h == nil { // no operand asks any more
		return make([]*runtime.Tensor, len(n.In)), nil
	}
	defer h.Node.Release()
	f := h.Node.RetainFunction()
	defer f.Release()
	dy := make([]*runtime.Tensor, len(PullbackOf(twice).of))
	for i, at := range PullbackOf(twice).of {
		dy[i] = of[at]
	}
	dx, err := b.Call(h.Node, f, dy)
	if err != nil {
		return dx, err
	}
	return d.ordered(n, twice, dx), nil
}

// operands are the arguments of twice, with the histories that the operands of the node have.
func (d *differentiated) operands(n *runtime.Node) (in []*runtime.Tensor, err error) {
	given := d.of.Function.Given
	types := d.of.Function.Source().Outputs()
	for i, t := range d.in {
		if t == nil {
			var kind *op.Type
			if i < given {
				kind = &d.of.Function.AllInputs[i]
			} else {
				kind = &types[d.of.of[i-given]]
			}
			made, err := eager.Zeros(kind, d.of.program.Context())
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
			same.InheritHistory(n.In[at].From)
		}
	}
	return in, nil
}

// ordered puts gradients of the operands of twice where the node has these operands. Those that nothing asks for are freed.
func (d *differentiated) ordered(n *runtime.Node, twice *execute.Program, dx []*runtime.Tensor) []*runtime.Tensor {
	given := d.of.Function.Given
	found := make([]*runtime.Tensor, len(n.In))
	for i, at := range PullbackOf(twice).to {
		to := -1
		switch {
		case at < given:
			to = slices.Index(d.of.to, at)
		case at < twice.Given:
			to = len(d.of.to) + at - given
		default: // a captured tensor
			h := twice.Asking[at-twice.Given].History.Load()
			to = slices.IndexFunc(d.of.Function.Asking, func(t *runtime.Tensor) bool {
				k := t.History.Load()
				return k.Node == h.Node && k.Index == h.Index
			})
			to = slices.Index(d.of.to, given+to)
		}
		if to >= 0 && n.In[to].From != nil {
			found[to] = dx[i]
		} else if dx[i] != nil {
			d.of.program.Context().Runtime.Free(dx[i].Handle())
		}
	}
	return found
}

// secondOrder is the program that computes the gradients from the arguments; it is traced when it is first asked for.
func (b *Pullback) secondOrder() (*execute.Program, error) {
	b.Tracing.Lock() // no function of the caller is called, as in replays.tracing
	defer b.Tracing.Unlock()
	if b.Second == nil {
		made, err := secondOrder(b.Function)
		if err != nil {
			return nil, err
		}
		b.Second = made
	}
	return b.Second, nil
}

// noSecondOrder is the error of functions of which only the first gradient is known.
func noSecondOrder(why string) error {
	return status.Errorf(status.Unsupported, "[jit] the gradient of the traced function has no gradient, because %s; want create_graph=False, or both gradients taken within the function", why)
}

// What a graph does not tell is refused: see replay.go. A hook or a PyLayer is found as it is there, by tracing the calls again
// and comparing the pullback with the one that the function had.

// secondOrder traces the calls of the program with a recorded backward pass, from its arguments and the gradients of its results to the
// gradients in the order of back.to.
func secondOrder(p *execute.Program) (*execute.Program, error) {
	g := p.Source().(*graph.Graph)
	for _, n := range g.Nodes() {
		if n.Row.Random {
			return nil, noSecondOrder("[" + n.Row.Name + "] would draw other numbers")
		}
	}
	if len(p.ChangedInputs) > 0 {
		return nil, noSecondOrder("the function writes into a tensor")
	}
	again, err := replayCalls(p, g, PullbackOf(p).of, p.Quiet)
	if err != nil {
		return nil, err
	}
	_, same := differsFrom(again, p)
	again.Close()
	if !same {
		return nil, noSecondOrder("it is not that of the calls alone: the function has a hook or a gradient of its own")
	}
	tr, err := begin(p.Context(), p.Given+len(PullbackOf(p).of))
	if err != nil {
		return nil, err
	}
	r := &replay{Trace: tr, graph: g, quiet: p.Quiet, operands: map[graph.Value]runtime.Operand{}}
	defer func() { p.Context().Runtime.FreeAll(r.made) }()
	made, err := r.secondOrder(p)
	if err != nil {
		tr.Abort()
		return nil, err
	}
	return made, nil
}

// secondOrder makes the calls and the pass, and the program of both.
func (r *replay) secondOrder(p *execute.Program) (*execute.Program, error) {
	inputs, outputs := r.graph.Ends(p.Results)
	pass := tape.Pass{Keep: true, Again: true, Ends: true}
	if err := r.arguments(p, inputs); err != nil {
		return nil, err
	}
	for _, at := range PullbackOf(p).of {
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
	for _, at := range PullbackOf(p).of {
		t, err := r.operand(outputs[at])
		if err != nil {
			return nil, err
		}
		pass.Of = append(pass.Of, t.Tensor)
	}
	for _, at := range PullbackOf(p).to {
		if at < p.Given {
			pass.To = append(pass.To, r.operands[inputs[at]].Tensor)
		} else {
			pass.To = append(pass.To, p.Asking[at-p.Given])
		}
	}
	found, err := tape.Backward(r.ctx.Runtime, &pass, r.stream)
	r.made = append(r.made, found...)
	if err == nil && slices.Contains(found, nil) {
		err = noSecondOrder("it is not that of the calls alone")
	}
	if err != nil {
		return nil, err
	}
	return r.end(found, nil, nil)
}
