package ops

import (
	"math"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/onnx/build"
)

// Attention in other forms: one whose keys and values are summed in a state of fixed size, one token after the other, and one
// whose scores and weights functions of the model change.

var otherAttentions = []entry{
	// LinearAttention: query, key, value, state, decay, beta.
	{"LinearAttention", 27, 0, linearAttention},
	// FlexAttention: Q, K, V; attributes score_mod and prob_mod.
	{"ai.onnx.preview:FlexAttention", 1, 0, flexAttention},
}

// precise is the dtype of results between those of a dtype: halves are computed in float32.
func precise(d dtype.DType) dtype.DType {
	if d.Size() < dtype.Float32.Size() {
		return dtype.Float32
	}
	return d
}

// linearAttention is the row: ONNX names its forms, of which each wants decay, beta, both or neither.
func linearAttention(c *build.Call) []*build.Value {
	query, rule := c.X(0), c.Text("update_rule", "gated_delta")
	gated, delta := rule == "gated" || rule == "gated_delta", rule == "delta" || rule == "gated_delta"
	if !gated && !delta && rule != "linear" {
		c.Wrong("update_rule is %q; want linear, gated, delta or gated_delta", rule)
	}
	readers, heads := c.Int("q_num_heads", 0), c.Int("kv_num_heads", 0)
	if heads < 1 || readers < 1 || readers%heads != 0 {
		c.Wrong("q_num_heads is %d and kv_num_heads %d; want a multiple of it", readers, heads)
	}
	optional := func(i int, name string, wanted bool, heads int64) *build.Value {
		if c.Has(i) != wanted {
			c.Wrong("update_rule is %q and %s is given: %t; want %t", rule, name, c.Has(i), wanted)
		}
		if !wanted {
			return build.Absent()
		}
		return splitHeads(c, c.X(i), heads, name)
	}
	rates := int64(1) // one for all heads, or one for each
	if c.Has(5) && c.X(5).Rank() == 3 && c.X(5).Dims()[2] != 1 {
		rates = heads
	}
	q := splitHeads(c, query, readers, "q_num_heads")
	k, v := splitHeads(c, c.X(1), heads, "kv_num_heads"), splitHeads(c, c.X(2), heads, "kv_num_heads")
	if q.Dims()[2] > longestLoop {
		c.Refuse("has %d tokens; want at most %d", q.Dims()[2], longestLoop)
	}
	c.Must(c.Called(int(callsOfToken * q.Dims()[2])))
	scale, kept := c.Float("scale", 0), query.DType
	if scale == 0 { // also where it is given so
		scale = 1 / math.Sqrt(float64(q.Dims()[3]))
	}
	if c.Has(3) {
		kept = c.X(3).DType
	}
	out := c.All(op.IDLinearAttention, build.With(op.LinearAttentionScale, scale), q, k, v, c.Optional(3), optional(4, "decay", gated, heads), optional(5, "beta", delta, rates))
	return []*build.Value{together(c, out[0], true), c.Cast(out[1], kept)}
}

// callsOfToken is about how many calls and operands a token of linear attention is.
const callsOfToken = 40

// repeated is a tensor with each head n times. Groups of query heads share a key and value head: head i of the
// result is head i / n.
func repeated(c *build.Call, x *build.Value, n int64) *build.Value {
	if n == 1 {
		return x
	}
	d := x.Dims()
	return c.Reshape(c.Expand(c.Unsqueeze(x, 2), d[0], d[1], n, d[2], d[3]), d[0], d[1]*n, d[2], d[3])
}

// flexAttention is attention with functions between its steps: score_mod of the scores, prob_mod of the weights. Groups of
// query heads share keys and values. The scale is split between Q and K, as ONNX has it.
func flexAttention(c *build.Call) []*build.Value {
	q, k, v := c.X(0), c.X(1), c.X(2)
	if q.Rank() != 4 || k.Rank() != 4 || v.Rank() != 4 || k.Dims()[1] < 1 || q.Dims()[1]%k.Dims()[1] != 0 || k.Dims()[1] != v.Dims()[1] {
		c.Wrong("the operands have shapes %s, %s and %s; want [batch, heads, tokens, size]", &q.Shape, &k.Shape, &v.Shape)
	}
	groups := q.Dims()[1] / k.Dims()[1]
	scale := build.Num(math.Sqrt(c.Float("scale", 1/math.Sqrt(float64(q.Dims()[3])))))
	d := precise(q.DType)
	if c.Int("softmax_precision", 0) != 0 {
		d = c.Elem("softmax_precision", d)
	}
	// Only halves are computed in another dtype than their own, unless the attribute says another one.
	scores := c.Do(op.IDMatmul, build.With(op.MatmulTransposeY, true), c.Mul(q, scale), c.Mul(repeated(c, k, groups), scale))
	weights := modified(c, "prob_mod", c.Softmax(modified(c, "score_mod", c.Cast(scores, d)), 3))
	return build.One(c.Cast(c.Matmul(weights, c.Cast(repeated(c, v, groups), d)), v.DType))
}

// modified is what the graph of an attribute makes of a tensor: another one of the same type. Without the attribute it is the
// tensor.
func modified(c *build.Call, name string, x *build.Value) *build.Value {
	if c.Attr(name) == nil {
		return x
	}
	out := body(c, subgraph(c, name), build.One(x))
	if len(out) != 1 || out[0].IsList || out[0].Type != x.Type {
		c.Wrong("%s does not make one tensor of type %s%s", name, x.DType, &x.Shape)
	}
	return out[0]
}
