package elem

import (
	"unsafe"

	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/arith"
)

// Loops over integers of one type, which wrap around. They are loops of their own and without branches: the call of a function
// for each element would cost several times as much as what it computes, and so would a branch that is not predicted.

// negatives is -x.
func negatives[T engine.Integer](dst, src []T) {
	dst = dst[:len(src)]
	for i, x := range src {
		dst[i] = -x
	}
}

// magnitudes is |x|: all bits of x inverted, plus 1, where it is negative. That of the least integer is itself.
func magnitudes[T engine.Integer](dst, src []T) {
	dst = dst[:len(src)]
	for i, x := range src {
		sign := -T(engine.Bit(x < 0))
		dst[i] = (x ^ sign) - sign
	}
}

// signs is -1, 0 or 1.
func signs[T engine.Integer](dst, src []T) {
	dst = dst[:len(src)]
	for i, x := range src {
		dst[i] = T(engine.Bit(x > 0)) - T(engine.Bit(x < 0))
	}
}

// squares is x times itself.
func squares[T engine.Integer](dst, src []T) {
	dst = dst[:len(src)]
	for i, x := range src {
		dst[i] = x * x
	}
}

// positives is x, or 0 for what is negative.
func positives[T engine.Integer](dst, src []T) {
	dst = dst[:len(src)]
	for i, x := range src {
		dst[i] = max(x, 0)
	}
}

// complements inverts all bits.
func complements[T engine.Integer](dst, src []T) { invert(octetsOf(dst), octetsOf(src)) }

// invert is complements of bytes.
func invert(dst, src []uint8) {
	for len(src) > 0 {
		n := min(len(src), len(allBits))
		arith.BitXor.Row(dst[:n], src[:n], allBits[:])
		dst, src = dst[n:], src[n:]
	}
}

// allBits is a row of bytes with all bits set.
var allBits = func() (row [8 * engine.Block]uint8) {
	for i := range row {
		row[i] = 0xff
	}
	return row
}()

// The larger and the smaller of two integers are chosen as words: for narrower ones the compiler makes a branch.

// largerOnes is the maximum of x and y.
func largerOnes[T engine.Integer](dst, x, y []T) {
	dst, y = dst[:len(x)], y[:len(x)]
	for i, v := range x {
		dst[i] = T(max(int64(v), int64(y[i])))
	}
}

// smallerOnes is the minimum of x and y.
func smallerOnes[T engine.Integer](dst, x, y []T) {
	dst, y = dst[:len(x)], y[:len(x)]
	for i, v := range x {
		dst[i] = T(min(int64(v), int64(y[i])))
	}
}

// raised is the maximum of a number and x, and lowered the minimum.
func raised[T engine.Integer](dst []T, low T, x []T) {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] = T(max(int64(v), int64(low)))
	}
}

func lowered[T engine.Integer](dst []T, high T, x []T) {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] = T(min(int64(v), int64(high)))
	}
}

// leftShifts takes a negative distance, which Go refuses, for one that is too large.
func leftShifts[T engine.Integer](dst, x, y []T) {
	dst, y = dst[:len(x)], y[:len(x)]
	for i, v := range x {
		dst[i] = v << distance(y[i])
	}
}

// rightShifts keeps the sign: a distance that is too large gives 0 or -1.
func rightShifts[T engine.Integer](dst, x, y []T) {
	dst, y = dst[:len(x)], y[:len(x)]
	for i, v := range x {
		dst[i] = v >> distance(y[i])
	}
}

// distance is that of a shift without a sign: what is negative is then large. Small integers keep their sign on the way.
func distance[T engine.Integer](y T) uint64 { return uint64(int64(y)) }

// octetsOf is the memory of a row.
// SAFETY: integers have no bytes but those of their value.
func octetsOf[T engine.Integer](row []T) []uint8 {
	return engine.Slice[uint8](unsafe.Pointer(unsafe.SliceData(row)), int64(len(row))*int64(unsafe.Sizeof(*new(T))))
}
