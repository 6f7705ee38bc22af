package main

// #include "shim.h"
import "C"

import (
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/runtime"
)

// borrowed writes the address of an object that C borrows.
func borrowed(to *unsafe.Pointer, object uintptr) {
	// SAFETY: an object of the system's, which is no Go memory; nothing here looks behind the address.
	*to = *(*unsafe.Pointer)(unsafe.Pointer(&object))
}

//export goDeviceGetMetal
func goDeviceGetMetal(p C.place_in, out *unsafe.Pointer) C.fault {
	return at(p, func(c *runtime.Context) error {
		if out == nil {
			return null("device_get_metal")
		}
		object, err := c.Object()
		if err == nil {
			borrowed(out, object)
		}
		return err
	})
}

//export goStreamGetMetal
func goStreamGetMetal(handle C.uint64_t, out *unsafe.Pointer) C.fault {
	return onStream("stream_get_metal", handle, func(s *runtime.Stream) error {
		if out == nil {
			return null("stream_get_metal")
		}
		queue, err := s.Queue()
		if err == nil {
			borrowed(out, queue)
		}
		return err
	})
}

//export goTensorGetMetal
func goTensorGetMetal(handle C.uint64_t, out *unsafe.Pointer, offset *C.size_t) C.fault {
	return onTensor("tensor_get_metal", handle, func(_ *runtime.Runtime, t *runtime.Tensor) error {
		if out == nil || offset == nil {
			return null("tensor_get_metal")
		}
		buffer, at, err := t.Buffer()
		if err == nil {
			borrowed(out, buffer)
			*offset = C.size_t(at)
		}
		return err
	})
}

//export goCaptureGetState
func goCaptureGetState(p C.place_in, enabled, capturing *C.bool) C.fault {
	return at(p, func(c *runtime.Context) error {
		if enabled == nil || capturing == nil {
			return null("capture_get_state")
		}
		*enabled, *capturing = C.bool(c.CanCapture()), C.bool(c.Capturing())
		return nil
	})
}

//export goCaptureBegin
func goCaptureBegin(p C.place_in, path C.text_in) C.fault {
	return at(p, func(c *runtime.Context) error {
		if path == nil {
			return null("capture_begin")
		}
		return c.BeginCapture(C.GoString(path))
	})
}

//export goCaptureEnd
func goCaptureEnd(p C.place_in) C.fault { return at(p, (*runtime.Context).EndCapture) }
