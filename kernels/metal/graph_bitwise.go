package metal

import (
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/objc/mpsgraph"
)

func init() {
	for name, f := range map[string]function{
		"bitwise_and":         {nil, pair(mpsgraph.BitwiseAnd), and},
		"bitwise_or":          {nil, pair(mpsgraph.BitwiseOr), or},
		"bitwise_xor":         {nil, pair(mpsgraph.BitwiseXor), pair(mpsgraph.LogicalXor)},
		"bitwise_not":         {nil, one(mpsgraph.BitwiseNot), one(mpsgraph.Not)},
		"bitwise_left_shift":  {nil, shiftLeft, nil},
		"bitwise_right_shift": {nil, shiftRight, nil},
	} {
		f.lower(name)
	}
}

// far reports where a distance moves every bit out: it is negative, or too large.
func (b *builder) far(y tensor) tensor {
	large := b.compare(mpsgraph.GreaterThanOrEqualTo, y, b.like(y, 8*y.dtype.Size()))
	if y.dtype == dtype.Uint8 {
		return large
	}
	return b.either(large, b.compare(mpsgraph.LessThan, y, b.like(y, 0)))
}

func shiftLeft(b *builder, in []tensor) tensor {
	zero, far := b.like(in[1], 0), b.far(in[1])
	return b.choose(far, zero, b.binary(mpsgraph.BitwiseLeftShift, in[0], b.choose(far, zero, in[1])))
}

// shiftRight keeps the sign: where all bits go, that is left. MPSGraph shifts by less than all bits.
func shiftRight(b *builder, in []tensor) tensor {
	y := b.choose(b.far(in[1]), b.like(in[1], 8*in[1].dtype.Size()-1), in[1])
	shifted := b.binary(mpsgraph.BitwiseRightShift, in[0], y)
	if in[0].dtype == dtype.Uint8 {
		return b.choose(b.far(in[1]), b.like(in[0], 0), shifted)
	}
	return shifted
}
