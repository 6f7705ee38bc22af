package metal

import (
	"unicode/utf8"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/kernels/metal/gpu"
	"github.com/paddle-mps/paddle-mps/objc"
	"github.com/paddle-mps/paddle-mps/objc/mtl"
)

// library is compiled source of the program's own.
type library struct {
	device *Device
	own    mtl.Library
	names  []string
}

var _ device.Shaders = (*Device)(nil)

// NewLibrary compiles source, in the newest version of the language that the system knows. Math is safe, as
// in the kernels of this package; source may choose otherwise by a pragma.
func (d *Device) NewLibrary(source string) (device.Library, error) {
	const who = "compile_shader"
	if err := plain(who, "the source", source); err != nil {
		return nil, err
	}
	defer objc.Pool().Close()
	options := mtl.NewCompileOptions()
	defer objc.Release(options)
	options.SetSafeMath()
	own, e := d.Metal.NewLibrary(objc.Text(source), options)
	if own == 0 {
		code := status.Device
		if mtl.LibraryError(e.Code()) == mtl.LibraryErrorCompileFailure {
			code = status.Syntax
		}
		return nil, e.Status(code, "["+who+"] the source does not compile")
	}
	return d.keep(own), nil
}

// LoadLibrary reads a .metallib file.
func (d *Device) LoadLibrary(path string) (device.Library, error) {
	const who = "load_metallib"
	if err := plain(who, "the path", path); err != nil {
		return nil, err
	}
	defer objc.Pool().Close()
	own, e := d.Metal.NewLibraryAt(objc.File(path))
	if own == 0 {
		return nil, e.Status(status.Invalid, "["+who+"] "+path+" does not load")
	}
	return d.keep(own), nil
}

// plain refuses text that Foundation takes for nil.
func plain(who, what, text string) error {
	if !utf8.ValidString(text) {
		return status.Errorf(status.Invalid, "[%s] %s is not UTF-8", who, what)
	}
	return nil
}

// keep makes a library of one of Metal's, +1. The caller holds a pool.
func (d *Device) keep(own mtl.Library) *library {
	l := &library{device: d, own: own}
	names := own.FunctionNames()
	for i := range names.Len() {
		l.names = append(l.names, objc.String(names.At(i)).String())
	}
	return l
}

// Names are those of all functions.
func (l *library) Names() []string { return l.names }

// Close releases the library.
func (l *library) Close() error {
	objc.Release(l.own)
	return nil
}

// Kernel makes a function ready to run.
func (l *library) Kernel(name string) (device.Program, *device.KernelInfo, error) {
	if err := plain("kernel", "the name", name); err != nil {
		return nil, nil, err
	}
	defer objc.Pool().Close()
	function := l.own.NewFunction(objc.Text(name))
	if function == 0 {
		return nil, nil, status.Errorf(status.NotFound, "[%s] the library has no such kernel; want one of %v", name, l.names)
	}
	defer objc.Release(function)
	if !function.IsKernel() {
		return nil, nil, status.Errorf(status.Type, "[%s] is a function for drawing; want a kernel", name)
	}
	state, reflection, e := l.device.Metal.NewReflectedPipeline(function)
	if state == 0 {
		return nil, nil, e.Status(status.Device, "["+name+"] the GPU takes no pipeline of it")
	}
	k := &custom{state: state, info: device.KernelInfo{
		Name: name, MaxGroup: state.MaxTotalThreadsPerThreadgroup(),
		Width: state.ThreadExecutionWidth(), Shared: state.StaticThreadgroupMemoryLength(),
	}}
	if err := k.reflect(reflection.Bindings()); err != nil {
		objc.Release(state)
		return nil, nil, err
	}
	return &program{kernel: k}, &k.info, nil
}

// custom is a kernel of the program's own. Whatever is in it, the encoding is right: the runtime has held the
// call to what info says.
type custom struct {
	state mtl.ComputePipelineState
	info  device.KernelInfo
}

// reflect reads what the kernel wants at which position.
func (k *custom) reflect(bindings objc.Array) error {
	for i := range bindings.Len() {
		b := mtl.Binding(bindings.At(i))
		switch {
		case !b.IsBuffer() && b.IsUsed():
			return status.Errorf(status.Unsupported, "[%s] argument %s is no buffer; want buffers, and threadgroup memory declared in the kernel", k.info.Name, b.Name())
		case !b.IsBuffer():
			continue
		}
		at := int(b.Index())
		for len(k.info.Params) <= at {
			k.info.Params = append(k.info.Params, device.Param{})
		}
		k.info.Params[at] = device.Param{Name: b.Name(), Used: b.IsUsed(), Written: !b.IsReadOnly()}
	}
	return nil
}

// Encode records a call whose grid the runtime has checked.
func (k *custom) Encode(e gpu.Encoder, c *device.Call) error {
	d, g := e.Arguments(), c.Grid
	for i := range g.Args {
		a := &g.Args[i]
		if len(a.Bytes) > 0 {
			copy(d.Constant(len(a.Bytes)), a.Bytes)
			continue
		}
		at, offset, err := memoryOf(e, a.Of(c))
		if err != nil {
			return err
		}
		d.Bind(objc.ID(at), offset)
	}
	for _, h := range g.Resident {
		own, ok := h.(*gpu.Heap)
		if !ok {
			return status.Errorf(status.Unsupported, "got a tensor in memory that the GPU does not have")
		}
		if err := e.Use(own.Whole()); err != nil {
			return err
		}
	}
	d.Threads = objc.Size{Width: g.Threads[0], Height: g.Threads[1], Depth: g.Threads[2]}
	d.Group = objc.Size{Width: g.Group[0], Height: g.Group[1], Depth: g.Group[2]}
	return e.Dispatch(k.state, d)
}

// memoryOf is where a kernel finds the element with all indices zero. A tensor without elements has no
// memory, but Metal wants something to be bound.
func memoryOf(e gpu.Encoder, o *device.Operand) (mtl.Buffer, uint64, error) {
	if o.Numel() == 0 {
		return e.Word()
	}
	buffer, offset, ok := gpu.Where(o)
	if !ok {
		return 0, 0, status.Errorf(status.Unsupported, "got a tensor in memory that the GPU does not have")
	}
	return buffer, offset, nil
}

// Workspace is none.
func (k *custom) Workspace(*device.Call) int64 { return 0 }

// Bytes is an estimate.
func (k *custom) Bytes() int64 { return 16 << 10 }

// Close releases the pipeline.
func (k *custom) Close() { objc.Release(k.state) }

// The runtime and the encoder agree on how much a call may bring along.
var (
	_ = [1]int{}[objc.MaxConstantBytes-device.MaxConstantBytes]
	_ = [1]int{}[objc.MaxArguments-device.MaxArguments]
)
