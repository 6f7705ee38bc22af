package arith

import "encoding/binary"

// Less, LessEqual, Equal and NotEqual set dst[i] to 1 where the comparison of a[i] and b[i] holds, else to 0. Of a NaN
// only NotEqual holds.
func Less(dst []uint8, a, b []float32) {
	n := min(len(dst), len(a), len(b))
	active.less(dst[:n], a[:n], b[:n])
}

// LessInt32 is Less for integers.
func LessInt32(dst []uint8, a, b []int32) {
	n := min(len(dst), len(a), len(b))
	active.lessInt32(dst[:n], a[:n], b[:n])
}

// lessInt32Row is the portable form.
func lessInt32Row(dst []uint8, a, b []int32) {
	b, dst = b[:len(a)], dst[:len(a)]
	for i, x := range a {
		dst[i] = oneIf(x < b[i])
	}
}

// LessEqual is described with Less.
func LessEqual(dst []uint8, a, b []float32) {
	n := min(len(dst), len(a), len(b))
	active.lessEqual(dst[:n], a[:n], b[:n])
}

// Equal is described with Less.
func Equal(dst []uint8, a, b []float32) {
	n := min(len(dst), len(a), len(b))
	active.equal(dst[:n], a[:n], b[:n])
}

// NotEqual is described with Less.
func NotEqual(dst []uint8, a, b []float32) {
	n := min(len(dst), len(a), len(b))
	active.notEqual(dst[:n], a[:n], b[:n])
}

// ToInt32 drops fractions; what is too large becomes the nearest int32, and NaN 0.
func ToInt32(dst []int32, src []float32) {
	n := min(len(dst), len(src))
	active.toInt32(dst[:n], src[:n])
}

// ToFloat32 rounds once.
func ToFloat32(dst []float32, src []float64) {
	n := min(len(dst), len(src))
	active.toFloat32(dst[:n], src[:n])
}

// toFloat32Row is the portable form.
func toFloat32Row(dst []float32, src []float64) {
	dst = dst[:len(src)]
	for i, x := range src {
		dst[i] = float32(x)
	}
}

func toInt32Row(dst []int32, src []float32) {
	for i, x := range src {
		switch {
		case x >= 1<<31:
			dst[i] = 1<<31 - 1
		case x >= -1<<31:
			dst[i] = int32(x)
		case x != x:
			dst[i] = 0
		default:
			dst[i] = -1 << 31
		}
	}
}

// The comparisons are loops of their own: a call for each element would cost four times as much as the comparison.

// lessRow and the others are what vectors must answer as well.

func lessRow(dst []uint8, a, b []float32) {
	for i, x := range a {
		dst[i] = oneIf(x < b[i])
	}
}

func lessEqualRow(dst []uint8, a, b []float32) {
	for i, x := range a {
		dst[i] = oneIf(x <= b[i])
	}
}

func equalRow(dst []uint8, a, b []float32) {
	for i, x := range a {
		dst[i] = oneIf(x == b[i])
	}
}

func notEqualRow(dst []uint8, a, b []float32) {
	for i, x := range a {
		dst[i] = oneIf(x != b[i])
	}
}

// oneIf is a bool as a byte, without a branch.
func oneIf(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}

// Or sets dst[i] to dst[i] | src[i], eight bytes at a time.
func Or(dst, src []uint8) {
	n := min(len(dst), len(src))
	dst, src = dst[:n], src[:n]
	for len(src) >= 8 && len(dst) >= 8 {
		binary.LittleEndian.PutUint64(dst, binary.LittleEndian.Uint64(dst)|binary.LittleEndian.Uint64(src))
		dst, src = dst[8:], src[8:]
	}
	for i, x := range src {
		dst[i] |= x
	}
}

// AndTrue sets dst[i] to 0 where src[i] is 0, eight bytes at a time.
func AndTrue(dst, src []uint8) {
	n := min(len(dst), len(src))
	dst, src = dst[:n], src[:n]
	const low = 0x7f7f7f7f7f7f7f7f
	for len(src) >= 8 && len(dst) >= 8 {
		x := binary.LittleEndian.Uint64(src)
		top := ((x&low + low) | x) &^ low // the top bit of each byte that is not 0
		all := top | (top - top>>7)       // the other bits too
		binary.LittleEndian.PutUint64(dst, binary.LittleEndian.Uint64(dst)&all)
		dst, src = dst[8:], src[8:]
	}
	for i, x := range src {
		if x == 0 {
			dst[i] = 0
		}
	}
}
