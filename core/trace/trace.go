// Package trace turns functions into programs: calls on the stream of a [Trace] become nodes of a graph.
//
// Results of traced calls are tensors without elements (trace.go). They share what memory they would share (alias.go), have histories
// (histories.go), and some are numbers that are known (numbers.go, elements.go). The gradient of a traced function is traced with it
// (differentiate.go), that of the gradient when it is wanted (secondorder.go). Two traces for other sizes make a program for all
// (unify.go), whose gradients are traced again for each set of sizes (replay.go).
//
// The invariant: a program computes what the function did when it was traced, or is refused when it is made or before it runs.
// Under Trace.mu one call is added to a graph, and no function of the caller runs.
//
// The package compiles and runs nothing, and calls are told of it only by their stream: see Tracer of package runtime.
package trace

import (
	"maps"
	"slices"
	"sync"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/eager"
	"github.com/paddle-mps/paddle-mps/core/execute"
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// Trace turns calls into a program. Calls on its stream are not run: they become nodes of a graph, and their results are
// traced tensors, which have a dtype and a shape and no memory. To read the elements of one is an error.
//
// Everything above the runtime works on traced tensors as on others, gradients included: the calls of a backward pass are
// traced like any.
//
// A tensor that is not traced is captured where a call reads it: it becomes an input of the program, which reads at each
// run what the tensor holds then. A call that writes into a captured tensor, or into one that stands for an argument,
// gives it another value in the graph; the program writes the last one into the tensor at the end of each run.
//
// Where an argument or a captured tensor asks for gradients, so do the results; see differentiate.go.
//
// Views of a traced tensor have the layouts that they would have, and share what memory they would: a write into one is a new
// value of the tensor at the root, and all others are read from that anew; see alias.go.
type Trace struct {
	ctx    *runtime.Context
	stream *runtime.Stream
	number uint64 // see Storage.MadeIn

	mu            sync.Mutex // a trace is for one thread; tensors may be freed by others
	builder       *graph.Builder
	sources       []*source       // the inputs of the graph, in order
	since         uint64          // nodes that were made before it
	former        []formerHistory // of captured tensors that it has written to
	formerOrigins []formerOrigin
	asking        []*runtime.Tensor              // handles of captured tensors that ask for gradients; several may be of one source
	captured      map[*runtime.Storage][]*source // tensors that were captured, by their memory
	given         int                            // sources that stand for arguments, which come first
	reads         []*runtime.Tensor              // whose elements the function has read; handles of the trace
	readAt        []uint32                       // the versions of their storages then
	quiet         map[int]uint64                 // see RecordDetached
	ended         bool
}

// What a trace needs of the rest of the runtime is little. A call asks whether its stream is that of a trace, and if so adds
// a node instead of a launch (core/eager); the shorter ways for elementwise operators are left to it. Everything that
// would touch memory asks whether there is any (Storage.Known). A call that is made on another stream, by another thread or
// after the end, is refused where it locates its operands (untraced), so that a traced tensor that escapes does no harm.

// source is where an input of the graph comes from.
type source struct {
	tensor  *runtime.Tensor // a handle that the trace owns: of what was captured, or of what stands for an argument
	input   graph.Value     // in the graph
	alias   *traced         // what the memory holds now
	changed bool            // by a call that writes into it
	local   bool            // the function has made it of elements: runs write nothing into it
	handles []uint64        // of the tensors that were captured, or of the one that stands for an argument; they may be freed
	follows []followed      // what calls have written to by way of these
}

// followed is the origin of a tensor that a source is of. There is more than one where the tensor was captured and it detached, for
// example: both are the memory of the source, and each has a history of its own.
type followed struct {
	origin *runtime.Origin // with a reference
	epoch  uint32          // before the first change
	handle uint64          // of the tensor
}

// forget drops the references to origins.
func (s *source) forget() {
	for _, f := range s.follows {
		f.origin.Release()
	}
	s.follows = nil
}

// New begins a trace for programs of the device. examples are arguments of the first call: stands has a traced tensor
// for each, of its dtype and shape, which asks for gradients where the argument does. The caller frees them, also after an
// error in a later call.
func New(c *runtime.Context, examples []*runtime.Tensor) (tr *Trace, stands []*runtime.Tensor, err error) {
	if tr, err = begin(c, len(examples)); err != nil {
		return nil, nil, err
	}
	for i, x := range examples {
		t, err := tr.argument(i, x)
		if err != nil {
			tr.ctx.Runtime.FreeAll(stands)
			tr.Abort()
			return nil, nil, err
		}
		stands = append(stands, t)
	}
	return tr, stands, nil
}

// begin is a trace without arguments, for so many.
func begin(c *runtime.Context, given int) (*Trace, error) {
	idle, err := new(device.Null).NewStream() // no work is ever submitted
	if err != nil {
		return nil, err
	}
	tr := &Trace{ctx: c, builder: graph.NewBuilder(), captured: map[*runtime.Storage][]*source{}, given: given, number: traceNumbers.Add(1), since: runtime.NodesMade.Load()}
	tr.stream = c.NewTracedStream(idle, tr)
	return tr, nil
}

// argument makes the tensor that stands for an argument.
func (tr *Trace) argument(i int, x *runtime.Tensor) (*runtime.Tensor, error) {
	if err := x.Store.Known("trace"); err != nil {
		return nil, err
	}
	if x.Store.Context != tr.ctx {
		return nil, status.Errorf(status.Invalid, "[trace] argument %d is on %s; want %s, where the program runs", i, x.Store.Context.Place(), tr.ctx.Place())
	}
	t, err := tr.stand(op.Type{DType: x.DType, Shape: x.Shape}, x.Asks() && x.IsLeaf())
	if err == nil && x.Asks() && !x.IsLeaf() {
		n := runtime.NewNode(nil, nil) // as computed by a call outside of the trace: the function may write into it
		n.KeepResult(0, t)
		for _, stands := range []*runtime.Tensor{t, tr.sources[i].tensor} {
			stands.InheritHistory(&runtime.History{Node: n})
		}
	}
	return t, err
}

// stand makes the tensor that stands for an argument of a type, which asks for gradients, as a leaf, or not. It is contiguous, whatever the
// argument is: a program takes inputs of any layout, and the function may not depend on one that the next call need not have.
func (tr *Trace) stand(x op.Type, asks bool) (*runtime.Tensor, error) {
	s := tr.input(x)
	t, err := tr.adopt(s.alias, x.DType, 0, shape.Contiguous(x.Shape))
	if err != nil {
		return nil, err
	}
	s.handles = []uint64{t.Handle()}
	if asks {
		err = t.Ask(true)
	}
	if err == nil {
		s.tensor, err = t.Same()
	}
	if err != nil {
		tr.ctx.Runtime.Free(t.Handle())
		return nil, err
	}
	return t, nil
}

// input adds an input.
func (tr *Trace) input(x op.Type) *source {
	v := tr.builder.Input(x)
	s := &source{input: v, alias: newRoot(tr, v)}
	s.alias.root.source = s
	tr.sources = append(tr.sources, s)
	return s
}

// Stream is the stream that the calls to be traced are made on. Nothing can be submitted to it.
func (tr *Trace) Stream() *runtime.Stream { return tr.stream }

// Mark is what Storage.MadeIn is of tensors that the function has made of elements.
func (tr *Trace) Mark() uint64 { return tr.number }

// Copy adds a copy of a tensor, recorded in the mode.
func (tr *Trace) Copy(t *runtime.Tensor, mode runtime.Mode) (*runtime.Tensor, error) {
	made, err := eager.In(tr.ctx.Runtime, mode).Call(runtime.AssignRow, []runtime.Operand{{Tensor: t}}, nil, nil, tr.stream)
	if err != nil {
		return nil, err
	}
	return made[0], nil
}

// Context is the device that the program will run on.
func (tr *Trace) Context() *runtime.Context { return tr.ctx }

// String is the graph so far, as text.
func (tr *Trace) String() string {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return tr.builder.String()
}

// Traced tensors are tensors like any others: they have handles, are counted, share views and histories. Only the storage
// differs, which has a size and no address. Statistics of memory do not see it, because nothing was allocated.

func (tr *Trace) tensor(v graph.Value) (*runtime.Tensor, error) {
	t := tr.builder.TypeOf(v)
	return tr.adopt(newRoot(tr, v), t.DType, 0, shape.Contiguous(t.Shape))
}

// adopt makes a tensor of a storage without memory.
func (tr *Trace) adopt(x *traced, d dtype.DType, offset int64, l shape.Layout) (*runtime.Tensor, error) {
	return tr.ctx.AdoptTraced(x, x.root.bytes, d, offset, &l)
}

// lookAtOrigins lets operands take their histories from their origins, which is not to be done under mu.
func lookAtOrigins(in []runtime.Operand) {
	for i := range in {
		if t := in[i].Tensor; t != nil {
			t.LatestHistory()
		}
	}
}

// Call adds a call and returns its results. c is where it would run.
func (tr *Trace) Call(row *op.Row, in []runtime.Operand, at op.Attrs, c *runtime.Context) ([]*runtime.Tensor, error) {
	lookAtOrigins(in)
	tr.mu.Lock()
	defer tr.mu.Unlock()
	if parts := tr.parts(row, in, at); parts != nil {
		return tr.view(row, in, at, c, parts)
	}
	values, err := tr.add(row, in, at, c)
	if err != nil {
		return nil, err
	}
	out := make([]*runtime.Tensor, 0, len(values))
	for _, v := range values {
		t, err := tr.tensor(v)
		if err != nil {
			tr.ctx.Runtime.FreeAll(out)
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

// RecordDetached notes which operands of the latest call it gets no gradients for, by its number: a bit for each. They are
// detached, ask for none, or nothing is recorded. Of further operands than there are bits it says nothing.
func (tr *Trace) RecordDetached(in []runtime.Operand, recording bool) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	mask := uint64(0)
	for i := range in {
		if t := in[i].Tensor; t != nil && !(recording && t.Asks()) {
			mask |= 1 << i
		}
	}
	if mask != 0 {
		if tr.quiet == nil {
			tr.quiet = map[int]uint64{}
		}
		tr.quiet[tr.builder.Calls()-1] = mask
	}
}

// view adds a call whose result shares the memory of its operand, in which it lies where part says; mu is held.
func (tr *Trace) view(row *op.Row, in []runtime.Operand, at op.Attrs, c *runtime.Context, parts []op.Part) ([]*runtime.Tensor, error) {
	x := in[0].Tensor
	if err := tr.allows(row, c); err != nil {
		return nil, err
	}
	base, err := tr.of(row.Name, 0, x)
	if err == nil && row.Alias.From != nil {
		base, at, err = base.memory(row, x, at)
	}
	if err != nil {
		return nil, err
	}
	from, err := tr.read(base)
	if err != nil {
		return nil, err
	}
	v, err := tr.look(row, at, from)
	if err != nil {
		return nil, err
	}
	t, err := tr.adopt(base.part(row, at, v, parts[0].Layout.MayOverlap()), x.DType, x.Offset+parts[0].Offset, parts[0].Layout)
	if err != nil {
		return nil, err
	}
	t.DeriveFrom(x)
	return []*runtime.Tensor{t}, nil
}

// parts are where the results of a call lie in the memory of its operand; nil where they would have memory of their own.
func (tr *Trace) parts(row *op.Row, in []runtime.Operand, at op.Attrs) []op.Part {
	if row.Kind != op.View || row.Fresh || in[0].Tensor == nil {
		return nil
	}
	x := in[0].Tensor
	var c op.Inference
	c.Reset(row, at)
	c.In = append(c.In, op.Arg{Type: op.Type{DType: x.DType, Shape: x.Shape}})
	if row.View(&c, &x.Layout) != nil { // errors of the call were those of add; this one says that strides cannot do it
		return nil
	}
	return c.Parts
}

// allows refuses calls that no program can have, or not this one.
//
// A program runs on one device. A call for another one is refused and not run at once, because its operands may be traced,
// and because a result that is the same at every run is seldom what was meant.
func (tr *Trace) allows(row *op.Row, c *runtime.Context) error {
	if tr.ended {
		return status.Errorf(status.Traced, "[%s] the function has been traced to its end; want the call within it", row.Name)
	}
	if c != tr.ctx {
		return status.Errorf(status.Unsupported, "[%s] the call is on %s, and the function is traced for %s; want one place", row.Name, c.Place(), tr.ctx.Place())
	}
	if row.Counted {
		return status.Errorf(status.Traced, "[%s] the size of its result depends on elements, which a function that is traced does not have; want it outside of the function", row.Name)
	}
	return nil
}

// add adds a call to the graph; mu is held.
func (tr *Trace) add(row *op.Row, in []runtime.Operand, at op.Attrs, c *runtime.Context) ([]graph.Value, error) {
	if err := tr.allows(row, c); err != nil {
		return nil, err
	}
	values := make([]graph.Value, len(in))
	for i := range in {
		var err error
		if values[i], err = tr.valueOf(row, i, &in[i]); err != nil {
			return nil, err
		}
	}
	out, err := tr.builder.Call(row, values, at)
	if err != nil {
		return nil, err
	}
	for _, v := range out {
		if t := tr.builder.TypeOf(v); !t.Shape.Known() {
			return nil, status.Errorf(status.Traced, "[%s] its result has shape %s, which depends on elements; want it outside of the function", row.Name, &t.Shape)
		} else if err := tr.ctx.Supports(row.Name, t.DType); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// valueOf is the value of an operand; mu is held. Python scalars are part of the graph: a program that takes another number
// each time has a tensor for it.
func (tr *Trace) valueOf(row *op.Row, i int, x *runtime.Operand) (graph.Value, error) {
	if x.Tensor == nil {
		return tr.builder.Scalar(x.Value), nil
	}
	t, err := tr.of(row.Name, i, x.Tensor)
	if err != nil {
		return 0, err
	}
	return tr.read(t)
}

// of is what a tensor stands for, which is captured if it has elements; mu is held.
func (tr *Trace) of(who string, i int, t *runtime.Tensor) (*traced, error) {
	if x, ok := t.Store.Traced.(*traced); ok && x.trace == tr {
		return x, nil
	} else if ok {
		return nil, status.Errorf(status.Traced, "[%s] operand %d is a tensor of another trace; want tensors of this one", who, i)
	}
	s, err := tr.capture(who, i, t)
	if err != nil {
		return nil, err
	}
	return s.alias, nil
}

// capture is the input that a tensor became when it was first read; mu is held.
//
// Views of one memory are inputs of their own, each with its layout: what they share is memory that a run reads when it
// begins, and nothing in the graph. That is right as long as the function writes into none of them. A write into one makes
// all others stale in a way that the graph cannot say, so that it is refused; where the function makes the view itself, from
// a captured tensor, the view is one of the graph (alias.go) and may be written into.
func (tr *Trace) capture(who string, i int, t *runtime.Tensor) (*source, error) {
	if t.Store.Context != tr.ctx && (t.Store.Context != tr.ctx.Runtime.CPU || t.Rank > 0 && t.Store.Displacement == 0) {
		return nil, status.Errorf(status.Invalid, "[%s] operand %d is on %s, and the function is traced for %s; want one place", who, i, t.Store.Context.Place(), tr.ctx.Place())
	}
	found := (*source)(nil)
	for _, s := range tr.captured[t.Store] {
		if s.tensor.Offset == t.Offset && s.tensor.DType == t.DType && s.tensor.Shape == t.Shape && slices.Equal(s.tensor.Strides[:t.Rank], t.Strides[:t.Rank]) {
			found = s
		} else if s.changed {
			return nil, status.Errorf(status.Unsupported, "[%s] operand %d shares memory with a tensor that the traced function has written to, and neither is its argument or made in it; want one of them as an argument", who, i)
		}
	}
	if found == nil {
		same, err := t.Alias()
		if err != nil {
			return nil, err
		}
		found = tr.input(op.Type{DType: eager.DTypeOn(t, tr.ctx), Shape: t.Shape})
		found.tensor, found.local = same, t.Store.MadeIn == tr.number
		found.alias.root.bytes, found.alias.root.changes, found.alias.root.memory = t.Store.Size, &t.Store.Version, t.Store
		found.alias.stamp = t.Store.Version.Load()
		tr.captured[t.Store] = append(tr.captured[t.Store], found)
	}
	if !slices.Contains(found.handles, t.Handle()) {
		found.handles = append(found.handles, t.Handle())
	}
	return found, tr.ask(t, found.changed)
}

// The rules for an output are those of a call that is run: it takes the result in its own dtype, and only assign broadcasts.

// write gives a tensor the value that a call would write into it, cast to its dtype and, for assign, broadcast.
func (tr *Trace) Write(row *op.Row, in []runtime.Operand, at op.Attrs, c *runtime.Context, out *runtime.Tensor) error {
	if err := row.Into(); err != nil {
		return err
	}
	lookAtOrigins(in)
	tr.mu.Lock()
	defer tr.mu.Unlock()
	values, err := tr.add(row, in, at, c)
	if err != nil {
		return err
	}
	v, err := tr.fit(row, values[0], out)
	if err != nil {
		return err
	}
	x, err := tr.of(row.Name, len(in), out)
	if err != nil {
		return err
	}
	if out.Store.Traced == nil && len(tr.captured[out.Store]) > 1 {
		return status.Errorf(status.Unsupported, "[%s] the output shares memory with another tensor that the traced function reads, and neither is its argument or made in it; want one of them as an argument", row.Name)
	}
	return tr.assign(x, v)
}

// The value is computed in the graph like any other. Nothing is written while a function is traced: of a tensor that is an
// argument, or was captured, a run writes the last value back when it ends.

// fit is a value with the dtype and the shape of an output; mu is held.
func (tr *Trace) fit(row *op.Row, v graph.Value, out *runtime.Tensor) (graph.Value, error) {
	if t := tr.builder.TypeOf(v); t.Shape != out.Shape && row.Kind != op.Convert {
		return 0, status.Errorf(status.Invalid, "[%s] the output has shape %s; want %s", row.Name, &out.Shape, &t.Shape)
	}
	var err error
	if tr.builder.TypeOf(v).DType != out.DType {
		if v, err = tr.add1(op.IDCast, op.Attrs{op.CastDtype: {Kind: op.DType, I: int64(out.DType)}}, v); err != nil {
			return 0, err
		}
	}
	if tr.builder.TypeOf(v).Shape != out.Shape {
		return tr.add1(op.IDExpand, op.Attrs{op.ExpandShape: {Kind: op.Ints, Ints: out.Shape.Slice()}}, v)
	}
	return v, nil
}

// End makes a program of what was traced, which returns these tensors. The caller frees them and those that stand for
// arguments. After an error the trace has ended too.
func (tr *Trace) End(outputs []*runtime.Tensor) (*execute.Program, error) {
	changes, err := tr.changes()
	defer tr.ctx.Runtime.FreeAll(changes)
	if err != nil {
		tr.Abort()
		return nil, err
	}
	p, err := tr.end(outputs, changes, nil)
	if err != nil {
		tr.Abort()
	}
	return p, err
}

// end is End, which aborts the trace after an error.
//
// The outputs of the graph are, in this order: what the function returns; the last values of the inputs that it changes; and
// what its gradient reads. A caller sees the first alone.
//
// changes are the last values of inputs whose gradients are wanted, nil for others, in the order of the inputs. before, unless it is
// nil, is called when the gradient has been traced, with mu held.
func (tr *Trace) end(outputs, changes []*runtime.Tensor, before func() error) (*execute.Program, error) {
	defer tr.restore() // when mu is free
	values, err := tr.results(outputs)
	if err != nil {
		return nil, err
	}
	calls := tr.builder.Calls()
	back, dy, gradients, err := tr.differentiate(append(slices.Clone(outputs), changes...))
	if err != nil {
		return nil, err
	}
	defer tr.ctx.Runtime.FreeAll(gradients)
	var ended []*source // their origins and stand-ins are released when mu is free
	defer func() {
		for i, s := range ended {
			s.forget()
			if i < tr.given {
				tr.ctx.Runtime.Free(s.tensor.Handle())
			}
		}
	}()
	tr.mu.Lock()
	defer tr.mu.Unlock()
	if tr.ended { // by a hook that the backward pass has called
		return nil, status.Errorf(status.Invalid, "[trace] it was ended by a function that its backward pass called; want one end")
	}
	made, err := tr.valuesOf(gradients)
	if err != nil {
		return nil, err
	}
	if before != nil {
		if err := before(); err != nil {
			return nil, err
		}
	}
	p := &execute.Program{IsTraced: true, Results: len(outputs), Given: tr.given}
	if back != nil {
		p.Gradient = back
		maps.DeleteFunc(tr.quiet, func(call int, _ uint64) bool { return call >= calls }) // of the backward pass
		p.Quiet = tr.quiet
	}
	inputs := make([]graph.Value, len(tr.sources))
	for i, s := range tr.sources {
		inputs[i] = s.input
		if s.changed && !s.local {
			p.ChangedInputs = append(p.ChangedInputs, i)
			by := execute.Holder{Recorded: changes[len(p.ChangedBy)] != nil}
			if f, _ := s.recorded(); f != nil && i >= tr.given {
				by.Handle = f.handle
			}
			p.ChangedBy = append(p.ChangedBy, by)
			values = append(values, s.alias.value)
		}
	}
	g := tr.builder.Build()
	if back != nil {
		values = append(values, tr.divide(g, calls, inputs, dy, made, back)...)
	}
	for i, s := range tr.sources {
		if i < tr.given {
			p.Asked = append(p.Asked, s.tensor.Asks())
		} else {
			p.CapturedInputs, p.AskedAt = append(p.CapturedInputs, s.tensor), append(p.AskedAt, s.tensor.Store.Asked.Load())
			p.ReplacedAt = append(p.ReplacedAt, s.tensor.Store.Replaced.Load())
		}
	}
	p.Asking, p.ReadTensors, p.ReadVersions = tr.asking, tr.reads, tr.readAt
	if back != nil {
		back.Function = p
	}
	ended = tr.sources
	tr.ended, tr.captured, tr.sources, tr.asking, tr.reads = true, nil, nil, nil, nil
	execute.Begin(tr.ctx, p, g.Part(0, calls, inputs, values))
	return p, nil
}

// changes are the tensors that runs write into, as they are at the end; nil for those that no recorded call has written to.
func (tr *Trace) changes() (list []*runtime.Tensor, err error) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	for _, s := range tr.sources {
		if !s.changed || s.local {
			continue
		}
		t, err := tr.last(s)
		if err != nil {
			return list, err
		}
		list = append(list, t)
	}
	return list, nil
}

// results are the values of the outputs.
//
// A tensor that is not traced may be one: it is captured, and each run returns a copy of what it holds then.
func (tr *Trace) results(outputs []*runtime.Tensor) ([]graph.Value, error) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	if tr.ended {
		return nil, status.Errorf(status.Invalid, "[trace] it has ended; want one end")
	}
	return tr.valuesOf(outputs)
}

// valuesOf are the values of tensors now; mu is held.
func (tr *Trace) valuesOf(ts []*runtime.Tensor) ([]graph.Value, error) {
	values := make([]graph.Value, len(ts))
	for i, t := range ts {
		x, err := tr.of("trace", i, t)
		if err != nil {
			return nil, err
		}
		if values[i], err = tr.read(x); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// Abort ends a trace without a program. Nothing happens where it has ended.
func (tr *Trace) Abort() {
	tr.mu.Lock()
	free := tr.drop()
	tr.mu.Unlock()
	free()
	tr.restore()
}

// drop ends the trace; mu is held. free frees what it has captured, and is called without mu. Traced tensors that are still alive stay
// valid handles, of which nothing can be asked but their dtype and shape.
func (tr *Trace) drop() (free func()) {
	rt, sources, others := tr.ctx.Runtime, tr.sources, slices.Concat(tr.asking, tr.reads)
	tr.ended, tr.captured, tr.sources, tr.asking, tr.reads = true, nil, nil, nil, nil
	return func() {
		for _, s := range sources {
			s.forget()
			if s.tensor != nil {
				rt.Free(s.tensor.Handle())
			}
		}
		rt.FreeAll(others)
	}
}
