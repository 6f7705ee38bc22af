package graph

import (
	"math"
	"slices"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
)

// recognizeAttention replaces softmax(scale * q @ k.T + mask) @ v by one call of attention, for devices with a kernel of it. What
// stands for what, from the end of the expression:
//
//   - The product of the weights, with the values on the right, perhaps transposed.
//   - A softmax along the last axis.
//   - A mask that is added, or a choice between scores and a number: where(seen, scores, -inf), or with the sides changed.
//   - Factors and divisors that are numbers, of the scores, the queries or the keys.
//   - The product of queries and keys, which are transposed by the product or by a call before it. What is transposed back for
//     the row costs nothing, because it is a view.
//
// The reshapes and transposes that make heads stay outside. An expression stays as it is if anything else reads a result in it,
// if its calls have several dtypes, or if the operands are no batches of matrices such as the row takes.
//
// What Patterns has left behind of a softmax reads the scores, and is dropped before anything is looked for.
func recognizeAttention(given *Graph) *Graph {
	g := dropDead(given)
	f := attentionFinder{g: g, uses: g.uses(), made: make([]*Node, len(g.values)), to: NewBuilder()}
	f.to.graph = Graph{values: slices.Clone(g.values), inputs: g.inputs, outputs: g.outputs, symbols: g.symbols}
	for i := range g.nodes {
		for _, v := range g.nodes[i].Out {
			f.made[v] = &g.nodes[i]
		}
	}
	found := false
	for i := range g.nodes {
		n := &g.nodes[i]
		if n.Row == parts.matmul && f.try(n) {
			found = true
			continue
		}
		f.to.graph.nodes = append(f.to.graph.nodes, *n)
	}
	if !found {
		return given
	}
	return &f.to.graph
}

// parts are the rows that the expressions consist of, and what replaces them.
var parts = struct {
	matmul, softmax, add, where, multiply, divide, full, not, transpose, attention *op.Row
}{
	op.ByID(op.IDMatmul), op.ByID(op.IDSoftmax), op.ByID(op.IDAdd), op.ByID(op.IDWhere), op.ByID(op.IDMultiply), op.ByID(op.IDDivide),
	op.ByID(op.IDFull), op.ByID(op.IDLogicalNot), op.ByID(op.IDTranspose), op.ByID(op.IDAttention),
}

// attentionFinder is the state of recognizeAttention. Nodes of the graph are copied in their order, those of the row and its
// operands where the expression ends; what lies in between is left to dropDead.
type attentionFinder struct {
	g    *Graph
	to   *Builder
	uses []int   // by value: how often it is read
	made []*Node // by value: the call that makes it
}

// attentionParts is what has been found of an expression.
type attentionParts struct {
	of         op.Type // of the scores
	scale      float64
	mask, seen Value   // added, or of bools; -1: none
	inverted   bool    // seen is true where a key is hidden
	fill       float64 // the score of those
	q, k       Value
	qTurned    bool // q has the size before the length
	kTurned    bool // k likewise
}

// Looking goes from the end to the beginning, as the data does not flow: from the weights to the scores, whose type all calls on the
// way have. A call that is none of those leaves the expression as it is, and nothing has to be undone but what replace adds.

// try replaces the expression that ends with a product, if there is one.
func (f *attentionFinder) try(n *Node) bool {
	softmax := f.only(n.In[0], parts.softmax)
	if softmax == nil || n.Attrs[op.MatmulTransposeX].I != 0 {
		return false
	}
	p := attentionParts{of: f.g.values[n.In[0]].Type, scale: 1, mask: -1, seen: -1}
	if axis := softmax.Attrs[op.SoftmaxAxis].I; p.of.Shape.Rank < 3 || axis != -1 && axis != int64(p.of.Shape.Rank-1) || !f.masked(&p, softmax.In[0]) {
		return false
	}
	before := Graph{values: f.to.graph.values, nodes: f.to.graph.nodes}
	ok := f.replace(&p, n)
	if !ok {
		f.to.graph.values, f.to.graph.nodes = before.values, before.nodes
	}
	return ok
}

