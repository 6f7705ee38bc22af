package runtime

import (
	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// What a device has for other users of its maker's interface, and for its maker's tools.

// Object is the device for other users of its maker's interface, borrowed for ever.
func (c *Context) Object() (uintptr, error) {
	dev, ok := c.dev.(device.Native)
	if !ok {
		return 0, c.lacks("device_get_metal")
	}
	return dev.Object(), nil
}

// Queue is the stream's own queue on the device, borrowed until the stream is closed. What others commit to
// it runs after all work submitted so far, and before what is submitted later.
func (s *Stream) Queue() (uintptr, error) {
	dev, ok := s.ctx.dev.(device.Native)
	if !ok {
		return 0, s.ctx.lacks("stream_get_metal")
	}
	return dev.QueueOf(s.dev), nil
}

// Buffer is the device's object that the tensor lies in and the bytes there before the element with all
// indices zero, borrowed while the tensor lives. It does not wait: see [Stream.Queue].
func (t *Tensor) Buffer() (buffer uintptr, offset uint64, err error) {
	dev, ok := t.store.ctx.dev.(device.Native)
	if !ok {
		return 0, 0, t.store.ctx.lacks("tensor_get_metal")
	}
	buffer, offset, ok = dev.BufferOf(&device.Operand{Addr: t.addr, Heap: t.store.heap()})
	if !ok {
		return 0, 0, status.Errorf(status.Invalid, "[tensor_get_metal] the tensor lies in memory that is not the device's; want one of its own")
	}
	t.store.exposed.Store(true)
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

// BeginCapture records what the device is told from now on into a document at a path where nothing is. The
// work before is waited for, so that it is not in there.
func (c *Context) BeginCapture(path string) error {
	dev, ok := c.dev.(device.Capturer)
	if !ok {
		return c.lacks("metal_capture")
	}
	c.drain()
	return dev.BeginCapture(path)
}

// EndCapture waits for the work so far, which is in the document, and ends it.
func (c *Context) EndCapture() error {
	dev, ok := c.dev.(device.Capturer)
	if !ok {
		return c.lacks("metal_capture")
	}
	c.drain()
	return dev.EndCapture()
}

// drain waits for all work so far and leaves its failures to be reported.
func (c *Context) drain() {
	for _, s := range c.open() {
		s.dev.Sync(s.last.Load())
	}
}
