//go:build goexperiment.simd && !race

package vec

import "unsafe"

// planeLines is the number of lines of a planeTile.
const planeLines = 8

// planeTile is a vector of each of eight lines, where taps see it and where its sums go, of which only some lanes are written.
// planes_amd64.s has the offsets of the fields.
type planeTile struct {
	from, to [planeLines]unsafe.Pointer
	lanes    uint16
}

//go:noescape
func tapLines(t *planeTile, w *float32, offsets *int, taps int)

//go:noescape
func splitLines(to, x *float32, lines, width, from, pitch, first, second int)

// splitWith512 is splitPlane of AVX-512. Lines of two vectors have the same lanes, which are found once.
// SAFETY: the caller has seen to it that all lines lie in their slices, and lanes of no element are neither read nor written.
func splitWith512(to, x []float32, lines, width, from, pitch, first, second int) {
	if width > 2*lanes512 {
		splitPlane512(to, x, lines, width, from, pitch, first, second)
		return
	}
	splitLines(&to[0], &x[0], lines, width, from, pitch, first, second)
}

// tapPlaneWith512 is TapPlane of AVX-512. The Go compiler would keep all addresses of eight lines in memory. Lines behind the last are
// that one once more; up to four that are left over cost less without them.
// SAFETY: the caller has seen to it that a vector lies in x at each element of a line.
func tapPlaneWith512(to, x, w []float32, offsets []int, lines, width, apart, pitch int) {
	var t planeTile
	i := 0
	for ; lines-i > planeLines/2 && len(w) > 0; i = min(i+planeLines, lines) {
		for j := 0; j < width; j += lanes512 {
			for l := range t.from {
				line := min(i+l, lines-1)
				t.from[l], t.to[l] = unsafe.Pointer(&x[line*pitch+j]), unsafe.Pointer(&to[line*apart+j])
			}
			t.lanes = uint16(1<<min(width-j, lanes512) - 1)
			tapLines(&t, &w[0], &offsets[0], len(w))
		}
	}
	if i < lines {
		tapPlane512(to[i*apart:], x[i*pitch:], w, offsets, lines-i, width, apart, pitch)
	}
}
