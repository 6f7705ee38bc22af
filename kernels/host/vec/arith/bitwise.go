package arith

import "encoding/binary"

// Bitwise names a function of two bytes that computes each bit, or each byte, by itself. The first three are of bits and so
// serve integers of any width; the logical ones take all bytes but 0 for true. All but the first three give 0 or 1.
type Bitwise uint8

const (
	BitAnd Bitwise = iota
	BitOr
	BitXor
	LogicalAnd
	LogicalOr
	LogicalXor
	BytesEqual
	BytesDiffer

	BitwiseCount = iota
)

// String gives the name in lower case with underscores, "logical_and".
func (f Bitwise) String() string {
	return [BitwiseCount]string{"bit_and", "bit_or", "bit_xor", "logical_and", "logical_or", "logical_xor", "bytes_equal", "bytes_differ"}[f]
}

// Row sets dst[i] to f(a[i], b[i]).
func (f Bitwise) Row(dst, a, b []uint8) {
	n := min(len(dst), len(a), len(b))
	active.bitwise[f](dst[:n], a[:n], b[:n])
}

// LogicalNot sets dst[i] to 1 where src[i] is 0, else to 0.
func LogicalNot(dst, src []uint8) {
	n := min(len(dst), len(src))
	active.logicalNot(dst[:n], src[:n])
}

// ones has a 1 in each byte.
const ones = 0x0101010101010101

// truths is 1 in each byte that is not 0. The sum carries into the highest bit of a byte, and never out of it.
func truths(x uint64) uint64 {
	const low = 0x7f * ones
	return (x&low + low | x) >> 7 & ones
}

// inWords are the functions on eight bytes.
var inWords = [BitwiseCount]func(x, y uint64) uint64{
	BitAnd:     func(x, y uint64) uint64 { return x & y },
	BitOr:      func(x, y uint64) uint64 { return x | y },
	BitXor:     func(x, y uint64) uint64 { return x ^ y },
	LogicalAnd: func(x, y uint64) uint64 { return truths(x) & truths(y) },
	LogicalOr:  func(x, y uint64) uint64 { return truths(x | y) },
	LogicalXor: func(x, y uint64) uint64 { return truths(x) ^ truths(y) },

	BytesEqual:  func(x, y uint64) uint64 { return ones ^ truths(x^y) },
	BytesDiffer: func(x, y uint64) uint64 { return truths(x ^ y) },
}

// wordLoops are the loops over words. The order of the bytes in a word does not matter.
var wordLoops = func() (all [BitwiseCount]func(dst, a, b []uint8)) {
	for i, f := range inWords {
		all[i] = func(dst, a, b []uint8) {
			for len(dst) >= 8 && len(a) >= 8 && len(b) >= 8 {
				binary.LittleEndian.PutUint64(dst, f(binary.LittleEndian.Uint64(a), binary.LittleEndian.Uint64(b)))
				dst, a, b = dst[8:], a[8:], b[8:]
			}
			for j, x := range a {
				dst[j] = uint8(f(uint64(x), uint64(b[j])))
			}
		}
	}
	return all
}()

// logicalNotRow takes eight bytes at a time too.
func logicalNotRow(dst, src []uint8) {
	for len(dst) >= 8 && len(src) >= 8 {
		binary.LittleEndian.PutUint64(dst, ones^truths(binary.LittleEndian.Uint64(src)))
		dst, src = dst[8:], src[8:]
	}
	for i, x := range src {
		dst[i] = uint8(1 ^ truths(uint64(x)))
	}
}
