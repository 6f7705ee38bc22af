package graph

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
)

// speller writes expressions as exporters and users do.
type speller struct {
	*Builder
	t testing.TB
}

func (s speller) do(name string, in ...Value) Value { return s.must(s.t, name, nil, in...) }

// along reduces one axis and keeps it.
func (s speller) along(name string, axis int64, x Value) Value {
	row := op.MustByName(name)
	at := make(op.Attrs, len(row.Attrs))
	at[row.AttrIndex("axis")], at[row.AttrIndex("keepdim")] = ints(axis), op.Value{Kind: op.Bool, I: 1}
	return s.must(s.t, name, at, x)
}

func (s speller) scalar(f float64) Value { return s.Scalar(float(f)) }

// constant is a tensor of one element.
func (s speller) constant(d dtype.DType, f float64, dims ...int64) Value {
	k := &op.Const{Type: typed(d, dims...)}
	switch d {
	case dtype.Float16:
		k.Bytes = binary.LittleEndian.AppendUint16(nil, dtype.F32ToF16(float32(f)))
	case dtype.BFloat16:
		k.Bytes = binary.LittleEndian.AppendUint16(nil, dtype.F32ToBF16(float32(f)))
	case dtype.Float32:
		k.Bytes = binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(f)))
	default:
		k.Bytes = binary.LittleEndian.AppendUint64(nil, math.Float64bits(f))
	}
	return s.Constant(k)
}

func (s speller) f32(f float64) Value { return s.constant(dtype.Float32, f) }

// line is an operand for the last axis.
func (s speller) line() Value { return s.Input(typed(dtype.Float32, 3)) }

// softmax is that of x along an axis, and the exponentials.
func (s speller) softmax(axis int64, x Value) (out, e Value) {
	e = s.do("exp", s.do("subtract", x, s.along("max", axis, x)))
	return s.do("divide", e, s.along("sum", axis, e)), e
}

// normal is x without its mean, divided by its deviation, and the difference from the mean.
func (s speller) normal(axis int64, x, epsilon Value) (out, d Value) {
	d = s.do("subtract", x, s.along("mean", axis, x))
	variance := s.along("mean", axis, s.do("square", d))
	return s.do("divide", d, s.do("sqrt", s.do("add", variance, epsilon))), d
}

