package metal

import "github.com/paddle-mps/paddle-mps/objc/mpsgraph"

func init() {
	lower("softmax", graphFloats, func(b *builder) tensor {
		x := b.wide(b.alongAxes(b.full(0), b.call.Axes))
		if b.err != nil {
			return x
		}
		return b.made(mpsgraph.SoftMax.Of(b.graph, x.id, reducedAxis), x.dtype, x.dims)
	})
}
