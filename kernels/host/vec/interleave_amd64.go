//go:build goexperiment.simd && !race

package vec

import "simd/archsimd"

// weave says where the elements of three vectors side by side come from: first those of a and b, then those of c as well.
var weave = func() (w [3][2][lanes512]uint32) {
	for i := range uint32(3 * lanes512) {
		pair, all := i/3, i%lanes512
		switch i % 3 {
		case 1:
			pair += lanes512
		case 2:
			all = lanes512 + i/3
		}
		w[i/lanes512][0][i%lanes512], w[i/lanes512][1][i%lanes512] = pair, all
	}
	return w
}()

// interleave3With512 is Interleave3 of AVX-512: three vectors of sixteen elements of each line.
func interleave3With512(to, a, b, c []float32) {
	var at [3][2]index512
	for v := range at {
		at[v] = [2]index512{archsimd.LoadUint32x16(&weave[v][0]), archsimd.LoadUint32x16(&weave[v][1])}
	}
	for len(a) >= lanes512 && len(b) >= lanes512 && len(c) >= lanes512 && len(to) >= 3*lanes512 {
		x, y, z := archsimd.LoadFloat32x16Slice(a), archsimd.LoadFloat32x16Slice(b), archsimd.LoadFloat32x16Slice(c)
		x.ConcatPermute(y, at[0][0]).ConcatPermute(z, at[0][1]).StoreSlice(to)
		x.ConcatPermute(y, at[1][0]).ConcatPermute(z, at[1][1]).StoreSlice(to[lanes512:])
		x.ConcatPermute(y, at[2][0]).ConcatPermute(z, at[2][1]).StoreSlice(to[2*lanes512:])
		to, a, b, c = to[3*lanes512:], a[lanes512:], b[lanes512:], c[lanes512:]
	}
	archsimd.ClearAVXUpperBits()
	interleave3Row(to, a, b, c)
}
