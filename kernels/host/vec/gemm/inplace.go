package gemm

import (
	"sync"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// Tiles that read rows of a where they lie have long sums: no panel of a is made, so that a block of a is as deep as the second-level
// cache allows, and c is read and written the less often. A panel of b is laid out by the first tile that needs it.

// Operands of float32 and of float64 are the same to these loops, words of four bytes: all distances, and columns, are counted in them.

const (
	inPlaceWords = 1024    // of a row of a that are multiplied at a time
	InPlaceRoom  = 1 << 20 // words of panels of b
	linePad      = 16      // words between copied rows
)

// BlockRoom holds a block of each operand, and where the rows of b begin.
type BlockRoom struct {
	_       [0]func() // is not compared
	A       [(inPlaceRows + linePad) * (inPlaceWords + linePad)]float32
	B       [InPlaceRoom]float32
	offsets [inPlaceWords]int
}

// BlockRooms has *BlockRoom, for products and for what is added up as one.
var BlockRooms = sync.Pool{New: func() any { return new(BlockRoom) }}

// wordsOf are the words of elements.
// SAFETY: they are the same memory.
func wordsOf[T vec.Real](x []T) []float32 {
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(x))), len(x)*wordsIn[T]())
}

// wordsIn is the number of words of an element.
func wordsIn[T vec.Real]() int { return int(unsafe.Sizeof(*new(T))) / 4 }

// stepsOf cuts k terms into equal parts, each of which is multiplied at a time.
func stepsOf(k, words int) int {
	most := inPlaceWords / words
	parts := (k + most - 1) / most
	return (k + parts - 1) / parts
}

// leftOperand is a left operand of elements of 1 or 2 words, of which (i, l) begins with word i*row + l*term.
type leftOperand struct {
	x                []float32
	row, term, words int
}

// lines are rows of the operand, inPlaceRows at most, where they lie, or copied to a room side by side.
func (a *leftOperand) lines(room []float32, i, l, rows, steps int) ([]float32, Windows) {
	x, w := a.x[i*a.row+l*a.term:], Windows{Lines: 1, PerLine: rows, double: a.words == 2}
	if a.term == a.words {
		x, w.Step = linesOf(room, x, rows, steps*a.words, a.row)
		w.Runs, w.Run = 1, steps
		return x, w
	}
	x, w.Apart = linesOf(room, x, steps, rows*a.words, a.term)
	w.Step, w.Runs, w.Run = a.words, steps, 1
	return x, w
}

// linesOf are rows where they lie, or copied to a room side by side.
//
//go:noinline
func linesOf(room, a []float32, rows, steps, lda int) (lines []float32, stride int) {
	if lda%AliasingStride != 0 {
		return a, lda
	}
	copyRows(room, a, rows, steps, steps+linePad, lda)
	return room, steps + linePad
}

// rightOperand is a right operand: rows that lie ldb apart, or panels of them, all terms of one behind the other.
type rightOperand struct {
	rows, panels []float32
	ldb          int
}

// inPlace adds a times b to c, or sets it. The panels that are made of a block of b wait for all rows of a, or where one block of a has
// all rows, each takes the place of the one before.
func inPlace(t *tile[float32], c []float32, a leftOperand, b rightOperand, m, n, k, ldc int, set bool) {
	p := BlockRooms.Get().(*BlockRoom)
	most, width, stride := stepsOf(k, a.words), n, 0
	switch {
	case b.panels != nil:
		stride = k * t.cols
	case m > inPlaceRows:
		width, stride = len(p.B)/most/t.cols*t.cols, t.cols*most
	}
	for j := 0; j < n; j += width {
		for l := 0; l < k; l += most {
			steps, cols := min(most, k-l), min(width, n-j)
			panels := p.B[:]
			if b.panels != nil {
				panels = b.panels[l*t.cols:]
			}
			for i := 0; i < m; i += inPlaceRows {
				lines, w := a.lines(p.A[:], i, l, min(inPlaceRows, m-i), steps)
				if i == 0 && b.panels == nil {
					w.source, w.sourceStep = b.rows[l*b.ldb+j:], b.ldb
				}
				p.multiply(t, c[i*ldc+j:], lines, panels, &w, stride, cols, ldc, set && l == 0)
			}
		}
	}
	BlockRooms.Put(p)
}

// multiply adds lines times one panel after the other, which begin stride words apart.
func (p *BlockRoom) multiply(t *tile[float32], c, lines, panels []float32, w *Windows, stride, cols, ldc int, set bool) {
	rows := w.source
	for j := 0; j < cols; j += t.cols {
		panel, width := panels[j/t.cols*stride:][:t.cols*w.terms()], min(t.cols, cols-j)
		if rows != nil {
			w.source = rows[j:]
			if width < t.cols || w.double || w.PerLine < t.layRows {
				p.pack(t, panel, w, width)
			}
		}
		t.windows(c[j:], lines, panel, stride, *w, width, ldc, set)
	}
}

// pack lays out a panel of rows that no tile lays out.
func (p *BlockRoom) pack(t *tile[float32], panel []float32, w *Windows, width int) {
	offsets := p.offsets[:w.terms()]
	for l := range offsets {
		offsets[l] = l * w.sourceStep
	}
	if width < t.cols {
		t.packPart(panel, w.source, offsets, width)
	} else {
		t.packPanel(panel, w.source, offsets)
	}
	w.source = nil
}
