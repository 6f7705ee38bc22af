package onnx

import (
	"math"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
)

// Attention as onnxruntime's optimizer writes it: operators of com.microsoft that have the bias of the projections, or these as a
// whole, and masks of integers.

var multiHeads = []entry{
	// Attention: input, weights, bias, mask, past, attention bias.
	{"com.microsoft:Attention", 1, 0, projectedAttention},
	// MultiHeadAttention: query, key, value, bias, padding mask, attention bias, past key, past value.
	{"com.microsoft:MultiHeadAttention", 1, 0, multiHeadAttention},
}

// Refused are queries, keys and values in one tensor, rotary embeddings inside of the operator, and a past in memory of a fixed length,
// into which onnxruntime writes; and masks of other shapes than those of attendMicrosoft.

// projectedAttention is attention of three projections of the input, which one matrix of weights makes side by side. Results: the
// output, and the keys and values, earlier ones in front, in one tensor.
func projectedAttention(c *call) []*value {
	if c.yes("do_rotary", 0) || c.yes("past_present_share_buffer", 0) || c.has(6) {
		c.refuse("attention with rotary embeddings or a past of a fixed length")
	}
	weights := c.x(1)
	if weights.rank() != 2 || c.x(0).rank() != 3 {
		c.wrong("the input has shape %s and the weights %s; want [batch, length, size] and a matrix", &c.x(0).Shape, &weights.Shape)
	}
	x := c.matmul(c.x(0), weights)
	if c.has(2) {
		x = c.add(x, c.x(2))
	}
	sizes := c.list("qkv_hidden_sizes")
	if len(sizes) == 0 {
		third := weights.dims()[1] / 3
		sizes = []int64{third, third, third}
	}
	if len(sizes) != 3 || min(sizes[0], sizes[1], sizes[2]) < 0 || sizes[0]+sizes[1]+sizes[2] != weights.dims()[1] {
		c.wrong("qkv_hidden_sizes is %v; want three that add up to the %d columns of the weights", sizes, weights.dims()[1])
	}
	heads := c.int("num_heads", 0)
	q := c.heads(c.slice(x, 2, 0, sizes[0]), heads, "num_heads")
	k := c.heads(c.slice(x, 2, sizes[0], sizes[0]+sizes[1]), heads, "num_heads")
	v := c.heads(c.slice(x, 2, sizes[0]+sizes[1], weights.dims()[1]), heads, "num_heads")
	past := int64(0)
	if c.has(4) {
		if c.x(4).rank() != 5 {
			c.wrong("the past has shape %s; want [2, batch, heads, length, size]", &c.x(4).Shape)
		}
		past = c.x(4).dims()[3]
		k, v = c.concat(2, c.pick(c.x(4), 0, 0), k), c.concat(2, c.pick(c.x(4), 0, 1), v)
	}
	out := []*value{c.attendMicrosoft(q, k, v, past, 3, 5)}
	if c.wants(1) {
		out = append(out, c.do(op.IDStack, with(op.StackAxis, 0), k, v))
	}
	return out
}

// The bias of queries, keys and values is one line, in this order; a sequence that has been projected before has none.

// multiHeadAttention is attention of queries, keys and values with their biases. Keys and values that have heads already are those of
// another sequence, whose bias was added before. Results: the output, all keys and all values.
func multiHeadAttention(c *call) []*value {
	if c.x(0).rank() != 3 || !c.has(1) || !c.has(2) || c.has(8) || c.has(9) || c.wants(3) {
		c.refuse("queries, keys and values in one tensor, a past of a fixed length, or the scores as a result")
	}
	heads, parts, from := c.int("num_heads", 0), [3]*value{}, int64(0)
	for i := range parts {
		x := c.x(i)
		if x.rank() == 3 {
			if width := x.dims()[2]; c.has(3) {
				x = c.add(x, c.slice(c.x(3), 0, from, from+width))
				from += width
			}
			x = c.heads(x, heads, "num_heads")
		}
		parts[i] = x
	}
	q, k, v, past := parts[0], parts[1], parts[2], int64(0)
	if c.has(6) && c.has(7) {
		if c.x(6).rank() != 4 || c.x(7).rank() != 4 {
			c.wrong("the past has shapes %s and %s; want [batch, heads, length, size]", &c.x(6).Shape, &c.x(7).Shape)
		}
		past = c.x(6).dims()[2]
		k, v = c.concat(2, c.x(6), k), c.concat(2, c.x(7), v)
	}
	return []*value{c.attendMicrosoft(q, k, v, past, 4, 5), k, v}
}

// attendMicrosoft is the row. The mask, operand number mask, has integers: the number of keys that count, for each batch, or 0 for
// those that do not. These get attribute mask_filter_value added to their scores, as in onnxruntime, so that a query without keys has
// weights. The bias, operand number bias, is added as well.
func (c *call) attendMicrosoft(q, k, v *value, past int64, mask, bias int) *value {
	causal := c.yes("unidirectional", 0)
	var added *value
	if c.has(mask) {
		fill := c.reals(q.DType, nil, []float64{c.float("mask_filter_value", -10000)})
		added = c.where(c.keysCounted(q, k, mask), c.zero(q.DType), fill)
	}
	if c.has(bias) {
		b := c.cast(c.x(bias), q.DType)
		if added != nil {
			b = c.add(b, added)
		}
		added = b
	}
	if causal && past != 0 { // the row counts from the first key
		seen := c.binary(op.IDLessEqual, c.steps(k.dims()[2], 1, 2), c.add(c.steps(q.dims()[2], 0, 2), whole(past)))
		added = c.closed(seen, added, q.DType)
	}
	if added == nil {
		added = absent()
	}
	scale := c.float("scale", 0)
	if scale == 0 { // as where the attribute is missing
		scale = 1 / math.Sqrt(float64(q.dims()[3]))
	}
	// A causal mask that begins at the first key is an attribute, beside which the row takes any other mask.
	y := c.do(op.IDAttention, with(op.AttentionScale, scale, op.AttentionCausal, causal && past == 0), q, k, v, added)
	return c.together(y, true)
}

// keysCounted is which keys count by a mask of integers.
func (c *call) keysCounted(q, k *value, mask int) *value {
	x, m := c.x(mask), k.dims()[2]
	switch d := x.dims(); {
	case x.rank() == 1 && d[0] == q.dims()[0]:
		return c.binary(op.IDLessThan, c.steps(m, 3, 4), c.reshape(c.cast(x, dtype.Int64), d[0], 1, 1, 1))
	case x.rank() == 2 && d[1] == m:
		return c.unsqueeze(c.binary(op.IDGreaterThan, x, whole(0)), 1, 2)
	case x.rank() == 3 && d[2] == m:
		return c.unsqueeze(c.binary(op.IDGreaterThan, x, whole(0)), 1)
	}
	c.refuse("a mask of shape %s beside %d keys; want [batch], [batch, keys] or [batch, length, keys]", &x.Shape, m)
	return nil
}
