// Package inference has what a protocol gives to the server and gets back: requests, their tensors and answers, the traces of
// requests, and errors with the codes of the protocols.
//
// The memory of large outputs is used again after [Response.Free] (buffer.go). Elements can be returned as classes, texts of the
// largest ones (classify.go). The package knows no model: what a request needs of one is checked by package serve.
package inference

import (
	"sync"
	"time"

	"github.com/paddle-mps/paddle-mps/serve/tensors"
)

// Request is one inference.
type Request struct {
	Model   string
	Version int64 // -1: the latest one
	ID      string
	Inputs  []Tensor
	// Outputs are those that are asked for; none: all.
	Outputs []Requested
	// Priority is the level in the queue; 0: the default one.
	Priority uint64
	// Timeout is the longest time in the queue, where the configuration lets requests say so; 0: none.
	Timeout time.Duration
	// Received is when the request began, for statistics; zero: when Infer is called.
	Received time.Time
	// Trace gets the moments of the request; nil: they are not collected.
	Trace *Trace
}

// Tensor is an input or output. Data are as in the binary form of the protocol. Those of an input stay as they are until
// Infer returns; those of an output are the caller's.
type Tensor struct {
	Name  string
	Type  tensors.Type
	Shape []int64
	Data  []byte
}

// Requested is an output that is asked for.
type Requested struct {
	Name string
	// Classes is how many of the largest elements are returned as texts in place of the elements; 0: all elements.
	Classes int
}

// Response is the result of an inference.
type Response struct {
	Model   string
	Version int64
	ID      string
	Outputs []Tensor
	// Times are those of the execution; zero for an answer from the cache and for one of an ensemble.
	Times Times

	Buffers []*Buffer // of the outputs; see Free
}

// Times are the moments of the execution of a request.
type Times struct {
	Queued  time.Time // it was put into the queue
	Start   time.Time // an instance began with its batch
	Inputs  time.Time // the inputs were made
	Outputs time.Time // the program had run
	End     time.Time // the outputs were read
}

// Tag begins messages about a request, as Triton's do.
func (r *Request) Tag() string {
	if r.ID == "" {
		return "[request id: <id_unknown>] "
	}
	return "[request id: " + r.ID + "] "
}

// Requested is what the request wants of an output, and whether it wants it.
func (r *Request) Requested(name string) (Requested, bool) {
	if len(r.Outputs) == 0 {
		return Requested{Name: name}, true
	}
	for _, o := range r.Outputs {
		if o.Name == name {
			return o, true
		}
	}
	return Requested{}, false
}

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

// Step is the trace of a step of an ensemble; nil for a request without a trace. Steps begin on several goroutines.
func (t *Trace) Step() *Trace {
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
