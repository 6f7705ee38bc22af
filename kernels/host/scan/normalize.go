package scan

import (
	"math"
	"sync"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/rownorm"
)

// normalizing is layer_norm: each line is read as a whole, because its mean and its deviation are needed before its first
// element is written. Weights, and the scales that are a result, are values whatever the elements are.
type normalizing struct {
	engine.Coding
	size int64 // bytes of a value
	// rows normalizes n lines of values, one behind another, and gives the scale of each to next.
	rows  func(dst, src, weight, bias unsafe.Pointer, n, length int64, epsilon float64, centered bool, next func(scale float64))
	rooms sync.Pool // of *[]uint64, for lines that do not lie in memory as values
}

// float16 and bfloat16 go through lines of float32, which rownorm.Normalize computes in float64: they are rounded twice, the second
// time to far fewer digits.
func init() {
	for d, c := range map[dtype.DType]engine.Coding{
		dtype.Float16: engine.HalfCodec(dtype.Float16).Coding, dtype.BFloat16: engine.HalfCodec(dtype.BFloat16).Coding, dtype.Float32: engine.Plain,
	} {
		engine.Register(op.IDLayerNorm, d, &normalizing{Coding: c, size: 4, rows: normalizeRows})
	}
	engine.Register(op.IDLayerNorm, dtype.Float64, &normalizing{size: 8, rows: normalizeRows64})
}

// normalizeRows is the function of float32. Weight and bias may be nil.
// SAFETY: see slice; lines without elements are not read.
func normalizeRows(dst, src, weight, bias unsafe.Pointer, n, length int64, epsilon float64, centered bool, next func(scale float64)) {
	rownorm.NormalizeRows(engine.Slice[float32](dst, n*length), engine.Slice[float32](src, n*length), lineOf[float32](weight, length), lineOf[float32](bias, length), int(length), epsilon, centered, next)
}

// normalizeRows64 is normalizeRows for float64, line by line.
// SAFETY: see normalizeRows.
func normalizeRows64(dst, src, weight, bias unsafe.Pointer, n, length int64, epsilon float64, centered bool, next func(scale float64)) {
	w, b := lineOf[float64](weight, length), lineOf[float64](bias, length)
	for i := range n {
		next(normalizeExactly(engine.Slice[float64](unsafe.Add(dst, 8*i*length), length), engine.Slice[float64](unsafe.Add(src, 8*i*length), length), w, b, epsilon, centered))
	}
}

// lineOf is n values at an address, or nil.
func lineOf[C any](p unsafe.Pointer, n int64) []C {
	if p == nil {
		return nil
	}
	return engine.Slice[C](p, n)
}

// Cost is in additions: three passes over each element, of which vectors make short work.
func (k *normalizing) Cost(c *device.Call) int64 { return 3 * c.Out[0].Numel() }

// Workspace is nothing; what is copied goes into rooms.
func (k *normalizing) Workspace(*device.Call) int64 { return 0 }

// Run gives each thread whole lines.
//
// A line is never split: its sums would depend on where.
func (k *normalizing) Run(t *engine.Threads, c *device.Call) error {
	length := engine.LengthAlong(c)
	return t.Each(k, c, c.Out[0].Numel()/length, k.Cost(c))
}

// Part normalizes lines lo to hi-1, numbered in row-major order.
//
// Room has four lines: weight and bias, which are read once for all lines, and a line of x and one of the result. Each is used
// only where the operand does not lie in memory as values.
// SAFETY: the room is this part's until it is put back, and a value has 8 bytes at most.
func (k *normalizing) Part(c *device.Call, lo, hi int64) error {
	n := engine.LengthAlong(c)
	room := engine.RoomOf[uint64](&k.rooms, 4*n)
	defer k.rooms.Put(room)
	own := func(i int64) unsafe.Pointer { return unsafe.Pointer(&(*room)[i*n]) }
	f := engine.NewFrame()
	defer f.Free()
	var weights [2]unsafe.Pointer // weight and bias; nil where they are left out
	for i := range weights {
		if o := &c.In[1+i]; !o.Absent() {
			var line engine.Access
			line.Open(o, &engine.Plain, k.size, f)
			weights[i] = line.Values(o.Addr, own(int64(i)), n)
		}
	}
	next := func(float64) {}
	if !c.Out[1].Absent() {
		scales := scaleWriters.Get().(*scaleWriter)
		defer scaleWriters.Put(scales)
		scales.at, scales.size = engine.NewLines(c, &c.Out[1], lo), k.size
		next = scales.next
	}
	epsilon, centered := c.Attrs[op.LayerNormEpsilon].F, c.Attrs[op.LayerNormCentered].I != 0
	if k.Read == nil && k.Write == nil && c.In[0].IsContiguous() && c.Out[0].IsContiguous() {
		k.rows(engine.AddressOf(&c.Out[0], lo*n), engine.AddressOf(&c.In[0], lo*n), weights[0], weights[1], hi-lo, n, epsilon, centered, next)
		return nil
	}
	x, y := engine.NewLines(c, &c.In[0], lo), engine.NewLines(c, &c.Out[0], lo)
	var from, to engine.Access
	from.Open(&x.Along, &k.Coding, k.size, f)
	to.Open(&y.Along, &k.Coding, k.size, f)
	for ; lo < hi; lo++ {
		src, dst := from.Values(x.Across.Here(), own(2), n), own(3)
		k.rows(dst, src, weights[0], weights[1], 1, n, epsilon, centered, next)
		to.Write(y.Across.Here(), dst, n)
		x.Across.Skip(1)
		y.Across.Skip(1)
	}
	return nil
}

