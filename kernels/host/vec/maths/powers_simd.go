//go:build goexperiment.simd && amd64 && !race

package maths

import (
	"math"
	"math/bits"
	"simd/archsimd"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
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
	powOffset, powLanes vec.Splat32    // integers
	powInverse          [2]vec.Splat32 // c
	powLog, powLogLow   [2]vec.Splat32 // -log2(c), of so few bits that k may be added, and what is missing
	powMinusLog2e       vec.Splat32
	powCurve            [4]vec.Splat32
	powLow, powHigh     vec.Splat32 // beyond them 2^t is 0 or infinite
	stepMagic           vec.Splat32 // leaves a number in steps, their number in the low bits
	step, stepLow       vec.Splat32 // 2^(i/16), rounded, and what is missing
	stepCurve           [3]vec.Splat32
}

func (c *tablePowConstants) fill() {
	c.powOffset.Set(powFirst)
	c.powLanes.Set(math.Float32frombits(18))
	for i, n := range powInverses {
		inverse := float64(n) / 128
		rounded := math.Round(-math.Log2(inverse)*0x1p16) / 0x1p16
		c.powInverse[i/vec.Lanes512][i%vec.Lanes512] = float32(inverse)
		c.powLog[i/vec.Lanes512][i%vec.Lanes512] = float32(rounded)
		c.powLogLow[i/vec.Lanes512][i%vec.Lanes512] = float32(-math.Log2(inverse) - rounded)
	}
	c.powMinusLog2e.Set(-math.Log2E)
	c.powLow.Set(-160)
	c.powHigh.Set(130)
	c.stepMagic.Set(0x1.8p23 / powSteps)
	for i := range powSteps {
		power := math.Exp2(float64(i) / powSteps)
		c.step[i] = float32(power)
		c.stepLow[i] = float32(power - float64(float32(power)))
	}
	for i, x := range powCurve {
		c.powCurve[i].Set(x)
	}
	for i, x := range stepCurve {
		c.stepCurve[i].Set(x)
	}
}

// lookup512 is the element of a table of two vectors at each index, of which five bits count.
func lookup512(table *[2]vec.Splat32, i archsimd.Uint32x16) archsimd.Float32x16 {
	return vec.LoadNarrow512(&table[0]).ConcatPermute(vec.LoadNarrow512(&table[1]), i)
}

// splitPow512 gives k and the interval of m, whose exponent k is subtracted from, with x = 2^k m, for positive normal x.
func splitPow512(x archsimd.Float32x16) (k, m archsimd.Float32x16, i archsimd.Uint32x16) {
	bits := x.AsInt32x16().Sub(vec.LoadNarrow512(&Consts.powOffset).AsInt32x16())
	whole := bits.ShiftRight(vec.LoadNarrow512(&Consts.narrowShift).AsInt32x16())
	i = bits.ShiftRight(vec.LoadNarrow512(&Consts.powLanes).AsInt32x16()).AsUint32x16()
	return whole.ConvertToFloat32(), x.AsInt32x16().Sub(whole.ShiftAllLeft(23)).AsFloat32x16(), i
}

// sumLog512 is log2 of 2^k m as a sum: high is near it, and what high + low differs by is below 2^-29 of it. Of k - log2(c) and r log2(e) the
// first is the larger, or 0, so that what rounding drops from their sum is exact.
func sumLog512(k, r archsimd.Float32x16, i archsimd.Uint32x16) (high, low archsimd.Float32x16) {
	table := k.Add(lookup512(&Consts.powLog, i))
	minus := r.Mul(vec.LoadNarrow512(&Consts.powMinusLog2e))
	high = table.Sub(minus)
	dropped := table.Sub(high).Sub(minus)
	linear := r.MulAdd(vec.LoadNarrow512(&Consts.narrowLog2eLow), r.MulAdd(vec.LoadNarrow512(&Consts.NarrowLog2e), minus))
	return high, curvedLog512(r, linear.Add(lookup512(&Consts.powLogLow, i))).Add(dropped)
}

// curvedLog512 adds the terms from r^2 on. What rounding drops from the square counts in the first of them, where the logarithm is
// small and r is not.
func curvedLog512(r, rest archsimd.Float32x16) archsimd.Float32x16 {
	var nought archsimd.Float32x16
	square := r.Mul(r)
	dropped := r.MulAdd(r, nought.Sub(square))
	rest = dropped.MulAdd(vec.LoadNarrow512(&Consts.powCurve[0]), rest)
	return vec.LoadNarrow512(&Consts.powCurve[3]).
		MulAdd(r, vec.LoadNarrow512(&Consts.powCurve[2])).
		MulAdd(r, vec.LoadNarrow512(&Consts.powCurve[1])).
		MulAdd(r, vec.LoadNarrow512(&Consts.powCurve[0])).
		MulAdd(square, rest)
}

// times512 is the product of a sum and y as a sum, of 0 and a limit where it is beyond one.
func times512(high, low, y archsimd.Float32x16) (archsimd.Float32x16, archsimd.Float32x16) {
	var nought archsimd.Float32x16
	product := high.Mul(y)
	low = low.MulAdd(y, high.MulAdd(y, nought.Sub(product)))
	inside := product.Min(vec.LoadNarrow512(&Consts.powHigh)).Max(vec.LoadNarrow512(&Consts.powLow))
	return inside, low.Masked(inside.Equal(product))
}

