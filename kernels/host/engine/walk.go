package engine

import (
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/shape"
)

// Walk visits the elements of one operand in row-major order of its dimensions, whatever its
// strides, and moves runs of them to or from contiguous memory.
//
// Axes are collapsed, so a contiguous operand is a single axis, and so is every operand of one element.
// All operands of a call are walked separately but through the same row-major order: they need not
// collapse in the same way, and one that is contiguous never pays for another that is not.
type Walk struct {
	Base    unsafe.Pointer
	Size    int64 // bytes of an element
	Rank    int   // collapsed axes, at least 1
	Dims    [shape.MaxRank]int64
	Strides [shape.MaxRank]int64 // bytes
	Index   [shape.MaxRank]int64 // of the next element
	Offset  int64                // bytes from base to the next element
}

// Start begins at the first element. A layout without elements gives a walk that must not move.
func (w *Walk) Start(o *device.Operand) { w.Begin(o.Addr, o.DType.Size(), &o.Layout) }

// startAt begins at element number lo.
func (w *Walk) startAt(o *device.Operand, lo int64) {
	w.Start(o)
	w.SeekTo(lo)
}

// Begin is start for elements of size bytes at an address.
func (w *Walk) Begin(base unsafe.Pointer, size int64, l *shape.Layout) {
	w.Base, w.Size, w.Offset = base, size, 0
	w.Rank = l.CollapseInto(&w.Dims, &w.Strides)
	if w.Rank == 0 {
		w.Rank, w.Dims[0], w.Strides[0] = 1, 1, 1
	}
	for i := range w.Rank {
		w.Strides[i] *= size
		w.Index[i] = 0
	}
}

// Contiguous reports whether the elements lie one behind the other.
func (w *Walk) Contiguous() bool { return w.Rank == 1 && w.Strides[0] == w.Size }

// constant reports whether all elements are the same one in memory.
func (w *Walk) constant() bool { return w.Rank == 1 && (w.Strides[0] == 0 || w.Dims[0] == 1) }

// SeekTo moves to an element by its number in row-major order.
func (w *Walk) SeekTo(number int64) {
	w.Offset = 0
	if number == 0 {
		clear(w.Index[:w.Rank])
		return
	}
	for i := w.Rank - 1; i >= 0; i-- {
		w.Index[i] = number % w.Dims[i]
		number /= w.Dims[i]
		w.Offset += w.Index[i] * w.Strides[i]
	}
}

// Here is the address of the next element.
// SAFETY: the operand's layout lies in its memory, and the walk stays inside the layout.
func (w *Walk) Here() unsafe.Pointer { return unsafe.Add(w.Base, w.Offset) }

// Run is how many of the next n elements one stride reaches.
func (w *Walk) Run(n int64) int64 {
	last := w.Rank - 1
	return min(n, w.Dims[last]-w.Index[last])
}

// Skip moves n elements on, at most to the end of the run. At the very end it starts over.
func (w *Walk) Skip(n int64) {
	i := w.Rank - 1
	w.Index[i] += n
	w.Offset += n * w.Strides[i]
	for w.Index[i] == w.Dims[i] {
		w.Index[i] = 0
		w.Offset -= w.Dims[i] * w.Strides[i]
		if i--; i < 0 {
			return
		}
		w.Index[i]++
		w.Offset += w.Strides[i]
	}
}

// Gather moves the next n elements to contiguous memory.
// SAFETY: to has room for n elements; see here.
func (w *Walk) Gather(to unsafe.Pointer, n int64) {
	stride := w.Strides[w.Rank-1]
	for n > 0 {
		m := w.Run(n)
		MoveStrided(to, w.Here(), w.Size, stride, w.Size, m)
		w.Skip(m)
		to, n = unsafe.Add(to, m*w.Size), n-m
	}
}

// Scatter moves n elements from contiguous memory to the next places.
// SAFETY: from holds n elements; see here.
func (w *Walk) Scatter(from unsafe.Pointer, n int64) {
	stride := w.Strides[w.Rank-1]
	for n > 0 {
		m := w.Run(n)
		MoveStrided(w.Here(), from, stride, w.Size, w.Size, m)
		w.Skip(m)
		from, n = unsafe.Add(from, m*w.Size), n-m
	}
}

// Move copies n elements between walks of as many bytes an element.
func Move(to, from *Walk, n int64) {
	for n > 0 {
		m := to.Run(from.Run(n))
		MoveStrided(to.Here(), from.Here(), to.Strides[to.Rank-1], from.Strides[from.Rank-1], to.Size, m)
		to.Skip(m)
		from.Skip(m)
		n -= m
	}
}

// Two cases are much faster than others, and most calls are one of them: neighbours on both sides, and one element that is
// broadcast along a line.

// MoveStrided copies n elements of size bytes between places that are dstStep and srcStep bytes
// apart.
// SAFETY: the caller vouches for both ranges; bytes behind the last element are never addressed
// through a pointer that is read.
func MoveStrided(dst, src unsafe.Pointer, dstStep, srcStep, size, n int64) {
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
		Repeat(unsafe.Slice((*byte)(dst), n*size), unsafe.Slice((*byte)(dst), first*size))
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

// SAFETY: see MoveStrided.
func moveAs[T any](dst, src unsafe.Pointer, dstStep, srcStep, n int64) {
	for i := range n {
		*(*T)(unsafe.Add(dst, i*dstStep)) = *(*T)(unsafe.Add(src, i*srcStep))
	}
}

// Repeat fills memory with copies of a pattern whose length divides that of the memory.
func Repeat(memory, pattern []byte) {
	const chunk = 16 << 10 // stays in the first-level cache while it is copied from
	for n := copy(memory, pattern); n < len(memory); {
		n += copy(memory[n:], memory[:min(n, chunk)])
	}
}
