package host

import (
	"sync"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
)

// scan is an operator along one axis: f replaces each line of elements, computed in C, by its result. An
// operator of this kind only supplies f: scan reads lines of any layout and divides them among the threads.
type scan[C any] struct {
	codec  *codec[C]
	weight int64 // of an element in additions
	f      func(line []C)
	lines  sync.Pool // of *[]C, for whole lines, which may be long
	running[C]
}

// running is how a scan goes from element to element, where an operator knows that: lines that lie beside each other
// are then computed together, in the order in which they lie in memory. What is nil an operator lacks.
type running[C any] struct {
	// beside puts an element of each line behind what has accumulated of it: row becomes the result, as accumulators do.
	zero   C
	beside func(as, row []C)
	// Both again on elements as they are, without a codec: for a line, and for neighbours.
	direct       func(dst, src unsafe.Pointer, n int64)
	directBeside func(as []C, dst, src unsafe.Pointer)
}

// registerScanFloats registers an operator for all floats, computed in float64 and rounded once. The direct functions of r
// are for float32.
func registerScanFloats(id op.ID, weight int64, f func(line []float64), r running[float64]) {
	direct := r
	r.direct, r.directBeside = nil, nil
	for d, c := range map[dtype.DType]*codec[float64]{
		dtype.Float16: half64Codec(dtype.Float16), dtype.BFloat16: half64Codec(dtype.BFloat16),
		dtype.Float32: float64Codec(), dtype.Float64: new(codec[float64]),
	} {
		k := &scan[float64]{codec: c, weight: weight, f: f, running: r}
		if d == dtype.Float32 {
			k.running = direct
		}
		register(id, d, k)
	}
}

// registerScan registers an operator for a dtype that it is computed in.
func registerScan[T integer](id op.ID, d dtype.DType, weight int64, f func(line []T), r running[T]) {
	register(id, d, &scan[T]{codec: new(codec[T]), weight: weight, f: f, running: r})
}

// cost is in additions, as weight is.
func (k *scan[C]) cost(c *device.Call) int64 { return k.weight * c.Out[0].Numel() }

// workspace is nothing: a line is read and written by blocks.
func (k *scan[C]) workspace(*device.Call) int64 { return 0 }

// run gives each thread whole lines, as many as are worth a thread: a line is never split, because f needs all
// of it at once.
func (k *scan[C]) run(t *threads, c *device.Call) error {
	length := lengthAlong(c)
	return t.each(k, c, c.Out[0].Numel()/length, max(grain/(k.weight*length), 1))
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
func (k *scan[C]) part(c *device.Call, lo, hi int64) error {
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
	if k.codec.load == nil && k.codec.store == nil && x.along.IsContiguous() && y.along.IsContiguous() {
		// Lines that lie in memory as the values themselves are computed where the result lies, without room of their
		// own. The copy comes first, so that a result in place of the operand is one too.
		for ; lo < hi; lo++ {
			line := slice[C](y.across.here(), length)
			copy(line, slice[C](x.across.here(), length))
			k.f(line)
			x.across.skip(1)
			y.across.skip(1)
		}
		return nil
	}
	line := roomOf[C](&k.lines, length)
	defer k.lines.Put(line)
	f := newFrame()
	defer f.free()
	var from, to lineAccess[C]
	from.open(&x.along, k.codec, f)
	to.open(&y.along, k.codec, f)
	for values := *line; lo < hi; lo++ {
		copy(values, from.read(x.across.here(), values)) // f writes over them
		k.f(values)
		copy(to.room(y.across.here(), values), values)
		to.write(y.across.here(), values)
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
func (k *scan[C]) columns(x, y *lines, n int64) {
	f := newFrame()
	defer f.free()
	const buffers = 4 // see reduction.columns
	all, values := f.stretch(buffers), f.room()
	from, to, length := &x.across, &y.across, x.along.Numel()
	most := buffers * int64(unsafe.Sizeof(buffer{})/unsafe.Sizeof(k.zero))
	if k.directBeside == nil {
		most = block
	}
	for n > 0 {
		m := to.run(from.run(min(n, most)))
		as := slice[C](all, m)
		for i := range as {
			as[i] = k.zero
		}
		for at := range length {
			src := unsafe.Add(from.here(), at*x.along.Strides[0]*from.size)
			dst := unsafe.Add(to.here(), at*y.along.Strides[0]*to.size)
			if k.directBeside != nil {
				k.directBeside(as, dst, src)
			} else {
				k.step(as, slice[C](values, m), dst, src)
			}
		}
		from.skip(m)
		to.skip(m)
		n -= m
	}
}

// step is running.beside through the codec, with row as room.
// SAFETY: see columns.
func (k *scan[C]) step(as, row []C, dst, src unsafe.Pointer) {
	if k.codec.load == nil {
		copy(row, slice[C](src, int64(len(row))))
	} else {
		k.codec.load(row, src)
	}
	k.beside(as, row)
	if k.codec.store == nil {
		copy(slice[C](dst, int64(len(row))), row)
	} else {
		k.codec.store(dst, row)
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

// lineAccess reads or writes lines that differ only in where they begin: in memory itself where it holds values in order, else
// through a lane.
type lineAccess[C any] struct {
	lane   lane[C]
	direct bool
}

// open opens the first of the lines.
func (l *lineAccess[C]) open(line *device.Operand, c *codec[C], f *frame) {
	l.direct = c.load == nil && c.store == nil && line.IsContiguous()
	if !l.direct {
		l.lane.open(line, c, f, 0)
	}
}

// read is the line that begins at an address, in room unless it lies in memory as values.
// SAFETY: the address is that of a line of the operand that was opened.
func (l *lineAccess[C]) read(at unsafe.Pointer, room []C) []C {
	n := int64(len(room))
	if l.direct {
		return slice[C](at, n)
	}
	l.lane.walk.base = at // the walk is at its end, which is the beginning of the next line
	for done := int64(0); done < n; done += block {
		some := room[done:min(done+block, n)]
		copy(some, l.lane.next(int64(len(some))))
	}
	return room
}

// room is where the values of the line that begins at an address are put, before they are written.
// SAFETY: see read.
func (l *lineAccess[C]) room(at unsafe.Pointer, own []C) []C {
	if l.direct {
		return slice[C](at, int64(len(own)))
	}
	return own
}

// write writes values to the line that begins at an address, unless they are there already.
// SAFETY: see read.
func (l *lineAccess[C]) write(at unsafe.Pointer, values []C) {
	if l.direct {
		return
	}
	l.lane.walk.base = at
	for n, done := int64(len(values)), int64(0); done < n; done += block {
		some := values[done:min(done+block, n)]
		copy(l.lane.space(int64(len(some))), some)
		l.lane.keep()
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
