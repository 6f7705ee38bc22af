package rearrange

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec/vectest"
)

// TestInterleave3 has lines of all lengths around those of vectors.
func TestInterleave3(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		for n := range 70 {
			lines := [3][]float32{}
			for k := range lines {
				for i := range n {
					lines[k] = append(lines[k], float32(3*i+k))
				}
			}
			to, check := vectest.Guarded(make([]float32, 3*n))
			require.True(t, Interleave3(to, lines[0], lines[1], lines[2]))
			for i, v := range to {
				require.EqualValues(t, i, v, "element %d of lines of %d", i, n)
			}
			check(t)
			require.False(t, Interleave3(make([]float32, 3*n+1), lines[0], lines[1], lines[2]))
			require.False(t, Interleave3(make([]float32, 3*n+3), lines[0], lines[1], append(lines[2], 1)))
		}
	})
}
