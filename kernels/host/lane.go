package host

import (
	"sync"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// block is the number of elements that move through a lane's buffers at a time: few enough that all
// buffers of a call stay in the first-level cache.
const block = 512

// codec is how elements of a dtype become values that a kernel computes with, and back. Both
// functions work on contiguous elements and are nil where the values are the elements themselves.
type codec[C any] struct {
	load  func(dst []C, src unsafe.Pointer)
	store func(dst unsafe.Pointer, src []C)
}

// halfCodec computes on float16 or bfloat16 in float32: exact on the way in, rounded once on the
// way out.
func halfCodec(d dtype.DType) *codec[float32] {
	if d == dtype.Float16 {
		return &codec[float32]{loadWith(vec.F16ToF32Row), storeWith(vec.F32ToF16Row)}
	}
	return &codec[float32]{loadWith(vec.BF16ToF32Row), storeWith(vec.F32ToBF16Row)}
}

// half64Codec computes on float16 or bfloat16 in float64, rounded once on the way out.
func half64Codec(d dtype.DType) *codec[float64] {
	load, store := dtype.F16ToF32, vec.F64ToF16Row
	if d == dtype.BFloat16 {
		load, store = dtype.BF16ToF32, vec.F64ToBF16Row
	}
	return &codec[float64]{
		loadWith(func(dst []float64, src []uint16) {
			for i, h := range src {
				dst[i] = float64(load(h))
			}
		}),
		storeWith(store),
	}
}

// float64Codec computes on float32 in float64, rounded once on the way out.
func float64Codec() *codec[float64] {
	return &codec[float64]{
		loadWith(func(dst []float64, src []float32) {
			for i, x := range src {
				dst[i] = float64(x)
			}
		}),
		storing[float64](dtype.Float64, dtype.Float32).store,
	}
}

// loadWith makes a codec's load of a function of rows with elements of type S.
func loadWith[C, S any](row func(dst []C, src []S)) func(dst []C, src unsafe.Pointer) {
	return func(dst []C, src unsafe.Pointer) { row(dst, slice[S](src, int64(len(dst)))) }
}

// storeWith makes a codec's store of a function of rows with elements of type D.
func storeWith[D, C any](row func(dst []D, src []C)) func(dst unsafe.Pointer, src []C) {
	return func(dst unsafe.Pointer, src []C) { row(slice[D](dst, int64(len(src))), src) }
}

// slice is n elements of type T at an address.
// SAFETY: the caller vouches for the range, which belongs to a call until its owner is notified, or to a
// frame until that is freed. T holds no pointers.
func slice[T any](p unsafe.Pointer, n int64) []T { return unsafe.Slice((*T)(p), n) }

// buffer holds a block of elements of any dtype.
type buffer [block]uint64

// frame is the buffers of the lanes of one part of a call. It has enough of them for three inputs
// and an output, and grows for more operands.
type frame struct {
	used  int
	rooms [8]buffer
	more  []*buffer
}

var frames = sync.Pool{New: func() any { return new(frame) }}

// newFrame takes a frame that free gives back.
func newFrame() *frame { return frames.Get().(*frame) }

// free makes the buffers available to other parts, contents and all.
func (f *frame) free() {
	f.used = 0
	frames.Put(f)
}

// room is one more buffer.
// SAFETY: the buffer belongs to the caller until the frame is freed.
func (f *frame) room() unsafe.Pointer {
	i := f.used
	f.used++
	if i < len(f.rooms) {
		return unsafe.Pointer(&f.rooms[i])
	}
	return f.another(i - len(f.rooms))
}

// another is buffer i of those beyond rooms. Inlined, it would be in each kernel once for each type.
// SAFETY: see room.
//
//go:noinline
func (f *frame) another(i int) unsafe.Pointer {
	if i == len(f.more) {
		f.more = append(f.more, new(buffer))
	}
	return unsafe.Pointer(f.more[i])
}

// lane turns an operand into contiguous rows of at most block values, or takes such rows, in
// row-major order. Elements are gathered where they are not contiguous, and converted where they are not
// values; where both are given, it hands out the operand's own memory.
type lane[C any] struct {
	walk  walk
	codec *codec[C]
	raw   unsafe.Pointer // room for elements as they are
	buf   unsafe.Pointer // room for values
	fixed bool           // one value throughout, already in buf
	row   []C            // the row that room gave out
}

// open begins at element lo.
func (l *lane[C]) open(o *device.Operand, codec *codec[C], f *frame, lo int64) {
	l.walk.startAt(o, lo)
	l.codec = codec
	if !l.walk.contiguous() {
		l.raw = f.room()
	}
	if codec.load != nil || codec.store != nil {
		l.buf = f.room()
	} else {
		l.buf = l.raw
	}
}

// own makes next answer copies, which nothing but the caller can change.
func (l *lane[C]) own(f *frame) {
	if l.raw != nil {
		return
	}
	l.raw = f.room()
	if l.buf == nil {
		l.buf = l.raw
	}
}

// next is the next n values, to be read before the next call.
func (l *lane[C]) next(n int64) []C {
	if l.fixed {
		return slice[C](l.buf, n)
	}
	from := l.raw
	if l.raw == nil {
		from = l.walk.here()
		l.walk.skip(n)
	} else {
		l.walk.gather(l.raw, n)
	}
	if l.codec.load == nil {
		return slice[C](from, n)
	}
	values := slice[C](l.buf, n)
	l.codec.load(values, from)
	return values
}

// hold fills a row with the value of an operand that has only one, so that next need not.
func (l *lane[C]) hold(n int64) {
	if l.raw != nil && l.walk.constant() {
		l.next(n)
		l.fixed = true
	}
}

// space is where the next n values go; keep then writes them to the operand.
func (l *lane[C]) space(n int64) []C {
	at := l.buf
	if at == nil {
		at = l.walk.here()
	}
	l.row = slice[C](at, n)
	return l.row
}

// keep writes the row that space gave out.
// SAFETY: see slice.
func (l *lane[C]) keep() {
	n := int64(len(l.row))
	switch {
	case l.raw == nil:
		if l.codec.store != nil {
			l.codec.store(l.walk.here(), l.row)
		}
		l.walk.skip(n)
		return
	case l.codec.store != nil:
		l.codec.store(l.raw, l.row)
	}
	l.walk.scatter(l.raw, n)
}

// spanOf is the memory of an operand from its lowest to its highest element, which are so far from the one with all
// indices zero.
// SAFETY: see slice; an operand's layout lies in its memory.
func spanOf[T any](o *device.Operand, low, high int64) []T {
	return slice[T](unsafe.Add(o.Addr, low*int64(unsafe.Sizeof(*new(T)))), high-low+1)
}
