//go:build goexperiment.simd && !race

package stencil

import (
	"unsafe"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// planeLines is the number of lines of a planeTile.
const planeLines = 8

// planeTile is a vector of each of eight lines, where taps see it and where its sums go, of which only some lanes are written.
// planes_amd64.s has the offsets of the fields.
type planeTile struct {
	from, to [planeLines]unsafe.Pointer
	lanes    uint16
}

// The lanes with even and with odd numbers of two vectors, for splitLines: only planes_amd64.s reads them.
var (
	//lint:ignore U1000 see above
	evenLanes512 = [vec.Lanes512]uint32{0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30}
	//lint:ignore U1000 see above
	oddLanes512 = [vec.Lanes512]uint32{1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31}
)

//go:noescape
func tapLines(t *planeTile, w *float32, offsets *int, taps int)

// mostSplit512 is the number of elements of a line that splitLines takes: two vectors, whose lanes are found once.
const mostSplit512 = 32

// splitLines512 is PadPlane with halves.
// SAFETY: the caller has seen to it that all lines lie in their slices.
func splitLines512(to, x []float32, lines, width, from, pitch, first, second int) {
	splitLines(&to[0], &x[0], lines, width, from, pitch, first, second)
}

//go:noescape
func splitLines(to, x *float32, lines, width, from, pitch, first, second int)

// depthwisePlane512 is DepthwisePlane of AVX-512. The Go compiler would keep all addresses of eight lines in memory. Lines behind the last are that
// one once more.
// SAFETY: the caller has seen to it that a vector lies in x at each element of a line.
func depthwisePlane512(to, x, w []float32, offsets []int, lines, width, apart, pitch int) {
	var t planeTile
	for i := 0; i < lines; i += planeLines {
		for j := 0; j < width; j += vec.Lanes512 {
			for l := range t.from {
				line := min(i+l, lines-1)
				t.from[l], t.to[l] = unsafe.Pointer(&x[line*pitch+j]), unsafe.Pointer(&to[line*apart+j])
			}
			t.lanes = uint16(1<<min(width-j, vec.Lanes512) - 1)
			tapLines(&t, &w[0], &offsets[0], len(w))
		}
	}
}
