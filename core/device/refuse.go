package device

import "github.com/paddle-mps/paddle-mps/core/status"

// Refuser is a device whose kernels the compilers of the system compile and may refuse, each for reasons of its own.
// The device then makes another kernel for the call or, where it has no other, returns a [Refused].
type Refuser interface {
	// OnRefusal sets the function that is told, in a sentence, which kernel was refused and what runs in its place:
	// once for each operator, dtype and reason. It is called from any goroutine, with no lock held.
	OnRefusal(warn func(text string))
	// Refusals are the figures since the device was opened.
	Refusals() Refusals
	// Revision grows when the device has learned of a refusal that changes the Key of some calls. A program that was
	// compiled meanwhile may be of another key than the caller had asked for.
	Revision() uint64
	// Retry forgets what was refused, so that it is compiled again; programs are not affected.
	Retry()
}

// Refusals count what the compilers of the system have refused.
type Refusals struct {
	Shaders, Graphs int64 // compilations that ended so
	SecondWay       int64 // steps that ran on the device by another kernel than the one that was refused
}

// Refused is the error of a call that the device could run, had the compilers of the system not refused its kernels.
// It is status.Unsupported, so that the CPU runs the call; nothing that may succeed a second time (memory, a device
// that fails) is a Refused.
type Refused struct {
	Reason string // equal for refusals of an operator and dtype that need to be reported only once
	Cause  *status.Error
}

// Error quotes the compilers.
func (r *Refused) Error() string { return r.Cause.Msg }

// Unwrap returns the status.Unsupported.
func (r *Refused) Unwrap() error { return r.Cause }
