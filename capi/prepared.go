package main

// #include "shim.h"
import "C"

import (
	"errors"
	"slices"
	"sync"
	"unsafe"

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
var calls = sync.Pool{New: func() any { return &call{in: make([]runtime.Operand, 0, 4)} }}

// recycle ends what a call holds and returns it to the pool.
func (c *call) recycle() {
	c.release()
	clear(c.in)
	clear(c.room)
	*c = call{in: c.in[:0], room: c.room[:0]}
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
	c := calls.Get().(*call)
	defer c.recycle()
	if err := c.prepare(rt, given); err != nil {
		return C.CALL_FAILED, err
	}
	return c.make(rt, given, on, results)
}

// make makes the call that prepare has read. It is a function of its own because of what it defers: see Runtime.compute.
func (c *call) make(rt *runtime.Runtime, given *C.prepared, on C.uint64_t, results *C.described_list) (C.uint64_t, error) {
	stream, err := using(on)
	if err != nil {
		return C.CALL_FAILED, err
	}
	defer done(on)
	where, err := c.target(rt, given, stream)
	if err != nil {
		return C.CALL_FAILED, err
	}
	if stream.Traces() {
		c.at = slices.Clone(c.at) // graphs keep it
	} else {
		if work := c.work(where); work > heavyWork {
			return C.CALL_HEAVY, nil
		} else if given.unlocked == 0 && (work > smallWork || !c.onCPU(where)) {
			return C.CALL_LONG, nil
		}
	}
	if err := c.admitted(where, stream); err != nil {
		return C.CALL_FAILED, err
	}
	if c.out != nil {
		return C.CALL_DONE, calling(rt, on).CallInto(c.row, c.in, c.at, c.out, stream)
	}
	return c.describeResults(calling(rt, on), where, stream, results)
}

// prepare resolves operands and attributes, whose kinds python.c has checked. What it holds is released by
// recycle, also after an error.
func (c *call) prepare(rt *runtime.Runtime, given *C.prepared) (err error) {
	if c.row, err = rowOf(uint64(given.op)); err != nil {
		return err
	}
	// SAFETY: python.c has filled in as many of both, in memory of its stack frame that outlives this call.
	args := unsafe.Slice((*arg)(unsafe.Pointer(given.args)), uint64(given.arg_count))
	attrs := unsafe.Slice((*attr)(unsafe.Pointer(given.attrs)), uint64(given.attr_count))
	if len(attrs) > len(c.row.Attrs) {
		return status.Errorf(status.Invalid, "[%s] got %d attributes; want %d", c.row.Name, len(attrs), len(c.row.Attrs))
	}
	if len(c.row.Attrs) > 0 {
		c.room = slices.Grow(c.room, len(c.row.Attrs))[:len(c.row.Attrs)]
		c.at = c.room
	}
	for i := range attrs {
		if c.at[i], err = attrs[i].value(rt, c.row); err != nil {
			return err
		}
	}
	return c.operands(rt, args)
}

// target is the device that the caller named; nil means the one where the tensors are. A tensor that takes the
// result is held until recycle.
func (c *call) target(rt *runtime.Runtime, given *C.prepared, on *runtime.Stream) (where *runtime.Context, err error) {
	if given.lead == C.PMPS_PYTHON_OUTPUT {
		c.out, err = operandOf(rt, c.row, len(c.in), given.where, on)
		return nil, err
	}
	where, c.displaced, err = packedTensorPlace(rt, uint64(given.where))
	return where, err
}

// onCPU reports whether a call runs on the CPU, judged by its first tensor.
func (c *call) onCPU(where *runtime.Context) bool {
	for i := range c.in {
		if t := c.in[i].Tensor; t != nil {
			return t.Place().Kind == place.CPUKind
		}
	}
	if c.out != nil {
		return c.out.Place().Kind == place.CPUKind
	}
	return where == nil || where.Place().Kind == place.CPUKind
}

// work estimates how many elements a call works on. It is 0 on devices with queues, where the caller does not wait, and
// for views.
func (c *call) work(where *runtime.Context) int64 {
	if !c.onCPU(where) || c.views() {
		return 0
	}
	var size int64
	for i := range c.in {
		if t := c.in[i].Tensor; t != nil {
			size = c.with(size, t)
		}
	}
	if c.out != nil {
		size = max(size, c.out.Numel())
	}
	if c.row.Kind == op.Reduce {
		size /= reduced
	}
	return max(size, c.extent(size))
}

// views reports whether a call makes nothing but other layouts of its operand's memory, which takes as long for any size. What
// is not contiguous may have to be copied.
func (c *call) views() bool {
	if c.row.Kind != op.View || c.row.Fresh || c.out != nil {
		return false
	}
	x := c.in[0].Tensor
	return x != nil && x.IsContiguous()
}

// with adds an operand to an estimate of work. Operands that broadcast may make a result of as many
// elements as the product of theirs.
func (c *call) with(size int64, t *runtime.Tensor) int64 {
	n := t.Numel()
	if size == 0 {
		return n
	}
	if multiplications, ok := c.convolved(size, t); ok {
		return max(size, multiplications/products+n)
	}
	switch {
	case (c.row.Kind == op.Product || c.row.Kind == op.Recur) && t.Rank > 0:
		return times(size, t.Dims[t.Rank-1])/products + n
	case c.row.Kind == op.Attend && t.Rank > 1: // key or value, beside queries of so many elements
		return max(size, times(size, t.Dims[t.Rank-2])/products+n)
	case c.row.Kind != op.Assemble && c.row.Kind != op.Index && !c.alike(t):
		return times(size, n)
	case c.row.Kind == op.Assemble:
		return size + n
	}
	return size
}

// convolved estimates the multiplications of a convolution of size elements with others; it reports false for other calls: those of
// windows without groups. An element of an image meets the weights of its channel, of which there are as many as a window has
// elements; where the size of windows is an attribute, the others are an image, each element of which meets a window.
func (c *call) convolved(size int64, other *runtime.Tensor) (multiplications int64, ok bool) {
	x := c.in[0].Tensor
	if c.row.Kind != op.Window || x == nil || x.Rank < 3 {
		return 0, false
	}
	channels, window := x.Dims[1], int64(0)
	for i := range c.at {
		switch c.row.Attrs[i].Name {
		case "groups":
			ok = true
		case "channels_last":
			if c.at[i].I != 0 {
				channels = x.Dims[x.Rank-1]
			}
		case "kernel_size":
			window = 1
			for _, n := range c.at[i].Ints {
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
func (c *call) alike(t *runtime.Tensor) bool {
	return c.in[0].Tensor != nil && c.in[0].Tensor.Shape == t.Shape
}

// extent is the size of the result if attributes determine it, else 1. size is that of the operands.
func (c *call) extent(size int64) int64 {
	total := int64(1)
	for i := range c.at {
		if c.row.Kind != op.Assemble && c.row.Attrs[i].Name != "shape" {
			continue
		}
		for _, n := range c.at[i].Ints {
			total = times(total, max(n, 1))
		}
	}
	if c.row.Kind == op.Assemble {
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
func (c *call) describeResults(rt eager.Caller, where *runtime.Context, on *runtime.Stream, results *C.described_list) (C.uint64_t, error) {
	if one, err := c.elementwise(rt, on); one != nil || err != nil {
		if err != nil {
			return C.CALL_FAILED, err
		}
		results.count, results.listed = 1, 0
		c.describe(one, &results.of[0])
		return C.CALL_DONE, nil
	}
	made, err := rt.Call(c.row, c.in, c.at, where, on)
	if err != nil {
		return C.CALL_FAILED, err
	}
	if len(made) > len(results.of) {
		free(rt.Runtime, made)
		return C.CALL_MANY, nil
	}
	displace(c.displaced, made...)
	results.count, results.listed = C.int64_t(len(made)), 0
	if c.row.Many() {
		results.listed = 1
	}
	for i, t := range made {
		c.describe(t, &results.of[i])
	}
	return C.CALL_DONE, nil
}

// elementwise runs an operator for which the runtime has a faster function than Call; nil for others.
func (c *call) elementwise(rt eager.Caller, on *runtime.Stream) (*runtime.Tensor, error) {
	switch {
	case len(c.at) > 0 || len(c.in) == 0 || c.in[0].Tensor == nil && len(c.in) == 1:
	case len(c.in) == 2 && (c.row.Kind == op.Binary || c.row.Kind == op.Compare):
		return rt.Binary(c.row, c.in[0], c.in[1], on)
	case len(c.in) == 1 && c.row.Kind == op.Unary:
		return rt.Unary(c.row, c.in[0].Tensor, on)
	}
	return nil, nil
}

// describe fills in the description of a result. A view may keep a large storage alive, so it is freed at once and
// not late.
func (c *call) describe(t *runtime.Tensor, to *C.described) {
	describe(t, to)
	if (c.row.Kind != op.View || c.row.Fresh) && t.Numel() <= smallWork && !t.Traced() {
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
	releaseAll(l.in)
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
		return C.CALL_FAILED, stale(who, "program", programs.History(uint64(given.program)))
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
	if l.in, err = acquireAll(l.in, rt, who, handles); err != nil {
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
			return stale("tensor", "tensor", rt.HandleHistory(uint64(handle)))
		}
		defer t.Release()
		describe(t, to)
		return nil
	})
}
