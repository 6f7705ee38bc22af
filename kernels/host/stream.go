package host

import (
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/status"
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

// waiter is what a stream can wait for: a point, or an event of another device.
type waiter interface{ sync() }

type foreign struct{ device.Event }

func (f foreign) sync() { f.Sync() }

// waitFor is what a wait of a stream for an event comes to: nil for nothing.
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
	return foreign{e}
}

// marking is the event of a record. One of another device cannot be moved here; the record still
// has its ticket.
func marking(e device.Event) *event {
	if mark, ok := e.(*event); ok {
		return mark
	}
	return new(event)
}

// hosted is p as one of our own programs, or a program that refuses to run.
func hosted(p device.Program) *program {
	if own, ok := p.(*program); ok {
		return own
	}
	return &program{alien{}}
}

// alien is the kernel of a program that another device compiled.
type alien struct{ simple }

func (alien) run(*threads, *device.Call) error {
	return status.Errorf(status.Internal, "[host] got a program of another device")
}

// perform does a run or a copy and tells the owner. The owner hears of it before the ticket counts
// as done, so whoever has waited for the ticket finds the owner informed.
func perform(t *threads, p *program, c *device.Call) {
	err := c.Owner.Ready()
	if err == nil {
		err = compute(t, p, c)
	}
	c.Owner.Done(err)
}

// compute runs a program, or a copy where there is none; a panic of it is its error.
func compute(t *threads, p *program, c *device.Call) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = panicked(r)
		}
	}()
	if p == nil {
		return copyBytes(c)
	}
	return p.kernel.run(t, c)
}

// copyBytes copies between contiguous operands.
// SAFETY: both ranges belong to the call until its owner hears of the end; see Stream.Copy.
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

func bytesOf(o *device.Operand) int64 { return o.Numel() * o.DType.Size() }
