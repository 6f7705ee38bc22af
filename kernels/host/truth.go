package host

import (
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// junctions are the logical operators of two operands, of which all elements but 0 are true, as functions of bytes.
var junctions = map[op.ID]vec.Bitwise{
	op.IDLogicalAnd: vec.LogicalAnd,
	op.IDLogicalOr:  vec.LogicalOr,
	op.IDLogicalXor: vec.LogicalXor,
}

// logical are the operators of elements of T, which truths makes bytes of.
// SAFETY: see slice; rows are alive during the call.
func logical[T number](truths func(dst []uint8, src []T)) map[op.ID]rows[uint8, T] {
	made := func(dst []uint8, src unsafe.Pointer) { truths(dst, slice[T](src, int64(len(dst)))) }
	all := map[op.ID]rows[uint8, T]{}
	for id, j := range junctions {
		all[id] = rows[uint8, T]{vv: func(dst []uint8, a, b []T) {
			joinRow(j, dst, unsafe.Pointer(unsafe.SliceData(a)), unsafe.Pointer(unsafe.SliceData(b)), unsafe.Sizeof(*new(T)), made)
		}}
	}
	return all
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

// logicalBytes are the operators of bytes, which need no conversion, and comparisons of bytes.
func logicalBytes() map[op.ID]rows[uint8, uint8] {
	all := map[op.ID]rows[uint8, uint8]{op.IDEqual: {vv: vec.BytesEqual.Row}, op.IDNotEqual: {vv: vec.BytesDiffer.Row}}
	for id, j := range junctions {
		all[id] = rows[uint8, uint8]{vv: j.Row}
	}
	return all
}

// notZero is true for all but zeros.
func notZero[T number](dst []uint8, src []T) {
	dst = dst[:len(src)]
	for i, x := range src {
		dst[i] = bit(x != 0)
	}
}
