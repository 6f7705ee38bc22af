package gpu

import (
	"errors"
	"fmt"
	"slices"

	"github.com/paddle-mps/paddle-mps/objc"
	"github.com/paddle-mps/paddle-mps/objc/mtl"
)

// Pipeline is a compiled shader function. It is immutable.
type Pipeline struct {
	State mtl.ComputePipelineState
	Width uint64 // threads that run in step
	Most  uint64 // threads of a threadgroup

	sharing *sharing // nil for one that is its kernel's alone
}

// Pipelines compiles functions of one source, in their order, or shares those that another kernel has; see shared.go. Math is
// safe: without it the compiler assumes that there is no NaN and no infinity. It holds no lock while it compiles. What the
// compiler does not take is a [Refusal], and is not compiled again before ForgetRefusals. The caller releases each pipeline.
func (d *Device) Pipelines(source string, functions ...string) ([]Pipeline, error) {
	if d.lists != nil {
		d.lists(source, functions)
		return slices.Repeat([]Pipeline{{Width: Lanes, Most: 1024}}, len(functions)), nil
	}
	if r := d.sources.refused(source, functions); r != nil {
		return nil, r
	}
	key := keyOf(source, functions)
	if all := d.shared.take(key); all != nil {
		return all, nil
	}
	all, err := d.compile(source, functions)
	if err == nil {
		return d.shared.add(key, all), nil
	}
	if r := (*Refusal)(nil); errors.As(err, &r) {
		d.sources.remember(source, functions, r)
	}
	return all, err
}

// compile is Pipelines without its memory.
func (d *Device) compile(source string, functions []string) ([]Pipeline, error) {
	defer objc.Pool().Close()
	if d.Compiling != nil {
		d.Compiling()
	}
	options := mtl.NewCompileOptions()
	defer objc.Release(options)
	options.SetSafeMath()
	options.SetLanguageVersion(mtl.LanguageVersion3_0)
	library, e := d.Metal.NewLibrary(objc.Text(source), options)
	if library == 0 {
		return nil, refusalOf(e, "it does not compile")
	}
	defer objc.Release(library)
	var all []Pipeline
	for _, name := range functions {
		p, err := d.pipeline(library, name)
		if err != nil {
			for _, made := range all {
				made.Release()
			}
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

func (d *Device) pipeline(library mtl.Library, name string) (p Pipeline, err error) {
	function := library.NewFunction(objc.Text(name))
	if function == 0 {
		return p, &Refusal{Words: "the library has no function " + name}
	}
	defer objc.Release(function)
	state, e := d.Metal.NewComputePipelineState(function)
	if state == 0 {
		return p, refusalOf(e, "there is no pipeline of "+name)
	}
	return Pipeline{State: state, Width: state.ThreadExecutionWidth(), Most: state.MaxTotalThreadsPerThreadgroup()}, nil
}

// Release gives the pipeline back, which is released when no kernel shares it; command buffers keep it.
func (p Pipeline) Release() {
	if p.sharing != nil {
		p.sharing.release()
		return
	}
	objc.Release(p.State)
}

// Lanes is how many threads a SIMD group has on every GPU of Apple's: what shaders that exchange values within one are
// written for.
const Lanes = 32

// Takes is a [Refusal] where threadgroups may not have so many threads: how many they may have depends on the
// registers that the GPU's compiler has used.
func (p *Pipeline) Takes(threads uint64) error {
	if threads <= p.Most {
		return nil
	}
	return &Refusal{Words: fmt.Sprintf("the pipeline takes threadgroups of %d threads; want %d", p.Most, threads)}
}

// MostGroup is the threads of a group for work in which threads do not meet: enough to hide latency.
const MostGroup = 256

// Line lays n > 0 threads out in one dimension.
func (p *Pipeline) Line(d *objc.Dispatch, n uint64) {
	d.Threads = objc.Size{Width: n, Height: 1, Depth: 1}
	d.Group = objc.Size{Width: min(n, MostGroup, p.Most), Height: 1, Depth: 1}
}

// ThreadsOf is a power of two of threads that is enough for n elements, within what a group may have.
func (p *Pipeline) ThreadsOf(n int64) uint64 {
	width := min(p.Width, p.Most)
	for width < MostGroup && 2*width <= p.Most && int64(width) < n {
		width *= 2
	}
	return width
}

// Groups lays out so many threadgroups of one width. They are counted, and not their threads, of which a grid has fewer
// than 2**32 in a dimension.
func Groups(d *objc.Dispatch, count int64, width uint64) {
	d.InGroups = 1
	d.Threads = objc.Size{Width: uint64(count), Height: 1, Depth: 1}
	d.Group = objc.Size{Width: width, Height: 1, Depth: 1}
}
