package main

// #include "shim.h"
import "C"

import (
	"errors"
	"slices"
	"sync"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/capi/convert"
	"github.com/paddle-mps/paddle-mps/core/eager"
	"github.com/paddle-mps/paddle-mps/core/execute"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/place"
)

// A caller that holds Python's lock should not wait with it. These bounds decide, before a call is made, whether
// it runs at once, is to be repeated without the lock (CALL_LONG), or belongs on another thread (CALL_HEAVY).
const (
	smallWork = 4096    // elements; work on fewer takes a few microseconds
	heavyWork = 1 << 23 // elements; work on more takes 10 milliseconds and more
	products  = 64      // multiplications of a matrix product that take as long as one element of other work
	reduced   = 4       // elements that are reduced, which writes nothing, in the time of one element of other work
)

// calls is a pool, so that an operator allocates no memory for its operands.
var calls = sync.Pool{New: func() any { return &convert.Call{In: make([]runtime.Operand, 0, 4)} }}

// recycle ends what a call holds and returns it to the pool.
func recycle(c *convert.Call) {
	c.Release()
	clear(c.In)
	clear(c.Room)
	*c = convert.Call{In: c.In[:0], Room: c.Room[:0]}
	calls.Put(c)
}

// goPreparedCall is prepared_call of shim.h. It is called with Python's lock held or, if given.unlocked is
// set, without it. The caller owns the handles in results. An error is kept for this thread; see [quick].
//
//export goPreparedCall
func goPreparedCall(given *C.prepared, on C.uint64_t, results *C.described_list) C.uint64_t {
	return answered(func() (C.uint64_t, error) { return preparedCall(given, on, results) })
}

// answered is the state that a call ends with; an error or a panic is kept for this thread.
func answered(body func() (C.uint64_t, error)) (state C.uint64_t) {
	defer func() {
		if p := recover(); p != nil {
			C.error_keep(fault(bug(p)))
			state = C.CALL_FAILED
		}
	}()
	state, err := body()
	if err != nil {
		C.error_keep(fault(err))
		return C.CALL_FAILED
	}
	return state
}

// preparedCall is goPreparedCall without the handling of failures.
func preparedCall(given *C.prepared, on C.uint64_t, results *C.described_list) (C.uint64_t, error) {
	rt, err := running()
	if err != nil {
		return C.CALL_FAILED, err
	}
	if given.release != 0 {
		rt.Free(uint64(given.release))
	}
	c := calls.Get().(*convert.Call)
	defer recycle(c)
	if err := prepare(c, rt, given); err != nil {
		return C.CALL_FAILED, err
	}
	return makeCall(c, rt, given, on, results)
}

// makeCall makes the call that prepare has read. It is a function of its own because of what it defers: see Runtime.compute.
func makeCall(c *convert.Call, rt *runtime.Runtime, given *C.prepared, on C.uint64_t, results *C.described_list) (C.uint64_t, error) {
	stream, err := using(on)
	if err != nil {
		return C.CALL_FAILED, err
	}
	defer done(on)
	where, err := target(c, rt, given, stream)
	if err != nil {
		return C.CALL_FAILED, err
	}
	if stream.Traces() {
		c.At = slices.Clone(c.At) // graphs keep it
	} else {
		if work := workOf(c, where); work > heavyWork {
			return C.CALL_HEAVY, nil
		} else if given.unlocked == 0 && (work > smallWork || !onCPU(c, where)) {
			return C.CALL_LONG, nil
		}
	}
	if err := admitted(c, where, stream); err != nil {
		return C.CALL_FAILED, err
	}
	if c.Out != nil {
		return C.CALL_DONE, calling(rt, on).CallInto(c.Row, c.In, c.At, c.Out, stream)
	}
	return describeResults(c, calling(rt, on), where, stream, results)
}

