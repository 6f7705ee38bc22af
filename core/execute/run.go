package execute

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/eager"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/profile"
	"github.com/paddle-mps/paddle-mps/core/program"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/core/text"
)

// programRun is one run of a program, from its inputs to the tensors that it makes. It holds what it lists until recycle.
// Records are recycled, so that a warm run allocates nothing.
type programRun struct {
	program  *Program
	stream   *runtime.Stream
	lane     program.Lane
	inputs   []*runtime.Tensor  // arguments, then captured tensors
	moved    []*runtime.Tensor  // those captured tensors that are copies on the device
	entry    *program.Entry     // nil before find
	code     *compiled          // the program of entry
	in, out  []runtime.View     // views of outputs hold references until adopt
	into     []*runtime.Tensor  // the caller's outputs that are computed in place, nil for others; none without such outputs
	changes  []runtime.Change   // what writing into each of the caller's outputs means for gradients
	copies   []*runtime.Storage // contiguous, aligned copies of inputs that were not
	arena    *runtime.Storage   // intermediate results, shared by the parts where there are several
	launches []*runtime.Launch  // of the parts, prepared and not submitted
	seed     [2]uint64
	text     []byte       // of the key
	stop     *device.Stop // nil: the run cannot be cancelled
}

// Extras is what few runs have. A nil one is that of all others.
type Extras struct {
	stop    *device.Stop // may end the run; nil: it cannot be cancelled
	strings *text.Table  // nil: the run has met no strings yet
}

// stopped is what may end the run.
func (x *Extras) stopped() *device.Stop {
	if x == nil {
		return nil
	}
	return x.stop
}

// A run goes through the same steps in the same order: read, find, prepare, submit, adopt. Each of them may fail,
// and then recycle gives back whatever the steps before have taken. Only from submit on does anything happen on the device.

// programRuns are the records, of all runtimes; runLanes is how many have been made.
var (
	programRuns = sync.Pool{New: func() any { return &programRun{lane: program.Lane(runLanes.Add(1))} }}
	runLanes    atomic.Uint32
)

// newRun takes a record for a run on a stream (nil: the default one).
func newRun(p *Program, on *runtime.Stream) *programRun {
	r := programRuns.Get().(*programRun)
	r.program, r.stream = p, p.ctx.StreamFor(on)
	return r
}

// recycle releases what the run holds: copies, the arena, and outputs that did not become tensors.
func (r *programRun) recycle() {
	rt := r.program.ctx.Runtime
	for _, st := range r.copies {
		st.Release()
	}
	for i := range r.out {
		if st := r.out[i].Store; st != nil {
			st.Release()
		}
	}
	if r.arena != nil {
		r.arena.Release()
	}
	for _, l := range r.launches {
		l.Recycle()
	}
	for i := range r.changes {
		r.changes[i].Drop()
	}
	rt.FreeAll(r.moved)
	if r.entry != nil {
		r.entry.Release(r.lane)
	}
	clear(r.inputs) // nothing in the pool keeps memory alive
	clear(r.moved)
	clear(r.in)
	clear(r.out)
	clear(r.into)
	clear(r.changes)
	clear(r.copies)
	clear(r.launches)
	r.inputs, r.moved, r.in, r.out = r.inputs[:0], r.moved[:0], r.in[:0], r.out[:0]
	r.into, r.changes, r.copies = r.into[:0], r.changes[:0], r.copies[:0]
	r.launches, r.text = r.launches[:0], r.text[:0]
	r.program, r.stream, r.entry, r.code, r.arena, r.stop, r.seed = nil, nil, nil, nil, nil, nil, [2]uint64{}
	programRuns.Put(r)
}

// Captured tensors are looked up at every run and not when the program is made: they may have been written to, and a 0-d
// tensor of the CPU, which stands beside tensors of any device, is copied as it is now.

// read collects the inputs and checks what does not depend on their shapes.
func (r *programRun) read(in []*runtime.Tensor, on *runtime.Stream) error {
	p := r.program
	r.inputs = append(r.inputs, in...)
	for _, t := range p.CapturedInputs {
		if t.Store.Context != p.ctx {
			moved, err := eager.In(p.ctx.Runtime, 0).Carry(t, p.ctx, on)
			if err != nil {
				return err
			}
			t, r.moved = moved, append(r.moved, moved)
		}
		r.inputs = append(r.inputs, t)
	}
	for i, t := range r.inputs {
		if err := t.Store.Known("program"); err != nil {
			return err
		}
		if t.Store.Strings != nil {
			return status.Errorf(status.Type, "[program] input %d is a tensor of strings; want one of %s", i, p.AllInputs[i].DType)
		}
		if t.Store.Context != p.ctx {
			return status.Errorf(status.Invalid, "[program] input %d is on %s; want %s", i, t.Store.Context.Place(), p.ctx.Place())
		}
	}
	return p.separate(r.inputs)
}

