package onnx

import (
	"math"
	"slices"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
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
func (c *call) optional(i int, name string, wanted bool, heads int64, d dtype.DType) *value {
	if c.has(i) != wanted {
		c.wrong("update_rule is %q and %s is given: %t; want %t", c.text("update_rule", "gated_delta"), name, c.has(i), wanted)
	}
	if !wanted {
		return nil
	}
	return c.heads(c.cast(c.x(i), d), heads, name)
}

// linearAttention goes through the tokens one after the other, as ONNX defines it: the state decays, takes in the product of
// key and value, and is read by the query. With a delta rule only the part of the value is taken in that the key does not
// read from the state already. The state is [batch, heads, key size, value size], of float32 or float64.
func linearAttention(c *call) []*value {
	query, rule := c.x(0), c.text("update_rule", "gated_delta")
	gated, delta := rule == "gated" || rule == "gated_delta", rule == "delta" || rule == "gated_delta"
	if !gated && !delta && rule != "linear" {
		c.wrong("update_rule is %q; want linear, gated, delta or gated_delta", rule)
	}
	readers, heads := c.int("q_num_heads", 0), c.int("kv_num_heads", 0)
	if heads < 1 || readers < 1 || readers%heads != 0 {
		c.wrong("q_num_heads is %d and kv_num_heads %d; want a multiple of it", readers, heads)
	}
	d := precise(query.DType)
	q := c.heads(c.cast(query, d), readers, "q_num_heads")
	k, v := c.heads(c.cast(c.x(1), d), heads, "kv_num_heads"), c.heads(c.cast(c.x(2), d), heads, "kv_num_heads")
	decay := c.optional(4, "decay", gated, heads, d)
	if gated {
		decay = c.exp(decay)
	}
	// One rate for all heads, or one for each.
	var beta *value
	if n := int64(1); delta {
		if c.has(5) && c.x(5).rank() == 3 && c.x(5).dims()[2] != 1 {
			n = heads
		}
		beta = c.optional(5, "beta", delta, n, d)
	} else {
		c.optional(5, "beta", false, 1, d)
	}
	batch, tokens, size, width := q.dims()[0], q.dims()[2], q.dims()[3], v.dims()[3]
	if tokens > longestLoop {
		c.refuse("has %d tokens; want at most %d", tokens, longestLoop)
	}
	scale := c.float("scale", 0)
	if scale == 0 { // also where it is given so
		scale = 1 / math.Sqrt(float64(size))
	}
	shape := []int64{batch, heads, size, width}
	state, kept := c.full(d, integer(0), shape...), query.DType
	if c.has(3) {
		if state, kept = c.cast(c.x(3), d), c.x(3).DType; !slices.Equal(state.dims(), shape) {
			c.wrong("the state has shape %s; want %v", &state.Shape, shape)
		}
	}
	// The query heads that share a state are rows of one matrix, so that one product reads the state for all of them.
	q = c.reshape(c.mul(q, num(scale)), batch, heads, readers/heads, tokens, size)
	// What is read for each token. Concatenating needs one tensor, which is empty where there are no tokens.
	made := []*value{c.full(d, integer(0), batch, 0, readers*width)}
	if tokens > 0 {
		made = made[:0]
	}
	for t := range tokens {
		at := func(x *value) *value { return c.slice(x, 2, t, t+1) } // [batch, heads, 1, ...]
		key, taken := at(k), at(v)
		if gated {
			state = c.mul(state, c.swap(at(decay), 2, 3))
		}
		if delta { // what the key reads from the state before it takes in anything
			taken = c.mul(at(beta), c.sub(taken, c.matmul(key, state)))
		}
		// The outer product of key and value, by broadcasting.
		state = c.add(state, c.mul(c.swap(key, 2, 3), taken))
		made = append(made, c.reshape(c.matmul(c.pick(q, 3, t), state), batch, 1, readers*width))
	}
	return []*value{c.cast(c.concat(1, made...), query.DType), c.cast(state, kept)}
}

// flexAttention is attention with functions between its steps: score_mod of the scores, prob_mod of the weights. Groups of
// query heads share keys and values. The scale is split between Q and K, as ONNX has it.
func flexAttention(c *call) []*value {
	q, k, v := c.x(0), c.x(1), c.x(2)
	if q.rank() != 4 || k.rank() != 4 || v.rank() != 4 || k.dims()[1] < 1 || q.dims()[1]%k.dims()[1] != 0 || k.dims()[1] != v.dims()[1] {
		c.wrong("the operands have shapes %s, %s and %s; want [batch, heads, tokens, size]", &q.Shape, &k.Shape, &v.Shape)
	}
	groups := q.dims()[1] / k.dims()[1]
	scale := num(math.Sqrt(c.float("scale", 1/math.Sqrt(float64(q.dims()[3])))))
	d := precise(q.DType)
	if c.int("softmax_precision", 0) != 0 {
		d = c.elem("softmax_precision", d)
	}
	// Only halves are computed in another dtype than their own, unless the attribute says another one.
	scores := c.do(op.IDMatmul, with(op.MatmulTransposeY, true), c.mul(q, scale), c.mul(c.repeated(k, groups), scale))
	weights := c.modified("prob_mod", c.softmax(c.modified("score_mod", c.cast(scores, d)), 3))
	return one(c.cast(c.matmul(weights, c.cast(c.repeated(v, groups), d)), v.DType))
}

// modified is what the graph of an attribute makes of a tensor: another one of the same type. Without the attribute it is the
// tensor.
func (c *call) modified(name string, x *value) *value {
	if c.attr(name) == nil {
		return x
	}
	out := c.body(c.subgraph(name), one(x))
	if len(out) != 1 || out[0].isList || out[0].Type != x.Type {
		c.wrong("%s does not make one tensor of type %s%s", name, x.DType, &x.Shape)
	}
	return out[0]
}
