package reduce

import (
	"math"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/host/elem"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
	"github.com/paddle-mps/paddle-mps/kernels/host/order"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/reduction"
)

// search is argmax or argmin: the place of the first element that no other is better than. nan is passed over: every other
// element is better.
//
// Elements are compared as ranks, unsigned numbers, of which the larger is the better one: those of nan are 0. So one
// kernel serves both directions and all dtypes whose sort keys have one width. Rows of numbers of 32 and 64 bits are compared as
// they are, those of float32 by vectors.
type search struct {
	ranks ranks
	// row goes on with the search in n elements, of which the first has a number. Functions have a room for a block of keys.
	row func(r *ranks, room unsafe.Pointer, best *leader, x unsafe.Pointer, n, at int64)
	// clear makes accumulators of columns that have seen no element, and beside goes on with element at of each of n
	// columns. Values of accumulators have as many bytes as the key of an element.
	clear  func(values unsafe.Pointer, n int64)
	beside func(r *ranks, room, values unsafe.Pointer, at []int32, x unsafe.Pointer, index int32)
}

// leader is the best of the elements so far: its rank, 0 before the first that is no nan, and its number.
type leader struct {
	rank uint64
	at   int64
}

// ranks says how elements are ranked.
type ranks struct {
	size     int64 // bytes of an element
	key      int64 // bytes of a key
	smallest int   // 1 for argmin
	flip     uint32
	narrow   *order.Order[uint32]
	wide     *order.Order[uint64]
}

// registerSearches adds argmax and argmin of all dtypes.
func registerSearches() {
	for smallest, id := range [...]op.ID{op.IDArgmax, op.IDArgmin} {
		for d, o := range order.NarrowOrders {
			r := ranks{size: d.Size(), key: 4, smallest: smallest, flip: uint32(smallest) * vec.Descending, narrow: o}
			switch d {
			case dtype.Bool: // no dtype of a search
			case dtype.Float32:
				engine.Register(id, d, &search{r, floatRow, floatClear, floatBeside})
			default:
				engine.Register(id, d, &search{r, searchRow(d, keyRow[uint32]), keyClear[uint32], keyBeside[uint32]})
			}
		}
		for d, o := range order.WideOrders {
			r := ranks{size: d.Size(), key: 8, smallest: smallest, wide: o}
			engine.Register(id, d, &search{r, searchRow(d, keyRow[uint64]), keyClear[uint64], keyBeside[uint64]})
		}
	}
}

// Cost counts the input: every element is compared once.
func (k *search) Cost(c *device.Call) int64 { return c.In[0].Numel() }

// Workspace is that of the leaders of pieces where threads divide outputs.
func (k *search) Workspace(c *device.Call) int64 {
	return DivisionOf(c, LongPiece).units * int64(unsafe.Sizeof(leader{}))
}

// Run splits the work by outputs, or within them where there are few, as that of reductions is.
func (k *search) Run(t *engine.Threads, c *device.Call) error {
	d := DivisionOf(c, LongPiece)
	if c.Workspace == nil || d.length == 0 {
		return t.Each(k, c, c.Out[0].Numel(), k.Cost(c))
	}
	if err := t.Each((*dividedSearch)(k), c, d.units, k.Cost(c)); err != nil {
		return err
	}
	f := engine.NewFrame()
	defer f.Free()
	to := searchedTo(c, f, 0)
	leaders := engine.Slice[leader](c.Workspace, d.units)
	for ; len(leaders) > 0; leaders = leaders[d.Pieces:] {
		var best leader
		for _, l := range leaders[:d.Pieces] { // of equals the first
			if l.rank > best.rank {
				best = l
			}
		}
		to.Space(1)[0] = best.at
		to.Keep()
	}
	return nil
}

// dividedSearch searches pieces of the outputs of a search.
type dividedSearch search

// Part searches pieces lo to hi-1, counted through all outputs.
// SAFETY: the workspace has room for the leaders of all pieces.
func (k *dividedSearch) Part(c *device.Call, lo, hi int64) error {
	d, f := DivisionOf(c, LongPiece), engine.NewFrame()
	defer f.Free()
	var in Traversal
	in.Begin(c, lo/d.Pieces)
	var inner engine.Walk
	inner.Begin(nil, in.Outer.Size, &in.reduced)
	leaders, raw, keys := engine.Slice[leader](c.Workspace, d.units), f.Room(), f.Room()
	for ; lo < hi; lo++ {
		at := lo % d.Pieces * d.length
		inner.Base = in.Outer.Here()
		inner.SeekTo(at)
		leaders[lo] = leader{}
		(*search)(k).line(&leaders[lo], &inner, raw, keys, min(d.length, d.count-at), at)
		if (lo+1)%d.Pieces == 0 {
			in.Outer.Skip(1)
		}
	}
	return nil
}

