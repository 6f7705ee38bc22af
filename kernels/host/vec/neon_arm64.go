//go:build cgo && !race

package vec

import (
	"math"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec/neon"
)

// shortRow is the number of elements below which a call to C, some 35 ns, takes longer than a portable loop that adds. Functions that
// round correctly or not at all leave shorter rows to it, and so do reductions, which depend on their row as a whole; the others must
// not, because the length of a row does not show in its results.
const shortRow = 64

// useC chooses the loops of package neon.
func (t *table) useC() {
	t.pairsInC()
	t.functionsInC()
	t.conversionsInC()
	t.reductionsInC()
	t.depthwise = func(to, x, w []float32, taps []Tap, n, step, channels int) {
		neon.Depthwise(to, x, w, tapsInC(taps), n, step, channels)
	}
	t.maxDeep = func(to, x []float32, taps []Tap, n, step, channels int) {
		neon.MaxDeep(to, x, tapsInC(taps), n, step, channels)
	}
}

// reductionsInC chooses loops of one row or several.
func (t *table) reductionsInC() {
	t.sum, t.sumSquares = reductionInC(neon.Sum, t.sum), reductionInC(neon.SumSquares, t.sumSquares)
	t.max, t.min = reductionInC(neon.Top, t.max), reductionInC(neon.Bottom, t.min)
	t.sumColumns = columnsInC(neon.SumColumns, t.sumColumns)
	t.maxColumns, t.minColumns = columnsInC(neon.MaxColumns, t.maxColumns), columnsInC(neon.MinColumns, t.minColumns)
	t.softmax, t.weigh = neon.Softmax, weighInC(t.weigh)
	t.searchesInC()
	t.normalize, t.standardize = normalizeInC, standardizeInC
}

// normalizeInC is normalizeRows with C's loops, where rows are long enough for calls.
func normalizeInC(dst, src, weight, bias []float32, length int, epsilon float64, centered bool, next func(scale float64)) {
	if length < shortRow {
		normalizeRows(dst, src, weight, bias, length, epsilon, centered, next)
		return
	}
	for ; len(src) >= length; dst, src = dst[length:], src[length:] {
		x, mean := src[:length], 0.0
		if centered {
			mean = neon.Sum(x) / float64(length)
		}
		scale := 1 / math.Sqrt(neon.SumDeviations(x, mean)/float64(length)+epsilon)
		neon.Standardize(dst[:length], x, weight, bias, mean, scale)
		next(scale)
	}
}

// standardizeInC is standardizeRows, likewise.
func standardizeInC(dst, src, weight, bias []float32, length int, means, scales []float64) {
	if length < shortRow {
		standardizeRows(dst, src, weight, bias, length, means, scales)
		return
	}
	for j := range means {
		neon.Standardize(dst[j*length:][:length], src[j*length:][:length], weight, bias, means[j], scales[j])
	}
}

// weighInC leaves columns that fill no vectors to the portable loop, as tiles do not have them.
func weighInC(portable func(s, tops, sums, factors []float32, scaling int)) func(s, tops, sums, factors []float32, scaling int) {
	return func(s, tops, sums, factors []float32, scaling int) {
		if len(tops)%4 != 0 {
			portable(s, tops, sums, factors, scaling)
			return
		}
		neon.Weigh(s, tops, sums, factors, scaling)
	}
}

// searchesInC chooses loops that look for the largest element.
func (t *table) searchesInC() {
	largest, find, columns := t.largest, t.find, t.argColumns
	t.largest = func(x []float32, flip uint32) (float32, int) {
		if len(x) < shortRow {
			return largest(x, flip)
		}
		return neon.Largest(x, flip), 0
	}
	t.find = func(x []float32, v float32, flip uint32) int {
		if len(x) < shortRow {
			return find(x, v, flip)
		}
		// C looks for the element as it lies in memory.
		if i := neon.Find(x, math.Float32frombits(math.Float32bits(v)^flip)); i < len(x) {
			return i
		}
		return -1
	}
	t.argColumns = func(best []float32, at []int32, x []float32, flip uint32, index int32) {
		if len(x) < shortRow {
			columns(best, at, x, flip, index)
			return
		}
		neon.ArgColumns(best, at, x, flip, index)
	}
}

// reductionInC leaves short rows to a portable loop.
func reductionInC[R any](long, short func(x []float32) R) func(x []float32) R {
	return func(x []float32) R {
		if len(x) < shortRow {
			return short(x)
		}
		return long(x)
	}
}

// columnsInC leaves few elements to a portable loop, which folds a column in the same order, with the same roundings.
func columnsInC[A any](long, short func(as []A, x []float32, stride, rows int)) func(as []A, x []float32, stride, rows int) {
	return func(as []A, x []float32, stride, rows int) {
		if len(as)*rows < shortRow {
			short(as, x, stride, rows)
			return
		}
		long(as, x, stride, rows)
	}
}

// tapsInC are the same taps.
// SAFETY: both types have the same fields.
func tapsInC(taps []Tap) []neon.Tap {
	return unsafe.Slice((*neon.Tap)(unsafe.Pointer(unsafe.SliceData(taps))), len(taps))
}

