package host

import (
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/shape"
)

// walk visits the elements of one operand in row-major order of its dimensions, whatever its
// strides, and moves runs of them to or from contiguous memory.
//
// Axes are collapsed, so a contiguous operand is a single axis, and so is every operand of one element.
// All operands of a call are walked separately but through the same row-major order: they need not
// collapse in the same way, and one that is contiguous never pays for another that is not.
type walk struct {
	base    unsafe.Pointer
	size    int64 // bytes of an element
	rank    int   // collapsed axes, at least 1
	dims    [shape.MaxRank]int64
	strides [shape.MaxRank]int64 // bytes
	index   [shape.MaxRank]int64 // of the next element
	offset  int64                // bytes from base to the next element
}

// start begins at the first element. A layout without elements gives a walk that must not move.
func (w *walk) start(o *device.Operand) { w.begin(o.Addr, o.DType.Size(), &o.Layout) }

// startAt begins at element number lo.
func (w *walk) startAt(o *device.Operand, lo int64) {
	w.start(o)
	w.seek(lo)
}

// begin is start for elements of size bytes at an address.
func (w *walk) begin(base unsafe.Pointer, size int64, l *shape.Layout) {
	w.base, w.size, w.offset = base, size, 0
	w.rank = l.CollapseInto(&w.dims, &w.strides)
	if w.rank == 0 {
		w.rank, w.dims[0], w.strides[0] = 1, 1, 1
	}
	for i := range w.rank {
		w.strides[i] *= size
		w.index[i] = 0
	}
}

// contiguous reports whether the elements lie one behind the other.
func (w *walk) contiguous() bool { return w.rank == 1 && w.strides[0] == w.size }

// constant reports whether all elements are the same one in memory.
func (w *walk) constant() bool { return w.rank == 1 && (w.strides[0] == 0 || w.dims[0] == 1) }

// seek moves to an element by its number in row-major order.
func (w *walk) seek(number int64) {
	w.offset = 0
	if number == 0 {
		clear(w.index[:w.rank])
		return
	}
	for i := w.rank - 1; i >= 0; i-- {
		w.index[i] = number % w.dims[i]
		number /= w.dims[i]
		w.offset += w.index[i] * w.strides[i]
	}
}

// here is the address of the next element.
// SAFETY: the operand's layout lies in its memory, and the walk stays inside the layout.
func (w *walk) here() unsafe.Pointer { return unsafe.Add(w.base, w.offset) }

// run is how many of the next n elements one stride reaches.
func (w *walk) run(n int64) int64 {
	last := w.rank - 1
	return min(n, w.dims[last]-w.index[last])
}

// skip moves n elements on, at most to the end of the run. At the very end it starts over.
func (w *walk) skip(n int64) {
	i := w.rank - 1
	w.index[i] += n
	w.offset += n * w.strides[i]
	for w.index[i] == w.dims[i] {
		w.index[i] = 0
		w.offset -= w.dims[i] * w.strides[i]
		if i--; i < 0 {
			return
		}
		w.index[i]++
		w.offset += w.strides[i]
	}
}

// gather moves the next n elements to contiguous memory.
// SAFETY: to has room for n elements; see here.
func (w *walk) gather(to unsafe.Pointer, n int64) {
	stride := w.strides[w.rank-1]
	for n > 0 {
		m := w.run(n)
		moveStrided(to, w.here(), w.size, stride, w.size, m)
		w.skip(m)
		to, n = unsafe.Add(to, m*w.size), n-m
	}
}

// scatter moves n elements from contiguous memory to the next places.
// SAFETY: from holds n elements; see here.
func (w *walk) scatter(from unsafe.Pointer, n int64) {
	stride := w.strides[w.rank-1]
	for n > 0 {
		m := w.run(n)
		moveStrided(w.here(), from, stride, w.size, w.size, m)
		w.skip(m)
		from, n = unsafe.Add(from, m*w.size), n-m
	}
}

// move copies n elements between walks of as many bytes an element.
func move(to, from *walk, n int64) {
	for n > 0 {
		m := to.run(from.run(n))
		moveStrided(to.here(), from.here(), to.strides[to.rank-1], from.strides[from.rank-1], to.size, m)
		to.skip(m)
		from.skip(m)
		n -= m
	}
}

// Two cases are much faster than others, and most calls are one of them: neighbours on both sides, and one element that is
// broadcast along a line.

// moveStrided copies n elements of size bytes between places that are dstStep and srcStep bytes
// apart.
// SAFETY: the caller vouches for both ranges; bytes behind the last element are never addressed
// through a pointer that is read.
func moveStrided(dst, src unsafe.Pointer, dstStep, srcStep, size, n int64) {
	if dstStep == size && srcStep == size {
		copy(unsafe.Slice((*byte)(dst), n*size), unsafe.Slice((*byte)(src), n*size))
		return
	}
	if dstStep == size && srcStep == 0 && n > 1 {
		first := int64(1)
		if size == 4 {
			first = min(n, fewRepeated)
			repeatFew(unsafe.Slice((*uint32)(dst), first), *(*uint32)(src))
		} else {
			copy(unsafe.Slice((*byte)(dst), size), unsafe.Slice((*byte)(src), size))
		}
		repeat(unsafe.Slice((*byte)(dst), n*size), unsafe.Slice((*byte)(dst), first*size))
		return
	}
	switch size {
	case 1:
		moveAs[uint8](dst, src, dstStep, srcStep, n)
	case 2:
		moveAs[uint16](dst, src, dstStep, srcStep, n)
	case 4:
		moveAs[uint32](dst, src, dstStep, srcStep, n)
	case 8:
		moveAs[uint64](dst, src, dstStep, srcStep, n)
	default:
		moveAs[[2]uint64](dst, src, dstStep, srcStep, n)
	}
}

// fewRepeated is the number of elements up to which storing them costs less than copying what has been stored.
const fewRepeated = 64

// repeatFew fills a short row, two elements at a time.
// SAFETY: pairs are of the row.
func repeatFew(row []uint32, v uint32) {
	pairs := unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(row))), len(row)/2)
	for i := range pairs {
		pairs[i] = uint64(v)<<32 | uint64(v)
	}
	row[len(row)-1] = v
}

// SAFETY: see moveStrided.
func moveAs[T any](dst, src unsafe.Pointer, dstStep, srcStep, n int64) {
	for i := range n {
		*(*T)(unsafe.Add(dst, i*dstStep)) = *(*T)(unsafe.Add(src, i*srcStep))
	}
}
