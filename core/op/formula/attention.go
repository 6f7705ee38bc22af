package formula

import (
	"math"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/op/rows"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// Attention with masks that follow from positions.
//
// Query i is at position past + i of the keys or, of keys that are a whole cache, at the end of those that count. A causal mask lets
// it see the keys up to its position; windows, those at most so many places to its left and right. A mask that is shorter than the
// keys ends with positions that are not seen. A query that sees no key has weights of 0, and so a result of 0.

// The attributes of both rows, in their order, behind operands query, key, value, mask and lengths.
const (
	attendingScale = 5 + iota
	attendingSoftcap
	attendingCausal
	attendingPast
	attendingLeft
	attendingRight
	attendingOpen
	attendingStage
	attendingPrecision
)

// mostReach bounds windows: positions are added to them.
const mostReach = math.MaxInt32

// attendedPositions is the rule of both rows.
func attendedPositions(c *op.Inference) error {
	if err := likeFirst(c); err != nil {
		return err
	}
	q, k, v, mask, lengths := &c.In[0], &c.In[1], &c.In[2], &c.In[3], &c.In[4]
	s, m := q.Shape, k.Shape.Dims[2]
	if s.Rank != 4 || k.Shape.Rank != 4 || v.Shape.Rank != 4 || k.DType != q.DType || v.DType != q.DType ||
		op.Differ(s.Dims[0], k.Shape.Dims[0]) || op.Differ(s.Dims[0], v.Shape.Dims[0]) || op.Differ(s.Dims[3], k.Shape.Dims[3]) ||
		op.Differ(k.Shape.Dims[1], v.Shape.Dims[1]) || op.Differ(m, v.Shape.Dims[2]) || !divides(k.Shape.Dims[1], s.Dims[1]) {
		return status.Errorf(status.Invalid, "[%s] query has shape %s, key %s and value %s, of %s, %s and %s; want one dtype, [batch, heads, length, size], [batch, n, keys, size] and [batch, n, keys, any size] for a divisor n of heads",
			c.Row.Name, &s, &k.Shape, &v.Shape, q.DType, k.DType, v.DType)
	}
	scores := s
	scores.Dims[3] = m
	if !mask.Absent {
		at := mask.Shape
		last := at.Rank - 1
		if last >= 0 && (shape.IsSymbol(m) || shape.IsSymbol(at.Dims[last]) || at.Dims[last] < m) {
			at.Dims[last] = 1 // it may be shorter than the keys
		}
		if both, err := c.Broadcast(&scores, &at); err != nil || op.Unlike(&both, &scores) || mask.DType != dtype.Bool && !mask.DType.IsFloat() {
			return status.Errorf(status.Invalid, "[%s] mask is %s%s; want bools or floats that broadcast to %s", c.Row.Name, mask.DType, &mask.Shape, &scores)
		}
	}
	if !lengths.Absent && (!lengths.DType.IsInt() || op.Differ(lengths.Shape.Numel(), s.Dims[0])) {
		return status.Errorf(status.Invalid, "[%s] lengths is %s%s; want an integer for each of %d batches", c.Row.Name, lengths.DType, &lengths.Shape, s.Dims[0])
	}
	for _, name := range [...]string{"past", "left", "right"} {
		if n := c.Attr(name).I; n < -1 || n > mostReach || n < 0 && name == "past" {
			return status.Errorf(status.Invalid, "[%s] %s is %d; want 0 to %d, or -1 for no window", c.Row.Name, name, n, mostReach)
		}
	}
	c.Out[0].Shape = s
	c.Out[0].Shape.Dims[3] = v.Shape.Dims[3]
	if len(c.Row.Out) > 1 {
		if n := c.Attr("stage").I; n < 0 || n > 3 {
			return status.Errorf(status.Invalid, "[%s] stage is %d; want 0 to 3", c.Row.Name, n)
		}
		c.Out = append(c.Out, op.Type{DType: q.DType, Shape: scores})
	}
	return nil
}

// divides reports whether one of two dimensions may divide the other.
func divides(n, d int64) bool {
	return shape.IsSymbol(n) || shape.IsSymbol(d) || n == d || n > 0 && d%n == 0
}

// attending is a call of one of the rows.
type attending struct {
	*evaluation
	q, k, v, mask, lengths  op.Var // NoVar where one is left out
	n, m, past, left, right int64
	scale, softcap          float64
	causal, open            bool
}

func attendingOf(e *evaluation, args []*quantity) *attending {
	given := func(i int) op.Var {
		if isGiven(e, args[i:i+1]).value.I == 0 {
			return op.NoVar
		}
		return args[i].v
	}
	a := &attending{
		evaluation: e, q: args[0].v, k: args[1].v, v: args[2].v, mask: given(3), lengths: given(4),
		softcap: args[attendingSoftcap].value.F, causal: args[attendingCausal].value.I != 0, past: args[attendingPast].value.I,
		left: args[attendingLeft].value.I, right: args[attendingRight].value.I, open: args[attendingOpen].value.I != 0,
	}
	q, k := e.Shape(a.q), e.Shape(a.k)
	a.n, a.m, a.scale = q.Dims[2], k.Dims[2], args[attendingScale].value.F
	return a
}

// maskedAttention computes masked_attention. A causal mask that begins at the first key is an attribute of the row attention, and
// one of bools an operand.
func maskedAttention(e *evaluation, args []*quantity) *quantity {
	a := attendingOf(e, args)
	if a.softcap != 0 {
		out, _ := a.throughScores(3, e.dtypeOf(a.q))
		return &quantity{v: out}
	}
	first := a.causal && a.past == 0 && a.lengths == op.NoVar
	allowed, bias := a.masks(a.causal && !first)
	mask := allowed
	if bias != op.NoVar {
		mask = a.closed(allowed, bias)
	}
	if mask == op.NoVar {
		mask = e.Number(op.Value{})
	}
	at := op.Attrs{op.AttentionScale: {Kind: op.Float, F: a.scale}, op.AttentionCausal: whether(first).value}
	y := e.Do(op.IDAttention, at, a.q, a.k, a.v, mask)
	if a.open || a.mask == op.NoVar && a.lengths == op.NoVar && a.seesAll() {
		return &quantity{v: y}
	}
	if first {
		allowed, bias = a.masks(true)
	}
	return &quantity{v: a.emptied(y, allowed, bias)}
}

// attentionWithScores computes masked_attention_scores.
func attentionWithScores(e *evaluation, args []*quantity) *quantity {
	a := attendingOf(e, args)
	d := e.dtypeOf(a.q)
	if p := args[attendingPrecision].value; p.Set() {
		d = dtype.DType(p.I)
	}
	out, scores := a.throughScores(args[attendingStage].value.I, d)
	return &quantity{v: out, results: []op.Var{out, scores}}
}

// throughScores is attention as a product, a softmax and another product. The scale is split between query and key, which keeps
// halves from overflow. Stages of scores are 0 of the product, 1 behind the cap, 2 behind masks, and 3 for the weights.
func (a *attending) throughScores(stage int64, d dtype.DType) (out, scores op.Var) {
	q, k, v := a.Scale(a.q, math.Sqrt(a.scale)), a.Scale(a.shared(a.k), math.Sqrt(a.scale)), a.shared(a.v)
	raw := rows.Product(a.Calls, q, k, false, true)
	capped := raw
	if a.softcap != 0 {
		capped = a.Scale(a.Do(op.IDTanh, nil, a.Divide(raw, a.Float(a.softcap))), a.softcap)
	}
	masked := capped
	allowed, bias := a.masks(a.causal)
	if allowed != op.NoVar || bias != op.NoVar {
		masked = a.Add(capped, a.closed(allowed, bias))
	}
	weights := a.Cast(a.Do(op.IDSoftmax, op.Attrs{op.SoftmaxAxis: {Kind: op.Int, I: 3}}, a.Cast(masked, d)), a.dtypeOf(a.q))
	if !a.open {
		weights = a.emptied(weights, allowed, bias)
	}
	return rows.Product(a.Calls, weights, v, false, false), []op.Var{raw, capped, masked, weights}[stage]
}

// shared is keys or values for each head of the query: neighbours share one.
func (a *attending) shared(x op.Var) op.Var {
	s, n := a.Shape(x), a.Shape(a.q).Dims[1]
	if a.Err != nil || s.Dims[1] == n {
		return x
	}
	line, full, all := shape.Shape{Rank: 5}, shape.Shape{Rank: 5}, s
	copy(line.Dims[:], []int64{s.Dims[0], s.Dims[1], 1, s.Dims[2], s.Dims[3]})
	full.Dims = line.Dims
	full.Dims[2], all.Dims[1] = n/max(s.Dims[1], 1), n
	return a.Reshape(a.Expand(a.Reshape(x, &line), &full), &all)
}

// seesAll reports whether each query sees a key by its position alone.
func (a *attending) seesAll() bool {
	for i := range a.n {
		at, from, to := a.past+i, int64(0), a.m-1
		if a.left >= 0 {
			from = max(at-a.left, 0)
		}
		if a.right >= 0 {
			to = min(to, at+a.right)
		}
		if a.causal {
			to = min(to, at)
		}
		if from > to {
			return false
		}
	}
	return true
}

// masks are where a query may see a key, and a mask that is added; NoVar where there is none.
func (a *attending) masks(causal bool) (allowed, bias op.Var) {
	allowed, bias = op.NoVar, op.NoVar
	also := func(row op.ID, x, y op.Var) {
		v := a.Do(row, nil, x, y)
		if allowed != op.NoVar {
			v = a.Do(op.IDLogicalAnd, nil, allowed, v)
		}
		allowed = v
	}
	columns := func() op.Var { return rows.Column(a.Calls, a.m, 2, 1) }
	position := func() op.Var {
		if a.lengths == op.NoVar {
			return a.Do(op.IDAdd, nil, rows.Column(a.Calls, a.n, 2, 0), a.Int(a.past))
		}
		return a.Do(op.IDAdd, nil, rows.Column(a.Calls, a.n, 4, 2), a.Do(op.IDSubtract, nil, a.counts(), a.Int(a.n)))
	}
	if a.lengths != op.NoVar {
		also(op.IDLessThan, rows.Column(a.Calls, a.m, 4, 3), a.counts())
	}
	if causal {
		also(op.IDLessEqual, columns(), position())
	}
	if a.left >= 0 {
		also(op.IDGreaterEqual, columns(), a.Do(op.IDSubtract, nil, position(), a.Int(a.left)))
	}
	if a.right >= 0 {
		also(op.IDLessEqual, columns(), a.Do(op.IDAdd, nil, position(), a.Int(a.right)))
	}
	if a.mask == op.NoVar || a.Err != nil {
		return allowed, bias
	}
	mask, s, d := a.mask, a.Shape(a.mask), a.dtypeOf(a.mask)
	if short := a.m - s.Dims[s.Rank-1]; s.Rank > 0 && short > 0 {
		fill := op.Value{Kind: op.Float, F: math.Inf(-1)}
		if d == dtype.Bool {
			fill = op.Value{Kind: op.Bool}
		}
		s.Dims[s.Rank-1] = short
		mask = a.Do(op.IDConcat, op.Attrs{{Kind: op.Int, I: int64(s.Rank - 1)}}, mask, a.Filled(&s, fill, d))
	}
	if d != dtype.Bool {
		return allowed, a.Cast(mask, a.dtypeOf(a.q))
	}
	if allowed == op.NoVar {
		return mask, bias
	}
	return a.Do(op.IDLogicalAnd, nil, allowed, mask), bias
}

// counts is how many keys count, [batch, 1, 1, 1].
func (a *attending) counts() op.Var {
	line := rows.Line(a.Shape(a.q).Dims[0], 4, 0)
	return a.Reshape(a.Cast(a.lengths, dtype.Int64), &line)
}

// closed is what is added to the scores: 0 where a query may see a key and -inf where not, and the mask that is added. The row
// softmax turns -inf into a weight of 0, and a line of nothing else into NaN.
func (a *attending) closed(allowed, bias op.Var) op.Var {
	if allowed == op.NoVar {
		return bias
	}
	number := func(f float64) op.Var {
		return a.Filled(&shape.Shape{}, op.Value{Kind: op.Float, F: f}, a.dtypeOf(a.q))
	}
	closed := a.Where(allowed, number(0), number(math.Inf(-1)))
	if bias == op.NoVar {
		return closed
	}
	return a.Add(bias, closed)
}

// emptied is results or weights [batch, heads, queries, ...] with 0 for queries that masks leave without a key.
func (a *attending) emptied(y, allowed, bias op.Var) op.Var {
	var seen op.Var
	last := op.Attrs{{Kind: op.Ints, Ints: []int64{-1}}, {Kind: op.Bool, I: 1}}
	switch {
	case bias != op.NoVar:
		seen = a.Do(op.IDNotEqual, nil, a.Do(op.IDMax, last, a.closed(allowed, bias)), a.Float(math.Inf(-1)))
	case allowed != op.NoVar:
		seen = a.Do(op.IDAny, last, allowed)
	default:
		return y
	}
	return a.Where(seen, y, a.Filled(&shape.Shape{}, op.Value{Kind: op.Float}, a.dtypeOf(y)))
}
