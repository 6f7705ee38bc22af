//go:build goexperiment.simd && amd64 && !race

package vec

// scaleNarrow512 is y times 2 to the n, for an integer n, rounded once where the result is subnormal. AVX-512 has an instruction.
func scaleNarrow512(y, n narrow512) narrow512 { return y.Scale(n) }

// scaleNarrow256 takes two steps: half of n is an exponent where n is none. Only the second step
// rounds, where the result is subnormal.
func scaleNarrow256(y, n narrow256) narrow256 {
	bias := loadNarrow256(&consts.narrowBias)
	h := n.MulAdd(loadNarrow256(&consts.narrowHalf), bias)
	y = y.Mul(h.AsInt32x8().ShiftAllLeft(23).AsFloat32x8())
	return y.Mul(powerNarrow256(n.Sub(h.Sub(bias))))
}
