package host

import (
	"sync"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// sequence is the kernel of a plan of many steps: it runs their kernels one after the other, each of
// them split over the threads by itself. Its workspace is the plan's arena followed by the workspace of
// the step that needs most.
//
// What the steps cost and how much workspace they need is known when the sequence is made, because the
// layouts of all operands are.
type sequence struct {
	steps   []device.Step
	kernels []kernel // of the steps
	arena   int64    // bytes, a multiple of line
	most    int64    // bytes of workspace of the step that needs most
	work    int64    // cost of all steps
}

// line is the alignment of a call's workspace, and so of its parts.
const line = 256

// roundUp is the next multiple of line.
func roundUp(bytes int64) int64 { return (bytes + line - 1) / line * line }

// sequence makes the kernels of a plan. An error is a device.StepError, unless there are no steps.
func (d *Device) sequence(p *device.Plan) (*sequence, error) {
	if len(p.Steps) == 0 {
		return nil, status.Errorf(status.Unsupported, "[compile] got a plan without steps; want at least one")
	}
	s := &sequence{steps: p.Steps, arena: roundUp(p.Arena)}
	for i := range p.Steps {
		c := p.Steps[i].Call
		k, err := d.kernelFor(c)
		if err != nil {
			return nil, &device.StepError{Step: i, Err: err}
		}
		s.kernels = append(s.kernels, k)
		s.most = max(s.most, k.workspace(c))
		s.work += k.cost(c)
	}
	return s, nil
}

// cost and workspace do not depend on the call: the layouts are those of the plan.
func (s *sequence) cost(*device.Call) int64      { return s.work }
func (s *sequence) workspace(*device.Call) int64 { return s.arena + s.most }

// bytes counts the state of all kernels and, roughly, the steps themselves.
func (s *sequence) bytes() (n int64) {
	for i, k := range s.kernels {
		c := s.steps[i].Call
		operands := len(c.In) + len(c.Out)
		n += int64(unsafe.Sizeof(*c)) + int64(operands)*int64(unsafe.Sizeof(device.Operand{})) + bytesOfKernel(k)
	}
	return n
}

// calls holds the calls of steps between runs, with room for their operands.
var calls = sync.Pool{New: func() any { return new(device.Call) }}

// run ends at the first step that fails. What later steps would have written is then undefined, as is
// the output of the one that failed.
func (s *sequence) run(t *threads, c *device.Call) error {
	if need := s.workspace(c); need > 0 && c.Workspace == nil {
		return status.Errorf(status.Internal, "[program] got no workspace; want %d bytes", need)
	}
	own := calls.Get().(*device.Call)
	defer release(own)
	for i, k := range s.kernels {
		s.steps[i].Bind(c, own)
		if s.most > 0 {
			// SAFETY: the workspace is as long as the method of that name says, arena first.
			own.Workspace, own.Scratch = unsafe.Add(c.Workspace, s.arena), c.Scratch
		}
		if err := k.run(t, own); err != nil {
			return err
		}
	}
	return nil
}

// release gives a call of a step back, without the memory that it names.
func release(c *device.Call) {
	in, out := c.In[:cap(c.In)], c.Out[:cap(c.Out)]
	clear(in)
	clear(out)
	*c = device.Call{In: in[:0], Out: out[:0]}
	calls.Put(c)
}
