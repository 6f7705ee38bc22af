package host

import (
	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
)

func init() {
	for _, d := range dtype.All.Members() {
		switch d.Size() {
		case 1:
			register("where", d, newWhere[uint8]())
		case 2:
			register("where", d, newWhere[uint16]())
		case 4:
			register("where", d, newWhere[uint32]())
		case 8:
			register("where", d, newWhere[uint64]())
		}
	}
	register("clip", dtype.Uint8, newClip(new(codec[uint8])))
	register("clip", dtype.Int8, newClip(new(codec[int8])))
	register("clip", dtype.Int16, newClip(new(codec[int16])))
	register("clip", dtype.Int32, newClip(new(codec[int32])))
	register("clip", dtype.Int64, newClip(new(codec[int64])))
	register("clip", dtype.Float16, newClip(halfCodec(dtype.Float16)))
	register("clip", dtype.BFloat16, newClip(halfCodec(dtype.BFloat16)))
	register("clip", dtype.Float32, newClip(new(codec[float32])))
	register("clip", dtype.Float64, newClip(new(codec[float64])))
}

// where is out[i] = condition[i] ? x[i] : y[i], on elements as bits of type T.
type where[T any] struct{ mapped[T, T] }

func newWhere[T any]() kernel { return &where[T]{plain[T, T](2)} }

func (k *where[T]) run(t *threads, c *device.Call) error { return k.elements(k, t, c) }

func (k *where[T]) part(c *device.Call, lo, hi int64) error {
	var store [4]device.Operand
	out, in := arranged(c, &store)
	f := newFrame()
	defer f.free()
	var to, left, right lane[T]
	var condition lane[uint8]
	to.open(out, k.out, f, lo)
	condition.open(&in[0], &bytes, f, lo)
	left.open(&in[1], k.in, f, lo)
	right.open(&in[2], k.in, f, lo)
	left.hold(min(block, hi-lo))
	right.hold(min(block, hi-lo))
	for lo < hi {
		n := min(block, hi-lo)
		choose(to.space(n), condition.next(n), left.next(n), right.next(n))
		to.keep()
		lo += n
	}
	return nil
}

// bytes reads and writes elements of one byte as they are.
var bytes codec[uint8]

func choose[T any](dst []T, condition []uint8, a, b []T) {
	a, b, dst = a[:len(condition)], b[:len(condition)], dst[:len(condition)]
	for i, holds := range condition {
		v := b[i]
		if holds != 0 {
			v = a[i]
		}
		dst[i] = v
	}
}

// clip is out[i] = min(max(x[i], low[i]), high[i]).
type clip[T number] struct{ mapped[T, T] }

func newClip[T number](c *codec[T]) kernel { return &clip[T]{mapping(c, c, 2)} }

func (k *clip[T]) run(t *threads, c *device.Call) error { return k.elements(k, t, c) }

func (k *clip[T]) part(c *device.Call, lo, hi int64) error {
	var store [4]device.Operand
	out, in := arranged(c, &store)
	f := newFrame()
	defer f.free()
	var to lane[T]
	var from [3]lane[T]
	to.open(out, k.out, f, lo)
	for i := range from {
		from[i].open(&in[i], k.in, f, lo)
		from[i].hold(min(block, hi-lo))
	}
	for lo < hi {
		n := min(block, hi-lo)
		clamp(to.space(n), from[0].next(n), from[1].next(n), from[2].next(n))
		to.keep()
		lo += n
	}
	return nil
}

// clamp moves values to the nearest bound; a nan stays, and a bound of nan bounds nothing.
func clamp[T number](dst, src, low, high []T) {
	dst, low, high = dst[:len(src)], low[:len(src)], high[:len(src)]
	for i, v := range src {
		if v < low[i] {
			v = low[i]
		}
		if v > high[i] {
			v = high[i]
		}
		dst[i] = v
	}
}
