package host

import (
	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
)

// direct is a stream of the cpu place: work is over when the method that submits it returns, on the
// goroutine of the caller. There is nothing to queue, to number or to wait for, and callers that share
// the stream do not wait for each other. An owner's Done must not submit to the same stream.
type direct struct {
	threads *engine.Threads
}

// over is the ticket of all work of a direct stream: there is never anything left to wait for.
const over = device.Ticket(0)

// Run does the call.
func (s *direct) Run(p device.Program, c *device.Call) device.Ticket {
	perform(s.threads, programOf(p), c, nil)
	return over
}

// Copy does the copy.
func (s *direct) Copy(c *device.Call) device.Ticket {
	perform(s.threads, nil, c, nil)
	return over
}

// Record marks now, a point that has been passed.
func (s *direct) Record(e device.Event) device.Ticket {
	mark := recorded(e)
	mark.move(point{})
	mark.pass(point{})
	return over
}

// Wait blocks: work that is submitted later runs on the goroutine of its caller, which only this call can
// delay.
func (s *direct) Wait(e device.Event) { e.Sync() }

// Done is over: all work has ended.
func (s *direct) Done() device.Ticket { return over }

// Sync has nothing to wait for.
func (s *direct) Sync(device.Ticket) {}

// Close has nothing to wait for.
func (s *direct) Close() error { return nil }
