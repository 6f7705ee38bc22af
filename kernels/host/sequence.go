package host

import (
	"sync"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/kernels/host/elem"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
	"github.com/paddle-mps/paddle-mps/kernels/host/fusion"
	"github.com/paddle-mps/paddle-mps/kernels/host/reduce"
)

// sequence is the kernel of a plan of many steps: it runs their kernels one after the other, each of
// them split over the threads by itself; the steps of a group are one kernel (fusion/group.go). Its workspace is the plan's arena followed by the workspace of
// the step that needs most.
//
// What the steps cost and how much workspace they need is known when the sequence is made, because the
// layouts of all operands are.
type sequence struct {
	stages []stage
	arena  int64     // bytes, a multiple of line
	most   int64     // bytes of workspace of the step that needs most
	work   int64     // cost of all steps
	ready  sync.Pool // *[]device.Call, by stage: calls of steps with all but the memory of a run
}

// stage is a kernel with the steps that it runs: one of its own, or those of a group, for which the kernel takes the
// call of the program, unless it is that of a head.
type stage struct {
	kernel   engine.Kernel
	steps    []device.Step
	epilogue *fusion.Group // of a group with a head, whose kernel is the stage's; else nil
}

// single reports whether the kernel takes the call of the first step.
func (s *stage) single() bool { return len(s.steps) == 1 || s.epilogue != nil }

// sequence makes the kernels of a plan. An error is a device.StepError, unless there are no steps.
func (d *Device) sequence(p *device.Plan) (*sequence, error) {
	if len(p.Steps) == 0 {
		return nil, status.Errorf(status.Unsupported, "[compile] got a plan without steps; want at least one")
	}
	s := &sequence{arena: engine.RoundUp(p.Arena)}
	groups, known := p.Groups, map[weight]engine.Kernel{}
	for i := 0; i < len(p.Steps); i++ {
		made, err := d.stage(p, i, groups, known)
		if err != nil {
			return nil, err
		}
		if len(made.steps) > 1 {
			groups = groups[1:]
			i += len(made.steps) - 1
		}
		c := made.steps[0].Call
		s.stages = append(s.stages, made)
		s.most = max(s.most, made.kernel.Workspace(c))
		s.work += made.kernel.Cost(c)
		if made.epilogue != nil {
			s.work += made.epilogue.Cost(c)
		}
	}
	return s, nil
}

// stage makes the kernel that runs next in the sequence: that of step i, or of the first of the groups if that begins there.
func (d *Device) stage(p *device.Plan, i int, groups []device.Group, known map[weight]engine.Kernel) (stage, error) {
	end := i + 1
	if len(groups) > 0 && groups[0].First == i {
		end = groups[0].End
	}
	steps := p.Steps[i:end]
	ks := make([]engine.Kernel, len(steps))
	for j := range steps {
		var err error
		if ks[j], err = d.kernelOnce(steps[j].Call, known); err != nil {
			return stage{}, &device.StepError{Step: i + j, Err: err}
		}
	}
	if len(steps) == 1 {
		return stage{kernel: ks[0], steps: steps}, nil
	}
	g, behind, last := &groups[0], 0, len(steps)
	if g.Head {
		if _, ok := ks[0].(fusion.Head); !ok {
			return stage{}, &device.StepError{Step: i, Err: status.Errorf(status.Unsupported, "[%s] has no kernel that can be the head of a group", label(steps[0].Call))}
		}
		behind = 1
	}
	if g.Tail {
		last--
	}
	k, err := fusion.Fuse(steps[behind:last], ks[behind:last], g.Elements, g.Locals)
	if err == nil && g.Tail {
		err = k.EndWith(&steps[last], ks[last], engine.RoundUp(p.Arena))
	}
	switch {
	case err != nil:
		return stage{}, &device.StepError{Step: i, Err: err}
	case g.Head:
		return stage{ks[0], steps, k}, nil
	}
	k.Stream()
	return stage{kernel: k, steps: steps}, nil
}

// weight is the constant operand of a product, which is the same for products that share a kernel.
type weight struct {
	first  *byte
	dtype  dtype.DType
	layout shape.Layout
	choice uint64 // the variant that takes the product
}

// kernelOnce is kernelFor, and the same kernel for all products with one constant: the steps of a recurrent network do not each
// have a copy of its weights.
func (d *Device) kernelOnce(c *device.Call, known map[weight]engine.Kernel) (engine.Kernel, error) {
	if c.Op != op.IDMatmul || len(c.In) <= engine.Right || len(c.In[engine.Right].Const) == 0 {
		return d.kernelFor(c)
	}
	w := weight{&c.In[engine.Right].Const[0], c.In[engine.Right].DType, c.In[engine.Right].Layout, d.classOf(c)}
	if k := known[w]; k != nil {
		return k, nil
	}
	k, err := d.kernelFor(c)
	known[w] = k
	return k, err
}

