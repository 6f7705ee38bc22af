package alloc

import "sync/atomic"

// Budget is the number of bytes that several allocators may reserve together. Where the CPU and a GPU share
// memory, two limits that are each below its size can add up to more than there is. A nil Budget is
// unlimited. It may be used from any goroutine.
type Budget struct {
	limit int64
	taken atomic.Int64
}

// NewBudget makes a budget of limit bytes; it returns nil, which is unlimited, for 0 or less.
func NewBudget(limit int64) *Budget {
	if limit <= 0 {
		return nil
	}
	return &Budget{limit: limit}
}

// Left is how many bytes may still be reserved; MaxSize for an unlimited budget.
func (b *Budget) Left() int64 {
	if b == nil {
		return MaxSize
	}
	return max(b.limit-b.taken.Load(), 0)
}

// claim reserves whole pages of at most `most` and at least `least` bytes, as many as are left, and returns
// their bytes; 0 when fewer than `least` are left.
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

// unclaim returns bytes that were claimed.
func (b *Budget) unclaim(n int64) {
	if b != nil {
		b.taken.Add(-n)
	}
}