// spelled are expressions, and how many of the results are recognized.
var spelled = map[string]struct {
	count int
	build func(s speller, x Value) []Value
}{
	"patterns_layer_norm": {4, func(s speller, x Value) []Value {
		whole, _ := s.normal(-1, x, s.f32(1e-5))
		whole = s.do("add", s.do("multiply", whole, s.line()), s.line())
		weighted, _ := s.normal(1, s.do("exp", x), s.scalar(1e-6))
		weighted = s.do("multiply", s.line(), weighted)
		bare, _ := s.normal(1, s.do("sin", x), s.constant(dtype.Float32, 0, 1, 1))
		d := s.do("subtract", x, s.along("mean", 1, x)) // as compilers of other languages write it
		scale := s.do("rsqrt", s.do("add", s.scalar(1e-3), s.along("mean", 1, s.do("multiply", d, d))))
		return []Value{whole, weighted, bare, s.do("add", s.line(), s.do("multiply", d, s.do("multiply", scale, s.line())))}
	}},
	"patterns_rms_norm": {6, func(s speller, x Value) []Value {
		mean := func(x Value) Value { // with a call of its own for each
			return s.do("add", s.along("mean", -1, s.do("pow", x, s.scalar(2))), s.f32(1e-6))
		}
		y, z := s.do("exp", x), s.do("sin", x)
		one := s.do("multiply", s.line(), s.do("multiply", x, s.do("rsqrt", mean(x))))
		two := s.do("multiply", y, s.do("reciprocal", s.do("sqrt", mean(y))))
		three := s.do("multiply", s.do("multiply", z, s.do("divide", s.f32(1), s.do("sqrt", mean(z)))), s.line())
		four := s.do("cos", x)
		five, six := s.do("tanh", x), s.do("erf", x) // without an epsilon, as paddle2onnx writes those below 1e-5
		of := func(x Value) Value { return s.along("mean", -1, s.do("multiply", x, x)) }
		return []Value{
			one, two, three, s.do("multiply", s.do("pow", mean(four), s.scalar(-0.5)), four),
			s.do("multiply", five, s.do("reciprocal", s.do("sqrt", s.do("multiply", of(five), s.constant(dtype.Float32, 1, 1))))),
			s.do("divide", six, s.do("sqrt", of(six))),
		}
	}},
	"patterns_gelu": {4, func(s speller, x Value) []Value {
		erf := func(x Value) Value {
			return s.do("add", s.do("erf", s.do("divide", x, s.f32(math.Sqrt2))), s.f32(1))
		}
		y, z, v := s.do("exp", x), s.do("sin", x), s.do("cos", x)
		return []Value{
			s.do("multiply", s.do("multiply", x, erf(x)), s.f32(0.5)),
			s.do("multiply", y, s.do("multiply", s.f32(0.5), erf(y))),
			s.do("multiply", s.do("multiply", z, s.constant(dtype.Float32, 0.5, 1, 1)), s.do("add", s.f32(1), s.do("erf", s.do("multiply", s.f32(0.70710678), z)))),
			s.do("divide", s.do("multiply", v, erf(v)), s.scalar(2)),
		}
	}},
	"patterns_gelu_tanh": {4, func(s speller, x Value) []Value {
		root, k := s.scalar(math.Sqrt(2/math.Pi)), s.scalar(0.044715)
		half := func(x, inner Value) Value {
			return s.do("multiply", s.do("multiply", s.scalar(0.5), x), s.do("add", s.scalar(1), s.do("tanh", inner)))
		}
		y, z, v := s.do("exp", x), s.do("sin", x), s.do("cos", x)
		return []Value{
			half(x, s.do("multiply", root, s.do("add", x, s.do("multiply", k, s.do("pow", x, s.scalar(3)))))),
			half(y, s.do("multiply", root, s.do("add", y, s.do("multiply", s.do("multiply", s.do("multiply", k, y), y), y)))),
			half(z, s.do("multiply", s.do("multiply", z, root), s.do("add", s.scalar(1), s.do("multiply", s.do("multiply", k, z), z)))),
			half(v, s.do("multiply", s.do("add", s.do("multiply", s.do("multiply", v, s.do("square", v)), k), v), root)),
		}
	}},
	"patterns_softmax": {3, func(s speller, x Value) []Value {
		last, _ := s.softmax(-1, x)
		first, _ := s.softmax(0, x)
		y := s.do("sin", x)
		e := s.do("exp", s.do("subtract", y, s.along("max", 1, y)))
		return []Value{last, first, s.do("multiply", e, s.do("reciprocal", s.along("sum", 1, e)))}
	}},
}

// TestPatterns shows expressions before and after.
func TestPatterns(t *testing.T) {
	for name, c := range spelled {
		t.Run(name, func(t *testing.T) {
			b := NewBuilder()
			g := b.Build(c.build(speller{b, t}, b.Input(known(dtype.Float32)))...)
			before := g.String()
			after := g.Rewrite(Common | Patterns | DeadCode)
			require.Equal(t, before, g.String(), "the graph that was given has changed")
			require.Equal(t, g.Outputs(), after.Outputs())
			require.Equal(t, c.count, recognized(after))
			golden(t, name, before+"\n"+after.String())
		})
	}
}

// recognized counts the calls of rows that patterns stand for.
func recognized(g *Graph) (count int) {
	for _, n := range g.Nodes() {
		if n.Row.ID == op.IDLayerNorm || n.Row.ID == op.IDGelu || n.Row.ID == op.IDSoftmax {
			count++
		}
	}
	return count
}

