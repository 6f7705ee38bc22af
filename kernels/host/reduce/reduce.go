// Package reduce holds the reductions: sums, products, means, extremes, any, all, counts, and the places of extremes.
//
// A [Reduction] folds the elements of each output into an accumulator, in segments of a fixed length whose accumulators are joined in
// order: the bits of a result do not depend on the number of threads.
package reduce

import (
	"sync"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
)

// Reduction folds the elements along some axes into an accumulator for each element of the output. It knows values,
// accumulators and results by their addresses, so that it is compiled once and not for each combination of types.
type Reduction struct {
	In, Out engine.Coding
	Size    int64     // bytes of an accumulator
	zero    [2]uint64 // what an accumulator begins with, in its first bytes
	// fold folds rows of length values, each a step behind the one before, into n accumulators, one for each row.
	fold func(as, from unsafe.Pointer, n, step, length int64)
	// beside folds a value into each of n neighbouring accumulators.
	beside  func(as, row unsafe.Pointer, n int64)
	stack   stacking
	lines   lining
	long    lining
	wide    bool                                         // stack reads accumulators once for several rows: they need no first-level cache
	joining                                              // see register in segments.go
	divided divided                                      // what threads do of few outputs
	results func(dst, as unsafe.Pointer, n, count int64) // of n accumulators of count elements each
}

// folding is the arithmetic of a reduction with accumulators of type A. Elements are computed with as C and results as D. The
// elements of one output are in row-major order of the reduced axes.
type folding[D, A, C any] struct {
	zero    A
	fold    func(a A, row []C) A
	beside  func(as []A, row []C) // an element of each of neighbouring outputs; not called where there is stack
	stack   stacking
	lines   lining
	long    lining
	wide    bool
	results func(dst []D, as []A, count int64) // of accumulators of count elements each
}

// stacking is reduction.beside for count rows, each a stride of elements behind the one before. Where there is one, it folds
// rows that lie in memory as values without a call for each.
type stacking func(as, rows unsafe.Pointer, n int64, stride, count int)

// lining folds all elements of each of n outputs, length in a row of memory, the next row a stride on. Where there is one, it
// folds short rows of float32; as long, rows of any length, for which fold would be called one by one.
type lining func(as, from unsafe.Pointer, n, stride, length int64)

// reduce registers a reduction whose output has one dtype.
//
// The functions of f are variables of their own: the closures would otherwise capture f, and each type of it would need a
// descriptor.
//
// SAFETY: see slice; an accumulator has 16 bytes at most and holds no pointers.
func reduce[D, A, C any](id op.ID, d dtype.DType, in *engine.Codec[C], out *engine.Codec[D], f folding[D, A, C]) {
	k := &Reduction{In: in.Coding, Out: out.Coding, Size: int64(unsafe.Sizeof(f.zero)), stack: f.stack, lines: f.lines, long: f.long, wide: f.wide}
	*(*A)(unsafe.Pointer(&k.zero)) = f.zero
	fold, beside, results := f.fold, f.beside, f.results
	k.fold = func(as, from unsafe.Pointer, n, step, length int64) {
		all := engine.Slice[A](as, n)
		for i := range all {
			all[i] = fold(all[i], engine.Slice[C](unsafe.Add(from, int64(i)*step), length))
		}
	}
	k.beside = func(as, row unsafe.Pointer, n int64) { beside(engine.Slice[A](as, n), engine.Slice[C](row, n)) }
	k.results = func(dst, as unsafe.Pointer, n, count int64) {
		results(engine.Slice[D](dst, n), engine.Slice[A](as, n), count)
	}
	k.divided.Reduction = k
	k.register(id, d)
}

// stackOf makes a stacking of a function of rows.
// SAFETY: see slice.
func stackOf[A, C any](f func(as []A, rows []C, stride, count int)) stacking {
	return func(as, rows unsafe.Pointer, n int64, stride, count int) {
		f(engine.Slice[A](as, n), engine.Slice[C](rows, int64(count-1)*int64(stride)+n), stride, count)
	}
}

// Cost counts the input: every element is folded once.
func (k *Reduction) Cost(c *device.Call) int64 { return c.In[0].Numel() }

// Workspace is that of accumulators where threads divide outputs.
func (k *Reduction) Workspace(c *device.Call) int64 {
	if d := k.dividing(c); d.length > 0 {
		return d.units * k.Size
	}
	return 0
}

