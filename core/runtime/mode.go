package runtime

import (
	"errors"

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
	// Profiled is for calls that are being recorded already: the rest of a call whose beginning has been.
	Profiled
)

// Has reports whether a mode is set.
func (m Mode) Has(one Mode) bool { return m&one != 0 }

// Refusal is the error of a call that would have had to wait; its code is status.Busy.
type Refusal struct {
	Wait   Wait // what for; see Runtime.WaitFor
	reason *status.Error
}

// Error names what the call would have waited for.
func (r *Refusal) Error() string { return r.reason.Error() }

// Unwrap is the status.Busy.
func (r *Refusal) Unwrap() error { return r.reason }

// Refused is the wait of a call that was refused, 0 for any other error.
func Refused(err error) Wait {
	if r := (*Refusal)(nil); errors.As(err, &r) {
		return r.Wait
	}
	return 0
}

// Long is the error of a run that would keep its caller waiting.
type Long struct {
	Work float64 // elements that it works on, as far as they can be counted; 0: it has to be compiled first
}

// Error says it in the words of its code, status.Busy.
func (l *Long) Error() string { return "[program] the run takes long" }
