package graph

import "slices"

// Part is the graph of the nodes from first to before end, with the given values as inputs and outputs. What its nodes read
// and no node of it makes has to be an input, a constant or a scalar. Types are not inferred again.
//
// It divides a graph of a function and its gradient into two programs: nodes up to some point, whose values the others read,
// and the rest. Values have other names in the part than in the whole.
func (g *Graph) Part(first, end int, inputs, outputs []Value) *Graph {
	p := &Graph{symbols: g.symbols}
	names := map[Value]Value{}
	name := func(v Value) Value {
		n, known := names[v]
		if !known {
			n = Value(len(p.values))
			names[v] = n
			p.values = append(p.values, g.values[v])
		}
		return n
	}
	all := func(vs []Value) []Value {
		out := make([]Value, len(vs))
		for i, v := range vs {
			out[i] = name(v)
		}
		return out
	}
	p.inputs = all(inputs)
	for _, n := range g.nodes[first:end] {
		n.In, n.Out = all(n.In), all(n.Out)
		p.nodes = append(p.nodes, n)
	}
	p.outputs = all(outputs)
	return p
}

// What an earlier part has to make for the rest is found by asking which values the rest reads.

// Read lists the values that the nodes from first on read, or that are among outputs, and that were made before: by
// earlier nodes or as inputs. Each is there once, in the order in which it is met. Constants and scalars are not listed.
func (g *Graph) Read(first int, outputs []Value) []Value {
	skip := map[Value]bool{}
	var read []Value
	visit := func(vs []Value) {
		for _, v := range vs {
			if x := &g.values[v]; !skip[v] && x.data == nil && x.number == nil {
				skip[v] = true
				read = append(read, v)
			}
		}
	}
	for i := range g.nodes[first:] {
		n := &g.nodes[first+i]
		visit(n.In)
		for _, v := range n.Out {
			skip[v] = true
		}
	}
	visit(outputs)
	return read
}

// What a later part reads of an earlier one can be made again from some of the inputs; the others need not be there any more. Nodes are in
// an order in which they can run, so that going back through them once meets each node after all that read its results.

// Behind reports for each input whether one of the values is it, or depends on it by nodes before end. Nodes that no value depends on do
// not count, and neither do constants and scalars, which are no inputs.
func (g *Graph) Behind(values, inputs []Value, end int) []bool {
	behind := map[Value]bool{}
	mark := func(vs []Value) {
		for _, v := range vs {
			behind[v] = true
		}
	}
	mark(values)
	for i := end - 1; i >= 0; i-- {
		n := &g.nodes[i]
		if slices.ContainsFunc(n.Out, func(v Value) bool { return behind[v] }) {
			mark(n.In)
		}
	}
	found := make([]bool, len(inputs))
	for i, v := range inputs {
		found[i] = behind[v]
	}
	return found
}
