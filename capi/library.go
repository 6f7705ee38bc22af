package main

// #include "shim.h"
import "C"

import (
	"os"
	"strings"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/capi/convert"
	"github.com/paddle-mps/paddle-mps/core/native"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/tritonlang/report"
)

// Kinds of handles, beside those of streams and events.
const (
	libraryKind = 4
	kernelKind  = 5
)

var (
	libraries = convert.NewTable(libraryKind, func(l *native.Library) { _ = l.Close() }) // a free cannot report a failure
	kernels   = convert.NewTable(kernelKind, func(k *native.Kernel) { _ = k.Close() })   // as above
)

// newLibrary calls make on the device of a place and writes the handle of the library to out. The caller owns it.
func newLibrary(who string, p C.place_in, text C.text_in, out *C.uint64_t, make func(*runtime.Context, string) (*native.Library, error)) C.fault {
	return at(p, func(c *runtime.Context) error {
		if text == nil || out == nil {
			return convert.NullPointer(who)
		}
		l, err := make(c, C.GoString(text))
		if err != nil {
			return err
		}
		handle, record := libraries.New()
		if record == nil {
			_ = l.Close() // the first error is the one to report
			return convert.TableFull(libraries, who, "libraries")
		}
		*record = l
		*out = C.uint64_t(handle)
		return nil
	})
}

// goLibraryNew is pmps_library_new. The caller owns the handle. It compiles on the calling thread, which may
// take a second.
//
//export goLibraryNew
func goLibraryNew(p C.place_in, source C.text_in, out *C.uint64_t) C.fault {
	return newLibrary("library_new", p, source, out, native.NewLibrary)
}

// goLibraryLoad is pmps_library_load. The caller owns the handle. The file is read before it returns.
//
//export goLibraryLoad
func goLibraryLoad(p C.place_in, path C.text_in, out *C.uint64_t) C.fault {
	return newLibrary("library_load", p, path, out, native.LoadLibrary)
}

// goLibraryFree is pmps_library_free. Kernels of the library stay valid.
//
//export goLibraryFree
func goLibraryFree(handle C.uint64_t) {
	quietly(func(*runtime.Runtime) { libraries.Free(uint64(handle)) })
}

// onLibrary runs the body of an exported function against a library, which stays pinned while it runs.
func onLibrary(who string, handle C.uint64_t, body func(*native.Library) error) C.fault {
	return try(func(*runtime.Runtime) error {
		return convert.WithPinned(libraries, who, "library", uint64(handle), body)
	})
}

// goLibraryGetNames is pmps_library_get_names. The text is C memory that the caller owns; pmps_text_free
// frees it.
//
//export goLibraryGetNames
func goLibraryGetNames(handle C.uint64_t, out **C.char) C.fault {
	return onLibrary("library_get_names", handle, func(l *native.Library) error {
		if out == nil {
			return convert.NullPointer("library_get_names")
		}
		*out = C.CString(strings.Join(l.Names(), "\n"))
		return nil
	})
}

// goLibraryGetKernel is pmps_library_get_kernel. The caller owns the handle, which may outlive that of the
// library.
//
//export goLibraryGetKernel
func goLibraryGetKernel(handle C.uint64_t, name C.text_in, out *C.uint64_t) C.fault {
	return onLibrary("library_get_kernel", handle, func(l *native.Library) error {
		if name == nil || out == nil {
			return convert.NullPointer("library_get_kernel")
		}
		k, err := l.Kernel(C.GoString(name))
		if err != nil {
			return err
		}
		made, record := kernels.New()
		if record == nil {
			_ = k.Close() // the first error is the one to report
			return convert.TableFull(kernels, "library_get_kernel", "kernels")
		}
		*record = k
		*out = C.uint64_t(made)
		return nil
	})
}

// goKernelFree is pmps_kernel_free. Runs that are submitted are not disturbed.
//
//export goKernelFree
func goKernelFree(handle C.uint64_t) {
	quietly(func(*runtime.Runtime) { kernels.Free(uint64(handle)) })
}

