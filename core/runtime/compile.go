package runtime

import (
	"errors"
	"fmt"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// compiled is a program for one set of shapes. Steps that the device lacks are in parts of their own, which
// the CPU runs. The program cache of the device owns it.
type compiled struct {
	planned   *graph.Planned
	parts     []part
	constants []view  // in the memory of the device
	arena     int64   // bytes of scratch memory that a run needs
	work      float64 // elements that a run works on, about
}

// Workspace is the number of scratch bytes of a run; it does not depend on the call.
func (x *compiled) Workspace(*device.Call) int64 { return x.arena }

// Bytes is the memory of the program without the constants, which all shapes share.
func (x *compiled) Bytes() (n int64) {
	for i := range x.parts {
		if s, ok := x.parts[i].program.(device.Sized); ok {
			n += s.Bytes()
		}
	}
	return n
}

// Close releases the device programs and the references to the constants. The cache calls it when no run is in
// flight.
func (x *compiled) Close() error {
	var first error
	for i := range x.parts {
		if err := x.parts[i].program.Close(); first == nil {
			first = err
		}
	}
	for i := range x.constants {
		x.constants[i].store.release()
	}
	return first
}

// compile makes the program for concrete shapes. The cache calls it with no lock held, once for callers that
// ask at the same time.
func (p *Program) compile(shapes []op.Type) (device.Program, error) {
	defer compiling("program", fmt.Sprintf(`"program":%d`, p.id))()
	g, err := p.source.Resolve(shapes)
	if err != nil {
		return nil, err
	}
	g = g.Rewrite(p.ctx.passes)
	fuses := p.ctx.fuses
	for {
		made, err := p.compileFor(g, fuses)
		switch {
		case errors.Is(err, errUnfused):
			fuses = nil
		case !errors.Is(err, errLowered):
			return made, err
		}
	}
}

// The estimate decides whether a caller that holds Python's lock waits for a run, repeats it without the lock, or has it run
// on another thread. It is in floating point, because a product of sizes may be beyond an int64.

// work estimates how many elements the steps of a plan work on. So many multiplications of a matrix product or a
// convolution count as one element.
func work(plan *device.Plan) (elements float64) {
	const products = 64
	for i := range plan.Steps {
		call := plan.Steps[i].Call
		for _, list := range [2][]device.Operand{call.In, call.Out} {
			for j := range list {
				elements += float64(list[j].Numel())
			}
		}
		switch out := float64(call.Out[0].Numel()); op.ByID(call.Op).Kind {
		case op.Product:
			x := &call.In[0]
			elements += out * float64(x.Dims[max(x.Rank, 1)-1]) / products
		case op.Window:
			if len(call.In) > 1 && call.In[1].Rank > 0 {
				w := &call.In[1]
				elements += out * float64(w.Numel()) / float64(max(w.Dims[0], 1)) / products
			}
		}
	}
	return elements
}

// errUnfused is the error of a plan with a group of which the device turned out to lack a step: once more, without groups.
var errUnfused = status.Errorf(status.Internal, "[compile] the steps of a group have to run one by one")

// compileFor makes the program of a graph whose dimensions are known. errLowered and errUnfused say that its plan has
// to be made anew.
func (p *Program) compileFor(g *graph.Graph, fuses graph.Fuses) (device.Program, error) {
	x := &compiled{}
	var err error
	if x.planned, err = g.PlanFor(p.ctx.composes, fuses); err != nil {
		return nil, err
	}
	x.work = work(&x.planned.Plan)
	if err = p.ctx.supportsAll(&x.planned.Plan); err == nil {
		err = split(x, p.ctx)
	}
	if err == nil {
		err = x.load(p)
	}
	if err != nil {
		_ = x.Close() // the first error is the one to report
		return nil, err
	}
	p.note(x)
	if p.home != nil {
		p.home.note(x)
	}
	return x, nil
}

// supportsAll refuses plans with dtypes that the device does not have, with the error that a call of the
// operator would return.
func (c *Context) supportsAll(plan *device.Plan) error {
	for i := range plan.Steps {
		call := plan.Steps[i].Call
		for _, list := range [2][]device.Operand{call.In, call.Out} {
			for j := range list {
				if err := c.supports(op.ByID(call.Op).Name, list[j].DType); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// note records the figures of a compilation for Info.
func (p *Program) note(x *compiled) {
	i := ProgramInfo{Steps: len(x.planned.Steps), Parts: len(x.parts), Arena: x.planned.Arena, Groups: len(x.planned.Groups)}
	for _, g := range x.planned.Groups {
		i.Grouped += g.End - g.First
	}
	onCPU := make([]bool, 0, len(x.planned.Steps))
	for j := range x.parts {
		i.CPUSteps += len(x.parts[j].lacks)
		for range x.parts[j].steps {
			onCPU = append(onCPU, len(x.parts[j].lacks) > 0)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	i.Compilations = p.latest.Compilations + 1
	p.latest, p.plan, p.onCPU = i, &x.planned.Plan, onCPU
}

// load copies the constants into the memory of the device, or finds the copies that are there.
func (x *compiled) load(p *Program) error {
	home := p
	if p.home != nil {
		home = p.home
	}
	for _, k := range x.planned.Constants {
		v, err := home.constant(k)
		if err != nil {
			return err
		}
		x.constants = append(x.constants, v)
	}
	return nil
}

// constant is a constant in the memory of the device, retained for the caller. The first caller copies it.
func (p *Program) constant(k *op.Const) (view, error) {
	if v, ok := p.loadedConstant(k, nil); ok { // never one that is Local
		return v, nil
	}
	s := k.Shape
	v, err := p.ctx.empty("program", k.DType, &s, nil) // without the lock: it may call the program's owner
	if err != nil {
		return view{}, err
	}
	copy(v.bytes(), k.Bytes)
	if k.Local { // it is this compilation's alone
		return v, nil
	}
	v, _ = p.loadedConstant(k, &v)
	return v, nil
}

// loadedConstant is the program's copy of a constant, retained for the caller; ok is false where there is
// none and made is nil. Where there is none, made becomes the copy; its reference is taken over either way.
func (p *Program) loadedConstant(k *op.Const, made *view) (v view, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	v, ok = p.loaded[k]
	switch {
	case !ok && made == nil:
		return v, false
	case !ok:
		v = *made
		p.loaded[k] = v
	case made != nil:
		made.store.release() // another goroutine was faster
	}
	v.store.retain()
	return v, true
}

// Constant is a copy of the tensor's elements for a graph, in memory of Go. It waits for the work that computes
// them. The same number of bytes is first allocated from the CPU's allocator and freed again: where that
// fails, so would Go's allocation, which ends the process.
func (t *Tensor) Constant() (*op.Const, error) {
	bytes, err := t.Bytes(t.dtype.Size())
	if err != nil {
		return nil, err
	}
	cpu := t.store.ctx.rt.cpu
	block, err := cpu.allocate(bytes, nil)
	if err != nil {
		return nil, err
	}
	defer func() {
		cpu.memory.Free(block, nil)
		cpu.level()
	}()
	c := &op.Const{Type: op.Type{DType: t.dtype, Shape: t.Shape}, Bytes: make([]byte, bytes)}
	return c, t.Read(c.Bytes)
}
