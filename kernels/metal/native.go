package metal

import (
	"slices"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/kernels/metal/gpu"
	"github.com/paddle-mps/paddle-mps/objc"
	"github.com/paddle-mps/paddle-mps/objc/mtl"
)

var (
	_ device.Native   = (*Device)(nil)
	_ device.Capturer = (*Device)(nil)
)

// Object is the device for other users of Metal.
func (d *Device) Object() uintptr { return uintptr(d.Metal) }

// QueueOf is a stream's queue. It waits for all work of the stream and of what that waits for, because command buffers of
// others, over memory that Metal does not track, are in no order with those of the library. A fault replaces the queue.
func (d *Device) QueueOf(of device.Stream) uintptr {
	s, ok := of.(*stream)
	if !ok {
		return 0
	}
	s.mu.Lock()
	last, waits := s.submitted, slices.Clone(s.waits)
	s.mu.Unlock()
	s.Sync(last)
	for _, p := range waits {
		p.sync()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return uintptr(s.queue)
}

// BufferOf is where an operand lies.
func (d *Device) BufferOf(o *device.Operand) (buffer uintptr, offset uint64, ok bool) {
	b, offset, ok := gpu.Where(o)
	return uintptr(b), offset, ok
}

// AddressOf is where the GPU sees an operand.
func (d *Device) AddressOf(o *device.Operand) (address uint64, ok bool) {
	b, offset, ok := gpu.Where(o)
	if !ok {
		return 0, false
	}
	return b.GPUAddress() + offset, true
}

// CanCapture reports whether Metal allows this process to capture: only with MTL_CAPTURE_ENABLED=1.
func (d *Device) CanCapture() bool {
	defer objc.Pool().Close()
	return mtl.SharedCaptureManager().SupportsDestination(mtl.CaptureDestinationGPUTraceDocument)
}

// Capturing reports whether a capture is under way in this process.
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
	c.SetCaptureObject(d.Metal)
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
