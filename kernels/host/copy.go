package host

import (
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// copier is out[i] = x[i] for elements of as many bytes, whatever their dtype.
type copier int64

// cost is half an addition an element where elements are moved together, and eight where each has to be found.
func (k copier) cost(c *device.Call) int64 {
	if c.Out[0].IsContiguous() && c.In[0].IsContiguous() {
		return c.Out[0].Numel() / 2
	}
	return 8 * c.Out[0].Numel()
}

// workspace is nothing: bytes go from one operand to the other.
func (k copier) workspace(*device.Call) int64 { return 0 }

// run splits the elements over the threads.
func (k copier) run(t *threads, c *device.Call) error {
	return t.each(k, c, c.Out[0].Numel(), k.cost(c))
}

// part copies elements lo to hi-1, past the cache where it cannot hold them. Of a transposition it copies square tiles, so that each
// line of the cache that is loaded is used whole.
// SAFETY: elements lo to hi-1 lie in both operands.
func (k copier) part(c *device.Call, lo, hi int64) error {
	var store [4]device.Operand
	out, in := arranged(c, store[:0])
	var to, from walk
	to.start(out)
	from.start(&in[0])
	if vec.HasStreams() && from.contiguous() && exceedsCache(out) {
		src := unsafe.Add(from.base, lo*int64(k))
		copyPast(unsafe.Add(to.base, lo*int64(k)), src, src, (hi-lo)*int64(k))
		vec.Fence()
		return nil
	}
	if to.contiguous() && from.rank >= 2 && from.transposed() {
		k.tiles(&to, &from, lo, hi)
		return nil
	}
	if to.contiguous() && from.rank >= 2 && from.interleaves() {
		k.interleave(&to, &from, lo, hi)
		return nil
	}
	to.seek(lo)
	from.seek(lo)
	move(&to, &from, hi-lo)
	return nil
}

// copyPast copies bytes past the cache. Go's copy does so too, for as many bytes, and takes a tenth longer.
// SAFETY: see slice.
var copyPast = streamedRows(vec.StreamCopy, func(dst, src, _ unsafe.Pointer, n int64) {
	copy(slice[uint8](dst, n), slice[uint8](src, n))
}, false, false)

// tile is the side of the squares that a transposition moves.
const tile = 32

// transposed reports whether the last two axes lie in memory the other way round: going along the
// last one jumps further than going along the one before.
func (w *walk) transposed() bool {
	last := w.rank - 1
	return abs(w.strides[last-1]) < abs(w.strides[last]) && min(w.dims[last-1], w.dims[last]) >= tile/2
}

// interleaves reports whether the elements of a few long lines alternate along the last axis.
func (w *walk) interleaves() bool {
	last := w.rank - 1
	return abs(w.strides[last-1]) < abs(w.strides[last]) && w.dims[last] < tile/2 && w.dims[last-1] >= 2*w.dims[last]
}

// interleave is tiles for matrices of a few columns, which it copies column by column.
// SAFETY: see tiles; parts of matrices are left to move.
func (k copier) interleave(to, from *walk, lo, hi int64) {
	size, last := int64(k), from.rank-1
	rows, cols := from.dims[last-1], from.dims[last]
	for lo < hi {
		n := rows * cols
		if first := lo % n; first > 0 || hi-lo < n {
			n = min(n-first, hi-lo)
			to.seek(lo)
			from.seek(lo)
			move(to, from, n)
			lo += n
			continue
		}
		from.seek(lo)
		src, dst := from.here(), unsafe.Add(to.base, lo*size)
		for col := range cols {
			moveStrided(unsafe.Add(dst, col*size), unsafe.Add(src, col*from.strides[last]), cols*size, from.strides[last-1], size, rows)
		}
		lo += n
	}
}

// tiles copies the elements lo to hi-1 of whole and broken matrices, which the last two axes of
// from are, to contiguous memory.
// SAFETY: see walk.here; the tiles cover lo to hi-1 exactly.
func (k copier) tiles(to, from *walk, lo, hi int64) {
	size, last := int64(k), from.rank-1
	rows, cols := from.dims[last-1], from.dims[last]
	rowStep, colStep := from.strides[last-1], from.strides[last]
	turns, side := size == 4 && rowStep == size && colStep > 0 && colStep%size == 0, int64(tile)
	if turns {
		side = 2 * tile
	}
	for lo < hi {
		matrix := lo / (rows * cols)
		first := lo - matrix*rows*cols
		stop := min(hi-matrix*rows*cols, rows*cols)
		from.seek(matrix * rows * cols)
		src, dst := from.here(), unsafe.Add(to.base, matrix*rows*cols*size)
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
						moveStrided(unsafe.Add(dst, a*size), unsafe.Add(src, i*rowStep+(a-i*cols)*colStep), size, colStep, size, b-a)
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
	vec.Transpose(slice[float32](to, (cols-1)*toStep+rows), slice[float32](from, (rows-1)*fromStep+cols), int(rows), int(cols), int(toStep), int(fromStep))
}
