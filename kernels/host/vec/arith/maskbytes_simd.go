//go:build goexperiment.simd && amd64 && !race

package arith

import (
	"simd/archsimd"
	"unsafe"
)

// spreads has, for each byte, eight bytes with one of its bits each, the lowest first.
var spreads = func() (s [256]uint64) {
	for b := range s {
		for i := range 8 {
			s[b] |= uint64(b>>i&1) << (8 * i)
		}
	}
	return s
}()

// storeBools512 and storeBools256 write a mask as bools from an element on, one for each lane. AVX-512 has masks of bytes.
// SAFETY: the loops have seen that sixteen elements follow.
func storeBools512(dst *uint8, mask uint16) {
	archsimd.BroadcastUint8x16(1).Masked(archsimd.Mask8x16FromBits(mask)).Store((*[16]uint8)(unsafe.Pointer(dst)))
}

// vec.AVX2 looks eight bools up: packing masks of 32 bits into bytes would take as many shuffles.
// SAFETY: the loops have seen that eight elements follow. x86-64 is little-endian.
func storeBools256(dst *uint8, mask uint8) { *(*uint64)(unsafe.Pointer(dst)) = spreads[mask] }
