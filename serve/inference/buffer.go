package inference

import (
	"math/bits"
	"sync"
	"sync/atomic"
)

// Outputs from this size on are in memory that is used again: a megabyte that is new for each request has to be cleared and
// collected, which takes longer than copying into it. Larger ones than the second size are never kept.
const (
	SmallestKept = 32 << 10
	LargestKept  = 64 << 20
)

// kept is memory of outputs that was given back, by the power of two that is its size.
var kept [32]sync.Pool

// Buffer is that of an output, which the responses of one batch share.
type Buffer struct {
	Bytes []byte
	Users atomic.Int32
}

// NewBuffer is memory for an output of n bytes and a number of responses; nil where it would not be used again.
func NewBuffer(n int64, users int) *Buffer {
	if n < SmallestKept || n > LargestKept {
		return nil
	}
	// What is there has the contents of an earlier output: the caller writes all n bytes.
	class := bits.Len64(uint64(n - 1))
	m, _ := kept[class].Get().(*Buffer)
	if m == nil {
		m = &Buffer{Bytes: make([]byte, 1<<class)}
	}
	m.Users.Store(int32(users))
	return m
}

// free is the end of one user.
func (m *Buffer) free() {
	if m.Users.Add(-1) == 0 {
		kept[bits.Len64(uint64(len(m.Bytes)-1))].Put(m)
	}
}

// Free gives the memory of the outputs back, which must not be used any more. A caller that keeps them does not call it:
// the garbage collector has them then.
func (r *Response) Free() {
	for i, m := range r.Buffers {
		m.free()
		r.Buffers[i] = nil
	}
	r.Buffers, r.Outputs = r.Buffers[:0], nil
}
