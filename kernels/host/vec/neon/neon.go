//go:build arm64 && cgo && !race

package neon

/*
#cgo CFLAGS: -O3 -std=c11
#cgo noescape neon_map
#cgo nocallback neon_map
#cgo noescape neon_pair
#cgo nocallback neon_pair
#cgo noescape neon_pow
#cgo nocallback neon_pow
#cgo noescape neon_exp2
#cgo nocallback neon_exp2
#cgo noescape neon_atan2
#cgo nocallback neon_atan2
#cgo noescape neon_softplus
#cgo nocallback neon_softplus
#cgo noescape neon_leaky_relu
#cgo nocallback neon_leaky_relu
#cgo noescape neon_compare
#cgo nocallback neon_compare
#cgo noescape neon_less_int32
#cgo nocallback neon_less_int32
#cgo noescape neon_f16_to_f32
#cgo nocallback neon_f16_to_f32
#cgo noescape neon_bf16_to_f32
#cgo nocallback neon_bf16_to_f32
#cgo noescape neon_f32_to_f16
#cgo nocallback neon_f32_to_f16
#cgo noescape neon_f32_to_bf16
#cgo nocallback neon_f32_to_bf16
#cgo noescape neon_to_int32
#cgo nocallback neon_to_int32
#cgo noescape neon_to_float32
#cgo nocallback neon_to_float32
#cgo noescape neon_sum
#cgo nocallback neon_sum
#cgo noescape neon_sum_squares
#cgo nocallback neon_sum_squares
#cgo noescape neon_sum_deviations
#cgo nocallback neon_sum_deviations
#cgo noescape neon_max
#cgo nocallback neon_max
#cgo noescape neon_min
#cgo nocallback neon_min
#cgo noescape neon_sum_columns
#cgo nocallback neon_sum_columns
#cgo noescape neon_max_columns
#cgo nocallback neon_max_columns
#cgo noescape neon_min_columns
#cgo nocallback neon_min_columns
#cgo noescape neon_standardize
#cgo nocallback neon_standardize
#cgo noescape neon_softmax
#cgo nocallback neon_softmax
#cgo noescape neon_weigh
#cgo nocallback neon_weigh
#cgo noescape neon_largest
#cgo nocallback neon_largest
#cgo noescape neon_find
#cgo nocallback neon_find
#cgo noescape neon_arg_columns
#cgo nocallback neon_arg_columns
#cgo noescape neon_depthwise
#cgo nocallback neon_depthwise
#cgo noescape neon_max_deep
#cgo nocallback neon_max_deep
#include "rows.h"
*/
import "C"

import "unsafe"

// Function names a function of one element: the one of package maths that has its name.
type Function C.int

// The functions that [Function.Row] computes.
const (
	Neg        Function = C.NEON_NEG
	Abs        Function = C.NEON_ABS
	Sqrt       Function = C.NEON_SQRT
	Rsqrt      Function = C.NEON_RSQRT
	Reciprocal Function = C.NEON_RECIPROCAL
	Square     Function = C.NEON_SQUARE
	Exp        Function = C.NEON_EXP
	Expm1      Function = C.NEON_EXPM1
	Log        Function = C.NEON_LOG
	Log1p      Function = C.NEON_LOG1P
	Log2       Function = C.NEON_LOG2
	Log10      Function = C.NEON_LOG10
	Sin        Function = C.NEON_SIN
	Cos        Function = C.NEON_COS
	Tan        Function = C.NEON_TAN
	Asin       Function = C.NEON_ASIN
	Acos       Function = C.NEON_ACOS
	Atan       Function = C.NEON_ATAN
	Tanh       Function = C.NEON_TANH
	Sinh       Function = C.NEON_SINH
	Cosh       Function = C.NEON_COSH
	Asinh      Function = C.NEON_ASINH
	Acosh      Function = C.NEON_ACOSH
	Atanh      Function = C.NEON_ATANH
	Erf        Function = C.NEON_ERF
	Sigmoid    Function = C.NEON_SIGMOID
	Relu       Function = C.NEON_RELU
	Silu       Function = C.NEON_SILU
	Gelu       Function = C.NEON_GELU
	GeluTanh   Function = C.NEON_GELU_TANH
	Floor      Function = C.NEON_FLOOR
	Ceil       Function = C.NEON_CEIL
	Round      Function = C.NEON_ROUND
	Trunc      Function = C.NEON_TRUNC
	Sign       Function = C.NEON_SIGN
)

// TrigLimit is the largest magnitude of a finite number of which C computes the sine, cosine and tangent.
const TrigLimit = 0x1p30

// Row sets dst to f of src and answers how many elements it has set: all of them, or for [Sin], [Cos] and [Tan] fewer, where one of the
// next four is finite and beyond [TrigLimit].
func (f Function) Row(dst, src []float32) int {
	return int(C.neon_map(C.int(f), floats(dst), floats(src), C.size_t(len(src))))
}

// Operation names a function of two elements.
type Operation C.int

