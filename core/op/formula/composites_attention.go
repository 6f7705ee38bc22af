package formula

import (
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"

	"github.com/paddle-mps/paddle-mps/core/op/rows"
)

// Sequences: what belongs to attention beside the row attention, whose heads are the axis before the last two, and recurrent layers.
var attentionFormulas = []composite{
	{
		id: 507, kind: op.Composed, asFirst: true, python: &op.Python{Internal: true},
		formula: `fused_softmax_mask(x, mask) = softmax(x + mask, -1)`,
	},
	{
		id: 508, kind: op.Composed, asFirst: true, python: &op.Python{Internal: true},
		formula: `fused_softmax_mask_upper_triangle(x) = softmax(where(places(x, -1) > places(x, -2), -inf, x), -1)`,
	},
	{
		// A pair is the first and the second half of what is turned, or with interleaved two neighbours.
		id: 538, kind: op.Composed, asFirst: true, infer: op.Rules{likeFirst, turnedPairs}, onnx: "RotaryEmbedding-23",
		formula: `rotary_embedding(x, cos, sin, positions?, rotary_dim=0, interleaved=false) =
			n = rotary_dim == 0 ? size(x, 3) : rotary_dim
			first = numel(positions) == 1 & size(x, 2) > 1
			counted = reshape(positions, [1]) + reshape(places(x, 2), [-1])
			rows = checked(first ? counted : reshape(positions, [-1]), size(cos, 0))
			batches = numel(positions) == 1 ? 1 : size(positions, 0)
			shape = [batches, size(x, 2), size(cos, -1)]
			real = unsqueeze(part(given(positions) ? reshape(gather(cos, rows, 0), shape) : cos, -1, 0, n // 2), [1])
			imaginary = unsqueeze(part(given(positions) ? reshape(gather(sin, rows, 0), shape) : sin, -1, 0, n // 2), [1])
			pairs = reshape(part(x, 3, 0, n), sizes(x, 0, 3) + [n // 2, 2])
			a = interleaved ? squeeze(part(pairs, 4, 0, 1), [4]) : part(x, 3, 0, n // 2)
			b = interleaved ? squeeze(part(pairs, 4, 1, 2), [4]) : part(x, 3, n // 2, n)
			both = [real * a - imaginary * b, imaginary * a + real * b]
			turned = interleaved ? reshape(stack(both, 4), sizes(x, 0, 3) + [n]) : concat(both, 3)
			n == size(x, 3) ? turned : concat([turned, part(x, 3, n, none)], 3)`,
	},
	{
		// Token by token: the state decays, takes in the product of key and value, and is read by the query. With beta only that
		// part of the value is taken in that the key does not read from the state already, times beta.
		id: 539, kind: op.Composed, asFirst: true, infer: op.Rules{likeFirst, statedTokens},
		formula: `linear_attention(query, key, value, state?, decay?, beta?, scale=1.0) -> out, state =
			read = by_token(query, key, value, state, decay, beta, scale)
			[read, read[1]]`,
	},
	{
		// Without a cap it is the row attention.
		id: 540, kind: op.Composed, narrow: true, infer: op.Rules{attendedPositions},
		formula: `masked_attention(query, key, value, mask?, lengths?, scale=1.0, softcap=0.0, causal=false, past=0, left=-1, right=-1, open=false) =
			attended(query, key, value, mask, lengths, scale, softcap, causal, past, left, right, open)`,
	},
	{
		id: 541, kind: op.Composed, narrow: true, infer: op.Rules{attendedPositions},
		formula: `masked_attention_scores(query, key, value, mask?, lengths?, scale=1.0, softcap=0.0, causal=false, past=0, left=-1, right=-1, open=false, stage=3, precision=dtype) -> out, scores =
			made = attended_scores(query, key, value, mask, lengths, scale, softcap, causal, past, left, right, open, stage, precision)
			[made, made[1]]`,
	},
	{
		id: 547, kind: op.Composed, narrow: true, infer: op.Rules{steppedStates},
		formula: `recurrent(x, weight, h, cell?, bias?, peephole?, lengths?, weight_scale?, weight_zero?, kind="lstm", activations="sigmoid,tanh,tanh", alpha=floats, beta=floats, clip=0.0, linear=false, coupled=false, reverse=false) -> out, h, cell =
			made = stepped(x, weight, h, cell, bias, peephole, lengths, weight_scale, weight_zero, kind, activations, alpha, beta, clip, linear, coupled, reverse)
			[made, made[1], made[2]]`,
	},
}

// turnedPairs is the rule of rotary_embedding.
func turnedPairs(c *op.Inference) error {
	x, cos, sin, positions := &c.In[0].Shape, &c.In[1].Shape, &c.In[2].Shape, &c.In[3]
	n := c.Attr("rotary_dim").I
	if x.Rank != 4 || n < 0 || n%2 != 0 || !shape.IsSymbol(x.Dims[3]) && (n > x.Dims[3] || n == 0 && x.Dims[3]%2 != 0) {
		return status.Errorf(status.Invalid, "[%s] x has shape %s and rotary_dim is %d; want [batch, heads, length, size] and an even part of the size", c.Row.Name, x, n)
	}
	if n == 0 {
		n = x.Dims[3]
	}
	axes := 2
	if positions.Absent {
		axes = 3
	} else if !positions.DType.IsInt() {
		return status.Errorf(status.Unsupported, "[%s] positions are %s; want integers", c.Row.Name, positions.DType)
	}
	fit := cos.Rank == axes && !op.Unlike(cos, sin) && (shape.IsSymbol(n) || shape.IsSymbol(cos.Dims[axes-1]) || cos.Dims[axes-1] >= n/2)
	for i, d := range [...]int64{x.Dims[0], x.Dims[2]} {
		at := cos
		if !positions.Absent {
			at = &positions.Shape
		}
		fit = fit && at.Rank > i && (!op.Differ(at.Dims[i], d) || at.Dims[i] == 1)
	}
	if !positions.Absent && positions.Shape.Rank < 2 && positions.Shape.Numel() == 1 { // that of the first element
		fit = cos.Rank == axes && !op.Unlike(cos, sin)
	}
	if !fit {
		return status.Errorf(status.Invalid, "[%s] x has shape %s, cos %s and sin %s; want half the size for each place of [batch, length], or for each number that positions has there", c.Row.Name, x, cos, sin)
	}
	c.Out[0].Shape = *x
	return nil
}

