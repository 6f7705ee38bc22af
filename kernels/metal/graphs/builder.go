package graphs

import (
	"encoding/binary"
	"slices"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/kernels/metal/gpu"
	"github.com/paddle-mps/paddle-mps/objc"
	"github.com/paddle-mps/paddle-mps/objc/mpsgraph"
)

// builder is a graph while it is built, by one goroutine that holds a pool. Its methods are MPSGraph's, with the
// guards in front (guard.go). The first guard that refuses sets err, and nothing is sent any more: a lowering
// need not look, because methods then answer some tensor of theirs that nothing is done with.
type builder struct {
	device *gpu.Device
	call   *device.Call
	bits   bool // floats are integers of their size
	graph  *script

	in           []tensor // the call's inputs
	fed          []port
	placeholders []mpsgraph.Tensor
	results      []mpsgraph.Tensor

	word  tensor // int32, of one element: what the graph tells the CPU; see tell
	ended func(c *device.Call, value int32) error
	err   error

	nodes    int
	rewrites bool // what is written has been read
}

// tensor is one of a graph, with what it is: MPSGraph is not asked, for reading a placeholder's type has ended
// processes, and guards look at every dimension.
type tensor struct {
	id    mpsgraph.Tensor
	dtype dtype.DType
	dims  []int64
	from  *tensor // of a reshape: what it reshapes, so that no graph has one reshape behind another
}

// stored is what elements of a dtype are in graphs: the dtype itself, but before macOS 14 bfloat16 comes as float32,
// converted on the way in and out.
func (b *builder) stored(d dtype.DType) dtype.DType {
	if d == dtype.BFloat16 && !objc.MacOS().AtLeast("14.0") {
		return dtype.Float32
	}
	return d
}

// feed adds an input of the graph for an operand that lies in memory as l says: a placeholder for each element
// once, with its axes in the order of memory, and a transpose behind it that restores the order of the operand.
// Repeated elements stay single; methods that need them all use full.
func (b *builder) feed(l *shape.Layout, d dtype.DType) {
	core := withoutRepeats(l)
	m, order, gaps := inMemory(&core)
	if !slices.IsSorted(order) && b.stages(d) {
		m, gaps = core, true
		slices.Sort(order)
	}
	p := b.port(m, d, gaps)
	dims := dimsOf(&m.Shape)
	p.shape = objc.Retain(objc.Ints(dims))
	b.fed = append(b.fed, p)
	if !b.allows(p.dtype, dims) {
		return
	}
	x := b.made(b.graph.placeholder(p.shape, dims, elementTypes[p.dtype]), p.dtype, dims)
	b.placeholders = append(b.placeholders, x.id)
	b.in = append(b.in, b.transpose(x, order))
}

// feedOutput adds what is in the output before the call. The result is staged then, because MPSGraph may write it
// before all of the input has been read.
func (b *builder) feedOutput() tensor {
	o := &b.call.Out[0]
	b.feed(&o.Layout, o.DType)
	b.rewrites = true
	if b.err != nil {
		return tensor{}
	}
	return b.in[len(b.in)-1]
}

// feedNumber adds a number that is given with each call, as the bits of an element.
func (b *builder) feedNumber(d dtype.DType, value func(c *device.Call) uint64) tensor {
	scalar := shape.Contiguous(shape.Shape{})
	b.feed(&scalar, d)
	if b.err != nil {
		return tensor{dtype: d}
	}
	b.fed[len(b.fed)-1].value = value
	return b.in[len(b.in)-1]
}

// report has a number of the graph handed to finished once the GPU has ended a call. A graph has one at most.
func (b *builder) report(x tensor, ended func(c *device.Call, value int32) error) {
	b.word, b.ended = b.reshape(b.cast(x, dtype.Int32), 1), ended
}

// made is the tensor that a method has answered; nil from MPSGraph refuses the graph. Each counts for the estimate of
// the graph's memory.
func (b *builder) made(id mpsgraph.Tensor, d dtype.DType, dims []int64) tensor {
	if id == 0 {
		b.refuse("MPSGraph gave no tensor")
	}
	b.nodes++
	return tensor{id: id, dtype: d, dims: dims}
}

// unary is an operator of one tensor that keeps dtype and dimensions.
func (b *builder) unary(o mpsgraph.Unary, x tensor) tensor {
	if b.err != nil {
		return x
	}
	return b.made(b.graph.unary(o, x.id), x.dtype, x.dims)
}

