package runtime

import (
	"errors"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/program"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// Quick is a runtime for callers that must not block, because they hold a lock that other threads need, such as
// Python's. Where the program of a call is not compiled yet and the device compiles slowly (Info.Compiles),
// the compilation starts on another goroutine and the call returns a [Refusal]; it has had no effect then.
type Quick struct{ *Runtime }

// Call is Runtime.Call; a [Refusal] says what to wait for before the same call is tried again.
func (q Quick) Call(row *op.Row, in []Operand, at op.Attrs, where *Context, on *Stream) ([]*Tensor, error) {
	return q.call(row, in, at, where, on, true)
}

// CallInto is Runtime.CallInto, and may be refused like Call.
func (q Quick) CallInto(row *op.Row, in []Operand, at op.Attrs, out *Tensor, on *Stream) error {
	return q.callInto(row, in, at, out, on, true)
}

// Unary is Runtime.Unary, and may be refused like Call.
func (q Quick) Unary(row *op.Row, x *Tensor, on *Stream) (*Tensor, error) {
	return q.unary(row, x, on, true)
}

// Binary is Runtime.Binary, and may be refused like Call.
func (q Quick) Binary(row *op.Row, x, y Operand, on *Stream) (*Tensor, error) {
	return q.binary(row, &x, &y, on, true)
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
	plan := device.PlanOf(&l.Call)
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
