package graphs

import (
	"slices"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/objc/mpsgraph"
)

// The builder's methods that give elements other shapes, or fold them along an axis.

// reshape gives the elements of x other dimensions, as many and in the same order.
func (b *builder) reshape(x tensor, dims ...int64) tensor {
	b.check(volume(dims) == volume(x.dims), "reshapes %v to %v", x.dims, dims)
	if slices.Equal(dims, x.dims) || !b.allows(x.dtype, dims) {
		return x
	}
	if x.from != nil {
		return b.reshape(*x.from, dims...)
	}
	y := b.made(b.graph.listed(mpsgraph.Reshape, x.id, dims), x.dtype, dims)
	y.from = &x
	return y
}

// transpose puts axis order[i] of x in place i.
func (b *builder) transpose(x tensor, order []int64) tensor {
	if b.err != nil {
		return x
	}
	dims := make([]int64, len(order))
	straight := true
	for i, from := range order {
		dims[i] = x.dims[from]
		straight = straight && int64(i) == from
	}
	if straight {
		return x
	}
	return b.made(b.graph.listed(mpsgraph.Transpose, x.id, order), x.dtype, dims)
}

// broadcast stretches axes of one element; the number of axes stays.
func (b *builder) broadcast(x tensor, dims ...int64) tensor {
	if slices.Equal(dims, x.dims) {
		return x
	}
	b.check(stretches(x.dims, dims), "stretches %v to %v", x.dims, dims)
	if !b.allows(x.dtype, dims) {
		return x
	}
	return b.made(b.graph.listed(mpsgraph.Broadcast, x.id, dims), x.dtype, dims)
}

// fit gives x the dimensions of a result: others for the same elements, or more of them.
func (b *builder) fit(x tensor, dims []int64) tensor {
	if volume(x.dims) == volume(dims) {
		return b.reshape(x, dims...)
	}
	// Broadcasting aligns the last axes, so missing ones go in front.
	for len(x.dims) < len(dims) && b.err == nil {
		x = b.reshape(x, append([]int64{1}, x.dims...)...)
	}
	return b.broadcast(x, dims...)
}

// full is input i with all its elements, where in holds one for each axis that repeats them.
func (b *builder) full(i int) tensor {
	if b.err != nil {
		return tensor{}
	}
	return b.broadcast(b.in[i], dimsOf(&b.call.In[i].Shape)...)
}

// slice is the part of x from start to end along an axis.
func (b *builder) slice(x tensor, axis int, start, end int64) tensor {
	if b.err != nil || start == 0 && end == x.dims[axis] {
		return x
	}
	// An empty slice would be a tensor without elements, which MPSGraph does not take.
	b.check(0 <= start && start < end && end <= x.dims[axis], "slices %d:%d of %v along %d", start, end, x.dims, axis)
	starts, ends, steps := make([]int64, len(x.dims)), slices.Clone(x.dims), make([]int64, len(x.dims))
	dims := slices.Clone(x.dims)
	for i := range steps {
		steps[i] = 1
	}
	starts[axis], ends[axis], dims[axis] = start, end, end-start
	if b.err != nil {
		return x
	}
	return b.made(b.graph.slice(x.id, starts, ends, steps), x.dtype, dims)
}

// concat joins tensors that differ only in the extent of an axis.
func (b *builder) concat(axis int, parts ...tensor) tensor {
	if b.err != nil {
		return parts[0]
	}
	dims := slices.Clone(parts[0].dims)
	ids := []mpsgraph.Tensor{parts[0].id}
	for _, p := range parts[1:] {
		dims[axis] += p.dims[axis]
		ids = append(ids, p.id)
	}
	if len(parts) == 1 || !b.allows(parts[0].dtype, dims) {
		return parts[0]
	}
	return b.made(b.graph.joining(mpsgraph.Concat, ids, int64(axis)), parts[0].dtype, dims)
}

// reduce folds one axis, which stays with extent 1.
func (b *builder) reduce(o mpsgraph.Listed, x tensor, axis int) tensor {
	b.allowsReduction(x, axis)
	if b.err != nil {
		return x
	}
	dims := slices.Clone(x.dims)
	dims[axis] = 1
	return b.made(b.graph.listed(o, x.id, []int64{int64(axis)}), x.dtype, dims)
}

// search is the int32 index of an extreme along an axis, which stays with extent 1.
func (b *builder) search(o mpsgraph.Axial, x tensor, axis int) tensor {
	b.allowsReduction(x, axis)
	if b.err != nil {
		return x
	}
	dims := slices.Clone(x.dims)
	dims[axis] = 1
	return b.made(b.graph.axial(o, x.id, int64(axis)), dtype.Int32, dims)
}
