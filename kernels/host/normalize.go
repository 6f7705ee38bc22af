package host

import (
	"math"
	"sync"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// normalizing is layer_norm: each line is read as a whole, because its mean and its deviation are needed before its first
// element is written. Weights, and the scales that are a result, are C whatever the elements are.
type normalizing[C float32 | float64] struct {
	codec *codec[C]
	line  func(dst, src, weight, bias []C, epsilon float64, centered bool) (scale float64)
	plain codec[C]  // of the weights
	rooms sync.Pool // of *[]C, for lines that do not lie in memory as values
}

// float16 and bfloat16 go through lines of float32, which vec.Normalize computes in float64: they are rounded twice, the second
// time to far fewer digits.
func init() {
	for d, c := range map[dtype.DType]*codec[float32]{
		dtype.Float16: halfCodec(dtype.Float16), dtype.BFloat16: halfCodec(dtype.BFloat16), dtype.Float32: new(codec[float32]),
	} {
		register(op.IDLayerNorm, d, &normalizing[float32]{codec: c, line: vec.Normalize})
	}
	register(op.IDLayerNorm, dtype.Float64, &normalizing[float64]{codec: new(codec[float64]), line: normalizeExactly})
}

// cost is in additions: three passes over each element, of which vectors make short work.
func (k *normalizing[C]) cost(c *device.Call) int64 { return 3 * c.Out[0].Numel() }

// workspace is nothing; what is copied goes into rooms.
func (k *normalizing[C]) workspace(*device.Call) int64 { return 0 }

// run gives each thread whole lines.
//
// A line is never split: its sums would depend on where.
func (k *normalizing[C]) run(t *threads, c *device.Call) error {
	length := lengthAlong(c)
	return t.each(k, c, c.Out[0].Numel()/length, k.cost(c))
}

// part normalizes lines lo to hi-1, numbered in row-major order.
//
// Room has four lines: weight and bias, which are read once for all lines, and a line of x and one of the result. Each is used
// only where the operand does not lie in memory as values.
func (k *normalizing[C]) part(c *device.Call, lo, hi int64) error {
	n := lengthAlong(c)
	room := roomOf[C](&k.rooms, 4*n)
	defer k.rooms.Put(room)
	// own is one of the lines of the room.
	own := func(i int64) []C { return (*room)[i*n:][:n] }
	f := newFrame()
	defer f.free()
	var weights [2][]C // weight and bias; nil where they are left out
	for i := range weights {
		o := &c.In[1+i]
		if o.Absent() {
			continue
		}
		var line lineAccess[C]
		line.open(o, &k.plain, f)
		weights[i] = line.read(o.Addr, own(int64(i)))
	}
	x, y := newLines(c, &c.In[0], lo), newLines(c, &c.Out[0], lo)
	var from, to lineAccess[C]
	from.open(&x.along, k.codec, f)
	to.open(&y.along, k.codec, f)
	var scales lines
	if !c.Out[1].Absent() {
		scales = newLines(c, &c.Out[1], lo)
	}
	epsilon, centered := c.Attrs[op.LayerNormEpsilon].F, c.Attrs[op.LayerNormCentered].I != 0
	for ; lo < hi; lo++ {
		src, dst := from.read(x.across.here(), own(2)), to.room(y.across.here(), own(3))
		scale := k.line(dst, src, weights[0], weights[1], epsilon, centered)
		to.write(y.across.here(), dst)
		x.across.skip(1)
		y.across.skip(1)
		if !c.Out[1].Absent() {
			*(*C)(scales.across.here()) = C(scale)
			scales.across.skip(1)
		}
	}
	return nil
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

// normalizeExactly is vec.Normalize for float64.
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
