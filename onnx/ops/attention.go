package ops

import (
	"math"
	"slices"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/onnx/build"
)

// Attention and what belongs to it.
//
// It is one call of a row, beside which heads are split and joined, and keys and values of earlier calls put in front. In other forms
// keys and values are summed in a state of fixed size, one token after the other, or functions of the model change scores and weights.

var attentions = []entry{
	{"Attention", 23, 0, attention},                                // Q, K, V, mask, past key, past value, lengths
	{"RotaryEmbedding", 23, 0, rotaryEmbedding},                    // X, cos, sin, positions
	{"com.microsoft:RotaryEmbedding", 1, 0, rotaryMicrosoft},       // X, positions, cos, sin
	{"LinearAttention", 27, 0, linearAttention},                    // query, key, value, state, decay, beta
	{"ai.onnx.preview:FlexAttention", 1, 0, flexAttention},         // Q, K, V; attributes score_mod and prob_mod
	{"com.microsoft:Attention", 1, 0, projectedAttention},          // input, weights, bias, mask, past, attention bias
	{"com.microsoft:MultiHeadAttention", 1, 0, multiHeadAttention}, // query, key, value, bias, padding mask, attention bias, past key, past value
}

// splitHeads is a tensor [batch, sequence, heads * size] as [batch, heads, sequence, size]; one of 4 axes stays.
// Queries, keys and values come in both forms; the second needs an attribute for the number of heads.
func splitHeads(c *build.Call, x *build.Value, heads int64, name string) *build.Value {
	if x.Rank() == 4 {
		return x
	}
	if x.Rank() != 3 || heads < 1 || x.Dims()[2]%heads != 0 {
		c.Wrong("shape %s does not have %d heads (%s)", &x.Shape, heads, name)
	}
	d := x.Dims()
	return c.Swap(c.Reshape(x, d[0], d[1], heads, d[2]/heads), 1, 2)
}

// attention is softmax(Q K' * scale + mask) V, with the keys and values of earlier calls in front. Operands: Q, K,
// V, mask, past key, past value, and for each batch how many keys count. Results: Y, all keys, all values, and the
// weights at the stage that attribute qk_matmul_output_mode names. A query that sees no key has weights of 0, and so a result of 0,
// as ONNX 1.23 says of all versions of the operator.
func attention(c *build.Call) []*build.Value {
	flat := c.X(0).Rank() == 3
	q := splitHeads(c, c.X(0), c.Int("q_num_heads", 0), "q_num_heads")
	k, v := splitHeads(c, c.X(1), c.Int("kv_num_heads", 0), "kv_num_heads"), splitHeads(c, c.X(2), c.Int("kv_num_heads", 0), "kv_num_heads")
	if c.Has(4) != c.Has(5) || c.Has(4) && c.Has(6) {
		c.Wrong("past_key is given: %t, past_value: %t, nonpad_kv_seqlen: %t; want both of the past, or lengths, or none", c.Has(4), c.Has(5), c.Has(6))
	}
	past := int64(0)
	if c.Has(4) {
		past = c.X(4).Dims()[2]
		k, v = c.Concat(2, c.X(4), k), c.Concat(2, c.X(5), v)
	}
	at := []any{
		op.MaskedAttentionScale, c.Float("scale", 1/math.Sqrt(float64(q.Dims()[3]))), op.MaskedAttentionSoftcap, c.Float("softcap", 0), op.MaskedAttentionCausal, c.Yes("is_causal", 0),
		op.MaskedAttentionPast, past, op.MaskedAttentionLeft, reach(c, "left_window_size"), op.MaskedAttentionRight, reach(c, "right_window_size"), op.MaskedAttentionOpen, open(c),
	}
	in := []*build.Value{q, c.Cast(k, q.DType), c.Cast(v, q.DType), c.Optional(3), c.Optional(6)}
	if c.Int("softmax_precision", 0) == 0 && !c.Wants(3) {
		return []*build.Value{together(c, c.Do(op.IDMaskedAttention, build.With(at...), in...), flat), k, v}
	}
	stage := min(max(c.Int("qk_matmul_output_mode", 0), 0), 3)
	at = append(at, op.MaskedAttentionScoresStage, stage)
	if c.Int("softmax_precision", 0) != 0 {
		at = append(at, op.MaskedAttentionScoresPrecision, c.Elem("softmax_precision", q.DType))
	}
	out := c.All(op.IDMaskedAttentionScores, build.With(at...), in...)
	return []*build.Value{together(c, out[0], flat), k, v, out[1]}
}