// statedTokens is the rule of linear_attention.
func statedTokens(c *op.Inference) error {
	q, k, v := &c.In[0].Shape, &c.In[1].Shape, &c.In[2].Shape
	wrong := func(format string, args ...any) error {
		return status.Errorf(status.Invalid, "[%s] "+format, append([]any{c.Row.Name}, args...)...)
	}
	if q.Rank != 4 || k.Rank != 4 || v.Rank != 4 {
		return wrong("query has shape %s, key %s and value %s; want [batch, heads, tokens, size] of each", q, k, v)
	}
	heads := k.Dims[1]
	fit := !op.Differ(q.Dims[3], k.Dims[3]) && !op.Differ(heads, v.Dims[1])
	for _, axis := range [...]int{0, 2} {
		fit = fit && !op.Differ(q.Dims[axis], k.Dims[axis]) && !op.Differ(k.Dims[axis], v.Dims[axis])
	}
	if !fit || heads == 0 || !shape.IsSymbol(heads) && !shape.IsSymbol(q.Dims[1]) && q.Dims[1]%heads != 0 {
		return wrong("query has shape %s, key %s and value %s; want [batch, heads, tokens, size], [batch, n, tokens, size] and [batch, n, tokens, any size] for a divisor n of heads", q, k, v)
	}
	state := shape.Shape{Rank: 4}
	state.Dims[0], state.Dims[1], state.Dims[2], state.Dims[3] = q.Dims[0], heads, k.Dims[3], v.Dims[3]
	if given := &c.In[3]; !given.Absent && op.Unlike(&given.Shape, &state) {
		return wrong("state has shape %s; want %s", &given.Shape, &state)
	}
	for i, last := range map[int]int64{4: k.Dims[3], 5: 1} {
		full := *k
		full.Dims[3] = last
		if given := &c.In[i]; !given.Absent && (given.Shape.Rank != 4 || op.Differ(given.Shape.Dims[2], k.Dims[2]) || !spreads(&given.Shape, &full)) {
			return wrong("%s has shape %s; want one that broadcasts to %s", c.Row.In[i].Name, &given.Shape, &full)
		}
	}
	c.Out[0].Shape = *q
	c.Out[0].Shape.Dims[3] = v.Dims[3]
	c.Out = append(c.Out, op.Type{DType: wideOf(c.In[0].DType), Shape: state})
	return nil
}

// spreads reports whether a shape broadcasts to one of as many axes.
func spreads(s, to *shape.Shape) bool {
	for i, d := range s.Slice() {
		if d != 1 && op.Differ(d, to.Dims[i]) {
			return false
		}
	}
	return true
}

// readByToken computes linear_attention. The queries that share a state are rows of one matrix, so that one product reads it for all.
func readByToken(e *evaluation, args []*quantity) *quantity {
	given := func(i int) bool { return isGiven(e, args[i:i+1]).value.I != 0 }
	q, k, v := e.Scale(args[0].v, args[6].value.F), args[1].v, args[2].v
	s, wide, d := e.Shape(q), e.Shape(v), e.dtypeOf(q)
	b, readers, tokens, size, heads, width := s.Dims[0], s.Dims[1], s.Dims[2], s.Dims[3], wide.Dims[1], wide.Dims[3]
	full := shape.Shape{Rank: 4}
	copy(full.Dims[:], []int64{b, heads, size, width})
	state, decay := op.NoVar, op.NoVar
	if given(3) {
		state = args[3].v
	} else {
		state = e.Filled(&full, op.Value{Kind: op.Float}, d)
	}
	if given(4) {
		decay = e.Do(op.IDExp, nil, args[4].v)
	}
	turned := func(v op.Var) op.Var { return permute(e.Calls, v, []int64{0, 1, 3, 2}) }
	q = e.ranked(q, b, heads, readers/max(heads, 1), tokens, size)
	var read []op.Var
	for t := range tokens {
		at := func(v op.Var) op.Var { return between(e.Calls, v, 2, t, t+1) }
		key, taken := at(k), at(v)
		if decay != op.NoVar {
			state = e.Multiply(state, turned(at(decay)))
		}
		if given(5) {
			taken = e.Multiply(at(args[5].v), e.Subtract(taken, rows.Product(e.Calls, key, state, false, false)))
		}
		state = e.Add(state, e.Multiply(turned(key), taken)) // the outer product, by broadcasting
		line := e.ranked(between(e.Calls, q, 3, t, t+1), b, heads, readers/max(heads, 1), size)
		read = append(read, e.ranked(rows.Product(e.Calls, line, state, false, false), b, readers, 1, width))
	}
	if tokens == 0 {
		full.Dims[1], full.Dims[2] = readers, 0
		read = append(read, e.Filled(&full, op.Value{Kind: op.Float}, d))
	}
	out := e.Do(op.IDConcat, op.Attrs{{Kind: op.Int, I: 2}}, read...)
	if !given(3) && tokens == 0 {
		return &quantity{v: out, results: []op.Var{out, state}}
	}
	return &quantity{v: out, results: []op.Var{out, e.Do(op.IDAssign, nil, state)}}
}
