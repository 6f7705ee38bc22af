//go:build goexperiment.simd && amd64 && !race

package vec

import "simd/archsimd"

// One number of the lanes of each of several vectors, in the order of the vectors. Neighbouring lanes of two vectors are brought
// together, so that one instruction adds up, or compares, those of both. The vectors are used up. Only the first n count; lanes of the
// result beyond them are anything.

var (
	laneNumbers      = [lanes512]int32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}
	oddLanes512      = [lanes512]uint32{1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31}
	evenWideLanes512 = [half512]uint64{0, 2, 4, 6, 8, 10, 12, 14}
	oddWideLanes512  = [half512]uint64{1, 3, 5, 7, 9, 11, 13, 15}
)

// topLane512 is the largest lane; none is NaN.
func topLane512(v narrow512) float32 { return topLane256(v.GetLo().Max(v.GetHi())) }

func topLane256(v narrow256) float32 {
	var lanes [half256]float32
	v.GetLo().Max(v.GetHi()).Store(&lanes)
	return larger(larger(lanes[0], lanes[1]), larger(lanes[2], lanes[3]))
}

// topOfEach512 is the largest lane of each vector, but for NaN.
func topOfEach512(v *[lanes512][lanes512]float32, n int) narrow512 {
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

// sumOfEach512 is the sum of the lanes of each vector.
//
//go:noinline
func sumOfEach512(v *[half512][half512]float64, _ int) wide512 {
	even, odd := archsimd.LoadUint64x8(&evenWideLanes512), archsimd.LoadUint64x8(&oddWideLanes512)
	pairs := func(x, y wide512) wide512 { return x.ConcatPermute(y, even).Add(x.ConcatPermute(y, odd)) }
	x := pairs(pairs(archsimd.LoadFloat64x8(&v[0]), archsimd.LoadFloat64x8(&v[1])), pairs(archsimd.LoadFloat64x8(&v[2]), archsimd.LoadFloat64x8(&v[3])))
	y := pairs(pairs(archsimd.LoadFloat64x8(&v[4]), archsimd.LoadFloat64x8(&v[5])), pairs(archsimd.LoadFloat64x8(&v[6]), archsimd.LoadFloat64x8(&v[7])))
	return pairs(x, y)
}

// topOfEach256 is topOfEach512. AVX2 selects within halves of a vector, which the last step brings together.
func topOfEach256(v *[lanes256][lanes256]float32, n int) narrow256 {
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

// sumOfEach256 is sumOfEach512.
func sumOfEach256(v *[half256][half256]float64, _ int) wide256 {
	x := archsimd.LoadFloat64x4(&v[0]).AddPairsGrouped(archsimd.LoadFloat64x4(&v[1]))
	y := archsimd.LoadFloat64x4(&v[2]).AddPairsGrouped(archsimd.LoadFloat64x4(&v[3]))
	return x.Select128FromPair(0, 2, y).Add(x.Select128FromPair(1, 3, y))
}
