package vec

// Number is what a row of plain Go numbers can hold. The 16-bit floats are not
// among them: they are widened to float32 first.
type Number interface{ Integer | ~float32 | ~float64 }

// Integer is a Number without a fraction.
type Integer interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

// Larger is the larger number, NaN if there is one, and y where both are equal.
func Larger[T Number](x, y T) T {
	if x > y || x != x {
		return x
	}
	return y
}

// Smaller is the smaller number, NaN if there is one, and y where both are equal.
func Smaller[T Number](x, y T) T {
	if x < y || x != x {
		return x
	}
	return y
}

// Descending is the flip that turns the order of float32 round.
const Descending = 1 << 31

// Convert sets elements of dst to f of those of src. It is small enough to be inlined, and f with it.
func Convert[D, S any](dst []D, src []S, f func(S) D) {
	n := min(len(dst), len(src))
	dst, src = dst[:n], src[:n]
	for i, x := range src {
		dst[i] = f(x)
	}
}

// Real is a Number with a fraction, the element of products that have tiles.
type Real interface{ float32 | float64 }
