package metal

import (
	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/kernels"
	"github.com/paddle-mps/paddle-mps/objc/mpsgraph"
)

func init() {
	for name, o := range map[string]mpsgraph.Binary{"add": mpsgraph.Addition} {
		lower := func(b *builder, _ *device.Call) (mpsgraph.Tensor, error) {
			return o.Of(b.graph, b.in[0], b.in[1]), nil
		}
		graphs.Add(name, dtype.SetOf(dtype.Float32), kernels.Portable, way{
			class: allContiguous,
			make:  func(d *Device, c *device.Call) (kernel, error) { return d.build(lower, c) },
		})
	}
}

// allContiguous is the one class of calls whose operands MPSGraph can take as they lie.
func allContiguous(_ *Device, c *device.Call) (uint64, bool) {
	for _, os := range [2][]device.Operand{c.In, c.Out} {
		for i := range os {
			if !os[i].IsContiguous() {
				return 0, false
			}
		}
	}
	return 0, true
}
