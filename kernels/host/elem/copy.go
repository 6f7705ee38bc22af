package elem

import (
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/nontemporal"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/rearrange"
)

// copier is out[i] = x[i] for elements of as many bytes, whatever their dtype.
type copier int64

// Cost is half an addition an element where elements are moved together, and eight where each has to be found.
func (k copier) Cost(c *device.Call) int64 {
	if c.Out[0].IsContiguous() && c.In[0].IsContiguous() {
		return c.Out[0].Numel() / 2
	}
	return 8 * c.Out[0].Numel()
}

// Workspace is nothing: bytes go from one operand to the other.
func (k copier) Workspace(*device.Call) int64 { return 0 }

// Run splits the elements over the threads.
func (k copier) Run(t *engine.Threads, c *device.Call) error {
	return t.Each(k, c, c.Out[0].Numel(), k.Cost(c))
}

// Part copies elements lo to hi-1, past the cache where it cannot hold them. Of a transposition it copies square tiles, so that each
// line of the cache that is loaded is used whole.
// SAFETY: elements lo to hi-1 lie in both operands.
func (k copier) Part(c *device.Call, lo, hi int64) error {
	var store [4]device.Operand
	out, in := engine.Arranged(c, store[:0])
	var to, from engine.Walk
	to.Start(out)
	from.Start(&in[0])
	if nontemporal.Available() && from.Contiguous() && ExceedsCache(out) {
		src := unsafe.Add(from.Base, lo*int64(k))
		copyPast(unsafe.Add(to.Base, lo*int64(k)), src, src, (hi-lo)*int64(k))
		nontemporal.Fence()
		return nil
	}
	if to.Contiguous() && from.Rank >= 2 && transposed(&from) {
		k.tiles(&to, &from, lo, hi)
		return nil
	}
	if to.Contiguous() && from.Rank >= 2 && interleaves(&from) {
		k.interleave(&to, &from, lo, hi)
		return nil
	}
	to.SeekTo(lo)
	from.SeekTo(lo)
	engine.Move(&to, &from, hi-lo)
	return nil
}

// copyPast copies bytes past the cache. Go's copy does so too, for as many bytes, and takes a tenth longer.
// SAFETY: see slice.
var copyPast = streamedRows(nontemporal.Copy, func(dst, src, _ unsafe.Pointer, n int64) {
	copy(engine.Slice[uint8](dst, n), engine.Slice[uint8](src, n))
}, false, false)

// tile is the side of the squares that a transposition moves.
const tile = 32

// transposed reports whether the last two axes lie in memory the other way round: going along the
// last one jumps further than going along the one before.
func transposed(w *engine.Walk) bool {
	last := w.Rank - 1
	return engine.Abs(w.Strides[last-1]) < engine.Abs(w.Strides[last]) && min(w.Dims[last-1], w.Dims[last]) >= tile/2
}

// interleaves reports whether the elements of a few long lines alternate along the last axis.
func interleaves(w *engine.Walk) bool {
	last := w.Rank - 1
	return engine.Abs(w.Strides[last-1]) < engine.Abs(w.Strides[last]) && w.Dims[last] < tile/2 && w.Dims[last-1] >= 2*w.Dims[last]
}

// interleave is tiles for matrices of a few columns, which it copies column by column.
// SAFETY: see tiles; parts of matrices are left to move.
func (k copier) interleave(to, from *engine.Walk, lo, hi int64) {
	size, last := int64(k), from.Rank-1
	rows, cols := from.Dims[last-1], from.Dims[last]
	for lo < hi {
		n := rows * cols
		if first := lo % n; first > 0 || hi-lo < n {
			n = min(n-first, hi-lo)
			to.SeekTo(lo)
			from.SeekTo(lo)
			engine.Move(to, from, n)
			lo += n
			continue
		}
		from.SeekTo(lo)
		src, dst := from.Here(), unsafe.Add(to.Base, lo*size)
		for col := range cols {
			engine.MoveStrided(unsafe.Add(dst, col*size), unsafe.Add(src, col*from.Strides[last]), cols*size, from.Strides[last-1], size, rows)
		}
		lo += n
	}
}

// tiles copies the elements lo to hi-1 of whole and broken matrices, which the last two axes of
// from are, to contiguous memory.
// SAFETY: see walk.here; the tiles cover lo to hi-1 exactly.
func (k copier) tiles(to, from *engine.Walk, lo, hi int64) {
	size, last := int64(k), from.Rank-1
	rows, cols := from.Dims[last-1], from.Dims[last]
	rowStep, colStep := from.Strides[last-1], from.Strides[last]
	turns, side := size == 4 && rowStep == size && colStep > 0 && colStep%size == 0, int64(tile)
	if turns {
		side = 2 * tile
	}
	for lo < hi {
		matrix := lo / (rows * cols)
		first := lo - matrix*rows*cols
		stop := min(hi-matrix*rows*cols, rows*cols)
		from.SeekTo(matrix * rows * cols)
		src, dst := from.Here(), unsafe.Add(to.Base, matrix*rows*cols*size)
		for top := first / cols; top*cols < stop; top += side {
			bottom := min(top+side, (stop+cols-1)/cols)
			for left := int64(0); left < cols; left += side {
				right := min(left+side, cols)
				if turns && top*cols+left >= first && (bottom-1)*cols+right <= stop {
					turn(unsafe.Add(dst, (top*cols+left)*size), unsafe.Add(src, top*rowStep+left*colStep), right-left, bottom-top, cols, colStep/size)
					continue
				}
				for i := top; i < bottom; i++ {
					a, b := max(i*cols+left, first), min(i*cols+right, stop)
					if a < b {
						engine.MoveStrided(unsafe.Add(dst, a*size), unsafe.Add(src, i*rowStep+(a-i*cols)*colStep), size, colStep, size, b-a)
					}
				}
			}
		}
		lo = matrix*rows*cols + stop
	}
}

// turn writes the transpose of a matrix of 4-byte elements, whose rows are so many elements apart. Squares of twice the side are faster
// there: the loop over rows counts for less.
// SAFETY: all elements lie in the operands of a copy.
func turn(to, from unsafe.Pointer, rows, cols, toStep, fromStep int64) {
	rearrange.Transpose(engine.Slice[float32](to, (cols-1)*toStep+rows), engine.Slice[float32](from, (rows-1)*fromStep+cols), int(rows), int(cols), int(toStep), int(fromStep))
}

func (copier) PerElement() bool { return true }
