package main

// #include "shim.h"
import "C"

import (
	"strings"
	"time"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/capi/convert"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/execute"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/core/trace"
)

// onTensor runs the body of an exported function against a tensor, which is held while it runs.
func onTensor(who string, handle C.uint64_t, body func(*runtime.Runtime, *runtime.Tensor) error) C.fault {
	return try(func(rt *runtime.Runtime) error {
		t := rt.Acquire(uint64(handle))
		if t == nil {
			return convert.StaleHandle(who, "tensor", rt.HandleHistory(uint64(handle)))
		}
		defer t.Release()
		return body(rt, t)
	})
}

// hand writes the handle of a new tensor to out, for the caller to own; an error is passed on.
func hand(out *C.uint64_t, t *runtime.Tensor, err error) error {
	if err == nil {
		*out = C.uint64_t(t.Handle())
	}
	return err
}

// described reads the device, dtype and shape of a new tensor.
func described(rt *runtime.Runtime, who string, p C.place_in, number, rank C.int32_t, dims unsafe.Pointer) (c *runtime.Context, displaced int32, d dtype.DType, s shape.Shape, err error) {
	if c, displaced, err = placeOf(rt, p); err != nil {
		return c, 0, d, s, err
	}
	if d, err = convert.KnownDType(who, int32(number)); err != nil {
		return c, 0, d, s, err
	}
	s, err = convert.ShapeOf(who, int32(rank), dims)
	return c, displaced, d, s, err
}

// goTensorEmpty is pmps_tensor_empty. The caller owns the handle. The memory may be one that another stream
// has used: the first work on it waits for that, on the stream on or the device's default one.
//
//export goTensorEmpty
func goTensorEmpty(p C.place_in, dtype, rank C.int32_t, dims unsafe.Pointer, on C.uint64_t, out *C.uint64_t) C.fault {
	return try(func(rt *runtime.Runtime) error {
		if out == nil {
			return convert.NullPointer("tensor_empty")
		}
		c, displaced, d, s, err := described(rt, "tensor_empty", p, dtype, rank, dims)
		if err != nil {
			return err
		}
		stream, err := using(on)
		if err != nil {
			return err
		}
		defer done(on)
		t, err := rt.Empty(c, d, s, stream)
		convert.Displace(displaced, t)
		return hand(out, t, err)
	})
}

// goTensorFromHost is pmps_tensor_from_host. The caller owns the handle; data is copied before it returns.
//
//export goTensorFromHost
func goTensorFromHost(p C.place_in, dtype, rank C.int32_t, dims, data unsafe.Pointer, on C.uint64_t, out *C.uint64_t) C.fault {
	const who = "tensor_from_host"
	return try(func(rt *runtime.Runtime) error {
		if out == nil {
			return convert.NullPointer(who)
		}
		c, displaced, d, s, err := described(rt, who, p, dtype, rank, dims)
		if err != nil {
			return err
		}
		size, err := s.Bytes(d.Size())
		if err != nil {
			return status.Errorf(status.Invalid, "[%s] %s", who, strings.TrimPrefix(err.Error(), "[shape] "))
		}
		from, err := convert.Bytes(who, data, uint64(size))
		if err != nil {
			return err
		}
		t, err := rt.FromHost(c, d, s, from)
		if err == nil {
			convert.Displace(displaced, t)
			trace.MadeHere(traceOf(on), t)
		}
		return hand(out, t, err)
	})
}

// goTensorFromMemory is pmps_tensor_from_memory. The caller owns the handle; data is retained until deleter
// is called, from any thread. After an error deleter is not called.
//
//export goTensorFromMemory
func goTensorFromMemory(dtype, rank C.int32_t, dims, strides unsafe.Pointer, data unsafe.Pointer, deleter C.pmps_deleter, user C.uint64_t, out *C.uint64_t) C.fault {
	const who = "tensor_from_memory"
	return try(func(rt *runtime.Runtime) error {
		if out == nil {
			return convert.NullPointer(who)
		}
		d, err := convert.KnownDType(who, int32(dtype))
		if err != nil {
			return err
		}
		l, err := convert.LayoutOf(who, int32(rank), dims, strides, d.Size())
		if err != nil {
			return err
		}
		var free func()
		if deleter != nil {
			free = func() { C.call_deleter(deleter, user) }
		}
		t, err := rt.Import(d, l, data, free)
		return hand(out, t, err)
	})
}

