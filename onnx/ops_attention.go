package onnx

import (
	"math"
	"slices"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
)

// Attention and what belongs to it.
//
// It is one call of the row, or where something else is done to the scores, or is asked for, a product, a softmax and another product
// with masks between them.

var attentions = []entry{
	// Attention: Q, K, V, mask, past key, past value, lengths.
	{"Attention", 23, 0, attention},
	// RotaryEmbedding: X, cos, sin, positions.
	{"RotaryEmbedding", 23, 0, rotaryEmbedding},
	// RotaryEmbedding: X, positions, cos, sin.
	{"com.microsoft:RotaryEmbedding", 1, 0, rotaryMicrosoft},
}

// split3 is a tensor [batch, sequence, heads * size] as [batch, heads, sequence, size]; one of 4 axes stays.
// Queries, keys and values come in both forms; the second needs an attribute for the number of heads.
func (c *call) heads(x *value, heads int64, name string) *value {
	if x.rank() == 4 {
		return x
	}
	if x.rank() != 3 || heads < 1 || x.dims()[2]%heads != 0 {
		c.wrong("shape %s does not have %d heads (%s)", &x.Shape, heads, name)
	}
	d := x.dims()
	return c.swap(c.reshape(x, d[0], d[1], heads, d[2]/heads), 1, 2)
}

// repeated is a tensor with each head n times. Groups of query heads share a key and value head: head i of the
// result is head i / n.
func (c *call) repeated(x *value, n int64) *value {
	if n == 1 {
		return x
	}
	d := x.dims()
	return c.reshape(c.expand(c.unsqueeze(x, 2), d[0], d[1], n, d[2], d[3]), d[0], d[1]*n, d[2], d[3])
}

// attention is softmax(Q K' * scale + mask) V, with the keys and values of earlier calls in front. Operands: Q, K,
// V, mask, past key, past value, and for each batch how many keys count. Results: Y, all keys, all values, and the
// weights at the stage that attribute qk_matmul_output_mode names. The scale is split between Q and K, which keeps
// halves from overflow, as the function in ONNX has it. Group queries, causal masks, windows and softcap are attributes. A query
// that sees no key has weights of 0, and so a result of 0, as ONNX 1.23 says of all versions of the operator.
func attention(c *call) []*value {
	flat := c.x(0).rank() == 3
	q := c.heads(c.x(0), c.int("q_num_heads", 0), "q_num_heads")
	k, v := c.heads(c.x(1), c.int("kv_num_heads", 0), "kv_num_heads"), c.heads(c.x(2), c.int("kv_num_heads", 0), "kv_num_heads")
	if c.has(4) != c.has(5) || c.has(4) && c.has(6) {
		c.wrong("past_key is given: %t, past_value: %t, nonpad_kv_seqlen: %t; want both of the past, or lengths, or none", c.has(4), c.has(5), c.has(6))
	}
	past := int64(0)
	if c.has(4) {
		past = c.x(4).dims()[2]
		k, v = c.concat(2, c.x(4), k), c.concat(2, c.x(5), v)
	}
	keys, values := k, v
	scale := c.float("scale", 1/math.Sqrt(float64(q.dims()[3])))
	d := q.DType
	if p := c.int("softmax_precision", 0); p != 0 {
		d = c.elem("softmax_precision", d)
	}
	if d == q.DType && k.DType == d && v.DType == d && c.float("softcap", 0) == 0 && !c.wants(3) {
		return []*value{c.together(c.attend(q, k, v, scale, past), flat), keys, values}
	}
	groups := q.dims()[1] / max(k.dims()[1], 1)
	k, v = c.repeated(k, groups), c.repeated(v, groups)
	scale = math.Sqrt(scale)
	raw := c.do(op.IDMatmul, with(op.MatmulTransposeY, true), c.mul(q, num(scale)), c.mul(k, num(scale)))
	capped := raw
	if s := c.float("softcap", 0); s != 0 {
		capped = c.mul(c.unary(op.IDTanh, c.div(raw, num(s))), num(s))
	}
	masked := capped
	allowed, bias := c.attentionMasks(q, k, past, c.yes("is_causal", 0))
	if allowed != nil || bias != nil {
		masked = c.add(capped, c.closed(allowed, bias, q.DType))
	}
	shares := c.emptied(c.cast(c.softmax(c.cast(masked, d), 3), q.DType), allowed, bias)
	y := c.together(c.matmul(shares, v), flat)
	shown := []*value{raw, capped, masked, shares}[min(max(c.int("qk_matmul_output_mode", 0), 0), 3)]
	return []*value{y, keys, values, shown}
}

