//go:build linux || darwin

package gemm

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec/vectest"
)

// Products of rows that are multiplied where they lie are right and stay inside, whatever the distance of the rows: elements are
// small integers, whose sums are exact. The forms are a product, one that is added, and both with a packed right operand.
func TestLinesStayInside(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		f := vectest.NewFences(t)
		for m := 1; m <= 15; m++ {
			for _, n := range []int{1, 15, 16, 17, 31, 32, 33, 48, 64, 65, 70} {
				for _, k := range []int{1, 3, 256, 261} {
					for _, lda := range []int{k, k + 5, (k + 511) / 512 * 512, 1024} {
						f.High = (m+n+lda)%2 == 0
						for form := range 4 {
							whole := func(rows, cols, step int) []float32 { return vectest.Operand[float32](f, (rows-1)*step+cols) }
							f.Try(t, func() {
								c, a, b := whole(m, n, n+form), whole(m, k, lda), whole(k, n, n)
								for i := range a {
									a[i] = float32(i*7%5 - 2)
								}
								for i := range b {
									b[i] = float32(i*11%7 - 3)
								}
								want := make([]float32, len(c))
								for i := range c {
									c[i] = float32(i % 9)
									want[i] = c[i]
								}
								steps := min(k, 256)
								for i := range m {
									for j := range n {
										s := float32(0)
										if form%2 == 1 {
											s = c[i*(n+form)+j]
										}
										l := 0
										for ; l < k && (form < 2 || l < steps); l++ {
											s += a[i*lda+l] * b[l*n+j]
										}
										want[i*(n+form)+j] = s
									}
								}
								switch form {
								case 0:
									require.True(t, MatMul(c, a, b, m, n, k, lda, n, n))
								case 1:
									require.True(t, AddMatMul(c, a, b, m, n, k, lda, n, n+1))
								default:
									right := rightOf(b, k, n, n)
									require.True(t, right.AddWindows(c, a[:(m-1)*lda+steps], Windows{Lines: 1, PerLine: m, Step: lda, Runs: 1, Run: steps}, 0, 0, n, n+form, form == 2))
								}
								require.Equal(t, want, c)
							}, "rows %d, columns %d, k %d, distance %d, form %d", m, n, k, lda, form)
						}
					}
				}
			}
		}
	})
}
