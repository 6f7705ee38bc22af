package graph

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
)

// sized is what a function makes of inputs [n, m, 4] and [m], as a trace for these sizes has it.
type sized func(t testing.TB, b *Builder, x, y Value, n, m int64) []Value

// unified is the graph of a function for (5, 7) and (11, 13), which is what the function makes for three other pairs of sizes.
func unified(t *testing.T, f sized) (*Graph, error) {
	trace := func(n, m int64) *Graph {
		b := NewBuilder()
		x, y := b.Input(typed(dtype.Float32, n, m, 4)), b.Input(typed(dtype.Float32, m))
		return b.Build(f(t, b, x, y, n, m)...)
	}
	g, at, err := trace(5, 7).Unify(trace(11, 13))
	if err != nil {
		return nil, err
	}
	for _, pair := range [][2]int64{{5, 7}, {2, 3}, {40, 9}} {
		want := trace(pair[0], pair[1])
		known, err := g.Resolve(want.Inputs())
		require.NoError(t, err)
		require.Equal(t, want.Outputs(), known.Outputs())
		for i, n := range want.Nodes() { // there are more only where sizes are counted
			if name := known.Nodes()[at[i]].Row.Name; n.Row.Kind != op.Create || name != "add" { // a size is added to it
				require.Equal(t, n.Row.Name, name)
			}
		}
	}
	again, err := ReadFile(contents(t, g))
	require.NoError(t, err)
	require.Equal(t, g.String(), again.String())
	return g, nil
}

