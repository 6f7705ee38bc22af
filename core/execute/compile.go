package execute

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/mapped"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/shape"
)

// compiled is a program for one set of shapes. Steps that the device lacks are in parts of their own, which
// the CPU runs. The program cache of the device owns it.
type compiled struct {
	planned   *graph.Planned
	parts     []part
	constants []runtime.View // see Program.constant
	arena     int64          // bytes of scratch memory that a run needs
	work      float64        // elements that a run works on, about
	next      *stage         // what runs behind it; nil: its outputs are the results
}

// Workspace is the number of scratch bytes of a run; it does not depend on the call.
func (x *compiled) Workspace(*device.Call) int64 { return x.arena }

// Bytes is the memory of the program without the constants that all shapes share.
func (x *compiled) Bytes() (n int64) {
	for i, k := range x.planned.Constants {
		if k.Local && i < len(x.constants) {
			n += int64(len(k.Bytes))
		}
	}
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
		x.constants[i].Store.Release()
	}
	return first
}

// compile makes the program for concrete shapes. The cache calls it with no lock held, once for callers that
// ask at the same time.
func (p *Program) compile(shapes []op.Type) (device.Program, error) {
	defer runtime.Compiling("program", fmt.Sprintf(`"program":%d`, p.id))()
	g, next, err := p.resolve(shapes)
	if err == nil {
		err = g.Sized()
	}
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	p.sizes = slices.Clone(shapes) // which are the caller's
	p.mu.Unlock()
	composes := p.ctx.Composes()
	if p.ctx.Passes()&graph.Attention == 0 {
		composes = nil
	}
	g = g.Expand(composes)
	g = p.computeConstants(g.Rewrite(p.ctx.Passes()))
	if p.ctx.Passes()&graph.Layout != 0 && p.ctx.Info().ChannelsLast {
		g = g.ChannelsLast().Rewrite(p.ctx.Passes() & (graph.Views | graph.DeadCode))
	}
	fuses, ends := p.ctx.Fuses(), []int(nil)
	for {
		made, err := p.compileFor(g, fuses, ends)
		refused := (*refusedGroup)(nil)
		switch {
		case errors.As(err, &refused) && len(ends) < mostDivisions:
			ends = append(ends, refused.middle)
		case refused != nil:
			fuses = nil
		case errors.Is(err, runtime.ErrLowered):
			ends = nil // the steps have other numbers now
		case err != nil:
			return nil, err
		default:
			made.next = next
			return made, nil
		}
	}
}

// mostDivisions is how often groups of a program that a device refuses are divided before all its steps run one by one. The
// device compiles anew for each. A group of 256 steps of which one has to be alone takes 8.
const mostDivisions = 24

// refusedGroup is the error of a plan with a group that the device turned out to lack: once more, with the group divided.
type refusedGroup struct {
	middle int // see graph.Planned.Divide
	err    error
}

func (r *refusedGroup) Error() string { return r.err.Error() }

// compileFor makes the program of a graph whose dimensions are known. ErrLowered and refusedGroup say that its plan has
// to be made anew.
func (p *Program) compileFor(g *graph.Graph, fuses graph.Fuses, ends []int) (*compiled, error) {
	x := &compiled{}
	var err error
	if x.planned, err = g.PlanFor(p.ctx.Composes(), fuses, ends...); err != nil {
		return nil, err
	}
	x.work = work(&x.planned.Plan)
	if err = p.ctx.SupportsAll(&x.planned.Plan); err == nil {
		err = split(x, p.ctx)
	}
	if err == nil {
		err = x.load(p)
	}
	if err != nil {
		_ = x.Close() // the first error is the one to report
		return nil, err
	}
	p.recordCompilation(x, 0)
	if p.Home != nil {
		p.Home.recordCompilation(x, p.stage)
	}
	return x, nil
}

// recordCompilation keeps a compilation for Info and Explain, in place of the latest one of its stage. Those of later stages follow it.
func (p *Program) recordCompilation(x *compiled, stage int) {
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
	p.compilations++
	p.latest = append(p.latest[:min(stage, len(p.latest)):min(stage, len(p.latest))], noted{i, &x.planned.Plan, onCPU})
}

// load copies the constants that runs read into the memory of the device, or finds the copies that are there.
func (x *compiled) load(p *Program) error {
	home, reads := p.Root(), x.reads()
	constants := make([]runtime.View, len(x.planned.Constants))
	for i, k := range x.planned.Constants {
		if err := home.constant(k, reads[len(x.planned.Inputs)+i], &constants[i]); err != nil {
			return err
		}
		x.constants = constants[:i+1]
	}
	return nil
}

// reads says of each input, and of the constants behind them, whether a part reads its elements when it runs.
func (x *compiled) reads() []bool {
	reads := make([]bool, len(x.planned.Inputs)+len(x.planned.Constants))
	for i := range x.parts {
		part := &x.parts[i]
		if s, ok := part.program.(device.Selective); ok {
			s.Reads(reads)
			continue
		}
		for j, used := range part.uses.in {
			reads[j] = reads[j] || used
		}
	}
	return reads
}

// A weight that the device has packed is not copied once more, and the CPU reads what lies in memory of Go, or in a mapped file,
// where it is: constants are there as long as their program.

