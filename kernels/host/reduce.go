package host

import (
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/shape"
)

// reduction folds the elements along some axes into an accumulator of type A for each element of
// the output. Elements are computed with as C and results as D.
type reduction[D, A, C any] struct {
	in  *codec[C]
	out *codec[D]
	folding[D, A, C]
}

// folding is the arithmetic of a reduction. The elements of one output are numbered from 0 in
// row-major order of the reduced axes.
type folding[D, A, C any] struct {
	zero   A
	fold   func(a A, row []C, at int64) A // elements at, at + 1, ... of one output
	beside func(as []A, row []C)          // an element of each of neighbouring outputs
	// stack is beside for several rows of elements, each a stride behind the one before. Where there is one, it folds
	// the rows that lie in memory as values without a call for each.
	stack func(as []A, rows []C, stride, count int)
	// lines folds all elements of each output, length in a row of memory, the next row a stride on. Where there is one, it
	// folds short rows of float32.
	lines   func(as []A, from unsafe.Pointer, stride, length int64)
	results func(dst []D, as []A, count int64) // of accumulators of count elements each
}

// cost counts the input: every element is folded once.
func (k *reduction[D, A, C]) cost(c *device.Call) int64    { return c.In[0].Numel() }
func (k *reduction[D, A, C]) workspace(*device.Call) int64 { return 0 }

// run splits the work by outputs. A whole tensor reduced to one element is not split: its sum
// must not depend on the number of threads.
func (k *reduction[D, A, C]) run(t *threads, c *device.Call) error {
	n := c.Out[0].Numel()
	each := max(c.In[0].Numel()/max(n, 1), 1)
	return t.each(k, c, n, max(grain/each, 1))
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

// part computes outputs lo to hi-1, by rows or by columns, whichever walks memory in order.
func (k *reduction[D, A, C]) part(c *device.Call, lo, hi int64) error {
	var in passage
	in.begin(c, lo)
	f := newFrame()
	defer f.free()
	var to lane[D]
	to.open(&c.Out[0], k.out, f, lo)
	if in.sideways {
		k.columns(&to, &in, f, hi-lo)
	} else {
		k.rows(c, &to, &in, f, hi-lo)
	}
	return nil
}

// passage is the way of a reduction through its input: outer stands where the elements of the next output begin, and
// reduced is how they lie from there. It is apart from the reductions because the compiler makes those once for each
// combination of types.
type passage struct {
	outer    walk
	reduced  shape.Layout
	sideways bool // neighbouring outputs are computed together
	lined    bool // the elements of an output lie one behind the other, as float32
}

// begin puts the passage in front of output lo.
func (p *passage) begin(c *device.Call, lo int64) {
	kept, reduced := axesOf(c)
	p.reduced, p.sideways = reduced, sideways(&kept, &reduced)
	p.lined = c.In[0].DType == dtype.Float32 && kept.Rank > 0 && kept.Strides[kept.Rank-1] > 0 && reduced.IsContiguous()
	p.outer.begin(c.In[0].Addr, c.In[0].DType.Size(), &kept)
	p.outer.seek(lo)
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
		(reduced.Numel() <= short || abs(kept.Strides[kept.Rank-1]) < abs(reduced.Strides[reduced.Rank-1]))
}

// rows computes n outputs one after the other, each from rows of its own elements.
// SAFETY: the room is the frame's, and accumulators hold no pointers.
func (k *reduction[D, A, C]) rows(c *device.Call, to *lane[D], in *passage, f *frame, n int64) {
	outer := &in.outer
	operand := device.Operand{Addr: outer.base, DType: c.In[0].DType, Layout: in.reduced}
	count := in.reduced.Numel()
	var from lane[C]
	from.open(&operand, k.in, f, 0)
	one := slice[A](f.room(), 1) // not a variable: the compiler would put what an unknown function gets on the heap
	length := int64(block)
	if from.raw == nil && k.in.load == nil {
		length = max(count, 1) // memory itself: no reason to cut it
	}
	for range n {
		if count > 0 { // else there is no memory
			from.walk.base = outer.here()
		}
		a := k.zero
		for at := int64(0); at < count; {
			m := min(length, count-at)
			a = k.fold(a, from.next(m), at)
			at += m
		}
		outer.skip(1)
		one[0] = a
		k.results(to.space(1), one, count)
		to.keep()
	}
}

// columns computes n outputs in runs of neighbours, going through the reduced elements once a run.
//
// Rows of a run that lie in memory as values go to stack at once, as many as one stride reaches; a negative stride is left to
// row, because the first row is then not where the memory of all begins. Each output is folded from its first element to its
// last in either way, so that it does not depend on where runs begin, which depends on the number of threads.
//
// SAFETY: see walk.here; the rooms are the frame's, and accumulators hold no pointers.
func (k *reduction[D, A, C]) columns(to *lane[D], in *passage, f *frame, n int64) {
	outer, count := &in.outer, in.reduced.Numel()
	// Runs are long, so that the rows of one are read in order for longer than a prefetcher takes to see it.
	const buffers = 4
	most := buffers * int64(unsafe.Sizeof(buffer{})/unsafe.Sizeof(k.zero))
	all := slice[A](f.stretch(buffers), most)
	raw, values := f.room(), f.room()
	var inner walk
	inner.begin(nil, outer.size, &in.reduced)
	step := outer.strides[outer.rank-1]
	direct := k.in.load == nil && step == outer.size
	stacked := direct && k.stack != nil && inner.strides[inner.rank-1] >= 0
	if !direct {
		most = min(most, block)
	}
	for n > 0 {
		as := all[:min(outer.run(n), most)]
		m := int64(len(as))
		for i := range as {
			as[i] = k.zero
		}
		at := int64(0)
		if in.lined && k.lines != nil && count > 0 { // rows without elements may have no memory
			k.lines(as, outer.here(), step/outer.size, count)
			at = count
		}
		for at < count {
			from, rows := unsafe.Add(outer.here(), inner.offset), int64(1)
			if stacked {
				stride := inner.strides[inner.rank-1] / outer.size
				rows = inner.run(count - at)
				k.stack(as, slice[C](from, (rows-1)*stride+m), int(stride), int(rows))
			} else {
				k.row(as, from, step, outer.size, raw, values)
			}
			inner.skip(rows)
			at += rows
		}
		for done := int64(0); done < m; done += block {
			some := as[done:min(done+block, m)]
			k.results(to.space(int64(len(some))), some, count)
			to.keep()
		}
		outer.skip(m)
		n -= m
	}
}

// row folds an element of each of neighbouring outputs, which are a step apart: in memory itself, or gathered and converted.
// SAFETY: see columns.
func (k *reduction[D, A, C]) row(as []A, from unsafe.Pointer, step, size int64, raw, values unsafe.Pointer) {
	m := int64(len(as))
	if step != size {
		moveStrided(raw, from, size, step, size, m)
		from = raw
	}
	row := slice[C](values, m)
	if k.in.load == nil {
		row = slice[C](from, m)
	} else {
		k.in.load(row, from)
	}
	if k.stack != nil {
		k.stack(as, row, 0, 1)
	} else {
		k.beside(as, row)
	}
}
