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
// It is one call of a row, beside which heads are split and joined, and keys and values of earlier calls put in front.

var attentions = []entry{
	// Attention: Q, K, V, mask, past key, past value, lengths.
	{"Attention", 23, 0, attention},
	// RotaryEmbedding: X, cos, sin, positions.
	{"RotaryEmbedding", 23, 0, rotaryEmbedding},
	// RotaryEmbedding: X, positions, cos, sin.
	{"com.microsoft:RotaryEmbedding", 1, 0, rotaryMicrosoft},
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