// scaleWriter writes the scale of each line. It comes from a pool, as a function made in each call would be an allocation.
type scaleWriter struct {
	at   engine.Lines
	size int64 // of an element
	next func(scale float64)
}

var scaleWriters = sync.Pool{New: func() any {
	s := new(scaleWriter)
	s.next = s.write
	return s
}}

func (s *scaleWriter) write(scale float64) {
	if s.size == 4 {
		*(*float32)(s.at.Across.Here()) = float32(scale)
	} else {
		*(*float64)(s.at.Across.Here()) = scale
	}
	s.at.Across.Skip(1)
}

// There is nothing wider to compute float64 in, so that each number is two: what rounding drops is kept beside it.

// pair is high + low, of which low is at most half a unit in the last place of high.
type pair struct{ high, low float64 }

// sumOf is a + b. What the first addition drops is found exactly, whichever of the two is larger.
//
// Knuth, The Art of Computer Programming 2, 4.2.2.
func sumOf(a, b pair) pair {
	s := a.high + b.high
	back := s - a.high
	low := (a.high - (s - back)) + (b.high - back) + a.low + b.low
	return pair{s + low, low - ((s + low) - s)}
}

// productOf is a * b. A fused multiply-add gives what the product of the high parts drops; the product of the low parts is below
// what a pair holds.
func productOf(a, b pair) pair {
	p := a.high * b.high
	low := math.FMA(a.high, b.high, -p) + (a.high*b.low + a.low*b.high)
	return pair{p + low, low - ((p + low) - p)}
}

// divided is a / n. The remainder of the first quotient is exact by a fused multiply-add, and is divided too.
func (a pair) divided(n float64) pair {
	q := a.high / n
	low := (math.FMA(-q, n, a.high) + a.low) / n
	return pair{q + low, low - ((q + low) - q)}
}

// inverseRoot is 1 / sqrt(a): a step of Newton's method from what float64 gives, r + r * (1 - a * r * r) / 2.
//
// Of zero, infinity and NaN it is what float64 gives.
func (a pair) inverseRoot() pair {
	r := 1 / math.Sqrt(a.high)
	if r-r != 0 || r == 0 {
		return pair{r, 0}
	}
	off := sumOf(pair{1, 0}, productOf(pair{-r, 0}, productOf(pair{r, 0}, a)))
	return sumOf(pair{r, 0}, pair{r * off.high / 2, 0})
}

// normalizeExactly is rownorm.Normalize for float64.
//
// It takes some ten times as long as that for an element. Networks do not compute in float64; checks of gradients do, and
// these want the digits.
func normalizeExactly(dst, src, weight, bias []float64, epsilon float64, centered bool) (scale float64) {
	var mean, squares pair
	n := float64(len(src))
	if centered {
		for _, x := range src {
			mean = sumOf(mean, pair{x, 0})
		}
		mean = mean.divided(n)
		mean.high, mean.low = -mean.high, -mean.low
	}
	for _, x := range src {
		d := sumOf(pair{x, 0}, mean)
		squares = sumOf(squares, productOf(d, d))
	}
	by := sumOf(squares.divided(n), pair{epsilon, 0}).inverseRoot()
	for i, x := range src {
		y := productOf(sumOf(pair{x, 0}, mean), by)
		if weight != nil {
			y = productOf(y, pair{weight[i], 0})
		}
		if bias != nil {
			y = sumOf(y, pair{bias[i], 0})
		}
		dst[i] = y.high
	}
	return by.high
}
