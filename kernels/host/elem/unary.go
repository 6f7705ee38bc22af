package elem

import (
	"math"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/arith"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/maths"
)

// Unary is out[i] = f(x[i]). f sees the call for its attributes. It computes n values at one address from as many at
// another, so that the kernel itself is compiled once and not for each pair of types.
type Unary struct {
	in, out engine.Coding
	Effort
	F Rows
}

// Rows is a function of rows where types are not known: n values at dst of as many at src.
type Rows func(c *device.Call, dst, src unsafe.Pointer, n int64)

// newUnary makes a kernel of a function of rows. Inlined, it would be in each registration.
// SAFETY: see slice; part hands over rows of these types.
//
//go:noinline
func newUnary[D, C any](in, out engine.Coding, weight int64, f func(c *device.Call, dst []D, src []C)) *Unary {
	return &Unary{in, out, EffortOf(in, out, weight), func(c *device.Call, dst, src unsafe.Pointer, n int64) {
		f(c, engine.Slice[D](dst, n), engine.Slice[C](src, n))
	}}
}

// newRows is newUnary for a function that needs no attributes.
// SAFETY: see newUnary.
//
//go:noinline
func newRows[D, C any](in, out engine.Coding, weight int64, f func(dst []D, src []C)) *Unary {
	return &Unary{in, out, EffortOf(in, out, weight), func(_ *device.Call, dst, src unsafe.Pointer, n int64) {
		f(engine.Slice[D](dst, n), engine.Slice[C](src, n))
	}}
}

// Run splits the elements over the threads.
func (k *Unary) Run(t *engine.Threads, c *device.Call) error { return k.Elements(k, t, c) }

// Part computes on the memory of the operands itself where they are contiguous values, else through tracks.
// SAFETY: see slice.
func (k *Unary) Part(c *device.Call, lo, hi int64) error {
	if out, x := &c.Out[0], &c.In[0]; k.native && out.IsContiguous() && x.IsContiguous() {
		k.F(c, engine.AddressOf(out, lo), engine.AddressOf(x, lo), hi-lo)
		return nil
	}
	var store [4]device.Operand
	out, in := engine.Arranged(c, store[:0])
	f := engine.NewFrame()
	defer f.Free()
	var to, from engine.Track
	to.Open(out, &k.out, f, lo)
	from.Open(&in[0], &k.in, f, lo)
	for lo < hi {
		n := min(engine.Block, hi-lo)
		k.F(c, to.Space(), from.Next(n), n)
		to.Keep(n)
		lo += n
	}
	return nil
}

// rowOf adapts a function of rows that needs no attributes. Inlined, it would be a function for each of them.
//
//go:noinline
func rowOf[D, C any](f func(dst []D, src []C)) func(*device.Call, []D, []C) {
	return func(_ *device.Call, dst []D, src []C) { f(dst, src) }
}

// eachOf makes a function of rows of a function of one element.
func eachOf[D, C any](f func(x C) D) func(*device.Call, []D, []C) {
	return func(_ *device.Call, dst []D, src []C) {
		for i, x := range src {
			dst[i] = f(x)
		}
	}
}

// vectorFunctions are the operators of floats that are one function of package maths, which computes whole
// rows, in vectors where the processor has them. An operator that is not among them and needs no
// attribute is a line in init: registerUnaryFloats with eachOf.
var vectorFunctions = []struct {
	id     op.ID
	f      maths.Function
	weight int64 // in additions
}{
	{op.IDNeg, maths.Neg, 1},
	{op.IDAbs, maths.Abs, 1},
	{op.IDSqrt, maths.Sqrt, 1},
	{op.IDRsqrt, maths.Rsqrt, engine.Heavy},
	{op.IDReciprocal, maths.Reciprocal, 1},
	{op.IDSquare, maths.Square, 1},
	{op.IDExp, maths.Exp, engine.Heavy},
	{op.IDExpm1, maths.Expm1, engine.Heavy},
	{op.IDLog, maths.Log, engine.Heavy},
	{op.IDLog1p, maths.Log1p, engine.Heavy},
	{op.IDLog2, maths.Log2, engine.Heavy},
	{op.IDLog10, maths.Log10, engine.Heavy},
	{op.IDSin, maths.Sin, engine.Heavy},
	{op.IDCos, maths.Cos, engine.Heavy},
	{op.IDTan, maths.Tan, engine.Heavy},
	{op.IDAsin, maths.Asin, engine.Heavy},
	{op.IDAcos, maths.Acos, engine.Heavy},
	{op.IDAtan, maths.Atan, engine.Heavy},
	{op.IDTanh, maths.Tanh, engine.Heavy},
	{op.IDSinh, maths.Sinh, engine.Heavy},
	{op.IDCosh, maths.Cosh, engine.Heavy},
	{op.IDAsinh, maths.Asinh, engine.Heavy},
	{op.IDAcosh, maths.Acosh, engine.Heavy},
	{op.IDAtanh, maths.Atanh, engine.Heavy},
	{op.IDErf, maths.Erf, engine.Heavy},
	{op.IDLgamma, maths.Lgamma, 2 * engine.Heavy},
	{op.IDDigamma, maths.Digamma, 2 * engine.Heavy},
	{op.IDI0, maths.I0, 2 * engine.Heavy},
	{op.IDI0e, maths.I0e, 2 * engine.Heavy},
	{op.IDI1, maths.I1, 2 * engine.Heavy},
	{op.IDI1e, maths.I1e, 2 * engine.Heavy},
	{op.IDSigmoid, maths.Sigmoid, engine.Heavy},
	{op.IDRelu, maths.Relu, 1},
	{op.IDSilu, maths.Silu, engine.Heavy},
	{op.IDFloor, maths.Floor, 1},
	{op.IDCeil, maths.Ceil, 1},
	{op.IDRound, maths.Round, 1},
	{op.IDTrunc, maths.Trunc, 1},
	{op.IDSign, maths.Sign, 1},
}

