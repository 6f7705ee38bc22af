package rows

import (
	"math"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// Scaled dot-product attention. Composed of other rows, it writes the matrix of scores, one number for each query and key, to
// memory and reads it again three times. A device with a kernel of its own needs a block of it at a time.

var attentionRows = []op.Row{
	// The sums of weights and of weighted values have a rounding for each key. An absolute error of a score, which is a sum of
	// products, is a relative one of its weight: that depends on more than the tolerance can say, and is in the bound of the test.
	{
		ID: 231, Name: "attention", Kind: op.Attend,
		In:   []op.Input{{Name: "query", Domain: op.Ordinary}, {Name: "key", Domain: op.Ordinary}, {Name: "value", Domain: op.Ordinary}, {Name: "mask", Domain: op.Ordinary, Optional: true}},
		Grad: op.Grad{Rule: gradAttention, Reads: op.ReadsX | op.ReadsY | op.ReadsZ | op.ReadsOut}, Accepts: dtype.Floats, Infer: op.Rules{masked, attended}, Lower: op.LowerToCalls, Calls: attentionCalls, Frame: frameAttention,
		Python: internal, ONNX: "Attention-23",
		Attrs: []op.Attr{
			{Name: "scale", Type: op.FloatAttr, Default: op.Value{Kind: op.Float, F: 1}},
			{Name: "causal", Type: op.BoolAttr, Default: op.Value{Kind: op.Bool}},
			{Name: "fill", Type: op.FloatAttr},
		},
	},
}

// masked is the rule of one dtype for all operands but a mask of bools.
func masked(c *op.Inference) error {
	if err := Same(c); err != nil {
		return err
	}
	if mask := &c.In[3]; !mask.Absent && mask.DType == dtype.Bool {
		c.Cast[3] = dtype.Bool
	}
	return nil
}

// attended is the rule of attention. Heads are the axis before the last two. Key and value may have fewer of them, by a whole
// factor: as many neighbouring heads of query share one. All axes before are those of query.
func attended(c *op.Inference) error {
	q, k, v := c.In[0].Shape, c.In[1].Shape, c.In[2].Shape
	if q.Rank < 3 || q.Rank >= shape.MaxRank || k.Rank != q.Rank || v.Rank != q.Rank {
		return status.Errorf(status.Invalid, "[%s] query has shape %s, key %s and value %s; want 3 to %d dimensions, and as many each", c.Row.Name, &q, &k, &v, shape.MaxRank-1)
	}
	heads, last := q.Rank-3, q.Rank-1
	fit := !op.Differ(q.Dims[last], k.Dims[last]) && !op.Differ(k.Dims[heads], v.Dims[heads]) && !op.Differ(k.Dims[heads+1], v.Dims[heads+1])
	for i := range heads {
		fit = fit && !op.Differ(q.Dims[i], k.Dims[i]) && !op.Differ(q.Dims[i], v.Dims[i])
	}
	if h, n := q.Dims[heads], k.Dims[heads]; !shape.IsSymbol(h) && !shape.IsSymbol(n) {
		fit = fit && (h == n || n > 0 && h%n == 0)
	}
	if !fit {
		return status.Errorf(status.Invalid, "[%s] query has shape %s, key %s and value %s; want [batch..., heads, length, size], [batch..., n, keys, size] and [batch..., n, keys, any size] for a divisor n of heads",
			c.Row.Name, &q, &k, &v)
	}
	scores := q
	scores.Dims[last] = k.Dims[heads+1]
	if mask := &c.In[3]; !mask.Absent {
		if both, err := c.Broadcast(&scores, &mask.Shape); err != nil || op.Unlike(&both, &scores) {
			return status.Errorf(status.Invalid, "[%s] mask has shape %s; want one that broadcasts to %s", c.Row.Name, &mask.Shape, &scores)
		}
	}
	c.Out[0].Shape = q
	c.Out[0].Shape.Dims[last] = v.Dims[last]
	return nil
}

// frameAttention gives all operands the batch axes of the query. Where several heads share a key, those of the query are
// divided into two axes, of which key and value have the first.
func frameAttention(s *op.Step) {
	q, k, v, mask, out := &s.In[0].Layout, &s.In[1].Layout, &s.In[2].Layout, &s.In[3].Layout, &s.Out[0].Layout
	heads := q.Rank - 3
	scores := q.Shape
	scores.Dims[q.Rank-1] = k.Dims[k.Rank-2]
	if !s.In[3].Absent() {
		*mask = mask.BroadcastTo(&scores)
	}
	if shared := k.Dims[heads]; shared != q.Dims[heads] {
		divide(q, heads, shared)
		divide(out, heads, shared)
		if !s.In[3].Absent() {
			divide(mask, heads, shared)
		}
		k.Insert(heads + 1)
		v.Insert(heads + 1)
	}
	batchTo(k, &out.Shape)
	batchTo(v, &out.Shape)
}

// divide makes two axes of one, the first with n elements.
func divide(l *shape.Layout, axis int, n int64) {
	inner, stride := l.Dims[axis]/n, l.Strides[axis]
	l.Insert(axis + 1)
	l.Dims[axis], l.Strides[axis] = n, stride*inner
	l.Dims[axis+1], l.Strides[axis+1] = inner, stride
}

// Attention in terms of other rows: for devices without a kernel of their own, and for its gradient, which computes the weights
// of the keys again.

// attentionWeights is softmax(scale * q @ k.T + mask), where a key that is not seen has the score -inf, or fill: of a query whose
// scores are all -inf the weights are NaN.
func attentionWeights(c *op.Calls, q, k, mask op.Var, at op.Attrs) op.Var {
	if scale := at[op.AttentionScale].F; scale != 1 {
		q = c.Scale(q, scale)
	}
	scores := grouped(c, q, k, true)
	if c.Err != nil {
		return op.NoVar
	}
	hidden := op.Value{Kind: op.Float, F: math.Inf(-1)}
	switch {
	case c.Absent(mask):
	case c.TypeOf(mask).DType.IsFloat():
		scores = c.Add(scores, mask)
	case at[op.AttentionFill].Set():
		scores = unless(c, mask, scores, at[op.AttentionFill])
	default:
		scores = unless(c, mask, scores, hidden)
	}
	// After the mask: its fill, or a NaN in it, is no score of a later key.
	if at[op.AttentionCausal].I != 0 {
		scores = unless(c, notLater(c, scores), scores, hidden)
	}
	return c.Do(op.IDSoftmax, op.Attrs{op.SoftmaxAxis: {Kind: op.Int, I: -1}}, scores)
}

// notLater is true where a key is not behind the query.
func notLater(c *op.Calls, scores op.Var) op.Var {
	s := c.Shape(scores)
	if c.Err != nil {
		return op.NoVar
	}
	rows := s
	rows.Rank, rows.Dims[0], rows.Dims[1] = 2, s.Dims[s.Rank-2], 1
	return c.Do(op.IDLessEqual, nil, c.Range(s.Dims[s.Rank-1]), c.Reshape(c.Range(rows.Dims[0]), &rows))
}

// unless is scores where they are seen and a number elsewhere, in the dtype of the scores: halves beside a number would become float32.
func unless(c *op.Calls, seen, scores op.Var, v op.Value) op.Var {
	if c.Err != nil {
		return op.NoVar
	}
	other := c.Number(v)
	if d := c.TypeOf(scores).DType; d.Size() < 4 {
		other = c.Filled(&shape.Shape{}, v, d)
	}
	return c.Where(seen, scores, other)
}

// grouped is the product of matrices of x with those of y, which may be transposed. Where y has fewer heads, the matrices of x
// that share one of y are one tall matrix.
func grouped(c *op.Calls, x, y op.Var, transposeY bool) op.Var {
	s, shared := c.Shape(x), c.Shape(y)
	if c.Err != nil {
		return op.NoVar
	}
	p := Product(c, stackedOn(c, x, shared.Dims[s.Rank-3]), y, false, transposeY)
	made := c.Shape(p)
	s.Dims[s.Rank-1] = made.Dims[s.Rank-1]
	return c.Reshape(p, &s)
}

// transposedProduct is the transpose of x times y, matrix by matrix, for n heads. Where x and y have more, it is the sum over those that
// share one.
func transposedProduct(c *op.Calls, x, y op.Var, n int64) op.Var {
	return Product(c, stackedOn(c, x, n), stackedOn(c, y, n), true, false)
}

// stackedOn is a value with n heads, each of which is the matrices of neighbouring heads one below the other.
func stackedOn(c *op.Calls, v op.Var, n int64) op.Var {
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
func gradAttention(g *op.Gradient) {
	q, k, v, mask, dy := g.In[0], g.In[1], g.In[2], g.In[3], g.Dy[0]
	s, shared := g.Shape(q), g.Shape(k)
	w := attentionWeights(&g.Calls, q, k, mask, g.Attrs)
	if g.Err != nil {
		return
	}
	n := shared.Dims[s.Rank-3]
	if g.Wants[2] {
		g.Set(2, transposedProduct(&g.Calls, w, dy, n))
	}
	if !g.Wants[0] && !g.Wants[1] && !g.Wants[3] {
		return
	}
	d := g.SumKept(g.Multiply(dy, g.Out[0]), int64(s.Rank-1))
	scores := g.Multiply(w, g.Subtract(grouped(&g.Calls, dy, v, true), d))
	if !g.Absent(mask) && !g.TypeOf(mask).DType.IsFloat() {
		scores = g.Where(mask, scores, g.Zero())
	}
	if !g.Absent(mask) && g.Attrs[op.AttentionCausal].I != 0 { // without a mask each query has a key, and the weights of later ones are 0
		scores = g.Where(notLater(&g.Calls, scores), scores, g.Zero())
	}
	g.Set(3, scores)
	scale := g.Attrs[op.AttentionScale].F
	if g.Wants[0] {
		g.Set(0, g.Scale(grouped(&g.Calls, scores, k, false), scale))
	}
	if g.Wants[1] {
		g.Set(1, g.Scale(transposedProduct(&g.Calls, scores, q, n), scale))
	}
}

// attentionCalls is the result as calls of other rows.
func attentionCalls(c *op.Calls, in []op.Var, at op.Attrs) []op.Var {
	return []op.Var{grouped(c, attentionWeights(c, in[0], in[1], in[3], at), in[2], false)}
}
