package host

import (
	words "encoding/binary"

	"github.com/paddle-mps/paddle-mps/core/op"
)

// junction is a logical operator of two elements, of which all but 0 are true: what it gives when both are true, and
// when one is. Eight elements of one byte are computed at a time.
type junction struct{ both, one uint64 }

// junctions are the logical operators of two operands. A table of what they give replaces a function each: eight bytes
// then take a handful of instructions whichever it is, and a dtype needs one loop and not three.
var junctions = map[op.ID]junction{
	op.IDLogicalAnd: {ones, 0},
	op.IDLogicalOr:  {ones, ones},
	op.IDLogicalXor: {0, ones},
}

// of is the operator on eight bytes that are 0 or 1.
func (j junction) of(x, y uint64) uint64 { return x&y&j.both | (x^y)&j.one }

// logical are the operators of elements of T.
func logical[T number]() map[op.ID]rows[uint8, T] {
	all := map[op.ID]rows[uint8, T]{}
	for id, j := range junctions {
		all[id] = rows[uint8, T]{vv: func(dst []uint8, a, b []T) {
			b, dst = b[:len(a)], dst[:len(a)]
			for i, x := range a {
				dst[i] = uint8(j.of(uint64(bit(x != 0)), uint64(bit(b[i] != 0))))
			}
		}}
	}
	return all
}

// logicalBytes are the operators of bytes.
func logicalBytes() map[op.ID]rows[uint8, uint8] {
	all := map[op.ID]rows[uint8, uint8]{}
	for id, j := range junctions {
		all[id] = rows[uint8, uint8]{vv: func(dst, a, b []uint8) {
			b, dst = b[:len(a)], dst[:len(a)]
			// Bytes are independent, so that the order of those in a word does not matter.
			for len(a) >= 8 {
				words.LittleEndian.PutUint64(dst, j.of(truths(words.LittleEndian.Uint64(a)), truths(words.LittleEndian.Uint64(b))))
				dst, a, b = dst[8:], a[8:], b[8:]
			}
			for i, x := range a {
				dst[i] = uint8(j.of(truths(uint64(x)), truths(uint64(b[i]))))
			}
		}}
	}
	return all
}

// ones has a 1 in each byte.
const ones = 0x0101010101010101

// truths is 1 in each byte that is not 0. The sum carries into the highest bit of a byte, and never out of it.
func truths(x uint64) uint64 {
	const low = 0x7f * ones
	return (x&low + low | x) >> 7 & ones
}

// notBytes is the logical not of bytes.
func notBytes(dst, src []uint8) {
	dst = dst[:len(src)]
	for len(src) >= 8 {
		words.LittleEndian.PutUint64(dst, ones^truths(words.LittleEndian.Uint64(src)))
		dst, src = dst[8:], src[8:]
	}
	for i, x := range src {
		dst[i] = uint8(1 ^ truths(uint64(x)))
	}
}
