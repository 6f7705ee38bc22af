//go:build goexperiment.simd && !race

package dots

import "github.com/paddle-mps/paddle-mps/kernels/host/vec"

// AVX-512 has no dots of its own.
func (t *table) dots256() {
	t.dots32, t.dots64 = checkedDots(vec.Lanes256, dots32), checkedDots(vec.WideLanes256, dots64)
}

//go:noescape
func dots32(to *[dotRows * dotCols]float32, a *float32, lda int, b *float32, ldb, vectors int)

//go:noescape
func dots64(to *[dotRows * dotCols]float64, a *float64, lda int, b *float64, ldb, vectors int)

// checkedDots is dots of the assembler with a look at the operands before, and the elements behind the last vector.
func checkedDots[T vec.Real](lanes int, run func(to *[dotRows * dotCols]T, a *T, lda int, b *T, ldb, vectors int)) dots[T] {
	return func(to *[dotRows * dotCols]T, a, b []T, lda, ldb, k int) {
		_, _ = a[(dotRows-1)*lda+k-1], b[(dotCols-1)*ldb+k-1]
		run(to, &a[0], lda, &b[0], ldb, k/lanes)
		for l := k / lanes * lanes; l < k; l++ {
			for i := range to {
				to[i] += T(a[i/dotCols*lda+l] * b[i%dotCols*ldb+l])
			}
		}
	}
}
