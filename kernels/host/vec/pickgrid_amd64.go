//go:build goexperiment.simd && !race

package vec

// mostSegments is the number of lines that a vector of columns is of, at most.
const mostSegments = 4

// segments says which lanes of a vector come from which line: lanes of lanes[i] are the elements that begin bytes[i] behind the
// offset of a row, as if the line began at lane 0. pickgrid_amd64.s has the offsets of the fields.
type segments struct {
	bytes [mostSegments]int
	lanes [mostSegments]uint16
}

//go:noescape
func pickGrid(to, b *float32, offsets *int, steps int, s *segments)

// pickGrid512 is pickGrid of a tile of float32. The lines of a vector are the same in all rows of b, so that they are found once.
// SAFETY: the caller has seen that the last column lies in b at each offset, and lanes of no column are not read.
func pickGrid512(to, b []float32, offsets []int, first, cols, width, pitch int) {
	_ = to[2*lanes512*len(offsets)-1]
	for v := range 2 {
		var s segments
		column, end := first+v*lanes512, first+min((v+1)*lanes512, cols)
		for i := 0; column < end; i++ {
			lane, in := column-first-v*lanes512, column%width
			n := min(width-in, end-column)
			s.bytes[i], s.lanes[i] = 4*(column/width*pitch+in-lane), uint16((1<<n-1)<<lane)
			column += n
		}
		pickGrid(&to[v*lanes512], &b[0], &offsets[0], len(offsets), &s)
	}
}