// searchedTo is where places are written, from output lo on.
func searchedTo(c *device.Call, f *engine.Frame, lo int64) (to engine.Lane[int64]) {
	out := new(engine.Codec[int64])
	if c.Out[0].DType == dtype.Int32 {
		out = elem.Storing[int64](dtype.Int64, dtype.Int32)
	}
	to.Open(&c.Out[0], out, f, lo)
	return to
}

// Part computes outputs lo to hi-1, by rows or by columns.
func (k *search) Part(c *device.Call, lo, hi int64) error {
	var in Traversal
	in.Begin(c, lo)
	f := engine.NewFrame()
	defer f.Free()
	to := searchedTo(c, f, lo)
	if in.sideways && in.reduced.Numel() <= math.MaxInt32 {
		k.columns(&to, &in, f, hi-lo)
	} else {
		k.rows(&to, &in, f, hi-lo)
	}
	return nil
}

// line goes on with the search in the next n elements of a walk, of which the first has a number. Elements that do not lie behind each
// other are gathered by blocks.
func (k *search) line(best *leader, inner *engine.Walk, raw, keys unsafe.Pointer, n, at int64) {
	if inner.Contiguous() {
		k.row(&k.ranks, keys, best, inner.Here(), n, at)
		return
	}
	for n > 0 {
		m := min(engine.Block, n)
		inner.Gather(raw, m)
		k.row(&k.ranks, keys, best, raw, m, at)
		at, n = at+m, n-m
	}
}

// rows computes n outputs one after the other.
func (k *search) rows(to *engine.Lane[int64], in *Traversal, f *engine.Frame, n int64) {
	outer, count := &in.Outer, in.reduced.Numel()
	var inner engine.Walk
	inner.Begin(nil, outer.Size, &in.reduced)
	raw, keys := f.Room(), f.Room()
	for range n {
		var best leader
		if count > 0 { // else there may be no memory
			inner.Base = outer.Here()
			k.line(&best, &inner, raw, keys, count, 0)
		}
		outer.Skip(1)
		to.Space(1)[0] = best.at
		to.Keep()
	}
}

// searchedColumns is how many columns are searched beside each other: their accumulators fill the rooms of a frame.
const searchedColumns = 4 * engine.Block

// columns computes n outputs in runs of neighbours, going through the reduced elements once a run.
// SAFETY: see walk.here; the rooms are the frame's.
func (k *search) columns(to *engine.Lane[int64], in *Traversal, f *engine.Frame, n int64) {
	outer, count := &in.Outer, in.reduced.Numel()
	values, numbers, raw := f.Stretch(4), engine.Slice[int32](f.Stretch(2), searchedColumns), f.Room()
	keys := f.Room()
	var inner engine.Walk
	inner.Begin(nil, outer.Size, &in.reduced)
	step, most := outer.Strides[outer.Rank-1], int64(searchedColumns)
	if step != outer.Size {
		most = engine.Block
	}
	for n > 0 {
		m := min(outer.Run(n), most)
		at := numbers[:m]
		clear(at)
		k.clear(values, m)
		for i := range count {
			from := unsafe.Add(outer.Here(), inner.Offset)
			inner.Skip(1)
			if step != outer.Size {
				engine.MoveStrided(raw, from, outer.Size, step, outer.Size, m)
				from = raw
			}
			k.beside(&k.ranks, keys, values, at, from, int32(i))
		}
		for done := int64(0); done < m; done += engine.Block {
			some := at[done:min(done+engine.Block, m)]
			dst := to.Space(int64(len(some)))
			for i, number := range some {
				dst[i] = int64(number)
			}
			to.Keep()
		}
		outer.Skip(m)
		n -= m
	}
}

// ranked makes ranks of contiguous elements.
// SAFETY: x has as many elements as dst.
func ranked[K order.Key](r *ranks, dst []K, x unsafe.Pointer) {
	o, ok := any(r.narrow).(*order.Order[K])
	if !ok {
		o = any(r.wide).(*order.Order[K])
	}
	o.Codec[r.smallest].Load(dst, x)
	if !o.Float {
		return
	}
	// The key of nan is the largest of the width of an element, or 0 in the opposite order; that of -0 is not that of 0.
	zero, negative, more := o.Zero[r.smallest], o.Negative[r.smallest], K(1-r.smallest)
	all := ^K(0) >> (8 * (r.key - r.size))
	for i, k := range dst {
		if k == negative {
			k = zero
		}
		dst[i] = (k + more) & all
	}
}

// keyRow is search.row on keys, a block of which fits the room.
// SAFETY: see ranked; the room is the frame's.
func keyRow[K order.Key](r *ranks, room unsafe.Pointer, best *leader, x unsafe.Pointer, n, at int64) {
	for n > 0 {
		keys := engine.Slice[K](room, min(n, engine.Block))
		ranked(r, keys, x)
		top, place := K(best.rank), -1
		for i, k := range keys {
			if k > top {
				top, place = k, i
			}
		}
		if place >= 0 {
			*best = leader{uint64(top), at + int64(place)}
		}
		m := int64(len(keys))
		at, n = at+m, n-m
		if n > 0 {
			x = unsafe.Add(x, m*r.size)
		}
	}
}

