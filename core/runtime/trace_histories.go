package runtime

// Histories of captured tensors that a traced function writes to. Within the trace such a tensor has the history that the call
// gives it, as where calls are run, so that gradients of what is computed from it go on to what was written. Its nodes are of the
// trace, which has no elements: when the trace ends, with a program or without one, the tensor has its former history again. So
// a run gives captured tensors new elements and no new history.

// formerHistory is what a tensor was computed from before the trace has written to it.
type formerHistory struct {
	handle  uint64   // the tensor may be freed meanwhile
	history *history // with a reference to its node; nil: it asked for nothing
}

// done records a change of a tensor, and remembers the first history of one with elements.
func (tr *Trace) done(c *change, out *Tensor) {
	old := out.hold()
	c.counted(out)
	tr.mu.Lock()
	known := out.store.traced != nil || out.history.Load() == old
	for i := range tr.former {
		known = known || tr.former[i].handle == out.handle
	}
	if !known {
		tr.former = append(tr.former, formerHistory{out.handle, old})
	}
	tr.mu.Unlock()
	if known && old != nil {
		old.node.release()
	}
}

// restore gives tensors their former histories. mu is not held: nodes that end may call functions of the caller.
func (tr *Trace) restore() {
	tr.mu.Lock()
	former := tr.former
	tr.former = nil
	tr.mu.Unlock()
	for _, f := range former {
		t := tr.ctx.rt.Acquire(f.handle)
		switch {
		case t != nil && f.history != nil:
			t.take(f.history)
		case t != nil:
			t.forget()
		case f.history != nil:
			f.history.node.release()
		}
		if t != nil {
			t.Release()
		}
	}
}
