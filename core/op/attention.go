package op

import (
	"math"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/shape"
)

// Attention in terms of other rows: for devices without a kernel of their own, and for its gradient, which computes the weights
// of the keys again.

// attentionWeights is softmax(scale * q @ k.T + mask), where a key that is not seen has the score -inf, or fill: of a query whose
// scores are all -inf the weights are NaN.
func (c *Calls) attentionWeights(q, k, mask Var, at Attrs) Var {
	if scale := at[AttentionScale].F; scale != 1 {
		q = c.scale(q, scale)
	}
	scores := c.grouped(q, k, true)
	if c.Err != nil {
		return NoVar
	}
	hidden := Value{Kind: Float, F: math.Inf(-1)}
	switch {
	case c.Absent(mask):
	case c.TypeOf(mask).DType.IsFloat():
		scores = c.add(scores, mask)
	case at[AttentionFill].Set():
		scores = c.unless(mask, scores, at[AttentionFill])
	default:
		scores = c.unless(mask, scores, hidden)
	}
	// After the mask: its fill, or a NaN in it, is no score of a later key.
	if at[AttentionCausal].I != 0 {
		scores = c.unless(c.notLater(scores), scores, hidden)
	}
	return c.Do(IDSoftmax, Attrs{SoftmaxAxis: {Kind: Int, I: -1}}, scores)
}

// notLater is true where a key is not behind the query.
func (c *Calls) notLater(scores Var) Var {
	s := c.Shape(scores)
	if c.Err != nil {
		return NoVar
	}
	rows := s
	rows.Rank, rows.Dims[0], rows.Dims[1] = 2, s.Dims[s.Rank-2], 1
	return c.Do(IDLessEqual, nil, c.count(s.Dims[s.Rank-1]), c.Reshape(c.count(rows.Dims[0]), &rows))
}

// unless is scores where they are seen and a number elsewhere, in the dtype of the scores: halves beside a number would become float32.
func (c *Calls) unless(seen, scores Var, v Value) Var {
	if c.Err != nil {
		return NoVar
	}
	other := c.Number(v)
	if d := c.TypeOf(scores).DType; d.Size() < 4 {
		other = c.full(&shape.Shape{}, v, d)
	}
	return c.where(seen, scores, other)
}

// grouped is the product of matrices of x with those of y, which may be transposed. Where y has fewer heads, the matrices of x
// that share one of y are one tall matrix.
func (c *Calls) grouped(x, y Var, transposeY bool) Var {
	s, shared := c.Shape(x), c.Shape(y)
	if c.Err != nil {
		return NoVar
	}
	p := c.product(c.tall(x, shared.Dims[s.Rank-3]), y, false, transposeY)
	made := c.Shape(p)
	s.Dims[s.Rank-1] = made.Dims[s.Rank-1]
	return c.Reshape(p, &s)
}

// over is the transpose of x times y, matrix by matrix, for n heads. Where x and y have more, it is the sum over those that
// share one.
func (c *Calls) over(x, y Var, n int64) Var {
	return c.product(c.tall(x, n), c.tall(y, n), true, false)
}

// tall is a value with n heads, each of which is the matrices of neighbouring heads one below the other.
func (c *Calls) tall(v Var, n int64) Var {
	s := c.Shape(v)
	if c.Err != nil || s.Dims[s.Rank-3] == n {
		return v
	}
	s = stackedHeads(s, n)
	return c.Reshape(v, &s)
}

// stackedHeads is the shape of tall.
func stackedHeads(s shape.Shape, n int64) shape.Shape {
	heads := s.Rank - 3
	s.Dims[heads], s.Dims[heads+1] = n, s.Dims[heads]/n*s.Dims[heads+1]
	return s
}

// gradAttention. With weights w, the gradients of the values are w.T @ dy, and those of the scores w * (dy @ v.T - d): d, the
// sum of the gradients of the weights times the weights, is that of dy times the result, which has fewer elements.
func gradAttention(g *Gradient) {
	q, k, v, mask, dy := g.In[0], g.In[1], g.In[2], g.In[3], g.Dy[0]
	s, shared := g.Shape(q), g.Shape(k)
	w := g.attentionWeights(q, k, mask, g.Attrs)
	if g.Err != nil {
		return
	}
	n := shared.Dims[s.Rank-3]
	if g.Wants[2] {
		g.Set(2, g.over(w, dy, n))
	}
	if !g.Wants[0] && !g.Wants[1] && !g.Wants[3] {
		return
	}
	d := g.sumKept(g.multiply(dy, g.Out[0]), int64(s.Rank-1))
	scores := g.multiply(w, g.subtract(g.grouped(dy, v, true), d))
	if !g.Absent(mask) && !g.TypeOf(mask).DType.IsFloat() {
		scores = g.where(mask, scores, g.zero())
	}
	if !g.Absent(mask) && g.Attrs[AttentionCausal].I != 0 { // without a mask each query has a key, and the weights of later ones are 0
		scores = g.where(g.notLater(scores), scores, g.zero())
	}
	g.Set(3, scores)
	scale := g.Attrs[AttentionScale].F
	if g.Wants[0] {
		g.Set(0, g.scale(g.grouped(scores, k, false), scale))
	}
	if g.Wants[1] {
		g.Set(1, g.scale(g.over(scores, q, n), scale))
	}
}

// attentionCalls is the result as calls of other rows.
func attentionCalls(c *Calls, in []Var, at Attrs) []Var {
	return []Var{c.grouped(c.attentionWeights(in[0], in[1], in[3], at), in[2], false)}
}

// emitted is the calculator of rules that say a step in terms of other rows. Its values are numbers of refs.
type emitted struct {
	e    Emitter
	refs []Ref
}

// Call emits a call.
func (l *emitted) Call(row *Row, in []Var, at Attrs) ([]Var, error) {
	given := make([]Ref, len(in))
	for i, v := range in {
		given[i] = l.refs[v]
	}
	made, err := l.e.Call(row, given, at)
	out := make([]Var, len(made))
	for i := range made {
		out[i] = Var(len(l.refs))
		l.refs = append(l.refs, made[i])
	}
	return out, err
}

// Number adds a Python scalar.
func (l *emitted) Number(v Value) Var {
	l.refs = append(l.refs, Ref{Number: &v})
	return Var(len(l.refs) - 1)
}

// IsNumber reports whether a value is a Python scalar.
func (l *emitted) IsNumber(v Var) bool {
	r := &l.refs[v]
	return r.Number != nil && r.DType == dtype.Invalid
}

// Absent reports whether an operand was left out.
func (l *emitted) Absent(v Var) bool { return l.refs[v].absent() }

// TypeOf is the dtype and the shape of a value.
func (l *emitted) TypeOf(v Var) Type { return Type{DType: l.refs[v].DType, Shape: l.refs[v].Shape} }
