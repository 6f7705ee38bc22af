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
	register(op.IDBitwiseNot, dtype.Bool, newRows(plain, plain, 1, vec.LogicalNot))
}

// registerBitwise adds all operators on the bits of one integer type.
func registerBitwise[T integer](d dtype.DType) {
	registerMasks[T](d)
	register(op.IDBitwiseLeftShift, d, newBinary(plain, plain, 1, rows[T, T]{vv: leftShifts[T]}))
	register(op.IDBitwiseRightShift, d, newBinary(plain, plain, 1, rows[T, T]{vv: rightShifts[T]}))
	register(op.IDBitwiseNot, d, newRows(plain, plain, 1, complements[T]))
}

// registerMasks adds the operators that never leave the two values of a bool either. Bits are independent, so that those of
// integers of any width are computed as bytes.
func registerMasks[T integer](d dtype.DType) {
	for id, f := range map[op.ID]vec.Bitwise{op.IDBitwiseAnd: vec.BitAnd, op.IDBitwiseOr: vec.BitOr, op.IDBitwiseXor: vec.BitXor} {
		row := func(dst, a, b []T) { f.Row(octetsOf(dst), octetsOf(a), octetsOf(b)) }
		register(id, d, newBinary(plain, plain, 1, rows[T, T]{vv: row}))
	}
}
