package main

// #include "shim.h"
import "C"

import (
	"io"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/capi/convert"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/execute"
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/onnx"
	"github.com/paddle-mps/paddle-mps/place"
)

// model is a model as a source of programs.
type model struct{ *onnx.Model }

// Decided is the model with inputs of known elements.
func (m model) Decided(known map[int]*op.Const) execute.Source { return m.Given(known) }

// Formed is the model for inputs of known numbers of tensors.
func (m model) Formed(counts []int64) (execute.Source, error) {
	f, err := m.Form(counts)
	if err != nil {
		return nil, err
	}
	return form{f}, nil
}

// form is a model for known numbers of tensors as a source.
type form struct{ *onnx.Form }

// Decided is the form with tensors of known elements.
func (f form) Decided(known map[int]*op.Const) execute.Source { return f.Given(known) }

// goProgramLoad is pmps_program_load. The bytes are copied: the elements of constants are read from them at each
// compilation. The caller owns the handle.
//
//export goProgramLoad
func goProgramLoad(p C.place_in, path C.text_in, data unsafe.Pointer, size C.size_t, out *C.uint64_t) C.fault {
	const who = "program_load"
	return try(func(rt *runtime.Runtime) error {
		if out == nil {
			return convert.NullPointer(who)
		}
		c, err := contextOf(rt, p)
		if err != nil {
			return err
		}
		read, err := load(rt, path, data, size)
		if err != nil {
			return err
		}
		handle, record := programs.New()
		if record == nil {
			if file, ok := read.(io.Closer); ok {
				_ = file.Close() // the first error is the one to report
			}
			return convert.TableFull(programs, who, "programs")
		}
		if m, ok := read.(model); ok && c.Place() == place.CPU {
			m.UseIntegers()
		}
		*record = execute.New(c, read)
		*out = C.uint64_t(handle)
		return nil
	})
}

// load reads a program from a file or from bytes, exactly one of which is given.
func load(rt *runtime.Runtime, path C.text_in, data unsafe.Pointer, size C.size_t) (execute.Source, error) {
	const who = "program_load"
	switch {
	case (path == nil) == (data == nil):
		return nil, status.Errorf(status.Invalid, "[%s] got a path and bytes, or neither; want one of the two", who)
	case path != nil && execute.IsSaved(C.GoString(path)):
		return execute.Load(C.GoString(path))
	case path != nil:
		return modelOf(onnx.Open(C.GoString(path), execute.Folder(rt)))
	}
	given, err := convert.Bytes(who, data, uint64(size))
	if err != nil {
		return nil, err
	}
	own := append([]byte(nil), given...)
	if graph.IsFile(own) {
		return sourceOf(graph.ReadFile(own))
	}
	return modelOf(onnx.Parse(own, "", execute.Folder(rt)))
}

// modelOf is a model as a source, and sourceOf a graph.
func modelOf(m *onnx.Model, err error) (execute.Source, error) {
	if err != nil {
		return nil, err
	}
	return model{m}, nil
}

func sourceOf(g *graph.Graph, err error) (execute.Source, error) {
	if err != nil {
		return nil, err
	}
	return g, nil
}

// goProgramGetPort is pmps_program_get_port. The texts are C memory that the caller owns.
//
//export goProgramGetPort
func goProgramGetPort(handle C.uint64_t, output C.bool, index C.size_t, info *C.pmps_value_info, name, kind **C.char) C.fault {
	const who = "program_get_port"
	return onProgram(who, handle, func(_ *runtime.Runtime, p *execute.Program) error {
		types := p.Inputs()
		if output {
			types = p.Source().Outputs()[:p.Outputs()]
		}
		if uint64(index) >= uint64(len(types)) {
			return status.Errorf(status.Index, "[%s] index is %d; want one below %d", who, index, len(types))
		}
		full, texts := portOf(&types[index]), [2]string{}
		if m, ok := p.Source().(model); ok {
			ports, outputs := m.Ports()
			if output {
				ports = outputs
			}
			port := ports[index]
			if port.IsString() {
				full.dtype = C.int32_t(dtype.String)
			}
			texts = [2]string{port.Name, port.Text()}
			if !port.Ranked {
				full.rank = -1
			}
		}
		if err := give(who, info, &full, &full.struct_size); err != nil {
			return err
		}
		for i, to := range [2]**C.char{name, kind} {
			if to != nil {
				*to = C.CString(texts[i])
			}
		}
		return nil
	})
}

// goProgramDescribe is pmps_program_describe. The text is C memory that the caller owns.
//
//export goProgramDescribe
func goProgramDescribe(handle C.uint64_t, json **C.char) C.fault {
	const who = "program_describe"
	return onProgram(who, handle, func(_ *runtime.Runtime, p *execute.Program) error {
		m, ok := p.Source().(model)
		switch {
		case json == nil:
			return convert.NullPointer(who)
		case !ok:
			return status.Errorf(status.Unsupported, "[%s] the program is not of an ONNX file", who)
		}
		*json = C.CString(string(m.Describe()))
		return nil
	})
}

// portOf is a type as the header has it; sizes that are not known are -1.
func portOf(t *op.Type) C.pmps_value_info {
	made := C.pmps_value_info{dtype: C.int32_t(t.DType), rank: C.int32_t(t.Shape.Rank)}
	for i, d := range t.Shape.Slice() {
		if made.dims[i] = C.int64_t(d); shape.IsSymbol(d) {
			made.dims[i] = -1
		}
	}
	return made
}
