//go:build invariants

package alloc

import (
	"fmt"
	"runtime"
	"strings"
)

// invariants makes misuse loud: a bad free panics, headers are never used twice, so that every
// double free is one, memory that nobody may use is poisoned, and blocks know who allocated them.
const invariants = true

const poisonByte = 0xDB

// origin is a stack, innermost call first.
type origin []uintptr

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

func badFree(b *Block) {
	panic(fmt.Sprintf("[free] block of %d bytes at %p is %s or of another allocator; want a live block",
		b.Size, b.Addr, b.state))
}

// poison overwrites a block that nobody may use any more, as far as the CPU can see it.
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
