package graphs

import (
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/objc/mpsgraph"
)

// softmax is MPSGraph's own along the middle of three axes, in float32 whatever the dtype.
func init() {
	lower(op.IDSoftmax, graphFloats, func(b *builder) tensor {
		x := b.wide(b.alongAxes(b.full(0), b.call.Axes))
		if b.err != nil {
			return x
		}
		return b.made(b.graph.axial(mpsgraph.SoftMax, x.id, reducedAxis), x.dtype, x.dims)
	})
}
