package graph

import (
	"slices"

	"github.com/paddle-mps/paddle-mps/core/op"
)

// Evaluate runs a row whose operands are all known, and returns its results. Attributes are complete.
type Evaluate func(row *op.Row, at op.Attrs, in []op.Known) ([]*op.Const, error)

// Limits in bytes of what FoldConstants keeps, of which each set of shapes has a copy: the mask of a long sequence, but no
// matrix of weights. A small file may ask for any number of results.
const (
	mostFolded = 1 << 20  // of a call
	allFolded  = 64 << 20 // of a graph
)

// FoldConstants evaluates the calls whose operands are all constants and numbers, such as those that make the causal mask of
// a traced function. Their results become constants, from which the operands of later calls may follow.
//
// A call stays as it is if it draws random numbers, if the sizes of its results follow from the data, or if a result is an
// output of the graph, which costs a copy anyway. It also stays if evaluate fails: the program then has the error when it runs.
func (g *Graph) FoldConstants(evaluate Evaluate) *Graph {
	f := &folding{g: g, evaluate: evaluate}
	to := g.replacing(func(n *Node, instead []Value) bool { return !f.fold(n, instead) })
	if len(f.made) == 0 {
		return g
	}
	to.values = slices.Concat(g.values, f.made)
	return to
}

// folding is the state of FoldConstants.
type folding struct {
	g        *Graph
	evaluate Evaluate
	made     []value // the constants, which follow the values of g
	bytes    int64   // of made
}

// fold evaluates a call and names its results in instead. It reports whether it did.
func (f *folding) fold(n *Node, instead []Value) bool {
	in, ok := f.known(n.In)
	if !ok || !f.small(n) {
		return false
	}
	made, err := f.evaluate(n.Row, n.Attrs, in)
	if err != nil || len(made) != len(n.Out) {
		return false
	}
	for i, k := range made {
		if k.Type != f.g.values[n.Out[i]].Type {
			return false
		}
	}
	for i, k := range made {
		f.bytes += int64(len(k.Bytes))
		instead[n.Out[i]] = Value(len(f.g.values) + len(f.made))
		f.made = append(f.made, value{Type: k.Type, data: k})
	}
	return true
}

// small reports whether a call may be folded as far as its row and its results are concerned.
func (f *folding) small(n *Node) bool {
	bytes := int64(0)
	for _, v := range n.Out {
		t := &f.g.values[v].Type
		bytes += t.Shape.Numel() * t.DType.Size()
		if bytes > min(mostFolded, allFolded-f.bytes) || slices.Contains(f.g.outputs, v) {
			return false
		}
	}
	return !n.Row.Random && !n.Row.Counted
}

// known are the operands of a call; ok is false where one of them is no constant.
func (f *folding) known(vs []Value) (in []op.Known, ok bool) {
	in = make([]op.Known, len(vs))
	for i, v := range vs {
		x := &f.made
		at := int(v) - len(f.g.values)
		if at < 0 {
			x, at = &f.g.values, int(v)
		}
		switch c := &(*x)[at]; {
		case c.data != nil:
			in[i].Const = c.data
		case c.number != nil:
			in[i].Number = *c.number
		default:
			return nil, false
		}
	}
	return in, true
}
