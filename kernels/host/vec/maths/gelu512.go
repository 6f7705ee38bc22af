//go:build goexperiment.simd && amd64 && !race

package maths

import (
	"simd/archsimd"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// siluLoop512 is max(x, 0) - a e/(1+e) with a = |x|, e = exp(-a). To keep all digits where the result is subnormal, e is
// multiplied by 2^64 until the end, and to round less often, the factors that are near 1 are kept as what they are above 1:
// a e/(1+e) is v (1+h), v = a 2^n/d, where d is 1+e rounded.
func siluLoop512(dst, src []float32) {
	var nought archsimd.Float32x16
	for i := 0; i+vec.Lanes512 <= len(src); i += vec.Lanes512 {
		x := archsimd.LoadFloat32x16(vec.At512(&src[i]))
		unit, minus, limit := vec.LoadNarrow512(&Consts.NarrowOne), vec.LoadNarrow512(&Consts.narrowMinusOne), vec.LoadNarrow512(&Consts.narrowSiluLimit)
		a := absNarrow512(x)
		a = limit.Merge(a, a.Greater(limit))
		n, r := SplitExpNarrow512(nought.Sub(a))
		g := Expm1Narrow512(r)
		s := n.Add(vec.LoadNarrow512(&Consts.NarrowBiasUp)).AsInt32x16().ShiftAllLeft(23).AsFloat32x16()
		// Where 2^n does not show beside 1, d is 1 and all of the rest counts as dropped.
		power := s.Mul(vec.LoadNarrow512(&Consts.narrowDown)) // 2^n
		d := g.MulAdd(power, unit.Add(power))
		dropped := g.MulAdd(power, power.Sub(d.Sub(unit)))
		p := unit.Div(d)
		excess := dropped.MulAdd(p, d.MulAdd(p, minus)) // p is 1/(1+e) times 1 + excess
		h := excess.MulAdd(minus.Sub(g), g)
		v := a.Mul(s).Mul(p)
		y := v.MulAdd(h, v)
		above := x.Merge(x.Mul(nought), x.GreaterEqual(nought)) // NaN of -Inf
		y.MulAdd(vec.LoadNarrow512(&Consts.narrowMinusDown), above).Store(vec.At512(&dst[i]))
	}
	archsimd.ClearAVXUpperBits()
}

// pieces512 gives, for each lane, the constant term of one of eight polynomials, all but that divided by t, and t, the distance from
// the center of the interval. The intervals of a + shift are halves of binades, so that the bits of that sum tell which it is.
func pieces512(c *[9]vec.Splat32, a, shift archsimd.Float32x16) (constant, p, t archsimd.Float32x16) {
	i := a.Add(shift).AsInt32x16().ShiftRight(vec.LoadNarrow512(&Consts.narrowPieces).AsInt32x16()).AsUint32x16()
	t = a.Sub(vec.LoadNarrow512(&c[0]).Permute(i))
	p = vec.LoadNarrow512(&c[8]).Permute(i).
		MulAdd(t, vec.LoadNarrow512(&c[7]).Permute(i)).
		MulAdd(t, vec.LoadNarrow512(&c[6]).Permute(i))
	return vec.LoadNarrow512(&c[1]).Permute(i), piecesLow512(c, i, t, p), t
}

// piecesLow512 is its second half, for the compiler to inline both.
func piecesLow512(c *[9]vec.Splat32, i archsimd.Uint32x16, t, p archsimd.Float32x16) archsimd.Float32x16 {
	return p.
		MulAdd(t, vec.LoadNarrow512(&c[5]).Permute(i)).
		MulAdd(t, vec.LoadNarrow512(&c[4]).Permute(i)).
		MulAdd(t, vec.LoadNarrow512(&c[3]).Permute(i)).
		MulAdd(t, vec.LoadNarrow512(&c[2]).Permute(i))
}

// foldSquare512 gives n and r with -a^2/2 = n ln2 + r. What rounding drops from the square goes into r.
func foldSquare512(a archsimd.Float32x16) (n, r archsimd.Float32x16) {
	magic, minusHalf := vec.LoadNarrow512(&Consts.NarrowMagic), vec.LoadNarrow512(&Consts.narrowMinusHalf)
	square := a.Mul(a)
	h := square.Mul(minusHalf)
	dropped := a.Mul(minusHalf).MulAdd(a, square.Mul(vec.LoadNarrow512(&Consts.narrowHalf)))
	n = square.MulAdd(vec.LoadNarrow512(&Consts.narrowMinusHalfLog2e), magic).Sub(magic)
	r = n.MulAdd(vec.LoadNarrow512(&Consts.NarrowMinusLn2), h)
	return n, n.MulAdd(vec.LoadNarrow512(&Consts.NarrowMinusLn2Low), r).Add(dropped)
}

// geluLoop512 subtracts a erfc(a/sqrt(2))/2 from max(x, 0); see siluLoop512 for the powers of two. Half of a, the largest part
// of it in the first interval, is added last, so that it is rounded once.
func geluLoop512(dst, src []float32) {
	var nought archsimd.Float32x16
	for i := 0; i+vec.Lanes512 <= len(src); i += vec.Lanes512 {
		x := archsimd.LoadFloat32x16(vec.At512(&src[i]))
		a, limit := absNarrow512(x), vec.LoadNarrow512(&Consts.narrowGeluLimit)
		a = limit.Merge(a, a.Greater(limit))
		// The exponential and the polynomial do not depend on each other, so that the processor computes both at a time.
		n, r := foldSquare512(a)
		constant, p, t := pieces512(&Consts.narrowGelu, a, vec.LoadNarrow512(&Consts.narrowGeluShift))
		constant = t.Mul(vec.LoadNarrow512(&Consts.narrowHalf)).Merge(constant, a.Add(vec.LoadNarrow512(&Consts.narrowGeluShift)).Less(vec.LoadNarrow512(&Consts.narrowGeluFirst)))
		y := p.MulAdd(t, constant)
		y = Expm1Narrow512(r).MulAdd(y, y)
		y = y.Mul(n.Add(vec.LoadNarrow512(&Consts.NarrowBiasUp)).AsInt32x16().ShiftAllLeft(23).AsFloat32x16())
		above := x.Merge(x.Mul(nought), x.GreaterEqual(nought)) // NaN of -Inf
		y.MulAdd(vec.LoadNarrow512(&Consts.narrowMinusDown), above).Store(vec.At512(&dst[i]))
	}
	archsimd.ClearAVXUpperBits()
}
