package float16

import (
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// AddBF16Rows adds rows of bfloat16, which begin step apart, times the elements of a to sums. It reports false and does nothing where
// b is shorter than that, or rows overlap.
func AddBF16Rows(sums, a []float32, b []uint16, step int) bool {
	if !vec.MatrixFits(len(b), len(a), len(sums), step) {
		return false
	}
	active.addBF16Rows(sums, a, b, step)
	return true
}

// addBF16Rows is AddBF16Rows, portable.
func addBF16Rows(sums, a []float32, b []uint16, step int) {
	for l, x := range a {
		for i, h := range b[l*step:][:len(sums)] {
			sums[i] += float32(x * dtype.BF16ToF32(h))
		}
	}
}
