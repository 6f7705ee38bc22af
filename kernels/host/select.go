package host

import (
	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// where moves bits, so that dtypes of one size share a kernel; clip compares, and has one for each dtype.
func init() {
	for _, d := range dtype.All.Members() {
		switch d.Size() {
		case 1:
			register(op.IDWhere, d, newWhere[uint8]())
		case 2:
			register(op.IDWhere, d, newWhere[uint16]())
		case 4:
			register(op.IDWhere, d, newWhere[uint32]())
		case 8:
			register(op.IDWhere, d, newWhere[uint64]())
		}
	}
	register(op.IDClip, dtype.Uint8, newClip(new(codec[uint8]), raised[uint8], lowered[uint8]))
	register(op.IDClip, dtype.Int8, newClip(new(codec[int8]), raised[int8], lowered[int8]))
	register(op.IDClip, dtype.Int16, newClip(new(codec[int16]), raised[int16], lowered[int16]))
	register(op.IDClip, dtype.Int32, newClip(new(codec[int32]), raised[int32], lowered[int32]))
	register(op.IDClip, dtype.Int64, newClip(new(codec[int64]), raised[int64], lowered[int64]))
	register(op.IDClip, dtype.Float16, newClip(halfCodec(dtype.Float16), nil, nil))
	register(op.IDClip, dtype.BFloat16, newClip(halfCodec(dtype.BFloat16), nil, nil))
	register(op.IDClip, dtype.Float32, newClip(new(codec[float32]), vec.RowsOf[float32](vec.Max).SV, vec.RowsOf[float32](vec.Min).SV))
	register(op.IDClip, dtype.Float64, newClip(new(codec[float64]), vec.RowsOf[float64](vec.Max).SV, vec.RowsOf[float64](vec.Min).SV))
}

// where is out[i] = condition[i] ? x[i] : y[i], on elements as bits of type T.
type where[T uint8 | uint16 | uint32 | uint64] struct{ mapped[T, T] }

// newWhere counts twice an addition: three operands are read.
func newWhere[T uint8 | uint16 | uint32 | uint64]() kernel { return &where[T]{plain[T, T](2)} }

// run splits the elements over the threads.
func (k *where[T]) run(t *threads, c *device.Call) error { return k.elements(k, t, c) }

// part computes elements lo to hi-1 through lanes.
func (k *where[T]) part(c *device.Call, lo, hi int64) error {
	var store [4]device.Operand
	out, in := arranged(c, store[:0])
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

// choose takes dst[i] from a where the condition is not 0, else from b.
func choose[T uint8 | uint16 | uint32 | uint64](dst []T, condition []uint8, a, b []T) {
	a, b, dst = a[:len(condition)], b[:len(condition)], dst[:len(condition)]
	for i, holds := range condition {
		x, y := a[i], b[i] // both, so that there is no branch to mispredict
		if holds == 0 {
			x = y
		}
		dst[i] = x
	}
}

// clip is out[i] = min(max(x[i], low[i]), high[i]).
type clip[T number] struct {
	mapped[T, T]
	raise func(dst []T, low T, src []T)  // max of a bound and a row, of equals the element; nil: see clamp
	lower func(dst []T, high T, src []T) // min likewise
}

// newClip makes a kernel that reads and writes through one codec.
func newClip[T number](c *codec[T], raise, lower func(dst []T, bound T, src []T)) kernel {
	return &clip[T]{mapping(c, c, 2), raise, lower}
}

// run splits the elements over the threads.
func (k *clip[T]) run(t *threads, c *device.Call) error { return k.elements(k, t, c) }

// part computes elements lo to hi-1: on memory itself where there are vectors for that, and both bounds are one value
// that is no nan, else through lanes. Bounds of one value are read once.
func (k *clip[T]) part(c *device.Call, lo, hi int64) error {
	if k.raise != nil && c.Out[0].IsContiguous() && c.In[0].IsContiguous() && isScalar(&c.In[1]) && isScalar(&c.In[2]) {
		low, high := rowAt[T](&c.In[1], 0, 1)[0], rowAt[T](&c.In[2], 0, 1)[0]
		if low == low && high == high {
			// Two passes over a block, which stays in the cache between them.
			for ; lo < hi; lo += block {
				end := min(lo+block, hi)
				dst := rowAt[T](&c.Out[0], lo, end)
				k.raise(dst, low, rowAt[T](&c.In[0], lo, end))
				k.lower(dst, high, dst)
			}
			return nil
		}
	}
	var store [4]device.Operand
	out, in := arranged(c, store[:0])
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
