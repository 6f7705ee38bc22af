package op

import (
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// What formulas of images are too weak to say: shapes, of which dimensions may be symbols, and indices and weights that follow
// from sizes.

// plane are the axes of an operand of 4, as attribute channels_last says: channels, height and width.
func (c *Inference) plane(what string, factor int64) (axes [3]int, err error) {
	s := &c.In[0].Shape
	if s.Rank != 4 || factor < 1 {
		return axes, status.Errorf(status.Invalid, "[%s] x has %d axes and %s is %d; want 4 axes and a number from 1", c.Row.Name, s.Rank, what, factor)
	}
	if c.attr("channels_last").I != 0 {
		return [3]int{3, 1, 2}, nil
	}
	return [3]int{1, 2, 3}, nil
}

// fraction is a dimension over a number. What is wrong says how many there are of what.
func (c *Inference) fraction(axis int, by int64, what string) (int64, error) {
	d := c.In[0].Shape.Dims[axis]
	switch {
	case by == 1:
		return d, nil
	case shape.IsSymbol(d):
		return c.unknown(), nil
	case d%by != 0:
		return 0, status.Errorf(status.Invalid, "[%s] x has %d %s; want a multiple of %d", c.Row.Name, d, what, by)
	}
	return d / by, nil
}

// mostFactor bounds factors, whose squares are numbers too.
const mostFactor = 1 << 31

// shuffledPixels is the rule of pixel_shuffle.
func shuffledPixels(c *Inference) error {
	r := min(c.attr("upscale_factor").I, mostFactor)
	axes, err := c.plane("upscale_factor", r)
	if err != nil {
		return err
	}
	s := c.In[0].Shape
	if s.Dims[axes[0]], err = c.fraction(axes[0], r*r, "channels"); err != nil {
		return err
	}
	for _, a := range axes[1:] {
		s.Dims[a] = c.times(s.Dims[a], r)
	}
	c.Out[0].Shape = s
	return nil
}

// gatheredPixels is the rule of pixel_unshuffle.
func gatheredPixels(c *Inference) error {
	r := min(c.attr("downscale_factor").I, mostFactor)
	axes, err := c.plane("downscale_factor", r)
	if err != nil {
		return err
	}
	s := c.In[0].Shape
	for i, what := range [...]string{"rows", "columns"} {
		if s.Dims[axes[i+1]], err = c.fraction(axes[i+1], r, what); err != nil {
			return err
		}
	}
	s.Dims[axes[0]] = c.times(s.Dims[axes[0]], r*r)
	c.Out[0].Shape = s
	return nil
}

// dealtChannels is the rule of channel_shuffle.
func dealtChannels(c *Inference) error {
	groups := c.attr("groups").I
	axes, err := c.plane("groups", groups)
	if err == nil {
		_, err = c.fraction(axes[0], groups, "channels")
	}
	c.Out[0].Shape = c.In[0].Shape
	return err
}
