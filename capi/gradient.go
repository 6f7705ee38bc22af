package main

// #include "shim.h"
import "C"

import (
	"unsafe"

	"github.com/paddle-mps/paddle-mps/capi/convert"
	"github.com/paddle-mps/paddle-mps/core/eager"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/core/tape"
)

// goTensorSetRequiresGrad is pmps_tensor_set_requires_grad.
//
//export goTensorSetRequiresGrad
func goTensorSetRequiresGrad(handle C.uint64_t, required C.bool) C.fault {
	return onTensor("set_requires_grad", handle, func(_ *runtime.Runtime, t *runtime.Tensor) error {
		return t.Ask(bool(required))
	})
}

// goTensorGetGradInfo is pmps_tensor_get_grad_info.
//
//export goTensorGetGradInfo
func goTensorGetGradInfo(handle C.uint64_t, out *C.pmps_grad_info) C.fault {
	return onTensor("get_grad_info", handle, func(_ *runtime.Runtime, t *runtime.Tensor) error {
		full := C.pmps_grad_info{
			requires_grad: C.bool(t.Asks()), is_leaf: C.bool(t.IsLeaf()),
			has_grad: C.bool(tape.HasGradient(t)), version: C.uint32_t(t.Version()),
		}
		return give("get_grad_info", out, &full, &full.struct_size)
	})
}

// goTensorGetGrad is pmps_tensor_get_grad. The caller owns the handle; 0 where there is none.
//
//export goTensorGetGrad
func goTensorGetGrad(handle C.uint64_t, out *C.uint64_t) C.fault {
	return onTensor("get_grad", handle, func(_ *runtime.Runtime, t *runtime.Tensor) error {
		if out == nil {
			return convert.NullPointer("get_grad")
		}
		g, err := tape.Gradient(t)
		if g == nil {
			*out = 0
			return err
		}
		return hand(out, g, err)
	})
}

// goTensorSetGrad is pmps_tensor_set_grad. The gradient is held for the call; the tensor keeps a handle of its own.
//
//export goTensorSetGrad
func goTensorSetGrad(handle, grad C.uint64_t) C.fault {
	return onTensor("set_grad", handle, func(rt *runtime.Runtime, t *runtime.Tensor) error {
		if grad == 0 {
			return tape.SetGradient(t, nil)
		}
		g := rt.Acquire(uint64(grad))
		if g == nil {
			return convert.StaleHandle("set_grad", "tensor", rt.HandleHistory(uint64(grad)))
		}
		defer g.Release()
		return tape.SetGradient(t, g)
	})
}

// goTensorZeroGrad is pmps_tensor_zero_grad.
//
//export goTensorZeroGrad
func goTensorZeroGrad(handle C.uint64_t) C.fault {
	return onTensor("zero_grad", handle, func(_ *runtime.Runtime, t *runtime.Tensor) error { return tape.ZeroGradient(t) })
}

// goTensorRetainGrad is pmps_tensor_retain_grad.
//
//export goTensorRetainGrad
func goTensorRetainGrad(handle C.uint64_t) C.fault {
	return onTensor("retain_grad", handle, func(_ *runtime.Runtime, t *runtime.Tensor) error { return tape.Retain(t) })
}

// goTensorEndHistory is pmps_tensor_end_history.
//
//export goTensorEndHistory
func goTensorEndHistory(handle C.uint64_t) C.fault {
	return onTensor("end_history", handle, func(_ *runtime.Runtime, t *runtime.Tensor) error { tape.EndHistory(t); return nil })
}

// goTensorDetach is pmps_tensor_detach. The caller owns the handle.
//
//export goTensorDetach
func goTensorDetach(handle C.uint64_t, out *C.uint64_t) C.fault {
	return onTensor("detach", handle, func(_ *runtime.Runtime, t *runtime.Tensor) error {
		if out == nil {
			return convert.NullPointer("detach")
		}
		same, err := t.Alias()
		return hand(out, same, err)
	})
}

// goTensorWeaken is pmps_tensor_weaken. The caller owns the handle.
//
//export goTensorWeaken
func goTensorWeaken(handle C.uint64_t, out *C.uint64_t) C.fault {
	return onTensor("weaken", handle, func(_ *runtime.Runtime, t *runtime.Tensor) error {
		if out == nil {
			return convert.NullPointer("weaken")
		}
		weak, err := t.Weak()
		return hand(out, weak, err)
	})
}

