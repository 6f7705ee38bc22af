package main

// #include "shim.h"
import "C"

import (
	"strings"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/slot"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// Kinds of handles, beside those of streams and events.
const (
	libraryKind = 4
	kernelKind  = 5
)

// library and kernel are what the handles of the two name.
type (
	library struct{ *runtime.Library }
	kernel  struct{ *runtime.Kernel }
)

var (
	libraries = slot.NewTable(libraryKind, func(l *library) {
		_ = l.Close() // nobody is left to hear of a failure
		*l = library{}
	})
	kernels = slot.NewTable(kernelKind, func(k *kernel) {
		_ = k.Close() // as above
		*k = kernel{}
	})
)

// newLibrary gives a library that make makes on the device of a place its handle.
func newLibrary(who string, p C.place_in, text C.text_in, out *C.uint64_t, make func(*runtime.Context, string) (*runtime.Library, error)) C.fault {
	return at(p, func(c *runtime.Context) error {
		if text == nil || out == nil {
			return null(who)
		}
		l, err := make(c, C.GoString(text))
		if err != nil {
			return err
		}
		handle, record := libraries.New()
		if record == nil {
			_ = l.Close() // the first error is the one to report
			return status.Errorf(status.OutOfMemory, "[%s] %d libraries are alive; want some to be freed", who, libraries.Live())
		}
		*record = library{l}
		*out = C.uint64_t(handle)
		return nil
	})
}

//export goLibraryNew
func goLibraryNew(p C.place_in, source C.text_in, out *C.uint64_t) C.fault {
	return newLibrary("library_new", p, source, out, (*runtime.Context).NewLibrary)
}

//export goLibraryLoad
func goLibraryLoad(p C.place_in, path C.text_in, out *C.uint64_t) C.fault {
	return newLibrary("library_load", p, path, out, (*runtime.Context).LoadLibrary)
}

//export goLibraryFree
func goLibraryFree(handle C.uint64_t) {
	quietly(func(*runtime.Runtime) { libraries.Free(uint64(handle)) })
}

// onLibrary runs the body of an exported function against a library, which stays while it runs.
func onLibrary(who string, handle C.uint64_t, body func(*library) error) C.fault {
	return try(func(*runtime.Runtime) error {
		l := libraries.Pin(uint64(handle))
		if l == nil {
			return stale(who, "library", libraries.Story(uint64(handle)))
		}
		defer libraries.Unpin(uint64(handle))
		return body(l)
	})
}

//export goLibraryGetNames
func goLibraryGetNames(handle C.uint64_t, out **C.char) C.fault {
	return onLibrary("library_get_names", handle, func(l *library) error {
		if out == nil {
			return null("library_get_names")
		}
		*out = C.CString(strings.Join(l.Names(), "\n"))
		return nil
	})
}

//export goLibraryGetKernel
func goLibraryGetKernel(handle C.uint64_t, name C.text_in, out *C.uint64_t) C.fault {
	return onLibrary("library_get_kernel", handle, func(l *library) error {
		if name == nil || out == nil {
			return null("library_get_kernel")
		}
		k, err := l.Kernel(C.GoString(name))
		if err != nil {
			return err
		}
		made, record := kernels.New()
		if record == nil {
			_ = k.Close() // the first error is the one to report
			return status.Errorf(status.OutOfMemory, "[library_get_kernel] %d kernels are alive; want some to be freed", kernels.Live())
		}
		*record = kernel{k}
		*out = C.uint64_t(made)
		return nil
	})
}

//export goKernelFree
func goKernelFree(handle C.uint64_t) {
	quietly(func(*runtime.Runtime) { kernels.Free(uint64(handle)) })
}

// onKernel runs the body of an exported function against a kernel, which stays while it runs.
func onKernel(who string, handle C.uint64_t, body func(*runtime.Runtime, *kernel) error) C.fault {
	return try(func(rt *runtime.Runtime) error {
		k := kernels.Pin(uint64(handle))
		if k == nil {
			return stale(who, "kernel", kernels.Story(uint64(handle)))
		}
		defer kernels.Unpin(uint64(handle))
		return body(rt, k)
	})
}

//export goKernelGetInfo
func goKernelGetInfo(handle C.uint64_t, info *C.pmps_kernel_info) C.fault {
	return onKernel("kernel_get_info", handle, func(_ *runtime.Runtime, k *kernel) error {
		full := C.pmps_kernel_info{
			max_threads_per_threadgroup: C.uint64_t(k.MostGroup),
			thread_execution_width:      C.uint64_t(k.Width),
			static_threadgroup_memory:   C.uint64_t(k.Shared),
			argument_count:              C.uint64_t(len(k.Params)),
		}
		return give("kernel_get_info", info, &full, &full.struct_size)
	})
}

//export goKernelRun
func goKernelRun(handle C.uint64_t, args unsafe.Pointer, count C.size_t, threads, group unsafe.Pointer, on C.uint64_t) C.fault {
	return onKernel("kernel_run", handle, func(rt *runtime.Runtime, k *kernel) error {
		given, err := array[kernelArg](k.Name, "arguments", args, uint64(count))
		if err != nil {
			return err
		}
		list, err := kernelArgs(rt, k.Name, given)
		defer letGo(list)
		if err != nil {
			return err
		}
		grid, err := gridOf(k.Name, threads, list)
		if err != nil {
			return err
		}
		stream, err := using(on)
		if err != nil {
			return err
		}
		defer done(on)
		return k.Run(list, grid, triple(group), stream)
	})
}
