package describe

import (
	"math"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
)

// How exact rows are. Tests read it here; the Python conformance suite has it from table.json.

// Tolerance is the largest error of an element of a result, against the exact result for the rounded
// inputs. It is the sum of its parts; the zero Tolerance means exact.
type Tolerance struct {
	// Units in the last place of the result, by its dtype, on the host device. Half is float16 and
	// bfloat16.
	//
	// Metal is that of float32 on the Apple GPU, where it is more: what the Metal Shading Language Specification
	// (table 8.1) allows for the functions that a kernel calls; where several meet, twice the sum of their parts
	// and the roundings, because a unit of one may be two of another.
	Float32, Float64, Half, Metal float64

	// What is added where terms may cancel, in every dtype of floats.
	Roundings Roundings

	// NumPy for further units in the last place of float64, which has nothing wider to be computed in:
	// the effect of rounding an argument on the way. It sees what NumPy of the row sees, `out` (the
	// exact result), `ulp(y)` and `magnitude(x)`. Devices without float64 need not evaluate it.
	Float64Also string
}

// Roundings counts the roundings of intermediate values where terms may cancel. Each is at most
// eps * f(|x|): half a unit in the last place of 1 in the dtype that is computed in (2**-53 for float64,
// 2**-24 else), times the result of the same operator for the magnitudes of its operands, or what the description
// of the row gives as Scale: terms that do not cancel for any operands. An element
// of n terms (see [Row.Terms]) has Once + Level*log2(n) + Term*n of them.
//
// A sum is an example: Higham, Accuracy and Stability of Numerical Algorithms, 4.2, bounds its error by
// eps*sum|x|, times n - 1 for terms that are added one by one and times log2(n) for those added in pairs.
type Roundings struct {
	Once, Level, Term float64
	Metal             float64 // Once on Metal, where it is more
}

// Count is how many roundings an element of n terms has, on Metal or on the host.
func (r Roundings) Count(n int64, metal bool) float64 {
	once := r.Once
	if metal {
		once = max(once, r.Metal)
	}
	return once + r.Level*math.Log2(float64(max(n, 1))) + r.Term*float64(n)
}

// ULPs are the units in the last place that a result of dtype d may be off, without roundings.
func (t *Tolerance) ULPs(d dtype.DType, metal bool) float64 {
	switch {
	case d == dtype.Float64:
		return t.Float64
	case d != dtype.Float32:
		return t.Half
	case metal:
		return max(t.Float32, t.Metal)
	}
	return t.Float32
}

// These three make the tolerance of a row from a common one; each answers a copy.

// OnMetal is t with so many units in the last place of float32 on Metal.
func (t *Tolerance) OnMetal(units float64) *Tolerance {
	copied := *t
	copied.Metal = units
	return &copied
}

// Plus is t with the roundings of intermediate values.
func (t *Tolerance) Plus(r Roundings) *Tolerance {
	copied := *t
	copied.Roundings = r
	return &copied
}

// InFloat64 is t with further units in float64, in NumPy.
func (t *Tolerance) InFloat64(also string) *Tolerance {
	copied := *t
	copied.Float64Also = also
	return &copied
}

// ToleranceOf is what a row allows; what has none is exact.
func ToleranceOf(row *op.Row) *Tolerance {
	if t := tolerances[row.Name]; t != nil {
		return t
	}
	return &Tolerance{}
}

// How exact most operators are on the host: the exact result rounded once, or an approximation of it.
var (
	rounded  = &Tolerance{Float32: 0.5, Float64: 0.5, Half: 0.5}
	accurate = &Tolerance{Float32: 2, Float64: 4, Half: 1} // float64 has nothing wider to be computed in

	termwise = rounded.Plus(Roundings{Term: 1})           // of sums and products of which each term is rounded
	pairwise = rounded.Plus(Roundings{Once: 2, Level: 1}) // of sums that are added in pairs, and their scaling
)

// What rounding an argument does in float64, in units in the last place of the result.
const (
	// Go reduces arguments from 2**20 on with 64 bits of the fraction: an absolute error, times the slope.
	farArguments = "np.where(np.abs(x) >= 2**20, 2.0**-54 * (1 + np.square(out)) / ulp(out), 0)"
	// 1/sqrt(2) and the product with x are rounded, which exp(-x*x/2) multiplies by x*x; the approximation
	// rounds the argument of exp four times.
	squaredArgument = "np.minimum(8 * np.sqrt(2 / pi) * (magnitude(x) + 0.044715 * magnitude(x)**3) if approximate else 1.5 * np.square(magnitude(x)), 2.0**52)"
	// x - max(x) is rounded, which exp turns into a factor.
	belowLargest = "np.abs(x - np.max(x, axis=axis, keepdims=True))"
	// lgamma is reflected below 0: the logarithm of a sine less lgamma of the opposite.
	logarithmsCancel = "np.where(x < 0, 2.0**-50 * (1 + magnitude(x) * np.log1p(magnitude(x))) / ulp(out), 0)"
	// digamma is reflected below 0: a cotangent less a logarithm.
	cotangentCancels = "np.where(x < 0, 2.0**-49 * (1 + np.log1p(magnitude(x))) / ulp(out), 0)"
)

