package fusion

import (
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
	"github.com/paddle-mps/paddle-mps/kernels/host/reduce"
)

// tail is the reduction at the end of a group: each block of the result that it reduces is folded while it is in the cache.
//
// Outputs of up to a segment of elements are computed from blocks of whole outputs, by the loops that the reduction has for
// those. Of longer ones each segment has an accumulator of its own in the workspace, so that threads can divide one output;
// they are joined, in order, when all segments have been folded. The reduction alone folds long rows in the same way, so
// that results have its bits, for any number of threads.
type tail struct {
	kernel   *reduce.Reduction
	step     *device.Step
	from     int   // the step of the group whose result is reduced
	each     int64 // elements of an output
	segments int64 // of an output; 1: it is computed as a whole
	arena    int64 // bytes of workspace in front of the accumulators
}

// EndWith makes a step the tail of a group. status.Unsupported for one that is no reduction of a result of the group.
func (f *Group) EndWith(s *device.Step, k engine.Kernel, arena int64) error {
	r, ok := k.(*reduce.Reduction)
	from := len(f.steps) - 1
	for from >= 0 && f.steps[from].Out[0] != s.In[0] { // from the last on: locals are used again
		from--
	}
	if !ok || from < 0 {
		return status.Errorf(status.Unsupported, "[%s] has no kernel that can be the tail of a group", op.ByID(s.Call.Op).Name)
	}
	each := f.elements / s.Call.Out[0].Numel()
	f.Tail = &tail{kernel: r, step: s, from: from, each: each, segments: reduce.Segments(each), arena: arena}
	f.weight++
	return nil
}

// Threads divide outputs, or segments of outputs, and blocks are whole ones of either. Where blocks begin and end then makes no
// difference to the order of additions.

// unit is the elements that a thread computes at least: an output, or a segment of one.
func (t *tail) unit() int64 { return min(t.each, reduce.Segment) }

// Units is the number of those.
func (t *tail) Units() int64 { return t.step.Call.Out[0].Numel() * t.segments }

// bytes is the memory for accumulators of segments.
func (t *tail) bytes() int64 {
	if t.segments == 1 {
		return 0
	}
	return t.Units() * t.kernel.Size
}

// part is the accumulator of a segment, by its number among those of all outputs.
// SAFETY: the workspace has room for all of them behind the arena.
func (t *tail) part(run *device.Call, unit int64) unsafe.Pointer {
	return unsafe.Add(run.Workspace, t.arena+unit*t.kernel.Size)
}

// open begins to write results, from output lo on.
func (t *tail) open(to *engine.Track, run *device.Call, f *engine.Frame, lo int64) {
	out := t.step.Call.Out[0]
	out.Addr, _ = t.step.Out[0].Address(run)
	to.Open(&out, &t.kernel.Out, f, lo)
}

// There are a thousand times fewer accumulators than elements, so that the caller joins them by itself.

// join computes all outputs from the accumulators of their segments.
// SAFETY: see reduction.begin.
func (t *tail) join(run *device.Call) {
	f := engine.NewFrame()
	defer f.Free()
	var to engine.Track
	t.open(&to, run, f, 0)
	t.kernel.JoinOutputs(&to, f, t.part(run, 0), t.step.Call.Out[0].Numel(), t.segments, t.each)
}

// ending is what a thread needs to fold the blocks of a run. It belongs to the blocks of the thread, and is made once. Whether
// outputs are computed as a whole, with in and to, or by segments, with from and next, is the same for all runs.
//
// SAFETY: next is in the workspace of the run, where no other thread writes to the accumulators of this one's segments.
type ending struct {
	Frame *engine.Frame    // of the part that runs
	In    reduce.Traversal // the rows of a block, as the reduction goes through those of a whole operand
	To    engine.Track     // where their results go
	From  engine.Track     // the elements of a block of long outputs
	Next  unsafe.Pointer   // the accumulator of their next segment
}

// newEnding is an ending before its first run. The passage is that of the whole operand, so that the reduction chooses the
// loops that it has for that; of a block, only where the rows lie differs, which take puts in.
func (t *tail) newEnding() *ending {
	e := new(ending)
	e.In.Begin(t.step.Call, 0)
	e.In.Outer = engine.Walk{Size: e.In.Outer.Size, Rank: 1}
	e.In.Outer.Strides[0] = t.each * e.In.Outer.Size
	e.From.Coding, e.From.Walk = t.kernel.In, e.In.Outer
	e.From.Walk.Strides[0] = e.In.Outer.Size
	return e
}

// Reduce is part of a group with a tail: units lo to hi-1.
func (f *Group) Reduce(b *Blocks, run *device.Call, lo, hi int64) error {
	t, e := f.Tail, b.Ending
	e.Frame = engine.NewFrame()
	defer e.close()
	if t.segments == 1 {
		t.open(&e.To, run, e.Frame, lo)
		return f.span(b, lo*t.each, hi*t.each)
	}
	e.From.Buf = e.Frame.Room()
	for lo < hi { // output by output
		output, first := lo/t.segments, lo%t.segments
		n := min(t.segments-first, hi-lo)
		e.Next = t.part(run, lo)
		from := output * t.each
		if err := f.span(b, from+first*reduce.Segment, from+min((first+n)*reduce.Segment, t.each)); err != nil {
			return err
		}
		lo += n
	}
	return nil
}

// close forgets the memory of a run.
func (e *ending) close() {
	e.Frame.Free()
	e.Frame, e.Next, e.In.Outer.Base = nil, nil, nil
	e.From.Buf, e.From.Walk.Base = nil, nil
	e.To = engine.Track{}
}

// take folds a block of n elements.
// SAFETY: the elements lie one behind the other in memory of the run or of this thread.
func (t *tail) take(e *ending, from unsafe.Pointer, n int64) {
	if t.segments == 1 {
		outer := &e.In.Outer
		outer.Base, outer.Dims[0], outer.Index[0], outer.Offset = from, n/t.each, 0, 0
		used := e.Frame.Used
		t.kernel.Outputs(&e.To, &e.In, e.Frame, n/t.each)
		e.Frame.Used = used
		return
	}
	values := &e.From.Walk
	values.Base, values.Dims[0], values.Index[0], values.Offset = from, n, 0, 0
	t.kernel.FoldPieces(e.Next, &e.From, n, reduce.Segment)
	e.Next = unsafe.Add(e.Next, reduce.Segments(n)*t.kernel.Size)
}
