package metal

import (
	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels"
)

// Creations whose numbers are computed in float64, or drawn, are no work for MPSGraph: it has no float64, and
// other random numbers.

func init() {
	const fillValue, start, step = 1, 0, 1
	graphs.Add("full", elements, kernels.Portable, way{
		fed: 1 << fillValue,
		make: func(d *Device, c *device.Call) (kernel, error) {
			return d.build(full, &builder{device: d, call: c, bits: true})
		},
	})
	graphs.Add("range", dtype.Integers, kernels.Portable, way{
		class: func(_ *Device, c *device.Call) (uint64, bool) {
			return 0, c.Attrs[start].Kind != op.Float && c.Attrs[step].Kind != op.Float
		},
		fed:  1<<start | 1<<step,
		make: func(d *Device, c *device.Call) (kernel, error) { return d.build(countUp, &builder{device: d, call: c}) },
	})
}

func full(b *builder) tensor {
	d := b.call.Out[0].DType
	return b.feedNumber(d, func(c *device.Call) uint64 { return elementOf(&c.Attrs[1], d) })
}

// countUp is start + i * step in int64, cut to the dtype.
func countUp(b *builder) tensor {
	first := b.feedNumber(dtype.Int64, func(c *device.Call) uint64 { return uint64(c.Attrs[0].I) })
	step := b.feedNumber(dtype.Int64, func(c *device.Call) uint64 { return uint64(c.Attrs[1].I) })
	i := b.cast(b.coordinates(0, dimsOf(&b.call.Out[0].Shape)...), dtype.Int64)
	return b.convert(b.plus(first, b.times(i, step)), b.call.Out[0].DType)
}
