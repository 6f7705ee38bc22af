package elem

import (
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/arith"
)

// Of a bool only the lowest bit counts, so that not is another function there.
func init() {
	registerBitwise[uint8](dtype.Uint8)
	registerBitwise[int8](dtype.Int8)
	registerBitwise[int16](dtype.Int16)
	registerBitwise[int32](dtype.Int32)
	registerBitwise[int64](dtype.Int64)

	registerMasks[uint8](dtype.Bool)
	engine.Register(op.IDBitwiseNot, dtype.Bool, newRows(engine.Plain, engine.Plain, 1, arith.LogicalNot))
}

// registerBitwise adds all operators on the bits of one integer type.
func registerBitwise[T engine.Integer](d dtype.DType) {
	registerMasks[T](d)
	engine.Register(op.IDBitwiseLeftShift, d, newBinary(engine.Plain, engine.Plain, 1, rows[T, T]{vv: leftShifts[T]}))
	engine.Register(op.IDBitwiseRightShift, d, newBinary(engine.Plain, engine.Plain, 1, rows[T, T]{vv: rightShifts[T]}))
	engine.Register(op.IDBitwiseNot, d, newRows(engine.Plain, engine.Plain, 1, complements[T]))
}

// registerMasks adds the operators that never leave the two values of a bool either. Bits are independent, so that those of
// integers of any width are computed as bytes.
func registerMasks[T engine.Integer](d dtype.DType) {
	for id, f := range map[op.ID]arith.Bitwise{op.IDBitwiseAnd: arith.BitAnd, op.IDBitwiseOr: arith.BitOr, op.IDBitwiseXor: arith.BitXor} {
		row := func(dst, a, b []T) { f.Row(octetsOf(dst), octetsOf(a), octetsOf(b)) }
		engine.Register(id, d, newBinary(engine.Plain, engine.Plain, 1, rows[T, T]{vv: row}))
	}
}