// goTensorFromStrings is pmps_tensor_from_strings. The caller owns the handle; data is copied before it returns.
//
//export goTensorFromStrings
func goTensorFromStrings(p C.place_in, rank C.int32_t, dims, data unsafe.Pointer, size C.size_t, out *C.uint64_t) C.fault {
	const who = "tensor_from_strings"
	return try(func(rt *runtime.Runtime) error {
		if out == nil {
			return convert.NullPointer(who)
		}
		c, _, err := placeOf(rt, p)
		if err != nil {
			return err
		}
		s, err := convert.ShapeOf(who, int32(rank), dims)
		if err != nil {
			return err
		}
		wire, err := convert.Bytes(who, data, uint64(size))
		if err != nil {
			return err
		}
		t, err := execute.FromStrings(rt, c, s, wire)
		return hand(out, t, err)
	})
}

// goTensorGetStrings is pmps_tensor_get_strings. The bytes are C memory that the caller owns. It blocks until the tensor is computed.
//
//export goTensorGetStrings
func goTensorGetStrings(handle C.uint64_t, data **C.char, size *C.size_t) C.fault {
	const who = "tensor_get_strings"
	return onTensor(who, handle, func(_ *runtime.Runtime, t *runtime.Tensor) error {
		if data == nil || size == nil {
			return convert.NullPointer(who)
		}
		wire, err := execute.Strings(t)
		if err != nil {
			return err
		}
		*data, *size = (*C.char)(C.CBytes(wire)), C.size_t(len(wire))
		return nil
	})
}

// goTensorRetain is pmps_tensor_retain. The caller owns the new handle; either may be freed first.
//
//export goTensorRetain
func goTensorRetain(handle C.uint64_t, out *C.uint64_t) C.fault {
	return onTensor("tensor_retain", handle, func(_ *runtime.Runtime, t *runtime.Tensor) error {
		if out == nil {
			return convert.NullPointer("tensor_retain")
		}
		same, err := t.Again()
		return hand(out, same, err)
	})
}

// goTensorReplace is pmps_tensor_replace. The caller owns the new handle.
//
//export goTensorReplace
func goTensorReplace(handle, other C.uint64_t, out *C.uint64_t) C.fault {
	const who = "tensor_replace"
	return onTensor(who, handle, func(rt *runtime.Runtime, t *runtime.Tensor) error {
		if out == nil {
			return convert.NullPointer(who)
		}
		u := rt.Acquire(uint64(other))
		if u == nil {
			return convert.StaleHandle(who, "tensor", rt.HandleHistory(uint64(other)))
		}
		defer u.Release()
		same, err := u.Again()
		if err == nil {
			t.ReplacedBy(u)
		}
		return hand(out, same, err)
	})
}

// goTensorFree is pmps_tensor_free. Work that is submitted holds the storage, so a tensor may be freed at any
// time.
//
//export goTensorFree
func goTensorFree(handle C.uint64_t) {
	quietly(func(rt *runtime.Runtime) { rt.Free(uint64(handle)) })
}

// goTensorGetInfo is pmps_tensor_get_info. The layout of a tensor never changes, so it takes no lock.
//
//export goTensorGetInfo
func goTensorGetInfo(handle, on C.uint64_t, info *C.pmps_tensor_info) C.fault {
	return onTensor("tensor_get_info", handle, func(_ *runtime.Runtime, t *runtime.Tensor) error {
		l := &t.Layout
		full := C.pmps_tensor_info{
			dtype:      C.int32_t(t.DType),
			rank:       C.int32_t(l.Rank),
			place:      cPlace(t.Place()),
			numel:      C.int64_t(l.Numel()),
			offset:     C.int64_t(t.Offset),
			storage_id: C.uint64_t(t.StorageID()),
			traced:     C.bool(t.Traced()),
			made_here:  C.bool(trace.IsMadeHere(traceOf(on), t)),
		}
		arrays(l, &full.dims, &full.strides)
		return give("tensor_get_info", info, &full, &full.struct_size)
	})
}

// arrays writes a layout to the arrays of a C struct.
func arrays(l *shape.Layout, dims, strides *[shape.MaxRank]C.int64_t) {
	for i := range l.Rank {
		dims[i], strides[i] = C.int64_t(l.Dims[i]), C.int64_t(l.Strides[i])
	}
}

// goTensorRead is pmps_tensor_read. It blocks until the tensor is computed, and reports the failure of that
// work.
//
//export goTensorRead
func goTensorRead(handle, on C.uint64_t, data unsafe.Pointer, size C.size_t) C.fault {
	return onTensor("tensor_read", handle, func(_ *runtime.Runtime, t *runtime.Tensor) error {
		return readInto(t, on, data, uint64(size))
	})
}

// readInto copies the elements of a tensor to the caller's memory, which a trace on this stream notes.
func readInto(t *runtime.Tensor, on C.uint64_t, data unsafe.Pointer, size uint64) error {
	if err := numeric("tensor_read", t); err != nil {
		return err
	}
	to, err := convert.Bytes("tensor_read", data, size)
	if err != nil {
		return err
	}
	if err := trace.ReadsElements(traceOf(on), t); err != nil {
		return err
	}
	return t.Read(to)
}

