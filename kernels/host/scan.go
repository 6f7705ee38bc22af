package host

import (
	"sync"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
)

// scan is an operator along one axis: f replaces each line of values by its result. An operator of this kind only supplies f:
// scan reads lines of any layout and divides them among the threads. It knows values by their addresses and their size, so
// that it is compiled once and not for each type.
type scan struct {
	coding
	size   int64 // bytes of a value
	weight int64 // of an element in additions
	f      func(line unsafe.Pointer, n int64)
	lines  sync.Pool // of *[]uint64, for whole lines, which may be long
	zero   uint64    // see running, of whose functions these have no types
	beside func(as, row unsafe.Pointer, n int64)
	direct func(dst, src unsafe.Pointer, n int64)

	directBeside func(as, dst, src unsafe.Pointer, n int64)
}

// running is how a scan of values of type C goes from element to element, where an operator knows that: lines that lie beside
// each other are then computed together, in the order in which they lie in memory. What is nil an operator lacks.
type running[C any] struct {
	// beside puts an element of each line behind what has accumulated of it: row becomes the result, as accumulators do.
	zero   C
	beside func(as, row []C)
	// Both again on elements as they are, without a codec: for a line, and for n neighbours.
	direct       func(dst, src unsafe.Pointer, n int64)
	directBeside func(as, dst, src unsafe.Pointer, n int64)
}

// newScan makes a kernel of functions of values of type C.
// SAFETY: see slice; a value has 8 bytes at most and holds no pointers.
func newScan[C any](in coding, weight int64, f func(line []C), r running[C]) *scan {
	k := &scan{coding: in, size: int64(unsafe.Sizeof(r.zero)), weight: weight, direct: r.direct, directBeside: r.directBeside}
	*(*C)(unsafe.Pointer(&k.zero)) = r.zero
	k.f = func(line unsafe.Pointer, n int64) { f(slice[C](line, n)) }
	if beside := r.beside; beside != nil { // captured by itself, as in reduce
		k.beside = func(as, row unsafe.Pointer, n int64) { beside(slice[C](as, n), slice[C](row, n)) }
	}
	return k
}

// registerScanFloats registers an operator for all floats, computed in float64 and rounded once. The direct functions of r
// are for float32.
func registerScanFloats(id op.ID, weight int64, f func(line []float64), r running[float64]) {
	register(id, dtype.Float32, newScan(float64Codec().coding, weight, f, r))
	r.direct, r.directBeside = nil, nil
	register(id, dtype.Float16, newScan(half64Codec(dtype.Float16).coding, weight, f, r))
	register(id, dtype.BFloat16, newScan(half64Codec(dtype.BFloat16).coding, weight, f, r))
	register(id, dtype.Float64, newScan(plain, weight, f, r))
}

// registerScan registers an operator for a dtype that it is computed in.
func registerScan[T integer](id op.ID, d dtype.DType, weight int64, f func(line []T), r running[T]) {
	register(id, d, newScan(plain, weight, f, r))
}

// cost is in additions, as weight is.
func (k *scan) cost(c *device.Call) int64 { return k.weight * c.Out[0].Numel() }

// workspace is nothing: a line is read and written by blocks.
func (k *scan) workspace(*device.Call) int64 { return 0 }

// run gives each thread whole lines, as many as are worth a thread: a line is never split, because f needs all
// of it at once.
func (k *scan) run(t *threads, c *device.Call) error {
	return t.each(k, c, c.Out[0].Numel()/lengthAlong(c), k.cost(c))
}

// lengthAlong is the number of elements that a scan runs over; 1 for a tensor without axes or elements.
func lengthAlong(c *device.Call) int64 {
	if c.Out[0].Rank == 0 {
		return 1
	}
	return max(c.Out[0].Dims[c.Axes.First()], 1)
}

