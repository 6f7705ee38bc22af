package graph

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
)

// product is matmul with its transposes.
func (s speller) product(x, y Value, transposeX, transposeY int64) Value {
	return s.must(s.t, "matmul", op.Attrs{{Kind: op.Bool, I: transposeX}, {Kind: op.Bool, I: transposeY}}, x, y)
}

func (s speller) swapped(x Value, perm ...int64) Value {
	return s.must(s.t, "transpose", op.Attrs{ints(perm...)}, x)
}

func (s speller) along3(x Value) Value {
	return s.must(s.t, "softmax", op.Attrs{{Kind: op.Int, I: -1}}, x)
}

// heads are queries, keys and values of 2 heads, with 5 queries, 7 keys and 4 elements, and 3 of a value.
func (s speller) heads() (q, k, v Value) {
	return s.Input(typed(dtype.Float32, 1, 2, 5, 4)), s.Input(typed(dtype.Float32, 1, 2, 7, 4)), s.Input(typed(dtype.Float32, 1, 2, 7, 3))
}

// attentions are expressions, each of which becomes one call.
var attentions = map[string]func(s speller) Value{
	"attention_bert": func(s speller) Value { // of PyTorch: heads are cut from lines, and the keys transposed with them
		line := func() Value {
			x := s.Input(typed(dtype.Float32, 1, 5, 8))
			return s.must(s.t, "reshape", op.Attrs{ints(1, 5, 2, 4)}, x)
		}
		q, k, v := s.swapped(line(), 0, 2, 1, 3), s.swapped(line(), 0, 2, 3, 1), s.swapped(line(), 0, 2, 1, 3)
		scores := s.do("divide", s.product(q, k, 0, 0), s.f32(2))
		scores = s.do("add", scores, s.Input(typed(dtype.Float32, 1, 1, 1, 5)))
		out := s.swapped(s.product(s.along3(scores), v, 0, 0), 0, 2, 1, 3)
		return s.must(s.t, "reshape", op.Attrs{ints(1, 5, 8)}, out)
	},
	"attention_torch": func(s speller) Value { // scaled_dot_product_attention of PyTorch: both sides are multiplied
		q, k, v := s.heads()
		scores := s.product(s.do("multiply", q, s.f32(0.7)), s.do("multiply", s.swapped(k, 0, 1, 3, 2), s.scalar(0.7)), 0, 0)
		return s.product(s.along3(scores), v, 0, 0)
	},
	"attention_causal": func(s speller) Value {
		q, k, v := s.heads()
		scores := s.do("multiply", s.f32(0.5), s.product(q, k, 0, 1))
		hidden := s.must(s.t, "full", op.Attrs{op.FullFillValue: float(math.Inf(-1)), op.FullShape: ints(), op.FullDtype: {Kind: op.DType, I: int64(dtype.Float32)}})
		scores = s.do("where", s.Input(typed(dtype.Bool, 5, 7)), scores, hidden)
		return s.product(s.along3(scores), v, 0, 0)
	},
	"attention_filled": func(s speller) Value { // masked_fill: what the mask has is hidden
		q, k, v := s.heads()
		scores := s.do("where", s.Input(typed(dtype.Bool, 1, 1, 5, 7)), s.f32(-1e9), s.product(q, k, 0, 1))
		return s.product(s.must(s.t, "softmax", op.Attrs{{Kind: op.Int, I: 3}}, scores), v, 0, 0)
	},
	"attention_turned": func(s speller) Value { // everything is transposed by products, and the softmax spelled out
		q, k, v := s.Input(typed(dtype.Float32, 3, 4, 5)), s.Input(typed(dtype.Float32, 1, 4, 7)), s.Input(typed(dtype.Float32, 1, 2, 7))
		scores := s.do("add", s.Input(typed(dtype.Float32, 7)), s.product(q, k, 1, 0))
		weights, _ := s.softmax(-1, scores)
		return s.product(weights, s.must(s.t, "expand", op.Attrs{ints(1, 2, 7)}, v), 0, 1)
	},
}

