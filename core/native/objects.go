package native

import (
	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// Access to the objects of the vendor API (on Metal: MTLDevice, MTLCommandQueue, MTLBuffer), for other libraries
// in the process and for the vendor's tools.

// Object is the device object of the vendor API, borrowed until the runtime is closed.
func Object(c *runtime.Context) (uintptr, error) {
	dev, ok := c.Device.(device.Native)
	if !ok {
		return 0, lacks(c, "device_get_metal")
	}
	return dev.Object(), nil
}

// Queue is the command queue of the stream, borrowed until the stream is closed or its work fails. Queue waits for all
// work submitted so far. The caller waits for what it commits before it submits work over the same memory.
func Queue(s *runtime.Stream) (uintptr, error) {
	dev, ok := s.Context().Device.(device.Native)
	if !ok {
		return 0, lacks(s.Context(), "stream_get_metal")
	}
	return dev.QueueOf(s.Device), nil
}

// Buffer is the buffer object that contains the tensor, borrowed while the tensor lives, and the offset in bytes
// of the element with all indices zero. It does not wait for work on the tensor: see [Queue] for how to
// order work of others.
func Buffer(t *runtime.Tensor) (buffer uintptr, offset uint64, err error) {
	if err := t.Store.Known("tensor_get_metal"); err != nil {
		return 0, 0, err
	}
	dev, ok := t.Store.Context.Device.(device.Native)
	if !ok {
		return 0, 0, lacks(t.Store.Context, "tensor_get_metal")
	}
	buffer, offset, ok = dev.BufferOf(&device.Operand{Addr: t.Addr, Heap: t.Store.Heap()})
	if !ok {
		return 0, 0, status.Errorf(status.Invalid, "[tensor_get_metal] the memory of the tensor was not allocated by the device; want a tensor that the device allocated")
	}
	t.Store.Expose()
	return buffer, offset, nil
}

// CanCapture reports whether BeginCapture would be allowed.
func CanCapture(c *runtime.Context) bool {
	dev, ok := c.Device.(device.Capturer)
	return ok && dev.CanCapture()
}

// Capturing reports whether a capture is under way.
func Capturing(c *runtime.Context) bool {
	dev, ok := c.Device.(device.Capturer)
	return ok && dev.Capturing()
}

// BeginCapture records the commands of the device from now on into a document at path, which must not exist. It
// waits for earlier work, which is not recorded.
func BeginCapture(c *runtime.Context, path string) error {
	dev, ok := c.Device.(device.Capturer)
	if !ok {
		return lacks(c, "metal_capture")
	}
	c.Drain()
	return dev.BeginCapture(path)
}

// EndCapture waits for the work submitted so far, which is recorded, and ends the document.
func EndCapture(c *runtime.Context) error {
	dev, ok := c.Device.(device.Capturer)
	if !ok {
		return lacks(c, "metal_capture")
	}
	c.Drain()
	return dev.EndCapture()
}
