package host

import (
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// Of a bool only the lowest bit counts, so that not is another function there.
func init() {
	registerBitwise[uint8](dtype.Uint8)
	registerBitwise[int8](dtype.Int8)
	registerBitwise[int16](dtype.Int16)
	registerBitwise[int32](dtype.Int32)
	registerBitwise[int64](dtype.Int64)

	registerMasks[uint8](dtype.Bool)
	register(op.IDBitwiseNot, dtype.Bool, newUnary(plain[uint8, uint8](1), rowOf(vec.LogicalNot)))
}

// registerBitwise adds all operators on the bits of one integer type.
func registerBitwise[T integer](d dtype.DType) {
	registerMasks[T](d)
	register(op.IDBitwiseLeftShift, d, &binary[T, T]{mapped: plain[T, T](1), rows: eachPair(shiftLeft[T])})
	register(op.IDBitwiseRightShift, d, &binary[T, T]{mapped: plain[T, T](1), rows: eachPair(shiftRight[T])})
	register(op.IDBitwiseNot, d, newUnary(plain[T, T](1), eachOf(func(x T) T { return ^x })))
}

// registerMasks adds the operators that never leave the two values of a bool either. Bits are independent, so that those of
// integers of any width are computed as bytes.
func registerMasks[T integer](d dtype.DType) {
	for id, f := range map[op.ID]vec.Bitwise{op.IDBitwiseAnd: vec.BitAnd, op.IDBitwiseOr: vec.BitOr, op.IDBitwiseXor: vec.BitXor} {
		row := func(dst, a, b []T) { f.Row(octetsOf(dst), octetsOf(a), octetsOf(b)) }
		register(id, d, &binary[T, T]{mapped: plain[T, T](1), rows: rows[T, T]{vv: row}})
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
