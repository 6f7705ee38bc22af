package device

import "fmt"

// StepError is the error of a plan that the device could not compile because of one step. The caller may run that
// step on another device and compile the steps after it separately.
type StepError struct {
	Step   int     // in Plan.Steps; the first one that cannot be compiled
	Before Program // of the steps before it, with the plan's slots and arena; the caller owns it. nil: not compiled
	Err    error
}

// Error names the step; the error of the device names the operator.
func (e *StepError) Error() string { return fmt.Sprintf("%v (step %d of the plan)", e.Err, e.Step) }

// Unwrap returns the error of the device, which has the code.
func (e *StepError) Unwrap() error { return e.Err }
