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
	Free                 // nobody uses the block
	Pending              // the caller has freed it, streams still use it
	Live                 // the caller has it
)

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
	// contents. Work on that stream comes later by itself; anybody else waits for it. 0: none.
	After device.Ticket

	heap       *heap
	prev, next *Block // neighbours by address; next also chains headers in the slab
	pool       *pool  // whose bins a free or pending block is in, or which one After belongs to
	fore, back *Block // in a bin
	elder      *Block // in a queue: who came before
	junior     *Block // in a queue: who came after
	cause      uint64 // of AllocFor
	origin     origin // where it was allocated, with the build tag invariants
	uses       []Use  // of a block that several streams use; the array stays with the header
	state      State
	row, col   uint8 // the bin of a block that is in one
}

// Use says that a stream's work up to and including a ticket touches a block.
type Use struct {
	Stream device.Stream
	Ticket device.Ticket
}

// emptyHeap is the heap of the block of 0 bytes.
type emptyHeap struct{}

func (emptyHeap) Bytes() []byte { return nil }
func (emptyHeap) Close() error  { return nil }

// slab recycles headers. It grows by chunks and never shrinks: a program needs as many headers as
// it once had blocks.
type slab struct {
	top *Block
}

const slabChunk = 64

func (s *slab) get() *Block {
	if s.top == nil {
		s.grow()
	}
	b := s.top
	s.top = b.next
	return b
}

func (s *slab) grow() {
	chunk := make([]Block, slabChunk)
	for i := range chunk[1:] {
		chunk[i].next = &chunk[i+1]
	}
	s.top = &chunk[0]
}

// put takes a header back. With invariants it is dropped instead: as long as somebody holds a
// pointer to it, it says that it is dead.
func (s *slab) put(b *Block) {
	b.state = dead
	b.Heap, b.heap, b.pool = nil, nil, nil
	if invariants {
		return
	}
	b.next = s.top
	s.top = b
}

// queue is a list of blocks in the order in which they were freed.
type queue struct {
	eldest, youngest *Block
}

func (q *queue) push(b *Block) {
	b.elder, b.junior = q.youngest, nil
	if q.youngest == nil {
		q.eldest = b
	} else {
		q.youngest.junior = b
	}
	q.youngest = b
}

func (q *queue) remove(b *Block) {
	if b.elder == nil {
		q.eldest = b.junior
	} else {
		b.elder.junior = b.junior
	}
	if b.junior == nil {
		q.youngest = b.elder
	} else {
		b.junior.elder = b.elder
	}
}
