package sorting

import "math"

// SortKeys makes of float32 the unsigned numbers that they are sorted by, with flip, which is 0 or all ones, xored to them.
// All NaN have the largest, and -0 has that of 0. It returns the bits that are set in some key and those that are in all,
// and whether there is a -0.
func SortKeys(dst []uint32, src []float32, flip uint32) (some, all uint32, negativeZero bool) {
	n := min(len(dst), len(src))
	return active.sortKeys(dst[:n], src[:n], flip)
}

// SortUint32 sorts keys with as many spare ones, whose contents do not matter. It answers false, with the keys in any order, where the
// processor has no instructions for it, or where the keys are of the rare kind that it would take much longer for than for others.
func SortUint32(keys, spare []uint32) bool { return active.sortUint32(keys, spare[:len(keys)]) }

// Beyond is the place of the first element that is larger than v, or NaN, with flip xored to its bits; -1 where there is
// none. If v is NaN it is the first.
func Beyond(x []float32, v float32, flip uint32) int { return active.beyond(x, v, flip) }

// SortKey is the number that one float32 is sorted by, without a flip: a negative one has all its bits inverted, any other
// its sign, so that both are in order as unsigned numbers.
func SortKey(x float32) uint32 {
	const sign = 1 << 31
	bits := math.Float32bits(x)
	switch {
	case x != x:
		return math.MaxUint32
	case bits == sign:
		return sign
	}
	return bits ^ (sign | -(bits >> 31))
}

// OfSortKey is the float32 that is sorted by a number.
func OfSortKey(k uint32) float32 {
	const sign = 1 << 31
	return math.Float32frombits(k ^ (sign | -(^k >> 31)))
}

// OfSortKeys makes of numbers, with flip xored to them, the float32 that are sorted by them.
func OfSortKeys(dst []float32, keys []uint32, flip uint32) {
	n := min(len(dst), len(keys))
	active.ofSortKeys(dst[:n], keys[:n], flip)
}

// ofSortKeysRow makes one after the other.
func ofSortKeysRow(dst []float32, keys []uint32, flip uint32) {
	for i, k := range keys {
		dst[i] = OfSortKey(k ^ flip)
	}
}

// sortKeysRow makes one key after the other.
func sortKeysRow(dst []uint32, src []float32, flip uint32) (some, all uint32, negativeZero bool) {
	all = math.MaxUint32
	for i, x := range src {
		k := SortKey(x) ^ flip
		negativeZero = negativeZero || math.Float32bits(x) == 1<<31
		some, all, dst[i] = some|k, all&k, k
	}
	return some, all, negativeZero
}

// beyondRow asks whether an element is not below the bound: NaN is not.
func beyondRow(x []float32, v float32, flip uint32) int {
	for i, e := range x {
		if e = math.Float32frombits(math.Float32bits(e) ^ flip); !(e <= v) {
			return i
		}
	}
	return -1
}
