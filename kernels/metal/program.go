package metal

import (
	"errors"
	"slices"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/kernels/metal/gpu"
	"github.com/paddle-mps/paddle-mps/objc"
)

// program is what the runtime holds: the kernel of a call, or the kernels of a plan.
type program struct {
	kernel gpu.Kernel
	second int64     // steps whose first way a compiler has refused
	plan   *sequence // instead of a kernel
}

// encode records a run.
func (p *program) encode(b *batch, c *device.Call) error {
	if p.second > 0 {
		b.stream.device.refusals.secondWay.Add(p.second)
	}
	if p.plan != nil {
		return p.plan.encode(b, c)
	}
	return b.encode(p.kernel, c, nil)
}

// Workspace is the scratch bytes of a run.
func (p *program) Workspace(c *device.Call) int64 {
	if p.plan != nil {
		return p.plan.workspace()
	}
	return p.kernel.Workspace(c)
}

// Bytes is an estimate of the memory of the program.
func (p *program) Bytes() int64 {
	if p.plan != nil {
		return p.plan.bytes()
	}
	return p.kernel.Bytes()
}

// Close releases the kernels.
func (p *program) Close() error {
	defer objc.Pool().Close()
	if p.plan != nil {
		p.plan.close()
		return nil
	}
	p.kernel.Close()
	return nil
}

// foreign stands for the kernel of a program that another device has compiled: a call of it fails, as any other call
// fails, through its owner.
type foreign struct{}

// Encode refuses the call.
func (foreign) Encode(gpu.Encoder, *device.Call) error {
	return status.Errorf(status.Internal, "got a program of another device")
}

// Workspace is none.
func (foreign) Workspace(*device.Call) int64 { return 0 }

// Bytes are none.
func (foreign) Bytes() int64 { return 0 }

// Close does nothing.
func (foreign) Close() {}

// Compile makes the kernels of a plan; an error that concerns one step of several is a device.StepError. It
// holds no lock while it compiles.
func (d *Device) Compile(p *device.Plan) (device.Program, error) {
	defer objc.Pool().Close()
	if c := p.Single(); c != nil {
		k, second, err := d.kernelFor(c)
		if err != nil {
			return nil, err
		}
		p := &program{kernel: k}
		if second {
			p.second = 1
		}
		return p, nil
	}
	if len(p.Steps) == 0 {
		return nil, status.Errorf(status.Unsupported, "[compile] got a plan without steps; want at least one")
	}
	return d.sequence(p)
}

// Composes reports whether a composite has a kernel that takes every step of it; see device.Composer. What is left
// to the CPU is lowered to what is not.
func (d *Device) Composes(s *op.Step) bool {
	return !slices.Contains(d.leave, s.Row.ID) && d.variants.Composes(s)
}

// kernelFor makes the kernel of a call by the first variant that takes it. What refuses, the variant (with
// status.Unsupported) or one of Apple's compilers, leaves the call to the next; any other error is the GPU's or the
// system's, and ends the attempt without a trace. What is reported is the refusals of compilers, or else that of the
// preferred variant. second says that a variant was left out because a compiler has refused it. The caller holds a
// pool.
func (d *Device) kernelFor(c *device.Call) (k gpu.Kernel, second bool, err error) {
	row := op.ByID(c.Op)
	if slices.Contains(d.leave, row.ID) {
		return nil, false, status.Errorf(status.Unsupported, "[%s] is left to the CPU", row.Name)
	}
	key := device.Key{Op: c.Op}
	key.SetDTypes(c.Out, c.In)
	a := attempt{call: c}
	for after := 0; ; after++ {
		v, number, class := d.choose(key, c, after, &a.refused)
		if v == nil {
			return nil, false, a.error()
		}
		k, err := v.Make(d.Device, c, class)
		if err == nil {
			if len(a.refused) > 0 {
				d.warnOf(&a, class)
			}
			return k, len(a.refused) > 0, nil
		}
		if !a.keep(err) {
			e := status.From(err)
			return nil, false, &status.Error{Code: e.Code, Msg: "[" + row.Name + "] " + e.Msg}
		}
		if r := (*gpu.Refusal)(nil); errors.As(err, &r) {
			d.refusals.record(key, number, class, r)
		}
		after = number
	}
}
