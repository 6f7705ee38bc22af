//go:build goexperiment.simd && !race

package vec

import "unsafe"

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
	cols         int // of c
	set          bool
	rowsA, rowsC [groupRows]unsafe.Pointer // of rows7x32
	ahead        uintptr                   // what will be read of b: the other tiles ask for a part of it
}

//go:noescape
func rows14x32(t *rowTile)

//go:noescape
func rows14x16(t *rowTile)

//go:noescape
func rows7x32(t *rowTile)

//go:noescape
func rows4x32(t *rowTile)

// panelTile is a rowTile for several panels of b.
type panelTile struct {
	rowTile
	panels unsafe.Pointer
	stride int // from a panel to the next
	width  int // columns of all
	terms  int
	asked  int // tiles that have asked for what comes behind a panel; three ask for all of it
}

// windows512 is windows of AVX-512. Rows that fill no group are multiplied seven at a time; where there are fewer, some are
// the same.
// SAFETY: the caller has seen to it that all rows lie in a and in c, and that each panel of b has a row for each term.
func windows512(c, a, b []float32, stride int, w Windows, cols, ldc int, set bool) {
	p := panelTile{panels: unsafe.Pointer(&b[0]), stride: 4 * stride, width: cols, terms: w.terms()}
	p.lda, p.ldc, p.run, p.runs, p.skip, p.set = 4*w.Step, 4*ldc, w.Run, w.Runs, 4*(w.Apart-w.Run), set
	groups, rest := 0, 0
	var pair [2]unsafe.Pointer // what the groups are added to
	var sums [groupRows]unsafe.Pointer
	for line := range w.Lines {
		from, to := unsafe.Pointer(&a[line*w.Line]), unsafe.Pointer(&c[line*w.PerLine*ldc])
		i := 0
		for ; i+groupRows <= w.PerLine; i += groupRows {
			p.a[groups], pair[groups] = unsafe.Add(from, i*p.lda), unsafe.Add(to, i*p.ldc)
			if groups++; groups == len(pair) {
				p.groups(pair)
				groups = 0
			}
		}
		for ; i < w.PerLine; i++ {
			p.rowsA[rest], sums[rest] = unsafe.Add(from, i*p.lda), unsafe.Add(to, i*p.ldc)
			if rest++; rest == groupRows {
				p.rows(&sums, groupRows)
				rest = 0
			}
		}
	}
	if rest > 0 {
		for i := rest; i < groupRows; i++ {
			p.rowsA[i], sums[i] = p.rowsA[0], sums[0]
		}
		p.rows(&sums, rest)
	}
	if groups > 0 {
		for i := range groupRows {
			p.rowsA[i], sums[i] = unsafe.Add(p.a[0], i*p.lda), unsafe.Add(pair[0], i*p.ldc)
		}
		p.rows(&sums, groupRows)
	}
}

// What is read of b comes from far away where there are many channels, and the first tile that reads it would wait. A tile asks for
// 192 bytes of each 512 that it reads, in what follows in memory: the terms to come, or the next panel.

// groups multiplies two groups with all panels.
// SAFETY: see windows512; what a tile asks for may lie anywhere.
func (p *panelTile) groups(to [2]unsafe.Pointer) {
	for j := 0; j < p.width; j += 2 * lanes512 {
		p.open(j)
		p.c = [2]unsafe.Pointer{unsafe.Add(to[0], 4*j), unsafe.Add(to[1], 4*j)}
		p.ahead = uintptr(p.b) + uintptr((128+48*p.asked)*p.terms)
		if p.cols <= lanes512 {
			rows14x16(&p.rowTile)
		} else {
			rows14x32(&p.rowTile)
		}
	}
	p.asked = (p.asked + 1) % 3
}

// rows multiplies seven rows with all panels, of which n are different.
// SAFETY: see windows512.
func (p *panelTile) rows(to *[groupRows]unsafe.Pointer, n int) {
	for j := 0; j < p.width; j += 2 * lanes512 {
		p.open(j)
		for i := range to {
			p.rowsC[i] = unsafe.Add(to[i], 4*j)
		}
		if n <= 4 {
			rows4x32(&p.rowTile)
		} else {
			rows7x32(&p.rowTile)
		}
	}
}

// open goes to the panel of column j.
// SAFETY: see windows512. No pointer is ever behind the end of its slice, where Go's collector would not know it.
func (p *panelTile) open(j int) {
	p.b, p.cols = unsafe.Add(p.panels, j/(2*lanes512)*p.stride), min(p.width-j, 2*lanes512)
}
