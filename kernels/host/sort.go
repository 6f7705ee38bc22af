package host

import (
	"sync"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// mostSorted is the longest line that is sorted: places in it are kept in 32 bits.
const mostSorted = 1 << 32

// sorter sorts along one axis by keys: nan counts as larger than anything and equals stay in their order. sort has the
// values as its result, topk the first of them and where they come from.
//
// A sort has three steps, each of which is done by all threads where a line is long: elements become unsigned keys in
// whose order they are to be (load), the keys are sorted (radix), and become elements again (store). An order, of keys
// of 32 or of 64 bits, says how: one kernel serves all dtypes whose keys have one width, and both directions.
type sorter[K key] struct {
	order    *order[K]
	flip     int       // the attribute that says whether the largest come first
	sortings sync.Pool // of *sorting[K]
}

// Orders of 32 bits serve dtypes of up to four bytes, those of 64 bits the others.
func init() {
	registerSorts(narrowOrders)
	registerSorts(wideOrders)
}

// registerSorts adds the operators that compare keys of one width.
func registerSorts[K key](orders map[dtype.DType]*order[K]) {
	for d, o := range orders {
		register(op.IDSort, d, &sorter[K]{order: o, flip: op.SortDescending})
		register(op.IDTopk, d, &sorter[K]{order: o, flip: op.TopkLargest})
		register(op.IDCummax, d, &extremes[K]{order: o})
		register(op.IDCummin, d, &extremes[K]{order: o, smallest: 1})
	}
}

// sortWeight is what an element of a sort costs, in additions.
const sortWeight = 32

// cost takes all passes over the keys for a fixed number of additions, whatever the keys turn out to need.
func (k *sorter[K]) cost(c *device.Call) int64 { return sortWeight * c.In[0].Numel() }

// workspace is what a long line needs, of which one is sorted at a time. Go ends a process that has no memory left, so
// that only short lines may be sorted in memory of Go's.
func (k *sorter[K]) workspace(c *device.Call) int64 {
	length := lengthOf(c, &c.In[0])
	if length < longLine {
		return 0
	}
	return length * sortBytes[K](len(c.Out) > 1)
}

// run gives each thread whole lines, or works with all threads on one long line after the other. The first needs no
// thread to wait for another between steps, so that the second is for lines that alone are worth several threads.
func (k *sorter[K]) run(t *threads, c *device.Call) error {
	length := lengthOf(c, &c.In[0])
	if length > mostSorted {
		return status.Errorf(status.Unsupported, "[%s] a line has %d elements; want at most %d", op.ByID(c.Op).Name, length, mostSorted)
	}
	n := c.In[0].Numel() / length
	if length < longLine {
		return t.each(k, c, n, k.cost(c))
	}
	if c.Workspace == nil {
		return status.Errorf(status.Internal, "[%s] got no workspace; want %d bytes", op.ByID(c.Op).Name, k.workspace(c))
	}
	return k.sort(t, c, 0, n)
}

// part sorts lines lo to hi-1.
func (k *sorter[K]) part(c *device.Call, lo, hi int64) error {
	if brief(c) {
		return k.brief(c, lo, hi)
	}
	return k.sort(nil, c, lo, hi)
}

// sort sorts lines lo to hi-1; with threads, each in pieces and in the workspace.
func (k *sorter[K]) sort(t *threads, c *device.Call, lo, hi int64) error {
	s, ok := k.sortings.Get().(*sorting[K])
	if !ok {
		s = new(sorting[K])
	}
	defer func() {
		if t != nil {
			s.leave()
		}
		k.sortings.Put(s)
	}()
	s.order, s.flip, s.kept, s.least = k.order, c.Attrs[k.flip].I, lengthOf(c, &c.Out[0]), 0
	if !k.order.float {
		s.least = leastDigit
	}
	if length, places := lengthOf(c, &c.In[0]), len(c.Out) > 1; t == nil {
		s.resize(length, places)
	} else {
		s.place(c.Workspace, length, places, t.count())
	}
	all := newLineSet(c, lo)
	for ; lo < hi; lo++ {
		s.x, s.values, s.places = all[0].along, all[1].along, all[2].along
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
type lineSet [3]lines

// newLineSet goes to a line, in the order in which lines lie in a contiguous tensor.
//
// The operands of a line keep dims and strides of the axis alone; their address is that of its first element.
func newLineSet(c *device.Call, line int64) (s lineSet) {
	for i, o := range [...]*device.Operand{&c.In[0], &c.Out[0], &c.Out[len(c.Out)-1]} {
		s[i] = newLines(c, o, line)
		s[i].along.Addr = s[i].across.here()
	}
	return s
}

// next goes to the next line.
func (s *lineSet) next() {
	for i := range s {
		s[i].across.skip(1)
		s[i].along.Addr = s[i].across.here()
	}
}

// sorting is the sorting of a line at a time: what the three steps share. It is kept from call to call, with the memory
// of short lines, by the kernel that made it, so that a warm call makes no garbage; two calls at once have two of them.
type sorting[K key] struct {
	radix[K]
	order             *order[K]
	flip              int64
	varying           varying
	kept              int64          // elements of a line of the results
	x, values, places device.Operand // the line
}

// line sorts a line. What another thread writes into the operand meanwhile may leave keys of both times in the result,
// but never an index outside it: places come from the loop that counts them, not from elements.
func (s *sorting[K]) line(t *threads) error {
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
func (s *sorting[K]) load(_ int, lo, hi int64) {
	f := newFrame()
	defer f.free()
	var from lane[K]
	from.open(&s.x, s.order.codec[s.flip], f, lo)
	zero, negative := s.order.zero[s.flip], s.order.negative[s.flip]
	some, all, found, first := K(0), ^K(0), false, lo
	if keys, ok := any(&s.keys).(*[]uint32); ok && s.bare() {
		bits, each, zeros := vec.SortKeys((*keys)[lo:hi], rowAt[float32](&s.x, lo, hi), uint32(-s.flip))
		some, all, found, lo = K(bits), K(each), zeros, hi
	}
	for at := lo; at < hi; at += block {
		n := min(block, hi-at)
		keys := s.keys[at : at+n]
		for i, k := range from.next(n) {
			if k == negative && s.order.float {
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
func (s *sorting[K]) bare() bool { return s.x.DType == dtype.Float32 && s.x.IsContiguous() }

// restoreZeros gives the zeros of a sorted line their signs back: they are equal, and so in the order of the operand.
// Another thread may have changed that meanwhile; then there may be fewer of them or more.
func (s *sorting[K]) restoreZeros() {
	f := newFrame()
	defer f.free()
	var from lane[K]
	from.open(&s.x, s.order.codec[s.flip], f, 0)
	zero, negative := s.order.zero[s.flip], s.order.negative[s.flip]
	to, n := s.find(zero), s.x.Numel() // more than there are keys after narrow
	for at := int64(0); at < n; at += block {
		for _, k := range from.next(min(block, n-at)) {
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
func (s *sorting[K]) store(_ int, lo, hi int64) {
	if hi = min(hi, s.kept); lo >= hi {
		return
	}
	f := newFrame()
	defer f.free()
	var values lane[K]
	keys := s.order.codec[s.flip]
	values.open(&s.values, keys, f, lo)
	at := lo
	if values.raw == nil && keys.store != nil { // memory itself: no reason to copy blocks
		keys.store(values.walk.here(), s.keys[lo:hi])
		at = hi
	}
	for ; at < hi; at += block {
		copy(values.space(min(block, hi-at)), s.keys[at:])
		values.keep()
	}
	if len(s.at) > 0 {
		storePlaces(&s.places, s.at, f, lo, hi)
	}
}

// storePlaces writes places lo to hi-1 as int64.
func storePlaces(o *device.Operand, at []uint32, f *frame, lo, hi int64) {
	var places lane[int64]
	places.open(o, new(codec[int64]), f, lo)
	for ; lo < hi; lo += block {
		for i := range places.space(min(block, hi-lo)) {
			places.row[i] = int64(at[lo+int64(i)])
		}
		places.keep()
	}
}
