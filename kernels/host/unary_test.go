package host

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/maths"
)

// functions are unary operators in float64, written down independently of package maths.
var functions = map[string]func(x float64) float64{
	"exp": math.Exp, "expm1": math.Expm1, "log": math.Log, "log1p": math.Log1p, "log2": math.Log2,
	"sqrt": math.Sqrt, "rsqrt": func(x float64) float64 { return 1 / math.Sqrt(x) },
	"reciprocal": func(x float64) float64 { return 1 / x }, "square": func(x float64) float64 { return x * x },
	"sin": math.Sin, "cos": math.Cos, "tan": math.Tan, "sinh": math.Sinh, "cosh": math.Cosh, "tanh": math.Tanh,
	"erf": math.Erf, "floor": math.Floor, "ceil": math.Ceil, "round": math.RoundToEven, "trunc": math.Trunc,
	"abs": math.Abs, "neg": func(x float64) float64 { return -x },
	"sigmoid": func(x float64) float64 { return 1 / (1 + math.Exp(-x)) },
	"silu":    func(x float64) float64 { return x / (1 + math.Exp(-x)) },
	"relu":    func(x float64) float64 { return math.Max(x, 0) },
}

// near fails unless each element is within some ulps of its dtype of the wanted value.
func near(t *testing.T, got *tensor, ulps float64, want func(i int) float64, msg ...any) {
	t.Helper()
	for i, v := range got.values() {
		w := want(i)
		if r := rounded(got.DType, w); r == v || math.IsNaN(w) && math.IsNaN(v) {
			continue
		}
		require.LessOrEqualf(t, math.Abs(v-w), ulps*spacing(got.DType, w), "%v: element %d is %v; want %v", msg, i, v, w)
	}
}

// spacing is the distance of neighbouring values of a float dtype around x.
func spacing(d dtype.DType, x float64) float64 {
	digits := map[dtype.DType]int{dtype.Float16: 11, dtype.BFloat16: 8, dtype.Float32: 24, dtype.Float64: 53}[d]
	least := map[dtype.DType]int{dtype.Float16: -24, dtype.BFloat16: -133, dtype.Float32: -149, dtype.Float64: -1074}[d]
	_, exponent := math.Frexp(x)
	return math.Ldexp(1, max(exponent-digits, least))
}

func TestUnaryFloats(t *testing.T) {
	r := newRig(t, Config{Threads: 1})
	for name, f := range functions {
		for _, d := range dtype.Floats.Members() {
			for where, l := range layouts(23, 31) {
				x, out := place(d, l, 1, ramp(713, -4, 0.0125)...), place(d, layouts(23, 31)["padded"], 0)
				require.NoError(t, r.call(name, &device.Call{In: operands(x), Out: operands(out)}))
				xs := x.values()
				if d == dtype.Float64 { // its accuracy is the business of package maths
					expect(t, out, func(i int) float64 { return named(name).At(xs[i]) }, name, d, where)
					continue
				}
				near(t, out, 2, func(i int) float64 { return f(xs[i]) }, name, d, where)
			}
		}
	}
}

func named(name string) maths.Function {
	f := maths.Neg
	for f.String() != name {
		f++
	}
	return f
}

func TestUnaryAttributes(t *testing.T) {
	r := newRig(t, Config{Threads: 1})
	truth, number := op.Value{Kind: op.Bool, I: 1}, func(x float64) op.Value { return op.Value{Kind: op.Float, F: x} }
	for _, c := range []struct {
		op    string
		attrs op.Attrs
		f     func(x float64) float64
	}{
		{"gelu", op.Attrs{{Kind: op.Bool}}, func(x float64) float64 { return 0.5 * x * math.Erfc(-x/math.Sqrt2) }},
		{"gelu", op.Attrs{truth}, func(x float64) float64 {
			return 0.5 * x * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x)))
		}},
		{"leaky_relu", op.Attrs{number(0.25)}, func(x float64) float64 { return math.Max(x, 0.25*x) }},
		{"softplus", op.Attrs{number(2), number(3)}, func(x float64) float64 {
			if 2*x > 3 {
				return x
			}
			return math.Log1p(math.Exp(2*x)) / 2
		}},
	} {
		for _, d := range []dtype.DType{dtype.Float16, dtype.BFloat16, dtype.Float32} { // what float64 can judge
			x, out := of(d, dims(700), ramp(700, -3.5, 0.01)...), of(d, dims(700))
			require.NoError(t, r.call(c.op, &device.Call{In: operands(x), Out: operands(out), Attrs: c.attrs}))
			xs := x.values()
			near(t, out, 2, func(i int) float64 { return c.f(xs[i]) }, c.op, d)
		}
	}
}

