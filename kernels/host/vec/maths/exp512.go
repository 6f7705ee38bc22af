//go:build goexperiment.simd && amd64 && !race

package maths

import (
	"simd/archsimd"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// The functions whose time counts most have loops of their own. What a loop calls is inlined, because each of the
// functions below stays under the compiler's limit; a function handed to a driver would have to fit in as a whole, and
// a call passes vectors through memory, which takes longer than the arithmetic.

// inWhole512 runs loop, which leaves what does not fill a vector alone, on the row, and on what is left padded with zeros.
// Inlined, it would be a copy for each loop. The padded vector is from a pool: the compiler puts on the heap what a function
// that it does not know gets.
//
//go:noinline
func inWhole512(loop func(dst, src []float32)) func(dst, src []float32) {
	return func(dst, src []float32) {
		n := len(src) &^ (vec.Lanes512 - 1)
		loop(dst[:n], src[:n])
		if n < len(src) {
			pad := pads.Get().(*vec.Splat32)
			clear(pad[copy(pad[:vec.Lanes512], src[n:]):])
			loop(pad[:vec.Lanes512], pad[:vec.Lanes512])
			copy(dst[n:], pad[:])
			pads.Put(pad)
		}
	}
}

func (t *table) loops512() {
	t.unary[Exp] = inWhole512(expLoop512)
	t.unary[Sigmoid] = inWhole512(sigmoidLoop512)
	t.unary[Tanh] = inWhole512(tanhLoop512)
	t.unary[Erf] = inWhole512(erfLoop512)
	t.unary[Gelu] = inWhole512(geluLoop512)
	t.unary[Log] = inWhole512(logLoop512)
	t.unary[Log2] = inWhole512(log2Loop512)
	t.unary[Log1p] = inWhole512(log1pLoop512)
	t.unary[Expm1] = inWhole512(expm1Loop512)
	t.unary[Sin] = inWhole512(sinLoop512)
	t.unary[Cos] = inWhole512(cosLoop512)
	t.unary[Silu] = inWhole512(siluLoop512)
	t.pow, t.exp2 = pow512, exp2512
}

// SplitExpNarrow512 gives n and r with x = n ln2 + r, |r| <= ln2/2. The first product is exact.
func SplitExpNarrow512(x archsimd.Float32x16) (n, r archsimd.Float32x16) {
	magic := vec.LoadNarrow512(&Consts.NarrowMagic)
	n = x.MulAdd(vec.LoadNarrow512(&Consts.NarrowLog2e), magic).Sub(magic)
	r = n.MulAdd(vec.LoadNarrow512(&Consts.NarrowMinusLn2), x)
	return n, n.MulAdd(vec.LoadNarrow512(&Consts.NarrowMinusLn2Low), r)
}

// Expm1Narrow512 is exp(r) - 1, accurate relative to itself.
func Expm1Narrow512(r archsimd.Float32x16) archsimd.Float32x16 {
	p := vec.LoadNarrow512(&Consts.narrowGrowth[4]).
		MulAdd(r, vec.LoadNarrow512(&Consts.narrowGrowth[3])).
		MulAdd(r, vec.LoadNarrow512(&Consts.narrowGrowth[2])).
		MulAdd(r, vec.LoadNarrow512(&Consts.narrowGrowth[1])).
		MulAdd(r, vec.LoadNarrow512(&Consts.narrowGrowth[0]))
	return p.MulAdd(r.Mul(r), r)
}

// powerNarrow512 is 2 to the n for an integer from -126 to 127.
func powerNarrow512(n archsimd.Float32x16) archsimd.Float32x16 {
	return n.Add(vec.LoadNarrow512(&Consts.narrowBias)).AsInt32x16().ShiftAllLeft(23).AsFloat32x16()
}

// clampNarrow512 moves what is beyond two limits to them. It keeps nan, which compares with neither.
func clampNarrow512(x, low, high archsimd.Float32x16) archsimd.Float32x16 {
	x = low.Merge(x, x.Less(low))
	return high.Merge(x, x.Greater(high))
}

// absNarrow512 clears the sign, that of nan as well.
func absNarrow512(x archsimd.Float32x16) archsimd.Float32x16 {
	return x.AsInt32x16().And(vec.LoadNarrow512(&Consts.narrowAbs).AsInt32x16()).AsFloat32x16()
}

// signNarrow512 is y, which is not negative, with the sign of x.
func signNarrow512(y, x archsimd.Float32x16) archsimd.Float32x16 {
	sign := x.AsInt32x16().And(vec.LoadNarrow512(&Consts.NarrowSign).AsInt32x16())
	return y.AsInt32x16().Add(sign).AsFloat32x16()
}

// expLoop512 is exp: 0 or infinite beyond the limits, subnormal or normal between them.
func expLoop512(dst, src []float32) {
	low, high, unit := vec.LoadNarrow512(&Consts.narrowLowest), vec.LoadNarrow512(&Consts.narrowHighest), vec.LoadNarrow512(&Consts.NarrowOne)
	for i := 0; i+vec.Lanes512 <= len(src); i += vec.Lanes512 {
		n, r := SplitExpNarrow512(clampNarrow512(archsimd.LoadFloat32x16(vec.At512(&src[i])), low, high))
		scaleNarrow512(Expm1Narrow512(r).Add(unit), n).Store(vec.At512(&dst[i]))
	}
	archsimd.ClearAVXUpperBits()
}

// sigmoidLoop512: q = 1/(1+e) for positive x, e q for negative ones, with e = exp(-|x|), which does not overflow. The exponential is
// computed times 2^64, so that it is rounded once before it may be subnormal. What rounding drops from 1+e and from the quotient,
// 1 - q - q e, is added to q, or there would be half ulps of both.
func sigmoidLoop512(dst, src []float32) {
	low, unit := vec.LoadNarrow512(&Consts.narrowLowest), vec.LoadNarrow512(&Consts.NarrowOne)
	var nought archsimd.Float32x16
	for i := 0; i+vec.Lanes512 <= len(src); i += vec.Lanes512 {
		x := archsimd.LoadFloat32x16(vec.At512(&src[i]))
		a := x.AsInt32x16().Or(vec.LoadNarrow512(&Consts.NarrowSign).AsInt32x16()).AsFloat32x16()
		n, r := SplitExpNarrow512(low.Merge(a, a.Less(low)))
		scale := n.Add(vec.LoadNarrow512(&Consts.NarrowBiasUp)).AsInt32x16().ShiftAllLeft(23).AsFloat32x16()
		scaled := Expm1Narrow512(r).MulAdd(scale, scale)
		minusE := scaled.Mul(vec.LoadNarrow512(&Consts.narrowMinusDown))
		q := unit.Div(unit.Sub(minusE))
		q = q.MulAdd(q.MulAdd(minusE, unit.Sub(q)), q)
		scaled.Mul(vec.LoadNarrow512(&Consts.narrowDown)).Merge(unit, x.Less(nought)).Mul(q).Store(vec.At512(&dst[i]))
	}
	archsimd.ClearAVXUpperBits()
}

// tanhLoop512 is a polynomial of |x| with the sign of x.
func tanhLoop512(dst, src []float32) {
	for i := 0; i+vec.Lanes512 <= len(src); i += vec.Lanes512 {
		x := archsimd.LoadFloat32x16(vec.At512(&src[i]))
		a, limit := absNarrow512(x), vec.LoadNarrow512(&Consts.narrowTanhLimit)
		a = limit.Merge(a, a.Greater(limit))
		constant, p, t := pieces512(&Consts.narrowTanh, a, vec.LoadNarrow512(&Consts.narrowTanhShift))
		signNarrow512(p.MulAdd(t, constant), x).Store(vec.At512(&dst[i]))
	}
	archsimd.ClearAVXUpperBits()
}

// erfLoop512 is the same for erf, but that what is multiplied by t in the first interval is less by 1: 1.128, the slope at 0, has too
// few digits.
func erfLoop512(dst, src []float32) {
	for i := 0; i+vec.Lanes512 <= len(src); i += vec.Lanes512 {
		x := archsimd.LoadFloat32x16(vec.At512(&src[i]))
		a, limit := absNarrow512(x), vec.LoadNarrow512(&Consts.narrowErfLimit)
		a = limit.Merge(a, a.Greater(limit))
		constant, p, t := pieces512(&Consts.narrowErf, a, vec.LoadNarrow512(&Consts.narrowErfShift))
		constant = t.Merge(constant, a.Add(vec.LoadNarrow512(&Consts.narrowErfShift)).Less(vec.LoadNarrow512(&Consts.narrowErfFirst)))
		signNarrow512(p.MulAdd(t, constant), x).Store(vec.At512(&dst[i]))
	}
	archsimd.ClearAVXUpperBits()
}

// pow512 is 2^(y log2(x)), in float64 for the digits that the product needs. It pads what fills no vector: an element's place in the
// row must not show.
func pow512(dst, x, y []float32) {
	whole := len(dst) &^ (vec.Lanes512 - 1)
	powLoop512(dst[:whole], x, y)
	if whole < len(dst) {
		bases, powers := Consts.NarrowOne, Consts.NarrowOne
		copy(bases[:vec.Lanes512], x[whole:])
		copy(powers[:vec.Lanes512], y[whole:])
		powLoop512(bases[:vec.Lanes512], bases[:], powers[:])
		copy(dst[whole:], bases[:])
	}
}

// exp2512 is Exp2: integers become exponents, vectors with other numbers are left to pow512, which rounds integers to the same.
// SAFETY: both slices have one length.
func exp2512(dst, src []float32) {
	whole := len(src) &^ (vec.Lanes512 - 1)
	for i := 0; i < whole; i += vec.Lanes512 {
		x := archsimd.LoadFloat32x16(vec.At512(&src[i]))
		// NaN equals nothing, and infinities are beyond the limit. Subnormal powers are left out too: they have no exponent.
		usual := x.TruncScaled(0).Equal(x).And(absNarrow512(x).Less(vec.LoadNarrow512(&Consts.narrowPower)))
		if usual.ToBits() == 1<<vec.Lanes512-1 {
			powerNarrow512(x).Store(vec.At512(&dst[i]))
		} else {
			pow512(dst[i:i+vec.Lanes512], Consts.narrowTwo[:vec.Lanes512], src[i:i+vec.Lanes512])
		}
	}
	archsimd.ClearAVXUpperBits()
	pow512(dst[whole:], Consts.narrowTwo[:len(src)-whole], src[whole:])
}

// octo512 is the vector of vec.WideLanes512 elements at an element.
// SAFETY: see vec.At512.
func octo512(p *float32) *[vec.WideLanes512]float32 {
	return (*[vec.WideLanes512]float32)(unsafe.Pointer(p))
}
