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

// repeated is a tensor with each head n times. Groups of query heads share a key and value head: head i of the
// result is head i / n.
func repeated(c *build.Call, x *build.Value, n int64) *build.Value {
	if n == 1 {
		return x
	}
	d := x.Dims()
	return c.Reshape(c.Expand(c.Unsqueeze(x, 2), d[0], d[1], n, d[2], d[3]), d[0], d[1]*n, d[2], d[3])
}

// attention is softmax(Q K' * scale + mask) V, with the keys and values of earlier calls in front. Operands: Q, K,
// V, mask, past key, past value, and for each batch how many keys count. Results: Y, all keys, all values, and the
// weights at the stage that attribute qk_matmul_output_mode names. The scale is split between Q and K, which keeps
// halves from overflow, as the function in ONNX has it. Group queries, causal masks, windows and softcap are attributes. A query
// that sees no key has weights of 0, and so a result of 0, as ONNX 1.23 says of all versions of the operator.
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
	keys, values := k, v
	scale := c.Float("scale", 1/math.Sqrt(float64(q.Dims()[3])))
	d := q.DType
	if p := c.Int("softmax_precision", 0); p != 0 {
		d = c.Elem("softmax_precision", d)
	}
	if d == q.DType && k.DType == d && v.DType == d && c.Float("softcap", 0) == 0 && !c.Wants(3) {
		return []*build.Value{together(c, attend(c, q, k, v, scale, past), flat), keys, values}
	}
	groups := q.Dims()[1] / max(k.Dims()[1], 1)
	k, v = repeated(c, k, groups), repeated(c, v, groups)
	scale = math.Sqrt(scale)
	raw := c.Do(op.IDMatmul, build.With(op.MatmulTransposeY, true), c.Mul(q, build.Num(scale)), c.Mul(k, build.Num(scale)))
	capped := raw
	if s := c.Float("softcap", 0); s != 0 {
		capped = c.Mul(c.Unary(op.IDTanh, c.Div(raw, build.Num(s))), build.Num(s))
	}
	masked := capped
	allowed, bias := attentionMasks(c, q, k, past, c.Yes("is_causal", 0))
	if allowed != nil || bias != nil {
		masked = c.Add(capped, closed(c, allowed, bias, q.DType))
	}
	shares := emptied(c, c.Cast(c.Softmax(c.Cast(masked, d), 3), q.DType), allowed, bias)
	y := together(c, c.Matmul(shares, v), flat)
	shown := []*build.Value{raw, capped, masked, shares}[min(max(c.Int("qk_matmul_output_mode", 0), 0), 3)]
	return []*build.Value{y, keys, values, shown}
}

// together is a result with heads as one axis with the elements, where the operands have them so.
func together(c *build.Call, y *build.Value, flat bool) *build.Value {
	if !flat {
		return y
	}
	s := y.Dims()
	return c.Reshape(c.Swap(y, 1, 2), s[0], s[2], s[1]*s[3])
}

// attend is the row. A causal mask that begins at the first key is an attribute of it, and one of bools an operand.
func attend(c *build.Call, q, k, v *build.Value, scale float64, past int64) *build.Value {
	causal := c.Yes("is_causal", 0)
	first := causal && past == 0 && !c.Has(6)
	allowed, bias := attentionMasks(c, q, k, past, causal && !first)
	mask := allowed
	if bias != nil {
		mask = closed(c, allowed, bias, q.DType)
	}
	if mask == nil {
		mask = build.Absent()
	}
	y := c.Do(op.IDAttention, build.With(op.AttentionScale, scale, op.AttentionCausal, first), q, k, v, mask)
	if !c.Has(3) && !c.Has(6) && (reach(c, "left_window_size") < 0 || past+q.Dims()[2] <= k.Dims()[2]) {
		return y // each query sees the first key or that at its position
	}
	if first {
		allowed, bias = attentionMasks(c, q, k, past, true)
	}
	return emptied(c, y, allowed, bias)
}

// attentionMasks are where a query may see a key, and a mask that is added; nil where there is none. Query i is at position
// offset + i of the keys: behind those of the past or, of keys that are a whole cache, at the end of those that count. A causal mask
// lets it see the keys up to its position; windows, those at most so many places to its left and right. A mask that is shorter than
// the keys ends with positions that are not seen.
func attentionMasks(c *build.Call, q, k *build.Value, past int64, causal bool) (allowed, bias *build.Value) {
	n, m := q.Dims()[2], k.Dims()[2]
	also := func(v *build.Value) {
		if allowed == nil {
			allowed = v
		} else {
			allowed = c.Binary(op.IDLogicalAnd, allowed, v)
		}
	}
	position, columns := c.Add(c.Steps(n, 0, 2), build.Whole(past)), c.Steps(m, 1, 2)
	if c.Has(6) {
		lengths := c.Reshape(c.Cast(c.X(6), dtype.Int64), c.X(6).Shape.Numel(), 1, 1, 1)
		position = c.Add(c.Steps(n, 2, 4), c.Sub(lengths, build.Whole(n)))
		also(c.Binary(op.IDLessThan, c.Steps(m, 3, 4), lengths))
	}
	if causal {
		also(c.Binary(op.IDLessEqual, columns, position))
	}
	if left := reach(c, "left_window_size"); left >= 0 {
		also(c.Binary(op.IDGreaterEqual, columns, c.Sub(position, build.Whole(left))))
	}
	if right := reach(c, "right_window_size"); right >= 0 {
		also(c.Binary(op.IDLessEqual, columns, c.Add(position, build.Whole(right))))
	}
	if c.Has(3) {
		mask := c.X(3)
		if short := m - mask.Dims()[mask.Rank()-1]; short > 0 {
			fill := op.Value{Kind: op.Float, F: math.Inf(-1)}
			if mask.DType == dtype.Bool {
				fill = op.Value{Kind: op.Bool}
			}
			mask = padAxis(c, mask, mask.Rank()-1, 0, short, fill)
		}
		if mask.DType == dtype.Bool {
			also(mask)
		} else {
			bias = c.Cast(mask, q.DType)
		}
	}
	return allowed, bias
}

