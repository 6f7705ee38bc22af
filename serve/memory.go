package serve

import (
	"math/bits"
	"sync"
	"sync/atomic"
)

// Outputs from this size on are in memory that is used again: a megabyte that is new for each request has to be cleared and
// collected, which takes longer than copying into it. Larger ones than the second size are never kept.
const (
	smallestKept = 32 << 10
	largestKept  = 64 << 20
)

// kept is memory of outputs that was given back, by the power of two that is its size.
var kept [32]sync.Pool

// memory is that of an output, which the responses of one batch share.
type memory struct {
	bytes []byte
	users atomic.Int32
}

// newMemory is memory for an output of n bytes and a number of responses; nil where it would not be used again.
func newMemory(n int64, users int) *memory {
	if n < smallestKept || n > largestKept {
		return nil
	}
	// What is there has the contents of an earlier output: the caller writes all n bytes.
	class := bits.Len64(uint64(n - 1))
	m, _ := kept[class].Get().(*memory)
	if m == nil {
		m = &memory{bytes: make([]byte, 1<<class)}
	}
	m.users.Store(int32(users))
	return m
}

// free is the end of one user.
func (m *memory) free() {
	if m.users.Add(-1) == 0 {
		kept[bits.Len64(uint64(len(m.bytes)-1))].Put(m)
	}
}

// Free gives the memory of the outputs back, which must not be used any more. A caller that keeps them does not call it:
// the garbage collector has them then.
func (r *Response) Free() {
	for i, m := range r.memory {
		m.free()
		r.memory[i] = nil
	}
	r.memory, r.Outputs = r.memory[:0], nil
}
