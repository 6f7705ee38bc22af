// Package smalldevice is the smallest useful device: three kernels of float32, for operands without gaps. For all else
// Compile returns status.Unsupported, and the runtime lets the CPU compute, in the same memory. docs/tour.md explains it.
//
// Work is complete when the method that submits it returns. So all tickets are 0, and nothing has to wait.
package smalldevice

import (
	"slices"
	"sync"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// kernels compute one element; those of one operand get it twice.
var kernels = map[op.ID]func(x, y float32) float32{
	op.IDAdd:      func(x, y float32) float32 { return x + y },
	op.IDMultiply: func(x, y float32) float32 { return x * y },
	op.IDRelu:     func(x, _ float32) float32 { return max(x, 0) },
}

type (
	small   struct{}
	heap    []byte
	event   struct{}
	stream  struct{ order sync.Mutex }
	program struct{ *device.Plan }
)

var info = device.Info{Name: "Small", Backend: "small", Unified: true}

// New is the device.
func New() device.Device { return small{} }

func (small) Info() *device.Info                { return &info }
func (small) NewStream() (device.Stream, error) { return &stream{}, nil }
func (small) NewEvent() (device.Event, error)   { return event{}, nil }
func (small) Close() error                      { return nil }

// NewHeap takes memory of Go, which is not aligned to 4096 bytes by itself.
func (small) NewHeap(size int64) (device.Heap, error) {
	mem := make([]byte, size+4096)
	// SAFETY: only the number is used; Go does not move what it has allocated.
	return heap(mem[-uintptr(unsafe.Pointer(&mem[0]))%4096:][:size]), nil
}

// Key tells apart what Compile does: by operator, by dtypes, and by whether there are gaps.
func (small) Key(id op.ID, c *device.Call) device.Key {
	k := device.Key{Op: id}
	if k.SetDTypes(c.Out, c.In); suits(c) {
		k.Class = 1
	}
	return k
}

// Compile names the first step that the CPU has to run.
func (small) Compile(p *device.Plan) (device.Program, error) {
	for i := range p.Steps {
		if c := p.Steps[i].Call; kernels[c.Op] == nil || !suits(c) {
			return nil, &device.StepError{Step: i, Err: status.Errorf(status.Unsupported, "[%s] the device lacks it", op.ByID(c.Op).Name)}
		}
	}
	return program{p}, nil
}

// suits reports whether the kernels can compute a call, apart from its operator.
func suits(c *device.Call) bool {
	return !slices.ContainsFunc(c.In, unlike) && !slices.ContainsFunc(c.Out, unlike)
}

func unlike(o device.Operand) bool { return o.DType != dtype.Float32 || !o.IsContiguous() }

func (p program) Workspace(*device.Call) int64 { return p.Arena }
func (program) Close() error                   { return nil }

// Run computes the operands of an eager call, or those that each step of a plan finds in the call.
func (s *stream) Run(p device.Program, c *device.Call) device.Ticket {
	return s.perform(c, func() {
		for i, plan := 0, p.(program).Plan; i < len(plan.Steps); i++ {
			step := c
			if plan.Single() == nil {
				step = new(device.Call)
				plan.Steps[i].Bind(c, step)
			}
			compute(step)
		}
	})
}

func (s *stream) Copy(c *device.Call) device.Ticket {
	return s.perform(c, func() { copy(elements[byte](&c.Out[0]), elements[byte](&c.In[0])) })
}

// perform does the work of one call at a time. What the call waits for is complete: it was when it was submitted.
func (s *stream) perform(c *device.Call, work func()) device.Ticket {
	s.order.Lock()
	defer s.order.Unlock()
	err := c.Owner.Ready()
	if err == nil {
		work()
	}
	c.Owner.Done(err)
	return 0
}

func compute(c *device.Call) {
	x, y, out := elements[float32](&c.In[0]), elements[float32](&c.In[len(c.In)-1]), elements[float32](&c.Out[0])
	for i := range out {
		out[i] = kernels[c.Op](x[i], y[i])
	}
}

func elements[T any](o *device.Operand) []T {
	var element T
	// SAFETY: the operand has no gaps, and its memory belongs to the call until its owner is notified.
	return unsafe.Slice((*T)(o.Addr), o.Numel()*o.DType.Size()/int64(unsafe.Sizeof(element)))
}

func (*stream) Record(device.Event) device.Ticket { return 0 }
func (*stream) Wait(e device.Event)               { e.Sync() }
func (*stream) Done() device.Ticket               { return 0 }
func (*stream) Sync(device.Ticket)                {}
func (*stream) Close() error                      { return nil }

func (event) Done() bool                { return true }
func (event) Sync()                     {}
func (event) Time() (ns int64, ok bool) { return 0, true }
func (event) Close() error              { return nil }

func (h heap) Bytes() []byte { return h }
func (heap) Close() error    { return nil }
