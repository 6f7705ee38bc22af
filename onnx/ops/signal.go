package ops

import (
	"math"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/onnx/build"
)

// Signals. A Fourier transform is a product with the matrix of its roots of unity: exact enough and simple, though slower
// than a fast one for long signals.
//
// Windows and matrices are computed here in double precision and are constants of the graph.

// longestSignal is the largest number of elements of a matrix of roots.
const longestSignal = 1 << 24

var signals = []entry{
	{"HannWindow", 17, 0, func(c *build.Call) []*build.Value { return build.One(window(c, 0.5, 0.5, 0)) }},
	{"HammingWindow", 17, 0, func(c *build.Call) []*build.Value { return build.One(window(c, 25.0/46, 21.0/46, 0)) }},
	{"BlackmanWindow", 17, 0, func(c *build.Call) []*build.Value {
		return build.One(window(c, 0.42, 0.5, 0.08))
	}},
	// DFT: signal, length, axis.
	{"DFT", 17, 0, dftAttribute},
	{"DFT", 20, 0, dftOperand},
	// STFT: signal, step, window, length.
	{"STFT", 17, 0, stft},
	// MelWeightMatrix: bins, length, rate, lower and upper edge.
	{"MelWeightMatrix", 17, 0, melWeights},
}

// window is a sum of cosines, over a period or up to the same element again. The numbers are those of attribute
// output_datatype.
func window(c *build.Call, a, b, d float64) *build.Value {
	n := int64(c.Number(0, "the size"))
	if n < 0 || n > longestSignal {
		c.Wrong("the size is %d", n)
	}
	span := float64(n)
	if !c.Yes("periodic", 1) {
		span--
	}
	c.Room(n)
	list := make([]float64, n)
	for i := range list {
		turn := 2 * math.Pi * float64(i) / span
		list[i] = a - b*math.Cos(turn) + d*math.Cos(2*turn)
	}
	return c.Reals(c.Elem("output_datatype", dtype.Float32), []int64{n}, list)
}

// dftAttribute is DFT before opset 20: the axis is an attribute.
func dftAttribute(c *build.Call) []*build.Value { return build.One(dft(c, c.Int("axis", 1))) }

// dftOperand has the axis as the third operand; it is the one before the last by default.
func dftOperand(c *build.Call) []*build.Value {
	axis := int64(-2)
	if c.Has(2) {
		axis = int64(c.Number(2, "the axis"))
	}
	return build.One(dft(c, axis))
}

// dft transforms along an axis. The last axis has the real part, and perhaps the imaginary one. A signal that is
// shorter than dft_length ends with zeros, and a longer one is cut.
func dft(c *build.Call, axis int64) *build.Value {
	x := c.X(0)
	if x.Rank() < 2 {
		c.Wrong("the operand has %d dimensions; want 2 or more", x.Rank())
	}
	a := c.Axis(axis, x.Rank())
	if a == x.Rank()-1 {
		c.Wrong("the axis is the one of real and imaginary parts")
	}
	n, inverse, onesided := x.Dims()[a], c.Yes("inverse", 0), c.Yes("onesided", 0)
	half := inverse && onesided // what is given is the first half of a spectrum, and the result is real
	if half {
		n = 2 * (n - 1)
	}
	if c.Has(1) {
		if n = int64(c.Number(1, "dft_length")); n > longestSignal {
			c.Wrong("dft_length is %d", n)
		}
	}
	if n < 1 {
		c.Wrong("a transform has %d elements; want 1 or more", n)
	}
	want := n
	if half {
		want = n/2 + 1
	}
	if have := x.Dims()[a]; have > want {
		x = c.Slice(x, a, 0, want)
	} else if have < want {
		x = padAxis(c, x, a, 0, want-have, build.Integer(0))
	}
	return transformed(c, x, a, n, inverse, onesided)
}