// part scans lines lo to hi-1, numbered in row-major order of the other axes. A line is read as a whole before any of
// it is written, so the output may be the operand itself.
// SAFETY: the room is this part's until it is put back, and holds a line.
func (k *scan) part(c *device.Call, lo, hi int64) error {
	length := lengthAlong(c)
	x, y := newLines(c, &c.In[0], lo), newLines(c, &c.Out[0], lo)
	if k.beside != nil && besides(&x, &y) {
		k.columns(&x, &y, hi-lo)
		return nil
	}
	if k.direct != nil && x.along.IsContiguous() && y.along.IsContiguous() {
		for ; lo < hi; lo++ {
			k.direct(y.across.here(), x.across.here(), length)
			x.across.skip(1)
			y.across.skip(1)
		}
		return nil
	}
	if k.read == nil && k.write == nil && x.along.IsContiguous() && y.along.IsContiguous() {
		// Lines that lie in memory as the values themselves are computed where the result lies, without room of their
		// own. The copy comes first, so that a result in place of the operand is one too.
		for ; lo < hi; lo++ {
			line := y.across.here()
			moveStrided(line, x.across.here(), k.size, k.size, k.size, length)
			k.f(line, length)
			x.across.skip(1)
			y.across.skip(1)
		}
		return nil
	}
	room := roomOf[uint64](&k.lines, (length*k.size+7)/8)
	defer k.lines.Put(room)
	f := newFrame()
	defer f.free()
	var from, to access
	from.open(&x.along, &k.coding, k.size, f)
	to.open(&y.along, &k.coding, k.size, f)
	values := unsafe.Pointer(unsafe.SliceData(*room))
	for ; lo < hi; lo++ {
		from.copy(values, x.across.here(), length) // f writes over them
		k.f(values, length)
		to.write(y.across.here(), values, length)
		x.across.skip(1)
		y.across.skip(1)
	}
	return nil
}

// besides reports whether neighbouring lines of operand and result lie closer together than the elements of one.
func besides(x, y *lines) bool {
	w, v := &x.across, &y.across
	return x.along.Numel() > 1 && w.strides[w.rank-1] == w.size && v.strides[v.rank-1] == v.size &&
		w.dims[w.rank-1] >= 8 && v.dims[v.rank-1] >= 8 && abs(x.along.Strides[0]) > 1 && abs(y.along.Strides[0]) > 1
}

// columns scans n lines in runs of neighbours: an element of each line of a run, then the next. A line by itself would touch
// another cache line for each of its elements, and another page for each where lines are long.
//
// SAFETY: see walk.here; the rooms are the frame's, and hold no pointers.
func (k *scan) columns(x, y *lines, n int64) {
	f := newFrame()
	defer f.free()
	const buffers = 4 // see reduction.columns
	as, values := f.stretch(buffers), f.room()
	from, to, length := &x.across, &y.across, x.along.Numel()
	most := buffers * int64(unsafe.Sizeof(buffer{})) / k.size
	if k.directBeside == nil {
		most = block
	}
	for n > 0 {
		m := to.run(from.run(min(n, most)))
		moveStrided(as, unsafe.Pointer(&k.zero), k.size, 0, k.size, m)
		for at := range length {
			src := unsafe.Add(from.here(), at*x.along.Strides[0]*from.size)
			dst := unsafe.Add(to.here(), at*y.along.Strides[0]*to.size)
			if k.directBeside != nil {
				k.directBeside(as, dst, src, m)
			} else {
				k.step(as, values, dst, src, m)
			}
		}
		from.skip(m)
		to.skip(m)
		n -= m
	}
}

// step is running.beside of n elements through the coding, with row as room.
// SAFETY: see columns.
func (k *scan) step(as, row, dst, src unsafe.Pointer, n int64) {
	if k.read == nil {
		moveStrided(row, src, k.size, k.size, k.size, n)
	} else {
		k.read(row, src, n)
	}
	k.beside(as, row, n)
	if k.write == nil {
		moveStrided(dst, row, k.size, k.size, k.size, n)
	} else {
		k.write(dst, row, n)
	}
}

// roomOf is room for so many elements, with undefined contents. It comes from a pool that all calls share; the caller puts it
// back.
func roomOf[C any](pool *sync.Pool, n int64) *[]C {
	// One that is too short for this call is left to the garbage collector.
	room, ok := pool.Get().(*[]C)
	if !ok || int64(cap(*room)) < n {
		room = new([]C)
		*room = make([]C, n)
	}
	*room = (*room)[:n]
	return room
}

// access reads or writes lines that differ only in where they begin: in memory itself where it holds values in order, else
// through a track.
type access struct {
	track
	size   int64 // bytes of a value
	direct bool
}