// together is a result with heads as one axis with the elements, where the operands have them so.
func (c *call) together(y *value, flat bool) *value {
	if !flat {
		return y
	}
	s := y.dims()
	return c.reshape(c.swap(y, 1, 2), s[0], s[2], s[1]*s[3])
}

// attend is the row. A causal mask that begins at the first key is an attribute of it, and one of bools an operand.
func (c *call) attend(q, k, v *value, scale float64, past int64) *value {
	causal := c.yes("is_causal", 0)
	first := causal && past == 0 && !c.has(6)
	allowed, bias := c.attentionMasks(q, k, past, causal && !first)
	mask := allowed
	if bias != nil {
		mask = c.closed(allowed, bias, q.DType)
	}
	if mask == nil {
		mask = absent()
	}
	y := c.do(op.IDAttention, with(op.AttentionScale, scale, op.AttentionCausal, first), q, k, v, mask)
	if !c.has(3) && !c.has(6) && (c.reach("left_window_size") < 0 || past+q.dims()[2] <= k.dims()[2]) {
		return y // each query sees the first key or that at its position
	}
	if first {
		allowed, bias = c.attentionMasks(q, k, past, true)
	}
	return c.emptied(y, allowed, bias)
}

// attentionMasks are where a query may see a key, and a mask that is added; nil where there is none. Query i is at position
// offset + i of the keys: behind those of the past or, of keys that are a whole cache, at the end of those that count. A causal mask
// lets it see the keys up to its position; windows, those at most so many places to its left and right. A mask that is shorter than
// the keys ends with positions that are not seen.
func (c *call) attentionMasks(q, k *value, past int64, causal bool) (allowed, bias *value) {
	n, m := q.dims()[2], k.dims()[2]
	also := func(v *value) {
		if allowed == nil {
			allowed = v
		} else {
			allowed = c.binary(op.IDLogicalAnd, allowed, v)
		}
	}
	position, columns := c.add(c.steps(n, 0, 2), whole(past)), c.steps(m, 1, 2)
	if c.has(6) {
		lengths := c.reshape(c.cast(c.x(6), dtype.Int64), c.x(6).Shape.Numel(), 1, 1, 1)
		position = c.add(c.steps(n, 2, 4), c.sub(lengths, whole(n)))
		also(c.binary(op.IDLessThan, c.steps(m, 3, 4), lengths))
	}
	if causal {
		also(c.binary(op.IDLessEqual, columns, position))
	}
	if left := c.reach("left_window_size"); left >= 0 {
		also(c.binary(op.IDGreaterEqual, columns, c.sub(position, whole(left))))
	}
	if right := c.reach("right_window_size"); right >= 0 {
		also(c.binary(op.IDLessEqual, columns, c.add(position, whole(right))))
	}
	if c.has(3) {
		mask := c.x(3)
		if short := m - mask.dims()[mask.rank()-1]; short > 0 {
			fill := num(math.Inf(-1))
			if mask.DType == dtype.Bool {
				fill = numberOf(op.Value{Kind: op.Bool})
			}
			mask = c.padAxis(mask, mask.rank()-1, 0, short, fill)
		}
		if mask.DType == dtype.Bool {
			also(mask)
		} else {
			bias = c.cast(mask, q.DType)
		}
	}
	return allowed, bias
}

// reach is how many keys beside its position a query sees on one side; -1 is all of them.
func (c *call) reach(name string) int64 {
	size := c.int(name, -1)
	if size < -1 {
		c.wrong("%s is %d; want -1 or more", name, size)
	}
	return min(size, math.MaxInt32) // positions are added to it
}

