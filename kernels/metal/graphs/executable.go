package graphs

import (
	"slices"
	"sync"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/kernels/metal/gpu"
	"github.com/paddle-mps/paddle-mps/objc"
	"github.com/paddle-mps/paddle-mps/objc/mpsgraph"
)

// elementTypes are MPSGraph's names of dtypes; it has no float64.
var elementTypes = map[dtype.DType]mpsgraph.DataType{
	dtype.Bool: mpsgraph.Bool, dtype.Uint8: mpsgraph.UInt8, dtype.Int8: mpsgraph.Int8,
	dtype.Int16: mpsgraph.Int16, dtype.Int32: mpsgraph.Int32, dtype.Int64: mpsgraph.Int64,
	dtype.Float16: mpsgraph.Float16, dtype.BFloat16: mpsgraph.BFloat16, dtype.Float32: mpsgraph.Float32,
}

// executable is a graph compiled for the dimensions and strides of one call. Apple does not document that two
// threads may encode one at the same time, so a lock has them take turns; it is held for the encoding alone.
type executable struct {
	mu          sync.Mutex
	device      *gpu.Device
	graph       mpsgraph.Graph
	program     mpsgraph.Executable
	in, out     []port // of the call's inputs; of its output and, where the graph tells one, of the word
	feeds       []int  // input i of the program is in[feeds[i]]
	targets     []int  // result i of the program is out[targets[i]]
	nodes       int    // of the graph
	loaded      string // the key of a stored executable until its first run
	writesEarly bool   // elements of the output may be written before all inputs are read

	// ended looks at the word when the GPU has ended a call; nil where the graph tells none.
	ended func(c *device.Call, value int32) error
}

// build makes the kernel of a call by a lowering. What the guards refuse is status.Unsupported, and nothing is left
// of what was built until then.
func build(d *gpu.Device, f lowering, b *builder) (gpu.Kernel, error) {
	if err := quarantined(d, b.call); err != nil {
		return nil, err
	}
	b.graph = newScript()
	x := &executable{device: d, graph: b.graph.graph}
	x.graph.SetOptions(mpsgraph.OptionsNone) // no synchronisation of results with the CPU: memory is shared
	if err := x.describe(b, f); err != nil {
		x.Close()
		return nil, err
	}
	// Shaders come first: one that is refused would make the executable useless.
	if err := x.stages(b.call); err != nil {
		x.Close()
		return nil, err
	}
	if err := x.compile(d, b); err != nil {
		x.Close()
		return nil, err
	}
	return x, nil
}

// describe puts the operator into the graph: its inputs, what the lowering makes of them, and a result in the output's
// dtype and shape.
func (x *executable) describe(b *builder, f lowering) error {
	defer func() { x.in, x.nodes = b.fed, b.nodes }()
	c := b.call
	frame := framed(c)
	for i := range c.In {
		b.feed(&frame[i], c.In[i].DType)
	}
	if b.err != nil {
		return b.err
	}
	out := frame[len(c.In)]
	x.out = append(x.out, b.port(out, c.Out[0].DType, !out.IsContiguous()))
	to := &x.out[0]
	to.shape = objc.Retain(objc.Ints(dimsOf(&out.Shape)))
	// A lowering may answer fewer elements, which broadcast, or a dtype that computes in more bits.
	result := b.fit(b.cast(f(b), to.dtype), dimsOf(&out.Shape))
	if slices.Contains(b.placeholders, result.id) { // what comes in does not go out as it is
		result = b.unary(mpsgraph.Identity, result)
	}
	to.gaps = to.gaps || b.rewrites
	x.writesEarly = kindOf(c) > op.Convert
	b.results = append(b.results, result.id)
	if x.ended = b.ended; x.ended != nil {
		word := b.port(shape.Contiguous(shape.Shape{Rank: 1, Dims: [shape.MaxRank]int64{1}}), dtype.Int32, false)
		word.shape = objc.Retain(objc.Ints(word.layout.Slice()))
		x.out = append(x.out, word)
		b.results = append(b.results, b.word.id)
	}
	return b.err
}

