//go:build invariants

package alloc

import (
	"fmt"
	"runtime"
	"strings"
)

// invariants turns misuse into failures: a bad free panics; headers are never reused, so that every double
// free is noticed; freed memory is overwritten; and blocks record where they were allocated.
const invariants = true

// poisonByte fills freed memory. Read as float32 it is -1.2e17, which is easy to notice.
const poisonByte = 0xDB

// origin is a call stack, innermost call first.
type origin []uintptr

// caller is the stack of the call of Alloc or AllocFor.
func caller() origin {
	stack := make([]uintptr, 16)
	return stack[:runtime.Callers(3, stack)]
}

func (o origin) String() string {
	var s strings.Builder
	frames := runtime.CallersFrames(o)
	for more := len(o) > 0; more; {
		var f runtime.Frame
		f, more = frames.Next()
		fmt.Fprintf(&s, "\n\t%s (%s:%d)", f.Function, f.File, f.Line)
	}
	return s.String()
}

// origins lists where the live blocks were allocated. The caller holds the lock.
func (a *Allocator) origins() string {
	var s strings.Builder
	for _, h := range a.heaps {
		for b := h.first; b != nil; b = b.next {
			if b.state == Live {
				fmt.Fprintf(&s, "\n%d bytes from%s", b.Requested, b.origin)
			}
		}
	}
	return s.String()
}

// badFree panics: the free of a block that is not live is a bug of the caller.
func badFree(b *Block) {
	panic(fmt.Sprintf("[free] the block of %d bytes at %p is %s or belongs to another allocator; want a live block",
		b.Size, b.Addr, b.state))
}

// poison overwrites a block that has no user any more, if the CPU sees its memory.
func poison(b *Block) {
	if b.heap.base == nil {
		return
	}
	memory := b.heap.mem.Bytes()[b.Offset : b.Offset+b.Size]
	memory[0] = poisonByte
	for n := 1; n < len(memory); n *= 2 {
		copy(memory[n:], memory[:n])
	}
}
