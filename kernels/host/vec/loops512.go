//go:build goexperiment.simd && amd64 && !race

package vec

import "simd/archsimd"

// The functions whose time counts most have loops of their own. What a loop calls is inlined, because each of the
// functions below stays under the compiler's limit; a function handed to a driver would have to fit in as a whole, and
// a call passes vectors through memory, which takes longer than the arithmetic.

// inWhole512 runs loop, which leaves what does not fill a vector alone, on the row, and on what is left padded with zeros.
func inWhole512(loop func(dst, src []float32)) func(dst, src []float32) {
	return func(dst, src []float32) {
		n := len(src) &^ (lanes512 - 1)
		loop(dst[:n], src[:n])
		if n < len(src) {
			var pad [lanes512]float32
			copy(pad[:], src[n:])
			loop(pad[:], pad[:])
			copy(dst[n:], pad[:])
		}
	}
}

// loops512 puts the loops in.
func (t *table) loops512() {
	t.unary[Exp] = inWhole512(expLoop512)
	t.unary[Sigmoid] = inWhole512(sigmoidLoop512)
	t.unary[Tanh] = inWhole512(tanhLoop512)
	t.unary[Erf] = inWhole512(erfLoop512)
	t.unary[Gelu] = inWhole512(geluLoop512)
	t.unary[Log] = inWhole512(logLoop512)
	t.expSum = expSum512
	t.pow = pow512
	t.toInt32 = toInt32512
	t.less, t.lessEqual, t.equal, t.notEqual = less512, lessEqual512, equal512, notEqual512
}

// foldNarrow512 gives n and r with x = n ln2 + r, |r| <= ln2/2. The first product is exact.
func foldNarrow512(x narrow512) (n, r narrow512) {
	magic := loadNarrow512(&narrowMagic)
	n = x.MulAdd(loadNarrow512(&narrowLog2e), magic).Sub(magic)
	r = n.MulAdd(loadNarrow512(&narrowMinusLn2), x)
	return n, n.MulAdd(loadNarrow512(&narrowMinusLn2Low), r)
}

// growthNarrow512 is exp(r) - 1, accurate relative to itself.
func growthNarrow512(r narrow512) narrow512 {
	p := loadNarrow512(&narrowTaylor[5]).
		MulAdd(r, loadNarrow512(&narrowTaylor[4])).
		MulAdd(r, loadNarrow512(&narrowTaylor[3])).
		MulAdd(r, loadNarrow512(&narrowTaylor[2])).
		MulAdd(r, loadNarrow512(&narrowTaylor[1])).
		MulAdd(r, loadNarrow512(&narrowTaylor[0]))
	return p.MulAdd(r.Mul(r), r)
}

// powerNarrow512 is 2 to the n for an integer from -126 to 127.
func powerNarrow512(n narrow512) narrow512 {
	return n.Add(loadNarrow512(&narrowBias)).AsInt32x16().ShiftAllLeft(23).AsFloat32x16()
}

// scaleNarrow512 is y times 2 to the n, in two steps: half of n is an exponent where n is none. Only the second step
// rounds, where the result is subnormal.
func scaleNarrow512(y, n narrow512) narrow512 {
	bias := loadNarrow512(&narrowBias)
	h := n.MulAdd(loadNarrow512(&narrowHalf), bias)
	y = y.Mul(h.AsInt32x16().ShiftAllLeft(23).AsFloat32x16())
	return y.Mul(powerNarrow512(n.Sub(h.Sub(bias))))
}

// clampNarrow512 moves what is beyond two limits to them. It keeps nan, which compares with neither.
func clampNarrow512(x, low, high narrow512) narrow512 {
	x = low.Merge(x, x.Less(low))
	return high.Merge(x, x.Greater(high))
}

// absNarrow512 clears the sign, that of nan as well.
func absNarrow512(x narrow512) narrow512 {
	return x.AsInt32x16().And(loadNarrow512(&narrowAbs).AsInt32x16()).AsFloat32x16()
}

// signNarrow512 is y, which is not negative, with the sign of x.
func signNarrow512(y, x narrow512) narrow512 {
	sign := x.AsInt32x16().And(loadNarrow512(&narrowSign).AsInt32x16())
	return y.AsInt32x16().Add(sign).AsFloat32x16()
}

// expLoop512 is exp: 0 or infinite beyond the limits, subnormal or normal between them.
func expLoop512(dst, src []float32) {
	low, high, unit := loadNarrow512(&narrowLowest), loadNarrow512(&narrowHighest), loadNarrow512(&narrowOne)
	for len(src) >= lanes512 && len(dst) >= lanes512 {
		n, r := foldNarrow512(clampNarrow512(archsimd.LoadFloat32x16Slice(src), low, high))
		scaleNarrow512(growthNarrow512(r).Add(unit), n).StoreSlice(dst)
		src, dst = src[lanes512:], dst[lanes512:]
	}
	archsimd.ClearAVXUpperBits()
}

