//go:build goexperiment.simd && amd64 && !race

package sorting

import (
	"math"
	"math/bits"
	"simd/archsimd"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// sortKeys512 is SortKeys. The sign, spread over all bits, inverts a negative number; any other loses only its sign.
// NaN and -0 are replaced afterwards, and the bits of all keys are collected in vectors.
// SAFETY: see vec.LoadFloats512.
func sortKeys512(dst []uint32, src []float32, flip uint32) (some, all uint32, negativeZero bool) {
	whole := len(src) &^ (vec.Lanes512 - 1)
	if whole == 0 {
		return sortKeysRow(dst, src, flip)
	}
	to, from := unsafe.Pointer(&dst[0]), unsafe.Pointer(&src[0])
	sign, ones := archsimd.BroadcastInt32x16(math.MinInt32), archsimd.BroadcastInt32x16(-1)
	flips := archsimd.BroadcastInt32x16(int32(flip))
	set, each, zeros := archsimd.BroadcastInt32x16(0), ones, uint32(0)
	for i := 0; i < 4*whole; i += 4 * vec.Lanes512 {
		x := vec.LoadFloats512(from, i)
		word := x.AsInt32x16()
		nan, zero := x.IsNaN(), word.Equal(sign)
		k := ones.Merge(word.Xor(word.ShiftAllRight(31).Or(sign)), nan)
		k = sign.Merge(k, zero).Xor(flips)
		set, each, zeros = set.Or(k), each.And(k), zeros|uint32(zero.ToBits())
		k.Store((*[vec.Lanes512]int32)(unsafe.Add(to, i)))
	}
	var lanes [2][vec.Lanes512]int32
	set.Store(&lanes[0])
	each.Store(&lanes[1])
	archsimd.ClearAVXUpperBits()
	some, all, negativeZero = sortKeysRow(dst[whole:], src[whole:], flip)
	for i := range vec.Lanes512 {
		some, all = some|uint32(lanes[0][i]), all&uint32(lanes[1][i])
	}
	return some, all, negativeZero || zeros != 0
}

// ofSortKeys512 is OfSortKeys.
// SAFETY: both slices have the same length; see vec.LoadFloats512.
func ofSortKeys512(dst []float32, keys []uint32, flip uint32) {
	whole := len(dst) &^ (vec.Lanes512 - 1)
	if whole > 0 {
		to, from := unsafe.Pointer(&dst[0]), unsafe.Pointer(&keys[0])
		sign, ones := archsimd.BroadcastInt32x16(math.MinInt32), archsimd.BroadcastInt32x16(-1)
		flips := archsimd.BroadcastInt32x16(int32(flip))
		for i := 0; i < 4*whole; i += 4 * vec.Lanes512 {
			k := vec.LoadFloats512(from, i).AsInt32x16().Xor(flips)
			k.Xor(k.Xor(ones).ShiftAllRight(31).Or(sign)).Store((*[vec.Lanes512]int32)(unsafe.Add(to, i)))
		}
		archsimd.ClearAVXUpperBits()
	}
	ofSortKeysRow(dst[whole:], keys[whole:], flip)
}

// beyond512 is Beyond. Four vectors are tested at once, and when one has an element that is not below the bound, one by one:
// NaN compares as not below.
// SAFETY: see vec.LoadFloats512.
func beyond512(x []float32, v float32, flip uint32) int {
	whole := len(x) &^ (vec.Lanes512 - 1)
	if whole > 0 {
		from := unsafe.Pointer(&x[0])
		top, flips, i := archsimd.BroadcastFloat32x16(v), archsimd.BroadcastInt32x16(int32(flip)), 0
		for ; i <= 4*whole-16*vec.Lanes512; i += 16 * vec.Lanes512 {
			below := vec.LoadFlipped512(from, i, flips).LessEqual(top).And(vec.LoadFlipped512(from, i+4*vec.Lanes512, flips).LessEqual(top))
			below = below.And(vec.LoadFlipped512(from, i+8*vec.Lanes512, flips).LessEqual(top))
			if below.And(vec.LoadFlipped512(from, i+12*vec.Lanes512, flips).LessEqual(top)).ToBits() != 1<<vec.Lanes512-1 {
				break
			}
		}
		for ; i < 4*whole; i += 4 * vec.Lanes512 {
			if m := (1<<vec.Lanes512 - 1) &^ uint64(vec.LoadFlipped512(from, i, flips).LessEqual(top).ToBits()); m != 0 {
				archsimd.ClearAVXUpperBits()
				return i/4 + bits.TrailingZeros64(m)
			}
		}
		archsimd.ClearAVXUpperBits()
	}
	if i := beyondRow(x[whole:], v, flip); i >= 0 {
		return whole + i
	}
	return -1
}
