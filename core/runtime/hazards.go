package runtime

import (
	"github.com/paddle-mps/paddle-mps/alloc"
	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// Hazard tracking: orders reads and writes of a storage across streams and the CPU. A storage records the last
// write and the reads since, each as a stream and a ticket. A read waits for the write (read after write); a
// write also waits for the reads (write after read, write after write). Streams wait for each other by events,
// the CPU waits for tickets.
//
// On devices with queues the caller holds Context.submit from waitForHazards over the submission to note, so
// that no other call can be submitted between the check and the record.

// waitForHazards makes s wait for the work of other streams on a storage: for its last write, and before a
// write for the reads since. The caller does not block, unless the device has no event left.
func (s *Stream) waitForHazards(st *Storage, writes bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	s.waitFor(st.write)
	if writes {
		for _, u := range st.uses {
			s.waitFor(u)
		}
	}
}

// waitFor makes s wait for a ticket of another stream; work of s itself is in order anyway.
func (s *Stream) waitFor(u alloc.Use) {
	if u.Stream == nil || u.Stream == s.Device || u.Stream.Done() >= u.Ticket {
		return
	}
	e, ok := s.ctx.events.Get().(device.Event)
	if !ok {
		var err error
		if e, err = s.ctx.Device.NewEvent(); err != nil {
			u.Stream.Sync(u.Ticket) // no event is available: blocking here is slower, but correct
			return
		}
	}
	u.Stream.Record(e)
	s.Device.Wait(e) // takes the point recorded now, so the event can be reused
	s.ctx.events.Put(e)
}

// recordUse records that work of s with a ticket reads or writes a storage. A write replaces the reads before it:
// who waits for the write waits for them too.
func (st *Storage) recordUse(s *Stream, t device.Ticket, writes bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.Context.inOrder {
		st.ForeignWork.Store(true)
	}
	use := alloc.Use{Stream: s.Device, Ticket: t}
	if writes {
		st.write, st.uses = use, st.uses[:0]
		return
	}
	for i := range st.uses {
		if st.uses[i].Stream == s.Device {
			st.uses[i].Ticket = t
			return
		}
	}
	st.uses = append(alloc.Unpassed(st.uses), use)
}

// Wait blocks until the CPU may read a storage or, with writes, write it. It returns why the contents were not
// computed; a caller that overwrites them may ignore that.
func (st *Storage) Wait(writes bool) error {
	if uses := st.hazards(writes); len(uses) > 0 {
		defer waited("wait for a tensor")()
		syncAll(uses)
	}
	return st.failure()
}

// idle reports, without a lock, that no stream uses a storage. It may be false although the streams have
// passed. On a device without queues, only streams of another device that copy from or to it use a storage.
func (st *Storage) idle() bool { return st.Context.inOrder && !st.ForeignWork.Load() }

// hazards lists the uses that the CPU has to wait for before it reads a storage or, with writes, writes it.
func (st *Storage) hazards(writes bool) (uses []alloc.Use) {
	if st.idle() {
		return nil
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	st.uses = alloc.Unpassed(st.uses)
	switch {
	case !st.write.Passed():
		uses = append(uses, st.write)
	case len(st.uses) == 0:
		st.ForeignWork.Store(false)
	}
	if writes {
		uses = append(uses, st.uses...)
	}
	return uses
}

// Ready implements device.Owner: the first failure of an input, nil where all were computed and the call is not to stop.
func (l *Launch) Ready() error {
	for _, st := range l.Stores[:len(l.Stores)-l.Writes] {
		if e := st.fault.Load(); e != nil {
			return e
		}
	}
	return l.Stop.Err()
}

// Done implements device.Owner. On devices with queues it stores a failure in the outputs and in the stream,
// for later readers; on the others the submitting call is still running and returns it. That a call was cancelled is no
// failure of the stream.
func (l *Launch) Done(err error) {
	if l.ctx.inOrder {
		if l.err = err; err == nil {
			l.clearFaults()
		}
		l.complain(err)
		return
	}
	if err != nil {
		e := l.failure(err)
		for _, st := range l.Stores[len(l.Stores)-l.Writes:] {
			st.fault.Store(e)
		}
		if e.Code != status.Cancelled {
			l.stream.fail(e)
		}
	} else {
		l.clearFaults()
	}
	l.complain(err)
	for _, st := range l.Stores {
		st.unpin()
	}
	l.Recycle()
}

// failure is the error of a failed call: the error of the input that caused it, so that it can be traced to
// its origin and is reported once, or a new one. Errors are compared by address, hence the copy.
func (l *Launch) failure(err error) *status.Error {
	e := status.From(err)
	for _, st := range l.Stores[:len(l.Stores)-l.Writes] {
		if st.fault.Load() == e {
			return e
		}
	}
	own := *e
	return &own
}

// clearFaults removes the failure of each output whose storage the call has written completely.
func (l *Launch) clearFaults() {
	outputs := l.Stores[len(l.Stores)-l.Writes:] // an arena may follow
	for i := range l.Out {
		o := &l.Out[i]
		if o.Absent() { // a part of a program does not use it
			continue
		}
		st := outputs[0]
		outputs = outputs[1:]
		if st.fault.Load() != nil && o.IsContiguous() && o.Numel()*o.DType.Size() == st.Size {
			st.fault.Store(nil)
		}
	}
}

// A kernel of a user's may report: it writes records to memory of its own, and what they say is an error, such as an
// assertion that did not hold. Unlike a failure of the device, it leaves tensors valid: the next wait returns the error,
// once, and calls that use the same tensors go on.

// complaint is what a kernel has reported, kept by the stream and by the tensors that the kernel may have written.
type complaint struct {
	err    *status.Error
	stream *Stream
}

// once is the error for the first caller that asks, the stream among them; nil for others.
func (c *complaint) once() error {
	if c == nil || !c.stream.unreported.CompareAndSwap(c.err, nil) {
		return nil
	}
	c.stream.reported.Store(c.err)
	return c.err
}

// complain asks a kernel that is done for its report.
func (l *Launch) complain(failed error) {
	if l.Check == nil {
		return
	}
	err := l.Check(failed)
	if err == nil {
		return
	}
	c := &complaint{status.From(err), l.stream}
	l.stream.fail(c.err)
	for _, st := range l.Stores[len(l.Stores)-l.Writes:] {
		st.complaint.Store(c)
	}
}