// sigmoidLoop512: 1/(1+e) for positive x, e/(1+e) for negative ones, with e = exp(-|x|), which does not overflow.
// What rounding drops from 1+e is taken off at the end: it would be the third half ulp.
func sigmoidLoop512(dst, src []float32) {
	low, unit := loadNarrow512(&narrowLowest), loadNarrow512(&narrowOne)
	var nought narrow512
	for len(src) >= lanes512 && len(dst) >= lanes512 {
		x := archsimd.LoadFloat32x16Slice(src)
		a := nought.Sub(absNarrow512(x))
		n, r := foldNarrow512(low.Merge(a, a.Less(low)))
		e := scaleNarrow512(growthNarrow512(r).Add(unit), n)
		d := e.Add(unit)
		negative := x.Less(nought)
		q := e.Merge(unit, negative).Div(d)
		dropped := e.Sub(d.Sub(unit)).Mul(unit.Sub(q).Merge(q, negative)) // times 1/d
		q.Sub(q.Mul(dropped)).StoreSlice(dst)
		src, dst = src[lanes512:], dst[lanes512:]
	}
	archsimd.ClearAVXUpperBits()
}

// nearTanh512 is tanh(a) for a in [0, 0.6].
func nearTanh512(a narrow512) narrow512 {
	z := a.Mul(a)
	p := loadNarrow512(&narrowTanhNear[5]).
		MulAdd(z, loadNarrow512(&narrowTanhNear[4])).
		MulAdd(z, loadNarrow512(&narrowTanhNear[3])).
		MulAdd(z, loadNarrow512(&narrowTanhNear[2])).
		MulAdd(z, loadNarrow512(&narrowTanhNear[1])).
		MulAdd(z, loadNarrow512(&narrowTanhNear[0]))
	return p.Mul(z).MulAdd(a, a)
}

// tanhLoop512: tanh(a) = 1 - 2t/(1+t) with t = exp(-2a), for a = |x| above 0.6, where nothing cancels.
func tanhLoop512(dst, src []float32) {
	unit, limit, split := loadNarrow512(&narrowOne), loadNarrow512(&narrowTanhLimit), loadNarrow512(&narrowTanhSplit)
	var nought narrow512
	for len(src) >= lanes512 && len(dst) >= lanes512 {
		x := archsimd.LoadFloat32x16Slice(src)
		a := absNarrow512(x)
		a = limit.Merge(a, a.Greater(limit))
		n, r := foldNarrow512(nought.Sub(a.Add(a)))
		s := powerNarrow512(n)
		t := growthNarrow512(r).MulAdd(s, s)
		far := unit.Sub(t.Add(t).Div(t.Add(unit)))
		signNarrow512(nearTanh512(a).Merge(far, a.Less(split)), x).StoreSlice(dst)
		src, dst = src[lanes512:], dst[lanes512:]
	}
	archsimd.ClearAVXUpperBits()
}

// The two branches of erf are both computed, and the right one is taken for each lane. Their coefficients are fitted
// where the result's last place is largest beside the function, so that the rounding of a coefficient does not show.

// nearErf512 is erf(a) for a in [0, 1].
func nearErf512(a narrow512) narrow512 {
	z := a.Mul(a)
	p := loadNarrow512(&narrowErfNear[6]).
		MulAdd(z, loadNarrow512(&narrowErfNear[5])).
		MulAdd(z, loadNarrow512(&narrowErfNear[4])).
		MulAdd(z, loadNarrow512(&narrowErfNear[3])).
		MulAdd(z, loadNarrow512(&narrowErfNear[2])).
		MulAdd(z, loadNarrow512(&narrowErfNear[1])).
		MulAdd(z, loadNarrow512(&narrowErfNear[0]))
	return p.MulAdd(a, a)
}

// farErf512 is log(erfc(a)) for a in [1, 4].
func farErf512(a narrow512) narrow512 {
	return loadNarrow512(&narrowErfFar[7]).
		MulAdd(a, loadNarrow512(&narrowErfFar[6])).
		MulAdd(a, loadNarrow512(&narrowErfFar[5])).
		MulAdd(a, loadNarrow512(&narrowErfFar[4])).
		MulAdd(a, loadNarrow512(&narrowErfFar[3])).
		MulAdd(a, loadNarrow512(&narrowErfFar[2])).
		MulAdd(a, loadNarrow512(&narrowErfFar[1])).
		MulAdd(a, loadNarrow512(&narrowErfFar[0]))
}

