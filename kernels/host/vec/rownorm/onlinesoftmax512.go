//go:build goexperiment.simd && amd64 && !race

package rownorm

import (
	"math"
	"simd/archsimd"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/maths"
)

// onlineSoftmax512 is onlineSoftmaxPortable, a vector of columns after the other.
func onlineSoftmax512(s, tops, sums, factors []float32, scaling int) {
	n := len(tops)
	if n%vec.Lanes512 != 0 {
		onlineSoftmaxPortable(s, tops, sums, factors, scaling)
		return
	}
	lowest := archsimd.BroadcastFloat32x16(float32(math.Inf(-1)))
	least, bias := archsimd.BroadcastFloat32x16(float32(scaling-125)*math.Ln2), archsimd.BroadcastInt32x16(127-int32(scaling))
	leastFactor, plain := archsimd.BroadcastFloat32x16(-125*math.Ln2), archsimd.BroadcastInt32x16(127)
	var nought archsimd.Float32x16
	for c := 0; c < n; c += vec.Lanes512 {
		before := archsimd.LoadFloat32x16(vec.At512(&tops[c]))
		top := before
		for at := c; at < len(s); at += n {
			top = top.Max(archsimd.LoadFloat32x16(vec.At512(&s[at])))
		}
		top.Store(vec.At512(&tops[c]))
		top = nought.Merge(top, top.Equal(lowest))
		sum := nought
		for at := c; at < len(s); at += n {
			w := weight512(archsimd.LoadFloat32x16(vec.At512(&s[at])).Sub(top), least, bias)
			w.Store(vec.At512(&s[at]))
			sum = sum.Add(w)
		}
		factor := weight512(before.Sub(top), leastFactor, plain)
		factor.Store(vec.At512(&factors[c]))
		archsimd.LoadFloat32x16(vec.At512(&sums[c])).MulAdd(factor, sum).Store(vec.At512(&sums[c]))
	}
	archsimd.ClearAVXUpperBits()
}

// weight512 is exp(x) for x up to 0, times the power of two that bias is the exponent of; 0 below least, and NaN of NaN.
func weight512(x, least archsimd.Float32x16, bias archsimd.Int32x16) archsimd.Float32x16 {
	magic := vec.LoadNarrow512(&maths.Consts.NarrowMagic)
	below := x.Less(least)
	x = least.Merge(x, below)
	t := x.MulAdd(vec.LoadNarrow512(&maths.Consts.NarrowLog2e), magic)
	n := t.Sub(magic)
	r := n.MulAdd(vec.LoadNarrow512(&maths.Consts.NarrowMinusLn2), x)
	g := maths.Expm1Narrow512(n.MulAdd(vec.LoadNarrow512(&maths.Consts.NarrowMinusLn2Low), r))
	power := t.AsInt32x16().Add(bias).ShiftAllLeft(23).AsFloat32x16()
	var nought archsimd.Float32x16
	return nought.Merge(g.MulAdd(power, power), below)
}
