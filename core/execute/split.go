package execute

import (
	"errors"
	"slices"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// part is a sequence of steps that one device runs: as many in a row as there are.
type part struct {
	program device.Program
	lacks   []runtime.Lack // the steps, where the CPU runs them; empty for a part that the device runs
	uses    uses
	steps   int
}

// uses are the operands of the program that a part touches. All others it gets without memory.
type uses struct {
	in, out []bool // by input (constants behind them) and output
	again   []bool // outputs that a part before has written too, so that this one depends on them
	arena   bool
}

// splitter divides a plan into parts: as long as the device can, and around the steps that it lacks, which are
// compiled for the CPU. What a device lacks turns up when it compiles; it hands over what it has compiled until then
// and goes on behind the step, so that no step is compiled twice.
type splitter struct {
	to    *compiled
	ctx   *runtime.Context
	next  int            // the first step that has not been looked at
	lacks []runtime.Lack // the steps before it that the device lacks and that are in no part yet
}

// split compiles the plan of x for a device.
func split(x *compiled, c *runtime.Context) error {
	s := splitter{to: x, ctx: c}
	for s.next < len(x.planned.Steps) {
		if err := s.advance(); err != nil {
			return err
		}
	}
	return s.flush()
}

// steps is the plan of some steps, with the slots of the whole one: a part is called with all operands of the
// program, of which those that it does not use have no memory.
func (s *splitter) steps(first, end int) *device.Plan {
	p := s.to.planned.Plan
	p.Steps, p.Groups = p.Steps[first:end], nil
	for _, g := range s.to.planned.Groups {
		if first <= g.First && g.End <= end {
			g.First, g.End = g.First-first, g.End-first
			p.Groups = append(p.Groups, g)
		}
	}
	return &p
}

// groupOf is the group that a step of the whole plan is in, which no boundary of parts divides; -1 for none.
func (s *splitter) groupOf(step int) int {
	return slices.IndexFunc(s.to.planned.Groups, func(g device.Group) bool { return g.First <= step && step < g.End })
}

// advance compiles what is left up to the next step that the device lacks.
func (s *splitter) advance() error {
	rest := s.steps(s.next, len(s.to.planned.Steps))
	prog, err := s.ctx.Device.Compile(rest)
	if err == nil {
		return s.addDevice(prog, len(s.to.planned.Steps))
	}
	lacks := stepOf(err, rest)
	if lacks == nil {
		return err
	}
	call, at := rest.Steps[lacks.Step].Call, s.next+lacks.Step
	prog = lacks.Before
	group := s.groupOf(at)
	switch {
	case group >= 0 && status.CodeOf(lacks.Err) == status.Unsupported: // whichever of its steps is the reason
		return closing(prog, &refusedGroup{s.to.planned.Divide(group), lacks.Err})
	case s.ctx.LowersFrom(lacks.Err, call):
		return closing(prog, runtime.ErrLowered)
	case !s.ctx.FallsBack(lacks.Err):
		return closing(prog, err)
	case prog == nil && at > s.next:
		if prog, err = s.ctx.Device.Compile(s.steps(s.next, at)); err != nil {
			return err
		}
	}
	if prog != nil {
		if err := s.addDevice(prog, at); err != nil {
			return err
		}
	}
	s.lacks = append(s.lacks, runtime.Lack{Row: op.ByID(call.Op), Err: lacks.Err})
	s.next = at + 1
	return nil
}

// closing closes a program, which may be nil, because of an error, which it returns.
func closing(p device.Program, err error) error {
	if p != nil {
		_ = p.Close() // it has never run
	}
	return err
}

// addDevice adds the part of the device up to a step, behind what the CPU has to do before.
func (s *splitter) addDevice(prog device.Program, end int) error {
	if err := s.flush(); err != nil {
		return closing(prog, err)
	}
	s.add(part{program: prog, steps: end - s.next}, s.next, end)
	s.next = end
	return nil
}

// flush adds the part of the CPU that ends before the next step, if there is one. Neighbours that the device lacks are
// one part, so that they cost one wait for the device and not one each.
func (s *splitter) flush() error {
	if len(s.lacks) == 0 {
		return nil
	}
	first := s.next - len(s.lacks)
	prog, err := s.ctx.Runtime.CPU.Device.Compile(s.steps(first, s.next))
	if err != nil {
		return err
	}
	s.add(part{program: prog, lacks: s.lacks, steps: s.next - first}, first, s.next)
	s.lacks = nil
	return nil
}

// add appends a part of the steps from first up to end; parts run one after the other. The arena is one block for all
// of them, because one may read what another has written. The workspace of single steps lies behind it, so that a part
// which needs only that touches the block too.
func (s *splitter) add(p part, first, end int) {
	x := s.to
	need := p.program.Workspace(&device.Call{})
	p.uses = usesOf(x, first, end)
	p.uses.arena = p.uses.arena || need > x.planned.Arena // a step has workspace of its own behind it
	x.parts = append(x.parts, p)
	x.arena = max(x.arena, need)
}

// usesOf is what the steps of x from first up to end use. It goes over those before them as well, to find out which
// outputs they have written: a later part depends on these, even where it writes other elements.
func usesOf(x *compiled, first, end int) uses {
	u := uses{
		in:  make([]bool, len(x.planned.Inputs)+len(x.planned.Constants)),
		out: make([]bool, len(x.planned.Outputs)), again: make([]bool, len(x.planned.Outputs)),
	}
	for i := range x.planned.Steps[:end] {
		step := &x.planned.Steps[i]
		for _, slots := range [2][]device.Slot{step.In, step.Out} {
			for _, t := range slots {
				switch {
				case i < first && t.Space == device.Output:
					u.again[t.Index] = true
				case i < first:
				case t.Space == device.Input:
					u.in[t.Index] = true
				case t.Space == device.Output:
					u.out[t.Index] = true
				case t.Space == device.Scratch:
					u.arena = true
				}
			}
		}
	}
	return u
}

// stepOf is the step of a plan that an error is about; nil where the device does not name one.
func stepOf(err error, plan *device.Plan) *device.StepError {
	var step *device.StepError
	switch {
	case errors.As(err, &step) && step.Step >= 0 && step.Step < len(plan.Steps):
		return step
	case len(plan.Steps) == 1:
		return &device.StepError{Err: err}
	}
	return nil
}
