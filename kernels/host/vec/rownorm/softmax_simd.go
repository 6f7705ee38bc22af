//go:build goexperiment.simd && amd64 && !race

package rownorm

import "sync"

// The loops of vectors keep apart what is dropped from the exponentials of a row.

const (
	softmaxSlack = 16   // lanes
	softmaxBlock = 1024 // elements of rows that are computed together
)

// softmaxFew is the longest row, a power of 2, that lies in a lane: longer ones fill vectors.
const softmaxFew = 16

var softmaxRests sync.Pool // of *[]float32

// The bits of softmaxLimit and of 2^52.
const (
	softmaxLimitBits = (127 + 16) << 23
	two52Bits        = (1023 + 52) << 52
)

// rowsAtOnce is how many rows of a length are computed together: at most one for each lane, and few enough that so many elements stay in
// the first-level cache with what is made of them.
func rowsAtOnce(elements, length, lanes int) int { return max(min(elements/length, lanes), 1) }

// softmaxRoom is room for as many vectors as n rows begin.
func softmaxRoom(length, n int) *[]float32 {
	length = (length + softmaxSlack) * n
	room, ok := softmaxRests.Get().(*[]float32)
	if !ok || len(*room) < length {
		room = new([]float32)
		*room = make([]float32, length)
	}
	return room
}
