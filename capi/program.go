package main

// #include "shim.h"
import "C"

import (
	"unsafe"

	"github.com/paddle-mps/paddle-mps/capi/convert"
	"github.com/paddle-mps/paddle-mps/core/execute"
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// Kinds of handles, after those of libraries and kernels.
const (
	graphKind   = 6
	programKind = 7
)

// A graph goes with its handle. A program goes when its handle is freed and no call is inside; what it has submitted to
// streams keeps what it needs.
var (
	graphs   = convert.NewTable(graphKind, func(*convert.Building) {})
	programs = convert.NewTable(programKind, (*execute.Program).Close)
)

// goGraphNew is pmps_graph_new. The caller owns the handle.
//
//export goGraphNew
func goGraphNew(out *C.uint64_t) C.fault {
	return try(func(*runtime.Runtime) error {
		if out == nil {
			return convert.NullPointer("graph_new")
		}
		handle, record := graphs.New()
		if record == nil {
			return convert.TableFull(graphs, "graph_new", "graphs")
		}
		*record = convert.NewBuilding()
		*out = C.uint64_t(handle)
		return nil
	})
}

// goGraphFree is pmps_graph_free. A program that was made of the graph stays valid.
//
//export goGraphFree
func goGraphFree(handle C.uint64_t) {
	quietly(func(*runtime.Runtime) { graphs.Free(uint64(handle)) })
}

// onGraph runs the body of an exported function against a graph. A second thread that uses the graph meanwhile gets
// status.Invalid.
func onGraph(who string, handle C.uint64_t, body func(*runtime.Runtime, *convert.Building) error) C.fault {
	return try(func(rt *runtime.Runtime) error {
		return convert.WithPinned(graphs, who, "graph", uint64(handle), func(g *convert.Building) error {
			if err := g.Enter(who); err != nil {
				return err
			}
			defer g.Mu.Unlock()
			return body(rt, g)
		})
	})
}

// goGraphAddSymbol is pmps_graph_add_symbol. The symbol is valid in this graph only.
//
//export goGraphAddSymbol
func goGraphAddSymbol(handle C.uint64_t, out *C.int64_t) C.fault {
	return onGraph("graph_add_symbol", handle, func(_ *runtime.Runtime, g *convert.Building) error {
		if out == nil {
			return convert.NullPointer("graph_add_symbol")
		}
		*out = C.int64_t(g.Dim(g.Builder.Symbol()))
		return nil
	})
}

// goGraphAddInput is pmps_graph_add_input. dims are read before it returns.
//
//export goGraphAddInput
func goGraphAddInput(handle C.uint64_t, number, rank C.int32_t, dims unsafe.Pointer, out *C.pmps_value) C.fault {
	const who = "graph_add_input"
	return onGraph(who, handle, func(_ *runtime.Runtime, g *convert.Building) error {
		if out == nil {
			return convert.NullPointer(who)
		}
		d, err := convert.KnownDType(who, int32(number))
		if err != nil {
			return err
		}
		list, err := convert.Dimensions(who, int32(rank), dims)
		if err != nil {
			return err
		}
		v, err := g.Input(who, op.Type{DType: d}, list)
		if err == nil {
			*out = C.pmps_value(v)
		}
		return err
	})
}

// goGraphAddConstant is pmps_graph_add_constant. The elements are copied: it blocks until they are computed,
// and the tensor may be freed or written to afterwards.
//
//export goGraphAddConstant
func goGraphAddConstant(handle, tensor C.uint64_t, out *C.pmps_value) C.fault {
	const who = "graph_add_constant"
	return onGraph(who, handle, func(rt *runtime.Runtime, g *convert.Building) error {
		if out == nil {
			return convert.NullPointer(who)
		}
		t := rt.Acquire(uint64(tensor))
		if t == nil {
			return convert.StaleHandle(who, "tensor", rt.HandleHistory(uint64(tensor)))
		}
		defer t.Release()
		c, err := execute.Constant(t)
		if err == nil {
			*out = C.pmps_value(g.Name(g.Builder.Constant(c)))
		}
		return err
	})
}

// goGraphAddScalar is pmps_graph_add_scalar. The scalar is read before it returns.
//
//export goGraphAddScalar
func goGraphAddScalar(handle C.uint64_t, given unsafe.Pointer, out *C.pmps_value) C.fault {
	const who = "graph_add_scalar"
	return onGraph(who, handle, func(_ *runtime.Runtime, g *convert.Building) error {
		if given == nil || out == nil {
			return convert.NullPointer(who)
		}
		// SAFETY: the C contract says that given points to a pmps_arg for the duration of the call.
		v, err := (*convert.Arg)(given).Scalar(who)
		if err != nil {
			return err
		}
		made := g.Absent
		if v.Set() {
			made = func() graph.Value { return g.Builder.Scalar(v) }
		}
		*out = C.pmps_value(g.Name(made()))
		return nil
	})
}

// goGraphCall is pmps_graph_call. Everything is read from the caller's memory before the graph changes, and the
// room for the values is checked before any is written: a call that fails changes neither. Values belong to the
// graph and are not freed.
//
//export goGraphCall
func goGraphCall(handle C.uint64_t, id C.pmps_op, inputs unsafe.Pointer, inCount C.size_t, attrs unsafe.Pointer, attrCount C.size_t, outputs *C.pmps_value, count *C.size_t) C.fault {
	return onGraph("graph_call", handle, func(rt *runtime.Runtime, g *convert.Building) error {
		row, err := convert.RowOf(uint64(id))
		if err != nil {
			return err
		}
		if outputs == nil || count == nil {
			return convert.NullPointer(row.Name)
		}
		names, err := convert.Array[int64](row.Name, "operands", inputs, uint64(inCount))
		if err != nil {
			return err
		}
		at, err := convert.ConstantAttributes(rt, row, attrs, uint64(attrCount))
		if err != nil {
			return err
		}
		made, err := g.Call(row, names, at, uint64(*count))
		if err != nil {
			return err
		}
		// SAFETY: the C contract says that outputs has room for *count values, which is at least len(made).
		copy(unsafe.Slice((*int64)(outputs), len(made)), made)
		*count = C.size_t(len(made))
		return nil
	})
}

// goGraphGetValueInfo is pmps_graph_get_value_info. Symbols among the dims are those that the caller knows,
// with the number of the graph.
//
//export goGraphGetValueInfo
func goGraphGetValueInfo(handle C.uint64_t, value C.pmps_value, info *C.pmps_value_info) C.fault {
	const who = "graph_get_value_info"
	return onGraph(who, handle, func(_ *runtime.Runtime, g *convert.Building) error {
		v, err := g.Value(who, "value", 0, int64(value))
		if err != nil {
			return err
		}
		t := g.Builder.TypeOf(v)
		full := C.pmps_value_info{dtype: C.int32_t(t.DType), rank: C.int32_t(t.Shape.Rank)}
		for i, d := range t.Shape.Slice() {
			full.dims[i] = C.int64_t(g.Dim(d))
		}
		return give(who, info, &full, &full.struct_size)
	})
}

// goGraphToText is pmps_graph_to_text. The text is C memory that the caller owns; pmps_text_free frees it.
//
//export goGraphToText
func goGraphToText(handle C.uint64_t, out **C.char) C.fault {
	return onGraph("graph_to_text", handle, func(_ *runtime.Runtime, g *convert.Building) error {
		if out == nil {
			return convert.NullPointer("graph_to_text")
		}
		*out = C.CString(g.Builder.String())
		return nil
	})
}

// goProgramNew is pmps_program_new. The caller owns the handle. The handle is made before the graph is ended,
// because an ended graph cannot be used again.
//
//export goProgramNew
func goProgramNew(p C.place_in, handle C.uint64_t, outputs unsafe.Pointer, count C.size_t, out *C.uint64_t) C.fault {
	const who = "program_new"
	return onGraph(who, handle, func(rt *runtime.Runtime, g *convert.Building) error {
		if out == nil {
			return convert.NullPointer(who)
		}
		c, err := contextOf(rt, p)
		if err != nil {
			return err
		}
		names, err := convert.Array[int64](who, "outputs", outputs, uint64(count))
		if err != nil {
			return err
		}
		made, record := programs.New()
		if record == nil {
			return convert.TableFull(programs, who, "programs")
		}
		built, err := g.End(who, names)
		if err != nil {
			programs.Free(made)
			return err
		}
		*record = execute.New(c, built)
		*out = C.uint64_t(made)
		return nil
	})
}

// goProgramFree is pmps_program_free. Runs under way have pinned the program, which is closed when the last
// of them returns.
//
//export goProgramFree
func goProgramFree(handle C.uint64_t) {
	quietly(func(*runtime.Runtime) { programs.Free(uint64(handle)) })
}

// onProgram runs the body of an exported function against a program, which stays pinned while it runs.
func onProgram(who string, handle C.uint64_t, body func(*runtime.Runtime, *execute.Program) error) C.fault {
	return try(func(rt *runtime.Runtime) error {
		return convert.WithPinned(programs, who, "program", uint64(handle), func(p *execute.Program) error { return body(rt, p) })
	})
}

// goProgramSave is pmps_program_save. It waits for the work that computes captured tensors.
//
//export goProgramSave
func goProgramSave(handle C.uint64_t, path C.text_in) C.fault {
	const who = "program_save"
	return onProgram(who, handle, func(_ *runtime.Runtime, p *execute.Program) error {
		if path == nil {
			return convert.NullPointer(who)
		}
		return p.Save(C.GoString(path))
	})
}

// goProgramPrepare is pmps_program_prepare. It compiles on the calling thread.
//
//export goProgramPrepare
func goProgramPrepare(handle C.uint64_t, dims, ranks unsafe.Pointer, count C.size_t) C.fault {
	const who = "program_prepare"
	return onProgram(who, handle, func(_ *runtime.Runtime, p *execute.Program) error {
		lists, err := convert.Array[*int64](who, "inputs", dims, uint64(count))
		if err != nil {
			return err
		}
		lengths, err := convert.Array[int32](who, "ranks", ranks, uint64(count))
		if err != nil {
			return err
		}
		for i, in := range p.Inputs()[:min(len(p.Inputs()), len(lists))] {
			if lists[i] != nil && int(lengths[i]) != in.Shape.Rank {
				return status.Errorf(status.Invalid, "[%s] got %d sizes of input %d; want %d", who, lengths[i], i, in.Shape.Rank)
			}
		}
		types, err := convert.Sizes(who, p.Inputs(), func(i, rank int) []int64 {
			if lists[i] == nil {
				return nil
			}
			// SAFETY: the C contract says that there are as many sizes as ranks says, which the loop above has compared.
			return unsafe.Slice(lists[i], rank)
		}, uint64(count))
		if err != nil {
			return err
		}
		return p.Prepare(types)
	})
}

// goProgramRun is pmps_program_run. Room for the outputs is checked first, because a run cannot be undone. Inputs
// are held only during the call and stay the caller's: the launches hold their memory. The caller owns the
// handles in outputs.
//
//export goProgramRun
func goProgramRun(handle C.uint64_t, inputs unsafe.Pointer, inCount C.size_t, on C.uint64_t, outputs *C.uint64_t, count *C.size_t) C.fault {
	const who = "program_run"
	return onProgram(who, handle, func(rt *runtime.Runtime, p *execute.Program) error {
		if outputs == nil || count == nil {
			return convert.NullPointer(who)
		}
		if uint64(p.Outputs()) > uint64(*count) {
			return status.Errorf(status.Invalid, "[%s] makes %d tensors; want room for them, not for %d", who, p.Outputs(), *count)
		}
		in, err := tensorsOf(rt, who, "inputs", inputs, inCount)
		defer convert.ReleaseAll(in)
		if err != nil {
			return err
		}
		stream, err := using(on)
		if err != nil {
			return err
		}
		defer done(on)
		made, err := execute.RunAs(calling(rt, on), p, in, stream, nil)
		if err != nil {
			return err
		}
		return handOver(rt, who, made, outputs, count)
	})
}

// handOver writes the handles of what a run has made. Where the room is too small, which is known only now where the outputs
// are lists, it frees them.
func handOver(rt *runtime.Runtime, who string, made []*runtime.Tensor, outputs *C.uint64_t, count *C.size_t) error {
	if uint64(len(made)) > uint64(*count) {
		for _, t := range made {
			rt.Free(t.Handle())
		}
		return status.Errorf(status.Invalid, "[%s] made %d tensors; want room for them, not for %d", who, len(made), *count)
	}
	// SAFETY: the C contract says that outputs has room for *count handles, which is at least len(made).
	to := unsafe.Slice(outputs, len(made))
	for i, t := range made {
		to[i] = C.uint64_t(t.Handle())
	}
	*count = C.size_t(len(made))
	return nil
}

// goProgramRunInto is pmps_program_run_into. Inputs and outputs are held during the call and stay the caller's.
//
//export goProgramRunInto
func goProgramRunInto(handle C.uint64_t, inputs unsafe.Pointer, inCount C.size_t, on C.uint64_t, outputs unsafe.Pointer, outCount C.size_t) C.fault {
	const who = "program_run_into"
	return onProgram(who, handle, func(rt *runtime.Runtime, p *execute.Program) error {
		in, err := tensorsOf(rt, who, "inputs", inputs, inCount)
		defer convert.ReleaseAll(in)
		if err != nil {
			return err
		}
		out, err := tensorsOf(rt, who, "outputs", outputs, outCount)
		defer convert.ReleaseAll(out)
		if err != nil {
			return err
		}
		stream, err := using(on)
		if err != nil {
			return err
		}
		defer done(on)
		return execute.RunInto(calling(rt, on), p, in, out, stream)
	})
}

// tensorsOf holds the tensors of an array of handles, some of them even after an error.
func tensorsOf(rt *runtime.Runtime, who, what string, handles unsafe.Pointer, count C.size_t) ([]*runtime.Tensor, error) {
	list, err := convert.Array[uint64](who, what, handles, uint64(count))
	if err != nil {
		return nil, err
	}
	return convert.AcquireAll(nil, rt, who, list)
}

// goProgramGetInfo is pmps_program_get_info. It may be called during a run, and then describes the sizes that
// were compiled last.
//
//export goProgramGetInfo
func goProgramGetInfo(handle C.uint64_t, info *C.pmps_program_info) C.fault {
	return onProgram("program_get_info", handle, func(_ *runtime.Runtime, p *execute.Program) error {
		i := p.Info()
		full := C.pmps_program_info{
			inputs:         C.int64_t(i.Inputs),
			outputs:        C.int64_t(i.Outputs),
			operators:      C.int64_t(i.Operators),
			compilations:   C.int64_t(i.Compilations),
			constant_bytes: C.int64_t(i.Constants),
			steps:          C.int64_t(i.Steps),
			cpu_steps:      C.int64_t(i.CPUSteps),
			parts:          C.int64_t(i.Parts),
			scratch_bytes:  C.int64_t(i.Arena),
			groups:         C.int64_t(i.Groups),
			grouped_steps:  C.int64_t(i.Grouped),
			captured:       C.int64_t(i.Captured),
			outdated:       C.bool(i.Outdated),
		}
		return give("program_get_info", info, &full, &full.struct_size)
	})
}