// TestAttention shows expressions before and after.
func TestAttention(t *testing.T) {
	for name, build := range attentions {
		t.Run(name, func(t *testing.T) {
			b := NewBuilder()
			g := b.Build(build(speller{b, t}))
			before := g.String()
			after := g.Rewrite(Views | Common | Patterns | Attention | DeadCode)
			require.Equal(t, before, g.String(), "the graph that was given has changed")
			require.Equal(t, g.Outputs(), after.Outputs())
			require.Contains(t, rows(after), "attention")
			for _, left := range []string{"softmax", "matmul", "multiply", "divide", "add", "where"} {
				require.NotContains(t, rows(after), left)
			}
			require.NotContains(t, rows(g.Rewrite(AllPasses&^Attention)), "attention")
			golden(t, name, before+"\n"+after.String())
		})
	}
}

// TestAttentionThatIsNone has expressions that compute something else, or something that is read elsewhere.
func TestAttentionThatIsNone(t *testing.T) {
	plain := func(s speller) (scores, v Value) {
		q, k, v := s.heads()
		return s.product(q, k, 0, 1), v
	}
	for name, build := range map[string]func(s speller) []Value{
		"the weights are an output": func(s speller) []Value {
			scores, v := plain(s)
			w := s.along3(scores)
			return []Value{w, s.product(w, v, 0, 0)}
		},
		"the scores are read": func(s speller) []Value {
			scores, v := plain(s)
			return []Value{s.product(s.along3(scores), v, 0, 0), s.do("exp", scores)}
		},
		"the masked scores are read": func(s speller) []Value {
			scores, v := plain(s)
			scores = s.do("add", scores, s.Input(typed(dtype.Float32, 7)))
			return []Value{s.product(s.along3(scores), v, 0, 0), scores}
		},
		"another axis": func(s speller) []Value {
			scores, v := plain(s)
			return []Value{s.product(s.must(s.t, "softmax", op.Attrs{{Kind: op.Int, I: 1}}, scores), v, 0, 0)}
		},
		"the weights are transposed": func(s speller) []Value {
			scores, _ := plain(s)
			return []Value{s.product(s.along3(scores), s.Input(typed(dtype.Float32, 1, 2, 5, 3)), 1, 0)}
		},
		"weights on the right": func(s speller) []Value {
			scores, _ := plain(s)
			return []Value{s.product(s.Input(typed(dtype.Float32, 1, 2, 3, 5)), s.along3(scores), 0, 0)}
		},
		"two masks": func(s speller) []Value {
			scores, v := plain(s)
			for range 2 {
				scores = s.do("add", scores, s.Input(typed(dtype.Float32, 7)))
			}
			return []Value{s.product(s.along3(scores), v, 0, 0)}
		},
		"the mask is scaled": func(s speller) []Value {
			scores, v := plain(s)
			scores = s.do("multiply", s.do("add", scores, s.Input(typed(dtype.Float32, 7))), s.f32(2))
			return []Value{s.product(s.along3(scores), v, 0, 0)}
		},
		"the mask has more elements": func(s speller) []Value {
			scores, v := plain(s)
			return []Value{s.product(s.along3(s.do("add", scores, s.Input(typed(dtype.Float32, 2, 1, 1, 7)))), v, 0, 0)}
		},
		"the scale is a tensor": func(s speller) []Value {
			scores, v := plain(s)
			return []Value{s.product(s.along3(s.do("multiply", scores, s.Input(typed(dtype.Float32)))), v, 0, 0)}
		},
		"the scale is infinite": func(s speller) []Value {
			scores, v := plain(s)
			return []Value{s.product(s.along3(s.do("divide", scores, s.f32(0))), v, 0, 0)}
		},
		"a number over scores": func(s speller) []Value {
			scores, v := plain(s)
			return []Value{s.product(s.along3(s.do("divide", s.f32(2), scores)), v, 0, 0)}
		},
		"scores by a tensor": func(s speller) []Value {
			scores, v := plain(s)
			seen := s.Input(typed(dtype.Bool, 5, 7))
			return []Value{s.product(s.along3(s.do("where", seen, scores, s.Input(typed(dtype.Float32, 7)))), v, 0, 0)}
		},
		"one matrix of values for all heads": func(s speller) []Value {
			scores, _ := plain(s)
			return []Value{s.product(s.along3(scores), s.Input(typed(dtype.Float32, 7, 3)), 0, 0)}
		},
		"no batch": func(s speller) []Value {
			q, v := s.Input(typed(dtype.Float32, 5, 4)), s.Input(typed(dtype.Float32, 5, 3))
			return []Value{s.product(s.along3(s.product(q, q, 0, 1)), v, 0, 0)}
		},
		"more batches of values": func(s speller) []Value {
			scores, _ := plain(s)
			return []Value{s.product(s.along3(scores), s.Input(typed(dtype.Float32, 3, 2, 7, 3)), 0, 0)}
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := NewBuilder()
			s := speller{b, t}
			g := b.Build(build(s)...).Rewrite(Common)
			require.Same(t, g, g.Rewrite(Attention), "%s", g)
		})
	}
}

