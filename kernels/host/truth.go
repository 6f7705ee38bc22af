package host

import (
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// junctions are the logical operators of two operands, of which all elements but 0 are true, as functions of bytes.
var junctions = map[op.ID]vec.Bitwise{
	op.IDLogicalAnd: vec.LogicalAnd,
	op.IDLogicalOr:  vec.LogicalOr,
	op.IDLogicalXor: vec.LogicalXor,
}

// Elements of one byte, 0 or not, are combined as they are.
func init() {
	for id, j := range junctions {
		for _, d := range []dtype.DType{dtype.Bool, dtype.Uint8, dtype.Int8} {
			register(id, d, newBinary(plain, plain, 1, rows[uint8, uint8]{vv: j.Row}))
		}
	}
	truths := against(0, vec.NotEqual, nil)
	registerLogical(plain, dtype.Int16, notZero[int16])
	registerLogical(plain, dtype.Int32, notZero[int32])
	registerLogical(plain, dtype.Int64, notZero[int64])
	registerLogical(halfCodec(dtype.Float16).coding, dtype.Float16, truths)
	registerLogical(halfCodec(dtype.BFloat16).coding, dtype.BFloat16, truths)
	registerLogical(plain, dtype.Float32, truths)
	registerLogical(plain, dtype.Float64, notZero[float64])
}

// registerLogical adds the logical operators of elements that are read as values of type T, which truths makes bytes of.
// SAFETY: see newBinary.
func registerLogical[T number](in coding, d dtype.DType, truths func(dst []uint8, src []T)) {
	registerJunctions(in, d, unsafe.Sizeof(*new(T)), func(dst []uint8, src unsafe.Pointer) {
		truths(dst, slice[T](src, int64(len(dst))))
	})
}

// registerJunctions is registerLogical for values of a size.
// SAFETY: see newBinary.
func registerJunctions(in coding, d dtype.DType, size uintptr, truths func(dst []uint8, src unsafe.Pointer)) {
	for id, j := range junctions {
		register(id, d, &binary{in: in, out: plain, effort: effortOf(in, plain, 1), vv: func(dst, a, b unsafe.Pointer, n int64) {
			joinRow(j, slice[uint8](dst, n), a, b, size, truths)
		}})
	}
}

// joinRow combines rows of elements of a size block by block. It knows no type, so that it is compiled once.
// SAFETY: see slice.
func joinRow(j vec.Bitwise, dst []uint8, a, b unsafe.Pointer, size uintptr, truths func(dst []uint8, src unsafe.Pointer)) {
	f := newFrame()
	defer f.free()
	left, right := slice[uint8](f.room(), block), slice[uint8](f.room(), block)
	for at := 0; at < len(dst); at += block {
		n := min(len(dst)-at, block)
		truths(left[:n], unsafe.Add(a, uintptr(at)*size))
		truths(right[:n], unsafe.Add(b, uintptr(at)*size))
		j.Row(dst[at:at+n], left, right)
	}
}

// notZero is true for all but zeros.
func notZero[T number](dst []uint8, src []T) {
	dst = dst[:len(src)]
	for i, x := range src {
		dst[i] = bit(x != 0)
	}
}
