//go:build goexperiment.simd && !race

package maths

import (
	"unsafe"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// Loops of AVX-512 for the functions whose time counts most, in assembler: the compiler uses half of the registers, so that its loops load
// most constants for each vector. What they do not take, such as the logarithm of a negative number, is left to the loops in Go.

// vectors computes a function of n elements, a positive multiple of vec.Lanes512, and returns how many it has computed: all before the first
// vector that it does not take. It reads the constants, which are given as an untyped address: with their type in the signature, the
// library would have its description and functions that compare it, 50 KB.
type vectors func(dst, src *float32, n int, c unsafe.Pointer) int

//go:noescape
func expVectors(dst, src *float32, n int, c unsafe.Pointer) int

//go:noescape
func sigmoidVectors(dst, src *float32, n int, c unsafe.Pointer) int

//go:noescape
func tanhVectors(dst, src *float32, n int, c unsafe.Pointer) int

//go:noescape
func geluVectors(dst, src *float32, n int, c unsafe.Pointer) int

//go:noescape
func logVectors(dst, src *float32, n int, c unsafe.Pointer) int

//go:noescape
func sinVectors(dst, src *float32, n int, c unsafe.Pointer) int

// powVectors is vectors for pow, of x and y. It computes an even number of vectors.
//
//go:noescape
func powVectors(dst, x, y *float32, n int, c unsafe.Pointer) int

func (t *table) functions512() {
	t.unary[Exp] = inWhole512(inVectors(expVectors, expLoop512))
	t.unary[Sigmoid] = inWhole512(inVectors(sigmoidVectors, sigmoidLoop512))
	t.unary[Tanh] = inWhole512(inVectors(tanhVectors, tanhLoop512))
	t.unary[Gelu] = inWhole512(inVectors(geluVectors, geluLoop512))
	t.unary[Log] = inWhole512(inVectors(logVectors, logLoop512))
	t.unary[Sin] = inWhole512(inVectors(sinVectors, sinLoop512))
}

// leftElements are given to the loop in Go where a vector is left to it: others are likely to follow.
const leftElements = 1024

// inVectors computes whole vectors by f, and by the loop in Go what f does not take. Both give the same bits, or f takes all.
// SAFETY: dst is as long as src, and both have whole vectors; the constants live as long as the program.
//
//go:noinline
func inVectors(f vectors, loop func(dst, src []float32)) func(dst, src []float32) {
	return func(dst, src []float32) {
		for len(src) > 0 {
			n := f(&dst[0], &src[0], len(src), unsafe.Pointer(Consts))
			m := min(n+leftElements, len(src))
			if n < m {
				loop(dst[n:m], src[n:m])
			}
			dst, src = dst[m:], src[m:]
		}
	}
}

// powLoop512 is inVectors for pow.
// SAFETY: see powEach512 and inVectors.
func powLoop512(dst, x, y []float32) {
	for len(dst) >= 2*vec.Lanes512 {
		n := powVectors(&dst[0], &x[0], &y[0], len(dst), unsafe.Pointer(Consts))
		m := min(n+leftElements, len(dst))
		powEach512(dst[n:m], x[n:m], y[n:m])
		dst, x, y = dst[m:], x[m:], y[m:]
	}
	powEach512(dst, x, y)
}
