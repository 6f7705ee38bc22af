package index

import (
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
)

// The writes of index_reduce: each element is joined with the one that is there. Slices come one after the other, so
// that sums are always rounded in the same order, however many slices are for one place.

// fold is how an element is joined; the order is that of op.Folds.
type fold uint8

const (
	foldAdd fold = iota
	foldMultiply
	foldMinimum
	foldMaximum
)

// join writes n elements that are srcStep bytes apart to places that are dstStep bytes apart.
type join func(dst, src unsafe.Pointer, dstStep, srcStep, n int64)

// foldOfCall is how a call joins elements.
func foldOfCall(c *device.Call) fold {
	for i, name := range op.Folds {
		if name == c.Attrs[op.IndexReduceReduce].Str() {
			return fold(i)
		}
	}
	return foldAdd
}

// folder is what a call does with the elements of a slice: index and index_put move them.
func (k indexing) folder(c *device.Call) join {
	if !k.fold {
		size := c.Out[0].DType.Size()
		return func(dst, src unsafe.Pointer, dstStep, srcStep, n int64) {
			engine.MoveStrided(dst, src, dstStep, srcStep, size, n)
		}
	}
	return joins[c.Out[0].DType](foldOfCall(c))
}

// joins has a join for each dtype. Sums of bool are or, products are and: the larger and the smaller of 0 and 1.
var joins = map[dtype.DType]func(fold) join{
	dtype.Bool: func(how fold) join {
		return joined[uint8]([...]fold{foldMaximum, foldMinimum, foldMinimum, foldMaximum}[how])
	},
	dtype.Uint8:    joined[uint8],
	dtype.Int8:     joined[int8],
	dtype.Int16:    joined[int16],
	dtype.Int32:    joined[int32],
	dtype.Int64:    joined[int64],
	dtype.Float32:  joined[float32],
	dtype.Float64:  joined[float64],
	dtype.Float16:  joinedHalves(dtype.F16ToF32, dtype.F32ToF16),
	dtype.BFloat16: joinedHalves(dtype.BF16ToF32, dtype.F32ToBF16),
}

// scalarFolds joins slices of one element each, for the dtypes that programs count and add up in; see scalars.
var scalarFolds = map[dtype.DType]func(k indexing, c *device.Call, lo, hi int64) error{
	dtype.Int32:   foldScalars[int32],
	dtype.Int64:   foldScalars[int64],
	dtype.Float32: foldScalars[float32],
	dtype.Float64: foldScalars[float64],
}

// foldScalars joins elements lo to hi-1 with those that the indices name, in their order. Sums, which are most calls, have a
// loop of their own, without a call and a choice an element.
// SAFETY: as in part.
func foldScalars[T engine.Number](_ indexing, c *device.Call, lo, hi int64) error {
	indexed, values, how := &c.Out[0], &c.In[0], foldOfCall(c)
	size, step := indexed.Dims[0], indexed.Strides[0]*int64(unsafe.Sizeof(T(0)))
	row := engine.RowAt[T](values, lo, hi)
	indices := engine.RowAt[int64](&c.In[1], lo, hi)
	for b, i := range indices {
		if i < 0 {
			i += size
		}
		if uint64(i) >= uint64(size) {
			return outOfRange(c, indices[b], 0, size)
		}
		at := (*T)(unsafe.Add(indexed.Addr, i*step))
		if how == foldAdd {
			*at += row[b]
		} else {
			*at = foldOf(how, *at, row[b])
		}
	}
	return nil
}

// elementFolds join the elements of a block that the indices along the last axis lead to, where several axes are indexed; the result
// is that of addPlaces.
var elementFolds = map[dtype.DType]func(m *movement, indices []int64) int{
	dtype.Int32:   foldPlaces[int32],
	dtype.Int64:   foldPlaces[int64],
	dtype.Float32: foldPlaces[float32],
	dtype.Float64: foldPlaces[float64],
}

// foldPlaces joins elements as foldScalars does.
// SAFETY: as in part.
func foldPlaces[T engine.Number](m *movement, indices []int64) int {
	base, list, size, stride, step, how := m.base, m.list, m.size, m.stride, m.step, m.how
	places := m.places[:len(indices)]
	for j, i := range indices {
		if i < 0 {
			i += size
		}
		if uint64(i) >= uint64(size) {
			return j
		}
		at, item := (*T)(unsafe.Add(base, places[j]+i*stride)), (*T)(unsafe.Add(list, int64(j)*step))
		if how == foldAdd {
			*at += *item
		} else {
			*at = foldOf(how, *at, *item)
		}
	}
	return len(indices)
}

// joined is the join of elements of type T.
// SAFETY: the caller vouches for both ranges; see engine.MoveStrided.
func joined[T engine.Number](how fold) join {
	return func(dst, src unsafe.Pointer, dstStep, srcStep, n int64) {
		for i := range n {
			at := (*T)(unsafe.Add(dst, i*dstStep))
			*at = foldOf(how, *at, *(*T)(unsafe.Add(src, i*srcStep)))
		}
	}
}

// joinedHalves is the join of elements of 16 bits, each step of which is computed in float32 and rounded once.
// SAFETY: see joined.
func joinedHalves(load func(uint16) float32, store func(float32) uint16) func(fold) join {
	return func(how fold) join {
		return func(dst, src unsafe.Pointer, dstStep, srcStep, n int64) {
			for i := range n {
				at := (*uint16)(unsafe.Add(dst, i*dstStep))
				*at = store(foldOf(how, load(*at), load(*(*uint16)(unsafe.Add(src, i*srcStep)))))
			}
		}
	}
}

// foldOf joins two numbers; a nan is the smaller and the larger of any two.
func foldOf[T engine.Number](how fold, x, y T) T {
	switch how {
	case foldMultiply:
		return x * y
	case foldMinimum:
		if y < x || y != y { //nolint:gocritic // y != y is how a type parameter asks for nan
			return y
		}
		return x
	case foldMaximum:
		if y > x || y != y { //nolint:gocritic // as above
			return y
		}
		return x
	}
	return x + y
}

// each joins the runs that two walks have in common.
// SAFETY: see move.
func (row join) each(to, from *engine.Walk, n int64) {
	for n > 0 {
		m := to.Run(from.Run(n))
		row(to.Here(), from.Here(), to.Strides[to.Rank-1], from.Strides[from.Rank-1], m)
		to.Skip(m)
		from.Skip(m)
		n -= m
	}
}
