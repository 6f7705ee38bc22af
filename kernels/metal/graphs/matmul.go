package graphs

import (
	"slices"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/objc"
	"github.com/paddle-mps/paddle-mps/objc/mpsgraph"
)

// Where products go wrong: on the first two families of GPUs the last part of a long inner axis is read
// beyond its end. https://github.com/pytorch/pytorch/issues/195163
const (
	lastShortSighted = 8     // GPU family
	longInner        = 32767 // elements, from which on
	wideResult       = 16    // rows and columns, from which on
	innerPart        = 1 << 14
)

// byteInner is how many products of bytes a float32 adds up exactly: 255 * 255 * 256 < 2**24.
const byteInner = 256

// mostProducts bounds what a product of integers, which is written out, takes of memory.
const mostProducts = 1 << 22

// Products: MPSGraph's own for floats, by way of float32 for bytes, and written out for wider integers.
func init() {
	lower(op.IDMatmul, graphFloats, func(b *builder) tensor {
		x, y := b.matrices()
		return b.product(x, y)
	})
	lower(op.IDMatmul, dtype.SetOf(dtype.Uint8, dtype.Int8), productOfBytes)
	lower(op.IDMatmul, dtype.SetOf(dtype.Int16, dtype.Int32, dtype.Int64), productOfIntegers)
}

// matrices are the inputs with three axes, of batches, rows and columns; where the second is one matrix for all
// batches, the rows of all are those of one matrix too.
func (b *builder) matrices() (x, y tensor) {
	if b.err != nil {
		return x, y
	}
	left, right := &b.call.In[0], &b.call.In[1]
	// With one matrix on the right, one large product takes the place of many small ones.
	n := left.Rank
	rows, inner, columns := left.Dims[n-2], left.Dims[n-1], right.Dims[n-1]
	batch := b.call.Out[0].Dims[:n-2]
	x, y = b.in[0], b.in[1]
	if volume(y.dims[:n-2]) == 1 && slices.Equal(x.dims[:n-2], batch) {
		x = b.broadcast(x, append(slices.Clone(batch), rows, inner)...)
		y = b.broadcast(b.reshape(y, y.dims[n-2:]...), inner, columns)
		return b.reshape(x, 1, volume(batch)*rows, inner), b.reshape(y, 1, inner, columns)
	}
	x, y = b.full(0), b.full(1)
	return b.reshape(x, volume(batch), rows, inner), b.reshape(y, volume(batch), inner, columns)
}

// multiply is one product of MPSGraph's: of floats, in batches, without broadcasting.
func (b *builder) multiply(x, y tensor) tensor {
	dims := []int64{x.dims[0], x.dims[1], y.dims[2]}
	b.check(x.dtype == y.dtype && x.dtype.IsFloat() && x.dims[2] == y.dims[1] && x.dims[0] == y.dims[0],
		"multiplies %v by %v", x.dims, y.dims)
	if !b.allows(x.dtype, dims) {
		return x
	}
	if dims[0] == 1 { // of two axes, which are right where those of three are not: see the quarantine
		x, y = b.reshape(x, x.dims[1:]...), b.reshape(y, y.dims[1:]...)
		p := b.made(b.graph.binary(mpsgraph.MatrixMultiplication, x.id, y.id), x.dtype, dims[1:])
		return b.reshape(p, dims...)
	}
	return b.made(b.graph.binary(mpsgraph.MatrixMultiplication, x.id, y.id), x.dtype, dims)
}

// abortsOnTransposes is the macOS from which on a product of halves that the graph transposes ends the process while it is
// compiled. https://github.com/pytorch/pytorch/issues/197796
const abortsOnTransposes = "27.0"

// stages reports whether an operand that lies transposed is copied by a shader of ours before the graph, and not transposed in it.
func (b *builder) stages(d dtype.DType) bool {
	return b.call.Op == op.IDMatmul && d.IsFloat() && d.Size() == 2 && objc.MacOS().AtLeast(abortsOnTransposes)
}

// product is that of floats: in parts of the inner axis, added up in float32, on the GPUs and in the sizes where one
// product would go wrong.
func (b *builder) product(x, y tensor) tensor {
	if b.err != nil {
		return x
	}
	inner := x.dims[2]
	if b.device.Family > lastShortSighted || inner < longInner || min(x.dims[1], y.dims[2]) < wideResult {
		return b.multiply(x, y)
	}
	return b.inParts(b.wide(x), b.wide(y), innerPart, b.multiply)
}

// inParts multiplies parts of the inner axis, each of at most so many elements, and adds the products up.
func (b *builder) inParts(x, y tensor, part int64, multiply func(x, y tensor) tensor) (sum tensor) {
	inner := x.dims[2]
	for at := int64(0); at < inner && b.err == nil; at += part {
		end := min(at+part, inner)
		p := multiply(b.slice(x, 2, at, end), b.slice(y, 1, at, end))
		if at == 0 {
			sum = p
			continue
		}
		sum = b.plus(sum, p)
	}
	return sum
}

// productOfBytes multiplies in float32, in parts short enough for their sums to be exact, and adds the parts up in
// int32, which wraps around as Paddle's do.
func productOfBytes(b *builder) tensor {
	x, y := b.matrices()
	if b.err != nil {
		return x
	}
	const mostParts = 64
	if x.dims[2] > mostParts*byteInner {
		b.refuse("got an inner axis of %d; MPSGraph takes at most %d", x.dims[2], mostParts*byteInner)
		return x
	}
	sum := b.inParts(b.cast(x, dtype.Float32), b.cast(y, dtype.Float32), byteInner, func(x, y tensor) tensor {
		return b.cast(b.multiply(x, y), dtype.Int32)
	})
	return b.wrap(sum, b.call.Out[0].DType)
}

// productOfIntegers writes all products out and adds them up: MPSGraph's own is for floats. The inner axis is the
// second last of what is summed, so no axis has to be moved.
func productOfIntegers(b *builder) tensor {
	x, y := b.matrices()
	if b.err != nil {
		return x
	}
	batch, rows, inner, columns := x.dims[0], x.dims[1], x.dims[2], y.dims[2]
	if products := float64(batch) * float64(rows) * float64(inner) * float64(columns); products > mostProducts {
		b.refuse("got %g products of integers; MPSGraph takes at most %d", products, mostProducts)
		return x
	}
	d := max(x.dtype, dtype.Int32) // int32 or int64: sums of less saturate
	x = b.reshape(b.cast(x, d), batch*rows, inner, 1)
	y = b.cast(y, d)
	if batch > 1 {
		x = b.reshape(x, batch, rows, inner, 1)
		y = b.reshape(y, batch, 1, inner, columns)
	}
	axis := len(x.dims) - 2
	sum := b.reduce(mpsgraph.ReductionSum, b.times(x, y), axis)
	sum = b.reshape(sum, batch, rows, columns)
	if sum.dtype != b.call.Out[0].DType && b.err == nil {
		return b.wrap(sum, b.call.Out[0].DType)
	}
	return sum
}