// What stands in an attribute for a size is the way in which the operator says it, and otherwise the symbol of an input.
func TestUnifyNamesSizes(t *testing.T) {
	one := func(name string, at func(n, m int64) op.Attrs, first bool) sized {
		return func(t testing.TB, b *Builder, x, y Value, n, m int64) []Value {
			if !first {
				return []Value{b.must(t, name, at(n, m), y)}
			}
			return []Value{b.must(t, name, at(n, m), x)}
		}
	}
	cut := func(start, end, step func(n, m int64) int64) sized {
		return one("slice", func(n, m int64) op.Attrs {
			return op.Attrs{op.SliceAxes: ints(0), op.SliceStarts: ints(start(n, m)), op.SliceEnds: ints(end(n, m)), op.SliceSteps: ints(step(n, m))}
		}, true)
	}
	table := func(start, end func(n, m int64) int64) sized {
		return func(t testing.TB, b *Builder, _, _ Value, n, m int64) []Value {
			positions := b.Constant(&op.Const{Type: typed(dtype.Uint8, 64, 2), Bytes: make([]byte, 128)})
			return []Value{b.must(t, "slice", op.Attrs{op.SliceAxes: ints(0), op.SliceStarts: ints(start(n, m)), op.SliceEnds: ints(end(n, m)), op.SliceSteps: ints(1)}, positions)}
		}
	}
	number := func(v int64) func(n, m int64) int64 { return func(int64, int64) int64 { return v } }
	back := func(v int64) func(n, m int64) int64 { return func(n, _ int64) int64 { return n - v } }
	for name, c := range map[string]struct {
		f    sized
		want string
	}{
		"kept":      {one("reshape", func(n, m int64) op.Attrs { return op.Attrs{ints(n, m, 2, 2)} }, true), "%2 float32[s0, s1, 2, 2] = reshape(%0) shape=[0, 0, 2, 2]"},
		"flat":      {one("reshape", func(n, m int64) op.Attrs { return op.Attrs{ints(n*m, 4)} }, true), "%2 float32[s2, 4] = reshape(%0) shape=[-1, 4]"},
		"swapped":   {one("reshape", func(n, m int64) op.Attrs { return op.Attrs{ints(m, n, 4)} }, true), "reshape(%0) shape=[s1, s0, 4]"},
		"expand":    {one("expand", func(n, m int64) op.Attrs { return op.Attrs{ints(n, m)} }, false), "%2 float32[s0, s1] = expand(%1) shape=[s0, -1]"},
		"all":       {cut(number(0), back(0), number(1)), "slice(%0) axes=[0] starts=[0] ends=[9223372036854775807] steps=[1]"},
		"last":      {cut(back(1), back(0), number(1)), "starts=[-1] ends=[9223372036854775807]"},
		"but last":  {cut(number(1), back(1), number(1)), "starts=[1] ends=[-1]"},
		"backwards": {cut(back(1), func(n, _ int64) int64 { return -n - 1 }, number(-1)), "starts=[-1] ends=[-9223372036854775808] steps=[-1]"},
		"table":     {table(number(0), back(0)), "slice(%2) axes=[0] starts=[0] ends=[s0] steps=[1]"},
		"positions": {table(func(_, m int64) int64 { return m }, func(n, m int64) int64 { return m + n }), "slice(%2) axes=[0] starts=[s1] ends=[9223372036854775807] steps=[1]\n%4 uint8[s3, 2] = slice(%3) axes=[0] starts=[0] ends=[s0]"},
		"position":  {table(func(_, m int64) int64 { return m }, func(n, m int64) int64 { return m + 1 }), "starts=[0] ends=[1]"},
		"from the end": {func(t testing.TB, b *Builder, _, y Value, n, m int64) []Value {
			joined := b.must(t, "concat", nil, y, b.must(t, "full", op.Attrs{ints(n), float(1), {Kind: op.DType, I: int64(dtype.Float32)}}))
			return []Value{b.must(t, "slice", op.Attrs{op.SliceAxes: ints(0), op.SliceStarts: ints(-n), op.SliceEnds: ints(math.MaxInt64)}, joined)}
		}, "= slice(%3) axes=[0] starts=[s1] ends=[9223372036854775807]"},
		"not a size": {cut(number(0), number(2), number(2)), "starts=[0] ends=[2] steps=[2]"},
		"padded": {func(t testing.TB, b *Builder, x, _ Value, n, m int64) []Value {
			return []Value{b.must(t, "spread", op.Attrs{op.SpreadShape: ints(n, m, 6), op.SpreadAxes: ints(2, 0), op.SpreadStarts: ints(1, 0), op.SpreadEnds: ints(5, n)}, x)}
		}, "%2 float32[s0, s1, 6] = spread(%0) shape=[s0, s1, 6] axes=[2, 0] starts=[1, 0] ends=[5, 9223372036854775807]"},
		"tiled": {func(t testing.TB, b *Builder, x, y Value, n, m int64) []Value {
			return []Value{b.must(t, "tile", op.Attrs{ints(n, 2)}, y), b.must(t, "tile", op.Attrs{ints(m, 1, 1)}, x)}
		}, "%2 float32[s0, s2] = tile(%1) repeat_times=[s0, 2]"},
		"joined": {func(t testing.TB, b *Builder, _, y Value, n, m int64) []Value {
			like := func(n int64) op.Attrs { return op.Attrs{ints(n), float(1), {Kind: op.DType, I: int64(dtype.Float32)}} }
			return []Value{b.must(t, "concat", nil, y, b.must(t, "full", like(n))), b.must(t, "full", like(n+m))}
		}, "%3 float32[s2] = concat(%1, %2) axis=0\n%4 float32[s2] = full() shape=[s2]"},
		"made": {func(t testing.TB, b *Builder, x, y Value, n, m int64) []Value {
			made := b.must(t, "full", op.Attrs{ints(n, 1, 4), float(2), {Kind: op.DType, I: int64(dtype.Float32)}})
			return []Value{b.must(t, "multiply", nil, x, made), b.must(t, "randperm", op.Attrs{integer(n), {Kind: op.DType, I: int64(dtype.Int64)}})}
		}, "= full() shape=[s0, 1, 4] fill_value=2.0"},
	} {
		t.Run(name, func(t *testing.T) {
			g, err := unified(t, c.f)
			require.NoError(t, err)
			require.Contains(t, g.String(), c.want)
		})
	}
}