// Integers have those functions that give integers; all others are reached by a cast of the row.
func init() {
	for _, v := range vectorFunctions {
		registerUnaryFloats(v.id, v.weight, rowOf(v.f.Row), rowOf(v.f.Row64))
	}
	registerUnaryFloats(op.IDGelu, engine.Heavy, gelu(maths.Function.Row), gelu(maths.Function.Row64))
	registerUnaryFloats(op.IDLeakyRelu, 1, withSlope(maths.LeakyRelu), withSlope(maths.LeakyRelu64))
	registerUnaryFloats(op.IDSoftplus, engine.Heavy, withBeta(maths.Softplus), withBeta(maths.Softplus64))

	registerUnaryIntegers[uint8](dtype.Uint8)
	registerUnaryIntegers[int8](dtype.Int8)
	registerUnaryIntegers[int16](dtype.Int16)
	registerUnaryIntegers[int32](dtype.Int32)
	registerUnaryIntegers[int64](dtype.Int64)

	for _, id := range []op.ID{op.IDAbs, op.IDNeg} { // as the integers 0 and 1 would, modulo 2
		registerStreamed(id, dtype.Bool, copier(1))
	}
	for _, d := range []dtype.DType{dtype.Bool, dtype.Uint8, dtype.Int8} {
		registerStreamed(op.IDLogicalNot, d, predicate(arith.LogicalNot))
	}
	registerStreamed(op.IDLogicalNot, dtype.Int16, predicate(isZero[int16]))
	registerStreamed(op.IDLogicalNot, dtype.Int32, predicate(isZero[int32]))
	registerStreamed(op.IDLogicalNot, dtype.Int64, predicate(isZero[int64]))
	inVectors := map[op.ID]func([]uint8, []float32){
		op.IDLogicalNot: against(0, arith.Equal, nil),
		op.IDIsnan:      func(dst []uint8, src []float32) { arith.NotEqual(dst, src, src) },
		op.IDIsinf:      against(math.Inf(1), arith.Equal, maths.Abs.Row),
		op.IDIsfinite:   against(math.Inf(1), arith.Less, maths.Abs.Row),
	}
	registerPredicates(engine.HalfCodec(dtype.Float16).Coding, dtype.Float16, inVectors)
	registerPredicates(engine.HalfCodec(dtype.BFloat16).Coding, dtype.BFloat16, inVectors)
	registerPredicates(engine.Plain, dtype.Float32, inVectors)
	registerPredicates(engine.Plain, dtype.Float64, map[op.ID]func([]uint8, []float64){
		op.IDLogicalNot: isZero[float64],
		op.IDIsnan:      isNaN,
		op.IDIsinf:      isInf,
		op.IDIsfinite:   isFinite,
	})
}

// against is a question about float32: how an element, or what a function makes of it, compares with a number.
func against(number float64, compare func(dst []uint8, a, b []float32), function func(dst, src []float32)) func([]uint8, []float32) {
	numbers := make([]float32, engine.Block)
	for i := range numbers {
		numbers[i] = float32(number)
	}
	return func(dst []uint8, src []float32) {
		f := engine.NewFrame()
		defer f.Free()
		made := engine.Slice[float32](f.Room(), engine.Block)
		for len(src) > 0 {
			n := min(len(src), engine.Block)
			row := src[:n]
			if function != nil {
				row = made[:n]
				function(row, src)
			}
			compare(dst[:n], row, numbers)
			dst, src = dst[n:], src[n:]
		}
	}
}

