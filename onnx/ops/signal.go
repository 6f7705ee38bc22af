package ops

import (
	"math"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/onnx/build"
)

// Signals. Windows and matrices are computed in double precision and are constants of the graph.

// longestSignal is the largest number of elements of a window or a transform.
const longestSignal = 1 << 24

var signals = []entry{
	{"HannWindow", 17, 0, func(c *build.Call) []*build.Value { return build.One(window(c, 0.5, 0.5)) }},
	{"HammingWindow", 17, 0, func(c *build.Call) []*build.Value { return build.One(window(c, 25.0/46, 21.0/46)) }},
	{"BlackmanWindow", 17, 0, func(c *build.Call) []*build.Value { return build.One(window(c, 0.42, 0.5, 0.08)) }},
	{"DFT", 17, 0, dft},                    // signal, length, axis; an attribute before opset 20
	{"STFT", 17, 0, stft},                  // signal, step, window, length
	{"MelWeightMatrix", 17, 0, melWeights}, // bins, length, rate, lower and upper edge
}

// window is the row. The numbers are those of attribute output_datatype.
func window(c *build.Call, coefficients ...float64) *build.Value {
	n := int64(c.Number(0, "the size"))
	if n > longestSignal {
		c.Wrong("the size is %d", n)
	}
	c.Room(max(n, 0))
	return c.Do(op.IDGeneralCosine, build.With(op.GeneralCosineSize, n, op.GeneralCosineCoefficients, coefficients,
		op.GeneralCosinePeriodic, c.Yes("periodic", 1), op.GeneralCosineDtype, c.Elem("output_datatype", dtype.Float32)))
}

// dft is the row. A signal that is shorter than dft_length ends with zeros, and a longer one is cut. The axis is the one before the
// last by default, and before opset 20 axis 1.
func dft(c *build.Call) []*build.Value {
	x, length, axis := c.X(0), int64(c.NumberOr(1, "dft_length", 0)), int64(c.NumberOr(2, "the axis", -2))
	if c.Opset < 20 {
		axis = c.Int("axis", 1)
	}
	if x.Rank() < 2 {
		c.Wrong("the operand has %d dimensions; want 2 or more", x.Rank())
	}
	if c.Has(1) && length < 1 {
		c.Wrong("dft_length is %d; want 1 or more", length)
	}
	n := max(length, x.Dims()[c.Axis(axis, x.Rank())])
	if n > longestSignal {
		c.Refuse("a transform of %d elements is not supported", n)
	}
	c.Room(4, n, n)
	at := build.With(op.DftLength, length, op.DftAxis, axis, op.DftInverse, c.Yes("inverse", 0), op.DftOnesided, c.Yes("onesided", 0))
	return build.One(c.Do(op.IDDft, at, x))
}

// stft is the row. Operands: signal, frame_step, window, frame_length. Result: [batch, frames, bins, 2].
func stft(c *build.Call) []*build.Value {
	x, step, frame := c.X(0), int64(c.Number(1, "frame_step")), int64(0)
	if x.Rank() == 2 {
		x = c.Unsqueeze(x, 2)
	}
	switch {
	case c.Has(3):
		frame = int64(c.Number(3, "frame_length"))
	case c.Has(2):
		frame = c.X(2).Shape.Numel()
	default:
		c.Wrong("neither window nor frame_length is given")
	}
	if x.Rank() != 3 || step < 1 || frame < 1 || frame > x.Dims()[1] {
		c.Wrong("frame_step is %d and frame_length %d for a signal of shape %s", step, frame, &x.Shape)
	}
	c.Room((x.Dims()[1]-frame)/step+1, frame)
	c.Room(2, frame, frame)
	at := build.With(op.StftFrameLength, frame, op.StftFrameStep, step, op.StftOnesided, c.Yes("onesided", 1) && x.Dims()[2] == 1)
	return build.One(c.Do(op.IDStft, at, x, c.Optional(2)))
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
