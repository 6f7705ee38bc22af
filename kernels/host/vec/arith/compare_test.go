package arith

import (
	"math"
	"testing"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec/vectest"
)

// TestComparisons pairs the edges with each other, in rows of every length up to vectest.MaxLength.
func TestComparisons(t *testing.T) {
	edges := vectest.Edges32()
	for _, c := range []struct {
		name  string
		row   func(dst []uint8, a, b []float32)
		holds func(a, b float32) bool
	}{
		{"less", Less, func(a, b float32) bool { return a < b }},
		{"less equal", LessEqual, func(a, b float32) bool { return a <= b }},
		{"equal", Equal, func(a, b float32) bool { return a == b }},
		{"not equal", NotEqual, func(a, b float32) bool { return a != b }},
	} {
		t.Run(c.name, func(t *testing.T) {
			eachLevel(t, func(t *testing.T) {
				for n := range vectest.MaxLength {
					for shift := range edges {
						a, b := make([]float32, n), make([]float32, n)
						for i := range n {
							a[i], b[i] = edges[i%len(edges)], edges[(i+shift)%len(edges)]
						}
						dst, check := vectest.Guarded(make([]uint8, n))
						c.row(dst, a, b)
						check(t)
						for i := range n {
							if want := oneIf(c.holds(a[i], b[i])); want != dst[i] { // a million times
								t.Fatalf("%g, %g: got %d, want %d", a[i], b[i], dst[i], want)
							}
						}
					}
				}
			})
		})
	}
}

func TestLessInt32(t *testing.T) {
	edges := []int32{math.MinInt32, math.MinInt32 + 1, -2, -1, 0, 1, 2, 1 << 24, math.MaxInt32 - 1, math.MaxInt32}
	eachLevel(t, func(t *testing.T) {
		for n := range vectest.MaxLength {
			for shift := range edges {
				a, b := make([]int32, n), make([]int32, n)
				for i := range n {
					a[i], b[i] = edges[i%len(edges)], edges[(i+shift)%len(edges)]
				}
				dst, check := vectest.Guarded(make([]uint8, n))
				LessInt32(dst, a, b)
				check(t)
				for i := range n {
					if want := oneIf(a[i] < b[i]); want != dst[i] {
						t.Fatalf("%d, %d: got %d, want %d", a[i], b[i], dst[i], want)
					}
				}
			}
		}
	})
}

// TestTruthOfBytes takes every pair of bytes, at every place of a word and in a tail.
func TestTruthOfBytes(t *testing.T) {
	for a := range 256 {
		for b := range 256 {
			left, right := make([]uint8, 11), make([]uint8, 11)
			for i := range left {
				left[i], right[i] = uint8(a+i), uint8(b*(i%3))
			}
			or, and := append([]uint8(nil), left...), append([]uint8(nil), left...)
			Or(or, right)
			AndTrue(and, right)
			for i, x := range left {
				if or[i] != x|right[i] || right[i] == 0 && and[i] != 0 || right[i] != 0 && and[i] != x {
					t.Fatalf("%d, %d: or %d, and %d", x, right[i], or[i], and[i])
				}
			}
		}
	}
}

// TestToFloat32 rounds what lies between two float32, halfway, and beyond the range.
func TestToFloat32(t *testing.T) {
	var edges []float64
	for _, x := range vectest.Edges32() {
		next := math.Nextafter32(x, float32(math.Inf(1)))
		edges = append(edges, float64(x), (float64(x)+float64(next))/2, math.Nextafter(float64(x), 0), float64(x)*1e30, float64(x)*1e-30)
	}
	eachLevel(t, func(t *testing.T) {
		for n := range vectest.MaxLength {
			for shift := range edges {
				src := make([]float64, n)
				for i := range src {
					src[i] = edges[(i+shift)%len(edges)]
				}
				dst, check := vectest.Guarded(make([]float32, n))
				ToFloat32(dst, src)
				check(t)
				for i, x := range src {
					if want := float32(x); !vectest.SameBits(float64(want), float64(dst[i])) {
						t.Fatalf("%g: got %g, want %g", x, dst[i], want)
					}
				}
			}
		}
	})
}

func TestToInt32(t *testing.T) {
	edges := append(vectest.Edges32(), 2147483520, 2147483648, 2147483904, -2147483648, -2147483904, 1.9, -1.9)
	eachLevel(t, func(t *testing.T) {
		for n := range vectest.MaxLength {
			for shift := range edges {
				src := make([]float32, n)
				for i := range src {
					src[i] = edges[(i+shift)%len(edges)]
				}
				dst, check := vectest.Guarded(make([]int32, n))
				ToInt32(dst, src)
				check(t)
				for i, x := range src {
					want := math.Trunc(min(max(float64(x), math.MinInt32), math.MaxInt32))
					if x != x {
						want = 0
					}
					if int32(want) != dst[i] {
						t.Fatalf("%g: got %d, want %v", x, dst[i], want)
					}
				}
			}
		}
	})
}
