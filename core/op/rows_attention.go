package op

import (
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// Scaled dot-product attention. Composed of other rows, it writes the matrix of scores, one number for each query and key, to
// memory and reads it again three times. A device with a kernel of its own needs a block of it at a time.

var attentionRows = []Row{
	// The sums of weights and of weighted values have a rounding for each key. An absolute error of a score, which is a sum of
	// products, is a relative one of its weight: that depends on more than the tolerance can say, and is in the bound of the test.
	{
		ID: 231, Name: "attention", Kind: Attend,
		In:   []Input{{Name: "query", Domain: Ordinary}, {Name: "key", Domain: Ordinary}, {Name: "value", Domain: Ordinary}, {Name: "mask", Domain: Ordinary, Optional: true}},
		Grad: Grad{Rule: gradAttention, Reads: ReadsX | ReadsY | ReadsZ | ReadsOut}, Accepts: dtype.Floats, Infer: rules{masked, attended}, Lower: lowerToCalls, Calls: attentionCalls, Frame: frameAttention, Tolerance: accurate.plus(Roundings{Term: 2}),
		Python: internal, ONNX: "Attention-23",
		Attrs: []Attr{
			{Name: "scale", Type: FloatAttr, Default: Value{Kind: Float, F: 1}, Doc: "factor of the scores"},
			{Name: "causal", Type: BoolAttr, Default: Value{Kind: Bool}, Doc: "query i sees the keys up to i alone"},
			{Name: "fill", Type: FloatAttr, Doc: "score of a key that a bool mask hides; none for -inf"},
		},
	},
}

// masked is the rule of one dtype for all operands but a mask of bools.
func masked(c *Inference) error {
	if err := same(c); err != nil {
		return err
	}
	if mask := &c.In[3]; !mask.Absent && mask.DType == dtype.Bool {
		c.Cast[3] = dtype.Bool
	}
	return nil
}

// attended is the rule of attention. Heads are the axis before the last two. Key and value may have fewer of them, by a whole
// factor: as many neighbouring heads of query share one. All axes before are those of query.
func attended(c *Inference) error {
	q, k, v := c.In[0].Shape, c.In[1].Shape, c.In[2].Shape
	if q.Rank < 3 || q.Rank >= shape.MaxRank || k.Rank != q.Rank || v.Rank != q.Rank {
		return status.Errorf(status.Invalid, "[%s] query has shape %s, key %s and value %s; want 3 to %d dimensions, and as many each", c.Row.Name, &q, &k, &v, shape.MaxRank-1)
	}
	heads, last := q.Rank-3, q.Rank-1
	fit := !differ(q.Dims[last], k.Dims[last]) && !differ(k.Dims[heads], v.Dims[heads]) && !differ(k.Dims[heads+1], v.Dims[heads+1])
	for i := range heads {
		fit = fit && !differ(q.Dims[i], k.Dims[i]) && !differ(q.Dims[i], v.Dims[i])
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
		if both, err := c.together(&scores, &mask.Shape); err != nil || unlike(&both, &scores) {
			return status.Errorf(status.Invalid, "[%s] mask has shape %s; want one that broadcasts to %s", c.Row.Name, &mask.Shape, &scores)
		}
	}
	c.Out[0].Shape = q
	c.Out[0].Shape.Dims[last] = v.Dims[last]
	return nil
}

// frameAttention gives all operands the batch axes of the query. Where several heads share a key, those of the query are
// divided into two axes, of which key and value have the first.
func frameAttention(s *Step) {
	q, k, v, mask, out := &s.In[0].Layout, &s.In[1].Layout, &s.In[2].Layout, &s.In[3].Layout, &s.Out[0].Layout
	heads := q.Rank - 3
	scores := q.Shape
	scores.Dims[q.Rank-1] = k.Dims[k.Rank-2]
	if !s.In[3].absent() {
		*mask = mask.BroadcastTo(&scores)
	}
	if shared := k.Dims[heads]; shared != q.Dims[heads] {
		divide(q, heads, shared)
		divide(out, heads, shared)
		if !s.In[3].absent() {
			divide(mask, heads, shared)
		}
		k.Insert(heads + 1)
		v.Insert(heads + 1)
	}
	batchTo(k, &out.Shape)
	batchTo(v, &out.Shape)
}

// absent reports whether an optional operand was left out.
func (r *Ref) absent() bool { return r.Number != nil && !r.Number.Set() }

// divide makes two axes of one, the first with n elements.
func divide(l *shape.Layout, axis int, n int64) {
	inner, stride := l.Dims[axis]/n, l.Strides[axis]
	l.Insert(axis + 1)
	l.Dims[axis], l.Strides[axis] = n, stride*inner
	l.Dims[axis+1], l.Strides[axis+1] = inner, stride
}
