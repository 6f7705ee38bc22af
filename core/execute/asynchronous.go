package execute

import (
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/eager"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// A run that its caller does not wait for is made by a goroutine of its device, which does what any caller of Program.Run
// does, compilation included, and then waits for the device. A device has as many of these goroutines as there are
// processors; further runs wait in the order in which they were started.

// The goroutine waits for the device, so that a run has ended when its results have been computed, and not when they have been
// submitted. That is also what keeps a cancelled run from writing into its inputs: see runOnce. Where a Stop is looked at:
//
//   - at the beginning of a run, and of each of its stages (runOnce)
//   - when a part of it is about to run on the device (Launch.Ready)
//   - between the steps of a part that the CPU runs (kernels/host)
//   - when Metal encodes a batch that had to wait (kernels/metal)

// Run is a run of a program that its caller does not wait for. Its methods may be called from any goroutine.
type Run struct {
	program *Program
	caller  eager.Caller
	in      []*runtime.Tensor
	on      *runtime.Stream
	end     func()
	stop    device.Stop
	begun   atomic.Bool   // set by who makes the run, or cancels it before: exactly one of them ends it
	over    chan struct{} // closed when the run has ended; the results and err are not changed after that

	mu      sync.Mutex
	results []*runtime.Tensor // owned, until Free
	err     error
	freed   bool
}

// Start begins a run like RunAs and returns at once. The caller keeps the program, the inputs and the stream until end
// is called, which is once, from any goroutine. The elements of the inputs must not be written before that.
func Start(c eager.Caller, p *Program, in []*runtime.Tensor, on *runtime.Stream, end func()) (*Run, error) {
	if on.Traces() {
		return nil, errRunTraced
	}
	r := &Run{program: p, caller: c, in: in, on: on, end: end, over: make(chan struct{})}
	p.ctx.Enlist(r.do)
	return r, nil
}

// A run that has not begun has nothing to give back but what it was given, so that the caller who cancels it can end it.

// Cancel ends the run before its next step; one that has not begun ends at once, on the goroutine of the caller. It does
// not wait, and has no effect on a run whose last step has begun.
func (r *Run) Cancel() {
	r.stop.Request()
	if r.begun.CompareAndSwap(false, true) {
		r.conclude(nil, r.stop.Err())
	}
}

// WaitFor waits for the end of the run for at most d, and reports whether it has ended.
func (r *Run) WaitFor(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-r.over:
		return true
	case <-timer.C:
	}
	select { // it may be over although the timer was chosen, always so where d is 0
	case <-r.over:
		return true
	default:
		return false
	}
}

// Wait waits for the end of the run and returns its results: new handles of the same tensors for each call, which the caller
// frees. status.Cancelled if it was cancelled.
func (r *Run) Wait() ([]*runtime.Tensor, error) {
	<-r.over
	if r.err != nil {
		return nil, r.err
	}
	made := make([]*runtime.Tensor, 0, len(r.results))
	for _, t := range r.results {
		same, err := t.Same()
		if err != nil {
			r.caller.FreeAll(made)
			return nil, err
		}
		made = append(made, same)
	}
	return made, nil
}

// A run whose results cannot be fetched any more takes no further step.

// Free cancels the run and frees its results, those that it may still have to make too. It is the last call, and does not
// wait.
func (r *Run) Free() {
	r.Cancel()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.caller.FreeAll(r.results)
	r.results, r.freed = nil, true
}

// Only the goroutine that has set begun calls it, so that end is called once and the results have one writer.

// conclude is the end of the run. What it was given goes first, so that who has waited for the end finds it released.
func (r *Run) conclude(results []*runtime.Tensor, err error) {
	r.end()
	r.program, r.in, r.on, r.end = nil, nil, nil, nil
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.freed {
		r.caller.FreeAll(results)
		results = nil
	}
	r.results, r.err = results, err
	close(r.over)
}

// do makes the run, unless it was cancelled before.
func (r *Run) do() {
	if r.begun.CompareAndSwap(false, true) {
		r.conclude(r.compute())
	}
}

// compute runs the program. A panic is a defect of ours, which must not end the process: it becomes the error of the run.
func (r *Run) compute() (results []*runtime.Tensor, err error) {
	defer func() {
		if x := recover(); x != nil {
			r.program.ctx.Warnf("[program] bug: %v\n%s", x, debug.Stack())
			err = status.Errorf(status.Internal, "[program] %v; this is a bug of the library", x)
		}
	}()
	return r.program.RunWith(r.in, r.on, r.caller.Mode(), nil, &Extras{stop: &r.stop})
}

// settle waits until results have been computed. It returns the first failure, and frees all of them then.
func settle(rt *runtime.Runtime, made []*runtime.Tensor) (first error) {
	for _, t := range made {
		if err := t.Store.Wait(false); first == nil {
			first = err
		}
	}
	if first != nil {
		rt.FreeAll(made)
	}
	return first
}