// The operations. Max and Min are NaN if one of the operands is, and the second of two that are equal.
const (
	Add Operation = C.NEON_ADD
	Sub Operation = C.NEON_SUB
	Mul Operation = C.NEON_MUL
	Div Operation = C.NEON_DIV
	Max Operation = C.NEON_MAX
	Min Operation = C.NEON_MIN
)

// VV sets dst to op of two rows.
func (op Operation) VV(dst, a, b []float32) {
	if len(dst) > 0 {
		C.neon_pair(C.int(op), C.NEON_ROWS, floats(dst), floats(a), floats(b), C.size_t(len(dst)))
	}
}

// VS sets dst to op of a row and a number.
func (op Operation) VS(dst, a []float32, b float32) {
	if len(dst) > 0 {
		C.neon_pair(C.int(op), C.NEON_RIGHT_SCALAR, floats(dst), floats(a), (*C.float)(&b), C.size_t(len(dst)))
	}
}

// SV sets dst to op of a number and a row.
func (op Operation) SV(dst []float32, a float32, b []float32) {
	if len(dst) > 0 {
		C.neon_pair(C.int(op), C.NEON_LEFT_SCALAR, floats(dst), (*C.float)(&a), floats(b), C.size_t(len(dst)))
	}
}

// Pow sets dst to the powers of x by y, as math.Pow defines them.
func Pow(dst, x, y []float32) { C.neon_pow(floats(dst), floats(x), floats(y), C.size_t(len(dst))) }

// Exp2 sets dst to the powers of 2 by src.
func Exp2(dst, src []float32) { C.neon_exp2(floats(dst), floats(src), C.size_t(len(src))) }

// Atan2 sets dst to the angles of the points (x, y).
func Atan2(dst, y, x []float32) {
	C.neon_atan2(floats(dst), floats(y), floats(x), C.size_t(len(dst)))
}

// Softplus sets dst to log(1+exp(beta*x))/beta for x = src, and to x where beta*x is above threshold.
func Softplus(dst, src []float32, beta, threshold float32) {
	C.neon_softplus(floats(dst), floats(src), C.float(beta), C.float(threshold), C.size_t(len(src)))
}

// LeakyRelu sets dst to src where it is positive, else to slope*src.
func LeakyRelu(dst, src []float32, slope float32) {
	C.neon_leaky_relu(floats(dst), floats(src), C.float(slope), C.size_t(len(src)))
}

// Comparison names a comparison of two elements.
type Comparison C.int

// The comparisons, of which only NotEqual holds for NaN.
const (
	Less      Comparison = C.NEON_LESS
	LessEqual Comparison = C.NEON_LESS_EQUAL
	Equal     Comparison = C.NEON_EQUAL
	NotEqual  Comparison = C.NEON_NOT_EQUAL
)

// Row sets dst to 1 where the comparison holds, else to 0.
func (c Comparison) Row(dst []uint8, a, b []float32) {
	C.neon_compare(C.int(c), bytes(dst), floats(a), floats(b), C.size_t(len(dst)))
}

// LessInt32 is Less for integers.
func LessInt32(dst []uint8, a, b []int32) {
	C.neon_less_int32(bytes(dst), words(a), words(b), C.size_t(len(dst)))
}

// F16ToF32 widens float16.
func F16ToF32(dst []float32, src []uint16) {
	C.neon_f16_to_f32(floats(dst), halves(src), C.size_t(len(src)))
}

// BF16ToF32 widens bfloat16.
func BF16ToF32(dst []float32, src []uint16) {
	C.neon_bf16_to_f32(floats(dst), halves(src), C.size_t(len(src)))
}

// F32ToF16 rounds to float16.
func F32ToF16(dst []uint16, src []float32) {
	C.neon_f32_to_f16(halves(dst), floats(src), C.size_t(len(src)))
}

// F32ToBF16 rounds to bfloat16.
func F32ToBF16(dst []uint16, src []float32) {
	C.neon_f32_to_bf16(halves(dst), floats(src), C.size_t(len(src)))
}

// ToInt32 drops fractions; what is too large becomes the nearest int32, and NaN 0.
func ToInt32(dst []int32, src []float32) {
	C.neon_to_int32(words(dst), floats(src), C.size_t(len(src)))
}

// ToFloat32 rounds float64 once.
func ToFloat32(dst []float32, src []float64) {
	C.neon_to_float32(floats(dst), doubles(src), C.size_t(len(src)))
}

// Sum adds up in float64.
func Sum(x []float32) float64 { return float64(C.neon_sum(floats(x), C.size_t(len(x)))) }

// SumSquares adds up squares in float64.
func SumSquares(x []float32) float64 {
	return float64(C.neon_sum_squares(floats(x), C.size_t(len(x))))
}

// SumDeviations adds up (x - mean)**2 in float64.
func SumDeviations(x []float32, mean float64) float64 {
	return float64(C.neon_sum_deviations(floats(x), C.double(mean), C.size_t(len(x))))
}

