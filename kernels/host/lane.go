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
	coding
}

// coding is a codec where the type of the values is not known: the same functions, of addresses and a number of elements.
// What needs no more than that is not compiled for each type.
type coding struct {
	read, write func(to, from unsafe.Pointer, n int64)
}

// plain is the coding of values that are the elements themselves.
var plain coding

// codecOf makes a codec of its two functions, either of which may be nil.
func codecOf[C any](load func([]C, unsafe.Pointer), store func(unsafe.Pointer, []C)) *codec[C] {
	c := &codec[C]{load: load, store: store}
	if load != nil {
		c.read = func(to, from unsafe.Pointer, n int64) { load(slice[C](to, n), from) }
	}
	if store != nil {
		c.write = func(to, from unsafe.Pointer, n int64) { store(to, slice[C](from, n)) }
	}
	return c
}

// halfCodec computes on float16 or bfloat16 in float32: exact on the way in, rounded once on the
// way out.
func halfCodec(d dtype.DType) *codec[float32] {
	if d == dtype.Float16 {
		return codecOf(loadWith(vec.F16ToF32Row), storeWith(vec.F32ToF16Row))
	}
	return codecOf(loadWith(vec.BF16ToF32Row), storeWith(vec.F32ToBF16Row))
}

// half64Codec computes on float16 or bfloat16 in float64, rounded once on the way out.
func half64Codec(d dtype.DType) *codec[float64] {
	load, store := dtype.F16ToF32, vec.F64ToF16Row
	if d == dtype.BFloat16 {
		load, store = dtype.BF16ToF32, vec.F64ToBF16Row
	}
	return codecOf(loadWith(func(dst []float64, src []uint16) {
		for i, h := range src {
			dst[i] = float64(load(h))
		}
	}), storeWith(store))
}

// float64Codec computes on float32 in float64, rounded once on the way out.
func float64Codec() *codec[float64] {
	return codecOf(loadWith(func(dst []float64, src []float32) {
		for i, x := range src {
			dst[i] = float64(x)
		}
	}), storing[float64](dtype.Float64, dtype.Float32).store)
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
//
// A frame is aligned to a page. Rooms are aligned to lines of the cache, because a vector that crosses two takes twice as long; but not
// to pages, as large operands often are: a processor that reads one of two such places and writes the other mistakes them for one.
type frame struct {
	_     [4 * 64]byte
	rooms [10]buffer
	used  int
	more  []*buffer
}

var frames = sync.Pool{New: func() any { return new(frame) }}

// newFrame takes a frame that free gives back. Inlined, it would be in each kernel once for each type.
//
//go:noinline
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

// stretch is several buffers that lie one behind the other, of those that the frame has from the beginning.
// SAFETY: see room.
func (f *frame) stretch(n int) unsafe.Pointer {
	first := &f.rooms[f.used]
	f.used += n
	return unsafe.Pointer(first)
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

// track turns an operand into contiguous rows of at most block values, or takes such rows, in
// row-major order. Elements are gathered where they are not contiguous, and converted where they are not
// values; where both are given, it hands out the operand's own memory.
type track struct {
	walk  walk
	raw   unsafe.Pointer // room for elements as they are
	buf   unsafe.Pointer // room for values
	fixed bool           // one value throughout, already in buf
	coding
}

// open begins at element lo.
func (l *track) open(o *device.Operand, c *coding, f *frame, lo int64) {
	l.walk.startAt(o, lo)
	l.coding = *c
	if !l.walk.contiguous() {
		l.raw = f.room()
	}
	if c.read != nil || c.write != nil {
		l.buf = f.room()
	} else {
		l.buf = l.raw
	}
}

// own makes next answer copies, which nothing but the caller can change.
func (l *track) own(f *frame) {
	if l.raw != nil {
		return
	}
	l.raw = f.room()
	if l.buf == nil {
		l.buf = l.raw
	}
}

// next is the next n values, to be read before the next call.
func (l *track) next(n int64) unsafe.Pointer {
	if l.fixed {
		return l.buf
	}
	from := l.raw
	if l.raw == nil {
		from = l.walk.here()
		l.walk.skip(n)
	} else {
		l.walk.gather(l.raw, n)
	}
	if l.read == nil {
		return from
	}
	l.read(l.buf, from, n)
	return l.buf
}

// hold fills a row with the value of an operand that has only one, so that next need not.
func (l *track) hold(n int64) {
	if l.raw != nil && l.walk.constant() {
		l.next(n)
		l.fixed = true
	}
}

// space is where the next values go; keep then writes n of them to the operand.
func (l *track) space() unsafe.Pointer {
	if l.buf == nil {
		return l.walk.here()
	}
	return l.buf
}

// keep writes the row that space gave out.
// SAFETY: see slice.
func (l *track) keep(n int64) {
	switch {
	case l.raw == nil:
		if l.write != nil {
			l.write(l.walk.here(), l.buf, n)
		}
		l.walk.skip(n)
		return
	case l.write != nil:
		l.write(l.raw, l.buf, n)
	}
	l.walk.scatter(l.raw, n)
}

// lane is a track whose values are of type C.
type lane[C any] struct {
	track
	row []C // the row that space gave out
}

// open begins at element lo.
func (l *lane[C]) open(o *device.Operand, codec *codec[C], f *frame, lo int64) {
	l.track.open(o, &codec.coding, f, lo)
}

// next is the next n values, to be read before the next call.
func (l *lane[C]) next(n int64) []C { return slice[C](l.track.next(n), n) }

// space is where the next n values go; keep then writes them to the operand. It is not inlined for the reason of newFrame.
//
//go:noinline
func (l *lane[C]) space(n int64) []C {
	l.row = slice[C](l.track.space(), n)
	return l.row
}

// keep writes the row that space gave out.
func (l *lane[C]) keep() { l.track.keep(int64(len(l.row))) }

// spanOf is the memory of an operand from its lowest to its highest element, which are so far from the one with all
// indices zero.
// SAFETY: see slice; an operand's layout lies in its memory.
func spanOf[T any](o *device.Operand, low, high int64) []T {
	return slice[T](unsafe.Add(o.Addr, low*int64(unsafe.Sizeof(*new(T)))), high-low+1)
}