// What is not the same for both, or has no way to be said for all sizes, is an error that names the call.
func TestUnifyRefuses(t *testing.T) {
	for want, f := range map[string]sized{
		"[multiply] call 0: operand 1 is 2.5 for some sizes, 5.5 for others": func(t testing.TB, b *Builder, x, _ Value, n, _ int64) []Value {
			return []Value{b.must(t, "multiply", nil, x, b.Scalar(float(float64(n)/2)))}
		},
		"call 0 is exp for some sizes, abs for others": func(t testing.TB, b *Builder, x, _ Value, n, _ int64) []Value {
			return []Value{b.must(t, map[bool]string{true: "exp", false: "abs"}[n < 8], nil, x)}
		},
		"there are 7 calls and 1 results for some sizes, 13 and 1 for others": func(t testing.TB, b *Builder, x, _ Value, _, m int64) []Value {
			for range m {
				x = b.must(t, "exp", nil, x)
			}
			return []Value{x}
		},
		"[full] call 0: shape is [10] for some sizes, [22] for others": func(t testing.TB, b *Builder, _, _ Value, n, _ int64) []Value {
			return []Value{b.must(t, "full", op.Attrs{ints(2 * n), float(0), {Kind: op.DType, I: int64(dtype.Float32)}})}
		},
		"result 0 is another one": func(t testing.TB, b *Builder, x, y Value, n, _ int64) []Value {
			if n > 8 {
				return []Value{b.must(t, "exp", nil, x)}
			}
			b.must(t, "exp", nil, x)
			return []Value{x}
		},
		"[slice] call 0: steps is [5]": func(t testing.TB, b *Builder, x, _ Value, n, _ int64) []Value {
			return []Value{b.must(t, "slice", op.Attrs{op.SliceAxes: ints(0), op.SliceStarts: ints(0), op.SliceEnds: ints(9), op.SliceSteps: ints(n)}, x)}
		},
	} {
		_, err := unified(t, f)
		require.ErrorContains(t, err, want)
	}
	b, c := NewBuilder(), NewBuilder()
	g, h := b.Build(b.Input(known(dtype.Float32))), c.Build(c.Input(known(dtype.Int32)))
	_, _, err := g.Unify(h)
	require.ErrorContains(t, err, "input 0 is float32[2, 3] for some sizes, int32[2, 3] for others")
}

