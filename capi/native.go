package main

// #include "shim.h"
import "C"

import (
	"unsafe"

	"github.com/paddle-mps/paddle-mps/capi/convert"
	"github.com/paddle-mps/paddle-mps/core/native"
	"github.com/paddle-mps/paddle-mps/core/runtime"
)

// borrowed writes the address of an Objective-C object, without a reference count of its own: C borrows it.
func borrowed(to *unsafe.Pointer, object uintptr) {
	// SAFETY: the object is not Go memory, and Go does not dereference the address. Its owner is the runtime.
	*to = *(*unsafe.Pointer)(unsafe.Pointer(&object))
}

// goDeviceGetMetal is pmps_device_get_metal. The object is borrowed for ever: devices are never closed.
//
//export goDeviceGetMetal
func goDeviceGetMetal(p C.place_in, out *unsafe.Pointer) C.fault {
	return at(p, func(c *runtime.Context) error {
		if out == nil {
			return convert.NullPointer("device_get_metal")
		}
		object, err := native.Object(c)
		if err == nil {
			borrowed(out, object)
		}
		return err
	})
}

// goStreamGetMetal is pmps_stream_get_metal. The queue is borrowed until the stream is freed. The call
// submits what is encoded but does not wait for it.
//
//export goStreamGetMetal
func goStreamGetMetal(handle C.uint64_t, out *unsafe.Pointer) C.fault {
	return onStream("stream_get_metal", handle, func(s *runtime.Stream) error {
		if out == nil {
			return convert.NullPointer("stream_get_metal")
		}
		queue, err := native.Queue(s)
		if err == nil {
			borrowed(out, queue)
		}
		return err
	})
}

// goTensorGetMetal is pmps_tensor_get_metal. The buffer is borrowed while the tensor lives; the runtime keeps
// it for other tensors after that.
//
//export goTensorGetMetal
func goTensorGetMetal(handle C.uint64_t, out *unsafe.Pointer, offset *C.size_t) C.fault {
	return onTensor("tensor_get_metal", handle, func(_ *runtime.Runtime, t *runtime.Tensor) error {
		if out == nil || offset == nil {
			return convert.NullPointer("tensor_get_metal")
		}
		buffer, at, err := native.Buffer(t)
		if err == nil {
			borrowed(out, buffer)
			*offset = C.size_t(at)
		}
		return err
	})
}

// goCaptureGetState is pmps_capture_get_state. On devices without captures both are false, which is no error.
//
//export goCaptureGetState
func goCaptureGetState(p C.place_in, enabled, capturing *C.bool) C.fault {
	return at(p, func(c *runtime.Context) error {
		if enabled == nil || capturing == nil {
			return convert.NullPointer("capture_get_state")
		}
		*enabled, *capturing = C.bool(native.CanCapture(c)), C.bool(native.Capturing(c))
		return nil
	})
}

// goCaptureBegin is pmps_capture_begin. The path is copied. A capture records the work of all threads on the
// device.
//
//export goCaptureBegin
func goCaptureBegin(p C.place_in, path C.text_in) C.fault {
	return at(p, func(c *runtime.Context) error {
		if path == nil {
			return convert.NullPointer("capture_begin")
		}
		return native.BeginCapture(c, C.GoString(path))
	})
}

// goCaptureEnd is pmps_capture_end. Any thread may end a capture that another has begun.
//
//export goCaptureEnd
func goCaptureEnd(p C.place_in) C.fault { return at(p, native.EndCapture) }
