package device

import (
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/shape"
)

// Plan is the input of a device's compiler: steps in an order in which they can run, and the location of each
// operand. A call of the program has the plan's inputs in Call.In, its outputs in Call.Out, and Arena bytes for
// intermediate results, which the program adds to its Workspace.
//
// A plan of one step for a call that is about to run ([PlanOf]) has the operands of that call, including their
// addresses, so that a device can check alignment; its program serves every call with an equal [Key]. In all
// other plans operands have no memory (Addr is nil), except for scalars: every input and output of the program
// is contiguous and starts at a multiple of [PlanAlign] bytes.
//
// A plan is not changed once it is compiled, and programs may keep it.
type Plan struct {
	Steps  []Step
	Groups []Group // in the order of their steps; none for a device that is no [Fuser]
	Arena  int64   // bytes
	Draws  int64   // how many random counters a run takes
}

// Group is a run of elementwise steps, perhaps behind a head or before a tail, that a [Fuser] runs block by block: for some
// elements it runs all steps, then for the next ones, so that intermediate results are small. All results have as many elements, and element i of a
// step's result is computed from elements i of the group's earlier results. Elements are numbered in
// row-major order of each step's own shape, which may differ from step to step.
//
// The first step may be of another kind, such as a matrix product: it is then the head of the group, and its result has as
// many elements as those of the others. They run on elements that the head has made while these are in the cache: its
// epilogue. The result of a head is never Local, so that a device may also run the head first and then all others. What the
// head reads, no step of the group writes.
//
// The last step of a group without a head may be a reduction: the tail. It reads all elements of one result of the group, in
// order, and reduces its last axes or all of them, but for axes of one element; its own result has fewer elements, is never
// Local and shares no memory with what the group reads or writes otherwise.
//
// A result that only steps of the group read is in [Local] space. What the group writes elsewhere is read by its
// later steps in the same way only: contiguous, from its first element on.
type Group struct {
	First, End int   // steps First to End-1 of the plan
	Elements   int64 // of each result but that of the tail
	Head       bool  // the first step is not elementwise
	Tail       bool  // the last step is a reduction
	Locals     int   // Local slots have an Index below; some take turns in one, elements of one size or not
}

// PlanAlign is the alignment, in bytes, of a program's inputs, outputs and arena.
const PlanAlign = 16

// Step is one operator of a plan, in the form that [Call] describes.
type Step struct {
	Call    *Call  // Op, Attrs, Axes and operands; addresses are valid only as Plan says
	In, Out []Slot // locations of Call.In and Call.Out; nil in a plan made by PlanOf
	Draw    int64  // of random operators: the first counter, relative to that of the run
}

// Slot is the location of an operand of a step when the program runs.
type Slot struct {
	Space  Space
	Index  int   // of the program's input or output, or among the locals of the group
	Offset int64 // bytes from its address, or from the start of the arena, to the element with all indices zero
}

// Space is a kind of memory that an operand can be in.
type Space uint8

const (
	Own     Space = iota // the operand of the step itself: a scalar of the plan
	Input                // Call.In of the program's call
	Output               // Call.Out of the program's call
	Scratch              // the arena, at the start of Call.Workspace
	Local                // an intermediate result of the step's group; the device has memory for a block of it
)

// Absent reports whether the operand was left out. Rows that complete what is left out, as clip does, spare their
// kernels the question.
func (o *Operand) Absent() bool { return o.DType == dtype.Invalid }

// Scalar is an operand of a plan that is a number; bits is the representation of its element in dtype d.
func Scalar(bits uint64, d dtype.DType, l *shape.Layout) Operand {
	// SAFETY: eight bytes that the operand keeps by this pointer.
	return Operand{Addr: unsafe.Pointer(&bits), DType: d, Layout: *l}
}

