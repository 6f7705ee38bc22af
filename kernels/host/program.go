package host

import (
	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/kernels"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
)

// program is a kernel as the runtime holds it.
type program struct{ kernel engine.Kernel }

var (
	_ device.Sized     = (*program)(nil)
	_ device.Selective = (*program)(nil)
	_ device.Composer  = (*Device)(nil)
	_ device.Fuser     = (*Device)(nil)
)

// Workspace asks the kernel.
func (p *program) Workspace(c *device.Call) int64 { return p.kernel.Workspace(c) }

// programBytes is about what a program without state takes: itself and its entry in a cache.
const programBytes = 256

// Bytes is what the program holds; kernels without state belong to all programs and count nowhere.
func (p *program) Bytes() int64 { return programBytes + engine.BytesOf(p.kernel) }

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
func (d *Device) Composes(s *op.Step) bool { return engine.Registry.Composes(s) }

// kernelFor makes the kernel of a step by the first variant that does not refuse. status.Unsupported
// where there is none.
func (d *Device) kernelFor(c *device.Call) (engine.Kernel, error) {
	if err := complete(c); err != nil {
		return nil, err
	}
	for after := 0; ; after++ {
		v, number, class := engine.Registry.Choose(d.threads, c, after)
		if v == nil {
			return nil, status.Errorf(status.Unsupported, "[%s] host has no kernel for %s; want one of %v",
				op.ByID(c.Op).Name, kernels.Decisive(c), engine.Registry.DTypes(c.Op).Members())
		}
		k, err := v.Make(d.threads, c, class)
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
	if engine.Registry.Chooses(id) {
		key.Class = d.classOf(c)
	}
	return key
}

// classOf is the class of a key where an operator has a choice: the variant's number and its class.
func (d *Device) classOf(c *device.Call) uint64 {
	_, number, class := engine.Registry.Choose(d.threads, c, 0)
	return kernels.KeyClass(number, class)
}
