package host

import (
	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
)

// extremes is cummax or cummin: the largest or smallest element up to each along an axis, and where it is. Of equals
// it is the last, and a nan is both the largest and the smallest.
//
// Elements are compared as the keys that sort has, so that one kernel serves all dtypes of one width, and nan needs no
// test of its own. Indices are int64 or int32, as the attribute dtype says.
type extremes[K key] struct {
	order    *order[K]
	smallest int // 1 for cummin
}

// cost takes an element for eight additions: it is compared and written with its place.
func (k *extremes[K]) cost(c *device.Call) int64    { return 8 * c.Out[0].Numel() }
func (k *extremes[K]) workspace(*device.Call) int64 { return 0 }

// run gives each thread whole lines, as the other scans do.
func (k *extremes[K]) run(t *threads, c *device.Call) error {
	length := lengthAlong(c)
	return t.each(k, c, c.Out[0].Numel()/length, k.cost(c))
}

// part scans lines lo to hi-1.
func (k *extremes[K]) part(c *device.Call, lo, hi int64) error {
	indices := new(codec[int64])
	if c.Out[1].DType == dtype.Int32 {
		indices = storing[int64](dtype.Int64, dtype.Int32)
	}
	all := newLineSet(c, lo)
	for ; lo < hi; lo++ {
		k.line(&all, indices, lengthAlong(c))
		all.next()
	}
	return nil
}

// best is the element of the last so far that no other is before, as its key; rank is what it is compared by.
type best[K key] struct {
	rank, key K
	at        int64
}

// line scans a line of n elements, by blocks that are read before they are written.
//
// For cummin keys are in the opposite order, in which that of nan is 0; one less, it is the largest again.
func (k *extremes[K]) line(all *lineSet, indices *codec[int64], n int64) {
	f := newFrame()
	defer f.free()
	var from, to lane[K]
	var where lane[int64]
	from.open(&all[0].along, k.order.codec[k.smallest], f, 0)
	to.open(&all[1].along, k.order.codec[k.smallest], f, 0)
	where.open(&all[2].along, indices, f, 0)
	zero, negative, less := k.order.zero[k.smallest], k.order.negative[k.smallest], K(0)
	if k.order.float {
		less = K(k.smallest)
	}
	var found best[K]
	for at := int64(0); at < n; at += block {
		m := min(block, n-at)
		keys, values, places := from.next(m), to.space(m), where.space(m)
		for i, key := range keys {
			rank := key
			if key == negative && k.order.float {
				rank = zero
			}
			if rank -= less; rank >= found.rank {
				found = best[K]{rank, key, at + int64(i)}
			}
			values[i], places[i] = found.key, found.at
		}
		to.keep()
		where.keep()
	}
}
