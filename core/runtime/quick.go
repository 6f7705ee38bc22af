package runtime

import (
	"errors"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/program"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// Mode says how a call is made, beside what it computes.
type Mode uint8

const (
	// NonBlocking is for callers that must not block, because they hold a lock that other threads need, such as
	// Python's. Where the program of a call is not compiled yet and the device compiles slowly (Info.Compiles),
	// the compilation starts on another goroutine and the call returns a [Refusal]; it has had no effect then.
	NonBlocking Mode = 1 << iota
	// Recording is for calls whose results have gradients, if operands ask for them.
	Recording
	// profiled is for calls that are being recorded already: the rest of a call whose beginning has been.
	profiled
)

// has reports whether a mode is set.
func (m Mode) has(one Mode) bool { return m&one != 0 }

// Caller is a runtime whose calls are made in a mode.
type Caller struct {
	*Runtime
	mode Mode
}

// In is the runtime with calls in a mode.
func (rt *Runtime) In(m Mode) Caller { return Caller{rt, m} }

// And is the caller with calls in a further mode.
func (c Caller) And(m Mode) Caller { return Caller{c.Runtime, c.mode | m} }

// Call is Runtime.Call; a [Refusal] says what to wait for before the same call is tried again.
func (c Caller) Call(row *op.Row, in []Operand, at op.Attrs, where *Context, on *Stream) ([]*Tensor, error) {
	return c.call(row, in, at, where, on, c.mode)
}

// CallInto is Runtime.CallInto, and may be refused like Call.
func (c Caller) CallInto(row *op.Row, in []Operand, at op.Attrs, out *Tensor, on *Stream) error {
	return c.callInto(row, in, at, out, on, c.mode)
}

// Unary is Runtime.Unary, and may be refused like Call.
func (c Caller) Unary(row *op.Row, x *Tensor, on *Stream) (*Tensor, error) {
	return c.unary(row, x, on, c.mode)
}

// Binary is Runtime.Binary, and may be refused like Call.
func (c Caller) Binary(row *op.Row, x, y Operand, on *Stream) (*Tensor, error) {
	return c.binary(row, &x, &y, on, c.mode)
}

// Refusal is the error of a call that would have had to wait; its code is status.Busy.
type Refusal struct {
	Wait   Wait // what for; see Runtime.WaitFor
	reason *status.Error
}

// Error names what the call would have waited for.
func (r *Refusal) Error() string { return r.reason.Error() }

// Unwrap is the status.Busy.
func (r *Refusal) Unwrap() error { return r.reason }

// later starts to compile the program of a launch, or joins a running compilation, and refuses the launch. If
// the compilation fails, its error is kept for the next launch that needs the program; revision is that of key.
func (c *Context) later(key device.Key, revision uint64, l *launch) (*program.Entry, error) {
	if failed, ok := c.compileErrors.LoadAndDelete(key); ok {
		return nil, failed.(error)
	}
	plan := l.planned()
	e, job := c.programs.TryGet(key, l.lane, func() (device.Program, error) { return c.compileAs(revision, plan) })
	if e != nil {
		return e, nil
	}
	w := c.rt.waits.start(func() {
		<-job.Done()
		if err := job.Err(); err != nil && !errors.Is(err, errKeyChanged) {
			c.compileErrors.Store(key, err)
		}
	})
	return nil, &Refusal{w, status.Errorf(status.Busy, "[%s] its program is being compiled", l.row.Name)}
}

// Refused is the wait of a call that was refused, 0 for any other error.
func Refused(err error) Wait {
	if r := (*Refusal)(nil); errors.As(err, &r) {
		return r.Wait
	}
	return 0
}
