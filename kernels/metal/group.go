package metal

import (
	"errors"
	"slices"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/kernels/metal/gpu"
	"github.com/paddle-mps/paddle-mps/kernels/metal/msl"
	"github.com/paddle-mps/paddle-mps/kernels/metal/shaders"
)

// A group of elementwise steps is one dispatch of a shader that is written for it, also with a reduction as its tail, unless rows
// are long and so few that parts of them have to be joined by a second one. A step of a sequence stands for the
// group: its operands are what the steps read from memory and write to memory, each once. Everything else about it, binding
// operands, barriers, workspace, is as for a step of one operator.

var _ device.Fuser = (*Device)(nil)

// Fuses reports whether a step can be part of a group; see device.Fuser. With graphs preferred there are no groups: their
// steps would have the bits of shaders.
func (d *Device) Fuses(s *op.Step) bool {
	if d.prefer != gpu.PreferShaders || slices.Contains(d.leave, s.Row.ID) {
		return false
	}
	return s.Row.Elementwise() && shaders.FusesStep(s) || s.Row.Tail && shaders.FusesTail(s)
}

// grouping finds out what a group reads and writes.
type grouping struct {
	steps  []shaders.GroupStep
	group  device.Step // stands for the steps
	stored []int       // by output of group: the step whose result it is
	made   map[place]int
	read   map[place]int
	count  int // of numbers
}

// place is where a value lies. Within a group, two operands at one place are one: what is written there is read element by
// element (device.Group), and reads of other shapes or strides differ in the layout.
type place struct {
	device.Slot
	dtype  dtype.DType  // Invalid for what the group writes
	layout shape.Layout // of a read, with as few axes as it has
}

// groupStep is the step that stands for a group, with its kernel; there is none for a group of which nothing is read, as in
// a graph with dead code. Layouts and offsets are known, addresses are not.
func (d *Device) groupStep(p *device.Plan, g *device.Group) (device.Step, gpu.Kernel, error) {
	x := grouping{made: map[place]int{}, read: map[place]int{}, group: device.Step{Call: &device.Call{Op: p.Steps[g.End-1].Call.Op}}}
	end, tail := g.End, (*msl.Tail)(nil)
	if g.Tail {
		end--
	}
	for i := g.First; i < end; i++ {
		x.add(&p.Steps[i])
	}
	x.store(p, g)
	if g.Tail {
		s := &p.Steps[end]
		tail = &msl.Tail{Op: s.Call.Op, Out: s.Call.Out[0].DType, Step: x.made[place{Slot: s.In[0]}]}
		x.group.Out, x.group.Call.Out = append(x.group.Out, s.Out[0]), append(x.group.Call.Out, s.Call.Out[0])
	}
	if len(x.group.Out) == 0 {
		return x.group, nil, nil
	}
	c := d.planned(&x.group)
	k, err := shaders.NewGroup(d.Device, x.steps, c, x.stored, tail)
	return x.group, k, err
}

// add adds the next step.
func (x *grouping) add(s *device.Step) {
	step := shaders.GroupStep{Call: s.Call}
	for i := range s.In {
		step.Sources = append(step.Sources, x.source(&s.Call.In[i], s.In[i]))
	}
	x.steps = append(x.steps, step)
	x.made[place{Slot: s.Out[0]}] = len(x.steps) - 1
}

// source is where an input comes from: what an earlier step has left at its place, a number, or memory.
func (x *grouping) source(o *device.Operand, at device.Slot) msl.Source {
	if at.Space == device.Own {
		x.count++
		return msl.Source{From: msl.Number, Index: x.count - 1}
	}
	if step, ok := x.made[place{Slot: at}]; ok {
		return msl.Source{From: msl.Step, Index: step}
	}
	key := place{at, o.DType, o.Collapse()}
	index, ok := x.read[key]
	if !ok {
		index = len(x.group.In)
		x.read[key] = index
		x.group.In, x.group.Call.In = append(x.group.In, at), append(x.group.Call.In, *o)
	}
	return msl.Source{From: msl.Read, Index: index}
}

// store makes outputs of the results that are not local; of several at one place, the last.
func (x *grouping) store(p *device.Plan, g *device.Group) {
	for i := range x.steps {
		s := &p.Steps[g.First+i]
		if s.Out[0].Space != device.Local && x.made[place{Slot: s.Out[0]}] == i {
			x.group.Out, x.group.Call.Out = append(x.group.Out, s.Out[0]), append(x.group.Call.Out, s.Call.Out[0])
			x.stored = append(x.stored, i)
		}
	}
}

// refusedGroup is why a group has no kernel, as status.Unsupported, upon which the runtime divides the group. What the compiler
// refuses is reported; a group that is merely too large is divided without a word.
func (d *Device) refusedGroup(p *device.Plan, g *device.Group, err error) error {
	if refusal := (*gpu.Refusal)(nil); !errors.As(err, &refusal) {
		return err
	}
	d.refusals.countShaders.Add(1)
	why := status.Errorf(status.Unsupported, "[%s] in a group of %d steps: %s (macOS %s)",
		nameOf(p.Steps[g.First].Call), g.End-g.First, err, build())
	d.refusals.warnOnce("group "+withoutPlaces(err.Error()), func() string {
		return why.Error() + "; the group is divided, which is slower"
	})
	return why
}