// emptied is results or weights [batch, heads, queries, ...] with 0 for queries that masks leave without a key, where a softmax over
// nothing gives NaN.
func (c *call) emptied(y, allowed, bias *value) *value {
	var open *value
	switch {
	case bias != nil:
		bias = c.closed(allowed, bias, bias.DType)
		open = c.binary(op.IDNotEqual, c.highest(bias, true, int64(bias.rank()-1)), num(math.Inf(-1)))
	case allowed != nil:
		open = c.do(op.IDAny, with(op.AnyAxis, []int64{int64(allowed.rank() - 1)}, op.AnyKeepdim, true), allowed)
	default:
		return y
	}
	if open.data != nil && !slices.Contains(open.data.Bytes, 0) {
		c.tainted = c.tainted || !open.fixed
		return y
	}
	return c.where(open, y, c.zero(y.DType))
}

// closed is what is added to the scores: 0 where a query may see a key and -inf where not, and the mask that is added. The row softmax
// turns -inf into a weight of 0, and a row of nothing else into NaN.
func (c *call) closed(allowed, bias *value, d dtype.DType) *value {
	if allowed == nil {
		return bias
	}
	closed := c.where(allowed, c.zero(d), c.reals(d, nil, []float64{math.Inf(-1)}))
	if bias == nil {
		return closed
	}
	return c.add(bias, closed)
}

// rotaryEmbedding turns pairs of elements by angles that depend on the position.
func rotaryEmbedding(c *call) []*value {
	var positions *value
	if c.has(3) {
		positions = c.x(3)
	}
	return one(c.rotate(c.x(0), c.x(1), c.x(2), positions))
}

// rotaryMicrosoft has its operands in another order; one position is that of the first element. The operands are X,
// positions, cos and sin. The caches of one token have the width of half a head.
func rotaryMicrosoft(c *call) []*value {
	x, positions := c.x(0), c.x(1)
	if positions.Shape.Numel() == 1 {
		b, n := x.dims()[0], x.dims()[x.rank()-2]
		positions = c.expand(c.add(c.steps(n, 1, 2), c.reshape(positions)), b, n)
	}
	return one(c.rotate(x, c.x(2), c.x(3), positions))
}

// rotate is x [batch, heads, sequence, size], or with heads and size as one axis at the end. cos and sin have a row
// for each position; without positions they have one for each batch and element. The elements behind attribute
// rotary_embedding_dim are left as they are. A pair is the first and the second half of a head, or with attribute
// interleaved two neighbours.
func (c *call) rotate(x, cos, sin, positions *value) *value {
	shape := slices.Clone(x.dims())
	flat := x.rank() == 3
	if flat {
		size := c.int("num_heads", 0)
		if size == 0 && positions != nil && cos.rank() == 2 { // onnxruntime: heads follow from the caches
			size = shape[2] / (2 * cos.dims()[1])
		}
		x = c.heads(x, size, "num_heads")
	}
	if x.rank() != 4 {
		c.wrong("the operand has %d dimensions; want 3 or 4", x.rank())
	}
	turned := c.int("rotary_embedding_dim", 0)
	if turned == 0 {
		turned = x.dims()[3]
	}
	rest := c.slice(x, 3, min(turned, x.dims()[3]), x.dims()[3])
	x = c.slice(x, 3, 0, min(turned, x.dims()[3]))
	angle := func(v *value) *value { // [batch, 1, sequence, turned / 2]
		if positions != nil {
			v = c.gathered(v, c.fromStart(positions, v.dims()[0]), 0)
		}
		return c.unsqueeze(c.slice(v, v.rank()-1, 0, turned/2), 1)
	}
	cosine, sine := angle(cos), angle(sin)
	d := x.dims()
	var a, b *value
	pairs := c.yes("interleaved", 0)
	if pairs {
		both := c.reshape(x, d[0], d[1], d[2], d[3]/2, 2)
		a, b = c.pick(both, 4, 0), c.pick(both, 4, 1)
	} else {
		a, b = c.slice(x, 3, 0, d[3]/2), c.slice(x, 3, d[3]/2, d[3])
	}
	real := c.sub(c.mul(cosine, a), c.mul(sine, b))
	imaginary := c.add(c.mul(sine, a), c.mul(cosine, b))
	var y *value
	if pairs {
		y = c.reshape(c.do(op.IDStack, with(op.StackAxis, 4), real, imaginary), d...)
	} else {
		y = c.concat(3, real, imaginary)
	}
	if rest.Shape.Numel() > 0 {
		y = c.concat(3, y, rest)
	}
	if flat {
		y = c.swap(y, 1, 2)
	}
	return c.reshape(y, shape...)
}
