//go:build goexperiment.simd && amd64 && !race

package vec

import (
	"math"
	"simd/archsimd"
)

// weigh512 is weighColumns, a vector of columns after the other.
func weigh512(s, tops, sums, factors []float32, scaling int) {
	n := len(tops)
	if n%lanes512 != 0 {
		weighColumns(s, tops, sums, factors, scaling)
		return
	}
	lowest := archsimd.BroadcastFloat32x16(float32(math.Inf(-1)))
	least, bias := archsimd.BroadcastFloat32x16(float32(scaling-125)*math.Ln2), archsimd.BroadcastInt32x16(127-int32(scaling))
	leastFactor, plain := archsimd.BroadcastFloat32x16(-125*math.Ln2), archsimd.BroadcastInt32x16(127)
	var nought narrow512
	for c := 0; c < n; c += lanes512 {
		before := archsimd.LoadFloat32x16(at512(&tops[c]))
		top := before
		for at := c; at < len(s); at += n {
			top = top.Max(archsimd.LoadFloat32x16(at512(&s[at])))
		}
		top.Store(at512(&tops[c]))
		top = nought.Merge(top, top.Equal(lowest))
		sum := nought
		for at := c; at < len(s); at += n {
			w := weight512(archsimd.LoadFloat32x16(at512(&s[at])).Sub(top), least, bias)
			w.Store(at512(&s[at]))
			sum = sum.Add(w)
		}
		factor := weight512(before.Sub(top), leastFactor, plain)
		factor.Store(at512(&factors[c]))
		archsimd.LoadFloat32x16(at512(&sums[c])).MulAdd(factor, sum).Store(at512(&sums[c]))
	}
	archsimd.ClearAVXUpperBits()
}

// weight512 is exp(x) for x up to 0, times the power of two that bias is the exponent of; 0 below least, and NaN of NaN.
func weight512(x, least narrow512, bias shifts512) narrow512 {
	magic := loadNarrow512(&consts.narrowMagic)
	below := x.Less(least)
	x = least.Merge(x, below)
	t := x.MulAdd(loadNarrow512(&consts.narrowLog2e), magic)
	n := t.Sub(magic)
	r := n.MulAdd(loadNarrow512(&consts.narrowMinusLn2), x)
	g := growthNarrow512(n.MulAdd(loadNarrow512(&consts.narrowMinusLn2Low), r))
	power := t.AsInt32x16().Add(bias).ShiftAllLeft(23).AsFloat32x16()
	var nought narrow512
	return nought.Merge(g.MulAdd(power, power), below)
}
