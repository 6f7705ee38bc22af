package ops

import (
	"math"
	"slices"

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

// optional is operand i with its last axis split into heads [batch, heads, tokens, size], nil where the update rule has none.
// ONNX says which rules want it.
func optional(c *build.Call, i int, name string, wanted bool, heads int64, d dtype.DType) *build.Value {
	if c.Has(i) != wanted {
		c.Wrong("update_rule is %q and %s is given: %t; want %t", c.Text("update_rule", "gated_delta"), name, c.Has(i), wanted)
	}
	if !wanted {
		return nil
	}
	return splitHeads(c, c.Cast(c.X(i), d), heads, name)
}

// linearAttention goes through the tokens one after the other, as ONNX defines it: the state decays, takes in the product of
// key and value, and is read by the query. With a delta rule only the part of the value is taken in that the key does not
// read from the state already. The state is [batch, heads, key size, value size], of float32 or float64.
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
	d := precise(query.DType)
	q := splitHeads(c, c.Cast(query, d), readers, "q_num_heads")
	k, v := splitHeads(c, c.Cast(c.X(1), d), heads, "kv_num_heads"), splitHeads(c, c.Cast(c.X(2), d), heads, "kv_num_heads")
	decay := optional(c, 4, "decay", gated, heads, d)
	if gated {
		decay = c.Exp(decay)
	}
	// One rate for all heads, or one for each.
	var beta *build.Value
	if n := int64(1); delta {
		if c.Has(5) && c.X(5).Rank() == 3 && c.X(5).Dims()[2] != 1 {
			n = heads
		}
		beta = optional(c, 5, "beta", delta, n, d)
	} else {
		optional(c, 5, "beta", false, 1, d)
	}
	batch, tokens, size, width := q.Dims()[0], q.Dims()[2], q.Dims()[3], v.Dims()[3]
	if tokens > longestLoop {
		c.Refuse("has %d tokens; want at most %d", tokens, longestLoop)
	}
	scale := c.Float("scale", 0)
	if scale == 0 { // also where it is given so
		scale = 1 / math.Sqrt(float64(size))
	}
	shape := []int64{batch, heads, size, width}
	state, kept := c.Full(d, build.Integer(0), shape...), query.DType
	if c.Has(3) {
		if state, kept = c.Cast(c.X(3), d), c.X(3).DType; !slices.Equal(state.Dims(), shape) {
			c.Wrong("the state has shape %s; want %v", &state.Shape, shape)
		}
	}
	// The query heads that share a state are rows of one matrix, so that one product reads the state for all of them.
	q = c.Reshape(c.Mul(q, build.Num(scale)), batch, heads, readers/heads, tokens, size)
	// What is read for each token. Concatenating needs one tensor, which is empty where there are no tokens.
	made := []*build.Value{c.Full(d, build.Integer(0), batch, 0, readers*width)}
	if tokens > 0 {
		made = made[:0]
	}
	for t := range tokens {
		at := func(x *build.Value) *build.Value { return c.Slice(x, 2, t, t+1) } // [batch, heads, 1, ...]
		key, taken := at(k), at(v)
		if gated {
			state = c.Mul(state, c.Swap(at(decay), 2, 3))
		}
		if delta { // what the key reads from the state before it takes in anything
			taken = c.Mul(at(beta), c.Sub(taken, c.Matmul(key, state)))
		}
		// The outer product of key and value, by broadcasting.
		state = c.Add(state, c.Mul(c.Swap(key, 2, 3), taken))
		made = append(made, c.Reshape(c.Matmul(c.Pick(q, 3, t), state), batch, 1, readers*width))
	}
	return []*build.Value{c.Cast(c.Concat(1, made...), query.DType), c.Cast(state, kept)}
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
