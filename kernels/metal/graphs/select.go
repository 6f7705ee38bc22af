package graphs

import (
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/objc/mpsgraph"
)

// where moves bits by a condition; clip compares values.
func init() {
	lowerBits(op.IDWhere, func(b *builder) tensor { return b.choose(b.in[0], b.in[1], b.in[2]) })
	function{clip, clip, nil}.lower(op.IDClip)
}

// clip moves values to the nearest bound. NaN stays, and a bound of NaN does not bound: comparisons with NaN are
// false, so floats are clipped by comparing and choosing. Integers have no NaN and take MPSGraph's minimum and
// maximum.
func clip(b *builder, in []tensor) tensor {
	x, low, high := in[0], in[1], in[2]
	if x.dtype != dtype.Float32 {
		return b.binary(mpsgraph.Minimum, b.binary(mpsgraph.Maximum, x, low), high)
	}
	x = b.choose(b.compare(mpsgraph.LessThan, x, low), low, x)
	return b.choose(b.compare(mpsgraph.GreaterThan, x, high), high, x)
}
