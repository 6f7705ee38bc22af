package host

import (
	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/kernels"
)

// kernel computes one operator in one dtype. It is immutable, runs on any number of streams at once, and
// allocates nothing on its warm path: everything about a call is in the call, and what a run needs beside it
// comes from pools.
type kernel interface {
	// cost is the work of a call, in additions of two elements; it decides where the call runs.
	cost(c *device.Call) int64
	// workspace is the scratch bytes of a call.
	workspace(c *device.Call) int64
	// run computes the call and returns when all threads have ended; an error leaves the outputs
	// undefined. It runs on the worker of a queue or on the goroutine of the caller.
	run(t *threads, c *device.Call) error
}

// simple is the part of a kernel that most share: a few cycles an element and no scratch memory.
type simple struct{}

// cost takes an element for an addition.
func (simple) cost(c *device.Call) int64    { return c.Out[0].Numel() }
func (simple) workspace(*device.Call) int64 { return 0 }

// variant is one way in which an operator runs here.
type variant = kernels.Variant[*Device, kernel]

// registry holds all variants of the package. An operator has one that is portable, and may have others
// beside it that take some steps only, which must give the same results to the last bit. Those of the system's library are the
// exception: a device has them only if it is asked to.
var registry kernels.Variants[*Device, kernel]

// register adds the portable kernel of an operator for one dtype. It has no state: all programs share it. It is not inlined, for
// the size of the library.
//
//go:noinline
func register(id op.ID, d dtype.DType, k kernel) {
	addStream(id, d, k)
	registerSet(id, dtype.SetOf(d), k)
}

// registerSet is register for a kernel that takes several dtypes.
func registerSet(id op.ID, set dtype.Set, k kernel) {
	registry.Add(variant{
		Op: id, DTypes: set, Priority: kernels.Portable,
		Make: func(*Device, *device.Call, uint64) (kernel, error) { return k, nil },
	})
}

// stateful is a kernel that was made for one step and holds memory of its own.
type stateful interface{ bytes() int64 }

// program is a kernel as the runtime holds it.
type program struct{ kernel kernel }

var (
	_ device.Sized     = (*program)(nil)
	_ device.Selective = (*program)(nil)
	_ device.Composer  = (*Device)(nil)
	_ device.Fuser     = (*Device)(nil)
)

// Workspace asks the kernel.
func (p *program) Workspace(c *device.Call) int64 { return p.kernel.workspace(c) }

// programBytes is about what a program without state takes: itself and its entry in a cache.
const programBytes = 256

// Bytes is what the program holds; kernels without state belong to all programs and count nowhere.
func (p *program) Bytes() int64 { return programBytes + bytesOfKernel(p.kernel) }

// bytesOfKernel is the state of a kernel; 0 where it has none.
func bytesOfKernel(k kernel) int64 {
	if s, ok := k.(stateful); ok {
		return s.bytes()
	}
	return 0
}

// Reads asks the kernels; see device.Selective. A program of one step reads all of its operands.
func (p *program) Reads(reads []bool) {
	if s, ok := p.kernel.(*sequence); ok {
		s.reads(reads)
		return
	}
	for i := range reads {
		reads[i] = true
	}
}

// Close does nothing: a program holds Go memory only.
func (p *program) Close() error { return nil }

// Compile makes the kernel for the step of a call, or a sequence of kernels for any other plan. What is
// wrong with one step of several is a device.StepError. It holds no lock.
func (d *Device) Compile(p *device.Plan) (device.Program, error) {
	if c := p.Single(); c != nil {
		k, err := d.kernelFor(c)
		if err != nil {
			return nil, err
		}
		return &program{k}, nil
	}
	s, err := d.sequence(p)
	if err != nil {
		return nil, err
	}
	return &program{s}, nil
}

// Composes reports whether a composite has a portable kernel; see device.Composer.
func (d *Device) Composes(s *op.Step) bool { return registry.Composes(s) }

// kernelFor makes the kernel of a step by the first variant that does not refuse. status.Unsupported
// where there is none.
func (d *Device) kernelFor(c *device.Call) (kernel, error) {
	if err := complete(c); err != nil {
		return nil, err
	}
	for after := 0; ; after++ {
		v, number, class := registry.Choose(d, c, after)
		if v == nil {
			return nil, status.Errorf(status.Unsupported, "[%s] host has no kernel for %s; want one of %v",
				op.ByID(c.Op).Name, kernels.Decisive(c), registry.DTypes(c.Op).Members())
		}
		k, err := v.Make(d, c, class)
		if status.CodeOf(err) != status.Unsupported {
			return k, err
		}
		after = number
	}
}

// complete refuses a call without the operands that its row declares. Kernels rely on them.
func complete(c *device.Call) error {
	row := op.ByID(c.Op)
	if row == nil {
		return status.Errorf(status.Internal, "[compile] no operator has number %d", c.Op)
	}
	want := len(row.In)
	more := want > 0 && row.In[want-1].Variadic
	if row.Updates {
		want-- // the updated operand is the output
	}
	if len(c.Out) == 0 || len(c.In) < want || len(c.In) > want && !more {
		return status.Errorf(status.Internal, "[%s] got %d inputs and %d outputs; want %d and at least 1", row.Name, len(c.In), len(c.Out), want)
	}
	return nil
}

// Key tells calls apart by operator and dtypes, and where an operator has a choice of variants, by the
// variant and its class: kernels take every layout and attribute otherwise.
func (d *Device) Key(id op.ID, c *device.Call) device.Key {
	key := device.Key{Op: id}
	key.SetDTypes(c.Out, c.In)
	if registry.Chooses(id) {
		key.Class = d.classOf(c)
	}
	return key
}

// classOf is the class of a key where an operator has a choice: the variant's number and its class.
func (d *Device) classOf(c *device.Call) uint64 {
	_, number, class := registry.Choose(d, c, 0)
	return kernels.KeyClass(number, class)
}
