//go:build goexperiment.simd && amd64 && !race

package vec

import "encoding/binary"

// spreads has, for each byte, eight bytes with one of its bits each, the lowest first.
var spreads = func() (s [256]uint64) {
	for b := range s {
		for i := range 8 {
			s[b] |= uint64(b>>i&1) << (8 * i)
		}
	}
	return s
}()

// spread512 and spread256 write a mask as bools, one for each lane.
func spread512(dst []uint8, mask uint16) {
	binary.LittleEndian.PutUint64(dst, spreads[uint8(mask)])
	binary.LittleEndian.PutUint64(dst[8:], spreads[mask>>8])
}

func spread256(dst []uint8, mask uint8) { binary.LittleEndian.PutUint64(dst, spreads[mask]) }
