//go:build goexperiment.simd && amd64 && !race

package vec

import "simd/archsimd"

// One number of the lanes of each of several vectors, in the order of the vectors. Neighbouring lanes of two vectors are brought
// together, so that one instruction adds up, or compares, those of both. The vectors are used up. Only the first n count; lanes of the
// result beyond them are anything.

var (
	// LaneNumbers are 0, 1, 2 and so on.
	LaneNumbers      = [Lanes512]int32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}
	oddLanes512      = [Lanes512]uint32{1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31}
	evenWideLanes512 = [WideLanes512]uint64{0, 2, 4, 6, 8, 10, 12, 14}
	oddWideLanes512  = [WideLanes512]uint64{1, 3, 5, 7, 9, 11, 13, 15}
)

// TopLane512 is the largest lane; none is NaN.
func TopLane512(v archsimd.Float32x16) float32 { return TopLane256(v.GetLo().Max(v.GetHi())) }

// TopLane256 is the largest lane; none is NaN.
func TopLane256(v archsimd.Float32x8) float32 {
	var lanes [WideLanes256]float32
	v.GetLo().Max(v.GetHi()).Store(&lanes)
	return Larger(Larger(lanes[0], lanes[1]), Larger(lanes[2], lanes[3]))
}

// TopOfEach512 is the largest lane of each vector, but for NaN.
func TopOfEach512(v *[Lanes512][Lanes512]float32, n int) archsimd.Float32x16 {
	even, odd := archsimd.LoadUint32x16(&evenLanes512), archsimd.LoadUint32x16(&oddLanes512)
	for level := len(v) / 2; level > 0; level /= 2 {
		n = (n + 1) / 2
		for i := range min(n, level) {
			x, y := archsimd.LoadFloat32x16(&v[2*i]), archsimd.LoadFloat32x16(&v[2*i+1])
			x.ConcatPermute(y, even).Max(x.ConcatPermute(y, odd)).Store(&v[i])
		}
	}
	return archsimd.LoadFloat32x16(&v[0])
}

// SumOfEach512 is the sum of the lanes of each vector.
//
//go:noinline
func SumOfEach512(v *[WideLanes512][WideLanes512]float64, _ int) archsimd.Float64x8 {
	even, odd := archsimd.LoadUint64x8(&evenWideLanes512), archsimd.LoadUint64x8(&oddWideLanes512)
	pairs := func(x, y archsimd.Float64x8) archsimd.Float64x8 {
		return x.ConcatPermute(y, even).Add(x.ConcatPermute(y, odd))
	}
	x := pairs(pairs(archsimd.LoadFloat64x8(&v[0]), archsimd.LoadFloat64x8(&v[1])), pairs(archsimd.LoadFloat64x8(&v[2]), archsimd.LoadFloat64x8(&v[3])))
	y := pairs(pairs(archsimd.LoadFloat64x8(&v[4]), archsimd.LoadFloat64x8(&v[5])), pairs(archsimd.LoadFloat64x8(&v[6]), archsimd.LoadFloat64x8(&v[7])))
	return pairs(x, y)
}

// TopOfEach256 is TopOfEach512. AVX2 selects within halves of a vector, which the last step brings together.
func TopOfEach256(v *[Lanes256][Lanes256]float32, n int) archsimd.Float32x8 {
	for level := len(v) / 2; level > 1; level /= 2 {
		n = (n + 1) / 2
		for i := range min(n, level) {
			x, y := archsimd.LoadFloat32x8(&v[2*i]), archsimd.LoadFloat32x8(&v[2*i+1])
			x.SelectFromPairGrouped(0, 2, 4, 6, y).Max(x.SelectFromPairGrouped(1, 3, 5, 7, y)).Store(&v[i])
		}
	}
	x, y := archsimd.LoadFloat32x8(&v[0]), archsimd.LoadFloat32x8(&v[1])
	return x.Select128FromPair(0, 2, y).Max(x.Select128FromPair(1, 3, y))
}

// SumOfEach256 is SumOfEach512.
func SumOfEach256(v *[WideLanes256][WideLanes256]float64, _ int) archsimd.Float64x4 {
	x := archsimd.LoadFloat64x4(&v[0]).AddPairsGrouped(archsimd.LoadFloat64x4(&v[1]))
	y := archsimd.LoadFloat64x4(&v[2]).AddPairsGrouped(archsimd.LoadFloat64x4(&v[3]))
	return x.Select128FromPair(0, 2, y).Add(x.Select128FromPair(1, 3, y))
}
