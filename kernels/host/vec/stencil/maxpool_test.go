package stencil

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec/vectest"
)

// The vectors find what the portable loop finds, of windows at the end of memory too, with ties, NaN and both zeros.
func TestWindowMax(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		if !HasMaxPoolRow() {
			require.False(t, MaxPoolRow(make([]float32, 16), make([]int32, 16), make([]float32, 16), make([]Tap, 1), 1, 1, 0))
			return
		}
		r := rand.New(rand.NewPCG(5, 6))
		for _, n := range vectest.Sizes {
			for _, step := range []int{1, 2} {
				for _, behind := range []int{0, 1, 7, 64} {
					taps := make([]Tap, 1+r.IntN(9))
					reach := 0
					for i := range taps {
						taps[i] = Tap{Offset: r.IntN(40), Number: int32(r.IntN(1000) - 500)}
						reach = max(reach, taps[i].Offset)
					}
					x := vectest.Specials32(r, reach+(n-1)*step+1+behind)
					room := (n + WindowLanes - 1) &^ (WindowLanes - 1)
					best, checkBest := vectest.Guarded(make([]float32, room))
					at, checkAt := vectest.Guarded(make([]int32, room))
					wantBest, wantAt := make([]float32, n), make([]int32, n)
					maxPoolRowPortable(wantBest, wantAt, x, taps, step, 77)
					require.True(t, MaxPoolRow(best, at, x, taps, n, step, 77))
					require.Equal(t, wantAt, at[:n])
					for i := range wantBest {
						require.Equal(t, math.Float32bits(wantBest[i]), math.Float32bits(best[i]))
					}
					checkBest(t)
					checkAt(t)
					require.False(t, MaxPoolRow(best, at, x[:len(x)-behind-1], taps, n, step, 0), "windows that end beyond x")
					require.False(t, MaxPoolRow(best[:room-1], at, x, taps, n, step, 0), "no room for whole vectors")
				}
			}
		}
	})
}
