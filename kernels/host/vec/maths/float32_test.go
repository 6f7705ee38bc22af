package maths

import (
	"math"
	"os"
	"testing"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec/vectest"
)

// TestNarrowWithinTwoUlp measures the functions that compute in float32 without the rounding of the right answer, which
// rows bound: of each input in a strided sweep, or of every float32 with PADDLE_MPS_LONG=1.
func TestNarrowWithinTwoUlp(t *testing.T) {
	step := vectest.Stride() / 16
	if os.Getenv("PADDLE_MPS_LONG") == "1" {
		step = 1
	}
	for _, f := range []Function{Exp, Sigmoid, Tanh, Erf, Gelu, Silu, Log, Log1p, Log2, Expm1, Sin, Cos} {
		t.Run(f.String(), func(t *testing.T) {
			src, dst := make([]float32, 1<<12), make([]float32, 1<<12)
			worst := make([]float64, len(tables()))
			for b := uint64(0); b < 1<<32; {
				for i := range src {
					src[i] = math.Float32frombits(uint32(b))
					b += step
				}
				for l, set := range tables()[1:] {
					set.unary[f](dst, src)
					for i, x := range src {
						if off := vectest.TrueUlps(dst[i], f.At(float64(x))); off > worst[l+1] {
							worst[l+1] = off
							if off > 2 {
								t.Fatalf("%v: f(%g) is %.3f ulp off", set.level, x, off)
							}
						}
					}
				}
			}
			t.Logf("at most %.3f ulp, slowest level first", worst)
		})
	}
}