// open opens the first of the lines.
func (l *access) open(line *device.Operand, c *coding, size int64, f *frame) {
	l.size, l.direct = size, c.read == nil && c.write == nil && line.IsContiguous()
	if !l.direct {
		l.track.open(line, c, f, 0)
	}
}

// copy copies the values of the line that begins at an address.
// SAFETY: the address is that of a line of the operand that was opened, and there is room for n values.
func (l *access) copy(to, at unsafe.Pointer, n int64) {
	if l.direct {
		moveStrided(to, at, l.size, l.size, l.size, n)
		return
	}
	l.walk.base = at // the walk is at its end, which is the beginning of the next line
	for done := int64(0); done < n; done += block {
		some := min(block, n-done)
		moveStrided(unsafe.Add(to, done*l.size), l.next(some), l.size, l.size, l.size, some)
	}
}

// values are those of the line that begins at an address, in room unless they lie in memory as values.
// SAFETY: see copy.
func (l *access) values(at, room unsafe.Pointer, n int64) unsafe.Pointer {
	if l.direct {
		return at
	}
	l.copy(room, at, n)
	return room
}

// write writes values to the line that begins at an address.
// SAFETY: see copy.
func (l *access) write(at, values unsafe.Pointer, n int64) {
	if l.direct {
		moveStrided(at, values, l.size, l.size, l.size, n)
		return
	}
	l.walk.base = at
	for done := int64(0); done < n; done += block {
		some := min(block, n-done)
		moveStrided(l.space(), unsafe.Add(values, done*l.size), l.size, l.size, l.size, some)
		l.keep(some)
	}
}

// lineAccess is access to values of type C, which are not copied where the operand's own memory holds them.
type lineAccess[C any] struct{ access }

// open opens the first of the lines.
func (l *lineAccess[C]) open(line *device.Operand, c *codec[C], f *frame) {
	l.access.open(line, &c.coding, int64(unsafe.Sizeof(*new(C))), f)
}

// openLast opens the lines along the last axis of an operand.
func (l *lineAccess[C]) openLast(o *device.Operand, c *codec[C], f *frame) {
	line := device.Operand{Addr: o.Addr, DType: o.DType, Layout: shape.Layout{Shape: shape.Shape{Rank: 1, Dims: [shape.MaxRank]int64{o.Dims[o.Rank-1]}}}}
	line.Strides[0] = o.Strides[o.Rank-1]
	l.open(&line, c, f)
}

// read is the line that begins at an address, in room unless it lies in memory as values.
// SAFETY: see access.copy.
func (l *lineAccess[C]) read(at unsafe.Pointer, room []C) []C {
	if l.direct {
		return slice[C](at, int64(len(room)))
	}
	l.copy(unsafe.Pointer(unsafe.SliceData(room)), at, int64(len(room)))
	return room
}

// room is where the values of the line that begins at an address are put, before they are written.
// SAFETY: see access.copy.
func (l *lineAccess[C]) room(at unsafe.Pointer, own []C) []C {
	if l.direct {
		return slice[C](at, int64(len(own)))
	}
	return own
}

// write writes values to the line that begins at an address, unless they are there already.
// SAFETY: see access.copy.
func (l *lineAccess[C]) write(at unsafe.Pointer, values []C) {
	if !l.direct {
		l.access.write(at, unsafe.Pointer(unsafe.SliceData(values)), int64(len(values)))
	}
}

// lines is an operand cut into lines along one axis.
type lines struct {
	across walk           // visits the first element of each line
	along  device.Operand // the first line
}

// newLines cuts an operand and goes to line number line, in row-major order of the other axes. An operand
// without axes is one line of one element.
func newLines(c *device.Call, o *device.Operand, line int64) (s lines) {
	rest := o.Layout
	s.along = device.Operand{Addr: o.Addr, DType: o.DType}
	if o.Rank > 0 {
		axis := c.Axes.First()
		s.along.Layout = shape.Layout{Shape: shape.Shape{Rank: 1, Dims: [shape.MaxRank]int64{o.Dims[axis]}}}
		s.along.Strides[0] = o.Strides[axis]
		rest.Remove(axis)
	}
	s.across.begin(o.Addr, o.DType.Size(), &rest)
	s.across.seek(line)
	return s
}
