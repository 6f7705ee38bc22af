package random

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPhiloxKnownAnswers are the vectors that the authors publish with Random123 (kat_vectors).
func TestPhiloxKnownAnswers(t *testing.T) {
	const ones = math.MaxUint32
	for _, c := range []struct {
		counter [4]uint32
		key     [2]uint32
		want    [4]uint32
	}{
		{[4]uint32{}, [2]uint32{}, [4]uint32{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
		{[4]uint32{ones, ones, ones, ones}, [2]uint32{ones, ones}, [4]uint32{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
		{[4]uint32{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, [2]uint32{0xa4093822, 0x299f31d0}, [4]uint32{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
	} {
		require.Equal(t, c.want, philox(c.counter, c.key))
	}
}

// TestPhilox compares rows of every length with single counters, where the lower half of the number of a counter overflows too.
func TestPhilox(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		for _, first := range []uint64{0, 1<<32 - 5, 0x123456789abcdef0, math.MaxUint64 - 6} {
			for n := range 75 {
				key := [2]uint32{0xfffffff0, uint32(n)}
				dst := make([]uint32, n)
				Philox(dst, key, first)
				for i := range n / 4 {
					at := first + uint64(i)
					want := philox([4]uint32{uint32(at), uint32(at >> 32)}, key)
					require.Equal(t, want[:], dst[4*i:][:4], "counter %d", at)
				}
				require.Equal(t, make([]uint32, n%4), dst[n&^3:])
			}
		}
	})
}
