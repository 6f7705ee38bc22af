package vec

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDepthwise compares sums over taps with plain loops, for numbers of windows and of channels around those that are computed together.
// The elements are small integers, whose sums are exact.
func TestDepthwise(t *testing.T) {
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
				x, w := smallIntegers(r, (n-1)*step+reach+channels), smallIntegers(r, 9*channels)
				to, check := guarded(smallIntegers(r, n*channels))
				require.True(t, Depthwise(to, x, w, taps, n, step, channels))
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
				require.False(t, Depthwise(to, x[1:], w, []Tap{{Offset: reach}}, n, step, channels))
				require.False(t, Depthwise(to, x, w, []Tap{{Number: 9}}, n, step, channels))
				require.False(t, Depthwise(to, x, w, []Tap{{Offset: -1}, {Offset: 1}}, n, step, channels))
			}
		}
	})
}
