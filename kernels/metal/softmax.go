package metal

import (
	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/kernels"
	"github.com/paddle-mps/paddle-mps/kernels/metal/msl"
)

// softmax normalises lines along one axis, a threadgroup each; see softmax.metal.
type softmax struct {
	variants
	dtype dtype.DType
}

func init() {
	shaders.Add("softmax", dtype.Floats&elements, kernels.Portable, way{make: func(d *Device, c *device.Call) (kernel, error) {
		k := &softmax{dtype: c.In[0].DType}
		k.device = d
		return k, nil
	}})
}

func (k *softmax) workspace(*device.Call) int64 { return 0 }

// across is an operand without the axis of its lines, and the step along them.
func across(c *device.Call, o *device.Operand) (rest shape.Layout, step int64) {
	rest = o.Layout
	if o.Rank == 0 {
		return rest, 0
	}
	axis := c.Axes.First()
	step = o.Strides[axis]
	rest.Remove(axis)
	return joined(&rest), step
}

func (k *softmax) encode(b *batch, c *device.Call) error {
	x, y := &c.In[0], &c.Out[0]
	if y.Numel() == 0 {
		return nil
	}
	if err := numbered(x); err != nil {
		return err
	}
	key := wideness(x, y)
	p, err := k.get(key, oneName, func() (string, error) { return msl.Softmax(k.dtype, wide(key)), nil })
	if err != nil {
		return err
	}
	d := b.arguments()
	to, err := place(d, y)
	if err != nil {
		return err
	}
	from, err := place(d, x)
	if err != nil {
		return err
	}
	length := int64(1)
	if x.Rank > 0 {
		length = x.Dims[c.Axes.First()]
	}
	lines, outStep := across(c, y)
	sources, inStep := across(c, x)
	bindWalk(d, &lines, to, key)
	bindWalk(d, &sources, from, key)
	bindOffsets(d, key, outStep, inStep)
	bindCounts(d, length)
	groups(d, y.Numel()/length, p[0].threadsOf(length))
	return b.dispatch(p[0].state, d)
}

// oneName is the name of kernels that are alone in their source.
var oneName = []string{msl.Name}
