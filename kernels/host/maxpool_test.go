package host

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// Both ways of pooling a run of windows find the same elements, with ties, zeros of both signs, infinities and nan.
func TestWaysOfMaxPoolAgree(t *testing.T) {
	values := []float32{0, float32(math.Copysign(0, -1)), 1, -1, 2, -2, float32(math.Inf(1)), float32(math.Inf(-1)), 1e-45, -1e-45}
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range 2000 {
		kernel := [op.MaxSpatial]int64{1 + rng.Int64N(2), 1 + rng.Int64N(2), 1 + rng.Int64N(4)}
		stride, n := 2+rng.Int64N(3), int(1+rng.Int64N(5))
		x := image[float32]{dims: [op.MaxSpatial]int64{2, 3, 40}, strides: [op.MaxSpatial]int64{120, 40, 1}, data: make([]float32, 240)}
		for i := range x.data {
			x.data[i] = values[rng.IntN(len(values))]
			if round%3 == 0 && rng.IntN(6) == 0 {
				x.data[i] = math.Float32frombits(rng.Uint32() | 0x7FC00000) // nan of either sign
			}
		}
		if round%2 == 0 { // the same plane, read backwards
			x.origin, x.strides = 239, [op.MaxSpatial]int64{-120, -40, -1}
		}
		j := &pooling[float32]{pool: &pool[float32]{larger: vec.RowsOf[float32](vec.Max).VV}, x: x}
		j.windows.Kernel, j.windows.Stride = kernel, [op.MaxSpatial]int64{1, 1, stride}
		m := maxRun[float32]{pooling: j, from: x.origin, lines: poolRows{0, kernel[0], 1, 1 + kernel[1]}, row: make([]float32, block)}
		require.True(t, m.compares())
		best, places := make([]float32, n), make([]int64, n)
		m.pool(3, best, places)
		others, found := make([]float32, n), make([]int64, n)
		m.compare(3, others, found)
		require.Equal(t, places, found, "kernel %v, stride %d", kernel, stride)
		for i := range best {
			at := places[i]
			if round%2 == 0 {
				at = x.origin - at
			}
			require.Equal(t, math.Float32bits(x.data[at]), math.Float32bits(others[i]))
		}
	}
}