// goTensorAddGradHook is pmps_tensor_add_grad_hook. The hook is called from the thread of a backward pass. Its gradient
// is borrowed by it, and what it returns is the library's. user is retained until the deleter is called.
//
//export goTensorAddGradHook
func goTensorAddGradHook(handle C.uint64_t, hook C.pmps_grad_hook, deleter C.pmps_deleter, user C.uint64_t, id *C.uint64_t) C.fault {
	return onTensor("add_grad_hook", handle, func(rt *runtime.Runtime, t *runtime.Tensor) error {
		if hook == nil || id == nil {
			return convert.NullPointer("add_grad_hook")
		}
		n, err := t.AddHook(&runtime.Hook{
			See: func(gradient *runtime.Tensor) (*runtime.Tensor, error) {
				var other C.uint64_t
				handle, err := lend(gradient)
				if err != nil {
					return nil, err
				}
				defer rt.Free(uint64(handle))
				if code := C.call_hook(hook, user, handle, &other); code != 0 {
					rt.Free(uint64(other))
					return nil, status.Errorf(status.Invalid, "[register_hook] a hook returned %d; want 0", code)
				}
				return owned(rt, "register_hook", other)
			},
			Close: func() {
				if deleter != nil {
					C.call_deleter(deleter, user)
				}
			},
			Tag: tagOf(deleter, user),
		})
		if err == nil {
			*id = C.uint64_t(n)
		}
		return err
	})
}

// tagOf identifies what a caller will be given back by its deleter.
func tagOf(deleter C.pmps_deleter, user C.uint64_t) runtime.Tag {
	// SAFETY: the address of a function of C, as a number.
	return runtime.Tag{Caller: uint64(uintptr(unsafe.Pointer(deleter))), Number: uint64(user)}
}

// lend is a handle of a gradient for a callback, which the lender frees. It is not the one that the pass has: the callback
// may free or give away what it only borrows.
func lend(gradient *runtime.Tensor) (C.uint64_t, error) {
	t, err := gradient.Same()
	if err != nil {
		return 0, err
	}
	return C.uint64_t(t.Handle()), nil
}

// owned is the tensor of a handle that the caller of the library has given away; nil for 0. It has a handle of its own,
// so that one that was given away twice, or was only borrowed, is an error and no use of freed memory.
func owned(rt *runtime.Runtime, who string, handle C.uint64_t) (*runtime.Tensor, error) {
	if handle == 0 {
		return nil, nil
	}
	t := rt.Acquire(uint64(handle))
	if t == nil {
		return nil, convert.StaleHandle(who, "tensor", rt.HandleHistory(uint64(handle)))
	}
	defer t.Release()
	same, err := t.Same()
	rt.Free(uint64(handle))
	return same, err
}

// goTensorRemoveGradHook is pmps_tensor_remove_grad_hook.
//
//export goTensorRemoveGradHook
func goTensorRemoveGradHook(handle, id C.uint64_t, removed *C.bool) C.fault {
	return onTensor("remove_grad_hook", handle, func(*runtime.Runtime, *runtime.Tensor) error {
		if removed == nil {
			return convert.NullPointer("remove_grad_hook")
		}
		*removed = C.bool(runtime.RemoveHook(uint64(id)))
		return nil
	})
}

// lists are the tensors of a pass or a function, held until release.
type lists struct {
	rt   *runtime.Runtime
	who  string
	held []*runtime.Tensor
}

// tensors is a list of the caller's. optional allows null handles, whose places are nil.
func (l *lists) tensors(what string, p unsafe.Pointer, count C.size_t, optional bool) ([]*runtime.Tensor, error) {
	given, err := convert.Array[uint64](l.who, what, p, uint64(count))
	if err != nil {
		return nil, err
	}
	list := make([]*runtime.Tensor, len(given))
	for i, h := range given {
		if h == 0 && optional {
			continue
		}
		if list[i] = l.rt.Acquire(h); list[i] == nil {
			return nil, status.Errorf(status.InvalidHandle, "[%s] tensor %d of the %s is null, freed or not of a tensor; want a live tensor%s", l.who, i, what, l.rt.HandleHistory(h))
		}
		l.held = append(l.held, list[i])
	}
	return list, nil
}

// release ends what tensors holds.
func (l *lists) release() { convert.ReleaseAll(l.held) }