// The numbers of a product of factors, whichever side they stand on.
func TestAttentionScale(t *testing.T) {
	b := NewBuilder()
	s := speller{b, t}
	q, k, v := s.heads()
	q = s.do("divide", s.do("multiply", s.scalar(3), q), s.f32(2))
	scores := s.do("divide", s.do("multiply", s.product(q, s.do("multiply", k, s.f32(5)), 0, 1), s.scalar(7)), s.constant(dtype.Float32, 4, 1, 1))
	g := b.Build(s.product(s.along3(scores), v, 0, 0)).Rewrite(AllPasses)
	require.Equal(t, []string{"attention"}, rows(g))
	require.InDelta(t, 3.0/2*5*7/4, g.Nodes()[0].Attrs[op.AttentionScale].F, 0)
}

// On devices without a kernel passes see the calls that attention consists of, which make the same value.
func TestExpand(t *testing.T) {
	b := NewBuilder()
	s := speller{b, t}
	q, k, v := s.Input(typed(dtype.Float32, 2, 4, 5, 3)), s.Input(typed(dtype.Float32, 2, 2, 7, 3)), s.Input(typed(dtype.Float32, 2, 2, 7, 6))
	y := s.must(t, "attention", op.Attrs{float(0.5), {Kind: op.Bool, I: 1}}, q, k, v, s.Scalar(op.Value{}))
	g := b.Build(s.do("exp", y))
	before := g.String()
	after := g.Expand(nil)
	require.Equal(t, before, g.String(), "the graph that was given has changed")
	require.Equal(t, g.Outputs(), after.Outputs())
	golden(t, "expanded", before+"\n"+after.String())
	require.Same(t, after, after.Expand(nil))
	require.NotContains(t, rows(after), "attention")
}

// A composite with two results, both of which are read, and a device that has a kernel of one of two composites.
func TestExpandManyResults(t *testing.T) {
	b := NewBuilder()
	s := speller{b, t}
	x, w, h := s.Input(typed(dtype.Float32, 2, 1, 8)), s.Input(typed(dtype.Float32, 2, 8)), s.Input(typed(dtype.Float32, 1, 2))
	out, err := b.Call(op.MustByName("lstm"), []Value{x, w, h, h}, make(op.Attrs, 1))
	require.NoError(t, err)
	y := s.must(t, "gru", make(op.Attrs, 2), s.Input(typed(dtype.Float32, 2, 1, 6)), s.Input(typed(dtype.Float32, 2, 6)), out[1], s.Scalar(op.Value{}))
	g := b.Build(out[0], out[1], s.do("exp", out[1]), y)
	all := g.Expand(nil)
	require.Equal(t, g.Outputs(), all.Outputs())
	require.NotContains(t, rows(all), "lstm")
	require.NotContains(t, rows(all), "gru")
	some := g.Expand(func(s *op.Step) bool { return s.Row.ID == op.IDGru && s.In[0].DType == dtype.Float32 })
	require.NotContains(t, rows(some), "lstm")
	require.Contains(t, rows(some), "gru")
	_, err = some.Plan()
	require.NoError(t, err)
}

// A composite whose first operand is what another one has become, on a device that is asked about each.
func TestExpandChain(t *testing.T) {
	b := NewBuilder()
	s := speller{b, t}
	y := s.Input(typed(dtype.Float32, 2, 3))
	x := s.must(t, "binary_cross_entropy", nil, y, y)
	g := b.Build(s.must(t, "binary_cross_entropy", nil, x, y))
	none := g.Expand(func(*op.Step) bool { return false })
	require.NotContains(t, rows(none), "binary_cross_entropy")
	_, err := none.Plan()
	require.NoError(t, err)
}
