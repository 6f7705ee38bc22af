package convert

import (
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/native"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// KernelArg is pmps_kernel_arg as Go sees it. layout.go holds it to the header.
type KernelArg struct {
	tensor uint64         // a handle; 0: the bytes
	Data   unsafe.Pointer // memory of the caller
	Size   uint64
}

// UsualArgs is how many arguments most kernels have at most: a call of one finds room for them on its stack.
const UsualArgs = 12

// KernelArgs resolves arguments and appends them to list; tensors are held until releaseArgs, which the caller
// calls also after an error. Bytes are borrowed from the caller.
func KernelArgs(rt *runtime.Runtime, who string, given []KernelArg, list []native.KernelArg) ([]native.KernelArg, error) {
	for i := range given {
		a := &given[i]
		var one native.KernelArg
		var err error
		switch {
		case a.tensor == 0:
			one.Bytes, err = Bytes(who, a.Data, a.Size)
		case a.Data != nil || a.Size != 0:
			err = status.Errorf(status.Invalid, "[%s] argument %d is a tensor and bytes; want one of them", who, i)
		default:
			if one.Tensor = rt.Acquire(a.tensor); one.Tensor == nil {
				err = status.Errorf(status.InvalidHandle, "[%s] argument %d is null, freed or not of a tensor; want a live tensor%s", who, i, rt.HandleHistory(a.tensor))
			}
		}
		if err != nil {
			return list, err
		}
		list = append(list, one)
	}
	return list, nil
}

// ReleaseArgs ends what kernelArgs holds.
func ReleaseArgs(list []native.KernelArg) {
	for i := range list {
		if t := list[i].Tensor; t != nil {
			t.Release()
		}
	}
}

// GridOf is the threads of a call: those given, or one for each element of the first tensor.
func GridOf(who string, threads unsafe.Pointer, list []native.KernelArg) (grid [3]uint64, err error) {
	if threads != nil {
		return Triple(threads), nil
	}
	for i := range list {
		if t := list[i].Tensor; t != nil {
			return [3]uint64{uint64(t.Numel()), 1, 1}, nil
		}
	}
	return grid, status.Errorf(status.Invalid, "[%s] got no tensor and no threads; want the threads to be given", who)
}

// Triple is three numbers of the caller's memory; zeros for null.
func Triple(p unsafe.Pointer) [3]uint64 {
	if p == nil {
		return [3]uint64{}
	}
	// SAFETY: the C contract says that p points to three numbers for the duration of the call.
	return *(*[3]uint64)(p)
}