// constant makes v a view of a constant in memory that runs can read, or, if they do not read it, anywhere. It is retained for
// the caller.
func (p *Program) constant(k *op.Const, read bool, v *runtime.View) error {
	// SAFETY: the constant keeps its memory, and a source that has mapped it is closed after the last run.
	here, s := unsafe.Pointer(unsafe.SliceData(k.Bytes)), k.Shape
	inPlace := !read || p.ctx == p.ctx.Runtime.CPU && uintptr(here)%device.PlanAlign == 0
	switch {
	case p.loadedConstant(k, inPlace, v): // never one that is Local
		return nil
	case inPlace:
		*v = p.ctx.Runtime.HostView(k.Bytes, k.DType, &s)
	default:
		made, err := p.ctx.EmptyView("program", k.DType, &s, nil) // without the lock: it may call the program's owner
		if err != nil {
			return err
		}
		*v = made
		copy(v.Memory(), k.Bytes)
	}
	if !read || !inPlace {
		releasePages(k)
	}
	if !k.Local { // otherwise it is this compilation's alone
		p.loadedConstant(k, inPlace, v)
	}
	return nil
}

// loadedConstant makes v the program's view of a constant, retained for the caller. anywhere says that one of the constant's own
// memory is enough. If the program has none, it keeps v, whose reference is taken over; it reports false if v is none either.
func (p *Program) loadedConstant(k *op.Const, anywhere bool, v *runtime.View) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	has, ok := p.loaded[k]
	// SAFETY: addresses are compared, nothing is read.
	if ok && (anywhere || has.Addr != unsafe.Pointer(unsafe.SliceData(k.Bytes))) {
		if v.Store != nil {
			v.Store.Release() // another goroutine was faster
		}
		*v = has
	} else {
		if v.Store == nil {
			return false
		}
		if ok { // runs did not read it, and now they do
			has.Store.Release()
		}
		p.loaded[k] = *v
	}
	v.Store.Retain()
	return true
}

// releasePages gives the pages of a constant back to the system if they are those of a file, after all of them were read.
func releasePages(k *op.Const) {
	if !k.Mapped {
		return
	}
	page := os.Getpagesize()
	// SAFETY: only the place within a page is looked at.
	skip := -int(uintptr(unsafe.Pointer(unsafe.SliceData(k.Bytes)))) & (page - 1)
	if n := (len(k.Bytes) - skip) &^ (page - 1); n > 0 {
		mapped.Release(k.Bytes[skip:][:n])
	}
}

// computeConstants is a graph after the passes that compute constants. What only those calls read is left out.
func (p *Program) computeConstants(g *graph.Graph) *graph.Graph {
	passes, before := p.ctx.Passes(), g
	if passes&graph.Constants != 0 {
		g = g.FoldConstants(p.evaluate)
	}
	if passes&graph.Factors != 0 {
		g = g.TakeFactors(p.combine)
	}
	if g == before {
		return g
	}
	return g.Rewrite(passes & graph.DeadCode)
}

// evaluate computes a call of constants on the CPU. The results are for this compilation alone, because they may depend on
// shapes. Dtypes that the place lacks are refused, so that the call stays and has the error of an eager call.
func (p *Program) evaluate(row *op.Row, at op.Attrs, in []op.Known) ([]*op.Const, error) {
	for i := range in {
		if k := in[i].Const; k != nil {
			if err := p.ctx.Supports(row.Name, k.DType); err != nil {
				return nil, err
			}
		}
	}
	out, err := Fold(p.ctx.Runtime, row, at, in)
	if err != nil {
		return nil, err
	}
	for _, k := range out {
		if err := p.ctx.Supports(row.Name, k.DType); err != nil {
			return nil, err
		}
		k.Local = true
	}
	return out, nil
}

// What is combined depends on constants alone. It is computed once for a program, on the CPU, whatever the place of the
// program is: a model with sizes of its own for each call would otherwise have as many copies of its weights. The
// constants that it follows from are kept by the source.

// combination is a row of two constants, the second of them in dims; see graph.Combine. Constants are told apart by
// identity, as those of a source are the same objects for all shapes.
type combination struct {
	row  *op.Row
	x, y *op.Const
	dims shape.Shape
}

// combine computes a row of two constants, the second in other dimensions. A program for other shapes has the same result,
// unless it follows from a constant of one resolution.
func (p *Program) combine(row *op.Row, x, y *op.Const, dims shape.Shape) (*op.Const, error) {
	if p.Home != nil {
		p = p.Home
	}
	key := combination{row, x, y, dims}
	p.mu.Lock()
	made := p.combined[key]
	p.mu.Unlock()
	if made != nil {
		return made, nil
	}
	shaped := &op.Const{Type: op.Type{DType: y.DType, Shape: dims}, Bytes: y.Bytes}
	out, err := foldPair(p.ctx.Runtime, row, x, shaped)
	if err != nil {
		return nil, err
	}
	releasePages(x)
	if out.Local = x.Local || y.Local; out.Local {
		return out, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if made := p.combined[key]; made != nil {
		return made, nil
	}
	if p.combined == nil {
		p.combined = map[combination]*op.Const{}
	}
	p.combined[key] = out
	return out, nil
}

// Constant is a copy of the tensor's elements for a graph, in memory of Go. It waits for the work that computes
// them.
func Constant(t *runtime.Tensor) (*op.Const, error) {
	c, err := newConstant(t.Store.Context.Runtime, &op.Type{DType: t.DType, Shape: t.Shape})
	if err != nil {
		return nil, err
	}
	return c, t.Read(c.Bytes)
}
