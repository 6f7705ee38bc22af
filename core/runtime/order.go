package runtime

import (
	"github.com/paddle-mps/paddle-mps/alloc"
	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// What keeps readers and writers of a storage apart: streams wait for streams by events, the CPU
// waits for streams by tickets. Callers on devices with queues hold Context.submit around after,
// the submission and note, so that nobody slips between looking and noting.

// after makes s wait for what other streams still do with a storage: for its last write, and before
// writing for its reads too.
func (s *Stream) after(st *storage, writes bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	s.behind(st.write)
	if writes {
		for _, u := range st.uses {
			s.behind(u)
		}
	}
}

// behind makes s wait for a ticket of another stream.
func (s *Stream) behind(u alloc.Use) {
	if u.Stream == nil || u.Stream == s.dev || u.Stream.Done() >= u.Ticket {
		return
	}
	e, ok := s.ctx.events.Get().(device.Event)
	if !ok {
		var err error
		if e, err = s.ctx.dev.NewEvent(); err != nil {
			u.Stream.Sync(u.Ticket) // no event to be had: wait here, which is slower and as right
			return
		}
	}
	u.Stream.Record(e)
	s.dev.Wait(e) // fixes the recorded point, so the event can serve again
	s.ctx.events.Put(e)
}

// note remembers that work of s with a ticket reads or writes a storage.
func (st *storage) note(s *Stream, t device.Ticket, writes bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.ctx.inOrder {
		st.late.Store(true)
	}
	use := alloc.Use{Stream: s.dev, Ticket: t}
	if writes {
		st.write, st.uses = use, st.uses[:0]
		return
	}
	for i := range st.uses {
		if st.uses[i].Stream == s.dev {
			st.uses[i].Ticket = t
			return
		}
	}
	st.uses = append(latest(st.uses), use)
}

// settle waits until the CPU may read a storage, or before writing, write it. It returns why the
// contents were never computed; a writer does not care.
func (st *storage) settle(writes bool) error {
	syncAll(st.unsettled(writes))
	return st.failure()
}

// settled reports whether no stream has anything to do with a storage. On devices without queues
// that is so, but for copies that streams of another device make.
func (st *storage) settled() bool { return st.ctx.inOrder && !st.late.Load() }

// unsettled lists what the CPU has to wait for before it reads a storage, or writes it.
func (st *storage) unsettled(writes bool) (uses []alloc.Use) {
	if st.settled() {
		return nil
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	st.uses = latest(st.uses)
	switch {
	case !passed(st.write):
		uses = append(uses, st.write)
	case len(st.uses) == 0:
		st.late.Store(false)
	}
	if writes {
		uses = append(uses, st.uses...)
	}
	return uses
}

// Ready is asked by the stream just before the call runs.
func (l *launch) Ready() error {
	for _, st := range l.stores[:len(l.stores)-l.writes] {
		if e := st.fault.Load(); e != nil {
			return e
		}
	}
	return nil
}

// Done hears of the end of the call. On devices with queues a failure is left with the outputs and
// with the stream; on the others the caller is still there and returns it.
func (l *launch) Done(err error) {
	if l.ctx.inOrder {
		if l.err = err; err == nil {
			l.heal()
		}
		return
	}
	if err != nil {
		e := l.failure(err)
		for _, st := range l.stores[len(l.stores)-l.writes:] {
			st.fault.Store(e)
		}
		l.stream.fail(e)
	} else {
		l.heal()
	}
	for _, st := range l.stores {
		st.unpin()
	}
	l.recycle()
}

// failure is why the call failed: that of an input, or one of its own, which is told from all others
// by its address.
func (l *launch) failure(err error) *status.Error {
	e := status.From(err)
	for _, st := range l.stores[:len(l.stores)-l.writes] {
		if st.fault.Load() == e {
			return e
		}
	}
	own := *e
	return &own
}

// heal forgets the failure of a storage that has now been written from end to end.
func (l *launch) heal() {
	for i, st := range l.stores[len(l.stores)-l.writes:] {
		if o := &l.Out[i]; st.fault.Load() != nil && o.IsContiguous() && o.Numel()*o.DType.Size() == st.bytes {
			st.fault.Store(nil)
		}
	}
}
