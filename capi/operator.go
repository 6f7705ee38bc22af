package main

// #include "shim.h"
import "C"

import (
	"sync"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/capi/convert"
	"github.com/paddle-mps/paddle-mps/core/eager"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// texts are strings that C borrows for ever, each once.
var texts sync.Map // string -> *C.char

// forever is a string in memory that is never freed. There are as many as names in the source.
func forever(s string) *C.char {
	if text, ok := texts.Load(s); ok {
		return text.(*C.char)
	}
	made := C.CString(s)
	text, lost := texts.LoadOrStore(s, made)
	if lost {
		C.free(unsafe.Pointer(made)) // SAFETY: ours alone: another thread has stored its copy first
	}
	return text.(*C.char)
}

// goDtypeSize is pmps_dtype_size. It needs no runtime.
//
//export goDtypeSize
func goDtypeSize(d C.int32_t) C.int64_t {
	return C.int64_t(convert.DTypeOf(int32(d)).Size()) // dtype.Invalid has size 0
}

// goDtypeName is pmps_dtype_name. The text is borrowed for ever. It needs no runtime.
//
//export goDtypeName
func goDtypeName(d C.int32_t) C.text_in {
	t := convert.DTypeOf(int32(d))
	if !t.Named() {
		return nil
	}
	return forever(t.String())
}

// goOpFind is pmps_op_find. The name is only read. It needs no runtime.
//
//export goOpFind
func goOpFind(name C.text_in, out *C.pmps_op) C.fault {
	if name == nil || out == nil {
		return fault(convert.NullPointer("op_find"))
	}
	row, err := op.ByName(C.GoString(name))
	if err != nil {
		return fault(err)
	}
	*out = C.pmps_op(row.ID)
	return 0
}

// goOpName is pmps_op_name. The text is borrowed for ever; null for a number that is not an operator's. It
// needs no runtime.
//
//export goOpName
func goOpName(id C.pmps_op) C.text_in {
	row, err := convert.RowOf(uint64(id))
	if err != nil {
		return nil
	}
	return forever(row.Name)
}

// goOpSignature is pmps_op_signature. The text is borrowed for ever; null as from [goOpName]. It needs no
// runtime.
//
//export goOpSignature
func goOpSignature(id C.pmps_op) C.text_in {
	row, err := convert.RowOf(uint64(id))
	if err != nil {
		return nil
	}
	return forever(convert.Signature(row))
}

// bound runs body with a call read from the caller's memory and this thread's stream; both are held while it runs.
func bound(rt *runtime.Runtime, id, args uint64, argsAt unsafe.Pointer, attrs uint64, attrsAt unsafe.Pointer, on C.uint64_t, body func(*convert.Call, *runtime.Stream) error) error {
	c, err := convert.Bind(rt, id, argsAt, args, attrsAt, attrs)
	if err != nil {
		return err
	}
	defer c.Release()
	stream, err := using(on)
	if err != nil {
		return err
	}
	defer done(on)
	return body(&c, stream)
}

// goOpCall is pmps_op_call. args and attrs are read before it returns, and their tensors are held for the
// call. The caller owns the handles in outputs.
//
//export goOpCall
func goOpCall(id C.pmps_op, args unsafe.Pointer, argCount C.size_t, attrs unsafe.Pointer, attrCount C.size_t, on C.uint64_t, outputs *C.uint64_t, count *C.size_t) C.fault {
	return try(func(rt *runtime.Runtime) error {
		return bound(rt, uint64(id), uint64(argCount), args, uint64(attrCount), attrs, on, func(c *convert.Call, s *runtime.Stream) error {
			return results(calling(rt, on), c, nil, s, outputs, count)
		})
	})
}

// goOpCallOn is pmps_op_call_on. As [goOpCall], on the device of a place.
//
//export goOpCallOn
func goOpCallOn(p C.place_in, id C.pmps_op, args unsafe.Pointer, argCount C.size_t, attrs unsafe.Pointer, attrCount C.size_t, on C.uint64_t, outputs *C.uint64_t, count *C.size_t) C.fault {
	return try(func(rt *runtime.Runtime) error {
		where, displaced, err := placeOf(rt, p)
		if err != nil {
			return err
		}
		return bound(rt, uint64(id), uint64(argCount), args, uint64(attrCount), attrs, on, func(c *convert.Call, s *runtime.Stream) error {
			c.Displaced = displaced
			return results(calling(rt, on), c, where, s, outputs, count)
		})
	})
}

// results runs a call and writes the handles of what it made to outputs, if there is room for them.
func results(rt eager.Caller, c *convert.Call, where *runtime.Context, s *runtime.Stream, outputs *C.uint64_t, count *C.size_t) error {
	if outputs == nil || count == nil {
		return convert.NullPointer(c.Row.Name)
	}
	made, err := rt.Call(c.Row, c.In, c.At, where, s)
	if err != nil {
		return err
	}
	if uint64(len(made)) > uint64(*count) {
		free(rt.Runtime, made)
		return status.Errorf(status.Invalid, "[%s] makes %d tensors; want room for them, not for %d", c.Row.Name, len(made), *count)
	}
	convert.Displace(c.Displaced, made...)
	// SAFETY: the C contract says that outputs has room for *count handles, which is at least len(made).
	to := unsafe.Slice(outputs, len(made))
	for i, t := range made {
		to[i] = C.uint64_t(t.Handle())
	}
	*count = C.size_t(len(made))
	return nil
}

// free frees tensors that cannot be returned to the caller.
func free(rt *runtime.Runtime, made []*runtime.Tensor) {
	for _, t := range made {
		rt.Free(t.Handle())
	}
}

// goOpCallInto is pmps_op_call_into. output is held for the call and stays the caller's.
//
//export goOpCallInto
func goOpCallInto(id C.pmps_op, args unsafe.Pointer, argCount C.size_t, attrs unsafe.Pointer, attrCount C.size_t, on, output C.uint64_t) C.fault {
	return try(func(rt *runtime.Runtime) error {
		return bound(rt, uint64(id), uint64(argCount), args, uint64(attrCount), attrs, on, func(c *convert.Call, s *runtime.Stream) error {
			out := rt.Acquire(uint64(output))
			if out == nil {
				return convert.StaleHandle(c.Row.Name, "tensor", rt.HandleHistory(uint64(output)))
			}
			defer out.Release()
			return calling(rt, on).CallInto(c.Row, c.In, c.At, out, s)
		})
	})
}
