//go:build goexperiment.simd && !race

package gemm

import (
	"unsafe"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// A tile has two groups of rows that are neighbours in a line, wherever the two are, or as many rows as one group has, wherever each of
// them is. Seven divide the lines of most images: 7, 14, 28, 56, 112.
const groupRows = 7

// rowTile is the arguments of a tile that reads rows of a where they lie: it adds them times rows of b to c, or with set makes c
// that. Distances are bytes. windows_amd64.s has the offsets of the fields.
type rowTile struct {
	a, c         [2]unsafe.Pointer // the first rows of the groups
	b            unsafe.Pointer
	lda, ldc     int // from a row of a group to the next
	run, runs    int // terms of a run, and how many there are
	skip         int // from the end of a run to the next
	cols         int // of c, in words of four bytes
	set          bool
	rowsA, rowsC [groupRows]unsafe.Pointer // of rows7x32
	ahead        uintptr                   // what will be read of b: the other tiles ask for a part of it
	from         unsafe.Pointer            // rows of b for the tiles that lay out the panel
	ldb          int                       // from one of these to the next
}

//go:noescape
func rows14x32(t *rowTile)

//go:noescape
func rows14x16(t *rowTile)

//go:noescape
func rows7x32(t *rowTile)

//go:noescape
func rows7x16(t *rowTile)

//go:noescape
func rows4x32(t *rowTile)

//go:noescape
func pack14x32(t *rowTile)

//go:noescape
func doubles14x16(t *rowTile)

//go:noescape
func doubles4x16(t *rowTile)

// panelTile is a rowTile for several panels of b.
type panelTile struct {
	rowTile
	double bool // float64
	panels unsafe.Pointer
	stride int // from a panel to the next
	width  int // of all panels, in words
	terms  int
	asked  int // tiles that have asked for what comes behind a panel; three ask for all of it
}

// panelWords is the width of a panel in words of four bytes.
const panelWords = 2 * vec.Lanes512

// windows512 is windows of AVX-512.
// SAFETY: the caller has seen to it that all rows lie in a and in c, and that each panel of b, and what it is made of, has a row for
// each term.
func windows512(c, a, b []float32, stride int, w Windows, cols, ldc int, set bool) {
	p := panelTile{panels: unsafe.Pointer(&b[0]), stride: 4 * stride, width: cols}
	p.ldc, p.set = 4*ldc, set
	if w.source != nil {
		p.from, p.ldb = unsafe.Pointer(&w.source[0]), 4*w.sourceStep
	}
	p.add(c, a, &w)
}

// add goes through the rows. Those that fill no two groups are multiplied seven or four at a time; where there are fewer, some are the
// same.
// SAFETY: see windows512.
func (p *panelTile) add(c, a []float32, w *Windows) {
	p.double, p.terms, p.lda, p.run, p.runs, p.skip = w.double, w.terms(), 4*w.Step, w.Run, w.Runs, 4*(w.Apart-w.Run)
	if w.double {
		p.skip -= 4 * w.Run
	}
	groups, rest := 0, 0
	var pair [2]unsafe.Pointer // what the groups are added to
	var rows restRows
	for i, at := range w.Starts {
		rows.a[rest], rows.c[rest] = unsafe.Pointer(&a[at]), unsafe.Pointer(&c[i*p.ldc/4])
		if rest++; rest == len(rows.a) {
			p.remainingRows(&rows, rest)
			rest = 0
		}
	}
	for line := range w.Lines {
		from, to := unsafe.Pointer(&a[line*w.Line]), unsafe.Pointer(&c[line*w.PerLine*p.ldc/4])
		i := 0
		for ; i+groupRows <= w.PerLine; i += groupRows {
			p.a[groups], pair[groups] = unsafe.Add(from, i*p.lda), unsafe.Add(to, i*p.ldc)
			if groups++; groups == len(pair) {
				p.groups(pair)
				groups = 0
			}
		}
		for ; i < w.PerLine; i++ {
			rows.a[rest], rows.c[rest] = unsafe.Add(from, i*p.lda), unsafe.Add(to, i*p.ldc)
			if rest++; rest == groupRows {
				p.remainingRows(&rows, rest)
				rest = 0
			}
		}
	}
	if groups > 0 {
		for i := range groupRows {
			rows.a[rest], rows.c[rest] = unsafe.Add(p.a[0], i*p.lda), unsafe.Add(pair[0], i*p.ldc)
			rest++
		}
	}
	p.remainingRows(&rows, rest)
}

// restRows are the rows that fill no two groups.
type restRows struct{ a, c [2 * groupRows]unsafe.Pointer }

// fourRows is the rows of the smallest tile, and the only one of float64 beside that of two groups.
const fourRows = 4

// remainingRows multiplies so many rows with all panels.
func (p *panelTile) remainingRows(r *restRows, rows int) {
	for from := 0; from < rows; {
		n := min(groupRows, rows-from)
		if p.double || rows-from == 2*fourRows {
			n = min(fourRows, n)
		}
		p.rows(r, from, n)
		from += n
	}
}

// What is read of b comes from far away where there are many channels, and the first tile that reads it would wait. A tile asks for
// 192 bytes of each 512 that it reads, in what follows in memory: the terms to come, or the next panel.

// groups multiplies two groups with all panels.
// SAFETY: see windows512; what a tile asks for may lie anywhere.
func (p *panelTile) groups(to [2]unsafe.Pointer) {
	for j := 0; j < p.width; j += panelWords {
		p.open(j)
		p.c = [2]unsafe.Pointer{unsafe.Add(to[0], 4*j), unsafe.Add(to[1], 4*j)}
		p.ahead = uintptr(p.b) + uintptr((128+48*p.asked)*p.terms)
		p.pair()
	}
	p.asked = (p.asked + 1) % 3
}

// pair multiplies two groups with a panel.
func (p *panelTile) pair() {
	switch {
	case p.from != nil:
		pack14x32(&p.rowTile)
	case p.double:
		doubles14x16(&p.rowTile)
	case p.cols <= vec.Lanes512:
		rows14x16(&p.rowTile)
	default:
		rows14x32(&p.rowTile)
	}
	p.from = nil
}

// rows multiplies n rows from one on, seven at most, with all panels.
// SAFETY: see windows512.
func (p *panelTile) rows(r *restRows, from, n int) {
	for i := range groupRows {
		p.rowsA[i] = r.a[from+min(i, n-1)]
	}
	for j := 0; j < p.width; j += panelWords {
		p.open(j)
		for i := range groupRows {
			p.rowsC[i] = unsafe.Add(r.c[from+min(i, n-1)], 4*j)
		}
		switch {
		case p.double:
			doubles4x16(&p.rowTile)
		case p.cols <= vec.Lanes512:
			rows7x16(&p.rowTile)
		case n <= fourRows:
			rows4x32(&p.rowTile)
		default:
			rows7x32(&p.rowTile)
		}
	}
}

// open goes to the panel of column j.
// SAFETY: see windows512. No pointer is ever behind the end of its slice, where Go's collector would not know it.
func (p *panelTile) open(j int) {
	p.b, p.cols = unsafe.Add(p.panels, j/panelWords*p.stride), min(p.width-j, panelWords)
}
