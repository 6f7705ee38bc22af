//go:build goexperiment.simd && !race

package reduction

import (
	"unsafe"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// Prefetch asks for a row to be in the first-level cache, without waiting for it. Of a row longer than prefetchMost it asks for the first
// elements: more would replace what is in use.
// SAFETY: the instruction only reads addresses, and faults at none.
//
//go:noinline
func Prefetch(row []float32) {
	if len(row) > 0 {
		prefetchLines(unsafe.Pointer(&row[0]), 4*min(len(row), prefetchMost))
	}
}

// prefetchMost is in elements; the processor follows longer rows by itself.
const prefetchMost = 4096

// NextPart is the part of x after n elements that is as long, or what there is of it.
func NextPart(x []float32, n int) []float32 { return x[n:min(2*n, len(x))] }

// upcoming goes through rows of memory ahead of a loop that reads them once, in the same order. The processor by itself follows such a
// loop only to the end of a page, and asks for too little at a time. It asks for the second-level cache: the processor fills the first
// from there by itself, and what a loop reads and writes many times stays in the first.
type upcoming struct {
	row       unsafe.Pointer // the row to ask for next
	at, width int            // bytes: what has been asked for of this row, and all of it
	step      int            // bytes from a row to the next
	rows      int            // that are left
	lines     int            // bytes from a line of the cache that is asked for to the next one
}

const (
	streamed    = 1 << 16 // elements of rows that may come from memory: those of fewer are in the second-level cache, or soon read
	streamPiece = 1 << 10 // bytes that are asked for at a time
)

// distance is how an upcoming asks.
type distance struct {
	before int // bytes that are asked for before a loop comes to them
	lines  int // as in upcoming
}

// A loop that only reads has the processor follow it as well, and is slowed down by each line that it asks for: every second one is
// enough, because the processor reads lines in pairs. One that stores needs each line.
var (
	whileReading = distance{1 << 13, 128}
	whileStoring = distance{1 << 14, 64}
)

// startUpcoming asks for the first bytes of rows, whose numbers are at least 1.
// SAFETY: the caller has seen to it that all rows lie in memory of its own.
func startUpcoming(d distance, first *float32, stride, length, rows int) upcoming {
	u := upcoming{row: unsafe.Pointer(first), width: 4 * length, step: 4 * stride, rows: rows, lines: d.lines}
	for asked := 0; asked < d.before && u.rows > 0; {
		asked += u.next()
	}
	return u
}

// startShort is startUpcoming for a loop that reads four rows side by side. Where rows are longer the processor follows each of them.
//
//go:noinline
func (u *upcoming) startShort(first *float32, stride, length, rows int) {
	const longest = 2 * 4096 / 4 // two pages
	if length <= longest && length*rows >= streamed {
		*u = startUpcoming(whileStoring, first, stride, length, rows)
	}
}

// ofFour asks for as much as a piece of four rows.
func (u *upcoming) ofFour() {
	if u.rows > 0 {
		u.next()
		u.next()
		u.next()
		u.next()
	}
}

// sumRowsBy is SumRows with the loop of the level that has so many lanes of float64.
// SAFETY: SumRows has seen to it that all rows lie in x.
func sumRowsBy(lanes int, sums []float64, x []float32, stride, length int) {
	var ahead upcoming
	if len(sums)*length >= streamed {
		ahead = startUpcoming(whileReading, &x[0], stride, length, len(sums))
	}
	for i := range sums {
		row := x[i*stride:][:length]
		if lanes == vec.WideLanes512 {
			sums[i] += sumAhead512(row, &ahead)
		} else {
			sums[i] += sumAhead256(row, &ahead)
		}
	}
}

// next asks for the next piece, at most the rest of a row, and returns its bytes; 0 behind the last row.
// SAFETY: see startUpcoming; no pointer is ever behind the last row.
func (u *upcoming) next() int {
	if u.rows == 0 {
		return 0
	}
	n := min(u.width-u.at, streamPiece)
	prefetchFar(unsafe.Add(u.row, u.at), n, u.lines)
	if u.at += n; u.at == u.width {
		u.at = 0
		if u.rows--; u.rows > 0 {
			u.row = unsafe.Add(u.row, u.step)
		}
	}
	return n
}

// prefetchLines asks for the lines of the cache from an address on, for the first-level cache.
//
//go:noescape
func prefetchLines(p unsafe.Pointer, bytes int)

// prefetchFar is prefetchLines for the second-level cache, of lines so many bytes apart.
//
//go:noescape
func prefetchFar(p unsafe.Pointer, bytes, step int)