// onKernel runs the body of an exported function against a kernel, which stays pinned while it runs.
func onKernel(who string, handle C.uint64_t, body func(*runtime.Runtime, *native.Kernel) error) C.fault {
	return try(func(rt *runtime.Runtime) error {
		return convert.WithPinned(kernels, who, "kernel", uint64(handle), func(k *native.Kernel) error { return body(rt, k) })
	})
}

// goKernelGetInfo is pmps_kernel_get_info. The info of a kernel never changes.
//
//export goKernelGetInfo
func goKernelGetInfo(handle C.uint64_t, info *C.pmps_kernel_info) C.fault {
	return onKernel("kernel_get_info", handle, func(_ *runtime.Runtime, k *native.Kernel) error {
		full := C.pmps_kernel_info{
			max_threads_per_threadgroup: C.uint64_t(k.MaxGroup),
			thread_execution_width:      C.uint64_t(k.Width),
			static_threadgroup_memory:   C.uint64_t(k.Shared),
			argument_count:              C.uint64_t(len(k.Params)),
		}
		return give("kernel_get_info", info, &full, &full.struct_size)
	})
}

// goKernelRun is pmps_kernel_run. Tensors are held until the run is submitted, and their storages until it
// ends; bytes are copied.
//
//export goKernelRun
func goKernelRun(handle C.uint64_t, args unsafe.Pointer, count C.size_t, threads, group unsafe.Pointer, on C.uint64_t) C.fault {
	return onKernel("kernel_run", handle, func(rt *runtime.Runtime, k *native.Kernel) error {
		var room [convert.UsualArgs]native.KernelArg
		list, grid, err := kernelCall(rt, k.Name, args, count, threads, room[:0])
		defer convert.ReleaseArgs(list)
		if err != nil {
			return err
		}
		return withStream(on, func(stream *runtime.Stream) error { return k.Run(list, grid, convert.Triple(group), stream) })
	})
}

// goKernelRunReporting is pmps_kernel_run_reporting. What the kernel has printed goes to standard output, on a goroutine
// of the stream.
//
//export goKernelRunReporting
func goKernelRunReporting(handle C.uint64_t, args unsafe.Pointer, count C.size_t, threads, group unsafe.Pointer, reports C.text_in, on C.uint64_t) C.fault {
	const who = "kernel_run_reporting"
	return onKernel(who, handle, func(rt *runtime.Runtime, k *native.Kernel) error {
		list, grid, err := kernelCall(rt, k.Name, args, count, threads, nil)
		defer convert.ReleaseArgs(list)
		if err != nil {
			return err
		}
		if reports == nil {
			return convert.NullPointer(who)
		}
		sites, err := report.Parse([]byte(C.GoString(reports)))
		if err != nil {
			return status.Errorf(status.Invalid, "[%s] %s", k.Name, err)
		}
		name := k.Name
		read := func(words []uint32) error {
			printed, failed := sites.Read(words)
			_, _ = os.Stdout.WriteString(printed) // a standard output that is closed takes nothing
			if failed != "" {
				return status.Errorf(status.Device, "[%s] %s", name, failed)
			}
			return nil
		}
		return withStream(on, func(stream *runtime.Stream) error {
			return k.RunReporting(list, grid, convert.Triple(group), report.Words, sites.FindsAddresses(), read, stream)
		})
	})
}

// kernelCall is what the two ways to run a kernel read of their caller's memory: the arguments, appended to room, and the
// threads. The caller calls releaseArgs also after an error.
func kernelCall(rt *runtime.Runtime, who string, args unsafe.Pointer, count C.size_t, threads unsafe.Pointer, room []native.KernelArg) (list []native.KernelArg, grid [3]uint64, err error) {
	given, err := convert.Array[convert.KernelArg](who, "arguments", args, uint64(count))
	if err == nil {
		list, err = convert.KernelArgs(rt, who, given, room)
	}
	if err == nil {
		grid, err = convert.GridOf(who, threads, list)
	}
	return list, grid, err
}

// withStream runs body with the stream that a call goes to, which stays pinned while it runs.
func withStream(on C.uint64_t, body func(*runtime.Stream) error) error {
	stream, err := using(on)
	if err != nil {
		return err
	}
	defer done(on)
	return body(stream)
}
