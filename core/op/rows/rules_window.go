package rows

import (
	"math"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// The rules of operators that move a window. Dimensions that are symbols pass; sizes that follow from them are unknown.

// window reads the attributes for x's number of axes, and gives x with its channels in front.
func window(c *op.Inference) (w op.Windows, x shape.Shape, err error) {
	s := &c.In[0].Shape
	if s.Rank < 3 || s.Rank > 2+op.MaxSpatial {
		return w, x, status.Errorf(status.Invalid, "[%s] x has %s; want 3 to %d: batch, channels and spatial axes", c.Row.Name, status.Count(s.Rank, "dimension", "dimensions"), 2+op.MaxSpatial)
	}
	if w, err = op.WindowsOf(c.Row, c.Attrs, s.Rank-2); err != nil {
		return w, x, err
	}
	return w, w.Image(s), nil
}

// weighted is window for rows whose second operand is a weight [of x's channels or others, their share, kernel...].
func weighted(c *op.Inference) (w op.Windows, x, weight shape.Shape, err error) {
	if w, x, err = window(c); err != nil {
		return w, x, weight, err
	}
	weight = c.In[1].Shape
	if weight.Rank != x.Rank {
		return w, x, weight, status.Errorf(status.Invalid, "[%s] x has %d dimensions and weight %d; want as many", c.Row.Name, x.Rank, weight.Rank)
	}
	for i := range w.Axes {
		if w.Kernel[i] = weight.Dims[2+i]; w.Kernel[i] == 0 || w.Kernel[i] > op.LargestSide {
			return w, x, weight, status.Errorf(status.Invalid, "[%s] weight has shape %s; want a kernel of 1 element or more", c.Row.Name, &weight)
		}
	}
	return w, x, weight, nil
}

// checkGroups refuses channels that groups do not divide.
func checkGroups(c *op.Inference, what string, channels, groups int64) error {
	if !shape.IsSymbol(channels) && channels%groups != 0 {
		return status.Errorf(status.Invalid, "[%s] %s are %d and groups %d; want a multiple", c.Row.Name, what, channels, groups)
	}
	return nil
}

// convolved is the rule of conv. x has channels for each group as the weight says, and the result one for each of the
// weight's first axis. A result without windows is refused, as an empty kernel is: neither has a gradient.
func convolved(c *op.Inference) error {
	w, x, weight, err := weighted(c)
	if err != nil {
		return err
	}
	if err := checkGroups(c, "output channels", weight.Dims[0], w.Groups); err != nil {
		return err
	}
	if got := c.Times(weight.Dims[1], w.Groups); op.Differ(got, x.Dims[1]) {
		return status.Errorf(status.Invalid, "[%s] x has %d channels and weight shape %s in %s; want x with %d", c.Row.Name, x.Dims[1], &weight, status.Count(int(w.Groups), "group", "groups"), got)
	}
	out := x
	out.Dims[1] = weight.Dims[0]
	if err := counted(c, &w, &x, &out); err != nil {
		return err
	}
	c.Out[0].Shape = w.Result(out)
	return nil
}

// counted fills in the number of windows on each axis. A pool may have none, as in Paddle.
func counted(c *op.Inference, w *op.Windows, x, out *shape.Shape) error {
	least := int64(1)
	if w.ByKernel {
		least = 0
	}
	for i := range w.Axes {
		size := x.Dims[2+i]
		if shape.IsSymbol(size) && !w.Adaptive || shape.IsSymbol(w.Kernel[i]) {
			out.Dims[2+i] = c.Unknown()
			continue
		}
		n := w.Count(i, size)
		if n < least {
			return status.Errorf(status.Invalid, "[%s] a window of %d elements does not fit axis %d of %d with padding %d and %d", c.Row.Name, w.Dilation[i]*(w.Kernel[i]-1)+1, i, size, w.Before[i], w.Behind[i])
		}
		out.Dims[2+i] = n
	}
	return nil
}

// convolvedBack is the rule of conv_transpose. The weight is that of the convolution which is transposed: its first axis
// counts the channels of x, its second those of one group of the result.
func convolvedBack(c *op.Inference) error {
	w, x, weight, err := weighted(c)
	if err != nil {
		return err
	}
	if err := checkGroups(c, "channels of x", x.Dims[1], w.Groups); err != nil {
		return err
	}
	if op.Differ(weight.Dims[0], x.Dims[1]) {
		return status.Errorf(status.Invalid, "[%s] x has %d channels and weight shape %s; want as many in front", c.Row.Name, x.Dims[1], &weight)
	}
	out := x
	out.Dims[1] = c.Times(weight.Dims[1], w.Groups)
	for i := range w.Axes {
		if shape.IsSymbol(x.Dims[2+i]) || shape.IsSymbol(w.Kernel[i]) {
			out.Dims[2+i] = c.Unknown()
			continue
		}
		n := w.Back(i, x.Dims[2+i])
		if n < 1 {
			return status.Errorf(status.Invalid, "[%s] axis %d of the result would have %d elements; want 1 or more", c.Row.Name, i, n)
		}
		out.Dims[2+i] = n
	}
	c.Out[0].Shape = w.Result(out)
	return nil
}

// convolvedWeight is the rule of conv_weight. The spatial axes of y are the windows that kernel_size has on x; where
// sizes are symbols this is seen when the program is compiled for numbers.
func convolvedWeight(c *op.Inference) error {
	w, x, err := window(c)
	if err != nil {
		return err
	}
	if c.In[1].Shape.Rank != x.Rank {
		return status.Errorf(status.Invalid, "[%s] x has %d dimensions and y %d; want as many", c.Row.Name, x.Rank, c.In[1].Shape.Rank)
	}
	y := w.Image(&c.In[1].Shape)
	want := y
	want.Dims[0] = x.Dims[0]
	if err := counted(c, &w, &x, &want); err != nil {
		return err
	}
	if op.Unlike(&want, &y) {
		return status.Errorf(status.Invalid, "[%s] y has shape %s for x of %s, channels first; want %s", c.Row.Name, &y, &x, &want)
	}
	for _, channels := range []int64{x.Dims[1], y.Dims[1]} {
		if err := checkGroups(c, "channels", channels, w.Groups); err != nil {
			return err
		}
	}
	out := shape.Shape{Rank: x.Rank}
	out.Dims[0], out.Dims[1] = y.Dims[1], x.Dims[1]
	if w.Groups > 1 {
		if shape.IsSymbol(x.Dims[1]) {
			out.Dims[1] = c.Unknown()
		} else {
			out.Dims[1] /= w.Groups
		}
	}
	copy(out.Dims[2:], w.Kernel[:w.Axes])
	c.Out[0].Shape = out
	return nil
}

// pooled is the rule of max_pool and avg_pool. Adaptive ones have as many windows as they are told, each of which has an
// element if x has one on that axis. Channels are pooled by themselves, so that nothing is asked of their number.
func pooled(c *op.Inference) error {
	w, x, err := window(c)
	if err != nil {
		return err
	}
	out := x
	if err := counted(c, &w, &x, &out); err != nil {
		return err
	}
	for i := range w.Axes {
		if w.Adaptive && x.Dims[2+i] == 0 {
			return status.Errorf(status.Invalid, "[%s] x has shape %s; want elements on each spatial axis", c.Row.Name, &x)
		}
	}
	c.Out[0].Shape, c.Axes = w.Result(out), (1<<w.Axes-1)<<2
	return nil
}

// sized is x with the spatial size that attribute size says, channels in front.
func sized(c *op.Inference, w *op.Windows, x shape.Shape) (shape.Shape, error) {
	size := c.Attr("size").Ints
	if len(size) != w.Axes {
		return x, status.Errorf(status.Invalid, "[%s] size has %d numbers; want one for each of %s", c.Row.Name, len(size), status.Count(w.Axes, "spatial axis", "spatial axes"))
	}
	for i, n := range size {
		if n < 0 {
			return x, status.Errorf(status.Invalid, "[%s] size is %v; want numbers from 0", c.Row.Name, size)
		}
		x.Dims[2+i] = n
	}
	return x, nil
}

// unpooled is the rule of max_unpool.
func unpooled(c *op.Inference) error {
	w, x, err := window(c)
	if err != nil {
		return err
	}
	if op.Unlike(&c.In[0].Shape, &c.In[1].Shape) {
		return status.Errorf(status.Invalid, "[%s] x has shape %s and indices %s; want one shape", c.Row.Name, &c.In[0].Shape, &c.In[1].Shape)
	}
	out, err := sized(c, &w, x)
	c.Out[0].Shape = w.Result(out)
	return err
}

// unpooledMean is the rule of avg_unpool. The windows on the result have to be the elements of x, as those of avg_pool
// would be: the attributes of both are the same, and so is how they are read.
func unpooledMean(c *op.Inference) error {
	w, x, err := window(c)
	if err != nil {
		return err
	}
	out, err := sized(c, &w, x)
	if err != nil {
		return err
	}
	want := x
	if err := counted(c, &w, &out, &want); err != nil {
		return err
	}
	if op.Unlike(&want, &x) {
		return status.Errorf(status.Invalid, "[%s] x has shape %s, channels first, and the windows of %s are %s; want them equal", c.Row.Name, &x, &out, &want)
	}
	c.Out[0].Shape = w.Result(out)
	return nil
}

// withPlanePlaces is withPlaces for indices that count the elements of a plane.
func withPlanePlaces(c *op.Inference) error {
	w, x, err := window(c)
	if err != nil {
		return err
	}
	plane := int64(1)
	for _, n := range x.Dims[2 : 2+w.Axes] {
		if !shape.IsSymbol(n) {
			plane *= n
		}
	}
	if attrDType(c) == dtype.Int32 && plane > math.MaxInt32 {
		return status.Errorf(status.Invalid, "[%s] dtype is int32 and a plane has %d elements; want int64", c.Row.Name, plane)
	}
	return withPlaces(c)
}