// keyClear is search.clear for keys: 0 is the rank of nan, which no other is below.
func keyClear[K order.Key](values unsafe.Pointer, n int64) { clear(engine.Slice[K](values, n)) }

// keyBeside is search.beside on keys. Of random numbers few become the best of their column after the first rows, so that
// the branch is predicted.
// SAFETY: see keyRow.
func keyBeside[K order.Key](r *ranks, room, values unsafe.Pointer, at []int32, x unsafe.Pointer, index int32) {
	best := engine.Slice[K](values, int64(len(at)))
	for len(at) > 0 {
		keys := engine.Slice[K](room, min(int64(len(at)), engine.Block))
		ranked(r, keys, x)
		tops, numbers := best[:len(keys)], at[:len(keys)]
		for i, k := range keys {
			if k > tops[i] {
				tops[i], numbers[i] = k, index
			}
		}
		best, at = best[len(keys):], at[len(keys):]
		if len(at) > 0 {
			x = unsafe.Add(x, int64(len(keys))*r.size)
		}
	}
}

// Passed is how many elements are looked at before their place is looked for: they stay in the first-level cache.
const Passed = 4096

// floatRow is search.row for float32. Of random numbers the best so far changes with the logarithm of their number, so
// that in nearly all parts no place is looked for.
func floatRow(r *ranks, _ unsafe.Pointer, best *leader, x unsafe.Pointer, n, at int64) {
	for row := engine.Slice[float32](x, n); len(row) > 0; {
		part := row[:min(len(row), Passed)]
		top, from := reduction.Largest(part, r.flip)
		if rank := rankOf(top); rank > best.rank {
			if i := reduction.Find(part[from:], top, r.flip); i >= 0 { // else there is only nan
				*best = leader{rank, at + int64(from+i)}
			}
		}
		row, at = row[len(part):], at+int64(len(part))
	}
}

// rankOf is the rank of a float32 that is no nan, in ascending order. Zeros have one rank.
func rankOf(x float32) uint64 {
	bits := math.Float32bits(x)
	switch {
	case x == 0:
		return 1 << 31
	case bits>>31 != 0:
		return uint64(^bits)
	}
	return uint64(bits | 1<<31)
}

// searchRow is search.row of a dtype, otherwise if it has 8 or 16 bits.
func searchRow(d dtype.DType, otherwise func(*ranks, unsafe.Pointer, *leader, unsafe.Pointer, int64, int64)) func(*ranks, unsafe.Pointer, *leader, unsafe.Pointer, int64, int64) {
	switch d {
	case dtype.Int32:
		return numberRow[int32]
	case dtype.Int64:
		return numberRow[int64]
	case dtype.Float64:
		return numberRow[float64]
	}
	return otherwise
}

// numberRow is search.row on elements as they are, in parts as floatRow. A part with a nan is looked at one by one.
//
// The smallest integer has the rank of nothing, and the first of a row of nothing else is the answer too.
func numberRow[T int32 | int64 | float64](r *ranks, _ unsafe.Pointer, best *leader, x unsafe.Pointer, n, at int64) {
	fold, flip := largestOf[T], uint64(0)
	if r.smallest == 1 {
		fold, flip = smallestOf[T], ^flip
	}
	for row := engine.Slice[T](x, n); len(row) > 0; {
		part := row[:min(len(row), Passed)]
		top := fold(part[0], part)
		if top != top {
			for i, v := range part {
				if rank := rankOfNumber(v) ^ flip; v == v && rank > best.rank {
					*best = leader{rank, at + int64(i)}
				}
			}
		} else if rank := rankOfNumber(top) ^ flip; rank > best.rank {
			// Another thread may change elements meanwhile, so that none equals the best.
			for i, v := range part {
				if v == top {
					*best = leader{rank, at + int64(i)}
					break
				}
			}
		}
		row, at = row[len(part):], at+int64(len(part))
	}
}

// rankOfNumber is the rank of an element that is no nan, in ascending order. Zeros have one rank.
func rankOfNumber[T int32 | int64 | float64](x T) uint64 {
	v, ok := any(x).(float64)
	if !ok {
		return uint64(int64(x)) ^ 1<<63
	}
	bits := math.Float64bits(v)
	switch {
	case v == 0:
		return 1 << 63
	case bits>>63 != 0:
		return ^bits
	}
	return bits | 1<<63
}

// floatClear is search.clear for float32: every element is better than nan.
func floatClear(values unsafe.Pointer, n int64) {
	best := engine.Slice[float32](values, n)
	for i := range best {
		best[i] = float32(math.NaN())
	}
}

// floatBeside is search.beside for float32, whose accumulators hold the elements themselves and not their ranks.
func floatBeside(r *ranks, _, values unsafe.Pointer, at []int32, x unsafe.Pointer, index int32) {
	n := int64(len(at))
	reduction.ArgColumns(engine.Slice[float32](values, n), at, engine.Slice[float32](x, n), r.flip, index)
}
