package reduce

import (
	"math/bits"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
)

// Long rows whose result depends on the order of additions are folded in segments: each has an accumulator, and these are
// joined from the first to the last. A group computes the same accumulators from blocks that it has in the cache, on several
// threads, and joins them in the same way (tail.go).

// Segment is how many elements of a long row are folded into one accumulator: as many float32 as a block of a group has (see
// blockBytes). Shorter ones would slow the operator alone down, because vectors are added up at the end of each.
const Segment = 4 * engine.Block

// joining says how accumulators become one.
type joining struct {
	// join joins the accumulators of n segments, in their order, to that of the elements before them; nil where accumulators
	// are folded as values are.
	join func(a, parts unsafe.Pointer, n int64)
	// inOrder says that results depend on how a row is divided: other rows are folded at once, which is faster.
	inOrder bool
}

// register adds the reduction as the kernel of an operator for a dtype, with the way of joining that its accumulators have.
func (k *Reduction) register(id op.ID, d dtype.DType) {
	switch {
	case id == op.IDCountNonzero || id == op.IDWholeSum:
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
	engine.Register(id, d, k)
}

// The functions below are joining.join for accumulators of each type.
// SAFETY of all: accumulators are in memory of the caller, see reduction.begin.

// joinSums adds what has been accumulated in float64 and rounds each time.
func joinSums(a, parts unsafe.Pointer, n int64) {
	for _, x := range engine.Slice[float64](parts, n) {
		*(*float64)(a) += x
	}
}

// joinProducts is joinSums for products.
func joinProducts(a, parts unsafe.Pointer, n int64) {
	for _, x := range engine.Slice[float64](parts, n) {
		*(*float64)(a) *= x
	}
}

// joinTwofold keeps what rounding has dropped, within segments and between them.
func joinTwofold(a, parts unsafe.Pointer, n int64) {
	sum := *(*Compensated)(a)
	for _, x := range engine.Slice[Compensated](parts, n) {
		sum = sum.Plus(x.sum)
		sum.dropped += x.dropped
	}
	*(*Compensated)(a) = sum
}

// joinCounts adds counts, and sums that wrap around.
func joinCounts(a, parts unsafe.Pointer, n int64) {
	for _, x := range engine.Slice[int64](parts, n) {
		*(*int64)(a) += x
	}
}

// joinWide adds in 128 bits.
func joinWide(a, parts unsafe.Pointer, n int64) {
	sum := (*wide)(a)
	for _, x := range engine.Slice[wide](parts, n) {
		low, carry := bits.Add64(sum.low, x.low, 0)
		*sum = wide{sum.high + x.high + int64(carry), low}
	}
}

// joinAll joins the accumulators of n segments to that of the elements before them.
// SAFETY: see reduction.begin.
func (k *Reduction) joinAll(a, parts unsafe.Pointer, n int64) {
	switch {
	case k.join != nil:
		k.join(a, parts, n)
	case k.stack != nil:
		k.stack(a, parts, 1, 1, int(n))
	default:
		for i := range n {
			k.beside(a, unsafe.Add(parts, i*k.Size), 1)
		}
	}
}

// Segments is how many segments so many elements are.
func Segments(count int64) int64 { return pieces(count, Segment) }

// pieces is how many pieces of a length so many elements are.
func pieces(count, length int64) int64 { return (count + length - 1) / length }

// foldLong folds the next count values of a row, of which the first begins a segment, into an accumulator. parts is a room
// for those of the segments.
func (k *Reduction) foldLong(a, parts unsafe.Pointer, from *engine.Track, count int64) {
	for most := k.most() * Segment; count > 0; count -= most {
		m := min(most, count)
		k.FoldPieces(parts, from, m, Segment)
		k.joinAll(a, parts, Segments(m))
	}
}

// FoldPieces folds the next count values into an accumulator for each piece of so many, the last of which may be shorter. All whole
// pieces that lie in memory as values are folded by one call.
// SAFETY: see rows.
func (k *Reduction) FoldPieces(parts unsafe.Pointer, from *engine.Track, count, length int64) {
	k.begin(parts, pieces(count, length))
	if from.Raw == nil && from.Read == nil {
		whole := count / length
		k.foldRows(parts, from.Walk.Here(), whole, length*from.Walk.Size, length)
		from.Walk.Skip(whole * length)
		parts, count = unsafe.Add(parts, whole*k.Size), count%length
	}
	for ; count > 0; count -= length {
		k.foldBlocks(parts, from, min(length, count))
		parts = unsafe.Add(parts, k.Size)
	}
}

// JoinOutputs computes n outputs of count elements each, from the accumulators of their pieces, as many for each.
// SAFETY: see reduction.begin.
func (k *Reduction) JoinOutputs(to *engine.Track, f *engine.Frame, parts unsafe.Pointer, n, pieces, count int64) {
	as := f.Room()
	for n > 0 {
		m := min(n, k.most())
		k.begin(as, m)
		for i := range m {
			k.joinAll(unsafe.Add(as, i*k.Size), parts, pieces)
			parts = unsafe.Add(parts, pieces*k.Size)
		}
		k.results(to.Space(), as, m, count)
		to.Keep(m)
		n -= m
	}
}

// Where there are too few outputs for all threads, such as the sum of a whole tensor, threads divide each of them in pieces, whose
// accumulators are in the workspace. If the order of additions counts, the pieces are the segments in which one thread would
// fold the row, so that the result has the same bits.

const (
	FewOutputs   = 32                 // the most outputs that are divided
	LeastDivided = engine.LeastToWake // elements, of which a call takes longer than to wake another thread
	LongPiece    = 16 * Segment       // elements of a piece, if the order of additions does not count
)

// division is how outputs are divided; its length is 0 where they are not.
type division struct {
	length int64 // elements of a piece, the last of an output may have less
	Pieces int64 // of an output
	units  int64 // pieces of all outputs
	count  int64 // elements of an output
}

// dividing is the division of a call.
func (k *Reduction) dividing(c *device.Call) division {
	if k.inOrder {
		return DivisionOf(c, Segment)
	}
	return DivisionOf(c, LongPiece)
}

// DivisionOf is the division of a call in pieces of a length.
func DivisionOf(c *device.Call, length int64) division {
	outputs, elements := c.Out[0].Numel(), c.In[0].Numel()
	if elements < LeastDivided || outputs < 1 || outputs > FewOutputs {
		return division{}
	}
	kept, reduced := axesOf(c)
	d := division{length: length, count: reduced.Numel()}
	if sideways(&kept, &reduced) || d.count <= d.length {
		return division{}
	}
	d.Pieces = pieces(d.count, d.length)
	d.units = outputs * d.Pieces
	return d
}

// divided folds pieces of a reduction's outputs.
type divided struct{ *Reduction }

// Part folds pieces lo to hi-1, counted through all outputs.
func (k *divided) Part(c *device.Call, lo, hi int64) error {
	d := k.dividing(c)
	var in Traversal
	in.Begin(c, lo/d.Pieces)
	for lo < hi { // output by output
		n := min(d.Pieces-lo%d.Pieces, hi-lo)
		k.foldOutput(c, &in, &d, lo, n)
		in.Outer.Skip(1)
		lo += n
	}
	return nil
}

// foldOutput folds n pieces of the output at which the passage stands, the first of them by its number among those of all outputs.
// SAFETY: the workspace has room for the accumulators of all pieces.
func (k *divided) foldOutput(c *device.Call, in *Traversal, d *division, first, n int64) {
	f := engine.NewFrame()
	defer f.Free()
	operand, at := device.Operand{Addr: in.Outer.Here(), DType: in.dtype, Layout: in.reduced}, first%d.Pieces*d.length
	var from engine.Track
	from.Open(&operand, &k.In, f, at)
	k.FoldPieces(unsafe.Add(c.Workspace, first*k.Size), &from, min(n*d.length, d.count-at), d.length)
}

// finish joins the accumulators of all pieces.
func (k *Reduction) finish(c *device.Call, d *division) {
	f := engine.NewFrame()
	defer f.Free()
	var to engine.Track
	to.Open(&c.Out[0], &k.Out, f, 0)
	k.JoinOutputs(&to, f, c.Workspace, c.Out[0].Numel(), d.Pieces, d.count)
}
