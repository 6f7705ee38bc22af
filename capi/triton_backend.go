//go:build !without_tritonserver

package main

// #include "triton_backend.h"
import "C"

import (
	"fmt"
	goruntime "runtime"
	"strings"
	"sync/atomic"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/capi/convert"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/place"
	"github.com/paddle-mps/paddle-mps/serve/backend"
)

// What triton_backend.c calls. Models and instances are handles in C, and values of serve/backend here.

// servedKind is the kind of their handles, after that of traces.
const servedKind = 9

// served is a model or an instance, and for that the requests of its latest run, whose memory the next one uses again.
type served struct {
	model    *backend.Model
	instance *backend.Instance
	requests []backend.Request // in room
	room     []backend.Request
	pieces   [][]byte
}

// instances is how many of them there are.
var instances atomic.Int64

var servings = convert.NewTable(servedKind, func(s *served) {
	if s.instance != nil {
		s.instance.Close()
		instances.Add(-1)
	}
	if s.model != nil && s.instance == nil {
		s.model.Close()
	}
})

func init() { liveServings = func() int64 { return int64(servings.Live()) } }

// serve gives a model, or an instance of it, a handle. Without one it is closed.
func serve(m *backend.Model, i *backend.Instance, to *C.uint64_t) error {
	handle, record := servings.New()
	switch {
	case record != nil:
		if *record = (&served{model: m, instance: i}); i != nil {
			instances.Add(1)
		}
		*to = C.uint64_t(handle)
		return nil
	case i != nil:
		i.Close()
	default:
		m.Close()
	}
	return convert.TableFull(servings, "metal_mps", "models and instances")
}

// serving runs a body with the model or the instance of a handle.
func serving(handle C.uint64_t, body func(s *served) error) C.fault {
	return try(func(*runtime.Runtime) error {
		return convert.WithPinned(servings, "metal_mps", "model or an instance", uint64(handle), body)
	})
}

// goTritonStart starts the runtime, so that an environment that is wrong is an error of the backend and not of each model, and
// reads the backend's configuration: {"cmdline":{"default-max-batch-size":"4"}}.
//
//export goTritonStart
func goTritonStart(config C.text_in, size C.size_t, batch *C.int64_t) C.fault {
	return try(func(*runtime.Runtime) error {
		n, err := backend.ReadBackendConfig(bytesOf(config, uint64(size)), int64(*batch))
		if err == nil {
			*batch = C.int64_t(n)
		}
		return err
	})
}

// bytesOf is memory of the server.
func bytesOf(p C.text_in, size uint64) []byte {
	if p == nil || size == 0 {
		return nil
	}
	// SAFETY: the caller's memory, which stays for the call.
	return unsafe.Slice((*byte)(unsafe.Pointer(p)), size)
}

// goTritonModelLoad loads a version of a model. The caller owns the handle and the texts.
//
//export goTritonModelLoad
func goTritonModelLoad(o *C.triton_options, out *C.triton_loaded) C.fault {
	return try(func(rt *runtime.Runtime) error {
		m, err := backend.Load(rt, &backend.Options{
			Name: C.GoString(o.name), Folder: C.GoString(o.folder), Version: uint64(o.version), Complete: bool(o.complete),
			DefaultMaxBatch: int64(o.default_max_batch), Config: bytesOf(o.config, uint64(o.config_size)),
		})
		if err != nil {
			return err
		}
		if err := serve(m, nil, &out.handle); err != nil {
			return err
		}
		inputs, outputs := m.Inputs(), m.Outputs()
		out.input_count, out.output_count = C.uint64_t(len(inputs)), C.uint64_t(len(outputs))
		out.names = C.CString(strings.Join(append(inputs, outputs...), "\x00"))
		if c := m.Config(); c != nil {
			out.config = C.CString(string(c))
		}
		return nil
	})
}

// goTritonFree frees a model, whose instances are gone, or an instance that no thread is in.
//
//export goTritonFree
func goTritonFree(handle C.uint64_t) {
	quietly(func(*runtime.Runtime) { servings.Free(uint64(handle)) })
}

// goTritonInstanceNew makes an instance of a model. The caller owns the handle and the note, which says where it runs.
//
//export goTritonInstanceNew
func goTritonInstanceNew(model C.uint64_t, kind C.int, name C.text_in, out *C.uint64_t, mps *C.bool, note **C.char, constants *C.int64_t) C.fault {
	return serving(model, func(s *served) error {
		i, err := s.model.Instance(backend.Kind(kind))
		if err == nil {
			err = serve(s.model, i, out)
		}
		if err != nil {
			return err
		}
		c := i.Context()
		*constants, *mps = C.int64_t(s.model.Constants()), C.bool(c.Place().Kind == place.MPSKind)
		*note = C.CString(fmt.Sprintf("[metal_mps] instance %s runs on %s, %s", C.GoString(name), c.Place(), c.Info().Name))
		return nil
	})
}

