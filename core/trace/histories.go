package trace

import (
	"slices"

	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// Histories of captured tensors that a traced function writes to. Within the trace such a tensor has the history that the call
// gives it, as where calls are run, so that gradients of what is computed from it go on to what was written. Its nodes are of the
// trace, which has no elements: when the trace ends, with a program or without one, the tensor has its former history again. So
// a run gives captured tensors new elements and no new history.

// formerHistory is what a tensor was computed from before the trace has written to it.
type formerHistory struct {
	handle  uint64           // the tensor may be freed meanwhile
	history *runtime.History // with a reference to its node; nil: it asked for nothing
}

// formerOrigin is the same of what a tensor shares with its views.
type formerOrigin struct {
	origin  *runtime.Origin  // with a reference
	history *runtime.History // with a reference to its node; nil: it asked for nothing
}

// Where gradients end.

// A detached tensor, for example, has the memory of another one and asks for nothing; two views of one element, one computed
// from the other, lead to the same leaf by different nodes. Each that is read has its share of the gradient.

// A tensor that the function has written to may ask because of that: its history then goes on within the trace, to what was
// written, and the gradient does not end at the tensor.

// ask notes a captured tensor that asks for gradients; mu is held. Tensors with one memory may have been computed otherwise. changed
// says that the function has written to it.
func (tr *Trace) ask(t *runtime.Tensor, changed bool) error {
	h := t.AskedHistory()
	if h == nil || changed && tr.computed(t, h) || tr.isAsked(h) {
		return nil
	}
	same, err := t.WithHistory(&t.View, h)
	if err == nil {
		tr.asking = append(tr.asking, same)
	}
	return err
}

// computed reports whether calls of the trace have computed what a tensor holds. They have computed a view if they have computed its
// origin: the node of the view may be new only because the view was not looked at since an earlier write to the origin.
func (tr *Trace) computed(t *runtime.Tensor, h *runtime.History) bool {
	switch {
	case h.Node.Leaf:
		return false
	case t.ViewOrigin != nil && !h.Opaque:
		return t.ViewOrigin.IsNewerThan(tr.since)
	}
	return h.Node.Seq > tr.since
}

// AskOrigin notes that a call writes to a captured view, or to a part of it, whose origin asks for gradients. What is computed from the
// view afterwards leads, past what was written, to the origin and not to the view: the origin becomes one more captured tensor where
// gradients end.
func (tr *Trace) AskOrigin(c *runtime.Change, out *runtime.Tensor) error {
	o := out.ViewOrigin
	if o == nil || o.Traced || c.Node == nil && !c.Constant {
		return nil
	}
	h := o.HoldHistory()
	if h == nil {
		return nil
	}
	defer h.Node.Release()
	tr.mu.Lock()
	defer tr.mu.Unlock()
	if h.IsStopped() || h.Node.Seq > tr.since || tr.isAsked(h) {
		return nil
	}
	x, err := tr.of("trace", 0, out)
	if err != nil || x.root.source == nil {
		return err
	}
	captured := x.root.source.tensor
	all := captured.Part(o.Offset-captured.Offset, &o.Layout)
	whole, err := captured.WithHistory(&all, h)
	if err == nil {
		tr.asking = append(tr.asking, whole)
	}
	return err
}

// isAsked reports whether gradients end at a history; mu is held.
func (tr *Trace) isAsked(h *runtime.History) bool {
	return slices.ContainsFunc(tr.asking, func(known *runtime.Tensor) bool {
		k := known.History.Load()
		return k.Node == h.Node && k.Index == h.Index
	})
}

// Done records a change of a tensor, and remembers the first history of one with elements.
func (tr *Trace) Done(c *runtime.Change, out *runtime.Tensor) {
	old := out.HoldHistory()
	tr.follow(out)
	c.RecordCounted(out)
	tr.mu.Lock()
	known := out.Store.Traced != nil || out.History.Load() == old
	for i := range tr.former {
		known = known || tr.former[i].handle == out.Handle()
	}
	if !known {
		tr.former = append(tr.former, formerHistory{out.Handle(), old})
	}
	tr.mu.Unlock()
	if known && old != nil {
		old.Node.Release()
	}
}

// follow remembers the origin of a tensor that a call writes to: for the end, where it is to have its former history, and, if a run
// writes into the tensor that it is of, for the history that this has then.
func (tr *Trace) follow(out *runtime.Tensor) {
	if !runtime.Differentiable(out.DType) {
		return
	}
	o := out.EnsureOrigin()
	tr.mu.Lock()
	defer tr.mu.Unlock()
	if x, err := tr.of("trace", 0, out); err == nil && x.root.source != nil {
		x.root.source.follow(o)
	}
	if o.Traced || slices.ContainsFunc(tr.formerOrigins, func(f formerOrigin) bool { return f.origin == o }) {
		return
	}
	o.Refs.Add(1)
	tr.formerOrigins = append(tr.formerOrigins, formerOrigin{o, o.HoldHistory()})
}

// follow notes that a call writes to what has an origin, if that is the origin of the tensor that the source is of: a tensor that the
// function has detached from it is no part of its history.
func (s *source) follow(o *runtime.Origin) {
	if slices.ContainsFunc(s.follows, func(f followed) bool { return f.origin == o }) {
		return
	}
	for _, handle := range s.handles {
		t := o.Context.Runtime.Acquire(handle)
		if t == nil {
			continue
		}
		same := t.Origin() == o
		t.Release()
		if same {
			o.Refs.Add(1)
			s.follows = append(s.follows, followed{o, o.Epoch.Load(), handle})
			return
		}
	}
}

// Several tensors over one memory may have been captured, a tensor and it detached, say, and the source is of all of them. What calls
// read is the same for each. What a run writes goes into the memory once, and its history to one of them: to that which the recorded
// calls wrote to, as where calls are run.
//
// Where they wrote to two, one assignment at the end cannot give each a history of its own. The function is refused then, and its
// caller told, because the gradients of one of the two were lost without a word.

// recorded is the origin that recorded calls have written to; nil where there is none.
func (s *source) recorded() (found *followed, err error) {
	for i := range s.follows {
		f := &s.follows[i]
		switch {
		case f.origin.Epoch.Load() == f.epoch:
		case found != nil:
			return nil, status.Errorf(status.Unsupported, "[trace] the function changes two tensors that share memory and have no common gradient, such as one and it detached; want one of them changed")
		default:
			found = f
		}
	}
	return found, nil
}

// last is a traced tensor for what a run writes into the tensor of a source, with the history that this has then. The caller frees
// it. nil where no recorded call has written to it: a run does not record what it writes either.
func (tr *Trace) last(s *source) (*runtime.Tensor, error) {
	f, err := s.recorded()
	if f == nil {
		return nil, err
	}
	t, err := tr.adopt(s.alias, s.tensor.DType, s.tensor.Offset, s.tensor.Layout)
	if err == nil {
		t.JoinOrigin(f.origin, false)
		t.SeenState.Store(^uint64(0)) // of no state that there was
	}
	return t, err
}

// restore gives tensors their former histories. mu is not held: nodes that end may call functions of the caller.
func (tr *Trace) restore() {
	tr.mu.Lock()
	former, origins := tr.former, tr.formerOrigins
	tr.former, tr.formerOrigins = nil, nil
	tr.mu.Unlock()
	for _, f := range origins {
		f.origin.SetHistory(f.history)
		f.origin.Epoch.Add(1)
		f.origin.Release()
	}
	for _, f := range former {
		t := tr.ctx.Runtime.Acquire(f.handle)
		switch {
		case t != nil && f.history != nil:
			t.TakeHistory(f.history)
		case t != nil:
			t.ForgetHistory()
		case f.history != nil:
			f.history.Node.Release()
		}
		if t != nil {
			t.Release()
		}
	}
}
