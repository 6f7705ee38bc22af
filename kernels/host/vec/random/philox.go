package random

import "math/bits"

// The constants of Philox: two multipliers, and what the halves of the key grow by in each round, which are 2**32 times the
// fractions of the golden ratio and of the square root of 3.
const (
	philoxRounds                         = 10
	philoxMultiplier0, philoxMultiplier1 = 0xD2511F53, 0xCD9E8D57
	philoxStep0, philoxStep1             = 0x9E3779B9, 0xBB67AE85
)

// Philox sets dst to the output of the counters from first on, four numbers each: Philox4x32-10, the counter-based generator of
// Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3" (2011), a keyed bijection of 128-bit counters.
// Numbers beyond a multiple of four are left alone.
func Philox(dst []uint32, key [2]uint32, first uint64) {
	active.philox(dst[:len(dst)&^3], key, first)
}

// philoxRow is Philox, one counter after the other.
func philoxRow(dst []uint32, key [2]uint32, first uint64) {
	for ; len(dst) >= 4; dst, first = dst[4:], first+1 {
		*(*[4]uint32)(dst) = philox([4]uint32{uint32(first), uint32(first >> 32)}, key)
	}
}

// philox is the output of one counter.
func philox(counter [4]uint32, key [2]uint32) [4]uint32 {
	for range philoxRounds {
		high0, low0 := bits.Mul32(philoxMultiplier0, counter[0])
		high1, low1 := bits.Mul32(philoxMultiplier1, counter[2])
		counter = [4]uint32{high1 ^ counter[1] ^ key[0], low1, high0 ^ counter[3] ^ key[1], low0}
		key[0] += philoxStep0
		key[1] += philoxStep1
	}
	return counter
}
