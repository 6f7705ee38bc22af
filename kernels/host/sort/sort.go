// Package sort holds sort, argsort, topk, and running extremes, over the keys of package order.
package sort

import (
	"sync"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
	"github.com/paddle-mps/paddle-mps/kernels/host/order"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/sorting"
)

// mostSorted is the longest line that is sorted: places in it are kept in 32 bits.
const mostSorted = 1 << 32

// sorter sorts along one axis by keys: nan counts as larger than anything and equals stay in their order. sort has the
// values as its result, topk the first of them and where they come from.
//
// A sort has three steps, each of which is done by all threads where a line is long: elements become unsigned keys in
// whose order they are to be (load), the keys are sorted (radix), and become elements again (store). An order, of keys
// of 32 or of 64 bits, says how: one kernel serves all dtypes whose keys have one width, and both directions.
type sorter[K order.Key] struct {
	order   *order.Order[K]
	flip    int       // the attribute that says whether the largest come first
	sorters sync.Pool // of *lineSorter[K]
}

// Orders of 32 bits serve dtypes of up to four bytes, those of 64 bits the others.
func init() {
	registerSorts(order.NarrowOrders)
	registerSorts(order.WideOrders)
}

// registerSorts adds the operators that compare keys of one width.
func registerSorts[K order.Key](orders map[dtype.DType]*order.Order[K]) {
	for d, o := range orders {
		engine.Register(op.IDSort, d, &sorter[K]{order: o, flip: op.SortDescending})
		engine.Register(op.IDTopk, d, &sorter[K]{order: o, flip: op.TopkLargest})
		engine.Register(op.IDCummax, d, &extremes[K]{order: o})
		engine.Register(op.IDCummin, d, &extremes[K]{order: o, smallest: 1})
	}
}

// sortWeight is what an element of a sort costs, in additions.
const sortWeight = 32

// Cost takes all passes over the keys for a fixed number of additions, whatever the keys turn out to need.
func (k *sorter[K]) Cost(c *device.Call) int64 { return sortWeight * c.In[0].Numel() }

// Workspace is what a long line needs, of which one is sorted at a time. Go ends a process that has no memory left, so
// that only short lines may be sorted in memory of Go's.
func (k *sorter[K]) Workspace(c *device.Call) int64 {
	length := lengthOf(c, &c.In[0])
	if length < LongLine {
		return 0
	}
	return length * sortBytes[K](len(c.Out) > 1)
}

// Run gives each thread whole lines, or works with all threads on one long line after the other. The first needs no
// thread to wait for another between steps, so that the second is for lines that alone are worth several threads.
func (k *sorter[K]) Run(t *engine.Threads, c *device.Call) error {
	length := lengthOf(c, &c.In[0])
	if length > mostSorted {
		return status.Errorf(status.Unsupported, "[%s] a line has %d elements; want at most %d", op.ByID(c.Op).Name, length, mostSorted)
	}
	n := c.In[0].Numel() / length
	if length < LongLine {
		return t.Each(k, c, n, k.Cost(c))
	}
	if c.Workspace == nil {
		return status.Errorf(status.Internal, "[%s] got no workspace; want %d bytes", op.ByID(c.Op).Name, k.Workspace(c))
	}
	return k.sort(t, c, 0, n)
}

// Part sorts lines lo to hi-1.
func (k *sorter[K]) Part(c *device.Call, lo, hi int64) error {
	if brief(c) {
		return k.brief(c, lo, hi)
	}
	return k.sort(nil, c, lo, hi)
}

// sort sorts lines lo to hi-1; with threads, each in pieces and in the workspace.
func (k *sorter[K]) sort(t *engine.Threads, c *device.Call, lo, hi int64) error {
	s, ok := k.sorters.Get().(*lineSorter[K])
	if !ok {
		s = new(lineSorter[K])
	}
	defer func() {
		if t != nil {
			s.leave()
		}
		k.sorters.Put(s)
	}()
	s.order, s.flip, s.kept, s.least = k.order, c.Attrs[k.flip].I, lengthOf(c, &c.Out[0]), 0
	if !k.order.Float {
		s.least = leastDigit
	}
	if length, places := lengthOf(c, &c.In[0]), len(c.Out) > 1; t == nil {
		s.resize(length, places)
	} else {
		s.place(c.Workspace, length, places, t.Count())
	}
	all := newLineSet(c, lo)
	for ; lo < hi; lo++ {
		s.x, s.values, s.places = all[0].Along, all[1].Along, all[2].Along
		if err := s.line(t); err != nil {
			return err
		}
		all.next()
	}
	return nil
}

// lengthOf is the length of the lines that a call works along, for divisions by it at least 1: it is how many elements an operand has along the axis of a scan; 1 for one without axes or elements.
func lengthOf(c *device.Call, o *device.Operand) int64 {
	if o.Rank == 0 {
		return 1
	}
	return max(o.Dims[c.Axes.First()], 1)
}

// lineSet is the operand of a scan, its values and its places, a line at a time. Without places they are the values.
type lineSet [3]engine.Lines

// newLineSet goes to a line, in the order in which lines lie in a contiguous tensor.
//
// The operands of a line keep dims and strides of the axis alone; their address is that of its first element.
func newLineSet(c *device.Call, line int64) (s lineSet) {
	for i, o := range [...]*device.Operand{&c.In[0], &c.Out[0], &c.Out[len(c.Out)-1]} {
		s[i] = engine.NewLines(c, o, line)
		s[i].Along.Addr = s[i].Across.Here()
	}
	return s
}

