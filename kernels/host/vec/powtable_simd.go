//go:build goexperiment.simd && amd64 && !race

package vec

import (
	"math"
	"math/bits"
	"simd/archsimd"
)

// pow for AVX-512, in float32 with tables in registers: x = 2^k m, and m c = 1+r with a c from a table, so that
// log2(x) = k - log2(c) + log2(1+r). A float32 has too few digits for a logarithm that y is to multiply by up to 149, which is why it
// is a sum of two. Twice the lanes of float64 and short polynomials take half the time.

const (
	powIntervals = 32 // of m, from powFirst on: 1/64 long below 1 and 1/32 above
	powFirst     = 0.6953125
	powSteps     = 16 // of the exponent's fraction
)

// powInverses are c times 128 for each interval, of so few bits that r is exact; |r| is at most 0.0198. The interval around 1 has
// c = 1, for the digits of logarithms near 0.
var powInverses = [powIntervals]uint8{
	182, 178, 174, 170, 168, 164, 160, 158, 154, 152, 148, 146, 144, 142, 138, 136,
	134, 132, 130, 128, 124, 120, 117, 114, 110, 108, 105, 102, 100, 98, 95, 93,
}

var (
	// powCurve is (log2(1+r) - r log2(e))/r^2 for |r| <= 0.0198, a minimax fit: error below 1e-8.
	powCurve = [...]float32{-0.7213475108146667, 0.48089832067489624, -0.36076802015304565, 0.2886601984500885}
	// stepCurve is (2^r-1)/r for |r| <= 1/32, a minimax fit: error below 8e-8.
	stepCurve = [...]float32{0.6931471824645996, 0.24023355543613434, 0.05550573766231537}
)

// tablePowConstants are for pow with tables. The tables of intervals are two vectors each.
type tablePowConstants struct {
	powOffset, powLanes splatNarrow16    // integers
	powInverse          [2]splatNarrow16 // c
	powLog, powLogLow   [2]splatNarrow16 // -log2(c), of so few bits that k may be added, and what is missing
	powMinusLog2e       splatNarrow16
	powCurve            [4]splatNarrow16
	powLow, powHigh     splatNarrow16 // beyond them 2^t is 0 or infinite
	stepMagic           splatNarrow16 // leaves a number in steps, their number in the low bits
	step, stepLow       splatNarrow16 // 2^(i/16), rounded, and what is missing
	stepCurve           [3]splatNarrow16
}

func (c *tablePowConstants) fill() {
	c.powOffset.set(powFirst)
	c.powLanes.set(math.Float32frombits(18))
	for i, n := range powInverses {
		inverse := float64(n) / 128
		rounded := math.Round(-math.Log2(inverse)*0x1p16) / 0x1p16
		c.powInverse[i/lanes512][i%lanes512] = float32(inverse)
		c.powLog[i/lanes512][i%lanes512] = float32(rounded)
		c.powLogLow[i/lanes512][i%lanes512] = float32(-math.Log2(inverse) - rounded)
	}
	c.powMinusLog2e.set(-math.Log2E)
	c.powLow.set(-160)
	c.powHigh.set(130)
	c.stepMagic.set(0x1.8p23 / powSteps)
	for i := range powSteps {
		power := math.Exp2(float64(i) / powSteps)
		c.step[i] = float32(power)
		c.stepLow[i] = float32(power - float64(float32(power)))
	}
	for i, x := range powCurve {
		c.powCurve[i].set(x)
	}
	for i, x := range stepCurve {
		c.stepCurve[i].set(x)
	}
}

// lookup512 is the element of a table of two vectors at each index, of which five bits count.
func lookup512(table *[2]splatNarrow16, i index512) narrow512 {
	return loadNarrow512(&table[0]).ConcatPermute(loadNarrow512(&table[1]), i)
}

// splitPow512 gives k and the interval of m, whose exponent k is subtracted from, with x = 2^k m, for positive normal x.
func splitPow512(x narrow512) (k, m narrow512, i index512) {
	bits := x.AsInt32x16().Sub(loadNarrow512(&consts.powOffset).AsInt32x16())
	whole := bits.ShiftRight(loadNarrow512(&consts.narrowShift).AsInt32x16())
	i = bits.ShiftRight(loadNarrow512(&consts.powLanes).AsInt32x16()).AsUint32x16()
	return whole.ConvertToFloat32(), x.AsInt32x16().Sub(whole.ShiftAllLeft(23)).AsFloat32x16(), i
}

// sumLog512 is log2 of 2^k m as a sum: high is near it, and what high + low differs by is below 2^-29 of it. Of k - log2(c) and r log2(e) the
// first is the larger, or 0, so that what rounding drops from their sum is exact.
func sumLog512(k, r narrow512, i index512) (high, low narrow512) {
	table := k.Add(lookup512(&consts.powLog, i))
	minus := r.Mul(loadNarrow512(&consts.powMinusLog2e))
	high = table.Sub(minus)
	dropped := table.Sub(high).Sub(minus)
	linear := r.MulAdd(loadNarrow512(&consts.narrowLog2eLow), r.MulAdd(loadNarrow512(&consts.narrowLog2e), minus))
	return high, curvedLog512(r, linear.Add(lookup512(&consts.powLogLow, i))).Add(dropped)
}

