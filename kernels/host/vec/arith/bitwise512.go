//go:build goexperiment.simd && amd64 && !race

package arith

import (
	"simd/archsimd"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// bitwise512 chooses the loops of this file. A byte is true if the smaller of it and 1 is 1.
func (t *table) bitwise512() {
	t.bitwise = [BitwiseCount]func(dst, a, b []uint8){
		BitAnd: func(dst, a, b []uint8) {
			pairs512(dst, a, b, BitAnd, func(x, y, _ archsimd.Uint8x64) archsimd.Uint8x64 { return x.And(y) })
		},
		BitOr: func(dst, a, b []uint8) {
			pairs512(dst, a, b, BitOr, func(x, y, _ archsimd.Uint8x64) archsimd.Uint8x64 { return x.Or(y) })
		},
		BitXor: func(dst, a, b []uint8) {
			pairs512(dst, a, b, BitXor, func(x, y, _ archsimd.Uint8x64) archsimd.Uint8x64 { return x.Xor(y) })
		},
		LogicalAnd: func(dst, a, b []uint8) {
			pairs512(dst, a, b, LogicalAnd, func(x, y, one archsimd.Uint8x64) archsimd.Uint8x64 { return x.Min(y).Min(one) })
		},
		LogicalOr: func(dst, a, b []uint8) {
			pairs512(dst, a, b, LogicalOr, func(x, y, one archsimd.Uint8x64) archsimd.Uint8x64 { return x.Or(y).Min(one) })
		},
		LogicalXor: func(dst, a, b []uint8) {
			pairs512(dst, a, b, LogicalXor, func(x, y, one archsimd.Uint8x64) archsimd.Uint8x64 { return x.Min(one).Xor(y.Min(one)) })
		},
		BytesEqual: func(dst, a, b []uint8) {
			pairs512(dst, a, b, BytesEqual, func(x, y, one archsimd.Uint8x64) archsimd.Uint8x64 { return one.Sub(x.Xor(y).Min(one)) })
		},
		BytesDiffer: func(dst, a, b []uint8) {
			pairs512(dst, a, b, BytesDiffer, func(x, y, one archsimd.Uint8x64) archsimd.Uint8x64 { return x.Xor(y).Min(one) })
		},
	}
	t.logicalNot = logicalNot512
}

// pairs512 applies f to whole vectors, with a vector of ones beside them. What is left of a row goes to the portable loop,
// which gives the same answers.
// SAFETY: all three slices have one length.
func pairs512(dst, a, b []uint8, name Bitwise, f func(x, y, one archsimd.Uint8x64) archsimd.Uint8x64) {
	whole := len(dst) &^ (vec.VectorBytes512 - 1)
	if whole > 0 {
		one := archsimd.BroadcastUint8x64(1)
		to, left, right := unsafe.Pointer(&dst[0]), unsafe.Pointer(&a[0]), unsafe.Pointer(&b[0])
		for i := 0; i < whole; i += vec.VectorBytes512 {
			f(vec.LoadBytes512(left, i), vec.LoadBytes512(right, i), one).Store((*[vec.VectorBytes512]uint8)(unsafe.Add(to, i)))
		}
		archsimd.ClearAVXUpperBits()
	}
	wordLoops[name](dst[whole:], a[whole:], b[whole:])
}

// logicalNot512 is LogicalNot: 1 less the smaller of a byte and 1.
// SAFETY: both slices have one length.
func logicalNot512(dst, src []uint8) {
	whole := len(dst) &^ (vec.VectorBytes512 - 1)
	if whole > 0 {
		one := archsimd.BroadcastUint8x64(1)
		to, from := unsafe.Pointer(&dst[0]), unsafe.Pointer(&src[0])
		for i := 0; i < whole; i += vec.VectorBytes512 {
			one.Sub(vec.LoadBytes512(from, i).Min(one)).Store((*[vec.VectorBytes512]uint8)(unsafe.Add(to, i)))
		}
		archsimd.ClearAVXUpperBits()
	}
	logicalNotRow(dst[whole:], src[whole:])
}