// open reports whether a mask that is a constant leaves each query a key, whatever else the operator does.
func open(c *build.Call) bool {
	if !c.Has(3) || !c.X(3).Fixed || c.X(3).Data == nil || c.Has(6) || c.Yes("is_causal", 0) || reach(c, "left_window_size") >= 0 || reach(c, "right_window_size") >= 0 {
		return false
	}
	mask := c.X(3)
	last := int64(mask.Rank() - 1)
	seen := mask
	if mask.DType != dtype.Bool {
		seen = c.Binary(op.IDNotEqual, mask, build.Num(math.Inf(-1)))
	}
	seen = c.Do(op.IDAny, build.With(op.AnyAxis, []int64{last}), seen)
	return seen.Data != nil && !slices.Contains(seen.Data.Bytes, 0)
}

// reach is how many keys beside its position a query sees on one side; -1 is all of them.
func reach(c *build.Call, name string) int64 {
	size := c.Int(name, -1)
	if size < -1 {
		c.Wrong("%s is %d; want -1 or more", name, size)
	}
	return min(size, math.MaxInt32)
}

// together is a result with heads as one axis with the elements, where the operands have them so.
func together(c *build.Call, y *build.Value, flat bool) *build.Value {
	if !flat {
		return y
	}
	s := y.Dims()
	return c.Reshape(c.Swap(y, 1, 2), s[0], s[2], s[1]*s[3])
}

// rotaryEmbedding turns pairs of elements by angles that depend on the position.
func rotaryEmbedding(c *build.Call) []*build.Value {
	return build.One(rotate(c, c.X(0), c.X(1), c.X(2), c.Optional(3)))
}

// rotaryMicrosoft has its operands in another order; one position is that of the first element. The operands are X,
// positions, cos and sin.
func rotaryMicrosoft(c *build.Call) []*build.Value {
	return build.One(rotate(c, c.X(0), c.X(2), c.X(3), c.X(1)))
}

