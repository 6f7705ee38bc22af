//go:build arm64 && cgo && !race

package neon

/*
#cgo noescape neon_kernel_cells
#cgo nocallback neon_kernel_cells
#cgo noescape neon_image_cells
#cgo nocallback neon_image_cells
#cgo noescape neon_tile_sums
#cgo nocallback neon_tile_sums
#cgo noescape neon_even_elements
#cgo nocallback neon_even_elements
#cgo noescape neon_split_lines
#cgo nocallback neon_split_lines
#cgo noescape neon_plane
#cgo nocallback neon_plane
#cgo noescape neon_max_row
#cgo nocallback neon_max_row
#include "rows.h"
*/
import "C"

import "unsafe"

// Kernels is the number of kernels that are transformed together.
const Kernels = 4

// KernelCells is winograd.Kernels for groups of Kernels kernels.
func KernelCells(to, w []float32, groups, cell int) {
	C.neon_kernel_cells(floats(to), floats(w), C.size_t(groups), C.size_t(cell))
}

// Tiles are the Tiles of package winograd.
type Tiles struct{ PerLine, Count, Columns, Lines, Apart, Pitch, Odd, PanelTiles, Panel int }

// The build fails where the structure of C is another.
var _ = [1]struct{}{}[unsafe.Sizeof(Tiles{})-C.sizeof_neon_tiles]

// inC are the same tiles.
// SAFETY: both types have as many fields of the same size in the same order, and no number is negative.
func (t *Tiles) inC() *C.neon_tiles { return (*C.neon_tiles)(unsafe.Pointer(t)) }

// Image is the method of winograd.Tiles.
func (t Tiles) Image(to, x []float32, cell int) {
	C.neon_image_cells(floats(to), floats(x), t.inC(), C.size_t(cell))
}

// Sums is the method of winograd.Tiles.
func (t Tiles) Sums(to, m []float32, cell int) (finite bool) {
	return C.neon_tile_sums(floats(to), floats(m), t.inC(), C.size_t(cell)) != 0
}

// EvenElements is stencil.EvenElements.
func EvenElements(to, x []float32) {
	C.neon_even_elements(floats(to), floats(x), C.size_t(len(to)))
}

// SplitLines is stencil.PadPlane with halves.
func SplitLines(to, x []float32, lines, width, from, pitch, first, second int) {
	C.neon_split_lines(floats(to), floats(x), C.size_t(lines), C.size_t(width), C.size_t(from), C.size_t(pitch), C.size_t(first), C.size_t(second))
}

// DepthwisePlane is stencil.DepthwisePlane, with one line and one tap at least.
func DepthwisePlane(to, x, w []float32, offsets []int, lines, width, apart, pitch int) {
	C.neon_plane(floats(to), floats(x), floats(w), places(offsets), C.size_t(len(w)), C.size_t(lines), C.size_t(width), C.size_t(apart), C.size_t(pitch))
}

// MaxRow is stencil.MaxPoolRow for windows of whole vectors that lie in x. It answers how many windows it has done.
func MaxRow(best []float32, at []int32, x []float32, taps []Tap, n, step, reach int, first int32) int {
	return int(C.neon_max_row(floats(best), words(at), floats(x), C.size_t(len(x)), windows(taps), C.size_t(len(taps)), C.size_t(n), C.size_t(step), C.size_t(reach), C.int32_t(first)))
}
