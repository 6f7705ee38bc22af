package metal

import (
	"sync"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/objc"
	"github.com/paddle-mps/paddle-mps/objc/mpsgraph"
)

// elementTypes are MPSGraph's names of dtypes; it has no float64.
var elementTypes = map[dtype.DType]mpsgraph.DataType{
	dtype.Bool: mpsgraph.Bool, dtype.Uint8: mpsgraph.UInt8, dtype.Int8: mpsgraph.Int8,
	dtype.Int16: mpsgraph.Int16, dtype.Int32: mpsgraph.Int32, dtype.Int64: mpsgraph.Int64,
	dtype.Float16: mpsgraph.Float16, dtype.BFloat16: mpsgraph.BFloat16, dtype.Float32: mpsgraph.Float32,
}

// builder is a graph while it is built, by one goroutine that holds a pool.
type builder struct {
	graph mpsgraph.Graph
	in    []mpsgraph.Tensor // a placeholder for each input
}

// lowering says a call in terms of MPSGraph: the tensor that is its output.
type lowering func(b *builder, c *device.Call) (mpsgraph.Tensor, error)

// executable is a graph compiled for the dimensions of one call. Apple does not say that two threads may
// encode one at the same time, so they take turns.
type executable struct {
	mu      sync.Mutex
	graph   mpsgraph.Graph
	program mpsgraph.Executable
	shapes  []objc.Array // of the inputs, then of the output
	types   []mpsgraph.DataType
	order   []int // input i of the program is operand order[i] of the call
}

// build makes the kernel of a call by a lowering.
func (d *Device) build(lower lowering, c *device.Call) (kernel, error) {
	x := &executable{graph: mpsgraph.NewGraph()}
	if err := x.compile(d, lower, c); err != nil {
		x.close()
		return nil, err
	}
	return x, nil
}

func (x *executable) compile(d *Device, lower lowering, c *device.Call) error {
	x.graph.SetOptions(mpsgraph.OptionsNone)
	b := &builder{graph: x.graph}
	var types []mpsgraph.ShapedType
	defer func() {
		for _, t := range types {
			objc.Release(t)
		}
	}()
	for _, o := range append(append([]device.Operand(nil), c.In...), c.Out...) {
		x.shapes = append(x.shapes, objc.Retain(shapeOf(&o.Shape)))
		x.types = append(x.types, elementTypes[o.DType])
	}
	for i := range c.In {
		b.in = append(b.in, x.graph.Placeholder(x.shapes[i], x.types[i]))
		types = append(types, mpsgraph.NewShapedType(x.shapes[i], x.types[i]))
	}
	out, err := lower(b, c)
	if err != nil {
		return err
	}
	how := mpsgraph.NewCompilationDescriptor()
	defer objc.Release(how)
	how.SetOptimizationLevel(mpsgraph.OptimizationLevel0)
	how.SetWaitForCompilationCompletion(true)
	x.program = objc.Retain(x.graph.Compile(d.graphs, objc.DictionaryOf(b.in, types), objc.ArrayOf(out), how))
	if x.program == 0 {
		return status.Errorf(status.Device, "MPSGraph does not compile it")
	}
	return x.arrange(b.in)
}

// arrange finds out in which order the program takes its inputs, which is its own.
func (x *executable) arrange(in []mpsgraph.Tensor) error {
	feeds := x.program.FeedTensors()
	for i := range feeds.Len() {
		for operand, placeholder := range in {
			if feeds.At(i) == objc.ID(placeholder) {
				x.order = append(x.order, operand)
			}
		}
	}
	if len(x.order) != feeds.Len() {
		return status.Errorf(status.Internal, "MPSGraph wants %d inputs; the graph has %d of them", feeds.Len(), len(x.order))
	}
	return nil
}

// shapeOf is a shape for MPSGraph, +0: a scalar has one axis of one.
func shapeOf(s *shape.Shape) objc.Array {
	if s.Rank == 0 {
		return objc.Ints([]int64{1})
	}
	return objc.Ints(s.Dims[:s.Rank])
}

func (x *executable) encode(b *batch, c *device.Call) error {
	if c.Out[0].Numel() == 0 {
		return nil
	}
	defer objc.Pool().Close()
	var data [8]mpsgraph.TensorData
	used := data[:0]
	defer func() {
		for _, t := range used {
			objc.Release(t)
		}
	}()
	for _, i := range x.order {
		t, err := x.wrap(&c.In[i], i)
		if err != nil {
			return err
		}
		used = append(used, t)
	}
	t, err := x.wrap(&c.Out[0], len(c.In))
	if err != nil {
		return err
	}
	used = append(used, t)
	n := len(x.order)
	x.mu.Lock()
	defer x.mu.Unlock()
	return b.execute(x.program, objc.ArrayOf(used[:n]...), objc.ArrayOf(used[n:]...))
}

// wrap is an operand as MPSGraph takes it, +1.
func (x *executable) wrap(o *device.Operand, i int) (mpsgraph.TensorData, error) {
	s, ok := locate(o)
	if !ok || s.first != 0 {
		return 0, status.Errorf(status.Unsupported, "got an operand that MPSGraph cannot reach")
	}
	window := o.Heap.(*heap).window(s.offset, uint64(bytesOf(o)))
	if window == 0 {
		return 0, status.Errorf(status.Device, "the GPU gave no buffer for %d bytes at offset %d", bytesOf(o), s.offset)
	}
	defer objc.Release(window)
	t := mpsgraph.NewTensorData(window, x.shapes[i], x.types[i])
	if t == 0 {
		return 0, status.Errorf(status.Device, "MPSGraph does not take %d bytes at offset %d", bytesOf(o), s.offset)
	}
	return t, nil
}

func (x *executable) workspace(*device.Call) int64 { return 0 }

func (x *executable) close() {
	for _, s := range x.shapes {
		objc.Release(s)
	}
	objc.Release(x.program)
	objc.Release(x.graph)
}