// curvedLog512 adds the terms from r^2 on. What rounding drops from the square counts in the first of them, where the logarithm is
// small and r is not.
func curvedLog512(r, rest narrow512) narrow512 {
	var nought narrow512
	square := r.Mul(r)
	dropped := r.MulAdd(r, nought.Sub(square))
	rest = dropped.MulAdd(loadNarrow512(&consts.powCurve[0]), rest)
	return loadNarrow512(&consts.powCurve[3]).
		MulAdd(r, loadNarrow512(&consts.powCurve[2])).
		MulAdd(r, loadNarrow512(&consts.powCurve[1])).
		MulAdd(r, loadNarrow512(&consts.powCurve[0])).
		MulAdd(square, rest)
}

// times512 is the product of a sum and y as a sum, of 0 and a limit where it is beyond one.
func times512(high, low, y narrow512) (narrow512, narrow512) {
	var nought narrow512
	product := high.Mul(y)
	low = low.MulAdd(y, high.MulAdd(y, nought.Sub(product)))
	inside := product.Min(loadNarrow512(&consts.powHigh)).Max(loadNarrow512(&consts.powLow))
	return inside, low.Masked(inside.Equal(product))
}

// powerOf512 is 2^(high+low), rounded once where the result is normal.
func powerOf512(high, low narrow512) narrow512 {
	magic := loadNarrow512(&consts.stepMagic)
	t := high.Add(low).Add(magic)
	whole := t.Sub(magic)
	r := high.Sub(whole).Add(low)
	p := loadNarrow512(&consts.stepCurve[2]).
		MulAdd(r, loadNarrow512(&consts.stepCurve[1])).
		MulAdd(r, loadNarrow512(&consts.stepCurve[0]))
	i := t.AsUint32x16()
	step := loadNarrow512(&consts.step).Permute(i)
	return p.MulAdd(step.Mul(r), loadNarrow512(&consts.stepLow).Permute(i)).Add(step).Scale(whole)
}

// powEach512 computes vectors of positive normal bases and finite powers, and of squares: these are products, which all paths round
// alike. It gives other vectors to anyPow512, and those with some squares too: a choice by lanes would slow all others down.
// SAFETY: dst has whole vectors, x and y as many elements or more.
func powEach512(dst, x, y []float32) {
	for i := 0; i < len(dst); i += lanes512 {
		a, b := archsimd.LoadFloat32x16(at512(&x[i])), archsimd.LoadFloat32x16(at512(&y[i]))
		squares := b.Equal(loadNarrow512(&consts.narrowTwo)).ToBits()
		if squares == 1<<lanes512-1 {
			a.Mul(a).Store(at512(&dst[i]))
			continue
		}
		finite := absNarrow512(b).Less(loadNarrow512(&consts.narrowInf)).ToBits()
		if squares != 0 || finite != 1<<lanes512-1 || unusual512(a, &consts.narrowNormalTop) {
			anyPow512(at512(&dst[i]), at512(&x[i]), at512(&y[i]))
			continue
		}
		k, m, interval := splitPow512(a)
		r := m.MulAdd(lookup512(&consts.powInverse, interval), loadNarrow512(&consts.narrowMinusOne))
		high, low := sumLog512(k, r, interval)
		powerOf512(times512(high, low, b)).Store(at512(&dst[i]))
	}
	archsimd.ClearAVXUpperBits()
}

// anyPow512 computes a vector of any elements: powEach512 computes the powers of |x|, of ones in place of what it does not take, and odd
// powers of negative numbers are negative. The scalar function computes elements whose base is not normal or whose power is not
// finite, and those whose power is a fraction while the base is negative.
func anyPow512(dst, x, y *[lanes512]float32) {
	bases, powers := *x, *y // dst may be either
	a, b := archsimd.LoadFloat32x16(x), archsimd.LoadFloat32x16(y)
	unit, top := loadNarrow512(&consts.narrowOne), loadNarrow512(&consts.narrowInf)
	base, squares := absNarrow512(a), b.Equal(loadNarrow512(&consts.narrowTwo))
	usual := base.GreaterEqual(loadNarrow512(&consts.narrowLeast)).And(base.Less(top)).And(absNarrow512(b).Less(top))
	var p, q [lanes512]float32
	base.Merge(unit, usual).Store(&p)
	unit.Merge(b, squares).Merge(unit, usual).Store(&q)
	powEach512(p[:], p[:], q[:])
	var nought narrow512
	half := b.Mul(loadNarrow512(&consts.narrowHalf))
	// A whole number is odd if its half has a fraction; of 2^24 and above all are even.
	whole, odd := b.TruncScaled(0).Equal(b), half.TruncScaled(0).NotEqual(half)
	sign := loadNarrow512(&consts.narrowSign).AsInt32x16().Masked(a.Less(nought).And(odd))
	r := archsimd.LoadFloat32x16(&p).AsInt32x16().Add(sign).AsFloat32x16()
	left := usual.And(a.Greater(nought).Or(whole)).ToBits() ^ (1<<lanes512 - 1)
	a.Mul(a).Merge(r, squares).Store(dst)
	archsimd.ClearAVXUpperBits()
	for ; left != 0; left &= left - 1 {
		lane := bits.TrailingZeros16(left)
		dst[lane] = power(bases[lane], powers[lane])
	}
}
