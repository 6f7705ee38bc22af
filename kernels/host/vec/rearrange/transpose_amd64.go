//go:build goexperiment.simd && !race

package rearrange

//go:noescape
func square16(to, from *float32, toStep, fromStep, rows, cols int)

//go:noescape
func square8(to, from *float32, toStep, fromStep, rows, cols int)

// bySquares is Transpose by squares of a side, or what is left of one.
// SAFETY: Transpose has seen that all rows lie in their operands; those of a square, and its columns, are among them.
func bySquares(side int, square func(to, from *float32, toStep, fromStep, rows, cols int)) func(to, from []float32, rows, cols, toStep, fromStep int) {
	return func(to, from []float32, rows, cols, toStep, fromStep int) {
		for i := 0; i < rows; i += side {
			for j := 0; j < cols; j += side {
				square(&to[j*toStep+i], &from[i*fromStep+j], toStep, fromStep, min(side, rows-i), min(side, cols-j))
			}
		}
	}
}