// only is the call that makes a value, if it is of this row and nothing else reads the value.
func (f *attentionFinder) only(v Value, row *op.Row) *Node {
	if n := f.made[v]; n != nil && n.Row == row && f.uses[v] == 1 {
		return n
	}
	return nil
}

// masked takes the mask off the scores. Of a sum, either side may be the scores; of a choice, either side may be the number. One of
// both is all that the row takes, so that a second mask ends the search.
func (f *attentionFinder) masked(p *attentionParts, v Value) bool {
	if n := f.only(v, parts.add); n != nil {
		for side := range 2 {
			found := *p
			found.mask = n.In[1-side]
			if f.g.values[found.mask].number == nil && f.g.values[found.mask].DType == p.of.DType && f.scaled(&found, n.In[side]) {
				*p = found
				return true
			}
		}
		return false
	}
	if n := f.only(v, parts.where); n != nil {
		for side := range 2 {
			found := *p
			fill, ok := f.number(n.In[2-side])
			found.seen, found.inverted, found.fill = n.In[0], side == 1, fill
			if ok && f.g.values[found.seen].DType == dtype.Bool && f.scaled(&found, n.In[1+side]) {
				*p = found
				return true
			}
		}
		return false
	}
	return f.scaled(p, v)
}

// number is a number of the graph, or one that a call fills a tensor of one element with, perhaps of another dtype. The row
// rounds it as a conversion does.
func (f *attentionFinder) number(v Value) (float64, bool) {
	if f.g.values[v].Shape.Numel() != 1 {
		return 0, false
	}
	switch n := f.made[v]; {
	case n == nil:
		return f.g.number(v)
	case n.Row == parts.full:
		return n.Attrs[op.FullFillValue].Float64(), true
	case n.Row.Kind == op.Convert && f.g.values[n.In[0]].DType.IsFloat() && f.g.values[v].DType.IsFloat():
		return f.number(n.In[0])
	}
	return 0, false
}

// scaled takes factors off the scores, and finds the product of queries and keys.
func (f *attentionFinder) scaled(p *attentionParts, v Value) bool {
	v = f.factors(p, v)
	n := f.only(v, parts.matmul)
	if n == nil || f.g.values[v].Type != p.of || len(n.In) != 2 {
		return false
	}
	p.q, p.qTurned = f.factors(p, n.In[0]), n.Attrs[op.MatmulTransposeX].I != 0
	p.k, p.kTurned = f.factors(p, n.In[1]), n.Attrs[op.MatmulTransposeY].I == 0
	return float32(p.scale)-float32(p.scale) == 0 // of an infinite factor the order would show
}

// factors takes factors and divisors off a value, of which the scale of the scores is the product.
func (f *attentionFinder) factors(p *attentionParts, v Value) Value {
	for {
		of := v
		if n := f.only(v, parts.multiply); n != nil {
			for side := range 2 {
				if by, ok := f.number(n.In[side]); ok && of == v {
					p.scale, of = p.scale*by, n.In[1-side]
				}
			}
		} else if n := f.only(v, parts.divide); n != nil {
			if by, ok := f.number(n.In[1]); ok {
				p.scale, of = p.scale/by, n.In[0]
			}
		}
		if of == v || f.g.values[of].Type != f.g.values[v].Type {
			return v
		}
		v = of
	}
}

// replace adds the row in the place of the product n. Inference decides whether it takes the operands: heads that broadcast in
// another way than those of the row, or a result of another type, are left to the calls. The row makes the value that the product
// made, so that nothing behind it changes.
func (f *attentionFinder) replace(p *attentionParts, n *Node) bool {
	q, k, v := f.turned(p.q, p.qTurned), f.turned(p.k, p.kTurned), f.turned(n.In[1], n.Attrs[op.MatmulTransposeY].I != 0)
	at := op.Attrs{op.AttentionScale: {Kind: op.Float, F: p.scale}, op.AttentionCausal: {Kind: op.Bool}}
	mask := p.mask
	if p.seen >= 0 {
		mask = p.seen
		if !math.IsInf(p.fill, -1) {
			at = append(at, op.Value{Kind: op.Float, F: p.fill})
		}
		if p.inverted {
			mask = f.call(parts.not, nil, mask)
		}
	}
	if p.mask < 0 && p.seen < 0 {
		mask = f.to.Scalar(op.Value{})
	}
	out := f.call(parts.attention, at, q, k, v, mask)
	if out < 0 || f.to.graph.values[out].Type != f.g.values[n.Out[0]].Type {
		return false
	}
	nodes := f.to.graph.nodes
	nodes[len(nodes)-1].Out[0] = n.Out[0]
	return true
}

