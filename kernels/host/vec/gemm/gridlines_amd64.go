//go:build goexperiment.simd && !race

package gemm

import (
	"unsafe"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// A product of six rows uses a panel of b once: laying it out would cost more than the product. A tile of six rows and four vectors
// reads what the vectors see of the image where it lies, each a part of a line.

const (
	gridRows    = 6
	gridVectors = 4
	leastVector = 8 // columns of a line from which on that pays: a panel has vectors of several lines
)

// gridTile is the arguments of grid6x64. Distances are bytes. gridlines_amd64.s has the offsets of the fields.
type gridTile struct {
	a, c     unsafe.Pointer
	lda, ldc int                         // from a row to the next
	offsets  unsafe.Pointer              // of the terms, in elements
	steps    int                         // terms
	b        [gridVectors]unsafe.Pointer // where the vectors lie at offset 0
	to       [gridVectors]int            // where they lie in a row of c
	lanes    [gridVectors]uint16         // which of each there are
	set      bool
}

//go:noescape
func grid6x64(t *gridTile)

// addLinesOf512 is grid for six rows. Lanes of no column are neither read nor written.
// SAFETY: the caller has seen that the last column lies in b at each offset, and that rows lie in a and in c.
func addLinesOf512(c, a, b []float32, offsets []int, n, lda, ldc, width, pitch int, set bool) {
	t := gridTile{a: unsafe.Pointer(&a[0]), c: unsafe.Pointer(&c[0]), lda: 4 * lda, ldc: 4 * ldc, offsets: unsafe.Pointer(&offsets[0]), steps: len(offsets), set: set}
	v := 0
	for first := 0; first < n; first += width {
		line, columns := b[first/width*pitch:], min(width, n-first)
		for at := 0; at < columns; at += vec.Lanes512 {
			t.b[v], t.to[v], t.lanes[v] = unsafe.Pointer(&line[at]), 4*(first+at), uint16(1<<min(vec.Lanes512, columns-at)-1)
			if v++; v == gridVectors {
				grid6x64(&t)
				v = 0
			}
		}
	}
	if v > 0 {
		for ; v < gridVectors; v++ { // none of these
			t.b[v], t.lanes[v] = t.b[0], 0
		}
		grid6x64(&t)
	}
}
