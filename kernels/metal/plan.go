package metal

import (
	"slices"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/kernels/metal/gpu"
)

// sequence runs the steps of a plan one behind the other, each with the kernel of its variant; a group of them is one
// step (group.go). Its workspace is the plan's arena, and behind it what the step needs that needs most.
//
// All steps of a run are in one batch. What they hand to each other is kept in order as the operands of
// calls are: by barriers within an encoder (hazards.go), and by fences and events between encoders and command buffers
// (order.go). A run that is longer than a batch should be is divided into several command buffers
// (batch.divide), which belong to the batch, so that the failure of any of them is that of the call.
type sequence struct {
	plan    []device.Step // as it was given
	steps   []device.Step // as they run
	kernels []gpu.Kernel
	arena   int64 // bytes, a multiple of a granule
	most    int64 // bytes of workspace that a step needs
}

// sequence makes the program of a plan; at a step that the device lacks, that of the steps before it comes with the
// error. The caller holds a pool.
func (d *Device) sequence(p *device.Plan) (device.Program, error) {
	made := &program{plan: &sequence{plan: p.Steps, arena: int64(gpu.RoundUp(uint64(p.Arena), gpu.Granule))}}
	s, groups := made.plan, p.Groups
	for i := 0; i < len(p.Steps); i++ {
		var err error
		if len(groups) > 0 && groups[0].First == i {
			err = d.addGroup(s, p, &groups[0])
			i, groups = groups[0].End-1, groups[1:]
		} else {
			err = d.addStep(made, &p.Steps[i])
		}
		if err != nil {
			lacks := &device.StepError{Step: i, Err: err}
			s.plan = p.Steps[:i]
			if len(s.kernels) > 0 && status.CodeOf(err) == status.Unsupported {
				lacks.Before = made
			} else {
				s.close()
			}
			return nil, lacks
		}
	}
	return made, nil
}

// addStep makes the kernel of a step of one operator.
func (d *Device) addStep(p *program, step *device.Step) error {
	c := d.planned(step)
	k, second, err := d.kernelFor(c)
	if err != nil {
		return err
	}
	if second {
		p.second++
	}
	s := p.plan
	s.steps, s.kernels, s.most = append(s.steps, *step), append(s.kernels, k), max(s.most, k.Workspace(c))
	return nil
}

// addGroup makes the kernel of a group. Where there is none, the error has the runtime make a plan in which the group is
// divided, whatever has been made before.
func (d *Device) addGroup(s *sequence, p *device.Plan, g *device.Group) error {
	step, k, err := d.groupStep(p, g)
	if err != nil {
		return d.refusedGroup(p, g, err)
	}
	if k == nil {
		return nil
	}
	s.steps, s.kernels, s.most = append(s.steps, step), append(s.kernels, k), max(s.most, k.Workspace(d.planned(&step)))
	return nil
}

// planned is the call of a step as variants look at it: with its operands in memory that is the device's
// and of which the offset is known as far as the plan says. No window of a graph fits there, so a graph
// makes ready to stage all operands, and asks for that much workspace.
func (d *Device) planned(s *device.Step) *device.Call {
	c := *s.Call
	place := func(os []device.Operand, slots []device.Slot) []device.Operand {
		all := slices.Clone(os)
		for i := range all {
			if slots[i].Space != device.Own {
				all[i] = d.Unplaced(all[i], slots[i].Offset)
			}
		}
		return all
	}
	c.In, c.Out = place(s.Call.In, s.In), place(s.Call.Out, s.Out)
	return &c
}

// encode encodes all steps. The stream's record of a call is filled anew for each.
func (s *sequence) encode(b *batch, c *device.Call) error {
	own := &b.stream.bound
	for i := range s.steps {
		step := &s.steps[i]
		step.Bind(c, own)
		own.Scratch = c.Scratch
		if s.most > 0 {
			// SAFETY: the workspace is as long as workspace has said.
			own.Workspace = unsafe.Add(c.Workspace, s.arena)
		}
		b.divide()
		if err := b.encode(s.kernels[i], own, step); err != nil {
			return named(nameOf(own), err)
		}
	}
	return nil
}

// workspace is the same for all runs, whatever their memory, because it is counted for operands of which no address
// is known: a graph may then use less of it than there is.
func (s *sequence) workspace() int64 { return s.arena + s.most }

// bytes is an estimate of the memory of all kernels.
func (s *sequence) bytes() (n int64) {
	for _, k := range s.kernels {
		n += k.Bytes()
	}
	return n
}

// close releases the kernels of all steps; after a failure, of those that have been made.
func (s *sequence) close() {
	for _, k := range s.kernels {
		k.Close()
	}
}

// isEmpty reports whether a call has nothing to compute: its outputs have no elements.
func isEmpty(c *device.Call) bool {
	for i := range c.Out {
		if c.Out[i].Numel() > 0 {
			return false
		}
	}
	return len(c.Out) > 0 && op.ByID(c.Op) != nil
}
