package main

// #include "triton_backend.h"
import "C"

import (
	"fmt"
	"strings"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/slot"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/place"
	"github.com/paddle-mps/paddle-mps/serve/backend"
)

// What triton_backend.c calls. Models and instances are handles in C, and values of serve/backend here.

// Kinds of handles, after that of traces.
const (
	servedKind   = 9
	instanceKind = 10
)

// served is a model, and servedInstance an instance with the requests of its latest run, whose memory the next one uses again.
type (
	served         struct{ *backend.Model }
	servedInstance struct {
		*backend.Instance
		requests []backend.Request // of the latest run, in
		room     []backend.Request
		pieces   [][]byte
	}
)

var (
	servedModels = slot.NewTable(servedKind, func(m *served) {
		if m.Model != nil {
			m.Close()
		}
		*m = served{}
	})
	servedInstances = slot.NewTable(instanceKind, func(i *servedInstance) {
		if i.Instance != nil {
			i.Close()
		}
		*i = servedInstance{}
	})
)

// goTritonStart starts the runtime, so that an environment that is wrong is an error of the backend and not of each model, and
// reads the backend's configuration: {"cmdline":{"default-max-batch-size":"4"}}.
//
//export goTritonStart
func goTritonStart(config C.text_in, size C.size_t, batch *C.int64_t) C.fault {
	return try(func(*runtime.Runtime) error {
		n, err := backend.ReadBackendConfig(bytesOf(unsafe.Pointer(config), uint64(size)), int64(*batch))
		if err == nil {
			*batch = C.int64_t(n)
		}
		return err
	})
}

// bytesOf is memory of the server.
func bytesOf(p unsafe.Pointer, size uint64) []byte {
	if p == nil || size == 0 {
		return nil
	}
	// SAFETY: the caller's memory, which stays for the call.
	return unsafe.Slice((*byte)(p), size)
}

// goTritonModelLoad loads a version of a model. The caller owns the handle and the texts.
//
//export goTritonModelLoad
func goTritonModelLoad(o *C.triton_options, out *C.triton_loaded) C.fault {
	return try(func(rt *runtime.Runtime) error {
		m, err := backend.Load(rt, &backend.Options{
			Name: C.GoString(o.name), Folder: C.GoString(o.folder), Version: uint64(o.version), Complete: bool(o.complete),
			DefaultMaxBatch: int64(o.default_max_batch), Config: bytesOf(unsafe.Pointer(o.config), uint64(o.config_size)),
		})
		if err != nil {
			return err
		}
		handle, record := servedModels.New()
		if record == nil {
			m.Close()
			return full(servedModels, "metal_mps", "models")
		}
		*record = served{m}
		inputs, outputs := m.Inputs(), m.Outputs()
		*out = C.triton_loaded{handle: C.uint64_t(handle), input_count: C.uint64_t(len(inputs)), output_count: C.uint64_t(len(outputs))}
		out.names = C.CString(strings.Join(append(inputs, outputs...), "\x00"))
		if c := m.Config(); c != nil {
			out.config = C.CString(string(c))
		}
		return nil
	})
}

// goTritonModelFree frees a model; its instances are gone.
//
//export goTritonModelFree
func goTritonModelFree(handle C.uint64_t) {
	quietly(func(*runtime.Runtime) { servedModels.Free(uint64(handle)) })
}

// goTritonInstanceNew makes an instance of a model. The caller owns the handle and the note, which says where it runs.
//
//export goTritonInstanceNew
func goTritonInstanceNew(model C.uint64_t, kind C.int, name C.text_in, out *C.uint64_t, mps *C.bool, note **C.char, constants *C.int64_t) C.fault {
	return try(func(*runtime.Runtime) error {
		return pinned(servedModels, "metal_mps", "model", uint64(model), func(m *served) error {
			i, err := m.Instance(backend.Kind(kind))
			if err != nil {
				return err
			}
			handle, record := servedInstances.New()
			if record == nil {
				i.Close()
				return full(servedInstances, "metal_mps", "instances")
			}
			record.Instance = i
			*out, *constants = C.uint64_t(handle), C.int64_t(m.Constants())
			*mps = C.bool(i.Context().Place().Kind == place.MPSKind)
			*note = C.CString(fmt.Sprintf("[metal_mps] instance %s runs on %s, %s", C.GoString(name), i.Context().Place(), i.Context().Info().Name))
			return nil
		})
	})
}