// reach is how many keys beside its position a query sees on one side; -1 is all of them.
func reach(c *build.Call, name string) int64 {
	size := c.Int(name, -1)
	if size < -1 {
		c.Wrong("%s is %d; want -1 or more", name, size)
	}
	return min(size, math.MaxInt32) // positions are added to it
}

// emptied is results or weights [batch, heads, queries, ...] with 0 for queries that masks leave without a key, where a softmax over
// nothing gives NaN.
func emptied(c *build.Call, y, allowed, bias *build.Value) *build.Value {
	var open *build.Value
	switch {
	case bias != nil:
		bias = closed(c, allowed, bias, bias.DType)
		open = c.Binary(op.IDNotEqual, c.Highest(bias, true, int64(bias.Rank()-1)), build.Num(math.Inf(-1)))
	case allowed != nil:
		open = c.Do(op.IDAny, build.With(op.AnyAxis, []int64{int64(allowed.Rank() - 1)}, op.AnyKeepdim, true), allowed)
	default:
		return y
	}
	if open.Data != nil && !slices.Contains(open.Data.Bytes, 0) {
		c.Tainted = c.Tainted || !open.Fixed
		return y
	}
	return c.Where(open, y, zero(c, y.DType))
}

// closed is what is added to the scores: 0 where a query may see a key and -inf where not, and the mask that is added. The row softmax
// turns -inf into a weight of 0, and a row of nothing else into NaN.
func closed(c *build.Call, allowed, bias *build.Value, d dtype.DType) *build.Value {
	if allowed == nil {
		return bias
	}
	closed := c.Where(allowed, zero(c, d), c.Reals(d, nil, []float64{math.Inf(-1)}))
	if bias == nil {
		return closed
	}
	return c.Add(bias, closed)
}

// rotaryEmbedding turns pairs of elements by angles that depend on the position.
func rotaryEmbedding(c *build.Call) []*build.Value {
	var positions *build.Value
	if c.Has(3) {
		positions = c.X(3)
	}
	return build.One(rotate(c, c.X(0), c.X(1), c.X(2), positions))
}

// rotaryMicrosoft has its operands in another order; one position is that of the first element. The operands are X,
// positions, cos and sin. The caches of one token have the width of half a head.
func rotaryMicrosoft(c *build.Call) []*build.Value {
	x, positions := c.X(0), c.X(1)
	if positions.Shape.Numel() == 1 {
		b, n := x.Dims()[0], x.Dims()[x.Rank()-2]
		positions = c.Expand(c.Add(c.Steps(n, 1, 2), c.Reshape(positions)), b, n)
	}
	return build.One(rotate(c, x, c.X(2), c.X(3), positions))
}

// rotate is x [batch, heads, sequence, size], or with heads and size as one axis at the end. cos and sin have a row
// for each position; without positions they have one for each batch and element. The elements behind attribute
// rotary_embedding_dim are left as they are. A pair is the first and the second half of a head, or with attribute
// interleaved two neighbours.
func rotate(c *build.Call, x, cos, sin, positions *build.Value) *build.Value {
	shape := slices.Clone(x.Dims())
	flat := x.Rank() == 3
	if flat {
		size := c.Int("num_heads", 0)
		if size == 0 && positions != nil && cos.Rank() == 2 { // onnxruntime: heads follow from the caches
			size = shape[2] / (2 * cos.Dims()[1])
		}
		x = splitHeads(c, x, size, "num_heads")
	}
	if x.Rank() != 4 {
		c.Wrong("the operand has %d dimensions; want 3 or 4", x.Rank())
	}
	turned := c.Int("rotary_embedding_dim", 0)
	if turned == 0 {
		turned = x.Dims()[3]
	}
	rest := c.Slice(x, 3, min(turned, x.Dims()[3]), x.Dims()[3])
	x = c.Slice(x, 3, 0, min(turned, x.Dims()[3]))
	angle := func(v *build.Value) *build.Value { // [batch, 1, sequence, turned / 2]
		if positions != nil {
			v = gathered(c, v, fromStart(c, positions, v.Dims()[0]), 0)
		}
		return c.Unsqueeze(c.Slice(v, v.Rank()-1, 0, turned/2), 1)
	}
	cosine, sine := angle(cos), angle(sin)
	d := x.Dims()
	var a, b *build.Value
	pairs := c.Yes("interleaved", 0)
	if pairs {
		both := c.Reshape(x, d[0], d[1], d[2], d[3]/2, 2)
		a, b = c.Pick(both, 4, 0), c.Pick(both, 4, 1)
	} else {
		a, b = c.Slice(x, 3, 0, d[3]/2), c.Slice(x, 3, d[3]/2, d[3])
	}
	real := c.Sub(c.Mul(cosine, a), c.Mul(sine, b))
	imaginary := c.Add(c.Mul(sine, a), c.Mul(cosine, b))
	var y *build.Value
	if pairs {
		y = c.Reshape(c.Do(op.IDStack, build.With(op.StackAxis, 4), real, imaginary), d...)
	} else {
		y = c.Concat(3, real, imaginary)
	}
	if rest.Shape.Numel() > 0 {
		y = c.Concat(3, y, rest)
	}
	if flat {
		y = c.Swap(y, 1, 2)
	}
	return c.Reshape(y, shape...)
}
