package alloc

import "github.com/paddle-mps/paddle-mps/core/device"

// Snapshot is a map of the memory at one moment. Sizes of blocks add up to Stats.Reserved, those
// of live blocks to Stats.Allocated.
type Snapshot struct {
	Stats Stats
	Heaps []HeapInfo // by address
	Time  int64      // of Config.Now, in nanoseconds
}

// HeapInfo describes a heap and the blocks that cover it.
type HeapInfo struct {
	Serial  uint64 // 1 for the first heap ever made, and so on
	Address uintptr
	Size    int64
	Blocks  []BlockInfo // by offset
}

// BlockInfo describes a block.
type BlockInfo struct {
	Offset, Size int64
	Requested    int64  // of a live block
	Cause        uint64 // of AllocFor, for a live block
	State        State
	// Stream still uses a pending block, up to Ticket; nil when several do.
	Stream device.Stream
	Ticket device.Ticket
}

// Snapshot maps all heaps. It holds the lock meanwhile, for tens of nanoseconds a block.
func (a *Allocator) Snapshot() Snapshot {
	a.lock()
	defer a.mu.Unlock()
	a.sweep(sweepAll)
	a.derive()
	s := Snapshot{Time: a.now(), Stats: a.stats(), Heaps: make([]HeapInfo, 0, len(a.heaps))}
	for _, h := range a.heaps {
		s.Heaps = append(s.Heaps, h.info())
	}
	return s
}

// info lists the blocks. The lock is held.
func (h *heap) info() HeapInfo {
	info := HeapInfo{Serial: h.serial, Address: uintptr(h.base), Size: h.size}
	for b := h.first; b != nil; b = b.next {
		i := BlockInfo{Offset: b.Offset, Size: b.Size, State: b.state}
		switch b.state {
		case Live:
			i.Requested, i.Cause = b.Requested, b.cause
		case Pending:
			if b.pool != nil {
				i.Stream, i.Ticket = b.pool.stream, b.After
			}
		}
		info.Blocks = append(info.Blocks, i)
	}
	return info
}