// Two goroutines that ask for the same new shapes compile once: the cache makes the second one wait for the first.

// find finds the compiled program for the shapes of the inputs, and compiles it where there is none.
func (r *programRun) find(mode runtime.Mode) (err error) {
	p := r.program
	for _, t := range r.inputs {
		r.text = AppendShape(r.text, t.DType, &t.Shape)
	}
	key := p.key(r.text)
	if r.entry = p.ctx.Cache().Find(&key, r.lane); r.entry == nil {
		if mode.Has(runtime.NonBlocking) {
			return &runtime.Long{}
		}
		if r.entry, err = p.find(r.shapes(), r.lane); err != nil {
			return err
		}
	}
	code, err := r.entry.Program()
	if err != nil {
		return err
	}
	r.code = code.(*compiled)
	if mode.Has(runtime.NonBlocking) && r.code.next != nil { // it waits for the counted call
		return &runtime.Long{Work: r.code.work}
	}
	if mode.Has(runtime.NonBlocking) && p.ctx.InOrder() {
		work := r.code.work
		for _, t := range r.inputs {
			if !fits(t) { // it is copied first
				work += float64(t.Numel())
			}
		}
		if work > waitable {
			return &runtime.Long{Work: work}
		}
	}
	return nil
}

// An input that does not fit is copied before the run, however little of it the program reads: a slice of a large transposed
// tensor is better taken outside.

// fits reports whether a tensor is laid out as plans require of their inputs.
func fits(t *runtime.Tensor) bool {
	// SAFETY: only the alignment of the address is looked at.
	return t.IsContiguous() && uintptr(t.Addr)%device.PlanAlign == 0
}

// A warm run needs no list of shapes: the key is made of the tensors themselves.

// shapes are the dtypes and shapes of the inputs, for a compilation.
func (r *programRun) shapes() []op.Type {
	shapes := make([]op.Type, len(r.inputs))
	for i, t := range r.inputs {
		shapes[i] = op.Type{DType: t.DType, Shape: t.Shape}
	}
	return shapes
}

// prepare copies inputs that are not laid out as plans require and allocates the outputs, on the stream of the
// run: their memory may still be in use by earlier work on it. The random counters of the run are taken here.
func (r *programRun) prepare() error {
	c := r.stream.Context()
	for i, t := range r.inputs {
		r.in = append(r.in, t.View)
		if fits(t) {
			continue
		}
		// The copy is made on the stream, so that what the caller writes to the input later does not reach it.
		v, err := r.stream.Contiguous(&t.View)
		if err != nil {
			return err
		}
		r.in[i], r.copies = v, append(r.copies, v.Store)
	}
	for i := range r.code.planned.Outputs {
		if i < len(r.into) && r.into[i] != nil {
			// As of a new output: recycle releases one reference of each.
			r.into[i].Store.Retain()
			r.out = append(r.out, r.into[i].View)
			continue
		}
		t := &r.code.planned.Outputs[i]
		v, err := c.EmptyView("program", t.DType, &t.Shape, r.stream)
		if err != nil {
			return err
		}
		r.out = append(r.out, v)
	}
	if draws := r.code.planned.Draws; draws > 0 {
		r.seed = c.Draw(draws)
	}
	// A single part has a workspace of its own, see hold; several pass intermediate results to each other in the arena.
	if len(r.code.parts) < 2 || r.code.arena == 0 {
		return nil
	}
	var err error
	r.arena, err = c.NewStorage(r.code.arena, r.stream)
	return err
}

// A part that the CPU runs waits for the parts before it, because its launch reads what they write.

// submit submits the parts in order. All launches are prepared before the first is submitted, so that a run that
// cannot be done submits nothing.
func (r *programRun) submit() error {
	for i := range r.code.parts {
		l := r.launch(&r.code.parts[i])
		if err := r.hold(l); err != nil {
			return err
		}
		r.launches = append(r.launches, l)
	}
	launches := r.launches
	for len(launches) > 0 { // the stream owns a launch that is submitted
		l := launches[0]
		launches[0], launches = nil, launches[1:]
		if err := l.Submit(); err != nil {
			r.launches = launches
			return err
		}
	}
	r.launches = r.launches[:0]
	return nil
}