// prepare resolves operands and attributes, whose kinds python.c has checked. What it holds is released by
// recycle, also after an error.
func prepare(c *convert.Call, rt *runtime.Runtime, given *C.prepared) (err error) {
	if c.Row, err = convert.RowOf(uint64(given.op)); err != nil {
		return err
	}
	// SAFETY: python.c has filled in as many of both, in memory of its stack frame that outlives this call.
	args := unsafe.Slice((*convert.Arg)(unsafe.Pointer(given.args)), uint64(given.arg_count))
	attrs := unsafe.Slice((*convert.Attr)(unsafe.Pointer(given.attrs)), uint64(given.attr_count))
	if len(attrs) > len(c.Row.Attrs) {
		return status.Errorf(status.Invalid, "[%s] got %d attributes; want %d", c.Row.Name, len(attrs), len(c.Row.Attrs))
	}
	if len(c.Row.Attrs) > 0 {
		c.Room = slices.Grow(c.Room, len(c.Row.Attrs))[:len(c.Row.Attrs)]
		c.At = c.Room
	}
	for i := range attrs {
		if c.At[i], err = attrs[i].Value(rt, c.Row); err != nil {
			return err
		}
	}
	return c.Operands(rt, args)
}

// target is the device that the caller named; nil means the one where the tensors are. A tensor that takes the
// result is held until recycle.
func target(c *convert.Call, rt *runtime.Runtime, given *C.prepared, on *runtime.Stream) (where *runtime.Context, err error) {
	if given.lead == C.PMPS_PYTHON_OUTPUT {
		c.Out, err = operandOf(rt, c.Row, len(c.In), given.where, on)
		return nil, err
	}
	where, c.Displaced, err = packedTensorPlace(rt, uint64(given.where))
	return where, err
}

// onCPU reports whether a call runs on the CPU, judged by its first tensor.
func onCPU(c *convert.Call, where *runtime.Context) bool {
	for i := range c.In {
		if t := c.In[i].Tensor; t != nil {
			return t.Place().Kind == place.CPUKind
		}
	}
	if c.Out != nil {
		return c.Out.Place().Kind == place.CPUKind
	}
	return where == nil || where.Place().Kind == place.CPUKind
}

// workOf estimates how many elements a call works on. It is 0 on devices with queues, where the caller does not wait, and
// for views.
func workOf(c *convert.Call, where *runtime.Context) int64 {
	if !onCPU(c, where) || views(c) {
		return 0
	}
	var size int64
	for i := range c.In {
		if t := c.In[i].Tensor; t != nil {
			size = workWith(c, size, t)
		}
	}
	if c.Out != nil {
		size = max(size, c.Out.Numel())
	}
	if c.Row.Kind == op.Reduce {
		size /= reduced
	}
	return max(size, extent(c, size))
}

// views reports whether a call makes nothing but other layouts of its operand's memory, which takes as long for any size. What
// is not contiguous may have to be copied.
func views(c *convert.Call) bool {
	if c.Row.Kind != op.View || c.Row.Fresh || c.Out != nil {
		return false
	}
	x := c.In[0].Tensor
	return x != nil && x.IsContiguous()
}

// workWith adds an operand to an estimate of work. Operands that broadcast may make a result of as many
// elements as the product of theirs.
func workWith(c *convert.Call, size int64, t *runtime.Tensor) int64 {
	n := t.Numel()
	if size == 0 {
		return n
	}
	if multiplications, ok := convolved(c, size, t); ok {
		return max(size, multiplications/products+n)
	}
	switch {
	case c.Row.Kind == op.Composed && labels(c, t): // which do not make a result larger
		return size + n
	case (c.Row.Kind == op.Product || c.Row.Kind == op.Recur) && t.Rank > 0:
		return times(size, t.Dims[t.Rank-1])/products + n
	case c.Row.Kind == op.Attend && t.Rank > 1: // key or value, beside queries of so many elements
		return max(size, times(size, t.Dims[t.Rank-2])/products+n)
	case c.Row.Kind != op.Assemble && c.Row.Kind != op.Index && !alike(c, t):
		return times(size, n)
	case c.Row.Kind == op.Assemble:
		return size + n
	}
	return size
}

// labels reports whether an operand is labels, indices or a mask of floats.
func labels(c *convert.Call, t *runtime.Tensor) bool {
	x := c.In[0].Tensor
	return x != nil && x.DType.IsFloat() && !t.DType.IsFloat()
}