// Run splits the work by outputs, or within them where there are few.
func (k *Reduction) Run(t *engine.Threads, c *device.Call) error {
	if c.Workspace != nil {
		if d := k.dividing(c); d.length > 0 {
			if err := t.Each(&k.divided, c, d.units, k.Cost(c)); err != nil {
				return err
			}
			k.finish(c, &d)
			return nil
		}
	}
	return t.Each(k, c, c.Out[0].Numel(), k.Cost(c))
}

// axesOf parts the axes of a call's input into those that are kept, which the output walks, and
// those that are reduced. Axes of one element are neither.
func axesOf(c *device.Call) (kept, reduced shape.Layout) {
	x := &c.In[0]
	for i := range x.Rank {
		part := &kept
		if c.Axes.Has(i) {
			part = &reduced
		}
		if x.Dims[i] != 1 {
			part.Append(x.Dims[i])
			part.Strides[part.Rank-1] = x.Strides[i]
		}
	}
	return kept, reduced
}

// Part computes outputs lo to hi-1, by rows or by columns, whichever walks memory in order.
func (k *Reduction) Part(c *device.Call, lo, hi int64) error {
	var in Traversal
	in.Begin(c, lo)
	f := engine.NewFrame()
	defer f.Free()
	var to engine.Track
	to.Open(&c.Out[0], &k.Out, f, lo)
	k.Outputs(&to, &in, f, hi-lo)
	return nil
}

// Outputs computes the next n outputs.
func (k *Reduction) Outputs(to *engine.Track, in *Traversal, f *engine.Frame, n int64) {
	if in.sideways {
		k.columns(to, in, f, n)
	} else {
		k.rows(to, in, f, n)
	}
}

// Traversal is the way of a reduction through its input: outer stands where the elements of the next output begin, and
// reduced is how they lie from there.
type Traversal struct {
	Outer    engine.Walk
	reduced  shape.Layout
	dtype    dtype.DType
	sideways bool // neighbouring outputs are computed together
	inLine   bool // the elements of an output lie one behind the other
	lined    bool // and those of the next ones behind them, all of float32
}

// Begin puts the passage in front of output lo.
func (p *Traversal) Begin(c *device.Call, lo int64) {
	kept, reduced := axesOf(c)
	p.reduced, p.dtype, p.sideways = reduced, c.In[0].DType, sideways(&kept, &reduced)
	p.inLine = reduced.IsContiguous()
	p.lined = p.inLine && p.dtype == dtype.Float32 && kept.Rank > 0 && kept.Strides[kept.Rank-1] > 0
	p.Outer.Begin(c.In[0].Addr, c.In[0].DType.Size(), &kept)
	p.Outer.SeekTo(lo)
}

// A row costs about as much to set out for as 50 additions, whatever its length: a walk to its first element, a call to
// fold it and one for its result. Gathering elements that lie a stride apart costs an addition or two each, and folding
// neighbours beside each other one, so that short rows are columns too.

// sideways reports whether neighbouring outputs lie closer together than the elements of one, or one has few elements.
func sideways(kept, reduced *shape.Layout) bool {
	if kept.Rank == 0 || reduced.Rank == 0 {
		return false
	}
	const short = 32 // elements that cost less to gather beside each other than a row by itself
	return kept.Dims[kept.Rank-1] >= 8 &&
		(reduced.Numel() <= short || engine.Abs(kept.Strides[kept.Rank-1]) < engine.Abs(reduced.Strides[reduced.Rank-1]))
}

// rows computes n outputs one after the other, each from rows of its own elements. Where these lie in memory as values, all
// outputs that one stride reaches are folded by one call, unless they are long and their order counts.
// SAFETY: see walk.here; the rooms are the frame's, and accumulators hold no pointers.
func (k *Reduction) rows(to *engine.Track, in *Traversal, f *engine.Frame, n int64) {
	outer, count := &in.Outer, in.reduced.Numel()
	as, most := f.Room(), k.most()
	direct, long := in.inLine && k.In.Read == nil, k.inOrder && count > Segment
	var from engine.Track
	var parts unsafe.Pointer
	if !direct || long {
		operand := device.Operand{Addr: outer.Base, DType: in.dtype, Layout: in.reduced}
		from.Open(&operand, &k.In, f, 0)
		parts = f.Room()
	}
	for n > 0 {
		m := min(outer.Run(n), most)
		k.begin(as, m)
		switch {
		case count == 0: // there is no memory
			outer.Skip(m)
		case direct && !long:
			k.foldRows(as, outer.Here(), m, outer.Strides[outer.Rank-1], count)
			outer.Skip(m)
		default:
			for i := range m {
				from.Walk.Base = outer.Here()
				if a := unsafe.Add(as, i*k.Size); long {
					k.foldLong(a, parts, &from, count)
				} else {
					k.foldBlocks(a, &from, count)
				}
				outer.Skip(1)
			}
		}
		k.results(to.Space(), as, m, count)
		to.Keep(m)
		n -= m
	}
}

