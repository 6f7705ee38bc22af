package sort

import (
	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/kernels/host/elem"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
	"github.com/paddle-mps/paddle-mps/kernels/host/order"
)

// extremes is cummax or cummin: the largest or smallest element up to each along an axis, and where it is. Of equals
// it is the last, and a nan is both the largest and the smallest.
//
// Elements are compared as the keys that sort has, so that one kernel serves all dtypes of one width, and nan needs no
// test of its own. Indices are int64 or int32, as the attribute dtype says.
type extremes[K order.Key] struct {
	order    *order.Order[K]
	smallest int // 1 for cummin
}

// Cost takes an element for eight additions: it is compared and written with its place.
func (k *extremes[K]) Cost(c *device.Call) int64    { return 8 * c.Out[0].Numel() }
func (k *extremes[K]) Workspace(*device.Call) int64 { return 0 }

// Run gives each thread whole lines, as the other scans do.
func (k *extremes[K]) Run(t *engine.Threads, c *device.Call) error {
	length := engine.LengthAlong(c)
	return t.Each(k, c, c.Out[0].Numel()/length, k.Cost(c))
}

// Part scans lines lo to hi-1.
func (k *extremes[K]) Part(c *device.Call, lo, hi int64) error {
	indices := new(engine.Codec[int64])
	if c.Out[1].DType == dtype.Int32 {
		indices = elem.Storing[int64](dtype.Int64, dtype.Int32)
	}
	all := newLineSet(c, lo)
	for ; lo < hi; lo++ {
		k.line(&all, indices, engine.LengthAlong(c))
		all.next()
	}
	return nil
}

// best is the element of the last so far that no other is before, as its key; rank is what it is compared by.
type best[K order.Key] struct {
	rank, key K
	at        int64
}

// line scans a line of n elements, by blocks that are read before they are written.
//
// For cummin keys are in the opposite order, in which that of nan is 0; one less, it is the largest again.
func (k *extremes[K]) line(all *lineSet, indices *engine.Codec[int64], n int64) {
	f := engine.NewFrame()
	defer f.Free()
	var from, to engine.Lane[K]
	var where engine.Lane[int64]
	from.Open(&all[0].Along, k.order.Codec[k.smallest], f, 0)
	to.Open(&all[1].Along, k.order.Codec[k.smallest], f, 0)
	where.Open(&all[2].Along, indices, f, 0)
	zero, negative, less := k.order.Zero[k.smallest], k.order.Negative[k.smallest], K(0)
	if k.order.Float {
		less = K(k.smallest)
	}
	var found best[K]
	for at := int64(0); at < n; at += engine.Block {
		m := min(engine.Block, n-at)
		keys, values, places := from.Next(m), to.Space(m), where.Space(m)
		for i, key := range keys {
			rank := key
			if key == negative && k.order.Float {
				rank = zero
			}
			if rank -= less; rank >= found.rank {
				found = best[K]{rank, key, at + int64(i)}
			}
			values[i], places[i] = found.key, found.at
		}
		to.Keep()
		where.Keep()
	}
}
