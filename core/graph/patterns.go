package graph

import (
	"math"
	"slices"
	"sync"

	"github.com/paddle-mps/paddle-mps/core/op"
)

// pattern is a spelling of a row.
type pattern struct {
	row   *op.Row
	attrs op.Attrs // given by the spelling
	term  *term
}

// The patterns are the spellings of all rows, in the order in which they are tried. They are parsed when the first program is
// compiled, so that loading the library does not wait for it.
var (
	patterns []pattern
	parsed   sync.Once
)

// parsePatterns fills in patterns. Definitions are parsed anew for each spelling: their operands are those of its row.
func parsePatterns() {
	for _, s := range op.Spellings {
		p := termParser{row: op.ByID(s.Of), names: make([]*term, 0, len(op.Definitions))}
		for _, d := range op.Definitions {
			p.names = append(p.names, p.parse(d.Expr))
		}
		patterns = append(patterns, pattern{p.row, s.Attrs, p.parse(s.Expr)})
	}
}

// attributes are those of the row for a match: those of the spelling, and what the match has found. ok is false where the row
// computes something else: along another axis, or with an epsilon that may make the root of a negative number.
func (p *pattern) attributes(m *match) (at op.Attrs, ok bool) {
	at = make(op.Attrs, len(p.row.Attrs))
	copy(at, p.attrs)
	alongLast := m.axis >= 0
	for i := range at {
		switch p.row.Attrs[i].Name {
		case "axis":
			at[i], alongLast = op.Value{Kind: op.Int, I: int64(m.axis)}, false
		case "epsilon":
			at[i] = op.Value{Kind: op.Float, F: m.epsilon}
		}
	}
	last := m.g.values[m.bound[0]].Shape.Rank - 1
	return at, (!alongLast || m.axis == last) && m.epsilon >= 0 && !math.IsInf(m.epsilon, 1)
}

// recognize replaces expressions that one row computes by a call of this row, which reads its operand once and is at least
// as accurate as the calls. Those in between are left to dropDead.
//
// An expression stays as it is if anything else reads a result in it, such as the rule of a gradient or the caller, if
// its calls have several dtypes, and if axes, shapes or numbers are not those of the row. What stands behind an expression, such
// as a weight of another shape, stays a call of its own.
//
// The calls are tried from the last to the first, so that the whole comes before its parts: a normalization with weight and bias
// before the one without. Expressions do not overlap: their calls are read by nothing else.
func recognize(g *Graph) *Graph {
	parsed.Do(parsePatterns)
	r := recognizer{g: g, made: make([]*Node, len(g.values)), uses: g.uses(), to: NewBuilder(), replaced: make([]bool, len(g.values))}
	r.to.graph = Graph{values: slices.Clone(g.values), nodes: slices.Clone(g.nodes), inputs: g.inputs, outputs: g.outputs, symbols: g.symbols}
	for i := range g.nodes {
		for _, v := range g.nodes[i].Out {
			r.made[v] = &g.nodes[i]
		}
	}
	for i := len(g.nodes) - 1; i >= 0; i-- {
		if n := &g.nodes[i]; n.Row.Factor != op.NoFactor && !r.replaced[n.Out[0]] { // every expression ends with a sum or a product
			r.try(i)
		}
	}
	if !slices.Contains(r.replaced, true) {
		return g
	}
	return &r.to.graph
}

type recognizer struct {
	g        *Graph
	to       *Builder // of the graph with calls replaced
	made     []*Node  // by value: the call that makes it
	uses     []int    // by value: how often it is read
	replaced []bool   // by value: made by a call of an expression that has been replaced
}

// try replaces the expression whose last call is node i of the graph, if there is one. Of several spellings the first one
// counts that the row accepts.
func (r *recognizer) try(i int) {
	root := r.g.nodes[i].Out[0]
	for j := range patterns {
		p := &patterns[j]
		// Operands that the expression does not have stay unbound, which the row takes as left out.
		m := match{g: r.g, made: r.made, dtype: r.g.values[root].DType, axis: -1, bound: [mostOperands]Value{-1, -1, -1}}
		if !m.fits(p.term, root) || !r.private(&m, root) {
			continue
		}
		if at, ok := p.attributes(&m); ok && r.replace(i, p.row, &m, at) {
			return
		}
	}
}

// private reports whether nothing but the calls of a match reads what they make, the result of the last one excepted. Otherwise
// the calls would have to stay beside the row, and the program would compute more than before.
func (r *recognizer) private(m *match, root Value) bool {
	for _, made := range m.nodes {
		reads := 0
		for _, n := range m.nodes {
			for _, v := range n.In {
				if v == made.Out[0] {
					reads++
				}
			}
		}
		if made.Out[0] != root && reads != r.uses[made.Out[0]] {
			return false
		}
	}
	return true
}

// replace puts a call of a row in the place of node i, if its result has the same type. Inference decides whether the row takes
// the operands: a weight of several axes is refused, and the next spelling is tried. The new call makes the value that node i
// made, so that nothing else changes; further results of the row are new values, which nothing reads.
func (r *recognizer) replace(i int, row *op.Row, m *match, at op.Attrs) bool {
	root, to := r.g.nodes[i].Out[0], &r.to.graph
	in := slices.Clone(m.bound[:len(row.In)])
	for j, v := range in {
		if v < 0 {
			in[j] = r.to.Scalar(op.Value{}) // left out
		}
	}
	out, err := r.to.Call(row, in, at)
	if err != nil {
		return false
	}
	if to.values[out[0]].Type != to.values[root].Type {
		r.to.Retract()
		return false
	}
	last := len(to.nodes) - 1
	to.nodes[i], to.nodes = to.nodes[last], to.nodes[:last]
	to.nodes[i].Out[0] = root
	for _, n := range m.nodes {
		r.replaced[n.Out[0]] = true
	}
	return true
}
