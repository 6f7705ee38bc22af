//go:build invariants

package slot

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// stories remembers where handles were made and freed, so that misuse can be traced: with the build
// tag invariants only.
type stories struct {
	mu    sync.Mutex
	made  map[uint64][]uintptr
	freed map[uint64][2][]uintptr // where made, where freed
	old   []uint64                // of freed, the eldest first
}

// kept is how many freed handles are remembered.
const kept = 1 << 16

func here() []uintptr {
	stack := make([]uintptr, 16)
	return stack[:runtime.Callers(3, stack)]
}

func (s *stories) begin(handle uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.made == nil {
		s.made, s.freed = map[uint64][]uintptr{}, map[uint64][2][]uintptr{}
	}
	s.made[handle] = here()
}

func (s *stories) end(handle uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.freed[handle] = [2][]uintptr{s.made[handle], here()}
	delete(s.made, handle)
	if s.old = append(s.old, handle); len(s.old) > kept {
		delete(s.freed, s.old[0])
		s.old = s.old[1:]
	}
}

// Story is what became of a handle: where it was made, and freed if it was. Without the build tag
// invariants it is empty.
func (t *Table[T]) Story(handle uint64) string {
	s := &t.stories
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

// Leaks says where every valid handle was made. Without the build tag invariants it is empty.
func (t *Table[T]) Leaks() string {
	s := &t.stories
	s.mu.Lock()
	defer s.mu.Unlock()
	var stacks []string
	for handle, stack := range s.made {
		stacks = append(stacks, fmt.Sprintf("\nhandle %#x made at%s", handle, frames(stack)))
	}
	slices.Sort(stacks)
	return strings.Join(stacks, "")
}

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
