package emit

import (
	_ "embed" // for prelude.metal
	"sort"
	"strings"
)

// helper is a function that Metal lacks. needs are others that it calls.
type helper struct {
	name, needs, text string
}

// helpers are in an order in which each stands behind those that it needs.
//
//go:embed prelude.metal
var preludeText string

// helpers are the functions of prelude.metal, in its order, in which each stands behind those that it needs.
var helpers = func() (all []helper) {
	for _, part := range strings.Split(preludeText, "\n//! ")[1:] {
		head, text, _ := strings.Cut(part, "\n")
		name, needs, _ := strings.Cut(head, " ")
		end := strings.LastIndex(text, "\n}\n") + len("\n}\n") // a comment on the next function may follow
		all = append(all, helper{name, needs, text[:end]})
	}
	return all
}()

// all are the helpers with those of atomic operations, sorted by what they need.
var all = func() []helper {
	more := atomicHelpers()
	sort.SliceStable(more, func(i, j int) bool { return more[i].name < more[j].name })
	sort.SliceStable(more, func(i, j int) bool { return len(more[i].needs) < len(more[j].needs) })
	return append(append([]helper{}, helpers...), more...)
}()

// prelude are the functions that a text uses, and those that they need.
func prelude(text string) string {
	used := map[string]bool{}
	hasAtomics := strings.Contains(text, "atomic_")
	for i := len(all) - 1; i >= 0; i-- {
		h := all[i]
		if used[h.name] || (hasAtomics || !strings.HasPrefix(h.name, "atomic_")) && strings.Contains(text, h.name+"(") {
			used[h.name] = true
			for _, n := range strings.Fields(h.needs) {
				used[n] = true
			}
		}
	}
	var out strings.Builder
	for _, h := range all {
		if used[h.name] {
			out.WriteString(h.text + "\n")
		}
	}
	return out.String()
}