// transformed is the product with the roots. A onesided result has the first half; a onesided inverse is given it, and each
// of its frequencies stands for two, but for the first and, of an even length, the last. The result has a real and an imaginary
// part as its last axis; that of a onesided inverse is real.
func transformed(c *build.Call, x *build.Value, axis int, n int64, inverse, onesided bool) *build.Value {
	last, in, out := x.Rank()-1, n, n
	switch half := n/2 + 1; {
	case onesided && inverse:
		in = half
	case onesided:
		out = half
	}
	if n > longestSignal || in*out > longestSignal {
		c.Refuse("a transform of %d elements is not supported", n)
	}
	c.Room(2, in, out)
	cos, sin := make([]float64, in*out), make([]float64, in*out)
	sign, scale := -1.0, 1.0
	if inverse {
		sign, scale = 1, 1/float64(n)
	}
	for i := range in {
		times := scale
		if in < n && i > 0 && 2*i < n {
			times *= 2
		}
		for k := range out {
			turn := 2 * math.Pi * float64(i*k%n) / float64(n)
			cos[i*out+k], sin[i*out+k] = times*math.Cos(turn), times*sign*math.Sin(turn)
		}
	}
	roots := []int64{in, out}
	re, im := c.Reals(x.DType, roots, cos), c.Reals(x.DType, roots, sin)
	times := func(v, m *build.Value) *build.Value { // along the axis, which goes to the end and back
		end := v.Rank() - 1
		return c.Swap(c.Matmul(c.Swap(v, axis, end), m), axis, end)
	}
	real := c.Pick(x, last, 0)
	first, second := times(real, re), times(real, im)
	if x.Dims()[last] == 2 {
		imaginary := c.Pick(x, last, 1)
		first, second = c.Sub(first, times(imaginary, im)), c.Add(second, times(imaginary, re))
	}
	if onesided && inverse {
		return c.Unsqueeze(first, int64(last))
	}
	return c.Concat(last, c.Unsqueeze(first, int64(last)), c.Unsqueeze(second, int64(last)))
}

// stft cuts a signal [batch, length, 1 or 2] into frames, multiplies by a window and transforms each. Operands:
// signal, frame_step, window, frame_length. Result: [batch, frames, bins, 2].
func stft(c *build.Call) []*build.Value {
	x, step := c.X(0), int64(c.Number(1, "frame_step"))
	if x.Rank() == 2 {
		x = c.Unsqueeze(x, 2)
	}
	var frame int64
	switch {
	case c.Has(3):
		frame = int64(c.Number(3, "frame_length"))
	case c.Has(2):
		frame = c.X(2).Shape.Numel()
	default:
		c.Wrong("neither window nor frame_length is given")
	}
	length := x.Dims()[1]
	if step < 1 || frame < 1 || frame > length {
		c.Wrong("frame_step is %d and frame_length %d for %d elements", step, frame, length)
	}
	frames := (length-frame)/step + 1
	c.Room(frames, frame)
	places := make([]int64, 0, frames*frame)
	for f := range frames {
		for i := range frame {
			places = append(places, f*step+i)
		}
	}
	y := c.Reshape(c.Take(x, 1, places), x.Dims()[0], frames, frame, x.Dims()[2])
	if c.Has(2) {
		y = c.Mul(y, c.Reshape(c.Cast(c.X(2), x.DType), frame, 1))
	}
	return build.One(transformed(c, y, 2, frame, false, c.Yes("onesided", 1) && x.Dims()[2] == 1))
}

// melWeights are triangles over the bins of a spectrum, at even distances on the mel scale. All operands are
// numbers, so that the matrix is a constant. Edges are rounded down to bins of the spectrum.
func melWeights(c *build.Call) []*build.Value {
	bins, size, rate := int64(c.Number(0, "num_mel_bins")), int64(c.Number(1, "dft_length")), c.Number(2, "sample_rate")
	low, high := c.Number(3, "lower_edge_hertz"), c.Number(4, "upper_edge_hertz")
	spectrum := size/2 + 1
	if bins < 1 || size < 1 {
		c.Wrong("there are %d bins for %d elements", bins, size)
	}
	c.Room(bins+2, spectrum)
	mel := func(hertz float64) float64 { return 2595 * math.Log10(1+hertz/700) }
	edges := make([]int64, bins+2)
	width := (mel(high) - mel(low)) / float64(bins+2)
	for i := range edges {
		hertz := 700 * (math.Pow(10, (float64(i)*width+mel(low))/2595) - 1)
		edge := math.Floor(float64(size+1) * hertz / rate)
		if !(edge >= 0) { // NaN too
			c.Wrong("the edges are %g to %g Hz at a rate of %g; want none below 0", low, high, rate)
		}
		edges[i] = int64(min(edge, 1<<40))
	}
	list := make([]float64, spectrum*bins)
	at := func(row, bin int64) *float64 { return &list[min(row, spectrum-1)*bins+bin] }
	for b := range bins {
		lower, center, upper := edges[b], edges[b+1], edges[b+2]
		if lower == center {
			*at(center, b) = 1
		} else {
			for j := lower; j <= min(center, spectrum-1); j++ {
				*at(j, b) = float64(j-lower) / float64(center-lower)
			}
		}
		for j := center; j < min(upper, spectrum); j++ {
			*at(j, b) = float64(upper-j) / float64(upper-center)
		}
	}
	return build.One(c.Reals(c.Elem("output_datatype", dtype.Float32), []int64{spectrum, bins}, list))
}
