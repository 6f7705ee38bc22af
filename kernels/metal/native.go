package metal

import (
	"slices"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/objc"
	"github.com/paddle-mps/paddle-mps/objc/mtl"
)

var (
	_ device.Native   = (*Device)(nil)
	_ device.Capturer = (*Device)(nil)
)

// Object is the device for other users of Metal.
func (d *Device) Object() uintptr { return uintptr(d.gpu) }

// QueueOf is a stream's queue. What others commit to it runs after what has been committed before; what the
// queue itself does not hold back, work of the CPU and of other streams, is waited for here.
func (d *Device) QueueOf(of device.Stream) uintptr {
	s, ok := of.(*stream)
	if !ok {
		return 0
	}
	s.mu.Lock()
	for s.open != nil {
		s.push()
	}
	behind := slices.Clone(s.behind)
	s.mu.Unlock()
	for _, p := range behind {
		p.sync()
	}
	return uintptr(s.queue)
}

// BufferOf is where an operand lies.
func (d *Device) BufferOf(o *device.Operand) (buffer uintptr, offset uint64, ok bool) {
	b, offset, ok := whereIs(o)
	return uintptr(b), offset, ok
}

// whereIs finds the element of an operand with all indices zero in the buffer over its heap; ok is false for
// memory of another device.
func whereIs(o *device.Operand) (b mtl.Buffer, offset uint64, ok bool) {
	h, ok := o.Heap.(*heap)
	if !ok {
		return 0, 0, false
	}
	// SAFETY: only a difference of addresses within the heap.
	return h.whole, uint64(uintptr(o.Addr) - uintptr(h.base)), true
}

// CanCapture reports whether Metal lets this process capture: only with MTL_CAPTURE_ENABLED=1.
func (d *Device) CanCapture() bool {
	defer objc.Pool().Close()
	return mtl.SharedCaptureManager().SupportsDestination(mtl.CaptureDestinationGPUTraceDocument)
}

// Capturing reports whether somebody in this process captures.
func (d *Device) Capturing() bool {
	defer objc.Pool().Close()
	return mtl.SharedCaptureManager().IsCapturing()
}

// BeginCapture begins a trace document for Xcode.
func (d *Device) BeginCapture(path string) error {
	const who = "metal_capture"
	if err := plain(who, "the path", path); err != nil {
		return err
	}
	defer objc.Pool().Close()
	manager := mtl.SharedCaptureManager()
	switch {
	case manager.IsCapturing():
		return status.Errorf(status.Invalid, "[%s] a capture is under way; want it to be ended before the next", who)
	case !manager.SupportsDestination(mtl.CaptureDestinationGPUTraceDocument):
		return status.Errorf(status.Unsupported, "[%s] Metal does not let this process capture; want MTL_CAPTURE_ENABLED=1 in its environment", who)
	}
	c := mtl.NewCaptureDescriptor()
	defer objc.Release(c)
	c.SetCaptureObject(d.gpu)
	c.SetDestination(mtl.CaptureDestinationGPUTraceDocument)
	c.SetOutputURL(objc.File(path))
	if started, e := manager.StartCapture(c); !started {
		return e.Status(status.Invalid, "["+who+"] "+path+" is not begun")
	}
	return nil
}

// EndCapture writes the document.
func (d *Device) EndCapture() error {
	defer objc.Pool().Close()
	manager := mtl.SharedCaptureManager()
	if !manager.IsCapturing() {
		return status.Errorf(status.Invalid, "[metal_capture] nothing is being captured; want a capture to end")
	}
	manager.StopCapture()
	return nil
}
