package host

import (
	"math"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// unary is out[i] = f(x[i]). f sees the call for its attributes.
type unary[D, C any] struct {
	mapped[D, C]
	f func(c *device.Call, dst []D, src []C)
}

func (k *unary[D, C]) run(t *threads, c *device.Call) error { return k.elements(k, t, c) }

func (k *unary[D, C]) part(c *device.Call, lo, hi int64) error {
	if out, x := &c.Out[0], &c.In[0]; k.native && out.IsContiguous() && x.IsContiguous() {
		k.f(c, rowAt[D](out, lo, hi), rowAt[C](x, lo, hi))
		return nil
	}
	var store [4]device.Operand
	out, in := arranged(c, &store)
	f := newFrame()
	defer f.free()
	var to lane[D]
	var from lane[C]
	to.open(out, k.out, f, lo)
	from.open(&in[0], k.in, f, lo)
	for lo < hi {
		n := min(block, hi-lo)
		k.f(c, to.space(n), from.next(n))
		to.keep()
		lo += n
	}
	return nil
}

// rowOf adapts a function of rows that needs no attributes.
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

// heavy is the cost of a transcendental function in additions, without SIMD.
const heavy = 8

// light are the functions of vec.Unary that cost about as much as an addition.
var light = map[vec.Unary]bool{
	vec.Neg: true, vec.Abs: true, vec.Square: true, vec.Reciprocal: true, vec.Sqrt: true, vec.Relu: true,
	vec.Floor: true, vec.Ceil: true, vec.Round: true, vec.Trunc: true, vec.Sign: true,
}

func init() {
	for f := vec.Neg; f <= vec.Sign; f++ {
		weight := int64(heavy)
		if light[f] {
			weight = 1
		}
		if f != vec.Gelu && f != vec.GeluTanh {
			registerUnaryFloats(f.String(), weight, rowOf(f.Row), rowOf(f.Row64))
		}
	}
	registerUnaryFloats("gelu", heavy, gelu(vec.Unary.Row), gelu(vec.Unary.Row64))
	registerUnaryFloats("leaky_relu", 1, withSlope(vec.LeakyRelu), withSlope(vec.LeakyRelu64))
	registerUnaryFloats("softplus", heavy, withBeta(vec.Softplus), withBeta(vec.Softplus64))

	registerUnaryIntegers[uint8](dtype.Uint8, same[uint8])
	registerUnaryIntegers(dtype.Int8, abs[int8])
	registerUnaryIntegers(dtype.Int16, abs[int16])
	registerUnaryIntegers(dtype.Int32, abs[int32])
	registerUnaryIntegers(dtype.Int64, abs[int64])

	for _, name := range []string{"abs", "neg"} {
		register(name, dtype.Bool, &unary[uint8, uint8]{plain[uint8, uint8](1), rowOf(copyRow[uint8])})
	}
	register("logical_not", dtype.Bool, predicate(isZero[uint8]))
	registerPredicates(halfCodec(dtype.Float16), dtype.Float16)
	registerPredicates(halfCodec(dtype.BFloat16), dtype.BFloat16)
	registerPredicates(new(codec[float32]), dtype.Float32)
	registerPredicates(new(codec[float64]), dtype.Float64)
}

// registerUnaryFloats adds a function of floats; the halves compute in float32.
func registerUnaryFloats(name string, weight int64, f32 func(*device.Call, []float32, []float32), f64 func(*device.Call, []float64, []float64)) {
	for _, d := range []dtype.DType{dtype.Float16, dtype.BFloat16} {
		h := halfCodec(d)
		register(name, d, &unary[float32, float32]{mapping(h, h, weight+2), f32})
	}
	register(name, dtype.Float32, &unary[float32, float32]{plain[float32, float32](weight), f32})
	register(name, dtype.Float64, &unary[float64, float64]{plain[float64, float64](weight), f64})
}

func registerUnaryIntegers[T integer](d dtype.DType, magnitude func(T) T) {
	for name, f := range map[string]func(*device.Call, []T, []T){
		"abs":    eachOf(magnitude),
		"neg":    eachOf(func(x T) T { return -x }),
		"sign":   eachOf(signOf[T]),
		"square": eachOf(func(x T) T { return x * x }),
		"relu":   eachOf(func(x T) T { return max(x, 0) }),
		"floor":  rowOf(copyRow[T]),
		"ceil":   rowOf(copyRow[T]),
		"round":  rowOf(copyRow[T]),
		"trunc":  rowOf(copyRow[T]),
	} {
		register(name, d, &unary[T, T]{plain[T, T](1), f})
	}
	register("logical_not", d, predicate(isZero[T]))
	register("isnan", d, predicate(func(T) bool { return false }))
	register("isinf", d, predicate(func(T) bool { return false }))
	register("isfinite", d, predicate(func(T) bool { return true }))
}

func registerPredicates[T float32 | float64](in *codec[T], d dtype.DType) {
	for name, f := range map[string]func(T) bool{
		"logical_not": isZero[T],
		"isnan":       func(x T) bool { return x != x },
		"isinf":       func(x T) bool { return math.IsInf(float64(x), 0) },
		"isfinite":    func(x T) bool { return x-x == 0 },
	} {
		register(name, d, &unary[uint8, T]{mapping(in, new(codec[uint8]), 1), truth(f)})
	}
}

// predicate is a kernel that answers bools about elements.
func predicate[T any](f func(T) bool) kernel {
	return &unary[uint8, T]{plain[uint8, T](1), truth(f)}
}

func truth[T any](f func(T) bool) func(*device.Call, []uint8, []T) {
	return eachOf(func(x T) uint8 { return bit(f(x)) })
}

// bit is a bool as tensors store it.
func bit(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}

func isZero[T number](x T) bool { return x == 0 }

func same[T any](x T) T { return x }

func copyRow[T any](dst, src []T) { copy(dst, src) }

func signOf[T integer](x T) T {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return ^T(0) // -1; no unsigned value gets here
	}
	return 0
}

func gelu[T any](row func(f vec.Unary, dst, src []T)) func(*device.Call, []T, []T) {
	return func(c *device.Call, dst, src []T) {
		f := vec.Gelu
		if c.Attrs[0].I != 0 {
			f = vec.GeluTanh
		}
		row(f, dst, src)
	}
}

func withSlope[T float32 | float64](row func(dst, src []T, slope T)) func(*device.Call, []T, []T) {
	return func(c *device.Call, dst, src []T) { row(dst, src, T(c.Attrs[0].Float64())) }
}

func withBeta[T float32 | float64](row func(dst, src []T, beta, threshold T)) func(*device.Call, []T, []T) {
	return func(c *device.Call, dst, src []T) {
		row(dst, src, T(c.Attrs[0].Float64()), T(c.Attrs[1].Float64()))
	}
}