// erfLoop512 takes 1 - exp(log(erfc(a))) where a = |x| is above 1; above 4 that is 1.
func erfLoop512(dst, src []float32) {
	unit, limit := loadNarrow512(&narrowOne), loadNarrow512(&narrowErfLimit)
	for len(src) >= lanes512 && len(dst) >= lanes512 {
		x := archsimd.LoadFloat32x16Slice(src)
		a := absNarrow512(x)
		a = limit.Merge(a, a.Greater(limit))
		n, r := foldNarrow512(farErf512(a))
		s := powerNarrow512(n)
		far := unit.Sub(growthNarrow512(r).MulAdd(s, s))
		signNarrow512(nearErf512(a).Merge(far, a.Less(unit)), x).StoreSlice(dst)
		src, dst = src[lanes512:], dst[lanes512:]
	}
	archsimd.ClearAVXUpperBits()
}

// geluLoop512 is gelu512 for each half of a vector: float32 would lose the relative accuracy of the tail.
func geluLoop512(dst, src []float32) {
	rootHalf, half, unit, nought := load512(&rootHalf), load512(&half), load512(&one), load512(&zero)
	for len(src) >= half512 && len(dst) >= half512 {
		x := archsimd.LoadFloat32x8Slice(src).ConvertToFloat64()
		a := abs512(x).Mul(rootHalf)
		w := unit.Div(a.Add(load512(&erfcK)))
		t := unit.Sub(w.Mul(load512(&erfcTwoK)))
		p := erfcLow512(erfcHigh512(t), t).Mul(w).Mul(half)
		r, scale := foldExp512(negate512(a.Mul(a)))
		tail := expTaylor512(r).MulAdd(scale, scale).Mul(p)
		x.Mul(tail.Merge(unit.Sub(tail), x.Less(nought))).ConvertToFloat32().StoreSlice(dst)
		src, dst = src[half512:], dst[half512:]
	}
	archsimd.ClearAVXUpperBits()
}

// logLoop512 is log512 for each half of a vector.
func logLoop512(dst, src []float32) {
	for len(src) >= half512 && len(dst) >= half512 {
		x := archsimd.LoadFloat32x8Slice(src).ConvertToFloat64()
		k, f := splitLog512(x)
		r := atanhLog512(f)
		logEdges512(k.MulAdd(load512(&ln2), r), x).ConvertToFloat32().StoreSlice(dst)
		src, dst = src[half512:], dst[half512:]
	}
	archsimd.ClearAVXUpperBits()
}

// expSum512 is expSumRow, accurate to 3e-11, which is far below the rounding to float32. It leaves the end of the row, which fills no vector, to a vector that is padded with -Inf.
func expSum512(dst []float64, src []float32, top float32) float64 {
	var sums wide512
	t := archsimd.BroadcastFloat64x8(float64(top))
	for len(src) >= half512 && len(dst) >= half512 {
		r, scale := foldExp512(archsimd.LoadFloat32x8Slice(src).ConvertToFloat64().Sub(t))
		e := expTaylor512(r).MulAdd(scale, scale)
		sums = sums.Add(e)
		e.StoreSlice(dst)
		src, dst = src[half512:], dst[half512:]
	}
	sum := across512(sums)
	if len(src) == 0 {
		return sum
	}
	pad := padding
	var out [half512]float64
	copy(pad[:], src)
	sum += expSum512(out[:], pad[:half512], top)
	copy(dst, out[:])
	return sum
}

// pow512 is exp(y log|x|), which is accurate to 1e-9 because the logarithm is a float64, negative for odd powers of
// negative numbers. A vector with a base that is 0 or not finite, a power that is not finite, or a fraction as the power of
// a negative number, goes to the scalar function as a whole. So does the end of a row.
func pow512(dst, x, y []float32) {
	top, nought := load512(&inf), load512(&zero)
	for m := 0; m < len(dst); m += half512 {
		n := min(m+half512, len(dst))
		if n-m < half512 {
			powRow(dst[m:n], x[m:n], y[m:n])
			break
		}
		a := archsimd.LoadFloat32x8Slice(x[m:n]).ConvertToFloat64()
		b := archsimd.LoadFloat32x8Slice(y[m:n]).ConvertToFloat64()
		base, whole, h := abs512(a), b.TruncScaled(0).Equal(b), b.Mul(load512(&half))
		usual := base.Greater(nought).And(base.Less(top)).And(abs512(b).Less(top)).And(a.Greater(nought).Or(whole))
		if usual.ToBits() != 1<<half512-1 {
			archsimd.ClearAVXUpperBits()
			powRow(dst[m:n], x[m:n], y[m:n])
			continue
		}
		k, f := splitLog512(base)
		l := k.MulAdd(load512(&ln2), atanhLog512(f))
		r, scale := foldExp512(l.Mul(b))
		p := expTaylor512(r).MulAdd(scale, scale)
		odd := h.TruncScaled(0).NotEqual(h)
		negate512(p).Merge(p, a.Less(nought).And(odd)).ConvertToFloat32().StoreSlice(dst[m:n])
	}
	archsimd.ClearAVXUpperBits()
}
