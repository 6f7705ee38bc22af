package runtime

import (
	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// Access to the objects of the vendor API (on Metal: MTLDevice, MTLCommandQueue, MTLBuffer), for other libraries
// in the process and for the vendor's tools.

// Object is the device object of the vendor API, borrowed until the runtime is closed.
func (c *Context) Object() (uintptr, error) {
	dev, ok := c.dev.(device.Native)
	if !ok {
		return 0, c.lacks("device_get_metal")
	}
	return dev.Object(), nil
}

// Queue is the command queue of the stream, borrowed until the stream is closed or its work fails. Queue waits for all
// work submitted so far. The caller waits for what it commits before it submits work over the same memory.
func (s *Stream) Queue() (uintptr, error) {
	dev, ok := s.ctx.dev.(device.Native)
	if !ok {
		return 0, s.ctx.lacks("stream_get_metal")
	}
	return dev.QueueOf(s.dev), nil
}

// Buffer is the buffer object that contains the tensor, borrowed while the tensor lives, and the offset in bytes
// of the element with all indices zero. It does not wait for work on the tensor: see [Stream.Queue] for how to
// order work of others.
func (t *Tensor) Buffer() (buffer uintptr, offset uint64, err error) {
	if err := t.store.known("tensor_get_metal"); err != nil {
		return 0, 0, err
	}
	dev, ok := t.store.ctx.dev.(device.Native)
	if !ok {
		return 0, 0, t.store.ctx.lacks("tensor_get_metal")
	}
	buffer, offset, ok = dev.BufferOf(&device.Operand{Addr: t.addr, Heap: t.store.heap()})
	if !ok {
		return 0, 0, status.Errorf(status.Invalid, "[tensor_get_metal] the memory of the tensor was not allocated by the device; want a tensor that the device allocated")
	}
	t.store.expose()
	return buffer, offset, nil
}

// CanCapture reports whether BeginCapture would be allowed.
func (c *Context) CanCapture() bool {
	dev, ok := c.dev.(device.Capturer)
	return ok && dev.CanCapture()
}

// Capturing reports whether a capture is under way.
func (c *Context) Capturing() bool {
	dev, ok := c.dev.(device.Capturer)
	return ok && dev.Capturing()
}

// BeginCapture records the commands of the device from now on into a document at path, which must not exist. It
// waits for earlier work, which is not recorded.
func (c *Context) BeginCapture(path string) error {
	dev, ok := c.dev.(device.Capturer)
	if !ok {
		return c.lacks("metal_capture")
	}
	c.drain()
	return dev.BeginCapture(path)
}

// EndCapture waits for the work submitted so far, which is recorded, and ends the document.
func (c *Context) EndCapture() error {
	dev, ok := c.dev.(device.Capturer)
	if !ok {
		return c.lacks("metal_capture")
	}
	c.drain()
	return dev.EndCapture()
}