// test is a function of one tensor that answers a bool.
func (b *builder) test(o mpsgraph.Unary, x tensor) tensor {
	t := b.unary(o, x)
	t.dtype = dtype.Bool
	return t
}

// binary is an operator of two tensors of one dtype, which broadcast, that keeps the dtype.
func (b *builder) binary(o mpsgraph.Binary, x, y tensor) tensor {
	dims := b.meet(x, y)
	if b.err != nil {
		return x
	}
	return b.made(b.graph.binary(o, x.id, y.id), x.dtype, dims)
}

// The arithmetic and the logic of two tensors.
func (b *builder) plus(x, y tensor) tensor   { return b.binary(mpsgraph.Addition, x, y) }
func (b *builder) minus(x, y tensor) tensor  { return b.binary(mpsgraph.Subtraction, x, y) }
func (b *builder) times(x, y tensor) tensor  { return b.binary(mpsgraph.Multiplication, x, y) }
func (b *builder) over(x, y tensor) tensor   { return b.binary(mpsgraph.Division, x, y) }
func (b *builder) both(x, y tensor) tensor   { return b.binary(mpsgraph.LogicalAnd, x, y) }
func (b *builder) either(x, y tensor) tensor { return b.binary(mpsgraph.LogicalOr, x, y) }

// compare is a function of two tensors that answers a bool.
func (b *builder) compare(o mpsgraph.Binary, x, y tensor) tensor {
	t := b.binary(o, x, y)
	t.dtype = dtype.Bool
	return t
}

// choose is x where condition, a bool, holds, and y elsewhere.
func (b *builder) choose(condition, x, y tensor) tensor {
	b.expect(condition, dtype.Bool)
	dims := b.meet(x, y)
	dims = b.meet(tensor{dims: dims}, tensor{dims: condition.dims})
	if b.err != nil {
		return x
	}
	return b.made(b.graph.ternary(mpsgraph.Select, condition.id, x.id, y.id), x.dtype, dims)
}

// cast is MPSGraph's: what is out of range becomes what Apple likes; see convert for Paddle's.
func (b *builder) cast(x tensor, d dtype.DType) tensor {
	if x.dtype == d || !b.allows(d, x.dims) {
		return x
	}
	return b.made(b.graph.casting(mpsgraph.Cast, x.id, elementTypes[d]), d, x.dims)
}

// wide is x as float32 if it is a shorter float. Apple's arithmetic of halves does not follow IEEE 754 where NaN,
// infinities and signs of zero are concerned, and rounds more than once in a formula.
func (b *builder) wide(x tensor) tensor {
	if x.dtype.IsFloat() {
		return b.cast(x, dtype.Float32)
	}
	return x
}

// number is a constant of any dtype, of one element, which broadcasts to whatever stands beside it.
func (b *builder) number(v float64, d dtype.DType) tensor {
	if b.err != nil {
		return tensor{dtype: d}
	}
	return b.made(b.graph.constant(v, elementTypes[d]), d, []int64{1})
}

// integer is a constant of any integer dtype. MPSGraph takes constants as float64, which does not hold integers
// beyond 2**53; those go as bytes.
func (b *builder) integer(v int64, d dtype.DType) tensor {
	if int64(float64(v)) == v && float64(v) != 1<<63 || b.err != nil {
		return b.number(float64(v), d)
	}
	// Little-endian, as every Mac with such a GPU.
	data := binary.LittleEndian.AppendUint64(nil, uint64(v))[:d.Size()]
	return b.made(b.graph.bytes(data, elementTypes[d]), d, []int64{1})
}

// real is a constant of float32.
func (b *builder) real(v float64) tensor { return b.number(v, dtype.Float32) }

// like is a constant of the dtype of x, an integer or a float.
func (b *builder) like(x tensor, v int64) tensor { return b.integer(v, x.dtype) }

// coordinates is an int32 tensor of some dimensions whose elements are their own index along an axis.
func (b *builder) coordinates(axis int, dims ...int64) tensor {
	if !b.allows(dtype.Int32, dims) {
		return tensor{dtype: dtype.Int32, dims: dims}
	}
	return b.made(b.graph.coordinates(int64(axis), dims), dtype.Int32, dims)
}
