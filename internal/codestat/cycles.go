package codestat

import (
	"maps"
	"slices"
)

// Cycles lists the strongly connected components of more than one node, largest first, each sorted:
// within one, every node imports every other, by whatever way. That is what "a cycle" means in a
// report, because the number of elementary cycles says little. A node that imports only itself is no
// cycle, and one that only appears as imported is a leaf.
func Cycles(imports map[string][]string) [][]string {
	w := walk{imports: imports, index: map[string]int{}, low: map[string]int{}, open: map[string]bool{}}
	for _, node := range slices.Sorted(maps.Keys(imports)) {
		if w.index[node] == 0 {
			w.visit(node)
		}
	}
	slices.SortStableFunc(w.found, func(a, b []string) int { return len(b) - len(a) })
	return w.found
}

// walk is the state of Tarjan's algorithm (SIAM J. Comput. 1, 1972, p. 146). An index of 0 has not
// been visited.
type walk struct {
	imports    map[string][]string
	index, low map[string]int
	stack      []string
	open       map[string]bool
	found      [][]string
}

// visit goes depth first. A node whose low is its own index begins a component: what is above it on the
// stack cannot reach anything below.
func (w *walk) visit(node string) {
	w.index[node] = len(w.index) + 1
	w.low[node] = w.index[node]
	w.stack, w.open[node] = append(w.stack, node), true
	for _, next := range w.imports[node] {
		if _, seen := w.index[next]; !seen {
			w.visit(next)
			w.low[node] = min(w.low[node], w.low[next])
		} else if w.open[next] {
			w.low[node] = min(w.low[node], w.index[next])
		}
	}
	if w.low[node] == w.index[node] {
		w.close(node)
	}
}

// close takes the component that began at node from the stack.
func (w *walk) close(node string) {
	at := slices.Index(w.stack, node)
	component := slices.Sorted(slices.Values(w.stack[at:]))
	w.stack = w.stack[:at]
	for _, member := range component {
		w.open[member] = false
	}
	if len(component) > 1 {
		w.found = append(w.found, component)
	}
}
