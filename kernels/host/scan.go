package host

import (
	"sync"

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
}

// registerScanFloats registers an operator for all floats, computed in float64 and rounded once.
func registerScanFloats(id op.ID, weight int64, f func(line []float64)) {
	for d, c := range map[dtype.DType]*codec[float64]{
		dtype.Float16: half64Codec(dtype.Float16), dtype.BFloat16: half64Codec(dtype.BFloat16),
		dtype.Float32: float64Codec(), dtype.Float64: new(codec[float64]),
	} {
		register(id, d, &scan[float64]{codec: c, weight: weight, f: f})
	}
}

// registerScan registers an operator for a dtype that it is computed in.
func registerScan[T integer](id op.ID, d dtype.DType, weight int64, f func(line []T)) {
	register(id, d, &scan[T]{codec: new(codec[T]), weight: weight, f: f})
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
	line := k.line(length)
	defer k.lines.Put(line)
	f := newFrame()
	defer f.free()
	var from, to lane[C]
	from.open(&x.along, k.codec, f, 0)
	to.open(&y.along, k.codec, f, 0)
	values := (*line)[:length]
	for ; lo < hi; lo++ {
		// The lanes walk along the first line; another line is the same walk from another element.
		from.walk.base, to.walk.base = x.across.here(), y.across.here()
		for at := int64(0); at < length; at += block {
			n := min(block, length-at)
			copy(values[at:at+n], from.next(n))
		}
		k.f(values)
		for at := int64(0); at < length; at += block {
			n := min(block, length-at)
			copy(to.space(n), values[at:])
			to.keep()
		}
		x.across.skip(1)
		y.across.skip(1)
	}
	return nil
}

// line is room for a whole line, with undefined contents. It comes from a pool that all calls share; the caller
// puts it back.
func (k *scan[C]) line(length int64) *[]C {
	// A line that is too short for this call is left to the garbage collector.
	line, ok := k.lines.Get().(*[]C)
	if !ok || int64(cap(*line)) < length {
		line = new([]C)
		*line = make([]C, length)
	}
	*line = (*line)[:cap(*line)]
	return line
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
