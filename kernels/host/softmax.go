package host

import (
	"math"
	"sync"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// softmax is exp(x - max(x)) / sum(exp(x - max(x))) along one axis, computed in float64: in float32
// the rounding of x - max(x) alone would cost dozens of ulps.
type softmax struct{ codec *codec[float64] }

func init() {
	register("softmax", dtype.Float16, &softmax{half64Codec(dtype.Float16)})
	register("softmax", dtype.BFloat16, &softmax{half64Codec(dtype.BFloat16)})
	register("softmax", dtype.Float32, &softmax{&codec[float64]{
		load: loadWith(func(dst []float64, src []float32) {
			for i, x := range src {
				dst[i] = float64(x)
			}
		}),
		store: storing[float64](dtype.Float64, dtype.Float32).store,
	}})
	register("softmax", dtype.Float64, &softmax{new(codec[float64])})
}

func (k *softmax) cost(c *device.Call) int64    { return 3 * heavy * c.Out[0].Numel() }
func (k *softmax) workspace(*device.Call) int64 { return 0 }

func (k *softmax) run(t *threads, c *device.Call) error {
	n := c.Out[0].Numel()
	if n == 0 {
		return nil
	}
	length := lengthAlong(c)
	return t.each(k, c, n/length, max(grain/(3*heavy*length), 1))
}

// lengthAlong is the number of elements that a scan runs over; 1 for a tensor without axes.
func lengthAlong(c *device.Call) int64 {
	if c.Out[0].Rank == 0 {
		return 1
	}
	return c.Out[0].Dims[c.Axes.First()]
}

// part scans lines lo to hi-1, numbered in row-major order of the other axes.
func (k *softmax) part(c *device.Call, lo, hi int64) error {
	length := lengthAlong(c)
	x, y := newScan(c, &c.In[0], lo), newScan(c, &c.Out[0], lo)
	line := newLine(length)
	defer lines.Put(line)
	f := newFrame()
	defer f.free()
	var from, to lane[float64]
	from.open(&x.along, k.codec, f, 0)
	to.open(&y.along, k.codec, f, 0)
	values := (*line)[:length]
	for ; lo < hi; lo++ {
		from.walk.base, to.walk.base = x.across.here(), y.across.here()
		for at := int64(0); at < length; at += block {
			n := min(block, length-at)
			copy(values[at:at+n], from.next(n))
		}
		normalise(values)
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

// scan is an operand cut into lines along one axis.
type scan struct {
	across walk           // visits the first element of each line
	along  device.Operand // the first line
}

func newScan(c *device.Call, o *device.Operand, line int64) (s scan) {
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

// lines are buffers for whole lines, which may be long.
var lines = sync.Pool{New: func() any { return new([]float64) }}

func newLine(length int64) *[]float64 {
	line := lines.Get().(*[]float64)
	if int64(cap(*line)) < length {
		*line = make([]float64, length)
	}
	*line = (*line)[:cap(*line)]
	return line
}

// normalise replaces a line by its softmax. A nan anywhere, or an infinite maximum, makes it nan.
func normalise(line []float64) {
	top := math.Inf(-1)
	for _, x := range line {
		top = larger(top, x)
	}
	for i := range line {
		line[i] -= top
	}
	vec.Exp.Row64(line, line)
	var sum twofold // any other sum would cost more ulps than there are to spare in float64
	for _, x := range line {
		sum = sum.plus(x)
	}
	for i := range line {
		line[i] /= sum.value()
	}
}