// How a number is derived is said here, or beside the row. Those of composites follow from their calls: k units in the last place are a relative error of up to k * 2**-23, and a relative
// error is at most twice as many units.
var tolerances = map[string]*Tolerance{
	"add":          rounded,
	"subtract":     rounded,
	"multiply":     rounded,
	"divide":       rounded,
	"floor_divide": rounded.OnMetal(2),
	"remainder":    rounded.OnMetal(1),
	"pow":          {Float32: 2, Float64: 8, Half: 1, Metal: 16},
	// Near 0 the two terms cancel, so that the errors of both count beside log(exp|x| + exp|y|), which is log(2) or
	// more. An ulp is up to 2 eps: 1 of exp gives log1p 1 eps at most, its argument 0.3, 1 of log1p is 2 log(2) eps.
	// On Metal exp has 4 ulp and log1p 10: (4 + 0.3 + 20 log(2)) / log(2).
	"logaddexp":            rounded.Plus(Roundings{Once: 4, Metal: 27}),
	"atan2":                accurate.OnMetal(6),
	"binary_cross_entropy": rounded.Plus(Roundings{Once: 11, Metal: 23}),
	"exp":                  accurate.OnMetal(4),
	"expm1":                accurate.OnMetal(15),
	"log":                  accurate.OnMetal(4),
	"log1p":                accurate.OnMetal(10),
	"log2":                 accurate.OnMetal(4),
	"sqrt":                 rounded,
	"rsqrt":                accurate.OnMetal(1),
	"square":               rounded,
	"reciprocal":           rounded,
	"sin":                  accurate.OnMetal(4).InFloat64(farArguments),
	"cos":                  accurate.OnMetal(4).InFloat64(farArguments),
	"tan":                  accurate.OnMetal(6).InFloat64(farArguments),
	"tanh":                 accurate.OnMetal(5),
	"sinh":                 accurate.OnMetal(4),
	"cosh":                 accurate.OnMetal(4),
	"erf":                  accurate.OnMetal(4),
	"acos":                 accurate.OnMetal(4),
	"asin":                 accurate.OnMetal(4),
	"atan":                 accurate.OnMetal(5),
	"acosh":                accurate.OnMetal(4),
	"asinh":                accurate.OnMetal(4),
	"atanh":                accurate.OnMetal(5),
	"log10":                accurate.OnMetal(4),
	"sigmoid":              accurate.OnMetal(10),
	"silu":                 accurate.OnMetal(11),
	"gelu":                 accurate.OnMetal(16).InFloat64(squaredArgument),
	"softplus":             accurate.OnMetal(14),
	"leaky_relu":           accurate.OnMetal(1),
	"softmax":              accurate.OnMetal(20).InFloat64(belowLargest),
	"log_softmax":          accurate,
	"cast":                 rounded,
	"sum":                  pairwise,
	"mean":                 pairwise,
	"prod":                 termwise,
	"cumsum":               termwise,
	"cumprod":              termwise.InFloat64("underflow(x, given['axis']) * 2.0**-1074 / ulp(out)"),
	"logcumsumexp":         rounded.Plus(Roundings{Once: 4, Term: 6, Metal: 5}),
	"square_sum":           rounded.Plus(Roundings{Once: 2, Term: 1}),
	"matmul":               termwise,
	"lgamma":               {Float32: 2, Float64: 8, Half: 1, Float64Also: logarithmsCancel},
	"digamma":              {Float32: 2, Float64: 8, Half: 1, Float64Also: cotangentCancels},
	"erfinv":               {Float32: 2, Float64: 8, Half: 1, Metal: 16},
	"i0":                   {Float32: 2, Float64: 8, Half: 1, Metal: 40},
	"i0e":                  {Float32: 2, Float64: 8, Half: 1, Metal: 24},
	"i1":                   {Float32: 2, Float64: 8, Half: 1, Metal: 40},
	"i1e":                  {Float32: 2, Float64: 8, Half: 1, Metal: 24},
	"conv":                 termwise,
	"conv_transpose":       termwise,
	"conv_weight":          termwise,
	"max_unpool":           termwise,
	"avg_pool":             rounded.Plus(Roundings{Once: 1, Term: 1}),
	"avg_unpool":           rounded.Plus(Roundings{Once: 1, Term: 2}),
	"layer_norm":           {Float32: 1, Float64: 4, Half: 1, Metal: 2},
	"attention":            accurate.Plus(Roundings{Term: 2}),
	"lstm":                 accurate.Plus(Roundings{Term: 2}),
	"gru":                  accurate.Plus(Roundings{Term: 2}),
	"elu":                  {Float32: 5, Float64: 9, Half: 1, Metal: 31},
	"celu":                 {Float32: 6, Float64: 10, Half: 1, Metal: 32},
	"selu":                 {Float32: 6, Float64: 10, Half: 1, Metal: 32},
	"hardsigmoid":          rounded.Plus(Roundings{Once: 2}),
	"hardswish":            {Float32: 3, Float64: 3, Half: 1},
	"softshrink":           rounded,
	"softsign":             {Float32: 2, Float64: 2, Half: 1},
	"tanhshrink":           rounded.Plus(Roundings{Once: 8, Metal: 10}),
	"log_sigmoid":          accurate.OnMetal(14),
	"mish":                 {Float32: 9, Float64: 13, Half: 1, Metal: 13},
	"prelu":                rounded,
	"glu":                  {Float32: 5, Float64: 9, Half: 1, Metal: 21},
	"swiglu":               {Float32: 5, Float64: 9, Half: 1, Metal: 23},
	"root":                 accurate.OnMetal(17),
	"add_n":                pairwise,
	// A factor of sigmoid and two products: 2 (2 + 0.5), on Metal 2 (10 + 0.5).
	"swish": {Float32: 5, Float64: 9, Half: 1, Metal: 21},
}
