package alloc

import "github.com/paddle-mps/paddle-mps/core/device"

// Action is what an Event tells of.
type Action uint8

// The actions.
const (
	DidAlloc  Action = iota + 1 // a block became live
	DidFree                     // a block was freed; streams may still use it
	DidGrow                     // a heap was made
	DidShrink                   // a heap was taken out, to be given back
	DidRefuse                   // an allocation ended with status.OutOfMemory
)

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

// history is a ring of the latest events; it keeps nothing while it has no room.
type history struct {
	ring []Event
	next uint64 // events so far
}

// Record keeps the latest n events from now on, and forgets those before; 0 ends that. While
// events are kept each call also reads the clock.
func (a *Allocator) Record(n int) {
	a.lock()
	a.history = history{}
	if n > 0 {
		a.history.ring = make([]Event, n)
	}
	a.mu.Unlock()
}

// History answers the kept events, the eldest first, and how many there have been since Record.
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

func (a *Allocator) note(e Event) {
	h := &a.history
	if len(h.ring) == 0 {
		return
	}
	e.Time = a.now()
	h.ring[h.next%uint64(len(h.ring))] = e
	h.next++
}

func (a *Allocator) noteBlock(what Action, b *Block) {
	e := Event{Action: what, Heap: b.heap.serial, Offset: b.Offset, Size: b.Size, Address: uintptr(b.Addr), Cause: b.cause}
	if b.After != 0 {
		e.Stream = b.pool.stream
	}
	a.note(e)
}

func (a *Allocator) noteHeap(what Action, h *heap) {
	a.note(Event{Action: what, Heap: h.serial, Size: h.size, Address: uintptr(h.base)})
}