func TestUnaryValues(t *testing.T) {
	inf, nan, zero := math.Inf(1), math.NaN(), math.Copysign(0, -1)
	r := newRig(t, Config{Threads: 1})
	for _, c := range []struct {
		op      string
		in, out dtype.DType
		x, want []float64
	}{
		{"relu", dtype.Float32, dtype.Float32, []float64{nan, -1, 2}, []float64{0, 0, 2}},
		{"sign", dtype.Float32, dtype.Float32, []float64{-2, 0, 3, nan, -inf}, []float64{-1, 0, 1, nan, -1}},
		{"round", dtype.Float32, dtype.Float32, []float64{.5, 1.5, 2.5, -.5}, []float64{0, 2, 2, zero}},
		{"isnan", dtype.Float16, dtype.Bool, []float64{nan, 1, inf}, []float64{1, 0, 0}},
		{"isinf", dtype.BFloat16, dtype.Bool, []float64{nan, 1, inf, -inf}, []float64{0, 0, 1, 1}},
		{"isfinite", dtype.Float64, dtype.Bool, []float64{nan, 1, inf, -inf}, []float64{0, 1, 0, 0}},
		{"isfinite", dtype.Int8, dtype.Bool, []float64{0, 1}, []float64{1, 1}},
		{"isnan", dtype.Uint8, dtype.Bool, []float64{0, 1}, []float64{0, 0}},
		{"logical_not", dtype.Float32, dtype.Bool, []float64{0, zero, 2, nan}, []float64{1, 1, 0, 0}},
		{"logical_not", dtype.Bool, dtype.Bool, []float64{0, 1}, []float64{1, 0}},
		{"abs", dtype.Bool, dtype.Bool, []float64{0, 1}, []float64{0, 1}},
		{"neg", dtype.Bool, dtype.Bool, []float64{0, 1}, []float64{0, 1}},
		{"abs", dtype.Int8, dtype.Int8, []float64{-128, -3, 4}, []float64{-128, 3, 4}},
		{"neg", dtype.Uint8, dtype.Uint8, []float64{1, 0, 255}, []float64{255, 0, 1}},
		{"sign", dtype.Int64, dtype.Int64, []float64{-7, 0, 9}, []float64{-1, 0, 1}},
		{"square", dtype.Int16, dtype.Int16, []float64{-7, 256}, []float64{49, 0}},
		{"floor", dtype.Int32, dtype.Int32, []float64{-7, 5}, []float64{-7, 5}},
		{"relu", dtype.Int32, dtype.Int32, []float64{-7, 5}, []float64{0, 5}},
	} {
		l := dims(int64(len(c.x)))
		out := of(c.out, l)
		require.NoError(t, r.call(c.op, &device.Call{In: operands(of(c.in, l, c.x...)), Out: operands(out)}), c.op)
		sameBits(t, c.want, out.values(), c.op, c.in)
	}
}

func TestUnsupported(t *testing.T) {
	r := newRig(t, Config{Threads: 1})
	x, out := of(dtype.Int32, dims(2), 1), of(dtype.Int32, dims(2))
	err := r.call("exp", &device.Call{In: operands(x), Out: operands(out)})
	require.Equal(t, status.Unsupported, status.CodeOf(err))
	require.ErrorContains(t, err, "[exp]")
}

// TestEveryRowHasKernels fails where the table promises a dtype that host lacks.
func TestEveryRowHasKernels(t *testing.T) {
	halves := dtype.SetOf(dtype.Float16) | dtype.SetOf(dtype.BFloat16)
	lowered := map[string]dtype.Set{ // to other operators, of some dtypes
		"log_softmax": dtype.SetOf(dtype.Float64),
		"lstm":        halves, "gru": halves,
	}
	for i := range op.Table {
		row := &op.Table[i]
		if row.Kind == op.View || row.Kind == op.Assemble || row.IsComposite() || row.Lower != nil && !row.Own {
			continue
		}
		missing := row.Accepts &^ engine.Registry.DTypes(row.ID) &^ lowered[row.Name]
		require.Emptyf(t, missing.Members(), "%s lacks kernels", row.Name)
	}
}
