package graph

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
)

// TestLayout shows graphs before and after: what takes images with their channels last, and what sees them as before.
func TestLayout(t *testing.T) {
	ints := func(v ...int64) op.Value { return op.Value{Kind: op.Ints, Ints: v} }
	yes := op.Value{Kind: op.Bool, I: 1}
	for name, build := range map[string]func(t testing.TB, b *Builder) []Value{
		"layout_chain": func(t testing.TB, b *Builder) []Value { // a bias, a pool without its indices, a mean without its axes
			x := b.Input(typed(dtype.Float32, 2, 3, 9, 9))
			y := b.must(t, "relu", nil, b.must(t, "add", nil, b.must(t, "conv", nil, x, floats(b, 1, 4, 3, 3, 3)), floats(b, 1, 4, 1, 1)))
			pooled, err := b.Call(op.ByID(op.IDMaxPool), []Value{y}, op.Attrs{ints(2, 2), ints(2, 2)})
			require.NoError(t, err)
			y = b.must(t, "conv", op.Attrs{{}, {}, {}, {Kind: op.Int, I: 4}}, pooled[0], floats(b, 1, 4, 1, 2, 2))
			return []Value{b.must(t, "mean", op.Attrs{ints(2, 3)}, y)}
		},
		"layout_gate": func(t testing.TB, b *Builder) []Value { // a residual and a gate of each channel
			x := b.Input(typed(dtype.Float32, 1, 8, 5, 5))
			y := b.must(t, "conv", nil, x, floats(b, 1, 8, 8, 1, 1))
			gate := b.must(t, "sigmoid", nil, b.must(t, "mean", op.Attrs{ints(-2, -1), yes}, y))
			return []Value{b.must(t, "add", nil, b.must(t, "multiply", nil, y, gate), x)}
		},
		"layout_parts": func(t testing.TB, b *Builder) []Value { // a concatenation and a slice of channels
			x := b.Input(typed(dtype.Float32, 1, 8, 5, 5))
			y := b.must(t, "conv", nil, x, floats(b, 1, 8, 8, 1, 1))
			both := b.must(t, "concat", op.Attrs{{Kind: op.Int, I: 1}}, y, x)
			return []Value{b.must(t, "slice", op.Attrs{ints(1), ints(4), ints(12)}, both)}
		},
		"layout_ends": func(t testing.TB, b *Builder) []Value { // what needs the order of the memory, and what turns the channels itself
			x := b.Input(typed(dtype.Float32, 1, 8, 5, 5))
			y := b.must(t, "conv", nil, x, floats(b, 1, 8, 8, 1, 1))
			last := b.must(t, "transpose", op.Attrs{ints(0, 2, 3, 1)}, y)
			return []Value{b.must(t, "reshape", op.Attrs{ints(1, -1)}, y), last, b.must(t, "sum", op.Attrs{ints(3)}, y)}
		},
		"layout_shuffle": func(t testing.TB, b *Builder) []Value { // channels of groups in turns, and a larger image
			x := b.Input(typed(dtype.Float32, 1, 8, 5, 5))
			y := b.must(t, "conv", nil, x, floats(b, 1, 8, 8, 1, 1))
			y = b.must(t, "transpose", op.Attrs{ints(0, 2, 1, 3, 4)}, b.must(t, "reshape", op.Attrs{ints(0, 2, 4, 5, 5)}, y))
			y = b.must(t, "reshape", op.Attrs{ints(1, 8, 5, 5)}, y)
			return []Value{b.must(t, "gather", op.Attrs{{Kind: op.Int, I: 2}}, y, b.Constant(&op.Const{Type: typed(dtype.Int64, 1), Bytes: make([]byte, 8)}))}
		},
		"layout_tiles": func(t testing.TB, b *Builder) []Value { // a transposed convolution without overlaps, and others
			x := b.Input(typed(dtype.Float32, 1, 8, 5, 5))
			y := b.must(t, "conv_transpose", op.Attrs{ints(2, 3)}, x, floats(b, 1, 8, 4, 2, 3))
			outputs := []Value{b.must(t, "relu", nil, y)}
			for _, at := range []op.Attrs{
				{ints(1, 3)},
				{ints(2, 3), ints(1, 0, 0, 0)},
				{ints(2, 3), ints(0, 1, 0, 0)},
				{ints(2, 3), {}, ints(1, 0)},
				{ints(2, 3), {}, {}, ints(2, 1)},
				{ints(2, 3), {}, {}, {}, {Kind: op.Int, I: 2}},
			} {
				outputs = append(outputs, b.must(t, "conv_transpose", at, x, floats(b, 1, 8, 4, 2, 3)))
			}
			return outputs
		},
		"layout_stay": func(t testing.TB, b *Builder) []Value { // groups, other dtypes, and weights that are not known
			x := b.Input(typed(dtype.Float32, 1, 8, 5, 5))
			y := b.must(t, "conv", op.Attrs{{}, {}, {}, {Kind: op.Int, I: 2}}, x, floats(b, 1, 8, 4, 1, 1))
			return []Value{y, b.must(t, "conv", nil, x, b.Input(typed(dtype.Float32, 8, 8, 1, 1)))}
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := NewBuilder()
			g := b.Build(build(t, b)...)
			before := g.String()
			after := g.ChannelsLast().Rewrite(Views | DeadCode)
			require.Equal(t, before, g.String(), "the graph that was given has changed")
			require.Equal(t, g.Outputs(), after.Outputs())
			require.Equal(t, g.Inputs(), after.Inputs())
			golden(t, name, before+"\n"+after.String())
		})
	}
}
