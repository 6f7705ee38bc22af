//go:build ((goexperiment.simd && amd64) || arm64) && !race

package gemm

import "github.com/paddle-mps/paddle-mps/kernels/host/vec"

// checkedTile is a tile of the assembler, which looks at c, a and b before it runs what does not look.
func checkedTile[T vec.Real](rows, cols int, run func(c *T, ldc int, a, b *T, steps int, set bool)) func(c []T, ldc int, a, b []T, set bool) {
	return func(c []T, ldc int, a, b []T, set bool) {
		if steps := min(len(a)/rows, len(b)/cols); steps > 0 {
			_ = c[(rows-1)*ldc+cols-1]
			run(&c[0], ldc, &a[0], &b[0], steps, set)
		}
	}
}
