package alloc

import "github.com/paddle-mps/paddle-mps/core/device"

// Action is the kind of an Event.
type Action uint8

// The actions.
const (
	DidAlloc  Action = iota + 1 // a block became live
	DidFree                     // a block was freed; streams may still use it
	DidGrow                     // a heap was made
	DidShrink                   // a heap was unlinked, to be closed
	DidRefuse                   // an allocation ended with status.OutOfMemory
)

// actionNames are for messages and tests.
var actionNames = [...]string{"", "alloc", "free", "grow", "shrink", "refuse"}

func (a Action) String() string { return actionNames[a] }

// Event is one entry of the history.
type Event struct {
	Time    int64 // of Config.Now, in nanoseconds
	Action  Action
	Heap    uint64        // its HeapInfo.Serial; 0 for DidRefuse
	Offset  int64         // of the block in the heap
	Size    int64         // of the block or heap; of the request for DidRefuse
	Address uintptr       // of the first byte; 0 where there is none
	Stream  device.Stream // whose pool the block of DidAlloc came from; nil for the common one
	Cause   uint64        // of AllocFor, for blocks
}

// history is a ring of the latest events; without a ring nothing is recorded.
type history struct {
	ring []Event
	next uint64 // events so far
}

// Record keeps the latest n events from now on, and drops those before; 0 stops recording. While events are
// recorded, each call also reads the clock.
func (a *Allocator) Record(n int) {
	a.lock()
	a.history = history{}
	if n > 0 {
		a.history.ring = make([]Event, n)
	}
	a.mu.Unlock()
}

// History returns a copy of the recorded events, the oldest first, and how many there have been since
// Record.
func (a *Allocator) History() (events []Event, total uint64) {
	a.lock()
	defer a.mu.Unlock()
	h := &a.history
	n := uint64(len(h.ring))
	for i := h.next - min(h.next, n); i < h.next; i++ {
		events = append(events, h.ring[i%n])
	}
	return events, h.next
}

// record adds an event with the time of now. The lock is held.
func (a *Allocator) record(e Event) {
	h := &a.history
	if len(h.ring) == 0 {
		return
	}
	e.Time = a.now()
	h.ring[h.next%uint64(len(h.ring))] = e
	h.next++
}

// recordBlock records what happened to a block. The stream is named only where the block came out of its
// pool: Block.After is not 0 then.
func (a *Allocator) recordBlock(what Action, b *Block) {
	e := Event{Action: what, Heap: b.heap.serial, Offset: b.Offset, Size: b.Size, Address: uintptr(b.Addr), Cause: b.cause}
	if b.After != 0 {
		e.Stream = b.pool.stream
	}
	a.record(e)
}

// recordHeap records what happened to a heap.
func (a *Allocator) recordHeap(what Action, h *heap) {
	a.record(Event{Action: what, Heap: h.serial, Size: h.size, Address: uintptr(h.base)})
}
