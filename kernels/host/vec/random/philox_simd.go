//go:build goexperiment.simd && amd64 && !race

package random

import "simd/archsimd"

// philox256 computes four counters at a time. The word of each is in the lower half of a lane of 64 bits, which is the half that
// is multiplied; what the upper half holds does not matter until the end. There are no wider loops: AVX-512 multiplies so too,
// but archsimd does not have it.
func philox256(dst []uint32, key [2]uint32, first uint64) {
	whole := len(dst) &^ 15
	if whole > 0 {
		var keys [philoxRounds][2][4]uint64
		for i, k := 0, key; i < philoxRounds; i++ {
			for j := range 4 {
				keys[i][0][j], keys[i][1][j] = uint64(k[0]), uint64(k[1])
			}
			k[0] += philoxStep0
			k[1] += philoxStep1
		}
		multiplier0, multiplier1 := archsimd.BroadcastUint32x8(philoxMultiplier0), archsimd.BroadcastUint32x8(philoxMultiplier1)
		counter := archsimd.BroadcastUint64x4(first).Add(archsimd.LoadUint64x4(&[4]uint64{0, 1, 2, 3}))
		four, lower := archsimd.BroadcastUint64x4(4), archsimd.BroadcastUint64x4(1<<32-1)
		for i := 0; i < whole; i += 16 {
			c0, c1 := counter, counter.ShiftAllRight(32)
			var c2, c3 archsimd.Uint64x4
			for r := range keys {
				product0, product1 := c0.AsUint32x8().MulEvenWiden(multiplier0), c2.AsUint32x8().MulEvenWiden(multiplier1)
				c0 = product1.ShiftAllRight(32).Xor(c1).Xor(archsimd.LoadUint64x4(&keys[r][0]))
				c2 = product0.ShiftAllRight(32).Xor(c3).Xor(archsimd.LoadUint64x4(&keys[r][1]))
				c1, c3 = product1, product0
			}
			// Two words of each counter, and the other two; then the halves of counters 0 and 2, and of 1 and 3.
			left, right := c0.And(lower).Or(c1.ShiftAllLeft(32)), c2.And(lower).Or(c3.ShiftAllLeft(32))
			even, odd := left.InterleaveLoGrouped(right), left.InterleaveHiGrouped(right)
			even.Select128FromPair(0, 2, odd).AsUint32x8().Store((*[8]uint32)(dst[i:]))
			even.Select128FromPair(1, 3, odd).AsUint32x8().Store((*[8]uint32)(dst[i+8:]))
			counter = counter.Add(four)
		}
		archsimd.ClearAVXUpperBits()
	}
	philoxRow(dst[whole:], key, first+uint64(whole/4))
}
