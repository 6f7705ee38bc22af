package formula

import (
	"math"

	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// Fourier transforms of pairs of real and imaginary parts, as products with matrices of roots of unity: exact enough and simple,
// though slower than a fast transform for long signals.

// mostRoots is the largest number of elements of a matrix of roots.
const mostRoots = 1 << 24

// transform is how long a Fourier transform is: n elements, of which a onesided one reads or makes the first half.
type transform struct {
	n, in, out        int64
	inverse, onesided bool
}

// transformOf is that of an axis. A length of 0 is that of the axis, or of the signal whose first half a onesided inverse is given.
func transformOf(have, length int64, inverse, onesided bool) transform {
	n := length
	if n == 0 {
		if n = have; inverse && onesided {
			n = 2 * (n - 1)
		}
	}
	t := transform{n: n, in: n, out: n, inverse: inverse, onesided: onesided}
	switch half := n/2 + 1; {
	case onesided && inverse:
		t.in = half
	case onesided:
		t.out = half
	}
	return t
}

// check refuses transforms of no elements, and those whose matrix would be too large.
func (t *transform) check(name string) error {
	if t.n < 1 {
		return status.Errorf(status.Invalid, "[%s] a transform has %d elements; want 1 or more", name, t.n)
	}
	if t.n > mostRoots || t.in > mostRoots/t.out {
		return status.Errorf(status.Unsupported, "[%s] a transform has %d elements; want a matrix of at most %d", name, t.n, mostRoots)
	}
	return nil
}

// parts is how many parts numbers of the result have: that of a onesided inverse is real.
func (t *transform) parts() int64 {
	if t.inverse && t.onesided {
		return 1
	}
	return 2
}

// transformedAxis is the rule of dft.
func transformedAxis(c *op.Inference) error {
	s := c.In[0].Shape
	axis, err := shape.Axis(c.Row.Name, c.Attr("axis").I, s.Rank)
	if err != nil {
		return err
	}
	last := s.Rank - 1
	if axis == last || op.Differ(s.Dims[last], 1) && op.Differ(s.Dims[last], 2) {
		return status.Errorf(status.Invalid, "[%s] x has shape %s and the axis is %d; want the real and perhaps the imaginary part of numbers on another, the last axis", c.Row.Name, &s, axis)
	}
	length := c.Attr("length").I
	have := s.Dims[axis]
	unknown := shape.IsSymbol(have) && length == 0
	if unknown {
		have = 2
	}
	t := transformOf(have, length, c.Attr("inverse").I != 0, c.Attr("onesided").I != 0)
	if err := t.check(c.Row.Name); err != nil {
		return err
	}
	switch s.Dims[last] = t.parts(); {
	case unknown && t.onesided:
		s.Dims[axis] = c.Unknown()
	case !unknown:
		s.Dims[axis] = t.out
	}
	c.Out[0].Shape = s
	return nil
}

// transformSignal computes dft.
func transformSignal(e *evaluation, args []*quantity) *quantity {
	x := args[0].v
	s := e.Shape(x)
	axis, _ := e.axis(&s, args[2])
	if e.Err != nil {
		return args[0]
	}
	t := transformOf(s.Dims[axis], args[1].value.I, args[3].value.I != 0, args[4].value.I != 0)
	return &quantity{v: e.transformed(e.lengthened(x, axis, t.in), axis, &t)}
}

// lengthened is a value cut to a length along an axis, or with zeros at its end.
func (e *evaluation) lengthened(x op.Var, axis int, n int64) op.Var {
	s := e.Shape(x)
	switch have := s.Dims[axis]; {
	case have > n:
		return between(e.Calls, x, int64(axis), 0, n)
	case have < n:
		s.Dims[axis] = n - have
		zeros := e.Filled(&s, op.Value{Kind: op.Float}, e.dtypeOf(x))
		return e.Do(op.IDConcat, op.Attrs{{Kind: op.Int, I: int64(axis)}}, x, zeros)
	}
	return x
}

// transformed is the product with the roots. Of what a onesided inverse is given each frequency stands for two, but for the first
// and, of an even length, the last.
func (e *evaluation) transformed(x op.Var, axis int, t *transform) op.Var {
	if e.Err == nil {
		e.Err = t.check(e.of.name)
	}
	if e.Err != nil {
		return x
	}
	cos, sin := make([]float64, t.in*t.out), make([]float64, t.in*t.out)
	sign, scale := -1.0, 1.0
	if t.inverse {
		sign, scale = 1, 1/float64(t.n)
	}
	for i := range t.in {
		times := scale
		if t.in < t.n && i > 0 && 2*i < t.n {
			times *= 2
		}
		for k := range t.out {
			turn := 2 * math.Pi * float64(i*k%t.n) / float64(t.n)
			cos[i*t.out+k], sin[i*t.out+k] = times*math.Cos(turn), times*sign*math.Sin(turn)
		}
	}
	d, s := e.dtypeOf(x), e.Shape(x)
	last := int64(s.Rank - 1)
	re, im := constant(e.Calls, cos, d), constant(e.Calls, sin, d)
	times := func(v, matrix op.Var) op.Var { return e.alongMatrix(v, axis, matrix, t.in, t.out) }
	one := between(e.Calls, x, last, 0, 1)
	first, second := times(one, re), op.NoVar
	if t.parts() == 2 {
		second = times(one, im)
	}
	if s.Dims[last] == 2 {
		other := between(e.Calls, x, last, 1, 2)
		first = e.Subtract(first, times(other, im))
		if second != op.NoVar {
			second = e.Add(second, times(other, re))
		}
	}
	if second == op.NoVar {
		return first
	}
	return e.Do(op.IDConcat, op.Attrs{{Kind: op.Int, I: last}}, first, second)
}

// framedSignal is the rule of stft.
func framedSignal(c *op.Inference) error {
	s, step, frame := c.In[0].Shape, c.Attr("frame_step").I, c.Attr("frame_length").I
	length := s.Dims[1]
	if s.Rank != 3 || op.Differ(s.Dims[2], 1) && op.Differ(s.Dims[2], 2) || step < 1 || frame < 1 || !shape.IsSymbol(length) && frame > length {
		return status.Errorf(status.Invalid, "[%s] x has shape %s, frame_length is %d and frame_step %d; want [batch, length, 1 or 2] and numbers from 1, of which frame_length is at most the length", c.Row.Name, &s, frame, step)
	}
	if window := &c.In[1]; !window.Absent && (window.Shape.Rank != 1 || op.Differ(window.Shape.Dims[0], frame)) {
		return status.Errorf(status.Invalid, "[%s] window has shape %s; want [%d]", c.Row.Name, &window.Shape, frame)
	}
	onesided := c.Attr("onesided").I != 0
	if onesided && op.Differ(s.Dims[2], 1) {
		return status.Errorf(status.Invalid, "[%s] x has shape %s and onesided is true; want it false for complex numbers", c.Row.Name, &s)
	}
	t := transformOf(frame, frame, false, onesided)
	if err := t.check(c.Row.Name); err != nil {
		return err
	}
	out := shape.Shape{Rank: 4}
	out.Dims = s.Dims
	if shape.IsSymbol(length) {
		out.Dims[1] = c.Unknown()
	} else {
		out.Dims[1] = (length-frame)/step + 1
	}
	out.Dims[2], out.Dims[3] = t.out, 2
	c.Out[0].Shape = out
	return nil
}

// framesFit checks the attributes of frame and overlap_add.
func framesFit(c *op.Inference) error {
	s, last := &c.In[0].Shape, len(c.Attrs)-1 // of frame the frame length is the first of three
	axis, step, least, frame := c.Attrs[last].I, c.Attrs[last-1].I, 2, int64(1)
	if last == 2 {
		least, frame = 1, c.Attrs[0].I
	}
	if s.Rank >= least && step > 0 && frame > 0 && (axis == 0 || axis == -1) {
		if n := s.Dims[-axis*int64(s.Rank-1)]; least == 2 || shape.IsSymbol(n) || frame <= n {
			return nil
		}
	}
	return status.Errorf(status.Invalid, "[%s] x has shape %s, and frames of %d are %d apart along axis %d; want an axis of 0 or -1, and numbers from 1 within it", c.Row.Name, s, frame, step, axis)
}