// Top is the largest element, NaN if there is one, -Inf of none.
func Top(x []float32) float32 { return float32(C.neon_max(floats(x), C.size_t(len(x)))) }

// Bottom is the smallest element, NaN if there is one, +Inf of none.
func Bottom(x []float32) float32 { return float32(C.neon_min(floats(x), C.size_t(len(x)))) }

// SumColumns adds rows that lie stride elements apart to sums.
func SumColumns(sums []float64, x []float32, stride, rows int) {
	C.neon_sum_columns(doubles(sums), floats(x), C.size_t(stride), C.size_t(rows), C.size_t(len(sums)))
}

// MaxColumns makes of each element of tops the largest of it and its column, the first of equals, NaN if there is one.
func MaxColumns(tops, x []float32, stride, rows int) {
	C.neon_max_columns(floats(tops), floats(x), C.size_t(stride), C.size_t(rows), C.size_t(len(tops)))
}

// MinColumns is MaxColumns for the smallest.
func MinColumns(tops, x []float32, stride, rows int) {
	C.neon_min_columns(floats(tops), floats(x), C.size_t(stride), C.size_t(rows), C.size_t(len(tops)))
}

// Standardize sets dst to (x - mean) * scale * weight + bias for x = src. weight and bias may be nil.
func Standardize(dst, src, weight, bias []float32, mean, scale float64) {
	C.neon_standardize(floats(dst), floats(src), floats(weight), floats(bias), C.double(mean), C.double(scale), C.size_t(len(src)))
}

// Softmax computes rows of length elements each, of which there are whole ones only.
func Softmax(dst, src []float32, length int) {
	C.neon_softmax(floats(dst), floats(src), C.size_t(length), C.size_t(len(src)))
}

// Weigh is a step of an online softmax along columns, whose number, that of tops, is a multiple of 4. s has whole rows of them.
func Weigh(s, tops, sums, factors []float32, scaling int) {
	C.neon_weigh(floats(s), floats(tops), floats(sums), floats(factors), C.int(scaling), C.size_t(len(tops)), C.size_t(len(s)))
}

// Largest is the largest element, each with the bits of flip inverted; NaN is passed over.
func Largest(x []float32, flip uint32) float32 {
	return float32(C.neon_largest(floats(x), C.uint32_t(flip), C.size_t(len(x))))
}

// Find is the place of the first element that equals v, the length of the row if there is none.
func Find(x []float32, v float32) int {
	return int(C.neon_find(floats(x), C.float(v), C.size_t(len(x))))
}

// ArgColumns goes on with the search for the first largest of each column, in row number index.
func ArgColumns(best []float32, at []int32, x []float32, flip uint32, index int32) {
	C.neon_arg_columns(floats(best), words(at), floats(x), C.uint32_t(flip), C.int32_t(index), C.size_t(len(x)))
}

// Tap is the Tap of package stencil, whose tests compare the two. C has the same structure.
type Tap struct {
	Offset int
	Number int32
}

// The build fails where the structure of C is another.
var _ = [1]struct{}{}[unsafe.Sizeof(Tap{})-C.sizeof_neon_tap]

// Depthwise is stencil.DepthwiseChannelsLast, with one tap at least.
func Depthwise(to, x, w []float32, taps []Tap, n, step, channels int) {
	C.neon_depthwise(floats(to), floats(x), floats(w), windows(taps), C.size_t(len(taps)), C.size_t(n), C.size_t(step), C.size_t(channels))
}

// MaxDeep is stencil.MaxPoolChannelsLast.
func MaxDeep(to, x []float32, taps []Tap, n, step, channels int) {
	C.neon_max_deep(floats(to), floats(x), windows(taps), C.size_t(len(taps)), C.size_t(n), C.size_t(step), C.size_t(channels))
}

// floats is the address of a row, as C knows its elements.
// SAFETY: the elements of both languages have the same bits, and C keeps no address.
func floats(x []float32) *C.float { return (*C.float)(unsafe.SliceData(x)) }

// doubles is for float64.
// SAFETY: see floats.
func doubles(x []float64) *C.double { return (*C.double)(unsafe.SliceData(x)) }

// halves is for 16-bit floats, whose bits they are.
// SAFETY: see floats.
func halves(x []uint16) *C.uint16_t { return (*C.uint16_t)(unsafe.SliceData(x)) }

// words is for integers.
// SAFETY: see floats.
func words(x []int32) *C.int32_t { return (*C.int32_t)(unsafe.SliceData(x)) }

// bytes is for bools.
// SAFETY: see floats.
func bytes(x []uint8) *C.uint8_t { return (*C.uint8_t)(unsafe.SliceData(x)) }

// windows is for taps.
// SAFETY: a Tap has the fields of neon_tap at the same places.
func windows(x []Tap) *C.neon_tap { return (*C.neon_tap)(unsafe.Pointer(unsafe.SliceData(x))) }

// places is for distances.
// SAFETY: see floats; an int of arm64 has 64 bits.
func places(x []int) *C.int64_t { return (*C.int64_t)(unsafe.Pointer(unsafe.SliceData(x))) }
