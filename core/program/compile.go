package program

import (
	"errors"
	"runtime/debug"
	"time"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// Compilation is a compilation under way. All methods may be called from any goroutine, by any number of
// callers; a caller that loses interest just drops it.
type Compilation struct {
	cache   *Cache
	key     device.Key
	compile func() (device.Program, error)
	err     error // why nothing was kept; written before done is closed
	done    chan struct{}
}

// Done is closed when the compilation is over, whether it failed or not.
func (j *Compilation) Done() <-chan struct{} { return j.done }

// Err is, after Done, nil where the cache got an entry for the key, and otherwise the error that Get would
// have returned. That the device lacks the program (status.Unsupported) is an entry, not an error.
func (j *Compilation) Err() error {
	select {
	case <-j.done:
		return j.err
	default:
		return nil
	}
}

// Wait blocks until the compilation is over and returns its entry with a reference for the caller, or its
// error. It completes the look-up of TryGet, which is counted as one miss and no hit. When the entry has
// been evicted meanwhile, Wait compiles again.
func (j *Compilation) Wait(on Lane) (*Entry, error) {
	<-j.done
	if j.err != nil {
		return nil, j.err
	}
	return j.cache.get(&j.key, on, j.compile, true)
}

// errNoResult is the outcome of a compiler that returned nothing, or ended its goroutine (runtime.Goexit).
var errNoResult = errors.New("[compile] the compiler ended without a result")

// run compiles and keeps the result; holder is the lane of a caller that wants a reference to the entry,
// nil for none. It returns nil where nothing was kept; job.err says why.
func (c *Cache) run(job *Compilation, holder *Lane) (e *Entry) {
	began := time.Now()
	p, err := device.Program(nil), errNoResult
	defer func() { // also when compile ends the goroutine: waiting callers must not hang
		var old []*Entry
		e, old = c.finish(job, p, err, time.Since(began), holder)
		closeUnused(old)
	}()
	if p, err = protected(job.compile); p == nil && err == nil {
		err = errNoResult
	}
	return nil // set above
}

// protected calls a compiler and makes its panic an error.
func protected(compile func() (device.Program, error)) (p device.Program, err error) {
	defer func() {
		if r := recover(); r != nil {
			p, err = nil, status.Errorf(status.Internal, "[compile] the compiler panicked: %v\n%s", r, debug.Stack())
		}
	}()
	return compile()
}

// finish counts a compilation, keeps its result if it is worth keeping, and wakes the waiting callers. The
// caller closes the evicted entries, with no lock held.
func (c *Cache) finish(job *Compilation, p device.Program, err error, took time.Duration, holder *Lane) (e *Entry, old []*Entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sums.Compilations++
	c.sums.CompileTime += took
	if err != nil {
		c.sums.Failures++
	}
	if err == nil || status.CodeOf(err) == status.Unsupported {
		e = newEntry(c, &job.key, p, err)
		old = c.add(e, holder)
	} else {
		job.err = err
	}
	delete(c.compiling, job.key)
	close(job.done)
	return e, old
}
