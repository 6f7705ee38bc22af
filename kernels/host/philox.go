package host

import "math/bits"

// philox is Philox4x32-10, the counter-based generator of Salmon, Moraes, Dror and Shaw, "Parallel
// random numbers: as easy as 1, 2, 3" (2011): a keyed bijection of 128-bit counters. Any part of its
// output can be computed without what comes before, so a tensor is the same however it is split.
func philox(counter [4]uint32, key [2]uint32) [4]uint32 {
	const (
		multiplier0, multiplier1 = 0xD2511F53, 0xCD9E8D57
		golden, root             = 0x9E3779B9, 0xBB67AE85 // of the golden ratio and of sqrt(3) - 1
		rounds                   = 10
	)
	for range rounds {
		high0, low0 := bits.Mul32(multiplier0, counter[0])
		high1, low1 := bits.Mul32(multiplier1, counter[2])
		counter = [4]uint32{high1 ^ counter[1] ^ key[0], low1, high0 ^ counter[3] ^ key[1], low0}
		key[0] += golden
		key[1] += root
	}
	return counter
}

// randoms is the numbers that one call may use: those of the counters from first on, numbered from
// 0. A counter gives four 32-bit numbers or two 64-bit numbers.
type randoms struct {
	key   [2]uint32
	first uint64
	at    uint64 // the counter whose output words is, plus 1; 0 for none
	words [4]uint32
}

// newRandoms starts from a call's Seed: a key, and the first counter.
func newRandoms(seed [2]uint64) randoms {
	return randoms{key: [2]uint32{uint32(seed[0]), uint32(seed[0] >> 32)}, first: seed[1]}
}

// counter is the output for counter i, computed once for neighbouring numbers.
func (r *randoms) counter(i uint64) *[4]uint32 {
	if r.at != i+1 {
		n := r.first + i
		r.words = philox([4]uint32{uint32(n), uint32(n >> 32)}, r.key)
		r.at = i + 1
	}
	return &r.words
}

// word is the 32-bit number i.
func (r *randoms) word(i int64) uint32 { return r.counter(uint64(i) / 4)[i%4] }

// wide is the 64-bit number i.
func (r *randoms) wide(i int64) uint64 {
	w := r.counter(uint64(i) / 2)
	return uint64(w[i%2*2]) | uint64(w[i%2*2+1])<<32
}
