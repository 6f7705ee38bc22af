package stencil

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec/gemm"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/vectest"
)

func TestEvens(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	eachLevel(t, func(t *testing.T) {
		for n := range 70 {
			x, to := vectest.Noise(r, max(2*n-1, 0)), make([]float32, n)
			require.True(t, EvenElements(to, x))
			for i := range to {
				require.Equal(t, x[2*i], to[i])
			}
			require.False(t, EvenElements(make([]float32, n+1), x[:max(2*n-1, 0)]), "%d of %d", n+1, len(x))
		}
	})
}

// TestPadPlane looks at each element of the target, of which those that no element of a line goes to are left alone.
func TestPadPlane(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	eachLevel(t, func(t *testing.T) {
		for _, s := range []struct{ lines, width, from, pitch, first, second int }{
			{1, 1, 1, 1, 0, 0}, {3, 7, 9, 12, 1, 6}, {7, 14, 28, 9, 70, 1}, {5, 31, 31, 40, 20, 2}, {2, 32, 40, 33, 0, 16}, {4, 33, 34, 64, 3, 40}, {3, 112, 224, 200, 57, 0}, {0, 5, 5, 5, 0, 3}, {3, 0, 5, 5, 0, 3},
		} {
			for _, halves := range []bool{false, true} {
				end := s.first + s.width
				if halves {
					end = max(s.first+(s.width+1)/2, s.second+s.width/2)
				}
				x, to := vectest.Noise(r, max(s.lines-1, 0)*s.from+s.width), vectest.Noise(r, max(s.lines-1, 0)*s.pitch+end)
				want := append([]float32(nil), to...)
				for i := range s.lines {
					for j := range s.width {
						at := s.first + j
						if halves {
							at = []int{s.first, s.second}[j%2] + j/2
						}
						want[i*s.pitch+at] = x[i*s.from+j]
					}
				}
				require.True(t, PadPlane(to, x, s.lines, s.width, s.from, s.pitch, s.first, s.second, halves))
				require.Equal(t, want, to, "%v, halves: %v", s, halves)
				if s.lines*s.width == 0 {
					continue
				}
				require.False(t, PadPlane(to[1:], x, s.lines, s.width, s.from, s.pitch, s.first, s.second, halves))
				require.False(t, PadPlane(to, x[1:], s.lines, s.width, s.from, s.pitch, s.first, s.second, halves))
				require.False(t, PadPlane(to, x, s.lines, s.width, s.from, s.pitch, -1, s.second, halves))
				require.Equal(t, want, to)
			}
		}
	})
}

// TestTapPlane compares with a product of one row, which has the same order and way of rounding.
func TestTapPlane(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	eachLevel(t, func(t *testing.T) {
		for _, s := range []struct{ lines, width, apart, pitch, taps int }{
			{1, 1, 1, 1, 1}, {7, 7, 7, 9, 25}, {14, 14, 14, 18, 9}, {4, 16, 20, 16, 3}, {5, 17, 17, 30, 4}, {9, 33, 40, 35, 49}, {28, 28, 28, 0, 2}, {12, 112, 112, 114, 9}, {3, 5, 5, 7, 0}, {0, 5, 5, 7, 3}, {5, 0, 5, 7, 3},
		} {
			offsets, reach := make([]int, s.taps), 0
			for l := range offsets {
				offsets[l] = r.IntN(60)
				reach = max(reach, offsets[l])
			}
			x, w := vectest.Noise(r, reach+max(s.lines-1, 0)*s.pitch+s.width+WindowLanes), vectest.Noise(r, s.taps)
			to := vectest.Noise(r, max(s.lines-1, 0)*s.apart+s.width)
			want := append([]float32(nil), to...)
			for i := range s.lines {
				if s.width > 0 {
					require.True(t, gemm.AddAtOffsets(want[i*s.apart:], w, x[i*s.pitch:], offsets, 1, s.width, s.taps, s.width, true))
				}
			}
			require.True(t, DepthwisePlane(to, x, w, offsets, s.lines, s.width, s.apart, s.pitch))
			require.Equal(t, want, to, "%v", s)
			if s.lines*s.width*s.taps == 0 {
				continue
			}
			require.False(t, DepthwisePlane(to, x[1:], w, offsets, s.lines, s.width, s.apart, s.pitch))
			require.False(t, DepthwisePlane(to[1:], x, w, offsets, s.lines, s.width, s.apart, s.pitch))
			require.False(t, DepthwisePlane(to, x, w[1:], offsets, s.lines, s.width, s.apart, s.pitch))
			require.False(t, DepthwisePlane(to, x, w, append(offsets[1:len(offsets):len(offsets)], -1), s.lines, s.width, s.apart, s.pitch))
			require.Equal(t, want, to)
		}
	})
}
