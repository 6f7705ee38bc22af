// Package native gives callers what only some devices have: kernels that they have written themselves, objects of the vendor's
// interface, and captures for its tools.
//
// A [Kernel] of a [Library] is launched like a call of an operator: its tensors are ordered and waited for by the same hazards, and
// marked as failed where it fails (kernel.go). Kernels that take pointers get a table of addresses (argtable.go), and one that reports
// has its words read when it is done (report.go). Objects of the device, queues and buffers are lent (objects.go).
//
// The invariant: a device that lacks something answers status.Unsupported, and nothing has happened.
//
// The package compiles nothing itself and looks into no kernel.
package native

import (
	"math"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// Library is user-written shader source, compiled for a device. It may be used from any goroutine.
type Library struct {
	ctx *runtime.Context
	dev device.Library
}

// Kernel is one function of a library. It stays valid when the library is closed.
type Kernel struct {
	*device.KernelInfo
	ctx     *runtime.Context
	program device.Program
}

// KernelArg is one argument of a kernel: a tensor, or constant bytes.
type KernelArg struct {
	Tensor *runtime.Tensor
	Bytes  []byte
}

// NewLibrary compiles source; status.Unsupported where the device has no shaders.
func NewLibrary(c *runtime.Context, source string) (*Library, error) {
	dev, ok := c.Device.(device.Shaders)
	if !ok {
		return nil, lacks(c, "compile_shader")
	}
	l, err := dev.NewLibrary(source)
	return library(c, l, err)
}

// LoadLibrary reads a compiled library from a file.
func LoadLibrary(c *runtime.Context, path string) (*Library, error) {
	dev, ok := c.Device.(device.Shaders)
	if !ok {
		return nil, lacks(c, "load_metallib")
	}
	l, err := dev.LoadLibrary(path)
	return library(c, l, err)
}

// lacks is the error for functions of GPU devices on a device that does not have them.
func lacks(c *runtime.Context, who string) error {
	return status.Errorf(status.Unsupported, "[%s] %s runs on device %s; want device metal", who, c.Place(), c.Info().Backend)
}

// library wraps what the device made, or passes its error on.
func library(c *runtime.Context, l device.Library, err error) (*Library, error) {
	if err != nil {
		return nil, err
	}
	return &Library{c, l}, nil
}

// Names are those of the library's kernels.
func (l *Library) Names() []string { return l.dev.Names() }

// Kernel makes one of them ready to run.
func (l *Library) Kernel(name string) (*Kernel, error) {
	program, info, err := l.dev.Kernel(name)
	if err != nil {
		return nil, err
	}
	return &Kernel{info, l.ctx, program}, nil
}

// Close releases the library.
func (l *Library) Close() error { return l.dev.Close() }

// Close releases the kernel; calls in flight complete.
func (k *Kernel) Close() error { return k.program.Close() }

// Run submits a call with the given number of threads along each axis, in threadgroups of group; for a group of
// zeros the runtime chooses one, and with no threads along an axis nothing runs. The kernel gets the address of
// each tensor's element with all indices zero; it has to know the strides. If the call fails, the tensors that
// it may write are marked as failed.
func (k *Kernel) Run(args []KernelArg, threads, group [3]uint64, on *runtime.Stream) error {
	_, err := k.run(args, threads, group, nil, nil, on)
	return err
}

// run is Run with storages that the kernel may reach beside its arguments, and with what is to be called when the call is
// done, nil for nothing. It will be if the call was submitted.
func (k *Kernel) run(args []KernelArg, threads, group [3]uint64, reaches []*runtime.Storage, check func(error) error, on *runtime.Stream) (submitted bool, err error) {
	if on.Traces() {
		return false, status.Errorf(status.Unsupported, "[%s] a shader cannot run within a function that is traced; want it outside", k.Name)
	}
	if group, err = k.groupSize(threads, group); err != nil {
		return false, err
	}
	if k.hasTable() && len(args) > device.MaxArguments {
		var table *runtime.Tensor
		if args, reaches, table, err = k.tabled(args, reaches); err != nil {
			return false, err
		}
		defer k.ctx.Runtime.FreeAll([]*runtime.Tensor{table}) // the call keeps its memory
	}
	if err := k.checkArgs(args); err != nil {
		return false, err
	}
	if threads[0] == 0 || threads[1] == 0 || threads[2] == 0 {
		return false, nil
	}
	l := k.ctx.Runtime.NewLaunch(k.ctx, k.ctx.StreamFor(on))
	l.Check = check
	l.ForKernel()
	l.Grid.Kernel, l.Grid.Threads, l.Grid.Group = k.Name, threads, group
	if err := fill(l, k, args); err != nil {
		l.Recycle()
		return false, err
	}
	l.Reach(reaches)
	return true, l.Dispatch(k.program)
}

// groupSize chooses the threadgroup where none is given, and checks it against the limits of the kernel.
func (k *Kernel) groupSize(threads, group [3]uint64) ([3]uint64, error) {
	if group == [3]uint64{} {
		group = [3]uint64{max(1, min(threads[0], k.MaxGroup)), 1, 1}
	}
	total := uint64(1)
	for i := range group {
		if threads[i] > math.MaxUint32 {
			return group, status.Errorf(status.Invalid, "[%s] got %d threads along axis %d; want at most %d", k.Name, threads[i], i, uint32(math.MaxUint32))
		}
		if group[i] == 0 || group[i] > k.MaxGroup || total*group[i] > k.MaxGroup {
			return group, status.Errorf(status.Invalid, "[%s] got threadgroups of %d x %d x %d; want 1 to %d threads in all", k.Name, group[0], group[1], group[2], k.MaxGroup)
		}
		total *= group[i]
	}
	return group, nil
}

// checkArgs checks that the arguments that the kernel uses are given, of the right kind, on its device and
// within the limits of their number and bytes.
func (k *Kernel) checkArgs(args []KernelArg) error {
	if len(args) > device.MaxArguments {
		return status.Errorf(status.Invalid, "[%s] got %d arguments; want at most %d", k.Name, len(args), device.MaxArguments)
	}
	for i := range k.Params {
		if i >= len(args) && k.Params[i].Used {
			return status.Errorf(status.Invalid, "[%s] argument %d (%s) is missing; want %d arguments", k.Name, i, k.Params[i].Name, len(k.Params))
		}
	}
	constants := 0
	for i := range args {
		if err := k.checkArg(i, &args[i]); err != nil {
			return err
		}
		constants += (len(args[i].Bytes) + 15) &^ 15
	}
	if constants > device.MaxConstantBytes {
		return status.Errorf(status.Invalid, "[%s] got %d bytes of numbers; want at most %d (put them into a tensor)", k.Name, constants, device.MaxConstantBytes)
	}
	return nil
}

// checkArg checks argument i. A 0-d tensor of the CPU is accepted as a number, where the kernel only reads it.
func (k *Kernel) checkArg(i int, a *KernelArg) error {
	t := a.Tensor
	if t != nil && t.Store.Traced != nil {
		return runtime.TracedError(k.Name)
	}
	switch {
	case t == nil && len(a.Bytes) == 0:
		return status.Errorf(status.Invalid, "[%s] argument %d is empty; want a tensor or a number", k.Name, i)
	case t != nil && t.Store.Context == k.ctx:
		return nil
	case t != nil && (t.Store.Context != k.ctx.Runtime.CPU || t.Rank > 0):
		return status.Errorf(status.Invalid, "[%s] argument %d is on %s; want a tensor on %s", k.Name, i, t.Store.Context.Place(), k.ctx.Place())
	case k.writes(i):
		return status.Errorf(status.Type, "[%s] argument %d (%s) is written by the kernel; want a tensor on %s", k.Name, i, k.Params[i].Name, k.ctx.Place())
	}
	return nil
}

// fill adds the arguments. A tensor that the kernel may write is an input too, because the kernel need not
// write all of it. A 0-d tensor of the CPU is passed as bytes.
func fill(l *runtime.Launch, k *Kernel, args []KernelArg) error {
	g := l.Grid
	defer l.KeepRoom()
	for i := range args {
		var a device.Argument
		t := args[i].Tensor
		switch {
		case t == nil:
			a.Bytes = l.Number(args[i].Bytes)
		case t.Store.Context != k.ctx:
			if err := t.Store.Wait(false); err != nil {
				return err
			}
			// SAFETY: the tensor is held by the caller and has one element.
			a.Bytes = l.Number(unsafe.Slice((*byte)(t.Addr), t.DType.Size()))
		case k.writes(i):
			l.Stores = append(l.Stores, t.Store)
		default:
			a.Tensor = len(l.In)
			l.ReadView(&t.View)
		}
		g.Args = append(g.Args, a)
	}
	for i := range args {
		if t := args[i].Tensor; k.writes(i) {
			g.Args[i].Tensor, g.Args[i].Written = len(l.Out), true
			t.Store.Version.Add(1)
			l.Write(&t.View)
		}
	}
	return nil
}

// writes reports whether the kernel may write argument i. checkArgs has made sure that it is a tensor then.
func (k *Kernel) writes(i int) bool { return i < len(k.Params) && k.Params[i].Written }

// InterfaceReport lists as JSON which parts of the vendor API that the device uses the running system
// provides; status.Unsupported for devices without such an API.
func InterfaceReport(c *runtime.Context) (string, error) {
	dev, ok := c.Device.(device.InterfaceReporter)
	if !ok {
		return "", lacks(c, "device_census")
	}
	return dev.InterfaceReport()
}
