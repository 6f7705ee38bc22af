package main

// #include "shim.h"
import "C"

import (
	"unsafe"

	"github.com/paddle-mps/paddle-mps/capi/convert"
	"github.com/paddle-mps/paddle-mps/core/eager"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// quick runs the body of a function of the fast family: it frees the handle release, resolves the stream on,
// and returns the handle of the tensor that body makes, which the caller owns. After a failure it returns 0;
// this thread keeps the error, and what to wait for if the call was refused.
func quick(release, on C.uint64_t, body func(eager.Caller, *runtime.Stream) (*runtime.Tensor, error)) (handle C.uint64_t) {
	defer func() {
		if p := recover(); p != nil {
			C.error_keep(fault(bug(p)))
			handle = 0
		}
	}()
	t, err := quickly(release, on, body)
	if err != nil {
		if w := runtime.Refused(err); w != 0 {
			C.refusal_keep(C.uint64_t(w))
			err = status.Errorf(status.Busy, "%v; want pmps_fast_wait and the call again", err)
		}
		C.error_keep(fault(err))
		return 0
	}
	if t == nil {
		return 1
	}
	return C.uint64_t(t.Handle())
}

// quickOn is quick for a body that makes no tensor. It returns x, whose tensor another thread may have freed when body returns: it
// has no handle then, which would look like a failure.
func quickOn(x, release, on C.uint64_t, body func(eager.Caller, *runtime.Stream) error) C.uint64_t {
	if quick(release, on, func(rt eager.Caller, s *runtime.Stream) (*runtime.Tensor, error) { return nil, body(rt, s) }) == 0 {
		return 0
	}
	return x
}

// quickly is quick without the handling of failures.
func quickly(release, on C.uint64_t, body func(eager.Caller, *runtime.Stream) (*runtime.Tensor, error)) (*runtime.Tensor, error) {
	rt, err := running()
	if err != nil {
		return nil, err
	}
	if release != 0 {
		rt.Free(uint64(release))
	}
	caller := calling(rt, on).And(runtime.NonBlocking)
	if on == 0 {
		return body(caller, nil)
	}
	stream, err := using(on)
	if err != nil {
		return nil, err
	}
	defer done(on)
	return body(caller, stream)
}

// operandOf holds the tensor of a handle as operand i of a row until Release. If the call would have to wait it
// holds nothing and returns an error of refused.
func operandOf(rt *runtime.Runtime, row *op.Row, i int, handle C.uint64_t, on *runtime.Stream) (*runtime.Tensor, error) {
	t := rt.Acquire(uint64(handle))
	if t == nil {
		return nil, convert.StaleOperand(row, i, rt.HandleHistory(uint64(handle)))
	}
	if w := t.Busy(on); w != 0 {
		t.Release()
		return nil, refused(w)
	}
	return t, nil
}

// refused is the status.Busy of a call that would have to wait for w, which this thread keeps for goFastWait.
func refused(w runtime.Wait) error {
	C.refusal_keep(C.uint64_t(w))
	return status.Errorf(status.Busy, "[fast] too much is in flight; want pmps_fast_wait and the call again")
}

// goFastWait is pmps_fast_wait. It blocks for at most ms and returns what is left to wait for, 0 when the
// call may be repeated.
//
//export goFastWait
func goFastWait(wait C.uint64_t, ms C.int64_t) (rest C.uint64_t) {
	quietly(func(rt *runtime.Runtime) {
		rest = C.uint64_t(rt.WaitFor(runtime.Wait(wait), timeout(max(int64(ms), 0))))
	})
	return rest
}

// goFastIdle is pmps_fast_idle. It never blocks. A handle that is not valid is not idle: the caller then
// takes the slow path, which reports the error.
//
//export goFastIdle
func goFastIdle(what C.uint64_t) (yes C.uint64_t) {
	quietly(func(rt *runtime.Runtime) {
		if idle(rt, uint64(what)) {
			yes = 1
		}
	})
	return yes
}

// idle reports whether a stream, an event or the device of a packed place has nothing to wait for and
// nothing to report.
func idle(rt *runtime.Runtime, what uint64) bool {
	switch what >> 60 {
	case streamKind:
		s := streams.Pin(what)
		if s == nil {
			return false
		}
		defer streams.Unpin(what)
		return (*s).Idle()
	case eventKind:
		e := events.Pin(what)
		if e == nil {
			return false
		}
		defer events.Unpin(what)
		return (*e).Query()
	}
	c, err := packedPlace(rt, what)
	return err == nil && c != nil && c.Idle()
}

// goFastUnary is pmps_fast_unary. The caller owns the handle that is returned. The operand is held for the
// call, so that another thread may free it.
//
//export goFastUnary
func goFastUnary(id, x, release, on C.uint64_t) C.uint64_t {
	return quick(release, on, func(rt eager.Caller, s *runtime.Stream) (*runtime.Tensor, error) {
		row, err := convert.RowOf(uint64(id))
		if err != nil {
			return nil, err
		}
		tx, err := operandOf(rt.Runtime, row, 0, x, s)
		if err != nil {
			return nil, err
		}
		defer tx.Release()
		return rt.Unary(row, tx, s)
	})
}

// goFastBinary is pmps_fast_binary. Ownership is as in [goFastUnary].
//
//export goFastBinary
func goFastBinary(id, x, y, release, on C.uint64_t) C.uint64_t {
	return quick(release, on, func(rt eager.Caller, s *runtime.Stream) (*runtime.Tensor, error) {
		row, err := convert.RowOf(uint64(id))
		if err != nil {
			return nil, err
		}
		tx, err := operandOf(rt.Runtime, row, 0, x, s)
		if err != nil {
			return nil, err
		}
		defer tx.Release()
		ty, err := operandOf(rt.Runtime, row, 1, y, s)
		if err != nil {
			return nil, err
		}
		defer ty.Release()
		return rt.Binary(row, runtime.Operand{Tensor: tx}, runtime.Operand{Tensor: ty}, s)
	})
}

// scalarLeft in the kind of a scalar says that it is the first operand.
const scalarLeft = 16

// goFastScalar is pmps_fast_scalar. Ownership is as in [goFastUnary]. kind and bits are a pmps_arg in two
// integers, so that nothing is read from memory.
//
//export goFastScalar
func goFastScalar(id, x, kind, bits, release, on C.uint64_t) C.uint64_t {
	return quick(release, on, func(rt eager.Caller, s *runtime.Stream) (*runtime.Tensor, error) {
		row, err := convert.RowOf(uint64(id))
		if err != nil {
			return nil, err
		}
		v, err := convert.Scalar(row.Name, uint64(kind)&^scalarLeft, uint64(bits))
		if err != nil {
			return nil, err
		}
		tensor, number := 0, runtime.Operand{Value: v}
		if kind&scalarLeft != 0 {
			tensor = 1
		}
		tx, err := operandOf(rt.Runtime, row, tensor, x, s)
		if err != nil {
			return nil, err
		}
		defer tx.Release()
		if tensor == 1 {
			return rt.Binary(row, number, runtime.Operand{Tensor: tx}, s)
		}
		return rt.Binary(row, runtime.Operand{Tensor: tx}, number, s)
	})
}

// goFastCall is pmps_fast_call. Ownership is as in [goFastUnary]. args and attrs are read before it returns.
// An operator with several results is an error; what it made is freed.
//
//export goFastCall
func goFastCall(id C.uint64_t, args unsafe.Pointer, argCount C.uint64_t, attrs unsafe.Pointer, attrCount, where, release, on C.uint64_t) C.uint64_t {
	return quick(release, on, func(rt eager.Caller, s *runtime.Stream) (*runtime.Tensor, error) {
		context, displaced, err := packedTensorPlace(rt.Runtime, uint64(where))
		if err != nil {
			return nil, err
		}
		c, err := convert.Bind(rt.Runtime, uint64(id), args, uint64(argCount), attrs, uint64(attrCount))
		if err != nil {
			return nil, err
		}
		defer c.Release()
		if err := admitted(&c, context, s); err != nil {
			return nil, err
		}
		made, err := rt.Call(c.Row, c.In, c.At, context, s)
		if err != nil {
			return nil, err
		}
		if len(made) != 1 {
			free(rt.Runtime, made)
			return nil, status.Errorf(status.Invalid, "[%s] makes %d tensors; want pmps_op_call, which hands out more than one", c.Row.Name, len(made))
		}
		convert.Displace(displaced, made...)
		return made[0], nil
	})
}

// admitted refuses a call that would have to wait for room in the device's queue or for a tensor.
func admitted(c *convert.Call, where *runtime.Context, on *runtime.Stream) error {
	if where != nil {
		if w := where.Busy(on); w != 0 {
			return refused(w)
		}
	}
	for i := range c.In {
		if t := c.In[i].Tensor; t != nil {
			if w := t.Busy(on); w != 0 {
				return refused(w)
			}
		}
	}
	return nil
}

// goFastCallInto is pmps_fast_call_into. It returns output itself and no new handle.
//
//export goFastCallInto
func goFastCallInto(id C.uint64_t, args unsafe.Pointer, argCount C.uint64_t, attrs unsafe.Pointer, attrCount, output, release, on C.uint64_t) C.uint64_t {
	return quickOn(output, release, on, func(rt eager.Caller, s *runtime.Stream) error {
		c, err := convert.Bind(rt.Runtime, uint64(id), args, uint64(argCount), attrs, uint64(attrCount))
		if err != nil {
			return err
		}
		defer c.Release()
		if err := admitted(&c, nil, s); err != nil {
			return err
		}
		out, err := operandOf(rt.Runtime, c.Row, len(c.In), output, s)
		if err != nil {
			return err
		}
		defer out.Release()
		return rt.CallInto(c.Row, c.In, c.At, out, s)
	})
}

// packedPlace finds the device of kind << 32 | index; all bits set stand for where the tensors are.
func packedPlace(rt *runtime.Runtime, packed uint64) (*runtime.Context, error) {
	if packed == ^uint64(0) {
		return nil, nil
	}
	return convert.DeviceOf(rt, int32(packed>>32), int32(packed))
}

// packedTensorPlace is packedPlace for tensors; see [placed].
func packedTensorPlace(rt *runtime.Runtime, packed uint64) (c *runtime.Context, displaced int32, err error) {
	if packed == ^uint64(0) {
		return nil, 0, nil
	}
	return convert.DeviceForTensors(rt, int32(packed>>32), int32(packed))
}

// goFastRead is pmps_fast_read. It returns x itself and no new handle. Instead of blocking on a tensor that
// is still being written it is refused.
//
//export goFastRead
func goFastRead(x, on C.uint64_t, data unsafe.Pointer, size C.uint64_t) C.uint64_t {
	return quickOn(x, 0, 0, func(rt eager.Caller, _ *runtime.Stream) error {
		t := rt.Acquire(uint64(x))
		if t == nil {
			return convert.StaleHandle("tensor_read", "tensor", rt.HandleHistory(uint64(x)))
		}
		defer t.Release()
		if w := t.ReadWait(); w != 0 {
			return refused(w)
		}
		return readInto(t, on, data, uint64(size))
	})
}

// goFastIndex is pmps_fast_index. The caller owns the view. A view is made on the CPU and needs no stream.
//
//export goFastIndex
func goFastIndex(x C.uint64_t, items unsafe.Pointer, count, release, on C.uint64_t) C.uint64_t {
	tracing := traceOf(on)
	return quick(release, on&C.NO_GRADIENTS, func(rt eager.Caller, _ *runtime.Stream) (*runtime.Tensor, error) {
		t := rt.Acquire(uint64(x))
		if t == nil {
			return nil, convert.StaleHandle("index", "tensor", rt.HandleHistory(uint64(x)))
		}
		defer t.Release()
		var room [8]runtime.IndexItem
		list, err := convert.IndexItems(room[:0], items, uint64(count))
		if err != nil {
			return nil, err
		}
		return rt.Index(t, list, tracing)
	})
}

// goFastRelease is pmps_fast_release. Handles that are not valid are ignored, as by all frees.
//
//export goFastRelease
func goFastRelease(tensors unsafe.Pointer, count C.uint64_t) {
	rt := started.Load()
	if rt == nil || convert.CheckArray("fast_release", "tensors", tensors, uint64(count)) != nil {
		return
	}
	defer logPanic()
	// SAFETY: the C contract says that tensors points to count handles for the duration of the call.
	for _, handle := range unsafe.Slice((*uint64)(tensors), uint64(count)) {
		rt.Free(handle)
	}
}
