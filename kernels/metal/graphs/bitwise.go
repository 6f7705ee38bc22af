package graphs

import (
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/objc/mpsgraph"
)

// Operators on bits. Bools have formulas of their own, because MPSGraph's bitwise operators take no bools.
func init() {
	for id, f := range map[op.ID]function{
		op.IDBitwiseAnd:        {nil, pair(mpsgraph.BitwiseAnd), and},
		op.IDBitwiseOr:         {nil, pair(mpsgraph.BitwiseOr), or},
		op.IDBitwiseXor:        {nil, pair(mpsgraph.BitwiseXor), pair(mpsgraph.LogicalXor)},
		op.IDBitwiseNot:        {nil, one(mpsgraph.BitwiseNot), one(mpsgraph.Not)},
		op.IDBitwiseLeftShift:  {nil, shiftLeft, nil},
		op.IDBitwiseRightShift: {nil, shiftRight, nil},
	} {
		f.lower(id)
	}
}

// shiftsOut is the bools of whether a distance moves every bit out: it is negative, or at least the number of
// bits. Python and Paddle define such shifts; MPSGraph and the hardware do not.
func (b *builder) shiftsOut(y tensor) tensor {
	large := b.compare(mpsgraph.GreaterThanOrEqualTo, y, b.like(y, 8*y.dtype.Size()))
	if y.dtype == dtype.Uint8 {
		return large
	}
	return b.either(large, b.compare(mpsgraph.LessThan, y, b.like(y, 0)))
}

// shiftLeft is 0 where all bits are moved out. The distance is 0 there, so that MPSGraph shifts by what it knows.
func shiftLeft(b *builder, in []tensor) tensor {
	zero, far := b.like(in[1], 0), b.shiftsOut(in[1])
	return b.choose(far, zero, b.binary(mpsgraph.BitwiseLeftShift, in[0], b.choose(far, zero, in[1])))
}

// shiftRight keeps the sign: where all bits are moved out, the sign is what is left, or 0 of unsigned integers.
// The distance is at most the number of bits less one.
func shiftRight(b *builder, in []tensor) tensor {
	y := b.choose(b.shiftsOut(in[1]), b.like(in[1], 8*in[1].dtype.Size()-1), in[1])
	shifted := b.binary(mpsgraph.BitwiseRightShift, in[0], y)
	if in[0].dtype == dtype.Uint8 {
		return b.choose(b.shiftsOut(in[1]), b.like(in[0], 0), shifted)
	}
	return shifted
}
