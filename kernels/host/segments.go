package host

import (
	"math/bits"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
)

// Long rows whose result depends on the order of additions are folded in segments: each has an accumulator, and these are
// joined from the first to the last. A group computes the same accumulators from blocks that it has in the cache, on several
// threads, and joins them in the same way (tail.go).

// segment is how many elements of a long row are folded into one accumulator: as many float32 as a block of a group has (see
// blockBytes). Shorter ones would slow the operator alone down, because vectors are added up at the end of each.
const segment = 4 * block

// joining says how accumulators become one.
type joining struct {
	// join joins the accumulators of n segments, in their order, to that of the elements before them; nil where accumulators
	// are folded as values are.
	join func(a, parts unsafe.Pointer, n int64)
	// inOrder says that results depend on how a row is divided: other rows are folded at once, which is faster.
	inOrder bool
}

// register adds the reduction as the kernel of an operator for a dtype, with the way of joining that its accumulators have.
func (k *reduction) register(id op.ID, d dtype.DType) {
	switch {
	case id == op.IDCountNonzero:
		k.join = joinCounts
	case id == op.IDMean && d.IsInt():
		k.join = joinWide
	case d.IsFloat() && id == op.IDProd:
		k.joining = joining{joinProducts, true}
	case d.IsFloat() && (id == op.IDSum || id == op.IDMean || id == op.IDSquareSum):
		k.joining = joining{joinSums, true}
		if d == dtype.Float64 {
			k.join = joinTwofold
		}
	}
	register(id, d, k)
}

// The functions below are joining.join for accumulators of each type.
// SAFETY of all: accumulators are in memory of the caller, see reduction.begin.

// joinSums adds what has been accumulated in float64 and rounds each time.
func joinSums(a, parts unsafe.Pointer, n int64) {
	for _, x := range slice[float64](parts, n) {
		*(*float64)(a) += x
	}
}

// joinProducts is joinSums for products.
func joinProducts(a, parts unsafe.Pointer, n int64) {
	for _, x := range slice[float64](parts, n) {
		*(*float64)(a) *= x
	}
}

// joinTwofold keeps what rounding has dropped, within segments and between them.
func joinTwofold(a, parts unsafe.Pointer, n int64) {
	sum := *(*twofold)(a)
	for _, x := range slice[twofold](parts, n) {
		sum = sum.plus(x.sum)
		sum.dropped += x.dropped
	}
	*(*twofold)(a) = sum
}

// joinCounts adds counts, which do not overflow.
func joinCounts(a, parts unsafe.Pointer, n int64) {
	for _, x := range slice[int64](parts, n) {
		*(*int64)(a) += x
	}
}

// joinWide adds in 128 bits.
func joinWide(a, parts unsafe.Pointer, n int64) {
	sum := (*wide)(a)
	for _, x := range slice[wide](parts, n) {
		low, carry := bits.Add64(sum.low, x.low, 0)
		*sum = wide{sum.high + x.high + int64(carry), low}
	}
}

// joinAll joins the accumulators of n segments to that of the elements before them.
// SAFETY: see reduction.begin.
func (k *reduction) joinAll(a, parts unsafe.Pointer, n int64) {
	switch {
	case k.join != nil:
		k.join(a, parts, n)
	case k.stack != nil:
		k.stack(a, parts, 1, 1, int(n))
	default:
		for i := range n {
			k.beside(a, unsafe.Add(parts, i*k.size), 1)
		}
	}
}

// segments is how many segments so many elements are.
func segments(count int64) int64 { return (count + segment - 1) / segment }

// foldLong folds the next count values of a row, of which the first begins a segment, into an accumulator. parts is a room
// for those of the segments.
func (k *reduction) foldLong(a, parts unsafe.Pointer, from *track, count int64) {
	for most := k.most() * segment; count > 0; count -= most {
		m := min(most, count)
		k.foldSegments(parts, from, m)
		k.joinAll(a, parts, segments(m))
	}
}

// foldSegments is foldLong up to the accumulators of the segments. All whole segments that lie in memory as values are folded
// by one call.
// SAFETY: see rows.
func (k *reduction) foldSegments(parts unsafe.Pointer, from *track, count int64) {
	k.begin(parts, segments(count))
	if from.raw == nil && from.read == nil {
		whole := count / segment
		k.fold(parts, from.walk.here(), whole, segment*from.walk.size, segment)
		from.walk.skip(whole * segment)
		parts, count = unsafe.Add(parts, whole*k.size), count%segment
	}
	for ; count > 0; count -= segment {
		k.foldBlocks(parts, from, min(segment, count))
		parts = unsafe.Add(parts, k.size)
	}
}
