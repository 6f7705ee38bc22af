//go:build goexperiment.simd && amd64 && !race

package maths

import (
	"math"
	"math/rand/v2"
	"simd/archsimd"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/vectest"
)

// TestVectorsHaveTheBitsOfLoops compares the loops in assembler with those in Go, which take over where a vector has a special number:
// its neighbors must not show.
func TestVectorsHaveTheBitsOfLoops(t *testing.T) {
	if !archsimd.X86.AVX512() {
		t.Skip("needs AVX-512")
	}
	r := rand.New(rand.NewPCG(21, 22))
	x, y := make([]float32, 41*vec.Lanes512), make([]float32, 41*vec.Lanes512)
	want, got := make([]float32, len(x)), make([]float32, len(x))
	same := func(t *testing.T) {
		t.Helper()
		for i := range x {
			require.True(t, vectest.SameBits(float64(want[i]), float64(got[i])), "of %g and %g: %g; want %g", x[i], y[i], got[i], want[i])
		}
	}
	fill := func(round int) {
		for i := range x {
			x[i], y[i] = float32(math.Exp2(20*r.Float64()-10)), float32(10*r.NormFloat64())
			if round%2 == 0 && r.IntN(4) == 0 {
				x[i] = -x[i]
			}
			if round%4 == 0 && r.IntN(100) == 0 {
				x[i], y[i] = math.Float32frombits(r.Uint32()), math.Float32frombits(r.Uint32())
			}
		}
		if round%4 == 0 {
			copy(x[r.IntN(len(x)-40):], vectest.Edges32())
		}
	}
	for name, f := range map[string]struct {
		asm  vectors
		loop func(dst, src []float32)
	}{
		"exp": {expVectors, expLoop512}, "tanh": {tanhVectors, tanhLoop512}, "gelu": {geluVectors, geluLoop512},
		"log": {logVectors, logLoop512}, "sin": {sinVectors, sinLoop512},
	} {
		t.Run(name, func(t *testing.T) {
			for round := range 2000 {
				fill(round)
				f.loop(want, x)
				inVectors(f.asm, f.loop)(got, x)
				same(t)
			}
			for i := range x {
				x[i] = 1 + float32(i)/100
			}
			require.Equal(t, len(x), f.asm(&got[0], &x[0], len(x), unsafe.Pointer(Consts)), "usual numbers")
		})
	}
	t.Run("pow", func(t *testing.T) {
		for round := range 2000 {
			fill(round)
			powEach512(want, x, y)
			powLoop512(got, x, y)
			same(t)
		}
		for i := range x {
			x[i], y[i] = 1+float32(i)/100, 3
		}
		require.Equal(t, len(x)-vec.Lanes512, powVectors(&got[0], &x[0], &y[0], len(x), unsafe.Pointer(Consts)), "usual numbers")
		y[70] = 2
		require.Equal(t, 64, powVectors(&got[0], &x[0], &y[0], len(x), unsafe.Pointer(Consts)))
	})
}
