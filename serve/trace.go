package serve

import (
	"sync"
	"time"
)

// Trace collects the moments of one request, whose Request.Trace it is. It may be read when Infer has returned.
type Trace struct {
	Model   string
	Version int64
	ID      string // of the request, "" for none
	// Started is when the request was accepted, the zero time where it was refused; Ended is when its answer was there.
	Started, Ended time.Time
	// Times are those of the execution. For an answer from the cache, and for one of an ensemble, only Queued is set.
	Times Times

	mu    sync.Mutex
	steps []*Trace
}

// begin sets what is known of an accepted request.
func (t *Trace) begin(v *Version, r *Request) {
	t.Model, t.Version, t.ID, t.Started = v.config.Name, v.number, r.ID, time.Now()
}

// end sets the times of the job. Those of a job that failed end where it did.
func (t *Trace) end(j *job) {
	t.Ended, t.Times = time.Now(), j.response.Times
	if t.Times.Queued.IsZero() {
		t.Times.Queued = t.Started // it was in no queue
	}
}

// step is the trace of a step of an ensemble; nil for a request without a trace. Steps begin on several goroutines.
func (t *Trace) step() *Trace {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	s := &Trace{}
	t.steps = append(t.steps, s)
	return s
}

// Steps are the traces of the models of an ensemble that were asked, in the order in which they began.
func (t *Trace) Steps() []*Trace {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.steps
}
