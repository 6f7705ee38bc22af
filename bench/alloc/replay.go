package main

import (
	"fmt"
	"io"
)

// peaks are the largest values during a replay; they need not have been at the same time.
type peaks struct {
	allocated int64 // bytes asked for by live blocks
	reserved  int64 // bytes taken from the system
}

// replay serves a trace with a policy. The peak of allocated bytes is that of the trace, so that it is the same for all
// policies, which round sizes differently.
func replay(t *trace, p policy) (top peaks) {
	// What the policy returned, and the size, by number of the block.
	handles := make([]any, t.blocks)
	sizes := make([]int64, t.blocks)
	live := int64(0)
	for _, e := range t.events {
		// Reserved memory is read after each allocation only, because frees never increase it.
		if e.size > 0 {
			handles[e.block], sizes[e.block] = p.alloc(e.size), e.size
			live += e.size
			top.allocated = max(top.allocated, live)
			top.reserved = max(top.reserved, p.reserved())
		} else {
			p.free(handles[e.block])
			live -= sizes[e.block]
		}
	}
	return top
}

// oneHeap is what the bars allow in addition: the memory of a heap of the largest tier may be unused.
const oneHeap = 256 * mib

// replays prints the table of all traces and policies and reports whether ours meets the bars.
func replays(out io.Writer, folder string) (good bool, err error) {
	good = true
	fmt.Fprintf(out, "%-12s %-14s %14s %13s %7s %24s\n", "trace", "policy", "peak allocated", "peak reserved", "ratio", "bar: times + one heap")
	for _, program := range programs {
		t, err := load(folder, program.name)
		if err != nil {
			return false, fmt.Errorf("trace %s: %w", program.name, err)
		}
		for i, make := range policies {
			p := make()
			top := replay(t, p)
			// Only package alloc, the first policy, has a bar.
			verdict := ""
			if i == 0 {
				limit := int64(program.bar*float64(top.allocated)) + oneHeap
				verdict = fmt.Sprintf("%.2f: %6d MiB %s", program.bar, limit/mib, pass(top.reserved <= limit))
				good = good && top.reserved <= limit
			}
			fmt.Fprintf(out, "%-12s %-14s %10d MiB %9d MiB %7.2f %24s\n", program.name, p.name(), top.allocated/mib,
				top.reserved/mib, float64(top.reserved)/float64(top.allocated), verdict)
		}
	}
	return good, nil
}

// pass is a verdict as bench/pair reads it.
func pass(ok bool) string {
	if ok {
		return "ok"
	}
	return "MISSED"
}