// TestPatternsThatAreNone has expressions that compute something else than the row, or something that is read elsewhere.
func TestPatternsThatAreNone(t *testing.T) {
	gelu := func(s speller, x Value, k, one, half float64) []Value {
		y := s.do("add", s.do("erf", s.do("multiply", x, s.f32(k))), s.f32(one))
		return []Value{s.do("multiply", s.do("multiply", x, y), s.f32(half))}
	}
	norm := func(s speller, x, epsilon Value, axis int64) []Value {
		y, _ := s.normal(axis, x, epsilon)
		return []Value{y}
	}
	for name, build := range map[string]func(s speller, x Value) []Value{
		"an exponential is an output":  func(s speller, x Value) []Value { y, e := s.softmax(-1, x); return []Value{y, e} },
		"another axis is normalized":   func(s speller, x Value) []Value { return norm(s, x, s.f32(1e-5), 0) },
		"epsilon is an input":          func(s speller, x Value) []Value { return norm(s, x, s.Input(typed(dtype.Float32)), 1) },
		"epsilon is a line":            func(s speller, x Value) []Value { return norm(s, x, floats(s.Builder, 1, 3), 1) },
		"epsilon is negative":          func(s speller, x Value) []Value { return norm(s, x, s.scalar(-1e-5), 1) },
		"epsilon is infinite":          func(s speller, x Value) []Value { return norm(s, x, s.scalar(math.Inf(1)), 1) },
		"epsilon is wider than x":      func(s speller, x Value) []Value { return norm(s, x, s.constant(dtype.Float64, 1e-5, 1), 1) },
		"epsilon has more axes than x": func(s speller, x Value) []Value { return norm(s, x, s.constant(dtype.Float32, 1e-5, 1, 1, 1), 1) },
		"sqrt(2) is wrong":             func(s speller, x Value) []Value { return gelu(s, x, 0.7071, 1, 0.5) },
		"one is wrong":                 func(s speller, x Value) []Value { return gelu(s, x, math.Sqrt2/2, 1.001, 0.5) },
		"one is off by an ulp":         func(s speller, x Value) []Value { return gelu(s, x, math.Sqrt2/2, 1+0x1p-23, 0.5) },
		"a half is wrong":              func(s speller, x Value) []Value { return gelu(s, x, math.Sqrt2/2, 1, 0.25) },
		"a power that negative numbers lack": func(s speller, x Value) []Value {
			square := s.do("pow", x, s.f32(2+0x1p-22))
			return []Value{s.do("divide", x, s.do("sqrt", s.along("mean", 1, square)))}
		},
		"a power of halves that negative numbers lack": func(s speller, _ Value) []Value {
			x := s.Input(known(dtype.BFloat16))
			square := s.do("pow", x, s.constant(dtype.BFloat16, 2+0x1p-6))
			return []Value{s.do("divide", x, s.do("sqrt", s.along("mean", 1, square)))}
		},
		"two tensors": func(s speller, x Value) []Value {
			return []Value{s.do("multiply", gelu(s, x, math.Sqrt2/2, 1, 1)[0], s.do("exp", x))}
		},
		"float32 of sqrt(2) for float64": func(s speller, _ Value) []Value {
			return gelu(s, s.Input(known(dtype.Float64)), float64(float32(math.Sqrt2/2)), 1, 0.5)
		},
		"the maximum of another axis": func(s speller, x Value) []Value {
			e := s.do("exp", s.do("subtract", x, s.along("max", 0, x)))
			return []Value{s.do("divide", e, s.along("sum", 1, e))}
		},
		"the maximum of another tensor": func(s speller, x Value) []Value {
			e := s.do("exp", s.do("subtract", x, s.along("max", 1, s.do("neg", x))))
			return []Value{s.do("divide", e, s.along("sum", 1, e))}
		},
		"the maximum of all": func(s speller, x Value) []Value {
			e := s.do("exp", s.do("subtract", x, s.must(s.t, "max", op.Attrs{{}, {Kind: op.Bool, I: 1}}, x)))
			return []Value{s.do("divide", e, s.along("sum", 1, e))}
		},
		"the sum of a square matrix is turned": func(s speller, _ Value) []Value {
			x := s.Input(typed(dtype.Float32, 3, 3))
			e := s.do("exp", s.do("subtract", x, s.along("max", 1, x)))
			return []Value{s.do("divide", e, s.must(s.t, "sum", op.Attrs{ints(1)}, e))}
		},
		"the quotient is upside down": func(s speller, x Value) []Value {
			e := s.do("exp", s.do("subtract", x, s.along("max", 1, x)))
			return []Value{s.do("divide", s.along("sum", 1, e), e)}
		},
		"the sum is of another dtype": func(s speller, _ Value) []Value {
			x := s.Input(known(dtype.Float16))
			e := s.do("exp", s.do("subtract", x, s.along("max", 1, x)))
			wide := s.must(s.t, "sum", op.Attrs{ints(1), {Kind: op.DType, I: int64(dtype.Float32)}, {Kind: op.Bool, I: 1}}, e)
			return []Value{s.do("divide", e, wide)}
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := NewBuilder()
			g := b.Build(build(speller{b, t}, b.Input(known(dtype.Float32)))...).Rewrite(Common)
			require.Same(t, g, g.Rewrite(Patterns), "%s", g)
		})
	}
}

