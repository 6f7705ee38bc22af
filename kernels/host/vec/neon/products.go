//go:build arm64 && cgo && !race

package neon

/*
#cgo noescape neon_pack_lines
#cgo nocallback neon_pack_lines
#cgo noescape neon_pack_rows
#cgo nocallback neon_pack_rows
#cgo noescape neon_pack_panel
#cgo nocallback neon_pack_panel
#cgo noescape neon_add_rows
#cgo nocallback neon_add_rows
#cgo noescape neon_add_rows_at
#cgo nocallback neon_add_rows_at
#cgo noescape neon_add_two_rows_at
#cgo nocallback neon_add_two_rows_at
#cgo noescape neon_panel_row
#cgo nocallback neon_panel_row
#cgo noescape neon_column
#cgo nocallback neon_column
#cgo noescape neon_dots
#cgo nocallback neon_dots
#cgo noescape neon_dots64
#cgo nocallback neon_dots64
#cgo noescape neon_line_dots
#cgo nocallback neon_line_dots
#cgo noescape neon_transpose
#cgo nocallback neon_transpose
#cgo noescape neon_choose
#cgo nocallback neon_choose
#include "rows.h"
*/
import "C"

import "unsafe"

// PackLines lays out a panel of PanelCols columns from column first on, of which there are cols, of rows of b that are lines of width
// elements, pitch elements apart. The panel has a row for each offset.
func PackLines(to, b []float32, offsets []int, first, cols, width, pitch int) {
	C.neon_pack_lines(floats(to), floats(b), places(offsets), C.size_t(len(offsets)), C.size_t(first), C.size_t(cols), C.size_t(width), C.size_t(pitch))
}

// PanelCols is the number of columns of a panel of gemm.
const PanelCols = 12

// PackRows lays out a panel of eight rows of a, column after column.
func PackRows(to, a []float32, steps, lda int) {
	C.neon_pack_rows(floats(to), floats(a), C.size_t(steps), C.size_t(lda))
}

// PackPanel lays out a panel of PanelCols columns of rows at offsets of b.
func PackPanel(to, b []float32, offsets []int) {
	C.neon_pack_panel(floats(to), floats(b), places(offsets), C.size_t(len(offsets)))
}

// AddRows adds rows of b, ldb elements apart, times elements of a to c.
func AddRows(c, a, b []float32, ldb int) {
	C.neon_add_rows(floats(c), floats(a), floats(b), C.size_t(ldb), C.size_t(len(a)), C.size_t(len(c)))
}

// AddRowsAt is AddRows for rows at offsets of b.
func AddRowsAt(c, a, b []float32, offsets []int) {
	C.neon_add_rows_at(floats(c), floats(a), floats(b), places(offsets), C.size_t(len(a)), C.size_t(len(c)))
}

// AddTwoRowsAt is AddRowsAt for c and a, and for d and e.
func AddTwoRowsAt(c, d, a, e, b []float32, offsets []int) {
	C.neon_add_two_rows_at(floats(c), floats(d), floats(a), floats(e), floats(b), places(offsets), C.size_t(len(a)), C.size_t(len(c)))
}

// AddPanelRow adds rows of panels of b, stride elements apart, times elements of a to c, which is as long as two panels or four.
func AddPanelRow(c, a, b []float32, stride int) {
	C.neon_panel_row(floats(c), floats(a), floats(b), C.size_t(stride), C.size_t(len(a)), C.size_t(len(c)/PanelCols))
}

// Column adds m rows of a, a multiple of 8, times one column of b to one of c, or sets it.
func Column(c, a, b []float32, m, k, lda, ldb, ldc int, set bool) {
	zero := C.int(0)
	if set {
		zero = 1
	}
	C.neon_column(floats(c), C.size_t(ldc), floats(a), C.size_t(lda), floats(b), C.size_t(ldb), C.size_t(k), C.size_t(m), zero)
}

// Dots sets to to three rows of a times four of b.
func Dots(to *[12]float32, a, b []float32, lda, ldb, k int) {
	C.neon_dots(floats(to[:]), floats(a), C.size_t(lda), floats(b), C.size_t(ldb), C.size_t(k))
}

// Dots64 is Dots for float64.
func Dots64(to *[12]float64, a, b []float64, lda, ldb, k int) {
	C.neon_dots64(doubles(to[:]), doubles(a), C.size_t(lda), doubles(b), C.size_t(ldb), C.size_t(k))
}

// Lines are the Lines of package dots.
type Lines struct{ Width, Count, StepA, StepB, Images, NextA, NextB, Row int }

// The build fails where the structure of C is another.
var _ = [1]struct{}{}[unsafe.Sizeof(Lines{})-C.sizeof_neon_lines]

// LineDots sets to to six rows of a times the lines of b from four offsets on.
// SAFETY: both types of lines have as many fields of the same size in the same order, and no number is negative.
func LineDots(to *[24]float32, a, b []float32, offsets *[4]int, l Lines) {
	C.neon_line_dots(floats(to[:]), floats(a), floats(b), places(offsets[:]), (*C.neon_lines)(unsafe.Pointer(&l)))
}

// Transpose is rearrange.Transpose.
func Transpose(to, from []float32, rows, cols, toStep, fromStep int) {
	C.neon_transpose(floats(to), floats(from), C.size_t(rows), C.size_t(cols), C.size_t(toStep), C.size_t(fromStep))
}

// Choose is nontemporal.Choose, whose stores are ordinary ones.
// SAFETY: all memory belongs to the caller.
func Choose(size int, to, condition, a, b unsafe.Pointer, n int) {
	C.neon_choose(C.size_t(size), to, (*C.uint8_t)(condition), a, b, C.size_t(n))
}
