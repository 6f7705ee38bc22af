package trace

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/paddle-mps/paddle-mps/core/eager"
	"github.com/paddle-mps/paddle-mps/core/execute"
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/core/tape"
)

// Gradients of traced functions. Where outputs of a trace ask for gradients, the backward pass from them to the arguments
// and captured tensors that ask for some is traced too. The graph is then divided: the calls of the function are the
// program; those of the pass are a second one, which reads values of the first that no caller sees. The first returns
// them besides its results, and a run of it records itself as a function with a gradient: a run of the second.

// An example, y = tanh(x * w) for an argument x and a captured w, both of which ask:
//
//	function: in x, w        out y, and y again for the pullback
//	pullback: in y, w, x, dy    out dx, dw
//
// Values that the pullback reads are either inputs of the function, of which the record keeps a view and the version, as
// nodes do; or results on the way, which the function returns and the record owns. They are freed when the pass has used them.
// An input that the function changes is returned as it was, for the same reason. Gradients of the gradients need the arguments from
// which the values on the way were computed, so these are kept too; no other argument is.
//
// The pullback has no gradient itself. Gradients of gradients are those of another program: see secondorder.go.

// Pullback is the program of a backward pass.
type Pullback struct {
	program *execute.Program
	of      []int // results of the function that ask for gradients, and behind their number those of the inputs that it changes
	to      []int // arguments that do, and behind their number Program.Asking
	reads   []readBack
	needs   []bool       // by input of the function: whether what the pullback reads is it, or was computed from it
	Refs    atomic.Int32 // of the program of the function, and of its recorded runs

	Function *execute.Program // whose captured tensors are freed with the pullback; it may be closed otherwise
	Tracing  sync.Mutex
	Second   *execute.Program // see twice; under tracing
}

// PullbackOf is the pullback of a program; nil where it has none.
func PullbackOf(p *execute.Program) *Pullback {
	b, _ := p.Gradient.(*Pullback)
	return b
}

// Retain adds a reference to a pullback; false where the last one is gone.
func (b *Pullback) Retain() bool {
	for {
		refs := b.Refs.Load()
		if refs == 0 {
			return false
		}
		if b.Refs.CompareAndSwap(refs, refs+1) {
			return true
		}
	}
}

// Release drops a reference to a pullback.
func (b *Pullback) Release() {
	if b.Refs.Add(-1) > 0 {
		return
	}
	b.program.Close()
	if b.Second != nil {
		b.Second.Close()
	}
	b.Function.FreeCaptured()
}

// readBack is an input of a pullback: an input of the function, or else an output behind its results.
type readBack struct {
	input bool
	index int
}

// Gradients end at captured tensors, also at those that were computed from others that ask (Pass.Ends). Behind them the tape
// of the calls that were run goes on: a recorded run names the captured tensors as its operands.

// differentiate traces the backward pass of the outputs, and says what it is about. mu is not held. gradients are in the order
// of back.to; dy are the inputs of the pass in the graph. There is no pullback where no output depends on an input that asks.
//
// The pass keeps what was recorded (Pass.Keep): nodes of the trace go with its tensors, which their callers free.
func (tr *Trace) differentiate(outputs []*runtime.Tensor) (back *Pullback, dy []graph.Value, gradients []*runtime.Tensor, err error) {
	pass := tape.Pass{Keep: true, Ends: true}
	back = &Pullback{}
	for i, t := range outputs {
		if t != nil && t.Asks() {
			back.of, pass.Of = append(back.of, i), append(pass.Of, t)
		}
	}
	var to []int
	for i, s := range tr.sources[:tr.given] {
		if t := s.tensor; t.Asks() {
			to, pass.To = append(to, i), append(pass.To, t)
		}
	}
	for i, t := range tr.asking {
		to, pass.To = append(to, tr.given+i), append(pass.To, t)
	}
	if len(pass.Of) == 0 || len(to) == 0 {
		return nil, nil, nil, nil
	}
	defer func() { tr.ctx.Runtime.FreeAll(pass.Dy) }()
	for _, t := range pass.Of {
		v := tr.builder.Input(op.Type{DType: t.DType, Shape: t.Shape})
		d, err := tr.tensor(v)
		if err != nil {
			return nil, nil, nil, err
		}
		dy, pass.Dy = append(dy, v), append(pass.Dy, d)
	}
	found, err := tape.Backward(tr.ctx.Runtime, &pass, tr.stream)
	if err != nil {
		return nil, nil, nil, err
	}
	for i, t := range found {
		if t != nil {
			back.to, gradients = append(back.to, to[i]), append(gradients, t)
		}
	}
	if len(gradients) == 0 {
		return nil, nil, nil, nil
	}
	return back, dy, gradients, nil
}