// goTritonInstanceFree frees an instance that no thread is in.
//
//export goTritonInstanceFree
func goTritonInstanceFree(handle C.uint64_t) {
	quietly(func(*runtime.Runtime) { servedInstances.Free(uint64(handle)) })
}

// goTritonInstanceRelease frees the results of the latest run, which have been copied.
//
//export goTritonInstanceRelease
func goTritonInstanceRelease(handle C.uint64_t) {
	quietly(func(*runtime.Runtime) {
		_ = pinned(servedInstances, "metal_mps", "instance", uint64(handle), func(i *servedInstance) error { // has no error
			i.Release()
			return nil
		})
	})
}

// goTritonRun runs the requests of an execution. A fault is that of all requests; otherwise each has its own.
//
//export goTritonRun
func goTritonRun(handle C.uint64_t, job *C.triton_job) C.fault {
	return try(func(*runtime.Runtime) error {
		return pinned(servedInstances, "metal_mps", "instance", uint64(handle), func(i *servedInstance) error {
			i.take(job)
			job.gathering = C.uint64_t(i.Run(i.requests))
			i.give(job)
			return nil
		})
	})
}

// errSkipped marks requests that have failed before.
var errSkipped = status.Errorf(status.Internal, "[metal_mps] skipped")

// take makes requests of the arrays of an execution.
func (i *servedInstance) take(job *C.triton_job) {
	count, inputs, outputs := int(job.requests), int(job.input_count), int(job.output_count)
	// SAFETY: the arrays are triton_backend.c's for the call, with as many elements as the job says.
	given, wanted := unsafe.Slice(job.inputs, count*inputs), unsafe.Slice(job.outputs, count*outputs)
	answers, pieces := unsafe.Slice(job.answers, count), unsafe.Slice(job.pieces, int(job.piece_count))
	i.pieces = i.pieces[:0]
	for n := range pieces {
		i.pieces = append(i.pieces, bytesOf(unsafe.Pointer(pieces[n].data), uint64(pieces[n].size)))
	}
	for len(i.room) < count {
		i.room = append(i.room, backend.Request{Inputs: make([]backend.Input, inputs), Outputs: make([]backend.Output, outputs)})
	}
	i.requests = i.room[:count]
	for r := range i.requests {
		to := &i.requests[r]
		if to.Err = nil; answers[r].skip {
			to.Err = errSkipped
		}
		for n := range to.Inputs {
			from := &given[r*inputs+n]
			to.Inputs[n] = backend.Input{Given: bool(from.given), Type: backend.Datatype(from._type)}
			if first := int(from.first); from.given && !answers[r].skip {
				to.Inputs[n].Pieces = i.pieces[first : first+int(from.pieces)]
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
func (i *servedInstance) give(job *C.triton_job) {
	count, outputs := int(job.requests), int(job.output_count)
	// SAFETY: as in take.
	made, answers := unsafe.Slice(job.outputs, count*outputs), unsafe.Slice(job.answers, count)
	for r := range i.requests {
		from := &i.requests[r]
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
	clear(i.pieces) // borrowed
	job.large = C.bool(i.Large())
	if job.report {
		memory, cache := i.Context().Stats(), i.Context().Programs()
		for n, v := range [C.FIGURES]int64{memory.Reserved.Current, memory.Allocated.Current, cache.Entries, cache.Compilations} {
			job.figures[n] = C.int64_t(v)
		}
	}
}
