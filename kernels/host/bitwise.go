package host

import (
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
)

// Of a bool only the lowest bit counts, so that not is another function there.
func init() {
	registerBitwise[uint8](dtype.Uint8)
	registerBitwise[int8](dtype.Int8)
	registerBitwise[int16](dtype.Int16)
	registerBitwise[int32](dtype.Int32)
	registerBitwise[int64](dtype.Int64)

	registerMasks[uint8](dtype.Bool)
	not := func(x uint8) uint8 { return bit(x == 0) }
	register(op.IDBitwiseNot, dtype.Bool, newUnary(plain[uint8, uint8](1), eachOf(not)))
}

// registerBitwise adds all operators on the bits of one integer type.
func registerBitwise[T integer](d dtype.DType) {
	registerMasks[T](d)
	register(op.IDBitwiseLeftShift, d, &binary[T, T]{mapped: plain[T, T](1), rows: eachPair(shiftLeft[T])})
	register(op.IDBitwiseRightShift, d, &binary[T, T]{mapped: plain[T, T](1), rows: eachPair(shiftRight[T])})
	register(op.IDBitwiseNot, d, newUnary(plain[T, T](1), eachOf(func(x T) T { return ^x })))
}

// registerMasks adds the operators that never leave the two values of a bool either.
func registerMasks[T integer](d dtype.DType) {
	for id, f := range map[op.ID]func(x, y T) T{
		op.IDBitwiseAnd: func(x, y T) T { return x & y },
		op.IDBitwiseOr:  func(x, y T) T { return x | y },
		op.IDBitwiseXor: func(x, y T) T { return x ^ y },
	} {
		register(id, d, &binary[T, T]{mapped: plain[T, T](1), rows: eachPair(f)})
	}
}

// shiftLeft and shiftRight take a negative distance, which Go refuses, for one that is too large.
func shiftLeft[T integer](x, y T) T {
	if y < 0 {
		return 0
	}
	return x << y
}

// shiftRight keeps the sign: a distance that is too large gives 0 or -1.
func shiftRight[T integer](x, y T) T {
	if y < 0 {
		y = 127
	}
	return x >> y
}
