package host

import (
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/profile"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
)

// entry is a piece of work of a stream: a run (program and call), a copy (call), a record (event)
// or a wait.
type entry struct {
	program *program
	call    *device.Call
	event   *event
	wait    waiter
	ticket  device.Ticket // 0 for a wait, which has none
}

// waiter is what a stream can wait for: a point of a stream of this package, or an event of another device.
type waiter interface {
	// sync blocks until it is reached.
	sync()
}

// otherEvent is an event of another device.
type otherEvent struct{ device.Event }

// sync waits on the goroutine of the stream.
func (e otherEvent) sync() { e.Sync() }

// waitFor resolves an event to what stream s must wait for; nil if that has been reached, or lies in s
// itself, whose work is in order anyway.
func waitFor(s timeline, e device.Event) waiter {
	if mark, ok := e.(*event); ok {
		if p := mark.point(); p.stream != s && !p.passed() {
			return p
		}
		return nil
	}
	if e.Done() {
		return nil
	}
	return otherEvent{e}
}

// recorded is the event that a record moves. One of another device cannot be moved here; the record then
// moves an event that is not used, so that it still has its ticket.
func recorded(e device.Event) *event {
	if mark, ok := e.(*event); ok {
		return mark
	}
	return new(event)
}

// programOf is p if this package has compiled it, and otherwise a program whose runs fail.
func programOf(p device.Program) *program {
	if own, ok := p.(*program); ok {
		return own
	}
	return &program{wrongDevice{}}
}

// wrongDevice is the kernel of a program that another device has compiled.
type wrongDevice struct{ engine.Simple }

func (wrongDevice) Run(*engine.Threads, *device.Call) error {
	return status.Errorf(status.Internal, "[host] got a program of another device")
}

// perform does a run or a copy and notifies the owner; on is the track of the stream, nil for one that runs everything on
// the thread of its caller. That happens before the ticket counts as done, so
// that a goroutine which has waited for the ticket finds the owner notified.
func perform(t *engine.Threads, p *program, c *device.Call, on *profile.Track) {
	err := c.Owner.Ready()
	switch {
	case err != nil:
	case profile.On():
		err = measured(t, p, c, on)
	default:
		err = compute(t, p, c)
	}
	c.Owner.Done(err)
}

// compute runs a program, or a copy where there is none. A panic becomes the error of the call, so that a
// mistake in one kernel does not end the process.
func compute(t *engine.Threads, p *program, c *device.Call) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = engine.Panicked(r)
		}
	}()
	if p == nil {
		return copyBytes(c)
	}
	return p.kernel.Run(t, c)
}

// copyBytes copies between contiguous operands.
// SAFETY: both ranges belong to the call until its owner is notified; see Stream.Copy.
func copyBytes(c *device.Call) error {
	from, to := &c.In[0], &c.Out[0]
	n := bytesOf(from)
	if n != bytesOf(to) {
		return status.Errorf(status.Internal, "[copy] got %d bytes for %d; want as many", n, bytesOf(to))
	}
	if n > 0 {
		copy(unsafe.Slice((*byte)(to.Addr), n), unsafe.Slice((*byte)(from.Addr), n))
	}
	return nil
}

// bytesOf is the size of the elements of a contiguous operand.
func bytesOf(o *device.Operand) int64 { return o.Numel() * o.DType.Size() }
