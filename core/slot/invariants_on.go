//go:build invariants

package slot

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// histories records where handles were made and freed, so that misuse can be traced: with the build tag
// invariants only.
type histories struct {
	mu    sync.Mutex
	made  map[uint64][]uintptr
	freed map[uint64][2][]uintptr // where made, where freed
	old   []uint64                // keys of freed, the oldest first
}

// kept is the number of freed handles whose history is kept.
const kept = 1 << 16

// here is the stack of the caller of New or Free.
func here() []uintptr {
	stack := make([]uintptr, 16)
	return stack[:runtime.Callers(3, stack)]
}

// begin records that a handle has been made.
func (s *histories) begin(handle uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.made == nil {
		s.made, s.freed = map[uint64][]uintptr{}, map[uint64][2][]uintptr{}
	}
	s.made[handle] = here()
}

// end records that a handle has been freed, and drops the oldest history when there are too many.
func (s *histories) end(handle uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.freed[handle] = [2][]uintptr{s.made[handle], here()}
	delete(s.made, handle)
	if s.old = append(s.old, handle); len(s.old) > kept {
		delete(s.freed, s.old[0])
		s.old = s.old[1:]
	}
}

// History is where a handle was made and, if it was, freed, as call stacks for an error message. Without the
// build tag invariants it is empty.
func (t *Table[T]) History(handle uint64) string {
	s := &t.histories
	s.mu.Lock()
	defer s.mu.Unlock()
	if stack, ok := s.made[handle]; ok {
		return "\nmade at" + frames(stack)
	}
	if stacks, ok := s.freed[handle]; ok {
		return "\nmade at" + frames(stacks[0]) + "\nfreed at" + frames(stacks[1])
	}
	return ""
}

// Leaks lists where every valid handle was made. Without the build tag invariants it is empty.
func (t *Table[T]) Leaks() string {
	s := &t.histories
	s.mu.Lock()
	defer s.mu.Unlock()
	var stacks []string
	for handle, stack := range s.made {
		stacks = append(stacks, fmt.Sprintf("\nhandle %#x made at%s", handle, frames(stack)))
	}
	slices.Sort(stacks)
	return strings.Join(stacks, "")
}

// frames formats a stack as panics do.
func frames(stack []uintptr) string {
	var text strings.Builder
	walk := runtime.CallersFrames(stack)
	for more := len(stack) > 0; more; {
		var f runtime.Frame
		f, more = walk.Next()
		fmt.Fprintf(&text, "\n\t%s (%s:%d)", f.Function, f.File, f.Line)
	}
	return text.String()
}