// reads sets the inputs whose elements a run reads: all of those that a step names, but for packed weights.
func (s *sequence) reads(reads []bool) {
	for i := range s.stages {
		holds := engine.HoldsWeight(s.stages[i].kernel)
		for j := range s.stages[i].steps {
			for n, slot := range s.stages[i].steps[j].In {
				if slot.Space == device.Input && !(holds && j == 0 && n == engine.Right) {
					reads[slot.Index] = true
				}
			}
		}
	}
}

// Cost and workspace do not depend on the call: the layouts are those of the plan.
func (s *sequence) Cost(*device.Call) int64      { return s.work }
func (s *sequence) Workspace(*device.Call) int64 { return s.arena + s.most }

// bytes counts the state of all kernels and, roughly, the steps themselves.
func (s *sequence) Bytes() (n int64) {
	counted := map[engine.Kernel]bool{} // steps may share one
	for i := range s.stages {
		for j := range s.stages[i].steps {
			c := s.stages[i].steps[j].Call
			operands := len(c.In) + len(c.Out)
			n += int64(unsafe.Sizeof(*c)) + int64(operands)*int64(unsafe.Sizeof(device.Operand{}))
		}
		if k := s.stages[i].kernel; !counted[k] {
			n += engine.BytesOf(k)
			counted[k] = true
		}
		if e := s.stages[i].epilogue; e != nil {
			n += e.Bytes()
		}
	}
	return n
}

// Run ends at the first step that fails, or before the next one when the call is to stop. What later steps would have
// written is then undefined, as is the output of the one that failed.
func (s *sequence) Run(t *engine.Threads, c *device.Call) error { return s.runStages(t, c, nil) }

// runStages is run; p records the stages, unless it is nil.
func (s *sequence) runStages(t *engine.Threads, c *device.Call, p *probe) error {
	if need := s.Workspace(c); need > 0 && c.Workspace == nil {
		return status.Errorf(status.Internal, "[program] got no workspace; want %d bytes", need)
	}
	calls, _ := s.ready.Get().(*[]device.Call)
	if calls == nil {
		calls = s.newCalls(c)
	}
	defer s.release(calls)
	t.Running.Add(1) // so that workers watch for the next step
	defer t.Running.Add(-1)
	stop := c.Stop
	for i := range s.stages {
		if stop != nil && stop.Err() != nil {
			return stop.Err()
		}
		own := c
		if s.stages[i].single() {
			own = &(*calls)[i]
			s.stages[i].steps[0].Rebind(c, own)
			if s.most > 0 {
				// SAFETY: the workspace is as long as the method of that name says, arena first.
				own.Workspace, own.Scratch = unsafe.Add(c.Workspace, s.arena), c.Scratch
			}
		}
		start := p.begin()
		if err := s.stages[i].run(t, own, c); err != nil {
			return err
		}
		p.end(&s.stages[i], start)
	}
	return nil
}

// run runs the kernel, on its own call or on that of the program.
func (s *stage) run(t *engine.Threads, own, program *device.Call) error {
	if s.epilogue != nil {
		return s.kernel.(fusion.Head).Lead(t, own, fusion.Epilogue{Steps: s.epilogue, Run: program})
	}
	return s.kernel.Run(t, own)
}

// newCalls binds the steps that are stages of their own to a run. Copying operands, layouts and all, would take longer
// than a small step, so that calls are kept.
func (s *sequence) newCalls(run *device.Call) *[]device.Call {
	calls := make([]device.Call, len(s.stages))
	for i := range s.stages {
		if s.stages[i].single() {
			s.stages[i].steps[0].Bind(run, &calls[i])
		}
	}
	return &calls
}

// release keeps calls for another run, without the memory that they name.
func (s *sequence) release(calls *[]device.Call) {
	for i := range s.stages {
		if s.stages[i].single() {
			s.stages[i].steps[0].Unbind(&(*calls)[i])
		}
	}
	s.ready.Put(calls)
}

// Fuses reports whether a step has a kernel that works element by element, or one that can be a head or a tail; see
// device.Fuser.
func (d *Device) Fuses(s *op.Step) bool {
	c := device.Call{Op: s.Row.ID, Out: []device.Operand{{DType: s.Out[0].DType, Layout: s.Out[0].Layout}}}
	for i := range s.In {
		c.In = append(c.In, device.Operand{DType: s.In[i].DType, Layout: s.In[i].Layout})
	}
	k, err := d.kernelFor(&c)
	if err != nil {
		return false
	}
	if h, ok := k.(fusion.Head); ok {
		return h.Leads(&c)
	}
	if _, ok := k.(*reduce.Reduction); ok {
		return true
	}
	return elem.KernelOf(k, &c) != nil
}
