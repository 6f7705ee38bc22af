package tritonlang

import (
	"slices"
	"strconv"
	"strings"
)

// Explain describes a compiled kernel: threadgroup memory, barriers, accesses to memory, and the layout of each tensor as
// the bits of the element's number that registers, lanes and warps have, * where threads hold the same element.
func (r *Result) Explain() string {
	var s strings.Builder
	number := func(n int, what string) { s.WriteString(strconv.Itoa(n) + " " + what + "\n") }
	s.WriteString("kernel " + r.Name + "\n")
	number(r.Stats.Shared, "bytes of threadgroup memory")
	number(r.Stats.Barriers, "barriers in the text")
	number(r.Stats.Exchanges, "changes of layout through threadgroup memory")
	for _, part := range []struct {
		title string
		lines []string
	}{{"accesses:", r.Stats.Accesses}, {"layouts (registers | lanes | warps):", r.Stats.Layouts}} {
		if len(part.lines) == 0 {
			continue
		}
		s.WriteString(part.title + "\n")
		for _, l := range slices.Compact(slices.Clone(part.lines)) {
			s.WriteString("  " + l + "\n")
		}
	}
	return s.String()
}
