package stencil

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec/vectest"
)

// eachDepth calls f with windows of two by three taps over runs of channels, at every level.
func eachDepth(t *testing.T, f func(t *testing.T, r *rand.Rand, taps []Tap, n, step, channels, elements int)) {
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(23, 24))
		for _, channels := range []int{1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 20, 33, 64, 67} {
			for _, n := range []int{1, 2, 3, 4, 5, 8, 9} {
				for _, apart := range []int{1, 2} {
					line, step := n*apart+3, apart*channels
					var taps []Tap
					for i := range 6 {
						taps = append(taps, Tap{Offset: (i/3*line + i%3) * channels, Number: int32((i + 2) % 6)})
					}
					f(t, r, taps, n, step, channels, taps[5].Offset+(n-1)*step+channels)
				}
			}
		}
	})
}

// TestDepthwise takes whole numbers, whose products and sums are exact, and numbers in (0, 1), whose sums have a rounding for each
// product and each sum at most.
func TestDepthwise(t *testing.T) {
	eachDepth(t, func(t *testing.T, r *rand.Rand, taps []Tap, n, step, channels, elements int) {
		for _, whole := range []bool{true, false} {
			number := func() float32 {
				if whole {
					return float32(r.IntN(100) - 50)
				}
				return r.Float32()
			}
			x, w := make([]float32, elements), make([]float32, len(taps)*channels)
			for i := range x {
				x[i] = number()
			}
			for i := range w {
				w[i] = number()
			}
			to, check := vectest.Guarded(make([]float32, n*channels))
			require.True(t, DepthwiseChannelsLast(to, x, w, taps, n, step, channels))
			check(t)
			for i := range to {
				window, c, want := i/channels, i%channels, 0.0
				for _, tap := range taps {
					want += float64(x[window*step+tap.Offset+c]) * float64(w[int(tap.Number)*channels+c])
				}
				bound := 0.0
				if !whole {
					bound = float64(2*len(taps)) * 0x1p-24 * want
				}
				require.InDelta(t, want, to[i], bound, "window %d of %d, channel %d of %d", window, n, c, channels)
			}
		}
	})
}

// TestMaxDeep has NaN, infinities and zeros of both signs, of which the first stays.
func TestMaxDeep(t *testing.T) {
	eachDepth(t, func(t *testing.T, r *rand.Rand, taps []Tap, n, step, channels, elements int) {
		x := vectest.Specials32(r, elements)
		to, check := vectest.Guarded(make([]float32, n*channels))
		require.True(t, MaxPoolChannelsLast(to, x, taps, n, step, channels))
		check(t)
		for i := range to {
			window, c := i/channels, i%channels
			want := x[window*step+taps[0].Offset+c]
			for _, tap := range taps[1:] {
				if v := x[window*step+tap.Offset+c]; v > want || v != v {
					want = v
				}
			}
			require.True(t, vectest.SameBits(float64(want), float64(to[i])), "window %d of %d, channel %d of %d: %g; want %g", window, n, c, channels, to[i], want)
		}
	})
	nan := float32(math.NaN())
	to := make([]float32, 1)
	require.True(t, MaxPoolChannelsLast(to, []float32{nan, 1}, []Tap{{Offset: 0}, {Offset: 1}}, 1, 1, 1))
	require.True(t, to[0] != to[0])
}

// TestDepthwiseWindows compares sums over taps with plain loops, for numbers of windows and of channels around those that are computed together.
// The elements are small integers, whose sums are exact.
func TestDepthwiseWindows(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(7, 8))
		for n := 1; n <= 27; n++ {
			for _, channels := range []int{1, 3, 15, 16, 17, 31, 32, 40, 64, 70} {
				taps := make([]Tap, r.IntN(10))
				step, reach := r.IntN(3)*channels, 0
				for i := range taps {
					taps[i] = Tap{Offset: r.IntN(5 * channels), Number: int32(r.IntN(9))}
					reach = max(reach, taps[i].Offset)
				}
				x, w := vectest.SmallIntegers(r, (n-1)*step+reach+channels), vectest.SmallIntegers(r, 9*channels)
				to, check := vectest.Guarded(vectest.SmallIntegers(r, n*channels))
				require.True(t, DepthwiseChannelsLast(to, x, w, taps, n, step, channels))
				for i := range n {
					for c := range channels {
						want := float32(0)
						for _, tap := range taps {
							want += x[i*step+tap.Offset+c] * w[int(tap.Number)*channels+c]
						}
						require.Equal(t, want, to[i*channels+c], "window %d of %d, channel %d of %d, %d taps", i, n, c, channels, len(taps))
					}
				}
				check(t)
				require.False(t, DepthwiseChannelsLast(to, x[1:], w, []Tap{{Offset: reach}}, n, step, channels))
				require.False(t, DepthwiseChannelsLast(to, x, w, []Tap{{Number: 9}}, n, step, channels))
				require.False(t, DepthwiseChannelsLast(to, x, w, []Tap{{Offset: -1}, {Offset: 1}}, n, step, channels))
			}
		}
	})
}
