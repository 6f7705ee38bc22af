package ops

import (
	"math"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/onnx/build"
)

// Attention as onnxruntime's optimizer writes it: operators of com.microsoft that have the bias of the projections, or these as a
// whole, and masks of integers.

var multiHeads = []entry{
	{"com.microsoft:Attention", 1, 0, projectedAttention},          // input, weights, bias, mask, past, attention bias
	{"com.microsoft:MultiHeadAttention", 1, 0, multiHeadAttention}, // query, key, value, bias, padding mask, attention bias, past key, past value
}

// Refused are queries, keys and values in one tensor, rotary embeddings inside of the operator, and a past in memory of a fixed length,
// into which onnxruntime writes; and masks of other shapes than those of attendMicrosoft.

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
