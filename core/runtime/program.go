package runtime

import (
	"encoding/binary"
	"sync"
	"sync/atomic"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/program"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// Program is a graph that runs as one call on one device. It is compiled for a set of shapes at the first call
// with them, or in advance by Prepare; the result is in the program cache of the device, with a key made of
// the program's number and the shapes. It may be used from any goroutine.
type Program struct {
	ctx     *Context
	graph   *graph.Graph
	id      uint64
	inputs  []op.Type
	outputs int

	mu     sync.Mutex
	loaded map[*op.Const]view // constants in the memory of the device, one copy for all shapes
	latest ProgramInfo        // figures of the latest compilation
}

// ProgramInfo describes a program. From Steps on it is about the shapes that were compiled last: zeros
// before the first compilation.
type ProgramInfo struct {
	Inputs, Outputs int
	Operators       int   // calls of operators in the graph
	Compilations    int64 // sets of shapes that were compiled, some perhaps again after their eviction
	Constants       int64 // bytes on the device
	Steps           int   // steps of the plan, after legalizing
	CPUSteps        int   // steps that the CPU runs, because the device lacks them
	Parts           int   // sequences of steps on one device
	Arena           int64 // bytes that a run needs for intermediate results
	Groups          int   // runs of elementwise steps that the device computes block by block
	Grouped         int   // steps that are in groups
}

// programIDs counts the programs made so far, so that the keys of two programs differ.
var programIDs atomic.Uint64

// NewProgram makes a program of a graph for a device. Nothing is compiled yet.
func (c *Context) NewProgram(g *graph.Graph) *Program {
	return &Program{
		ctx: c, graph: g, id: programIDs.Add(1), inputs: g.Inputs(), outputs: len(g.Outputs()),
		loaded: map[*op.Const]view{},
	}
}

// Close releases the compiled programs and the constants. No other method may be running or be called later;
// submitted runs complete.
func (p *Program) Close() {
	p.ctx.programs.Discard(func(k *device.Key) bool { return k.Op == 0 && k.Class == p.id })
	p.mu.Lock()
	defer p.mu.Unlock()
	for k, v := range p.loaded {
		v.store.release()
		delete(p.loaded, k)
	}
}

// Inputs are the dtypes and shapes of the inputs; a dimension that is a symbol may have any size.
func (p *Program) Inputs() []op.Type { return p.inputs }

// Outputs is the number of tensors that Run returns.
func (p *Program) Outputs() int { return p.outputs }

// Context is the device that the program runs on.
func (p *Program) Context() *Context { return p.ctx }

// Info describes the program.
func (p *Program) Info() ProgramInfo {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := p.latest
	i.Inputs, i.Outputs, i.Operators = len(p.inputs), p.outputs, len(p.graph.Nodes())
	for _, v := range p.loaded {
		i.Constants += v.store.bytes
	}
	return i
}

// Prepare compiles the program for shapes, unless it is in the cache. It may take long and holds no lock.
func (p *Program) Prepare(shapes []op.Type) error {
	e, err := p.find(shapes, 0)
	if err != nil {
		return err
	}
	defer e.Release(0)
	_, err = e.Program()
	return err
}

// Run computes the outputs from the inputs, both in the order of the graph, on a stream of the device (nil: the
// default one). The outputs may not be computed yet when Run returns; reading them waits. The caller frees them.
func (p *Program) Run(in []*Tensor, on *Stream) ([]*Tensor, error) {
	if len(in) != len(p.inputs) {
		return nil, status.Errorf(status.Invalid, "[program] got %d inputs; want %d", len(in), len(p.inputs))
	}
	shapes := make([]op.Type, len(in))
	for i, t := range in {
		if t.store.ctx != p.ctx {
			return nil, status.Errorf(status.Invalid, "[program] input %d is on %s; want %s", i, t.store.ctx.place, p.ctx.place)
		}
		shapes[i] = op.Type{DType: t.dtype, Shape: t.Shape}
	}
	lane := program.Lane(p.ctx.rt.lanes.Load())
	e, err := p.find(shapes, lane)
	if err != nil {
		return nil, err
	}
	defer e.Release(lane)
	code, err := e.Program()
	if err != nil {
		return nil, err
	}
	r := programRun{entry: e, code: code.(*compiled), stream: p.ctx.pick(on)}
	defer r.release()
	if err := r.prepare(in); err != nil {
		return nil, err
	}
	if err := r.submit(); err != nil {
		return nil, err
	}
	return r.adopt()
}

// find is the cache entry for shapes, with a reference on a lane; it compiles where there is none.
func (p *Program) find(shapes []op.Type, lane program.Lane) (*program.Entry, error) {
	key := device.Key{Class: p.id} // no operator has number 0
	key.AppendRest(keyOf(shapes))
	if e := p.ctx.programs.Find(&key, lane); e != nil {
		return e, nil
	}
	return p.ctx.programs.Get(key, lane, func() (device.Program, error) { return p.compile(shapes) })
}

// keyOf encodes dtypes, ranks and dimensions; equal shapes have equal keys.
func keyOf(shapes []op.Type) []byte {
	var text []byte
	for i := range shapes {
		text = append(text, byte(shapes[i].DType), byte(shapes[i].Shape.Rank))
		for _, d := range shapes[i].Shape.Slice() {
			text = binary.AppendVarint(text, d)
		}
	}
	return text
}