// compile turns the graph into a program, or loads the one that an earlier process has stored. Level 0 of optimization
// keeps it on the GPU; higher levels may move parts to the Neural Engine, whose arithmetic is another.
func (x *executable) compile(d *gpu.Device, b *builder) error {
	types := make([]mpsgraph.ShapedType, len(x.in))
	for i := range x.in {
		types[i] = mpsgraph.NewShapedType(x.in[i].shape, elementTypes[x.in[i].dtype])
		defer objc.Release(types[i])
	}
	how := mpsgraph.NewCompilationDescriptor()
	defer objc.Release(how)
	how.SetOptimizationLevel(mpsgraph.OptimizationLevel0)
	// Else MPSGraph compiles in the background and the first run waits for it, under the stream's lock.
	how.SetWaitForCompilationCompletion(true)
	b.graph.end(b.placeholders, b.results)
	stores, name := d.Store != nil && b.nodes >= leastStored, ""
	if stores {
		name = key(d, b.graph)
		if x.load(d, name, types, how, len(b.results)) {
			return nil
		}
	}
	if d.Compiling != nil {
		d.Compiling()
	}
	x.program = objc.Retain(x.graph.Compile(d.Graphs, objc.DictionaryOf(b.placeholders, types), objc.ArrayOf(b.results...), how))
	if x.program == 0 {
		return &gpu.Refusal{Graph: true, Words: "it makes no executable of it"}
	}
	var ok bool
	if x.feeds, ok = arrange(x.program.FeedTensors(), b.placeholders); !ok {
		return status.Errorf(status.Internal, "MPSGraph wants inputs that the graph does not have")
	}
	if x.targets, ok = arrange(x.program.TargetTensors(), b.results); !ok || len(x.targets) != len(b.results) {
		return status.Errorf(status.Internal, "MPSGraph gives results that were not asked for")
	}
	if stores {
		x.save(d, name)
	}
	return nil
}

// arrange finds out in which order the program takes its inputs or gives its results, which MPSGraph chooses:
// entry i is the position of its tensor i among those that we know.
func arrange(tensors objc.Array, known []mpsgraph.Tensor) (order []int, ok bool) {
	for i := range tensors.Len() {
		for j, t := range known {
			if tensors.At(i) == objc.ID(t) {
				order = append(order, j)
			}
		}
	}
	return order, len(order) == tensors.Len()
}

// Encode stages the operands, encodes the executable, and takes the results to where they belong. Executables take
// turns; see above.
func (x *executable) Encode(e gpu.Encoder, c *device.Call) error {
	defer objc.Pool().Close()
	r := run{x: x, e: e, c: c}
	defer r.release()
	if err := r.begin(); err != nil {
		return err
	}
	x.mu.Lock()
	err := x.execute(&r)
	x.mu.Unlock()
	if err != nil {
		return err
	}
	return r.end()
}

// execute encodes the executable itself. MPSGraph may look at what it has loaded only now, and end the process.
func (x *executable) execute(r *run) (err error) {
	if x.loaded == "" {
		return r.e.Execute(x.program, objc.ArrayOf(r.inputs...), objc.ArrayOf(r.results...))
	}
	key := x.loaded
	x.loaded = ""
	x.device.Store.Watch(key, func() { err = x.execute(r) })
	return err
}

// Finish hands the number that the graph reports to who asked for it when the graph was built.
func (x *executable) Finish(c *device.Call, w gpu.Word) error {
	if x.ended == nil {
		return nil
	}
	return x.ended(c, int32(w[0]))
}

// Close releases the graph.
func (x *executable) Close() {
	for _, ports := range [2][]port{x.in, x.out} {
		for i := range ports {
			objc.Release(ports[i].shape)
		}
	}
	objc.Release(x.program)
	objc.Release(x.graph)
}

// Estimates of what MPSGraph holds, which it does not report.
const (
	graphBytes = 64 << 10
	nodeBytes  = 4 << 10
)

// Bytes is an estimate.
func (x *executable) Bytes() int64 { return graphBytes + nodeBytes*int64(x.nodes) }

// kindOf is the kind of a call's operator.
func kindOf(c *device.Call) op.Kind { return op.ByID(c.Op).Kind }