// goGradBackward is pmps_grad_backward. All lists are borrowed and their tensors held for the call; the caller owns the
// handles in out.
//
//export goGradBackward
func goGradBackward(given *C.pmps_grad_pass, on C.uint64_t, out *C.uint64_t) C.fault {
	return try(func(rt *runtime.Runtime) error {
		const who = "backward"
		if given == nil || given.of == nil || given.to != nil && out == nil {
			return convert.NullPointer(who)
		}
		if _, _, err := convert.FitStruct(who, C.sizeof_pmps_grad_pass, uintptr(given.struct_size)); err != nil {
			return err
		}
		l := lists{rt: rt, who: who}
		defer l.release()
		pass, err := l.pass(given)
		if err != nil {
			return err
		}
		stream, err := using(on)
		if err != nil {
			return err
		}
		defer done(on)
		found, err := tape.Backward(rt, &pass, stream)
		if err != nil {
			return err
		}
		// SAFETY: the C contract says that out has room for to_count handles where to is given.
		to := unsafe.Slice(out, len(found))
		for i, t := range found {
			to[i] = 0
			if t != nil {
				to[i] = C.uint64_t(t.Handle())
			}
		}
		return nil
	})
}

// pass reads a pass of the caller.
func (l *lists) pass(given *C.pmps_grad_pass) (pass tape.Pass, err error) {
	// SAFETY: the C contract says that the lists are valid for the call and have as many handles as given; tensors copies
	// the handles.
	pass.Keep, pass.Again = bool(given.retain_graph), bool(given.create_graph)
	if pass.Of, err = l.tensors("results", unsafe.Pointer(given.of), given.of_count, false); err != nil {
		return pass, err
	}
	if given.grads_of != nil {
		if pass.Dy, err = l.tensors("gradients", unsafe.Pointer(given.grads_of), given.of_count, true); err != nil {
			return pass, err
		}
	}
	if given.to == nil {
		return pass, nil
	}
	if pass.To, err = l.tensors("wanted tensors", unsafe.Pointer(given.to), given.to_count, false); err != nil {
		return pass, err
	}
	pass.Stop, err = l.tensors("stopping tensors", unsafe.Pointer(given.stop), given.stop_count, false)
	return pass, err
}

// goGradApply is pmps_grad_apply. Both lists are borrowed and their tensors held for the call. The function is retained
// until its deleter is called, on any thread.
//
//export goGradApply
func goGradApply(given *C.pmps_grad_function, inputs unsafe.Pointer, inputCount C.size_t, outputs unsafe.Pointer, outputCount C.size_t) C.fault {
	return try(func(rt *runtime.Runtime) error {
		const who = "grad_apply"
		if given == nil || given.backward == nil {
			return convert.NullPointer(who)
		}
		if _, _, err := convert.FitStruct(who, C.sizeof_pmps_grad_function, uintptr(given.struct_size)); err != nil {
			return err
		}
		l := lists{rt: rt, who: who}
		defer l.release()
		in, err := l.tensors("inputs", inputs, inputCount, false)
		if err != nil {
			return err
		}
		out, err := l.tensors("outputs", outputs, outputCount, false)
		if err != nil {
			return err
		}
		eager.Apply(rt, functionOf(rt, given, len(in)), in, out)
		return nil
	})
}

// functionOf is a function of the caller with as many operands.
func functionOf(rt *runtime.Runtime, given *C.pmps_grad_function, operands int) *runtime.Function {
	backward, deleter := given.backward, given.deleter
	// SAFETY: read as the integer that it is to us: programs pass small numbers, which Go takes for broken pointers.
	user := *(*C.uint64_t)(unsafe.Pointer(&given.user))
	return &runtime.Function{
		Backward: func(of []*runtime.Tensor) ([]*runtime.Tensor, error) {
			dy, dx := make([]C.uint64_t, len(of)+1), make([]C.uint64_t, operands+1) // never empty
			defer func() {
				for _, h := range dy {
					rt.Free(uint64(h))
				}
			}()
			for i, t := range of {
				if t == nil {
					continue
				}
				var err error
				if dy[i], err = lend(t); err != nil {
					return nil, err
				}
			}
			code := C.call_backward(backward, user, &dy[0], C.size_t(len(of)), &dx[0], C.size_t(operands))
			found := make([]*runtime.Tensor, operands)
			var first error
			for i := range found {
				var err error
				if found[i], err = owned(rt, "backward", dx[i]); err != nil && first == nil {
					first = err
				}
			}
			if code != 0 {
				first = status.Errorf(status.Invalid, "[backward] a function returned %d; want 0", code)
			}
			return found, first
		},
		Close: func() {
			if deleter != nil {
				C.call_deleter(deleter, user)
			}
		},
		Tag: tagOf(deleter, user),
	}
}