// turned is a value with its last two axes exchanged, if it is to be turned.
func (f *attentionFinder) turned(v Value, turn bool) Value {
	rank := f.g.values[v].Shape.Rank
	if !turn || rank < 2 {
		return v
	}
	perm := make([]int64, rank)
	for i := range perm {
		perm[i] = int64(i)
	}
	perm[rank-2], perm[rank-1] = perm[rank-1], perm[rank-2]
	return f.call(parts.transpose, op.Attrs{{Kind: op.Ints, Ints: perm}}, v)
}

// call adds a call and returns its result; -1 where the row refuses it, or an operand has been refused.
func (f *attentionFinder) call(row *op.Row, at op.Attrs, in ...Value) Value {
	out, err := f.to.Call(row, in, at)
	if err != nil {
		return -1
	}
	return out[0]
}

// Expand replaces calls of composites by calls of other rows, where the rows say them so and the device has no kernel of them. Passes
// then see the parts: a factor goes into the weight of the product before it, and a causal mask is computed once.
func (g *Graph) Expand(composes Composes) *Graph {
	for range nestedComposites {
		expanded := g.expand(composes)
		if expanded == g {
			break
		}
		g = expanded
	}
	return g
}

// nestedComposites is how deep composites call composites, at most. What cannot be expanded stays, whose error comes later.
const nestedComposites = 4

// expand is Expand for the calls of the graph, and not for those that it makes.
func (g *Graph) expand(composes Composes) *Graph {
	// whole reports whether a call stays. Devices choose kernels of composites by the dtype of the first operand.
	whole := func(n *Node) bool {
		if n.Row.Calls == nil {
			return true
		}
		of := func(v Value) []op.Ref { return []op.Ref{{DType: g.values[v].DType}} }
		return composes != nil && composes(&op.Step{Row: n.Row, Attrs: n.Attrs, In: of(n.In[0]), Out: of(n.Out[0])})
	}
	if !slices.ContainsFunc(g.nodes, func(n Node) bool { return !whole(&n) }) {
		return g
	}
	// What a composite made has no node any more; what stands for it is read in its place, by calls behind it and by the graph's
	// outputs.
	to := NewBuilder()
	to.graph = Graph{values: slices.Clone(g.values), inputs: g.inputs, symbols: g.symbols}
	instead := make([]Value, len(g.values))
	for v := range instead {
		instead[v] = Value(v)
	}
	for i := range g.nodes {
		n := g.nodes[i]
		stays := whole(&n) // of the values of g
		n.In = translate(instead, n.In)
		if stays || !to.expand(&n, instead) {
			to.graph.nodes = append(to.graph.nodes, n)
		}
	}
	to.graph.outputs = translate(instead, g.outputs)
	return &to.graph
}

// expand adds the calls that a composite consists of, and sets what stands for its results. On an error the graph is as before:
// the composite stays, and has the error when it is planned.
func (b *Builder) expand(n *Node, instead []Value) bool {
	before := b.graph
	c := op.Calls{Calculator: b.Calculator()}
	in := make([]op.Var, len(n.In))
	for i, v := range n.In {
		in[i] = op.Var(v)
	}
	out := n.Row.Calls(&c, in, n.Attrs)
	for i := range out {
		if c.Err != nil || b.graph.values[out[i]].Type != b.graph.values[n.Out[i]].Type {
			b.graph = before
			return false
		}
	}
	for i := range out {
		instead[n.Out[i]] = Value(out[i])
	}
	return true
}