// rotate is the row, for x [batch, heads, sequence, size], or with heads and size as one axis at the end.
func rotate(c *build.Call, x, cos, sin, positions *build.Value) *build.Value {
	flat, heads := x.Rank() == 3, c.Int("num_heads", 0)
	if flat && heads == 0 && cos.Rank() == 2 { // onnxruntime: heads follow from the caches
		heads = x.Dims()[2] / max(2*cos.Dims()[1], 1)
	}
	at := build.With(op.RotaryEmbeddingRotaryDim, c.Int("rotary_embedding_dim", 0), op.RotaryEmbeddingInterleaved, c.Yes("interleaved", 0))
	return together(c, c.Do(op.IDRotaryEmbedding, at, splitHeads(c, x, heads, "num_heads"), cos, sin, positions), flat)
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

// Attention as onnxruntime's optimizer writes it, operators of com.microsoft, has the bias of the projections, or these as a whole, and
// masks of integers. Refused are queries, keys and values in one tensor, rotary embeddings inside of the operator, and a past in memory
// of a fixed length, into which onnxruntime writes; and masks of other shapes than those of attendMicrosoft.

// projectedAttention is attention of three projections of the input, which one matrix of weights makes side by side. Results: the
// output, and the keys and values, earlier ones in front, in one tensor.
func projectedAttention(c *build.Call) []*build.Value {
	if c.Yes("do_rotary", 0) || c.Yes("past_present_share_buffer", 0) || c.Has(6) {
		c.Refuse("attention with rotary embeddings or a past of a fixed length")
	}
	weights := c.X(1)
	if weights.Rank() != 2 || c.X(0).Rank() != 3 {
		c.Wrong("the input has shape %s and the weights %s; want [batch, length, size] and a matrix", &c.X(0).Shape, &weights.Shape)
	}
	x := biased(c, c.Matmul(c.X(0), weights), 2)
	sizes := c.List("qkv_hidden_sizes")
	if len(sizes) == 0 {
		third := weights.Dims()[1] / 3
		sizes = []int64{third, third, third}
	}
	if len(sizes) != 3 || min(sizes[0], sizes[1], sizes[2]) < 0 || sizes[0]+sizes[1]+sizes[2] != weights.Dims()[1] {
		c.Wrong("qkv_hidden_sizes is %v; want three that add up to the %d columns of the weights", sizes, weights.Dims()[1])
	}
	heads := c.Int("num_heads", 0)
	q := splitHeads(c, c.Slice(x, 2, 0, sizes[0]), heads, "num_heads")
	k := splitHeads(c, c.Slice(x, 2, sizes[0], sizes[0]+sizes[1]), heads, "num_heads")
	v := splitHeads(c, c.Slice(x, 2, sizes[0]+sizes[1], weights.Dims()[1]), heads, "num_heads")
	past := int64(0)
	if c.Has(4) {
		if c.X(4).Rank() != 5 {
			c.Wrong("the past has shape %s; want [2, batch, heads, length, size]", &c.X(4).Shape)
		}
		past = c.X(4).Dims()[3]
		k, v = c.Concat(2, c.Pick(c.X(4), 0, 0), k), c.Concat(2, c.Pick(c.X(4), 0, 1), v)
	}
	out := []*build.Value{attendMicrosoft(c, q, k, v, past, 3, 5)}
	if c.Wants(1) {
		out = append(out, c.Do(op.IDStack, build.With(op.StackAxis, 0), k, v))
	}
	return out
}

// The bias of queries, keys and values is one line, in this order; a sequence that has been projected before has none.

// multiHeadAttention is attention of queries, keys and values with their biases. Keys and values that have heads already are those of
// another sequence, whose bias was added before. Results: the output, all keys and all values.
func multiHeadAttention(c *build.Call) []*build.Value {
	if c.X(0).Rank() != 3 || !c.Has(1) || !c.Has(2) || c.Has(8) || c.Has(9) || c.Wants(3) {
		c.Refuse("queries, keys and values in one tensor, a past of a fixed length, or the scores as a result")
	}
	heads, parts, from := c.Int("num_heads", 0), [3]*build.Value{}, int64(0)
	for i := range parts {
		x := c.X(i)
		if x.Rank() == 3 {
			if width := x.Dims()[2]; c.Has(3) {
				x = c.Add(x, c.Slice(c.X(3), 0, from, from+width))
				from += width
			}
			x = splitHeads(c, x, heads, "num_heads")
		}
		parts[i] = x
	}
	q, k, v, past := parts[0], parts[1], parts[2], int64(0)
	if c.Has(6) && c.Has(7) {
		if c.X(6).Rank() != 4 || c.X(7).Rank() != 4 {
			c.Wrong("the past has shapes %s and %s; want [batch, heads, length, size]", &c.X(6).Shape, &c.X(7).Shape)
		}
		past = c.X(6).Dims()[2]
		k, v = c.Concat(2, c.X(6), k), c.Concat(2, c.X(7), v)
	}
	return []*build.Value{attendMicrosoft(c, q, k, v, past, 4, 5), k, v}
}

// attendMicrosoft is the row. The mask, operand number mask, has integers: the number of keys that count, for each batch, or 0 for
// those that do not. These get attribute mask_filter_value added to their scores, as in onnxruntime, so that a query without keys has
// weights. The bias, operand number bias, is added as well.
func attendMicrosoft(c *build.Call, q, k, v *build.Value, past int64, mask, bias int) *build.Value {
	added := build.Absent()
	if c.Has(mask) {
		fill := c.Reals(q.DType, nil, []float64{c.Float("mask_filter_value", -10000)})
		added = c.Where(keysCounted(c, q, k, mask), zero(c, q.DType), fill)
	}
	if c.Has(bias) {
		b := c.Cast(c.X(bias), q.DType)
		if !added.IsAbsent() {
			b = c.Add(b, added)
		}
		added = b
	}
	scale := c.Float("scale", 0)
	if scale == 0 { // as where the attribute is missing
		scale = 1 / math.Sqrt(float64(q.Dims()[3]))
	}
	at := build.With(op.MaskedAttentionScale, scale, op.MaskedAttentionCausal, c.Yes("unidirectional", 0), op.MaskedAttentionPast, past, op.MaskedAttentionOpen, true)
	return together(c, c.Do(op.IDMaskedAttention, at, q, c.Cast(k, q.DType), c.Cast(v, q.DType), added, build.Absent()), true)
}

// keysCounted is which keys count by a mask of integers.
func keysCounted(c *build.Call, q, k *build.Value, mask int) *build.Value {
	x, m := c.X(mask), k.Dims()[2]
	switch d := x.Dims(); {
	case x.Rank() == 1 && d[0] == q.Dims()[0]:
		return c.Binary(op.IDLessThan, c.Steps(m, 3, 4), c.Reshape(c.Cast(x, dtype.Int64), d[0], 1, 1, 1))
	case x.Rank() == 2 && d[1] == m:
		return c.Unsqueeze(c.Binary(op.IDGreaterThan, x, build.Whole(0)), 1, 2)
	case x.Rank() == 3 && d[2] == m:
		return c.Unsqueeze(c.Binary(op.IDGreaterThan, x, build.Whole(0)), 1)
	}
	c.Refuse("a mask of shape %s beside %d keys; want [batch], [batch, keys] or [batch, length, keys]", &x.Shape, m)
	return nil
}
