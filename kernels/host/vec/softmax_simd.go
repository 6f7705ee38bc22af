//go:build goexperiment.simd && amd64 && !race

package vec

import "sync"

// The loops of vectors keep apart what is dropped from the exponentials of a row.

const softmaxSlack = 16 // lanes

// softmaxFew is the longest row, a power of 2, that lies in a lane: longer ones fill vectors.
const softmaxFew = 16

var softmaxRests sync.Pool // of *[]float32

// softmaxRoom is room for as many vectors as a row begins.
func softmaxRoom(length int) *[]float32 {
	room, ok := softmaxRests.Get().(*[]float32)
	if !ok || len(*room) < length+softmaxSlack {
		room = new([]float32)
		*room = make([]float32, length+softmaxSlack)
	}
	return room
}
