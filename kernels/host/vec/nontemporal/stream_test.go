package nontemporal

import (
	"fmt"
	"math"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/arith"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/maths"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/vectest"
)

// edgePairs pairs the edges with each other, as values of T.
func edgePairs[T vec.Real](n, shift int) (a, b []T) {
	edges := vectest.Edges32()
	for i := range n {
		a, b = append(a, T(edges[i%len(edges)])), append(b, T(edges[(i+shift)%len(edges)]))
	}
	return a, b
}

// alignedLines is n lines that begin where one of the cache does, with a line on either side that must keep its bytes.
func alignedLines(n int) (lines []byte, check func(t *testing.T)) {
	whole := make([]byte, (n+3)*LineBytes)
	for i := range whole {
		whole[i] = 0xA5
	}
	at := LineBytes + int(-uintptr(unsafe.Pointer(&whole[0]))%LineBytes)
	return whole[at : at+n*LineBytes], func(t *testing.T) {
		t.Helper()
		for i, v := range whole {
			if i < at || i >= at+n*LineBytes {
				require.EqualValues(t, 0xA5, v, "byte %d beside %d lines", i-at, n)
			}
		}
	}
}

// fixedLine is a line of one element.
func fixedLine[T any](v T) unsafe.Pointer {
	line := make([]T, LineBytes/unsafe.Sizeof(v))
	for i := range line {
		line[i] = v
	}
	return unsafe.Pointer(&line[0])
}

// checkStream compares a loop with an ordinary one, for operands of elements and for each that is one element.
func checkStream[T vec.Real, D comparable](t *testing.T, f Loop, want func(dst []D, a, b []T), fixed bool) {
	same := func(x, y D) bool {
		switch x := any(x).(type) {
		case float32:
			return vectest.SameBits(float64(x), float64(any(y).(float32)))
		case float64:
			return vectest.SameBits(x, any(y).(float64))
		}
		return x == y
	}
	for lines := 1; lines < 6; lines++ {
		n := lines * LineBytes / int(unsafe.Sizeof(*new(D)))
		for shift := range vectest.Edges32() {
			a, b := edgePairs[T](n, shift)
			for form := range 3 {
				if form > 0 && !fixed {
					break
				}
				x, y := append([]T{}, a...), append([]T{}, b...)
				from, with := unsafe.Pointer(&a[0]), unsafe.Pointer(&b[0])
				if form == 1 {
					from = fixedLine(a[shift%n])
					for i := range x {
						x[i] = a[shift%n]
					}
				} else if form == 2 {
					with = fixedLine(b[0])
					for i := range y {
						y[i] = b[0]
					}
				}
				results := make([]D, n)
				want(results, x, y)
				dst, check := alignedLines(lines)
				f.Lines(unsafe.Pointer(&dst[0]), from, with, int64(len(dst)), form == 1, form == 2)
				Fence()
				check(t)
				for i, got := range unsafe.Slice((*D)(unsafe.Pointer(&dst[0])), n) {
					if !same(results[i], got) { // a million times
						t.Fatalf("%v, %v, form %d: got %v, want %v", x[i], y[i], form, got, results[i])
					}
				}
			}
		}
	}
}

// The loops that write past the caches have the bits of the ordinary ones, of which each level has the same.
func TestStreams(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		if !Available() {
			t.Skip("there are none")
		}
		narrow, wide := arith.RowsOf[float32], arith.RowsOf[float64]
		for op := range arith.Binary(arith.BinaryCount) {
			t.Run(op.String(), func(t *testing.T) {
				checkStream(t, Loop(op), narrow(op).VV, true)
				checkStream(t, Of64(op), wide(op).VV, true)
			})
		}
		for f, want := range map[Loop]func(dst []uint8, a, b []float32){
			Less: arith.Less, LessEqual: arith.LessEqual, Equal: arith.Equal, NotEqual: arith.NotEqual,
			Greater:      func(dst []uint8, a, b []float32) { arith.Less(dst, b, a) },
			GreaterEqual: func(dst []uint8, a, b []float32) { arith.LessEqual(dst, b, a) },
		} {
			t.Run(fmt.Sprint("comparison ", f), func(t *testing.T) { checkStream(t, f, want, false) })
		}
		t.Run("to int32", func(t *testing.T) {
			checkStream(t, ToInt32, func(dst []int32, a, _ []float32) { arith.ToInt32(dst, a) }, false)
		})
		t.Run("copy", func(t *testing.T) {
			checkStream(t, Copy, func(dst, a, _ []float32) { copy(dst, a) }, false)
		})
		t.Run("relu", func(t *testing.T) {
			edges := vectest.Edges32()
			for i := range edges {
				dst, check := alignedLines(1)
				Relu.Lines(unsafe.Pointer(&dst[0]), fixedLine(edges[i]), fixedLine(float32(0)), LineBytes, true, true)
				Fence()
				check(t)
				want := make([]float32, 1)
				maths.Relu.Row(want, edges[i:i+1])
				for _, got := range unsafe.Slice((*float32)(unsafe.Pointer(&dst[0])), LineBytes/4) {
					require.Equal(t, math.Float32bits(want[0]), math.Float32bits(got), "relu(%g)", edges[i])
				}
			}
		})
	})
}

// Choose takes elements of each size by conditions of any byte, past the caches and into them.
func TestChoose(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		if !HasChoose() {
			t.Skip("there is none")
		}
		for _, size := range []int{1, 2, 4, 8} {
			for lines := 1; lines < 6; lines++ {
				n := lines * LineBytes / size
				condition, a, b := make([]byte, n), make([]byte, n*size), make([]byte, n*size)
				for i := range a {
					a[i], b[i] = byte(1+i%100), byte(101+i%97)
				}
				for i := range condition {
					condition[i] = []byte{0, 1, 0, 255, 128, 2}[(i*i+i/7)%6]
				}
				for _, past := range []bool{false, true} {
					dst, check := alignedLines(lines)
					Choose(int64(size), past, unsafe.Pointer(&dst[0]), unsafe.Pointer(&condition[0]), unsafe.Pointer(&a[0]), unsafe.Pointer(&b[0]), int64(len(dst)))
					Fence()
					check(t)
					for i := range dst {
						want := b[i]
						if condition[i/size] != 0 {
							want = a[i]
						}
						require.Equal(t, want, dst[i], "byte %d of %d lines of elements of %d, past %v", i, lines, size, past)
					}
				}
			}
		}
	})
}
