package execute

import (
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/eager"
	"github.com/paddle-mps/paddle-mps/core/profile"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// RunInto is Run with outputs that exist: tensors on the place of the program with the shapes of the results, which are cast to
// their dtypes. They may share memory with inputs and with each other; of two that do, the later one wins. An error of the
// arguments leaves them as they are, a failure of the device leaves their elements undefined.
//
// An output is computed in place if it is contiguous, aligned, of the result's dtype, and shares memory with no other tensor of
// the run. Others are copied when the results are there.
func RunInto(c eager.Caller, p *Program, in, out []*runtime.Tensor, on *runtime.Stream) error {
	return p.runInto(in, out, on, c.Mode())
}

func (p *Program) runInto(in, out []*runtime.Tensor, on *runtime.Stream, mode runtime.Mode) error {
	if profile.On() && !mode.Has(runtime.Profiled) {
		start := profile.Now()
		err := p.runInto(in, out, on, mode|runtime.Profiled)
		p.recordRun(in, out, err, start)
		return err
	}
	if p.varies {
		return status.Errorf(status.Unsupported, "[program] outputs are lists, whose lengths only the run says; want Run, which makes them")
	}
	if p.strings != nil {
		if outputs, _ := p.strings.StringOutputs(); outputs != nil {
			return status.Errorf(status.Unsupported, "[program] an output is strings, which are not computed into a tensor; want Run, which makes it")
		}
	}
	if len(out) != p.Results {
		return status.Errorf(status.Invalid, "[program] got %d outputs; want %d", len(out), p.Results)
	}
	for i, t := range out {
		if t.Store.Context != p.ctx {
			return status.Errorf(status.Invalid, "[program] output %d is on %s; want %s", i, t.Store.Context.Place(), p.ctx.Place())
		}
		if t.Traced() { // it has no memory
			return status.Errorf(status.Traced, "[program] output %d is a tensor of a function that was traced, which has no elements; want another tensor", i)
		}
		if err := runtime.Writable("program", &t.View); err != nil {
			return err
		}
	}
	// What must be known before anything is written cannot be known of every program: these run as ever, and their results are
	// copied.
	if p.plain(on, mode) {
		done, err := p.runDirect(in, out, on, mode)
		if done || err != nil && !p.decidesByElements(err, nil) {
			return err
		}
	}
	made, err := p.RunWith(in, on, mode, nil, nil)
	if err != nil {
		return err
	}
	defer p.ctx.Runtime.FreeAll(made)
	return p.deliver(made, out, on, mode)
}

// plain reports whether a run computes its results and does nothing else: it records no gradients and changes no inputs.
func (p *Program) plain(on *runtime.Stream, mode runtime.Mode) bool {
	return p.byElements.Load() == nil && p.byLists == nil && p.strings == nil && len(p.ChangedInputs) == 0 && !on.Traces() && (p.Gradient == nil && p.Variants == nil || !mode.Has(runtime.Recording))
}

// deliver copies results to the outputs, after it has checked all of them.
func (p *Program) deliver(made, out []*runtime.Tensor, on *runtime.Stream, mode runtime.Mode) error {
	rt := p.ctx.Runtime
	for i, t := range made {
		if t == nil { // computed in place
			continue
		}
		if t.Shape != out[i].Shape {
			return wrongOutput(i, out[i], t.DType, &t.Shape)
		}
		change, err := eager.Changing(rt, runtime.AssignRow, []runtime.Operand{{Tensor: t}}, nil, out[i], mode)
		change.Drop()
		if err != nil {
			return err
		}
	}
	// In this order the later of two outputs that overlap wins. Nothing is written before all have been checked above.
	for i, t := range made {
		if t == nil {
			continue
		}
		if err := eager.In(rt, mode).CallInto(runtime.AssignRow, []runtime.Operand{{Tensor: t}}, nil, out[i], on); err != nil {
			return err
		}
	}
	return nil
}

// runDirect is runInto of a plain program. It is not done, and nothing has happened, if the program runs in stages or an input
// turns out to decide its graph.
func (p *Program) runDirect(in, out []*runtime.Tensor, on *runtime.Stream, mode runtime.Mode) (done bool, err error) {
	if len(in) != p.Given {
		return true, WrongInputs(len(in), p.Given)
	}
	r := newRun(p, on)
	defer r.recycle()
	// The same steps as of runOnce, with choose before prepare, which then allocates no memory for what is in place.
	if err := r.read(in, on); err != nil {
		return true, err
	}
	if err := r.find(mode); err != nil || r.code.next != nil {
		return false, err
	}
	if err := r.choose(out); err != nil {
		return true, err
	}
	// An output that may not be written to is refused here, before the run begins.
	for _, t := range out {
		change, err := eager.Changing(p.ctx.Runtime, runtime.AssignRow, nil, nil, t, mode)
		r.changes = append(r.changes, change)
		if err != nil {
			return true, err
		}
	}
	if err := r.prepare(); err != nil {
		return true, err
	}
	if err := r.submit(); err != nil {
		return true, err
	}
	// Those in place have their new contents; the changes of the others are dropped, because deliver makes them again.
	for i, t := range r.into {
		if t != nil {
			r.changes[i].Done(t)
		}
	}
	made, err := r.adopt(nil)
	defer p.ctx.Runtime.FreeAll(made)
	if err != nil {
		return true, err
	}
	return true, p.deliver(made, out, on, mode)
}

// Steps of a program read their inputs in any order, so that an output that overlaps one would change what later steps read.
// Two outputs that overlap are both copied: the order of the run is not that of the list.

// choose decides which outputs the run computes in place, and checks the shapes of all.
func (r *programRun) choose(out []*runtime.Tensor) error {
	for i, t := range out {
		want := &r.code.planned.Outputs[i]
		if t.Shape != want.Shape {
			return wrongOutput(i, t, want.DType, &want.Shape)
		}
		if t.DType != want.DType || !fits(t) || overlapsAny(t, i, out) || overlapsAny(t, -1, r.inputs) {
			t = nil
		}
		r.into = append(r.into, t)
	}
	return nil
}

// overlapsAny reports whether the memory that a tensor is a part of overlaps that of one in a list, other than the one at self.
func overlapsAny(t *runtime.Tensor, self int, list []*runtime.Tensor) bool {
	for i, o := range list {
		if i != self && overlaps(t.Store, o.Store) {
			return true
		}
	}
	return false
}

// overlaps reports whether two storages have memory in common. Foreign memory may be given twice.
func overlaps(st *runtime.Storage, other *runtime.Storage) bool {
	// SAFETY: addresses to compare, never followed.
	a, b := uintptr(st.Base), uintptr(other.Base)
	return st.SharesWith(other) || a < b+uintptr(other.Size) && b < a+uintptr(st.Size)
}

// WrongInputs is the error of a run with another number of inputs.
func WrongInputs(got, want int) error {
	return status.Errorf(status.Invalid, "[program] got %d inputs; want %d", got, want)
}

func wrongOutput(i int, got *runtime.Tensor, d dtype.DType, want *shape.Shape) error {
	return status.Errorf(status.Invalid, "[program] output %d has shape %s; want %s of %s", i, &got.Shape, want, d)
}
