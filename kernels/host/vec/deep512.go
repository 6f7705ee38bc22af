//go:build goexperiment.simd && amd64 && !race

package vec

import (
	"simd/archsimd"
	"unsafe"
)

// The last vector of a run of channels ends where the run does, and has some channels that the one before had too. Runs that are
// shorter than a vector fill a part of one.

// depthwise512 is Depthwise. Four windows use a weight that has been loaded.
// SAFETY: the caller has seen to it that all runs lie in their slices.
func depthwise512(to, x, w []float32, taps []Tap, n, step, channels int) {
	if channels < lanes512 {
		depthwiseFew512(to, x, w, taps, n, step, channels)
		return
	}
	from, weights, out := unsafe.Pointer(&x[0]), unsafe.Pointer(&w[0]), unsafe.Pointer(&to[0])
	for c := 0; c < channels; c += lanes512 {
		c = min(c, channels-lanes512)
		i := 0
		for ; i+4 <= n; i += 4 {
			var s0, s1, s2, s3 archsimd.Float32x16
			at := unsafe.Add(from, 4*(i*step+c))
			for t := range taps {
				k := floats512(weights, 4*(int(taps[t].Number)*channels+c))
				p := unsafe.Add(at, 4*taps[t].Offset)
				s0 = floats512(p, 0).MulAdd(k, s0)
				s1 = floats512(p, 4*step).MulAdd(k, s1)
				s2 = floats512(p, 8*step).MulAdd(k, s2)
				s3 = floats512(p, 12*step).MulAdd(k, s3)
			}
			y := unsafe.Add(out, 4*(i*channels+c))
			s0.Store((*[lanes512]float32)(y))
			s1.Store((*[lanes512]float32)(unsafe.Add(y, 4*channels)))
			s2.Store((*[lanes512]float32)(unsafe.Add(y, 8*channels)))
			s3.Store((*[lanes512]float32)(unsafe.Add(y, 12*channels)))
		}
		for ; i < n; i++ {
			var s archsimd.Float32x16
			at := unsafe.Add(from, 4*(i*step+c))
			for t := range taps {
				s = floats512(at, 4*taps[t].Offset).MulAdd(floats512(weights, 4*(int(taps[t].Number)*channels+c)), s)
			}
			s.Store((*[lanes512]float32)(unsafe.Add(out, 4*(i*channels+c))))
		}
	}
	archsimd.ClearAVXUpperBits()
}

// depthwiseFew512 is depthwise512 for runs that are shorter than a vector.
func depthwiseFew512(to, x, w []float32, taps []Tap, n, step, channels int) {
	for i := range n {
		var s archsimd.Float32x16
		for _, t := range taps {
			v := archsimd.LoadFloat32x16SlicePart(x[i*step+t.Offset:][:channels])
			s = v.MulAdd(archsimd.LoadFloat32x16SlicePart(w[int(t.Number)*channels:][:channels]), s)
		}
		s.StoreSlicePart(to[i*channels:][:channels])
	}
	archsimd.ClearAVXUpperBits()
}

// maxDeep512 is MaxDeep.
// SAFETY: see depthwise512.
func maxDeep512(to, x []float32, taps []Tap, n, step, channels int) {
	if channels < lanes512 {
		maxDeepRow(to, x, taps, n, step, channels)
		return
	}
	from, out := unsafe.Pointer(&x[0]), unsafe.Pointer(&to[0])
	for i := range n {
		for c := 0; c < channels; c += lanes512 {
			c = min(c, channels-lanes512)
			at := unsafe.Add(from, 4*(i*step+c))
			top := floats512(at, 4*taps[0].Offset)
			for t := 1; t < len(taps); t++ {
				v := floats512(at, 4*taps[t].Offset)
				top = top.Merge(v, v.LessEqual(top).Or(top.IsNaN()))
			}
			top.Store((*[lanes512]float32)(unsafe.Add(out, 4*(i*channels+c))))
		}
	}
	archsimd.ClearAVXUpperBits()
}
