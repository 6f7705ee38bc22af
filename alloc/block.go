package alloc

import (
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
)

// State says who may use a block.
type State uint8

// The states of a block.
const (
	dead    State = iota // the header is in the slab and describes nothing
	Free                 // no caller and no stream uses it
	Pending              // the caller has freed it, but streams still use it
	Live                 // the caller owns it
)

// stateNames are for messages.
var stateNames = [...]string{"dead", "free", "pending", "live"}

func (s State) String() string { return stateNames[s] }

// Block is a piece of a heap. The exported fields are fixed from Alloc to Free and must not be
// written; after Free the header belongs to the allocator and will describe another block.
type Block struct {
	Heap      device.Heap
	Addr      unsafe.Pointer // the first byte, aligned to 256; nil where the heap has no Bytes
	Offset    int64          // of Addr in Heap
	Size      int64          // bytes that may be used: the request rounded up to 256
	Requested int64          // bytes that were asked for

	// After is the ticket, on the stream given to Alloc, of the last work on the block's former
	// contents. New work on that stream runs after it; all other users wait for it. 0: no such work.
	After device.Ticket

	heap             *heap
	prev, next       *Block // neighbours by address; next also chains headers in the slab
	pool             *pool  // whose bins a free or pending block is in, or which one After belongs to
	binPrev, binNext *Block // in a bin
	older, newer     *Block // in a queue
	cause            uint64 // of AllocFor
	origin           origin // where it was allocated, with the build tag invariants
	uses             []Use  // of a block that several streams use; the array is reused with the header
	state            State
	row, col         uint8 // the bin of a block that is in one
}

// emptyHeap is the heap of the block of 0 bytes, so that callers need not test Block.Heap for nil.
type emptyHeap struct{}

func (emptyHeap) Bytes() []byte { return nil }
func (emptyHeap) Close() error  { return nil }

// slab recycles headers. It grows by chunks and never shrinks: a program needs as many headers as
// it once had blocks.
type slab struct {
	top *Block
}

// slabChunk is how many headers are allocated at once.
const slabChunk = 64

// get returns a header. Its fields may have old values: the caller sets all of them.
func (s *slab) get() *Block {
	if s.top == nil {
		s.grow()
	}
	b := s.top
	s.top = b.next
	return b
}

// grow adds a chunk of headers to an empty slab.
func (s *slab) grow() {
	chunk := make([]Block, slabChunk)
	for i := range chunk[1:] {
		chunk[i].next = &chunk[i+1]
	}
	s.top = &chunk[0]
}

// put takes a header back. With invariants it is dropped instead, so that a stale pointer to it shows a dead
// block and not another one.
func (s *slab) put(b *Block) {
	b.state = dead
	b.Heap, b.heap, b.pool = nil, nil, nil
	if invariants {
		return
	}
	b.next = s.top
	s.top = b
}

// queue is a doubly linked list of blocks in the order in which they were freed. The links are in the
// blocks, so that adding one allocates nothing.
type queue struct {
	oldest, newest *Block
}

// push adds a block that is in no queue, as the newest.
func (q *queue) push(b *Block) {
	b.older, b.newer = q.newest, nil
	if q.newest == nil {
		q.oldest = b
	} else {
		q.newest.newer = b
	}
	q.newest = b
}

// remove takes out a block, wherever it is in the queue.
func (q *queue) remove(b *Block) {
	if b.older == nil {
		q.oldest = b.newer
	} else {
		b.older.newer = b.newer
	}
	if b.newer == nil {
		q.newest = b.older
	} else {
		b.newer.older = b.older
	}
}
