//go:build arm64 && cgo && !race

package float16

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec/neon"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/vectest"
)

// The loops in C are called here for rows of any length, also those that tables leave to portable loops, on operands that end
// in front of a page that may not be touched, or begin behind one. Portable loops tell what is right, to the bit.

func TestConversionsInC(t *testing.T) {
	vectest.EachFenced(t, func(fenced *vectest.Fences, r *rand.Rand, n int) {
		x, halves, got := vectest.Filled(fenced, r, n), vectest.Operand[uint16](fenced, n), vectest.Operand[float32](fenced, n)
		wantHalves, want := make([]uint16, n), make([]float32, n)
		for i := range x {
			if i%2 == 0 {
				x[i] = math.Float32frombits(r.Uint32())
			}
		}
		neon.F32ToF16(halves, x)
		f32ToF16Row(wantHalves, x)
		require.Equal(t, wantHalves, append([]uint16{}, halves...))
		neon.F16ToF32(got, halves)
		f16ToF32Row(want, halves)
		vectest.RequireBits(t, want, got, "float16 of %d", n)
		neon.F32ToBF16(halves, x)
		f32ToBF16Row(wantHalves, x)
		require.Equal(t, wantHalves, append([]uint16{}, halves...))
		neon.BF16ToF32(got, halves)
		bf16ToF32Row(want, halves)
		vectest.RequireBits(t, want, got, "bfloat16 of %d", n)
	})
}
