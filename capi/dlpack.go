package main

// #include "shim.h"
import "C"

import (
	"unsafe"

	"github.com/paddle-mps/paddle-mps/capi/convert"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// dlMajor is the major version of DLPack whose versioned structure this library reads.
const dlMajor = 1

// goTensorFromDlpack is pmps_tensor_from_dlpack. After success the tensor owns dl; after an error dl is the
// caller's and its deleter has not been called.
//
//export goTensorFromDlpack
func goTensorFromDlpack(dl *C.struct_DLManagedTensor, out *C.uint64_t) C.fault {
	return try(func(rt *runtime.Runtime) error {
		if dl == nil || out == nil {
			return convert.NullPointer("from_dlpack")
		}
		return adopt(rt, &dl.dl_tensor, func() { C.call_dl_deleter(dl) }, out)
	})
}

// goTensorFromDlpackVersioned is pmps_tensor_from_dlpack_versioned. Ownership is as in [goTensorFromDlpack].
// The version is checked before anything else is read, because another major version may have other fields.
//
//export goTensorFromDlpackVersioned
func goTensorFromDlpackVersioned(dl *C.struct_DLManagedTensorVersioned, out *C.uint64_t) C.fault {
	return try(func(rt *runtime.Runtime) error {
		if dl == nil || out == nil {
			return convert.NullPointer("from_dlpack")
		}
		if dl.version.major != dlMajor {
			return status.Errorf(status.Unsupported, "[from_dlpack] the tensor has DLPack version %d.%d; want %d.x", dl.version.major, dl.version.minor, dlMajor)
		}
		if dl.flags&C.DL_READ_ONLY != 0 {
			return status.Errorf(status.Unsupported, "[from_dlpack] the tensor is read-only; want one that may be written, or a copy")
		}
		return adopt(rt, &dl.dl_tensor, func() { C.call_dl_deleter_versioned(dl) }, out)
	})
}

// adopt makes a tensor over the memory of another library, whose structure is ours from then on:
// release, which calls its deleter, is called when the memory is no longer used.
func adopt(rt *runtime.Runtime, dl *C.DLTensor, release func(), out *C.uint64_t) error {
	// SAFETY: the two structs are one and the same; layout.go checks that.
	d, l, data, err := (*convert.DLTensor)(unsafe.Pointer(dl)).Read()
	if err != nil {
		return err
	}
	t, err := rt.Import(d, l, data, release)
	return hand(out, t, err)
}

// goTensorToDlpack is pmps_tensor_to_dlpack. The structure is C memory that its consumer owns. It holds a
// handle of its own, so it outlives the handle that is given.
//
//export goTensorToDlpack
func goTensorToDlpack(handle C.uint64_t, out **C.struct_DLManagedTensor) C.fault {
	return onTensor("to_dlpack", handle, func(rt *runtime.Runtime, t *runtime.Tensor) error {
		if out == nil {
			return convert.NullPointer("to_dlpack")
		}
		v, err := dlView(t)
		if err != nil {
			return err
		}
		made := C.dl_export(&v)
		if made == nil {
			return noMemory(rt, &v)
		}
		*out = made
		return nil
	})
}

// goTensorToDlpackVersioned is pmps_tensor_to_dlpack_versioned. Ownership is as in [goTensorToDlpack].
//
//export goTensorToDlpackVersioned
func goTensorToDlpackVersioned(handle C.uint64_t, out **C.struct_DLManagedTensorVersioned) C.fault {
	return onTensor("to_dlpack", handle, func(rt *runtime.Runtime, t *runtime.Tensor) error {
		if out == nil {
			return convert.NullPointer("to_dlpack")
		}
		v, err := dlView(t)
		if err != nil {
			return err
		}
		made := C.dl_export_versioned(&v)
		if made == nil {
			return noMemory(rt, &v)
		}
		*out = made
		return nil
	})
}

// dlView is a tensor as another library sees it, with a handle of its own that keeps it alive. All
// memory is visible to the CPU, so that is the device it is said to be on.
func dlView(t *runtime.Tensor) (v C.dl_view, err error) {
	if err := numeric("to_dlpack", t); err != nil {
		return v, err
	}
	data, err := t.Map()
	if err != nil {
		return v, err
	}
	kept, err := t.Alias()
	if err != nil {
		return v, err
	}
	l, n := &t.Layout, convert.DLNumbers[t.DType]
	v.handle, v.data, v.rank = C.uint64_t(kept.Handle()), data, C.int32_t(l.Rank)
	v._type = C.DLDataType{code: C.uint8_t(n.Code), bits: C.uint8_t(n.Bits), lanes: C.uint16_t(n.Lanes)}
	arrays(l, &v.dims, &v.strides)
	return v, nil
}

// noMemory frees the handle of a view for which there is no structure, and is the error for that.
func noMemory(rt *runtime.Runtime, v *C.dl_view) error {
	rt.Free(uint64(v.handle))
	return status.Errorf(status.OutOfMemory, "[to_dlpack] there is no memory for the structure that describes the tensor")
}