// divide makes the pullback of a graph whose nodes from first on are those of a backward pass. It returns the values of
// the function that the pullback reads, for the program of the function to return them. inputs are those of the function;
// where a run changes one, the program returns what it was.
func (tr *Trace) divide(g *graph.Graph, first int, inputs, dy, gradients []graph.Value, back *Pullback) (kept []graph.Value) {
	var in []graph.Value
	read := g.Read(first, gradients)
	back.needs = g.Behind(read, inputs, first)
	for _, v := range read {
		switch at := slices.Index(inputs, v); {
		case slices.Contains(dy, v):
			continue
		case at >= 0 && !tr.sources[at].changed:
			back.reads = append(back.reads, readBack{true, at})
		default:
			back.reads = append(back.reads, readBack{false, len(kept)})
			kept = append(kept, v)
		}
		in = append(in, v)
	}
	p := g.Part(first, len(g.Nodes()), append(in, dy...), gradients)
	back.program = execute.New(tr.ctx, p)
	back.Refs.Store(1)
	return kept
}

// Record makes the results of a run those of a function whose gradient is a run of the pullback. in are the inputs of the
// run, asking the captured tensors that ask for gradients, and kept the outputs behind the results and changes, which the record owns from now on.
func (b *Pullback) Record(in []*runtime.Tensor, given int, asking, results, kept []*runtime.Tensor) error {
	rt := b.program.Context().Runtime
	r := &recorded{Pullback: b, kept: slices.Clone(kept)} // kept is in the list of the caller, who may use it again
	b.Refs.Add(1)
	operands := make([]*runtime.Tensor, len(b.to))
	for i, at := range b.to {
		if at < given {
			operands[i] = in[at]
		} else {
			operands[i] = asking[at-given]
		}
	}
	tensors, versions := make([]*runtime.Tensor, given+len(b.reads)), make([]uint32, given+len(b.reads))
	r.arguments, r.values = tensors[:given], tensors[given:]
	r.argumentsAt, r.versions = versions[:given], versions[given:]
	for i, t := range in[:given] {
		if !b.needs[i] {
			continue
		}
		same, err := t.Alias()
		if err != nil {
			r.close()
			return err
		}
		r.arguments[i], r.argumentsAt[i] = same, t.Version()
	}
	for i, read := range b.reads {
		switch {
		case !read.input:
			r.values[i] = kept[read.index]
		case read.index < given:
			r.values[i] = r.arguments[read.index]
		default:
			same, err := in[read.index].Alias()
			if err != nil {
				r.close()
				return err
			}
			r.values[i] = same
		}
		r.versions[i] = r.values[i].Version()
	}
	differentiable := make([]*runtime.Tensor, len(b.of))
	for i, at := range b.of {
		differentiable[i] = results[at]
	}
	eager.Apply(rt, &runtime.Function{Through: r.through, Close: r.close, Back: b}, operands, differentiable)
	return nil
}

// A record outlives its program where a result does: each holds a reference to the pullback, and the last one closes it.

// recorded is a run of a program whose gradient may be wanted.
type recorded struct {
	*Pullback
	kept        []*runtime.Tensor
	values      []*runtime.Tensor // by reads
	versions    []uint32          // of their memory
	arguments   []*runtime.Tensor // handles of the record, nil for those that it needs not
	argumentsAt []uint32          // the versions of their memory
}

// through computes the gradients of the operands; those of a recorded pass have gradients themselves.
func (r *recorded) through(b runtime.BackwardPass, n *runtime.Node, of []*runtime.Tensor) ([]*runtime.Tensor, error) {
	dx, err := r.backward(of)
	if err == nil && b.Records() {
		err = r.differentiated(b, n, of, dx)
	}
	return dx, err
}

// Results that the pass does not reach have no gradient: they count as zeros, because a program has no optional inputs.

// backward computes the gradients of the inputs from those of the results.
func (r *recorded) backward(of []*runtime.Tensor) ([]*runtime.Tensor, error) {
	rt := r.program.Context().Runtime
	in := slices.Clone(r.values)
	for i, t := range r.values {
		if now := t.Version(); now != r.versions[i] {
			return nil, changedInPlace(now, r.versions[i])
		}
	}
	var nothing []*runtime.Tensor
	defer func() { rt.FreeAll(nothing) }()
	types := r.program.Inputs()[len(in):]
	for i, d := range of {
		if d == nil {
			made, err := eager.Zeros(&types[i], r.program.Context())
			if err != nil {
				return nil, err
			}
			nothing = append(nothing, made)
			d = made
		}
		in = append(in, d)
	}
	return r.program.Run(in, nil)
}

// changedInPlace is the error for values that are not those of the call any more.
func changedInPlace(now, want uint32) error {
	return status.Errorf(status.Invalid, "[jit] a tensor that the gradient of the function reads was changed in place after the call (version %d; want %d); want a copy to change", now, want)
}

// close frees what the record has kept.
func (r *recorded) close() {
	rt := r.program.Context().Runtime
	for i, read := range r.reads {
		if t := r.values[i]; t != nil && read.input && read.index >= len(r.arguments) {
			rt.Free(t.Handle()) // of a captured tensor: it is neither in kept nor in arguments
		}
	}
	rt.FreeAll(r.kept)
	rt.FreeAll(r.arguments)
	r.values, r.kept, r.arguments = nil, nil, nil
	r.Release()
}