// next goes to the next line.
func (s *lineSet) next() {
	for i := range s {
		s[i].Across.Skip(1)
		s[i].Along.Addr = s[i].Across.Here()
	}
}

// lineSorter is the sorting of a line at a time: what the three steps share. It is kept from call to call, with the memory
// of short lines, by the kernel that made it, so that a warm call makes no garbage; two calls at once have two of them.
type lineSorter[K order.Key] struct {
	radix[K]
	order             *order.Order[K]
	flip              int64
	varying           varying
	kept              int64          // elements of a line of the results
	x, values, places device.Operand // the line
}

// line sorts a line. What another thread writes into the operand meanwhile may leave keys of both times in the result,
// but never an index outside it: places come from the loop that counts them, not from elements.
func (s *lineSorter[K]) line(t *engine.Threads) error {
	s.varying.reset()
	n := s.x.Numel()
	s.cut(int(n)) // the line before may have been narrowed
	if !s.sift(n) {
		s.cut(int(n))
		if t == nil {
			s.load(0, 0, n) // the function as a value would be allocated for each line
		} else if err := s.do(t, s.load); err != nil {
			return err
		}
		s.narrow(s.kept, K(s.varying.bits()))
	}
	if err := s.sort(t, K(s.varying.bits())); err != nil {
		return err
	}
	if s.varying.negativeZero.Load() {
		s.restoreZeros()
	}
	if t == nil {
		s.store(0, 0, n)
		return nil
	}
	return s.do(t, s.store)
}

// load makes the keys of a piece; that of -0 is that of 0 here.
func (s *lineSorter[K]) load(_ int, lo, hi int64) {
	f := engine.NewFrame()
	defer f.Free()
	var from engine.Lane[K]
	from.Open(&s.x, s.order.Codec[s.flip], f, lo)
	zero, negative := s.order.Zero[s.flip], s.order.Negative[s.flip]
	some, all, found, first := K(0), ^K(0), false, lo
	if keys, ok := any(&s.keys).(*[]uint32); ok && s.bare() {
		bits, each, zeros := sorting.SortKeys((*keys)[lo:hi], engine.RowAt[float32](&s.x, lo, hi), uint32(-s.flip))
		some, all, found, lo = K(bits), K(each), zeros, hi
	}
	for at := lo; at < hi; at += engine.Block {
		n := min(engine.Block, hi-at)
		keys := s.keys[at : at+n]
		for i, k := range from.Next(n) {
			if k == negative && s.order.Float {
				k, found = zero, true
			}
			some, all, keys[i] = some|k, all&k, k
		}
	}
	s.varying.some.Or(uint64(some))
	s.varying.none.Or(uint64(^all))
	if found {
		s.varying.negativeZero.Store(true)
	}
	if len(s.at) > 0 {
		for i := first; i < hi; i++ {
			s.at[i] = uint32(i)
		}
	}
}

// bare reports whether the line is float32 behind each other, of which vectors make keys.
func (s *lineSorter[K]) bare() bool { return s.x.DType == dtype.Float32 && s.x.IsContiguous() }

// restoreZeros gives the zeros of a sorted line their signs back: they are equal, and so in the order of the operand.
// Another thread may have changed that meanwhile; then there may be fewer of them or more.
func (s *lineSorter[K]) restoreZeros() {
	f := engine.NewFrame()
	defer f.Free()
	var from engine.Lane[K]
	from.Open(&s.x, s.order.Codec[s.flip], f, 0)
	zero, negative := s.order.Zero[s.flip], s.order.Negative[s.flip]
	to, n := s.find(zero), s.x.Numel() // more than there are keys after narrow
	for at := int64(0); at < n; at += engine.Block {
		for _, k := range from.Next(min(engine.Block, n-at)) {
			if k != zero && k != negative {
				continue
			}
			if to == len(s.keys) || s.keys[to] != zero {
				return
			}
			s.keys[to] = k
			to++
		}
	}
}

// store writes the results of a piece: the first elements of a line, as many as are kept, and their places if the row
// has them as a result. Pieces behind what is kept have nothing to do.
func (s *lineSorter[K]) store(_ int, lo, hi int64) {
	if hi = min(hi, s.kept); lo >= hi {
		return
	}
	f := engine.NewFrame()
	defer f.Free()
	var values engine.Lane[K]
	keys := s.order.Codec[s.flip]
	values.Open(&s.values, keys, f, lo)
	at := lo
	if values.Raw == nil && keys.Store != nil { // memory itself: no reason to copy blocks
		keys.Store(values.Walk.Here(), s.keys[lo:hi])
		at = hi
	}
	for ; at < hi; at += engine.Block {
		copy(values.Space(min(engine.Block, hi-at)), s.keys[at:])
		values.Keep()
	}
	if len(s.at) > 0 {
		storePlaces(&s.places, s.at, f, lo, hi)
	}
}

// storePlaces writes places lo to hi-1 as int64.
func storePlaces(o *device.Operand, at []uint32, f *engine.Frame, lo, hi int64) {
	var places engine.Lane[int64]
	places.Open(o, new(engine.Codec[int64]), f, lo)
	for ; lo < hi; lo += engine.Block {
		for i := range places.Space(min(engine.Block, hi-lo)) {
			places.Row[i] = int64(at[lo+int64(i)])
		}
		places.Keep()
	}
}
