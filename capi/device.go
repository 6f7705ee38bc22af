package main

// #include "shim.h"
import "C"

import (
	"fmt"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/capi/convert"
	"github.com/paddle-mps/paddle-mps/core/native"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/place"
)

// goInit is pmps_init. It checks the version and starts nothing, so it is also of use where the environment
// is wrong.
//
//export goInit
func goInit(abi C.uint32_t) C.fault {
	const ours = C.PMPS_ABI_VERSION
	if abi>>16 == ours>>16 {
		return 0
	}
	return fault(status.Errorf(status.Unsupported, "[init] the program was compiled for ABI %d.%d; want %d.%d, that of this library: compile it again",
		abi>>16, abi&0xffff, ours>>16, ours&0xffff))
}

// contextOf finds the device of a place; null is the CPU.
func contextOf(rt *runtime.Runtime, p C.place_in) (*runtime.Context, error) {
	if p == nil {
		return rt.Context(place.CPU)
	}
	return convert.DeviceOf(rt, int32(p.kind), int32(p.index))
}

// placeOf is contextOf for tensors; see [placed].
func placeOf(rt *runtime.Runtime, p C.place_in) (c *runtime.Context, displaced int32, err error) {
	if p == nil {
		c, err = rt.Context(place.CPU)
		return c, 0, err
	}
	return convert.DeviceForTensors(rt, int32(p.kind), int32(p.index))
}

// at runs the body of an exported function against the device of a place.
func at(p C.place_in, body func(*runtime.Context) error) C.fault {
	return try(func(rt *runtime.Runtime) error {
		c, err := contextOf(rt, p)
		if err != nil {
			return err
		}
		return body(c)
	})
}

// goDeviceCount is pmps_device_count. It starts the runtime; where that fails there are 0 devices, and the
// next fallible call says why.
//
//export goDeviceCount
func goDeviceCount(kind C.int32_t) (n C.int32_t) {
	if kind != C.PMPS_CPU && kind != C.PMPS_MPS {
		return 0
	}
	_ = attempt(func(rt *runtime.Runtime) error { // without a runtime there are 0 devices
		n = C.int32_t(rt.Count(place.Kind(kind)))
		return nil
	})
	return n
}

// goDeviceGetInfo is pmps_device_get_info. Texts that are longer than their array are cut.
//
//export goDeviceGetInfo
func goDeviceGetInfo(p C.place_in, info *C.pmps_device_info) C.fault {
	return at(p, func(c *runtime.Context) error {
		i := c.Info()
		full := C.pmps_device_info{
			total_memory:          C.int64_t(i.TotalMemory),
			recommended_memory:    C.int64_t(i.Recommended),
			major:                 C.int32_t(i.Major),
			minor:                 C.int32_t(i.Minor),
			multi_processor_count: C.int32_t(i.Processors),
			has_float64:           flag(i.Float64),
			has_bfloat16:          flag(i.BFloat16),
		}
		text(full.name[:], i.Name)
		text(full.backend[:], i.Backend)
		u := i.UUID
		text(full.uuid[:], fmt.Sprintf("%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:]))
		return give("device_get_info", info, &full, &full.struct_size)
	})
}

// text copies a string and a zero into an array of C, which is zeroed; it cuts what does not fit.
func text(to []C.char, s string) {
	for i := range min(len(s), len(to)-1) {
		to[i] = C.char(s[i])
	}
}

// flag is a bool as the structs of the header have it.
func flag(b bool) C.int32_t {
	if b {
		return 1
	}
	return 0
}

// give fills in a struct of the caller that starts with its size; see [fit].
// SAFETY: see giveBytes; T is a C struct.
func give[T any](who string, to, full *T, size *C.size_t) error {
	return giveBytes(who, unsafe.Pointer(to), unsafe.Pointer(full), unsafe.Sizeof(*full), size)
}

// giveBytes is give for a struct of a length.
func giveBytes(who string, to, full unsafe.Pointer, length uintptr, size *C.size_t) error {
	if to == nil {
		return convert.NullPointer(who)
	}
	// SAFETY: to is a C struct whose first field is a size_t, and the C contract says that the caller owns as
	// many bytes as that field holds, for the duration of the call.
	*size = *(*C.size_t)(to)
	n, rest, err := convert.FitStruct(who, length, uintptr(*size))
	if err != nil {
		return err
	}
	target := unsafe.Slice((*byte)(to), n+rest)
	copy(target, unsafe.Slice((*byte)(full), n))
	clear(target[n:])
	return nil
}

// goDeviceSynchronize is pmps_device_synchronize. It blocks the calling thread until all streams of the
// device are done.
//
//export goDeviceSynchronize
func goDeviceSynchronize(p C.place_in) C.fault { return at(p, (*runtime.Context).Synchronize) }

// goDeviceWaitFor is pmps_device_wait_for. It blocks for at most ms; see [slice].
//
//export goDeviceWaitFor
func goDeviceWaitFor(p C.place_in, ms C.int64_t, wait *C.uint64_t) C.fault {
	return at(p, func(c *runtime.Context) error { return slice("device_wait_for", ms, wait, c.WaitFor) })
}

// goRngSeed is pmps_rng_seed. The generator belongs to the device, so all threads draw from it.
//
//export goRngSeed
func goRngSeed(p C.place_in, seed C.uint64_t) C.fault {
	return at(p, func(c *runtime.Context) error {
		c.Seed(uint64(seed))
		return nil
	})
}

// goRngGetState is pmps_rng_get_state. Both outputs are of one moment: no number is drawn between them.
//
//export goRngGetState
func goRngGetState(p C.place_in, seed, counter *C.uint64_t) C.fault {
	return at(p, func(c *runtime.Context) error {
		if seed == nil || counter == nil {
			return convert.NullPointer("rng_get_state")
		}
		s, n := c.State()
		*seed, *counter = C.uint64_t(s), C.uint64_t(n)
		return nil
	})
}

// goRngSetState is pmps_rng_set_state. The next random operator on any thread starts there.
//
//export goRngSetState
func goRngSetState(p C.place_in, seed, counter C.uint64_t) C.fault {
	return at(p, func(c *runtime.Context) error {
		c.SetState(uint64(seed), uint64(counter))
		return nil
	})
}

// goDeviceCensus is pmps_device_census. The text is C memory that the caller owns; pmps_text_free frees it.
//
//export goDeviceCensus
func goDeviceCensus(p C.place_in, out **C.char) C.fault {
	return at(p, func(c *runtime.Context) error {
		if out == nil {
			return convert.NullPointer("device_census")
		}
		text, err := native.InterfaceReport(c)
		if err == nil {
			*out = C.CString(text)
		}
		return err
	})
}
