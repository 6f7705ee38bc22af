package trace

import (
	"sync/atomic"

	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// Elements in a function that is traced. Results of its calls have none, but two kinds of tensors do: those that it captures, and
// those that it makes of elements in host memory, as to_tensor does.
//
// A tensor of the second kind is a constant of the program. The function makes it anew whenever it is called, so that each run
// begins with these elements, and what the function writes into it is gone when the run ends:
//
//	def f(x):
//	    total = to_tensor([0.0])
//	    total.add_(x)
//	    return total       # x, at each call
//
// What the function reads of a captured tensor, such as float(w), becomes a constant too, or decides a branch. The tensor may have
// other elements at the next call, which no call of the graph would notice. So the program remembers the version of what was
// read, and a caller who asks whether it accepts arguments is told to trace the function again once that has changed. Writes
// of the caller through an address that was handed out are not counted, here as for gradients.

// traceNumbers numbers traces from 1.
var traceNumbers atomic.Uint64

// MadeHere notes that the function which is traced on the stream has made t of elements, unless the stream traces nothing.
func MadeHere(s *runtime.Stream, t *runtime.Tensor) {
	if s.Traces() {
		t.Store.MadeIn = s.Tracer.Mark()
	}
}

// IsMadeHere reports whether the function which is traced on the stream has made t of elements.
func IsMadeHere(s *runtime.Stream, t *runtime.Tensor) bool {
	return s.Traces() && t.Store.MadeIn == s.Tracer.Mark()
}

// ReadsElements notes that the function which is traced on the stream reads the elements of t. It refuses a tensor that the
// function has written to: runs write there, the trace does not.
func ReadsElements(s *runtime.Stream, t *runtime.Tensor) error {
	if !s.Traces() || t.Store.Traced != nil {
		return nil
	}
	tr := s.Tracer.(*Trace)
	tr.mu.Lock()
	defer tr.mu.Unlock()
	for _, known := range tr.captured[t.Store] {
		if known.changed {
			return status.Errorf(status.Traced, "[read] got a tensor that a function which is being traced has written to: its elements are those of a run; want operators, or a read outside of the function")
		}
	}
	if tr.ended || IsMadeHere(s, t) {
		return nil
	}
	for _, known := range tr.reads {
		if known.Store == t.Store {
			return nil
		}
	}
	version := t.Store.Version.Load() // before the read
	same, err := t.Alias()
	if err == nil {
		tr.reads, tr.readAt = append(tr.reads, same), append(tr.readAt, version)
	}
	return err
}

// wrote notes that the function has written to what s captured; mu is held. Its own writes count among the versions, and make
// nothing that it has read before another one.
func (tr *Trace) wrote(s *source) {
	s.changed = true
	for i, t := range tr.reads {
		if t.Store == s.alias.root.memory {
			tr.readAt[i]++
		}
	}
}
