package elem

import (
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/arith"
)

// junctions are the logical operators of two operands, of which all elements but 0 are true, as functions of bytes.
var junctions = map[op.ID]arith.Bitwise{
	op.IDLogicalAnd: arith.LogicalAnd,
	op.IDLogicalOr:  arith.LogicalOr,
	op.IDLogicalXor: arith.LogicalXor,
}

// Elements of one byte, 0 or not, are combined as they are.
func init() {
	for id, j := range junctions {
		for _, d := range []dtype.DType{dtype.Bool, dtype.Uint8, dtype.Int8} {
			engine.Register(id, d, newBinary(engine.Plain, engine.Plain, 1, rows[uint8, uint8]{vv: j.Row}))
		}
	}
	truths := against(0, arith.NotEqual, nil)
	registerLogical(engine.Plain, dtype.Int16, notZero[int16])
	registerLogical(engine.Plain, dtype.Int32, notZero[int32])
	registerLogical(engine.Plain, dtype.Int64, notZero[int64])
	registerLogical(engine.HalfCodec(dtype.Float16).Coding, dtype.Float16, truths)
	registerLogical(engine.HalfCodec(dtype.BFloat16).Coding, dtype.BFloat16, truths)
	registerLogical(engine.Plain, dtype.Float32, truths)
	registerLogical(engine.Plain, dtype.Float64, notZero[float64])
}

// registerLogical adds the logical operators of elements that are read as values of type T, which truths makes bytes of.
// SAFETY: see newBinary.
func registerLogical[T engine.Number](in engine.Coding, d dtype.DType, truths func(dst []uint8, src []T)) {
	registerJunctions(in, d, unsafe.Sizeof(*new(T)), func(dst []uint8, src unsafe.Pointer) {
		truths(dst, engine.Slice[T](src, int64(len(dst))))
	})
}

// registerJunctions is registerLogical for values of a size.
// SAFETY: see newBinary.
func registerJunctions(in engine.Coding, d dtype.DType, size uintptr, truths func(dst []uint8, src unsafe.Pointer)) {
	for id, j := range junctions {
		engine.Register(id, d, &Binary{in: in, out: engine.Plain, Effort: EffortOf(in, engine.Plain, 1), Vv: func(dst, a, b unsafe.Pointer, n int64) {
			joinRow(j, engine.Slice[uint8](dst, n), a, b, size, truths)
		}})
	}
}

// joinRow combines rows of elements of a size block by block. It knows no type, so that it is compiled once.
// SAFETY: see slice.
func joinRow(j arith.Bitwise, dst []uint8, a, b unsafe.Pointer, size uintptr, truths func(dst []uint8, src unsafe.Pointer)) {
	f := engine.NewFrame()
	defer f.Free()
	left, right := engine.Slice[uint8](f.Room(), engine.Block), engine.Slice[uint8](f.Room(), engine.Block)
	for at := 0; at < len(dst); at += engine.Block {
		n := min(len(dst)-at, engine.Block)
		truths(left[:n], unsafe.Add(a, uintptr(at)*size))
		truths(right[:n], unsafe.Add(b, uintptr(at)*size))
		j.Row(dst[at:at+n], left, right)
	}
}

// notZero is true for all but zeros.
func notZero[T engine.Number](dst []uint8, src []T) {
	dst = dst[:len(src)]
	for i, x := range src {
		dst[i] = engine.Bit(x != 0)
	}
}
