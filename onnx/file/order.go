package file

import (
	"maps"
	"slices"
)

// ONNX wants nodes in an order in which they can run. Tools that edit graphs append nodes at the end, and onnxruntime, which
// sorts all graphs, runs what they write; so graphs are sorted when they are read.

// Ordered is nodes in an order in which each follows those that make what it reads, itself or graphs in its attributes: the
// order that they have, if it is such a one. Nodes with a cycle stay as they are: that one of them reads what is not there yet
// is an error where it is built. Of nodes that make the same name the first counts.
func Ordered(nodes []*Node) []*Node {
	makers := map[string]int{}
	for i, n := range nodes {
		for _, name := range n.Out {
			if _, ok := makers[name]; !ok && name != "" {
				makers[name] = i
			}
		}
	}
	made, cycle := make([]*Node, 0, len(nodes)), false
	state := make([]byte, len(nodes)) // 1: being visited, 2: done
	var visit func(i int)
	visit = func(i int) { // as deep as the longest chain that is in reverse, at most mostNodes
		if state[i] > 0 {
			cycle = cycle || state[i] == 1
			return
		}
		state[i] = 1
		names := map[string]bool{}
		nodes[i].Reads(names)
		for _, name := range slices.Sorted(maps.Keys(names)) { // maps have no order
			if maker, ok := makers[name]; ok {
				visit(maker)
			}
		}
		made, state[i] = append(made, nodes[i]), 2
	}
	for i := range nodes {
		visit(i)
	}
	if cycle {
		return nodes
	}
	return made
}

// Reads is the names that the outputs and the nodes from one on read, those of graphs in attributes included.
func (g *Graph) Reads(from int) map[string]bool {
	names := map[string]bool{}
	for _, p := range g.Outputs {
		names[p.Name] = true
	}
	for _, n := range g.Nodes[from:] {
		n.Reads(names)
	}
	return names
}

// Reads adds the names that a node reads, and graphs in its attributes beside those that are their own.
func (n *Node) Reads(names map[string]bool) {
	for _, name := range n.In {
		names[name] = true
	}
	for _, a := range n.Attrs {
		if a.G == nil {
			continue
		}
		inner := a.G.Reads(0)
		for _, p := range a.G.Inputs {
			delete(inner, p.Name)
		}
		for _, own := range a.G.Nodes {
			for _, name := range own.Out {
				delete(inner, name)
			}
		}
		maps.Copy(names, inner)
	}
}