// hold gives the launch a reference to the program until it completes, and allocates its workspace. The
// reference is to the caller's entry, which may have been evicted meanwhile: an entry found in the cache now
// may be of another compilation. On an error the launch is recycled.
func (r *programRun) hold(l *runtime.Launch) error {
	r.entry.Hold(l.Lane)
	l.Entry = r.entry
	if r.arena != nil {
		return nil // it is in the launch, if the part uses it
	}
	err := l.Reserve()
	if err != nil {
		l.Recycle()
	}
	return err
}

// launch makes the launch of a part. Operands that the part does not use have no memory in it, so that it neither
// waits for them nor keeps them. Outputs that an earlier part has written, and the arena, are inputs too.
func (r *programRun) launch(p *part) *runtime.Launch {
	l := r.stream.Context().Runtime.NewLaunch(r.stream.Context(), r.stream)
	l.Program, l.Lacks, l.Seed, l.Stop = p.program, append(l.Lacks, p.lacks...), r.seed, r.stop
	for i := range r.in {
		if !p.uses.in[i] {
			l.In = append(l.In, device.Operand{})
			continue
		}
		l.ReadView(&r.in[i])
	}
	for i := range r.code.constants { // never written, so there are no hazards to track
		v, o := &r.code.constants[i], device.Operand{}
		if p.uses.in[len(r.in)+i] {
			o = device.Operand{Addr: v.Addr, Heap: v.Store.Heap(), DType: v.DType, Layout: v.Layout}
		}
		l.In = append(l.In, o)
	}
	for i := range r.out {
		if p.uses.out[i] && p.uses.again[i] {
			l.Stores = append(l.Stores, r.out[i].Store)
		}
	}
	arena := r.arena != nil && p.uses.arena
	if r.arena != nil { // programs want all of it, even where their steps use none
		l.Workspace, l.Scratch = r.arena.Base, r.arena.Heap()
	}
	if arena {
		l.Stores = append(l.Stores, r.arena)
	}
	for i := range r.out {
		if !p.uses.out[i] {
			l.Out = append(l.Out, device.Operand{})
			continue
		}
		l.Write(&r.out[i])
	}
	if arena {
		l.Stores = append(l.Stores, r.arena)
		l.Writes++
	}
	return l
}

// The caller's list takes the tensors, so that a caller with room for them, such as the one for Python, spares an allocation.

// adopt makes tensors of the outputs, which take over their references, and appends them to made: nil for those of the caller.
// On an error none is left, and recycle has what remains.
func (r *programRun) adopt(made []*runtime.Tensor) ([]*runtime.Tensor, error) {
	rt := r.stream.Context().Runtime
	for i := range r.out {
		if i < len(r.into) && r.into[i] != nil {
			made = append(made, nil)
			continue
		}
		t, err := rt.Adopt(&r.out[i])
		r.out[i].Disown() // the tensor owns its reference now, or it is released
		if err != nil {
			rt.FreeAll(made)
			return nil, err
		}
		made = append(made, t)
	}
	if rt.Displaces() {
		r.inheritDisplacement(made)
	}
	return made, nil
}

// inheritDisplacement marks what a program on the CPU has made of displaced tensors.
func (r *programRun) inheritDisplacement(made []*runtime.Tensor) {
	for _, x := range r.inputs {
		if from := x.Store.Displacement; from != 0 && r.program.ctx == r.program.ctx.Runtime.CPU {
			for _, t := range made {
				if t != nil && t.Store.Displacement == 0 {
					t.Store.Displace(from)
				}
			}
			return
		}
	}
}

func (p *Program) recordRun(in, out []*runtime.Tensor, err error, start int64) {
	if eager.NotMade(err) {
		return
	}
	text := fmt.Appendf(nil, `"program":%d,"place":"%s"`, p.id, p.ctx.Place())
	if profile.Shapes() && err == nil {
		text = eager.AppendTensors(append(text, ','), "input", "in", in)
		text = eager.AppendTensors(text, "output", "out", out)
	}
	profile.Span(profile.Program, "program", string(eager.AppendError(text, err)), start)
}
