package runtime

import (
	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/program"
)

// programRun is one run of a program. Its views of outputs hold references until adopt or release.
type programRun struct {
	entry   *program.Entry // held by the caller
	code    *compiled      // the program of entry
	stream  *Stream
	in, out []view
	copies  []*storage // contiguous, aligned copies of inputs that were not
	arena   *storage   // intermediate results, shared by the parts where there are several
	seed    [2]uint64
}

// prepare copies inputs that are not laid out as plans require and allocates the outputs, on the stream of the
// run: their memory may still be in use by earlier work on it. The random counters of the run are taken here.
func (r *programRun) prepare(in []*Tensor) error {
	c := r.stream.ctx
	for _, t := range in {
		v := t.view
		// SAFETY: only the alignment of the address is looked at.
		if !v.IsContiguous() || uintptr(v.addr)%device.PlanAlign != 0 {
			var err error
			if v, err = r.stream.contiguous(&v); err != nil {
				return err
			}
			r.copies = append(r.copies, v.store)
		}
		r.in = append(r.in, v)
	}
	for i := range r.code.planned.Outputs {
		t := r.code.planned.Outputs[i]
		v, err := c.empty("program", t.DType, &t.Shape, r.stream)
		if err != nil {
			return err
		}
		r.out = append(r.out, v)
	}
	if draws := r.code.planned.Draws; draws > 0 {
		r.seed = c.random.take(draws)
	}
	if len(r.code.parts) < 2 || r.code.arena == 0 {
		return nil
	}
	var err error
	r.arena, err = c.newStorage(r.code.arena, r.stream)
	return err
}

// submit submits the parts in order. All launches are prepared before the first is submitted, so that a run that
// cannot be done submits nothing.
func (r *programRun) submit() error {
	var launches []*launch
	for i := range r.code.parts {
		l := r.launch(&r.code.parts[i])
		if err := r.hold(l); err != nil {
			for _, l := range launches {
				l.recycle()
			}
			return err
		}
		launches = append(launches, l)
	}
	for i, l := range launches {
		if err := l.submit(); err != nil {
			for _, l := range launches[i+1:] {
				l.recycle()
			}
			return err
		}
	}
	return nil
}

// hold gives the launch a reference to the program until it completes, and allocates its workspace. The
// reference is to the caller's entry, which may have been evicted meanwhile: an entry found in the cache now
// may be of another compilation. On an error the launch is recycled.
func (r *programRun) hold(l *launch) error {
	r.entry.Hold(l.lane)
	l.held = r.entry
	if r.arena != nil {
		return nil // it is in the launch, if the part uses it
	}
	err := l.reserve()
	if err != nil {
		l.recycle()
	}
	return err
}

// launch makes the launch of a part. Operands that the part does not use have no memory in it, so that it neither
// waits for them nor keeps them. Outputs that an earlier part has written, and the arena, are inputs too.
func (r *programRun) launch(p *part) *launch {
	l := r.stream.ctx.rt.newLaunch(r.stream.ctx, r.stream)
	l.program, l.lacks, l.Seed = p.program, append(l.lacks, p.lacks...), r.seed
	for i := range r.in {
		if !p.uses.in[i] {
			l.In = append(l.In, device.Operand{})
			continue
		}
		l.readView(&r.in[i])
	}
	for i := range r.code.constants { // never written, so there are no hazards to track
		v, o := &r.code.constants[i], device.Operand{}
		if p.uses.in[len(r.in)+i] {
			o = device.Operand{Addr: v.addr, Heap: v.store.heap(), DType: v.dtype, Layout: v.Layout}
		}
		l.In = append(l.In, o)
	}
	for i := range r.out {
		if p.uses.out[i] && p.uses.again[i] {
			l.stores = append(l.stores, r.out[i].store)
		}
	}
	arena := r.arena != nil && p.uses.arena
	if r.arena != nil { // programs want all of it, even where their steps use none
		l.Workspace, l.Scratch = r.arena.base, r.arena.heap()
	}
	if arena {
		l.stores = append(l.stores, r.arena)
	}
	for i := range r.out {
		if !p.uses.out[i] {
			l.Out = append(l.Out, device.Operand{})
			continue
		}
		l.write(&r.out[i])
	}
	if arena {
		l.stores = append(l.stores, r.arena)
		l.writes++
	}
	return l
}

// adopt makes tensors of the outputs, which take over their references. On an error none is left, and release
// has what remains.
func (r *programRun) adopt() (ts []*Tensor, err error) {
	rt := r.stream.ctx.rt
	for i := range r.out {
		v := r.out[i]
		r.out[i].store = nil // the tensor owns its reference now
		t, err := rt.adopt(&v)
		if err != nil {
			for _, t := range ts {
				rt.Free(t.handle)
			}
			return nil, err
		}
		ts = append(ts, t)
	}
	return ts, nil
}

// release releases the copies, the arena and the outputs that did not become tensors.
func (r *programRun) release() {
	for _, st := range r.copies {
		st.release()
	}
	for i := range r.out {
		if st := r.out[i].store; st != nil {
			st.release()
		}
	}
	if r.arena != nil {
		r.arena.release()
	}
}