// goTritonRelease frees the results of an instance's latest run, which have been copied.
//
//export goTritonRelease
func goTritonRelease(handle C.uint64_t) C.fault {
	return serving(handle, func(s *served) error {
		s.instance.Release()
		return nil
	})
}

// Between two executions the thread of an instance keeps the processor of Go's scheduler that it had (a P), so that the next
// execution only takes it up again. Ten milliseconds after a goroutine was last scheduled there, the scheduler's monitor takes the
// P away, and from then on after each execution: the next one has to look for a P and wakes the monitor, which is a system call
// before the model runs and four switches of threads beside it. See retake in runtime/proc.go of Go 1.26.

// goTritonKeep schedules the goroutine of the calling thread anew, so that its P stays. The thread waits for another one meanwhile:
// it is for after the responses, every few milliseconds. With several instances, whose threads would keep several Ps from work
// that can use them, it does nothing.
//
//export goTritonKeep
func goTritonKeep() {
	if instances.Load() == 1 {
		goruntime.Gosched()
	}
}

// goTritonRun runs the requests of an execution. A fault is that of all requests; otherwise each has its own.
//
//export goTritonRun
func goTritonRun(handle C.uint64_t, job *C.triton_job) C.fault {
	return serving(handle, func(s *served) error {
		s.take(job)
		job.gathering = C.uint64_t(s.instance.Run(s.requests))
		s.give(job)
		return nil
	})
}

// errSkipped marks requests that have failed before.
var errSkipped = status.Errorf(status.Internal, "[metal_mps] skipped")

// take makes requests of the arrays of an execution.
func (s *served) take(job *C.triton_job) {
	count, inputs, outputs := int(job.requests), int(job.input_count), int(job.output_count)
	// SAFETY: the arrays are triton_backend.c's for the call, with as many elements as the job says.
	given, wanted := unsafe.Slice(job.inputs, count*inputs), unsafe.Slice(job.outputs, count*outputs)
	answers, pieces := unsafe.Slice(job.answers, count), unsafe.Slice(job.pieces, int(job.piece_count))
	s.pieces = s.pieces[:0]
	for n := range pieces {
		s.pieces = append(s.pieces, bytesOf(C.text_in(pieces[n].data), uint64(pieces[n].size)))
	}
	for len(s.room) < count {
		s.room = append(s.room, backend.Request{Inputs: make([]backend.Input, inputs), Outputs: make([]backend.Output, outputs)})
	}
	s.requests = s.room[:count]
	for r := range s.requests {
		to := &s.requests[r]
		if to.Err = nil; answers[r].skip {
			to.Err = errSkipped
		}
		for n := range to.Inputs {
			from := &given[r*inputs+n]
			to.Inputs[n] = backend.Input{Given: bool(from.given), Type: backend.Datatype(from._type)}
			if first := int(from.first); from.given && !answers[r].skip {
				to.Inputs[n].Pieces = s.pieces[first : first+int(from.pieces)]
			}
			if from.dims != nil {
				// SAFETY: the server's, for as long as the request.
				to.Inputs[n].Dims = unsafe.Slice((*int64)(unsafe.Pointer(from.dims)), int(from.rank))
			}
		}
		for n := range to.Outputs {
			to.Outputs[n].Wanted, to.Outputs[n].Data = bool(wanted[r*outputs+n].wanted), nil
		}
	}
}

// give writes errors and outputs into the arrays of an execution. Outputs lie in memory of the runtime, not of Go.
func (s *served) give(job *C.triton_job) {
	count, outputs := int(job.requests), int(job.output_count)
	// SAFETY: as in take.
	made, answers := unsafe.Slice(job.outputs, count*outputs), unsafe.Slice(job.answers, count)
	for r := range s.requests {
		from := &s.requests[r]
		if answers[r].skip {
			continue
		}
		answers[r].batch = C.uint64_t(max(from.Batch, 0))
		if from.Err != nil {
			answers[r].failed = fault(from.Err)
			continue
		}
		for n := range from.Outputs {
			o, to := &from.Outputs[n], &made[r*outputs+n]
			to.data, to.size = unsafe.Pointer(unsafe.SliceData(o.Data)), C.uint64_t(len(o.Data))
			to._type, to.rank = C.int32_t(o.Type), C.uint32_t(len(o.Dims))
			for d, size := range o.Dims {
				to.dims[d] = C.int64_t(size)
			}
		}
	}
	clear(s.pieces) // borrowed
	job.large = C.bool(s.instance.Large())
	if job.report {
		memory, cache := s.instance.Context().Stats(), s.instance.Context().Programs()
		for n, v := range [C.FIGURES]int64{memory.Reserved.Current, memory.Allocated.Current, cache.Entries, cache.Compilations} {
			job.figures[n] = C.int64_t(v)
		}
	}
}
