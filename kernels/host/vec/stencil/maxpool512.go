//go:build goexperiment.simd && amd64 && !race

package stencil

import (
	"simd/archsimd"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// maxPoolRow512 is MaxPoolRow. Windows lie side by side in the lanes of a vector, so that a tap is one vector of elements for all
// of them. Vectors are stored whole, and read beyond the last window, but never beyond x.
// SAFETY: reach is the largest offset, and the loop ends where a vector from there on would not fit x.
func maxPoolRow512(best []float32, at []int32, x []float32, taps []Tap, n, step, reach int, first int32) {
	var lanes [vec.Lanes512]int32
	for i := range lanes {
		lanes[i] = int32(i*step) + first
	}
	numbers, further := archsimd.LoadInt32x16(&lanes), archsimd.BroadcastInt32x16(int32(vec.Lanes512*step))
	i, from := 0, unsafe.Pointer(&x[0])
	for ; i < n && reach+(i+vec.Lanes512)*step <= len(x); i += vec.Lanes512 {
		here := unsafe.Add(from, 4*i*step)
		top := every512(here, 4*taps[0].Offset, step)
		place := numbers.Add(archsimd.BroadcastInt32x16(taps[0].Number))
		for t := 1; t < len(taps); t++ {
			v := every512(here, 4*taps[t].Offset, step)
			stays := v.LessEqual(top).Or(top.IsNaN())
			top = top.Merge(v, stays)
			place = place.Merge(numbers.Add(archsimd.BroadcastInt32x16(taps[t].Number)), stays)
		}
		top.Store(vec.At512(&best[i]))
		place.Store((*[vec.Lanes512]int32)(at[i:]))
		numbers = numbers.Add(further)
	}
	archsimd.ClearAVXUpperBits()
	if i < n {
		maxPoolRowPortable(best[i:n], at[i:n], x[i*step:], taps, step, first+int32(i*step))
	}
}

// every512 loads the elements that begin so many bytes behind an address, each of them or every second.
// SAFETY: see maxPoolRow512.
func every512(p unsafe.Pointer, i, step int) archsimd.Float32x16 {
	if step == 1 {
		return vec.LoadFloats512(p, i)
	}
	return vec.EvenLanes512(vec.LoadFloats512(p, i), vec.LoadFloats512(p, i+vec.VectorBytes512))
}