// convolved estimates the multiplications of a convolution of size elements with others; it reports false for other calls: those of
// windows without groups. An element of an image meets the weights of its channel, of which there are as many as a window has
// elements; where the size of windows is an attribute, the others are an image, each element of which meets a window.
func convolved(c *convert.Call, size int64, other *runtime.Tensor) (multiplications int64, ok bool) {
	x := c.In[0].Tensor
	if c.Row.Kind != op.Window || x == nil || x.Rank < 3 {
		return 0, false
	}
	channels, window := x.Dims[1], int64(0)
	for i := range c.At {
		switch c.Row.Attrs[i].Name {
		case "groups":
			ok = true
		case "channels_last":
			if c.At[i].I != 0 {
				channels = x.Dims[x.Rank-1]
			}
		case "kernel_size":
			window = 1
			for _, n := range c.At[i].Ints {
				window = times(window, n)
			}
		}
	}
	if window > 0 {
		return times(times(window, channels), other.Numel()), ok
	}
	return times(size/max(channels, 1), other.Numel()), ok
}

// alike reports whether a tensor has the shape of the first operand.
func alike(c *convert.Call, t *runtime.Tensor) bool {
	return c.In[0].Tensor != nil && c.In[0].Tensor.Shape == t.Shape
}

// extent is the size of the result if attributes determine it, else 1. size is that of the operands.
func extent(c *convert.Call, size int64) int64 {
	total := int64(1)
	for i := range c.At {
		if c.Row.Kind != op.Assemble && c.Row.Attrs[i].Name != "shape" {
			continue
		}
		for _, n := range c.At[i].Ints {
			total = times(total, max(n, 1))
		}
	}
	if c.Row.Kind == op.Assemble {
		return times(total, size)
	}
	return total
}

// times is a product that cannot overflow: it saturates above heavyWork. Factors are not negative.
func times(a, b int64) int64 {
	if a > heavyWork || b > heavyWork {
		return 2 * heavyWork * min(a, b, 1)
	}
	return a * b
}

// describeResults runs a call and describes what it made.
func describeResults(c *convert.Call, rt eager.Caller, where *runtime.Context, on *runtime.Stream, results *C.described_list) (C.uint64_t, error) {
	if one, err := elementwise(c, rt, on); one != nil || err != nil {
		if err != nil {
			return C.CALL_FAILED, err
		}
		results.count, results.listed = 1, 0
		describeResult(c, one, &results.of[0])
		return C.CALL_DONE, nil
	}
	made, err := rt.Call(c.Row, c.In, c.At, where, on)
	if err != nil {
		return C.CALL_FAILED, err
	}
	if len(made) > len(results.of) {
		free(rt.Runtime, made)
		return C.CALL_MANY, nil
	}
	convert.Displace(c.Displaced, made...)
	results.count, results.listed = C.int64_t(len(made)), 0
	if c.Row.Many() {
		results.listed = 1
	}
	for i, t := range made {
		describeResult(c, t, &results.of[i])
	}
	return C.CALL_DONE, nil
}

// elementwise runs an operator for which the runtime has a faster function than Call; nil for others.
func elementwise(c *convert.Call, rt eager.Caller, on *runtime.Stream) (*runtime.Tensor, error) {
	switch {
	case len(c.At) > 0 || len(c.In) == 0 || c.In[0].Tensor == nil && len(c.In) == 1:
	case len(c.In) == 2 && (c.Row.Kind == op.Binary || c.Row.Kind == op.Compare):
		return rt.Binary(c.Row, c.In[0], c.In[1], on)
	case len(c.In) == 1 && c.Row.Kind == op.Unary:
		return rt.Unary(c.Row, c.In[0].Tensor, on)
	}
	return nil, nil
}

// describeResult fills in the description of a result. A view may keep a large storage alive, so it is freed at once and
// not late.
func describeResult(c *convert.Call, t *runtime.Tensor, to *C.described) {
	describe(t, to)
	if (c.Row.Kind != op.View || c.Row.Fresh) && t.Numel() <= smallWork && !t.Traced() {
		to.late = 1
	}
}

