package graph

// dropDead leaves out calls whose results nothing reads, and the constants and scalars that only they had. Random
// calls stay, so that those behind them draw the same numbers as one by one; so do calls whose results have a
// size that follows from the data, for which planning has an error.
//
// A call that would fail on its data, such as a division of integers by zero, does not fail when it is dead.
func dropDead(g *Graph) *Graph {
	live := make([]bool, len(g.values))
	for _, list := range [2][]Value{g.inputs, g.outputs} {
		for _, v := range list {
			live[v] = true
		}
	}
	keep := make([]bool, len(g.nodes))
	for i := len(g.nodes) - 1; i >= 0; i-- {
		n := &g.nodes[i]
		keep[i] = n.Row.Random || n.Row.Counted
		for _, v := range n.Out {
			keep[i] = keep[i] || live[v]
		}
		if keep[i] {
			for _, list := range [2][]Value{n.In, n.Out} {
				for _, v := range list {
					live[v] = true
				}
			}
		}
	}
	to, names := &Graph{symbols: g.symbols}, make([]Value, len(g.values))
	for v := range g.values {
		if live[v] {
			names[v] = Value(len(to.values))
			to.values = append(to.values, g.values[v])
		}
	}
	for i, n := range g.nodes {
		if keep[i] {
			n.In, n.Out = translate(names, n.In), translate(names, n.Out)
			to.nodes = append(to.nodes, n)
		}
	}
	to.inputs, to.outputs = translate(names, g.inputs), translate(names, g.outputs)
	return to
}
