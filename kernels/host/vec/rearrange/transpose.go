package rearrange

import "github.com/paddle-mps/paddle-mps/kernels/host/vec"

// Transpose writes the transpose of rows x cols elements, which may be anything of 32 bits: to[j*toStep+i] is from[i*fromStep+j].
// It reports false and does nothing where there are no elements, an operand is shorter than that, or rows of to would overlap.
func Transpose(to, from []float32, rows, cols, toStep, fromStep int) bool {
	if toStep < rows || fromStep < 0 || !vec.RowsFit(cols, len(from), fromStep, rows) || !vec.RowsFit(rows, len(to), toStep, cols) {
		return false
	}
	active.transpose(to, from, rows, cols, toStep, fromStep)
	return true
}

// transposeRows is Transpose, portable.
func transposeRows(to, from []float32, rows, cols, toStep, fromStep int) {
	for i := range rows {
		row, at := from[i*fromStep:][:cols], i
		for _, x := range row {
			to[at] = x
			at += toStep
		}
	}
}