// foldRows is fold for rows that lie in memory as values; by one call where none begins before the one before it ends.
// SAFETY: see rows.
func (k *Reduction) foldRows(as, from unsafe.Pointer, n, step, length int64) {
	if k.long != nil && n > 1 && step >= 4*length {
		k.long(as, from, n, step/4, length)
	} else {
		k.fold(as, from, n, step, length)
	}
}

// most is how many accumulators fit into a room, a block of results at most.
func (k *Reduction) most() int64 {
	return min(engine.Block, int64(unsafe.Sizeof(engine.Buffer{}))/k.Size)
}

// begin puts n accumulators in front of their first element.
// SAFETY: see rows; zero has the bytes of an accumulator.
func (k *Reduction) begin(as unsafe.Pointer, n int64) {
	engine.MoveStrided(as, unsafe.Pointer(&k.zero), k.Size, 0, k.Size, n)
}

// foldBlocks folds the next count values into one accumulator.
func (k *Reduction) foldBlocks(a unsafe.Pointer, from *engine.Track, count int64) {
	for count > 0 {
		m := min(engine.Block, count)
		k.fold(a, from.Next(m), 1, 0, m)
		count -= m
	}
}

// wideRooms are accumulators of many columns, a quarter of a usual second-level cache.
var wideRooms sync.Pool

// WideBuffers is the number of buffers of a wide room.
const WideBuffers = 64

// columns computes n outputs in runs of neighbours, going through the reduced elements once a run.
//
// Rows of a run that lie in memory as values go to stack at once, as many as one stride reaches; a negative stride is left to
// row, because the first row is then not where the memory of all begins. Each output is folded from its first element to its
// last in either way, so that it does not depend on where runs begin, which depends on the number of threads.
//
// SAFETY: see rows.
func (k *Reduction) columns(to *engine.Track, in *Traversal, f *engine.Frame, n int64) {
	outer, count := &in.Outer, in.reduced.Numel()
	// Runs are long, so that the rows of one are read in order for longer than a prefetcher takes to see it.
	const buffers = 4
	most := buffers * int64(unsafe.Sizeof(engine.Buffer{})) / k.Size
	as, raw, values := f.Stretch(buffers), f.Room(), f.Room()
	if k.wide && n > most {
		held := engine.RoomOf[engine.Buffer](&wideRooms, WideBuffers)
		defer wideRooms.Put(held)
		as, most = unsafe.Pointer(&(*held)[0]), min(n, WideBuffers*int64(unsafe.Sizeof(engine.Buffer{}))/k.Size)
	}
	var inner engine.Walk
	inner.Begin(nil, outer.Size, &in.reduced)
	step := outer.Strides[outer.Rank-1]
	direct := k.In.Read == nil && step == outer.Size
	stacked := direct && k.stack != nil && inner.Strides[inner.Rank-1] >= 0
	if !direct {
		most = min(most, engine.Block)
	}
	for n > 0 {
		m := min(outer.Run(n), most)
		k.begin(as, m)
		at := int64(0)
		if in.lined && k.lines != nil && count > 0 { // rows without elements may have no memory
			k.lines(as, outer.Here(), m, step/outer.Size, count)
			at = count
		}
		for at < count {
			from, rows := unsafe.Add(outer.Here(), inner.Offset), int64(1)
			if stacked {
				rows = inner.Run(count - at)
				k.stack(as, from, m, int(inner.Strides[inner.Rank-1]/outer.Size), int(rows))
			} else {
				k.row(as, from, m, step, outer.Size, raw, values)
			}
			inner.Skip(rows)
			at += rows
		}
		for done := int64(0); done < m; done += engine.Block {
			some := min(engine.Block, m-done)
			k.results(to.Space(), unsafe.Add(as, done*k.Size), some, count)
			to.Keep(some)
		}
		outer.Skip(m)
		n -= m
	}
}

// row folds an element of each of m neighbouring outputs, which are a step apart: in memory itself, or gathered and converted.
// SAFETY: see columns.
func (k *Reduction) row(as, from unsafe.Pointer, m, step, size int64, raw, values unsafe.Pointer) {
	if step != size {
		engine.MoveStrided(raw, from, size, step, size, m)
		from = raw
	}
	if k.In.Read != nil {
		k.In.Read(values, from, m)
		from = values
	}
	if k.stack != nil {
		k.stack(as, from, m, 0, 1)
	} else {
		k.beside(as, from, m)
	}
}