// ownScalar replaces the memory of an operand that is a number of the caller by a copy.
func (o *Operand) ownScalar() {
	if o.Heap != nil || o.Addr == nil || o.Numel() != 1 && o.Strides != [shape.MaxRank]int64{} {
		return
	}
	element := new(uint64)
	// SAFETY: the operand has at least one element, in memory that the caller holds.
	copy(unsafe.Slice((*byte)(unsafe.Pointer(element)), 8), unsafe.Slice((*byte)(o.Addr), o.DType.Size()))
	o.Addr = unsafe.Pointer(element)
}

// PlanOf is the plan of one step for a call: the operands of the step are those of the program. The plan keeps
// no reference to c, because it may be compiled when the call is over: addresses are used as numbers only,
// except those of scalars, which are copied.
func PlanOf(c *Call) *Plan {
	own := &Call{Op: c.Op, Attrs: c.Attrs, Axes: c.Axes}
	own.In, own.Out = append(own.In, c.In...), append(own.Out, c.Out...)
	for i := range own.In {
		own.In[i].ownScalar()
	}
	return &Plan{Steps: []Step{{Call: own}}}
}

// Single is the call of a plan that [PlanOf] made; nil for any other plan.
func (p *Plan) Single() *Call {
	if len(p.Steps) == 1 && p.Steps[0].Out == nil {
		return p.Steps[0].Call
	}
	return nil
}

// Bind sets to to the call of a step within run, which is a call of the program. It reuses the arrays of to.In
// and to.Out. The caller provides workspace that the step itself needs. An operand in Local space gets no address.
func (s *Step) Bind(run, to *Call) {
	in, out := to.In[:0], to.Out[:0]
	for i := range s.In {
		in = append(in, s.In[i].operand(&s.Call.In[i], run))
	}
	for i := range s.Out {
		out = append(out, s.Out[i].operand(&s.Call.Out[i], run))
	}
	*to = Call{
		Op: s.Call.Op, In: in, Out: out, Attrs: s.Call.Attrs, Axes: s.Call.Axes,
		Seed: [2]uint64{run.Seed[0], run.Seed[1] + uint64(s.Draw)},
	}
}

// Rebind is Bind for a call that Bind has made for the same step: it only changes what differs between runs.
func (s *Step) Rebind(run, to *Call) {
	for i := range s.In {
		s.In[i].place(&to.In[i], run)
	}
	for i := range s.Out {
		s.Out[i].place(&to.Out[i], run)
	}
	to.Seed = [2]uint64{run.Seed[0], run.Seed[1] + uint64(s.Draw)}
}

// Unbind removes the memory of a run from a call that Bind has made.
func (s *Step) Unbind(c *Call) {
	for i := range s.In {
		if s.In[i].Space != Own {
			c.In[i].Addr, c.In[i].Heap = nil, nil
		}
	}
	for i := range s.Out {
		c.Out[i].Addr, c.Out[i].Heap = nil, nil
	}
	c.Workspace, c.Scratch = nil, nil
}

// place gives an operand the address that it has in a run.
func (t *Slot) place(o *Operand, run *Call) {
	if t.Space != Own && t.Space != Local {
		o.Addr, o.Heap = t.Address(run)
	}
}

// operand is o with the address that it has in a run.
func (t *Slot) operand(o *Operand, run *Call) Operand {
	bound := *o
	t.place(&bound, run)
	return bound
}

// Address is where an operand in the memory of a run lies, and the heap that it lies in. The space is Input, Output or
// Scratch.
func (t *Slot) Address(run *Call) (unsafe.Pointer, Heap) {
	at, heap := run.Workspace, run.Scratch
	switch t.Space {
	case Input:
		at, heap = run.In[t.Index].Addr, run.In[t.Index].Heap
	case Output:
		at, heap = run.Out[t.Index].Addr, run.Out[t.Index].Heap
	}
	// SAFETY: the planner has placed the operand within the memory that the run's caller holds.
	return unsafe.Add(at, t.Offset), heap
}