// pairsInC chooses loops of two operands.
func (t *table) pairsInC() {
	operations := [binaryCount]neon.Operation{Add: neon.Add, Sub: neon.Sub, Mul: neon.Mul, Div: neon.Div, Max: neon.Max, Min: neon.Min}
	for op, f := range operations {
		short := t.binary32[op]
		t.binary32[op] = Rows[float32]{
			VV: func(dst, a, b []float32) {
				if len(dst) < shortRow {
					short.VV(dst, a, b)
					return
				}
				f.VV(dst, a, b)
			},
			VS: func(dst, a []float32, b float32) {
				if len(dst) < shortRow {
					short.VS(dst, a, b)
					return
				}
				f.VS(dst, a, b)
			},
			SV: func(dst []float32, a float32, b []float32) {
				if len(dst) < shortRow {
					short.SV(dst, a, b)
					return
				}
				f.SV(dst, a, b)
			},
		}
	}
	t.pow, t.exp2, t.atan2 = neon.Pow, neon.Exp2, neon.Atan2
	t.leakyRelu, t.softplus = neon.LeakyRelu, neon.Softplus
	t.less, t.lessEqual = comparisonInC(neon.Less, t.less), comparisonInC(neon.LessEqual, t.lessEqual)
	t.equal, t.notEqual = comparisonInC(neon.Equal, t.equal), comparisonInC(neon.NotEqual, t.notEqual)
	t.lessInt32 = rowsInC(neon.LessInt32, t.lessInt32)
}

// comparisonInC leaves short rows to a portable loop.
func comparisonInC(c neon.Comparison, short func(dst []uint8, a, b []float32)) func(dst []uint8, a, b []float32) {
	return rowsInC(c.Row, short)
}

// rowsInC leaves short rows of two operands to a portable loop.
func rowsInC[D, S any](long, short func(dst []D, a, b []S)) func(dst []D, a, b []S) {
	return func(dst []D, a, b []S) {
		if len(dst) < shortRow {
			short(dst, a, b)
			return
		}
		long(dst, a, b)
	}
}

// rowInC leaves short rows of one operand to a portable loop.
func rowInC[D, S any](long, short func(dst []D, src []S)) func(dst []D, src []S) {
	return func(dst []D, src []S) {
		if len(dst) < shortRow {
			short(dst, src)
			return
		}
		long(dst, src)
	}
}

// conversionsInC chooses loops that are exact or round once.
func (t *table) conversionsInC() {
	t.f16ToF32, t.bf16ToF32 = rowInC(neon.F16ToF32, t.f16ToF32), rowInC(neon.BF16ToF32, t.bf16ToF32)
	t.f32ToF16, t.f32ToBF16 = rowInC(neon.F32ToF16, t.f32ToF16), rowInC(neon.F32ToBF16, t.f32ToBF16)
	t.toInt32, t.toFloat32 = rowInC(neon.ToInt32, t.toInt32), rowInC(neon.ToFloat32, t.toFloat32)
}

// functionsInC chooses loops of one operand.
func (t *table) functionsInC() {
	for f, in := range map[Unary]neon.Function{
		Neg: neon.Neg, Abs: neon.Abs, Sqrt: neon.Sqrt, Reciprocal: neon.Reciprocal, Square: neon.Square, Relu: neon.Relu,
		Floor: neon.Floor, Ceil: neon.Ceil, Round: neon.Round, Trunc: neon.Trunc, Sign: neon.Sign,
	} {
		t.unary[f] = rowInC(functionInC(in), t.unary[f])
	}
	for f, in := range map[Unary]neon.Function{
		Rsqrt: neon.Rsqrt, Exp: neon.Exp, Expm1: neon.Expm1, Log: neon.Log, Log1p: neon.Log1p, Log2: neon.Log2, Log10: neon.Log10,
		Asin: neon.Asin, Acos: neon.Acos, Atan: neon.Atan, Tanh: neon.Tanh, Sinh: neon.Sinh, Cosh: neon.Cosh,
		Asinh: neon.Asinh, Acosh: neon.Acosh, Atanh: neon.Atanh, Erf: neon.Erf, Sigmoid: neon.Sigmoid,
		Silu: neon.Silu, Gelu: neon.Gelu, GeluTanh: neon.GeluTanh,
	} {
		t.unary[f] = functionInC(in)
	}
	t.unary[Sin] = turnInC(neon.Sin, math.Sin)
	t.unary[Cos] = turnInC(neon.Cos, math.Cos)
	t.unary[Tan] = turnInC(neon.Tan, math.Tan)
}

// functionInC is a row function that does all elements.
func functionInC(f neon.Function) func(dst, src []float32) {
	return func(dst, src []float32) { f.Row(dst, src) }
}

// turnInC is a row function of angles. C leaves numbers far beyond a turn to the scalar function. It stops in front of a vector with
// such a number, of which the other elements are computed one by one: an element's neighbors do not show in its result.
func turnInC(f neon.Function, scalar func(float64) float64) func(dst, src []float32) {
	far := throughFloat64(scalar)
	return func(dst, src []float32) {
		for done := f.Row(dst, src); done < len(src); done += f.Row(dst[done:], src[done:]) {
			for end := min(done+4, len(src)); done < end; done++ {
				to, x := dst[done:done+1], src[done:done+1]
				if a := math.Abs(float64(x[0])); a > neon.TrigLimit && a <= math.MaxFloat32 {
					far(to, x)
				} else {
					f.Row(to, x)
				}
			}
		}
	}
}