// What is added or multiplied behind an expression stays where the row does not have it: it is no line of the last axis.
func TestPatternsWithoutTheirEnds(t *testing.T) {
	for name, dims := range map[string][]int64{"a tensor": {2, 3}, "a row": {1, 3}, "a column": {2, 1}, "more axes": {4, 1, 3}, "an element": {1}} {
		t.Run(name, func(t *testing.T) {
			b := NewBuilder()
			s := speller{b, t}
			y, _ := s.normal(-1, b.Input(known(dtype.Float32)), s.f32(1e-5))
			k := b.Input(typed(dtype.Float32, dims...))
			g := b.Build(s.do("add", s.do("multiply", y, k), k)).Rewrite(AllPasses)
			require.Equal(t, []string{"layer_norm", "multiply", "add"}, rows(g))
			require.Contains(t, g.String(), "layer_norm(%0, none, none)")
		})
	}
}

func rows(g *Graph) (names []string) {
	for _, n := range g.Nodes() {
		names = append(names, n.Row.Name)
	}
	return names
}

// Constants of all dtypes, of which halves have few digits, and Python scalars beside them.
func TestPatternsOfDtypes(t *testing.T) {
	for _, d := range []dtype.DType{dtype.Float16, dtype.BFloat16, dtype.Float32, dtype.Float64} {
		for _, scalars := range []bool{false, true} {
			b := NewBuilder()
			s, x := speller{b, t}, b.Input(known(d))
			k := func(f float64) Value {
				if scalars {
					return s.scalar(f)
				}
				return s.constant(d, f)
			}
			y := s.do("add", s.do("erf", s.do("divide", x, k(math.Sqrt2))), k(1))
			g := b.Build(s.do("multiply", s.do("multiply", x, y), k(0.5))).Rewrite(AllPasses)
			require.Equal(t, []string{"gelu"}, rows(g), "%s, scalars: %t", d, scalars)
			require.Equal(t, d, g.Outputs()[0].DType)
		}
	}
}

// A difference from the mean that something else reads stays; what follows is a normalization without a mean.
func TestPatternsOfWhatIsReadElsewhere(t *testing.T) {
	b := NewBuilder()
	s := speller{b, t}
	y, d := s.normal(-1, b.Input(known(dtype.Float32)), s.f32(1e-5))
	g := b.Build(y, s.do("neg", d)).Rewrite(AllPasses)
	require.Equal(t, []string{"mean", "subtract", "layer_norm", "neg"}, rows(g))
	require.Contains(t, g.String(), "centered=false")
}

// An expression in an expression, whose result is what the outer one reads.
func TestPatternsOfPatterns(t *testing.T) {
	b := NewBuilder()
	s := speller{b, t}
	y, _ := s.softmax(-1, b.Input(known(dtype.Float32)))
	y, _ = s.normal(-1, y, s.f32(1e-5))
	y, _ = s.softmax(0, y)
	require.Equal(t, []string{"softmax", "layer_norm", "softmax"}, rows(b.Build(y).Rewrite(AllPasses)))
}
