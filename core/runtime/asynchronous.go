package runtime

import (
	goruntime "runtime"
	"sync"
)

// More goroutines than CPUs would share them, and each run would hold its memory for longer. On a device with queues a
// goroutine mostly waits; with two of them one run is submitted while another is computed.
//
// Goroutines come and go with the runs, so that a process which starts none has none of them. A run that was cancelled in its turn
// stays in the list, without what it was given, until it is met there: no search is needed.

// started are the asynchronous runs of a device.
type started struct {
	mu      sync.Mutex
	making  int      // goroutines that make runs
	waiting []func() // in the order of enlist; some may have nothing to do any more
}

// enlist has a run made, which do does: by another goroutine, or in its turn where there are enough of them.
func (c *Context) enlist(do func()) {
	s := &c.started
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.making >= min(goruntime.NumCPU(), goruntime.GOMAXPROCS(0)) { // Go may have more processors than there are CPUs
		s.waiting = append(s.waiting, do)
		return
	}
	s.making++
	c.rt.releases.Go(func() {
		for ; do != nil; do = s.next() {
			do()
		}
	})
}

// next is the run that has waited longest. Where none waits it is nil, and the goroutine ends.
func (s *started) next() func() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.waiting) == 0 {
		s.waiting = nil
		s.making--
		return nil
	}
	do := s.waiting[0]
	s.waiting[0], s.waiting = nil, s.waiting[1:]
	return do
}
