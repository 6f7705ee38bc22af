//go:build goexperiment.simd && !race

package rearrange

import (
	"simd/archsimd"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// weave says where the elements of three vectors side by side come from: first those of a and b, then those of c as well.
var weave = func() (w [3][2][vec.Lanes512]uint32) {
	for i := range uint32(3 * vec.Lanes512) {
		pair, all := i/3, i%vec.Lanes512
		switch i % 3 {
		case 1:
			pair += vec.Lanes512
		case 2:
			all = vec.Lanes512 + i/3
		}
		w[i/vec.Lanes512][0][i%vec.Lanes512], w[i/vec.Lanes512][1][i%vec.Lanes512] = pair, all
	}
	return w
}()

// interleave3With512 is Interleave3 of AVX-512: three vectors of sixteen elements of each line.
func interleave3With512(to, a, b, c []float32) {
	var at [3][2]archsimd.Uint32x16
	for v := range at {
		at[v] = [2]archsimd.Uint32x16{archsimd.LoadUint32x16(&weave[v][0]), archsimd.LoadUint32x16(&weave[v][1])}
	}
	for len(a) >= vec.Lanes512 && len(b) >= vec.Lanes512 && len(c) >= vec.Lanes512 && len(to) >= 3*vec.Lanes512 {
		x, y, z := archsimd.LoadFloat32x16Slice(a), archsimd.LoadFloat32x16Slice(b), archsimd.LoadFloat32x16Slice(c)
		x.ConcatPermute(y, at[0][0]).ConcatPermute(z, at[0][1]).StoreSlice(to)
		x.ConcatPermute(y, at[1][0]).ConcatPermute(z, at[1][1]).StoreSlice(to[vec.Lanes512:])
		x.ConcatPermute(y, at[2][0]).ConcatPermute(z, at[2][1]).StoreSlice(to[2*vec.Lanes512:])
		to, a, b, c = to[3*vec.Lanes512:], a[vec.Lanes512:], b[vec.Lanes512:], c[vec.Lanes512:]
	}
	archsimd.ClearAVXUpperBits()
	interleave3Row(to, a, b, c)
}
