package metal

import (
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/objc/mpsgraph"
)

func init() {
	lowerBits("where", func(b *builder) tensor { return b.choose(b.in[0], b.in[1], b.in[2]) })
	function{clip, clip, nil}.lower("clip")
}

// clip moves values to the nearest bound; NaN stays, and a bound of NaN bounds nothing: comparisons with NaN
// do not hold.
func clip(b *builder, in []tensor) tensor {
	x, low, high := in[0], in[1], in[2]
	if x.dtype != dtype.Float32 {
		return b.binary(mpsgraph.Minimum, b.binary(mpsgraph.Maximum, x, low), high)
	}
	x = b.choose(b.compare(mpsgraph.LessThan, x, low), low, x)
	return b.choose(b.compare(mpsgraph.GreaterThan, x, high), high, x)
}