// powerOf512 is 2^(high+low), rounded once where the result is normal.
func powerOf512(high, low archsimd.Float32x16) archsimd.Float32x16 {
	magic := vec.LoadNarrow512(&Consts.stepMagic)
	t := high.Add(low).Add(magic)
	whole := t.Sub(magic)
	r := high.Sub(whole).Add(low)
	p := vec.LoadNarrow512(&Consts.stepCurve[2]).
		MulAdd(r, vec.LoadNarrow512(&Consts.stepCurve[1])).
		MulAdd(r, vec.LoadNarrow512(&Consts.stepCurve[0]))
	i := t.AsUint32x16()
	step := vec.LoadNarrow512(&Consts.step).Permute(i)
	return p.MulAdd(step.Mul(r), vec.LoadNarrow512(&Consts.stepLow).Permute(i)).Add(step).Scale(whole)
}

// powEach512 computes vectors of positive normal bases and finite powers, and of squares: these are products, which all paths round
// alike. It gives other vectors to anyPow512, and those with some squares too: a choice by lanes would slow all others down.
// SAFETY: dst has whole vectors, x and y as many elements or more.
func powEach512(dst, x, y []float32) {
	for i := 0; i < len(dst); i += vec.Lanes512 {
		a, b := archsimd.LoadFloat32x16(vec.At512(&x[i])), archsimd.LoadFloat32x16(vec.At512(&y[i]))
		squares := b.Equal(vec.LoadNarrow512(&Consts.narrowTwo)).ToBits()
		if squares == 1<<vec.Lanes512-1 {
			a.Mul(a).Store(vec.At512(&dst[i]))
			continue
		}
		finite := absNarrow512(b).Less(vec.LoadNarrow512(&Consts.narrowInf)).ToBits()
		if squares != 0 || finite != 1<<vec.Lanes512-1 || unusual512(a, &Consts.narrowNormalTop) {
			anyPow512(vec.At512(&dst[i]), vec.At512(&x[i]), vec.At512(&y[i]))
			continue
		}
		k, m, interval := splitPow512(a)
		r := m.MulAdd(lookup512(&Consts.powInverse, interval), vec.LoadNarrow512(&Consts.narrowMinusOne))
		high, low := sumLog512(k, r, interval)
		powerOf512(times512(high, low, b)).Store(vec.At512(&dst[i]))
	}
	archsimd.ClearAVXUpperBits()
}

// anyPow512 computes a vector of any elements: powEach512 computes the powers of |x|, of ones in place of what it does not take, and odd
// powers of negative numbers are negative. The scalar function computes elements whose base is not normal or whose power is not
// finite, and those whose power is a fraction while the base is negative.
func anyPow512(dst, x, y *[vec.Lanes512]float32) {
	bases, powers := *x, *y // dst may be either
	a, b := archsimd.LoadFloat32x16(x), archsimd.LoadFloat32x16(y)
	unit, top := vec.LoadNarrow512(&Consts.NarrowOne), vec.LoadNarrow512(&Consts.narrowInf)
	base, squares := absNarrow512(a), b.Equal(vec.LoadNarrow512(&Consts.narrowTwo))
	usual := base.GreaterEqual(vec.LoadNarrow512(&Consts.narrowLeast)).And(base.Less(top)).And(absNarrow512(b).Less(top))
	var p, q [vec.Lanes512]float32
	base.Merge(unit, usual).Store(&p)
	unit.Merge(b, squares).Merge(unit, usual).Store(&q)
	powEach512(p[:], p[:], q[:])
	var nought archsimd.Float32x16
	half := b.Mul(vec.LoadNarrow512(&Consts.narrowHalf))
	// A whole number is odd if its half has a fraction; of 2^24 and above all are even.
	whole, odd := b.TruncScaled(0).Equal(b), half.TruncScaled(0).NotEqual(half)
	sign := vec.LoadNarrow512(&Consts.NarrowSign).AsInt32x16().Masked(a.Less(nought).And(odd))
	r := archsimd.LoadFloat32x16(&p).AsInt32x16().Add(sign).AsFloat32x16()
	left := usual.And(a.Greater(nought).Or(whole)).ToBits() ^ (1<<vec.Lanes512 - 1)
	a.Mul(a).Merge(r, squares).Store(dst)
	archsimd.ClearAVXUpperBits()
	for ; left != 0; left &= left - 1 {
		lane := bits.TrailingZeros16(left)
		dst[lane] = power(bases[lane], powers[lane])
	}
}

// scaleNarrow512 is y times 2 to the n, for an integer n, rounded once where the result is subnormal. AVX-512 has an instruction.
func scaleNarrow512(y, n archsimd.Float32x16) archsimd.Float32x16 { return y.Scale(n) }

// scaleNarrow256 takes two steps: half of n is an exponent where n is none. Only the second step
// rounds, where the result is subnormal.
func scaleNarrow256(y, n archsimd.Float32x8) archsimd.Float32x8 {
	bias := vec.LoadNarrow256(&Consts.narrowBias)
	h := n.MulAdd(vec.LoadNarrow256(&Consts.narrowHalf), bias)
	y = y.Mul(h.AsInt32x8().ShiftAllLeft(23).AsFloat32x8())
	return y.Mul(powerNarrow256(n.Sub(h.Sub(bias))))
}
