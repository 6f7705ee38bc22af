package graphs

import (
	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/metal/gpu"
)

// Creations whose numbers are computed in float64, or drawn, are no work for MPSGraph: it has no float64, and
// other random numbers.

// inIntegers reports whether a range has no fractions.
func inIntegers(c *device.Call) bool {
	return c.Attrs[op.RangeStart].Kind != op.Float && c.Attrs[op.RangeStep].Kind != op.Float
}

// Creations whose graphs take their numbers from each call.
func init() {
	graphVariant{lowering: full, bits: true, given: []int{op.FullFillValue}}.register(op.IDFull, gpu.Elements)
	graphVariant{lowering: countUp, given: []int{op.RangeStart, op.RangeStep}, accepts: inIntegers}.register(op.IDRange, dtype.Integers)
}

// full is the number itself, fed with each call, so that one graph serves all fill values; it broadcasts to the
// output.
func full(b *builder) tensor {
	d := b.call.Out[0].DType
	return b.feedNumber(d, func(c *device.Call) uint64 { return gpu.Element(&c.Attrs[op.FullFillValue], d) })
}

// countUp is start + i * step in int64, wrapped to the dtype. Both numbers are fed with each call.
func countUp(b *builder) tensor {
	first := b.feedNumber(dtype.Int64, func(c *device.Call) uint64 { return uint64(c.Attrs[op.RangeStart].I) })
	step := b.feedNumber(dtype.Int64, func(c *device.Call) uint64 { return uint64(c.Attrs[op.RangeStep].I) })
	i := b.cast(b.coordinates(0, dimsOf(&b.call.Out[0].Shape)...), dtype.Int64)
	return b.convert(b.plus(first, b.times(i, step)), b.call.Out[0].DType)
}