// registerUnaryFloats adds a function of floats; the halves compute in float32.
func registerUnaryFloats(id op.ID, weight int64, f32 func(*device.Call, []float32, []float32), f64 func(*device.Call, []float64, []float64)) {
	for _, d := range []dtype.DType{dtype.Float16, dtype.BFloat16} {
		h := engine.HalfCodec(d).Coding
		registerStreamed(id, d, newUnary(h, h, weight+2, f32))
	}
	registerStreamed(id, dtype.Float32, newUnary(engine.Plain, engine.Plain, weight, f32))
	registerStreamed(id, dtype.Float64, newUnary(engine.Plain, engine.Plain, weight, f64))
}

// registerUnaryIntegers adds the functions of one integer type, which wrap around. Integers have no fraction to
// round and are never nan or infinite.
func registerUnaryIntegers[T engine.Integer](d dtype.DType) {
	add := func(id op.ID, f func(dst, src []T)) {
		registerStreamed(id, d, newRows(engine.Plain, engine.Plain, 1, f))
	}
	add(op.IDAbs, magnitudes[T])
	add(op.IDSign, signs[T])
	add(op.IDRelu, positives[T])
	for _, id := range []op.ID{op.IDFloor, op.IDCeil, op.IDRound, op.IDTrunc} {
		registerStreamed(id, d, copier(d.Size()))
	}
	registerStreamed(op.IDIsnan, d, predicate(never))
	registerStreamed(op.IDIsinf, d, predicate(never))
	registerStreamed(op.IDIsfinite, d, predicate(always))
}

// registerPredicates adds the questions about floats that compute with T.
func registerPredicates[T float32 | float64](in engine.Coding, d dtype.DType, rows map[op.ID]func([]uint8, []T)) {
	for id, f := range rows {
		registerStreamed(id, d, newRows(in, engine.Plain, 1, f))
	}
}

// predicate is a kernel that answers bools about elements as they are.
func predicate[T any](f func(dst []uint8, src []T)) engine.Kernel {
	return newRows(engine.Plain, engine.Plain, 1, f)
}

// The predicates are loops of their own, as the comparisons are: a call for each element would cost four times as much.

// isZero is true for zeros of both signs.
func isZero[T engine.Number](dst []uint8, src []T) {
	dst = dst[:len(src)]
	for i, x := range src {
		dst[i] = engine.Bit(x == 0)
	}
}

// isNaN knows that nan alone differs from itself.
func isNaN(dst []uint8, src []float64) {
	dst = dst[:len(src)]
	for i, x := range src {
		dst[i] = engine.Bit(x != x)
	}
}

// isInf is neither nan nor finite.
func isInf(dst []uint8, src []float64) {
	dst = dst[:len(src)]
	for i, x := range src {
		dst[i] = engine.Bit(x == x) ^ engine.Bit(x-x == 0)
	}
}

// isFinite knows that infinities and nan leave nan when they are subtracted from themselves.
func isFinite(dst []uint8, src []float64) {
	dst = dst[:len(src)]
	for i, x := range src {
		dst[i] = engine.Bit(x-x == 0)
	}
}

// never is false for all elements, of any type: integers are neither nan nor infinite.
func never(dst, _ []uint8) { clear(dst) }

// always is true for all elements, of any type: integers are finite.
func always(dst, _ []uint8) {
	for i := range dst {
		dst[i] = 1
	}
}

// gelu is exact, or the approximation by tanh where the attribute asks for it.
func gelu[T any](row func(f maths.Function, dst, src []T)) func(*device.Call, []T, []T) {
	return func(c *device.Call, dst, src []T) {
		f := maths.Gelu
		if c.Attrs[op.GeluApproximate].I != 0 {
			f = maths.GeluTanh
		}
		row(f, dst, src)
	}
}

// withSlope hands the slope of leaky_relu to a function of rows.
func withSlope[T float32 | float64](row func(dst, src []T, slope T)) func(*device.Call, []T, []T) {
	return func(c *device.Call, dst, src []T) {
		row(dst, src, T(c.Attrs[op.LeakyReluNegativeSlope].Float64()))
	}
}

// withBeta hands both attributes of softplus to a function of rows.
func withBeta[T float32 | float64](row func(dst, src []T, beta, threshold T)) func(*device.Call, []T, []T) {
	return func(c *device.Call, dst, src []T) {
		row(dst, src, T(c.Attrs[op.SoftplusBeta].Float64()), T(c.Attrs[op.SoftplusThreshold].Float64()))
	}
}