// A scalar that is a product of sizes, or of another form that counts, is computed of ones; one that is another function of sizes,
// or may be two products, is refused.
func TestUnifyCountsSizes(t *testing.T) {
	by := func(name string, first bool, number func(n, m int64) op.Value) sized {
		return func(t testing.TB, b *Builder, x, _ Value, n, m int64) []Value {
			in := []Value{x, b.Scalar(number(n, m))}
			if first {
				in[0], in[1] = in[1], in[0]
			}
			return []Value{b.must(t, name, nil, in...)}
		}
	}
	whole := func(v int64) op.Value { return op.Value{Kind: op.Int, I: v} }
	for name, c := range map[string]struct {
		f    sized
		want string // the call, behind its operands
	}{
		"size":       {by("divide", false, func(n, _ int64) op.Value { return whole(n) }), "%4 float32[] = cast(%3) dtype=float32\n%5 float32[s0, s1, 4] = divide(%0, %4)"},
		"product":    {by("multiply", false, func(n, m int64) op.Value { return float(float64(n * m * 4)) }), "multiply(%6, 4)\n%8 float32[] = cast(%7) dtype=float32\n%9 float32[s0, s1, 4] = multiply(%0, %8)"},
		"left one":   {by("subtract", true, func(_, m int64) op.Value { return whole(3 * m) }), "multiply(%3, 3)\n%5 float32[] = cast(%4) dtype=float32\n%6 float32[s0, s1, 4] = subtract(%5, %0)"},
		"one less":   {by("divide", false, func(n, _ int64) op.Value { return float(float64(n - 1)) }), "add(%3, -1)\n%5 float32[] = cast(%4) dtype=float32\n%6 float32[s0, s1, 4] = divide(%0, %5)"},
		"one more":   {by("divide", false, func(n, m int64) op.Value { return whole(n*m + 1) }), "add(%6, 1)\n%8 float32[] = cast(%7) dtype=float32\n%9 float32[s0, s1, 4] = divide(%0, %8)"},
		"reciprocal": {by("multiply", false, func(n, _ int64) op.Value { return float(1 / float64(n)) }), "%5 float32[] = reciprocal(%4)\n%6 float32[s0, s1, 4] = multiply(%0, %5)"},
		"root":       {by("divide", false, func(n, _ int64) op.Value { return float(math.Sqrt(float64(n))) }), "%5 float32[] = sqrt(%4)\n%6 float32[s0, s1, 4] = divide(%0, %5)"},
		"of integers": {func(t testing.TB, b *Builder, x, _ Value, n, _ int64) []Value {
			return []Value{b.must(t, "less_than", nil, b.must(t, "cast", op.Attrs{{Kind: op.DType, I: int64(dtype.Int64)}}, x), b.Scalar(whole(n)))}
		}, "%4 int64[] = sum(%3)"},
		"full": {func(t testing.TB, b *Builder, _, _ Value, n, m int64) []Value {
			return []Value{b.must(t, "full", op.Attrs{ints(3), whole(4*n - 1), {Kind: op.DType, I: int64(dtype.Float32)}})}
		}, "full() shape=[3] fill_value=0 dtype=float32\n"},
		"first": {func(t testing.TB, b *Builder, _, _ Value, n, m int64) []Value {
			return []Value{b.must(t, "range", op.Attrs{op.RangeStart: whole(n), op.RangeStep: whole(1), op.RangeCount: whole(m), op.RangeDtype: {Kind: op.DType, I: int64(dtype.Int64)}})}
		}, "%2 int64[s1] = range() start=0 step=1 count=s1 dtype=int64\n%3 int64[s0] = full()"},
	} {
		g, err := unified(t, c.f)
		require.NoError(t, err, name)
		require.Contains(t, g.String(), c.want, name)
	}
	for name, f := range map[string]sized{
		"a size and four":  by("divide", false, func(n, _ int64) op.Value { return whole(n + 4) }),
		"a square":         by("divide", false, func(n, _ int64) op.Value { return whole(n * n) }),
		"another operator": by("greater_than", false, func(n, _ int64) op.Value { return whole(n) }),
		"a part":           by("divide", false, func(n, _ int64) op.Value { return float(float64(n) / 2) }),
		"none":             by("divide", false, func(n, _ int64) op.Value { return whole(n / 11) }),
		"of integers": func(t testing.TB, b *Builder, x, _ Value, n, _ int64) []Value {
			return []Value{b.must(t, "multiply", nil, b.must(t, "cast", op.Attrs{{Kind: op.DType, I: int64(dtype.Int32)}}, x), b.Scalar(whole(n)))}
		},
		"an exponent": func(t testing.TB, b *Builder, x, _ Value, n, _ int64) []Value {
			return []Value{b.must(t, "pow", nil, b.must(t, "cast", op.Attrs{{Kind: op.DType, I: int64(dtype.BFloat16)}}, x), b.Scalar(whole(n)))}
		},
	} {
		_, err := unified(t, f)
		require.ErrorContains(t, err, "operand 1 is ", name)
	}
	_, err := unified(t, func(t testing.TB, b *Builder, _, _ Value, n, _ int64) []Value {
		return []Value{b.must(t, "range", op.Attrs{op.RangeStart: whole(n), op.RangeStep: whole(1), op.RangeCount: whole(0), op.RangeDtype: {Kind: op.DType, I: int64(dtype.Int64)}})}
	})
	require.ErrorContains(t, err, "[range] call 0: start is 5 for some sizes, 11 for others", "a range without elements begins anywhere")
	// 12 and 24 are 6 times the first size and 4 times the second one.
	trace := func(n, m, k int64) *Graph {
		b := NewBuilder()
		x := b.Input(typed(dtype.Float32, n, m))
		return b.Build(b.must(t, "divide", nil, x, b.Scalar(whole(k))))
	}
	_, _, err = trace(2, 3, 12).Unify(trace(4, 6, 24))
	require.ErrorContains(t, err, "operand 1 is 12 for some sizes, 24 for others")
}

