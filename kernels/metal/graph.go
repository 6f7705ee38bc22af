package metal

import (
	"slices"
	"sync"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/kernels"
	"github.com/paddle-mps/paddle-mps/objc"
	"github.com/paddle-mps/paddle-mps/objc/mpsgraph"
)

// elementTypes are MPSGraph's names of dtypes; it has no float64.
var elementTypes = map[dtype.DType]mpsgraph.DataType{
	dtype.Bool: mpsgraph.Bool, dtype.Uint8: mpsgraph.UInt8, dtype.Int8: mpsgraph.Int8,
	dtype.Int16: mpsgraph.Int16, dtype.Int32: mpsgraph.Int32, dtype.Int64: mpsgraph.Int64,
	dtype.Float16: mpsgraph.Float16, dtype.BFloat16: mpsgraph.BFloat16, dtype.Float32: mpsgraph.Float32,
}

// lowering says a call in terms of MPSGraph: the tensor that is its output, of its dtype and with as many
// elements, or one that broadcasts to it.
type lowering func(b *builder) tensor

// lower registers a lowering for an operator and every dtype of a set.
func lower(name string, set dtype.Set, f lowering) {
	graphs.Add(name, set, kernels.Portable, way{make: func(d *Device, c *device.Call) (kernel, error) {
		return d.build(f, &builder{device: d, call: c})
	}})
}

// lowerBits is lower for an operator that moves elements, or looks whether they are zero: floats come and
// go as integers of their size, so that no bit of them changes.
func lowerBits(name string, f lowering) {
	graphs.Add(name, elements, kernels.Portable, way{make: func(d *Device, c *device.Call) (kernel, error) {
		return d.build(f, &builder{device: d, call: c, bits: true})
	}})
}

// executable is a graph compiled for the dimensions and strides of one call. Apple does not say that two
// threads may encode one at the same time, so they take turns.
type executable struct {
	mu      sync.Mutex
	device  *Device
	graph   mpsgraph.Graph
	program mpsgraph.Executable
	in, out []port // of the call's inputs; of its output and, where the graph tells one, of the word
	feeds   []int  // input i of the program is in[feeds[i]]
	targets []int  // result i of the program is out[targets[i]]
	nodes   int    // of the graph
	eager   bool   // elements of the output may be written before all inputs are read

	// ended looks at the word when the GPU has ended a call; nil where the graph tells none.
	ended func(c *device.Call, told int32) error
}

// build makes the kernel of a call by a lowering. What the guards refuse is status.Unsupported.
func (d *Device) build(f lowering, b *builder) (kernel, error) {
	if err := d.quarantined(b.call); err != nil {
		return nil, err
	}
	x := &executable{device: d, graph: mpsgraph.NewGraph()}
	x.graph.SetOptions(mpsgraph.OptionsNone)
	b.graph = x.graph
	if err := x.describe(b, f); err != nil {
		x.close()
		return nil, err
	}
	if err := x.compile(d, b); err != nil {
		x.close()
		return nil, err
	}
	return x, nil
}

// describe puts the operator into the graph.
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
	result := b.fit(b.cast(f(b), to.dtype), dimsOf(&out.Shape))
	if slices.Contains(b.placeholders, result.id) { // what comes in does not go out as it is
		result = b.unary(mpsgraph.Identity, result)
	}
	to.gaps = to.gaps || b.rewrites
	x.eager = kindOf(c) > op.Convert
	b.results = append(b.results, result.id)
	if x.ended = b.ended; x.ended != nil {
		word := b.port(shape.Contiguous(shape.Shape{Rank: 1, Dims: [shape.MaxRank]int64{1}}), dtype.Int32, false)
		word.shape = objc.Retain(objc.Ints(word.layout.Slice()))
		x.out = append(x.out, word)
		b.results = append(b.results, b.word.id)
	}
	return b.err
}

// compile turns the graph into a program.
func (x *executable) compile(d *Device, b *builder) error {
	types := make([]mpsgraph.ShapedType, len(x.in))
	for i := range x.in {
		types[i] = mpsgraph.NewShapedType(x.in[i].shape, elementTypes[x.in[i].dtype])
		defer objc.Release(types[i])
	}
	how := mpsgraph.NewCompilationDescriptor()
	defer objc.Release(how)
	how.SetOptimizationLevel(mpsgraph.OptimizationLevel0)
	how.SetWaitForCompilationCompletion(true)
	x.program = objc.Retain(x.graph.Compile(d.graphs, objc.DictionaryOf(b.placeholders, types), objc.ArrayOf(b.results...), how))
	if x.program == 0 {
		return status.Errorf(status.Device, "MPSGraph does not compile it")
	}
	var ok bool
	if x.feeds, ok = arrange(x.program.FeedTensors(), b.placeholders); !ok {
		return status.Errorf(status.Internal, "MPSGraph wants inputs that the graph does not have")
	}
	if x.targets, ok = arrange(x.program.TargetTensors(), b.results); !ok || len(x.targets) != len(b.results) {
		return status.Errorf(status.Internal, "MPSGraph gives results that were not asked for")
	}
	return nil
}

// arrange finds out in which order the program takes its inputs or gives its results, which is its own.
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

func (x *executable) encode(b *batch, c *device.Call) error {
	defer objc.Pool().Close()
	r := run{x: x, b: b, c: c}
	defer r.release()
	if err := r.begin(); err != nil {
		return err
	}
	x.mu.Lock()
	err := b.execute(x.program, objc.ArrayOf(r.inputs...), objc.ArrayOf(r.results...))
	x.mu.Unlock()
	if err != nil {
		return err
	}
	return r.end()
}

// finish looks at what the graph tells about a call.
func (x *executable) finish(c *device.Call, w word) error {
	if x.ended == nil {
		return nil
	}
	return x.ended(c, int32(w[0]))
}

func (x *executable) close() {
	for _, ports := range [2][]port{x.in, x.out} {
		for i := range ports {
			objc.Release(ports[i].shape)
		}
	}
	objc.Release(x.program)
	objc.Release(x.graph)
}

// kindOf is the kind of a call's operator.
func kindOf(c *device.Call) op.Kind { return op.ByID(c.Op).Kind }