// describe fills in handle, dtype, place and layout of a tensor, which python.c makes a Meta of.
func describe(t *runtime.Tensor, to *C.described) {
	p, n := t.Place(), t.Rank
	to.handle, to.late = C.uint64_t(t.Handle()), 0
	to.head = [4]C.int32_t{C.int32_t(t.DType), C.int32_t(n), C.int32_t(p.Kind), C.int32_t(p.Index)}
	for i := range n {
		to.layout[i], to.layout[n+i] = C.int64_t(t.Dims[i]), C.int64_t(t.Strides[i])
	}
}

// programLists is what a run of a program reads and what it makes. The pool spares a run the memory for both.
type programLists struct{ in, made []*runtime.Tensor }

var programListsPool = sync.Pool{New: func() any { return new(programLists) }}

// recycle releases what the run has read and returns the lists to the pool.
func (l *programLists) recycle() {
	convert.ReleaseAll(l.in)
	clear(l.in)
	clear(l.made)
	l.in, l.made = l.in[:0], l.made[:0]
	programListsPool.Put(l)
}

// goProgramCall is program_call of shim.h. It is called with Python's lock held or, if given.unlocked is set,
// without it. The caller owns the handles in results. An error is kept for this thread; see [quick].
//
//export goProgramCall
func goProgramCall(given *C.program_inputs, on C.uint64_t, results *C.described_list) C.uint64_t {
	return answered(func() (C.uint64_t, error) { return programCall(given, on, results) })
}

// programCall is goProgramCall without the handling of failures.
func programCall(given *C.program_inputs, on C.uint64_t, results *C.described_list) (C.uint64_t, error) {
	const who = "program_run"
	rt, err := running()
	if err != nil {
		return C.CALL_FAILED, err
	}
	if given.release != 0 {
		rt.Free(uint64(given.release))
	}
	pinned := programs.Pin(uint64(given.program))
	if pinned == nil {
		return C.CALL_FAILED, convert.StaleHandle(who, "program", programs.History(uint64(given.program)))
	}
	defer programs.Unpin(uint64(given.program))
	p := *pinned
	if p.Varies() || p.Outputs() > len(results.of) {
		return C.CALL_MANY, nil
	}
	stream, err := using(on)
	if err != nil {
		return C.CALL_FAILED, err
	}
	defer done(on)
	caller := calling(rt, on)
	if given.unlocked == 0 {
		if p.Context().Place().Kind != place.CPUKind {
			return C.CALL_LONG, nil
		}
		caller = caller.And(runtime.NonBlocking)
	} else if w := p.Context().Busy(stream); w != 0 {
		return C.CALL_FAILED, refused(w)
	}
	l := programListsPool.Get().(*programLists)
	defer l.recycle()
	// SAFETY: python.c has filled in as many handles, in memory of its stack frame that outlives this call.
	handles := unsafe.Slice((*uint64)(unsafe.Pointer(given.inputs)), uint64(given.count))
	if l.in, err = convert.AcquireAll(l.in, rt, who, handles); err != nil {
		return C.CALL_FAILED, err
	}
	if !p.Accepts(l.in, on&C.NO_GRADIENTS == 0, given.recording != 0) {
		return C.CALL_OTHER, nil
	}
	l.made, err = execute.RunAs(caller, p, l.in, stream, l.made)
	if long := (*runtime.Long)(nil); errors.As(err, &long) {
		if long.Work > heavyWork {
			return C.CALL_HEAVY, nil
		}
		return C.CALL_LONG, nil
	}
	if err != nil {
		return C.CALL_FAILED, err
	}
	results.count, results.listed = C.int64_t(len(l.made)), 1
	for i, t := range l.made {
		describe(t, &results.of[i])
		if t.Numel() <= smallWork {
			results.of[i].late = 1
		}
	}
	return C.CALL_DONE, nil
}

// goTensorDescribe is tensor_describe of shim.h. It returns the handle itself, or 0 with the error kept for
// this thread, and never blocks.
//
//export goTensorDescribe
func goTensorDescribe(handle C.uint64_t, to *C.described) C.uint64_t {
	return quickOn(handle, 0, 0, func(rt eager.Caller, _ *runtime.Stream) error {
		t := rt.Acquire(uint64(handle))
		if t == nil {
			return convert.StaleHandle("tensor", "tensor", rt.HandleHistory(uint64(handle)))
		}
		defer t.Release()
		describe(t, to)
		return nil
	})
}
