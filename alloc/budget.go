package alloc

import "sync/atomic"

// Budget is what the allocators of one memory may reserve together: where a processor and a GPU have the
// same memory, two limits that are each below its size add up to more. A nil Budget has no end. It may be
// used from any goroutine.
type Budget struct {
	limit int64
	taken atomic.Int64
}

// NewBudget makes a budget of some bytes; 0 or less for no limit, which is nil.
func NewBudget(limit int64) *Budget {
	if limit <= 0 {
		return nil
	}
	return &Budget{limit: limit}
}

// Left is how many bytes may still be reserved, MaxSize where there is no limit.
func (b *Budget) Left() int64 {
	if b == nil {
		return MaxSize
	}
	return max(b.limit-b.taken.Load(), 0)
}

// claim takes whole pages, as many as there are up to most but at least least; 0 when there are fewer.
func (b *Budget) claim(least, most int64) int64 {
	if b == nil {
		return most
	}
	for {
		taken := b.taken.Load()
		n := min(most, (b.limit-taken)&^(pageSize-1))
		if n < least {
			return 0
		}
		if b.taken.CompareAndSwap(taken, taken+n) {
			return n
		}
	}
}

// give returns bytes that were claimed.
func (b *Budget) give(n int64) {
	if b != nil {
		b.taken.Add(-n)
	}
}
