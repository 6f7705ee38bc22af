package metal

import (
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/objc"
	"github.com/paddle-mps/paddle-mps/objc/mtl"
)

// pipeline is a compiled shader function. It is immutable.
type pipeline struct {
	state mtl.ComputePipelineState
	width uint64 // threads that run in step
	most  uint64 // threads of a threadgroup
}

// compile makes pipelines of functions of one source, in their order. Math is safe: without it the
// compiler assumes that there is no NaN and no infinity. The caller holds a pool.
func (d *Device) compile(source string, functions ...string) ([]pipeline, error) {
	options := mtl.NewCompileOptions()
	defer objc.Release(options)
	options.SetSafeMath()
	options.SetLanguageVersion(mtl.LanguageVersion3_0)
	library, e := d.gpu.NewLibrary(objc.Text(source), options)
	if library == 0 {
		return nil, e.Status(status.Device, "the shader does not compile")
	}
	defer objc.Release(library)
	var all []pipeline
	for _, name := range functions {
		p, err := d.pipeline(library, name)
		if err != nil {
			for _, made := range all {
				made.release()
			}
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

func (d *Device) pipeline(library mtl.Library, name string) (p pipeline, err error) {
	function := library.NewFunction(objc.Text(name))
	if function == 0 {
		return p, status.Errorf(status.Internal, "the shader has no function %s", name)
	}
	defer objc.Release(function)
	state, e := d.gpu.NewComputePipelineState(function)
	if state == 0 {
		return p, e.Status(status.Device, "the GPU takes no pipeline of "+name)
	}
	return pipeline{state, state.ThreadExecutionWidth(), state.MaxTotalThreadsPerThreadgroup()}, nil
}

func (p pipeline) release() { objc.Release(p.state) }

// groupMost is the threads of a group for work in which threads do not meet: enough to hide latency.
const groupMost = 256

// line lays n > 0 threads out in one dimension.
func (p *pipeline) line(d *objc.Dispatch, n uint64) {
	d.Threads = objc.Size{Width: n, Height: 1, Depth: 1}
	d.Group = objc.Size{Width: min(n, groupMost, p.most), Height: 1, Depth: 1}
}

// arguments begins a dispatch; it is one record a stream, so that it is not made anew.
func (b *batch) arguments() *objc.Dispatch {
	d := &b.stream.record
	d.Clear()
	return d
}

// bind makes an operand that layOf has looked at the next argument: memory of a heap, or a scalar as eight
// bytes.
func bind(d *objc.Dispatch, o *device.Operand) {
	if s, ok := locate(o); ok {
		d.Bind(objc.ID(s.buffer), s.offset)
		return
	}
	// SAFETY: a scalar is eight bytes of the call's owner; see device.Call.
	copy(d.Constant(8), unsafe.Slice((*byte)(o.Addr), 8))
}

// isFixed reports whether all indices of an operand name one element.
func isFixed(o *device.Operand) bool {
	for i := range o.Rank {
		if o.Dims[i] != 1 && o.Strides[i] != 0 {
			return false
		}
	}
	return true
}