// Frozen constants are given to a graph that is built anew: symbols that calls have made are other ones there.
func TestFreezeKeepsSizesThatCallsMake(t *testing.T) {
	const text = "input %0 float32[s0]\ninput %1 float32[2]\n%2 float32[s1] = concat(%0, %1) axis=0\n" +
		"%3 float32[s2] = concat(%2, %2) axis=0\n%4 float32[s2, s1] = full() shape=[s2, s1] fill_value=1.0 dtype=float32\noutput %4\n"
	g, err := Parse(text, nil)
	require.NoError(t, err)
	require.Equal(t, text, g.String())
	g, err = g.Freeze([]*op.Const{{Type: typed(dtype.Float32, 2), Bytes: make([]byte, 8)}}, 1)
	require.NoError(t, err)
	g, err = g.Resolve([]op.Type{typed(dtype.Float32, 3)})
	require.NoError(t, err)
	require.Equal(t, typed(dtype.Float32, 10, 5), g.Outputs()[0])
}

// A bound of a slice is a number in a graph without symbols, whatever it is.
func TestBoundsThatLookLikeSymbols(t *testing.T) {
	b := NewBuilder()
	x := b.Input(typed(dtype.Float32, 5))
	v := b.must(t, "slice", op.Attrs{op.SliceAxes: ints(0), op.SliceStarts: ints(op.SizeAttr(shape.Symbol(0))), op.SliceEnds: ints(4)}, x)
	require.Equal(t, typed(dtype.Float32, 4), b.TypeOf(v))
	g := b.Build(v)
	require.Contains(t, g.String(), "starts=[-9223372036854775808] ends=[4]")
	known, err := g.Resolve(g.Inputs())
	require.NoError(t, err)
	require.Equal(t, g.Outputs(), known.Outputs())
}

// Sizes that are equal in both are one size.
func TestUnifyKeepsEqualSizes(t *testing.T) {
	trace := func(n int64) *Graph {
		b := NewBuilder()
		b.Input(typed(dtype.Float32, n, n))
		return b.Build(b.must(t, "full", op.Attrs{ints(n), float(0), {Kind: op.DType, I: int64(dtype.Float32)}}))
	}
	g, _, err := trace(5).Unify(trace(7))
	require.NoError(t, err)
	require.Contains(t, g.String(), "input %0 float32[s0, s0]\n%1 float32[s0] = full() shape=[s0]")
	_, err = g.Resolve([]op.Type{typed(dtype.Float32, 3, 4)})
	require.ErrorContains(t, err, "input 0 is float32 of shape [3, 4]; want float32 of shape [s0, s0]")
}

// A text may have sizes of inputs in attributes that take them, and nowhere else.
func TestTextsWithSizesInAttributes(t *testing.T) {
	const good = "input %0 float32[s0]\n%1 float32[s0, 2] = full() shape=[s0, 2] fill_value=1.0 dtype=float32\noutput %1\n"
	g, err := Parse(good, nil)
	require.NoError(t, err)
	require.Equal(t, good, g.String())
	for _, text := range []string{
		"input %0 float32[s0]\n%1 float32[s0, 2] = full() shape=[s1, 2] fill_value=1.0 dtype=float32\n",
		"input %0 float32[s0]\n%1 float32[s0, 2] = full() shape=[2, s99999] fill_value=1.0 dtype=float32\n",
		"input %0 float32[s0]\n%1 float32[s0] = sum(%0) axis=[s0] keepdim=false\n",
		"input %0 float32[2]\n%1 float32[2] = full() shape=[-1099511627776] fill_value=1.0 dtype=float32\n",
	} {
		_, err := Parse(text, nil)
		require.ErrorContains(t, err, "[program] line 2", text)
	}
}