// numeric refuses a tensor of strings, whose elements mean nothing without them.
func numeric(who string, t *runtime.Tensor) error {
	if execute.HasStrings(t) {
		return status.Errorf(status.Type, "[%s] got a tensor of strings; want tensor_get_strings, which copies them", who)
	}
	return nil
}

// goTensorWrite is pmps_tensor_write. It blocks until the work that reads or writes the memory is done; data
// is copied before it returns.
//
//export goTensorWrite
func goTensorWrite(handle C.uint64_t, data unsafe.Pointer, size C.size_t) C.fault {
	return onTensor("tensor_write", handle, func(_ *runtime.Runtime, t *runtime.Tensor) error {
		from, err := convert.Bytes("tensor_write", data, uint64(size))
		if err != nil {
			return err
		}
		return t.Write(from)
	})
}

// goTensorWaitFor is pmps_tensor_wait_for. It blocks for at most ms; see [slice].
//
//export goTensorWaitFor
func goTensorWaitFor(handle C.uint64_t, writing C.bool, ms C.int64_t, wait *C.uint64_t) C.fault {
	return onTensor("tensor_wait_for", handle, func(_ *runtime.Runtime, t *runtime.Tensor) error {
		return slice("tensor_wait_for", ms, wait, func(w runtime.Wait, d time.Duration) (runtime.Wait, error) {
			return t.WaitFor(w, d, bool(writing))
		})
	})
}

// goTensorMap is pmps_tensor_map. The address is borrowed while the tensor lives. It blocks until the tensor
// is computed.
//
//export goTensorMap
func goTensorMap(handle C.uint64_t, out *unsafe.Pointer) C.fault {
	return onTensor("tensor_map", handle, func(_ *runtime.Runtime, t *runtime.Tensor) error {
		if out == nil {
			return convert.NullPointer("tensor_map")
		}
		if err := numeric("tensor_map", t); err != nil {
			return err
		}
		p, err := t.Map()
		if err == nil {
			*out = p
		}
		return err
	})
}

// goTensorTo is pmps_tensor_to. The caller owns the handle, which names the same view where no copy is
// needed.
//
//export goTensorTo
func goTensorTo(handle C.uint64_t, p C.place_in, copied C.bool, on C.uint64_t, out *C.uint64_t) C.fault {
	return onTensor("tensor_to", handle, func(rt *runtime.Runtime, t *runtime.Tensor) error {
		if out == nil {
			return convert.NullPointer("tensor_to")
		}
		c, displaced, err := placeOf(rt, p)
		if err != nil {
			return err
		}
		stream, err := using(on)
		if err != nil {
			return err
		}
		defer done(on)
		u, err := calling(rt, on).Bring(t, c, displaced, bool(copied), stream)
		return hand(out, u, err)
	})
}

// goTensorShare is pmps_tensor_share. The caller owns the handle. Both tensors hold the memory, so either may
// be freed first.
//
//export goTensorShare
func goTensorShare(handle C.uint64_t, p C.place_in, out *C.uint64_t) C.fault {
	return onTensor("tensor_share", handle, func(rt *runtime.Runtime, t *runtime.Tensor) error {
		if out == nil {
			return convert.NullPointer("tensor_share")
		}
		c, _, err := placeOf(rt, p)
		if err != nil {
			return err
		}
		u, err := t.Share(c)
		return hand(out, u, err)
	})
}

// goTensorView is pmps_tensor_view. The caller owns the view.
//
//export goTensorView
func goTensorView(handle C.uint64_t, dtype C.int32_t, out *C.uint64_t) C.fault {
	return onTensor("tensor_view", handle, func(_ *runtime.Runtime, t *runtime.Tensor) error {
		if out == nil {
			return convert.NullPointer("tensor_view")
		}
		d, err := convert.KnownDType("tensor_view", int32(dtype))
		if err != nil {
			return err
		}
		v, err := t.Bits(d)
		return hand(out, v, err)
	})
}

// goTensorIndex is pmps_tensor_index. The caller owns the view; items are read before it returns.
//
//export goTensorIndex
func goTensorIndex(handle C.uint64_t, items unsafe.Pointer, count C.size_t, on C.uint64_t, out *C.uint64_t) C.fault {
	return onTensor("tensor_index", handle, func(rt *runtime.Runtime, t *runtime.Tensor) error {
		if out == nil {
			return convert.NullPointer("tensor_index")
		}
		list, err := convert.IndexItems(nil, items, uint64(count))
		if err != nil {
			return err
		}
		v, err := calling(rt, on).Index(t, list, traceOf(on))
		return hand(out, v, err)
	})
}
