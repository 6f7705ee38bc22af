package arith

import (
	"testing"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec/vectest"
)

// TestBitwise takes every pair of bytes, in rows of every length up to beyond two of the longest vectors.
func TestBitwise(t *testing.T) {
	truth := func(x uint8) bool { return x != 0 }
	want := [BitwiseCount]func(x, y uint8) uint8{
		BitAnd:     func(x, y uint8) uint8 { return x & y },
		BitOr:      func(x, y uint8) uint8 { return x | y },
		BitXor:     func(x, y uint8) uint8 { return x ^ y },
		LogicalAnd: func(x, y uint8) uint8 { return oneIf(truth(x) && truth(y)) },
		LogicalOr:  func(x, y uint8) uint8 { return oneIf(truth(x) || truth(y)) },
		LogicalXor: func(x, y uint8) uint8 { return oneIf(truth(x) != truth(y)) },

		BytesEqual:  func(x, y uint8) uint8 { return oneIf(x == y) },
		BytesDiffer: func(x, y uint8) uint8 { return oneIf(x != y) },
	}
	for f := range Bitwise(BitwiseCount) {
		t.Run(f.String(), func(t *testing.T) {
			eachLevel(t, func(t *testing.T) {
				a, b := make([]uint8, 1<<16), make([]uint8, 1<<16)
				for i := range a {
					a[i], b[i] = uint8(i), uint8(i>>8)
				}
				for _, n := range append(lengthsOfBytes(), len(a)) {
					dst, check := vectest.Guarded(make([]uint8, n))
					f.Row(dst, a, b)
					check(t)
					for i, got := range dst {
						if got != want[f](a[i], b[i]) { // a million times
							t.Fatalf("%d, %d: got %d, want %d", a[i], b[i], got, want[f](a[i], b[i]))
						}
					}
				}
				f.Row(a, a, b) // in place
				for i, got := range a {
					if got != want[f](uint8(i), b[i]) {
						t.Fatalf("%d, %d in place: got %d", uint8(i), b[i], got)
					}
				}
			})
		})
	}
}

// TestLogicalNot takes every byte at every place.
func TestLogicalNot(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		for _, n := range lengthsOfBytes() {
			for first := range 256 {
				src := make([]uint8, n)
				for i := range src {
					src[i] = uint8(first + i)
				}
				dst, check := vectest.Guarded(make([]uint8, n))
				LogicalNot(dst, src)
				check(t)
				for i, x := range src {
					if dst[i] != oneIf(x == 0) {
						t.Fatalf("%d: got %d", x, dst[i])
					}
				}
			}
		}
	})
}

// lengthsOfBytes are those up to beyond two of the longest vectors.
func lengthsOfBytes() (lengths []int) {
	for n := range 140 {
		lengths = append(lengths, n)
	}
	return lengths
}
