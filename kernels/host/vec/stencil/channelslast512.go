//go:build goexperiment.simd && amd64 && !race

package stencil

import (
	"simd/archsimd"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// The last vector of a run of channels ends where the run does, and has some channels that the one before had too. Runs that are
// shorter than a vector fill a part of one.

// depthwiseChannelsLast512 is DepthwiseChannelsLast. Four windows use a weight that has been loaded; those that are left over are computed one by one.
// SAFETY: the caller has seen to it that all runs lie in their slices.
func depthwiseChannelsLast512(to, x, w []float32, taps []Tap, n, step, channels int) {
	i := 0
	if channels < vec.Lanes512 {
		i = depthwiseFew512(to, x, w, taps, n, step, channels)
	} else if n >= 4 {
		from, weights, out := unsafe.Pointer(&x[0]), unsafe.Pointer(&w[0]), unsafe.Pointer(&to[0])
		for c := 0; c < channels; c += vec.Lanes512 {
			c = min(c, channels-vec.Lanes512)
			for i = 0; i+4 <= n; i += 4 {
				fourWindows512(unsafe.Add(out, 4*(i*channels+c)), unsafe.Add(from, 4*(i*step+c)), unsafe.Add(weights, 4*c), taps, step, channels)
			}
		}
	}
	for ; i < n; i++ {
		depthwiseWindow512(to[i*channels:][:channels], x[i*step:], w, taps)
	}
	archsimd.ClearAVXUpperBits()
}

// fourWindows512 computes a vector of channels of four windows.
// SAFETY: the caller has seen to it that all of them lie in their slices.
func fourWindows512(to, from, weights unsafe.Pointer, taps []Tap, step, channels int) {
	var s0, s1, s2, s3 archsimd.Float32x16
	for t := range taps {
		k := vec.LoadFloats512(weights, 4*int(taps[t].Number)*channels)
		p := unsafe.Add(from, 4*taps[t].Offset)
		s0 = vec.LoadFloats512(p, 0).MulAdd(k, s0)
		s1 = vec.LoadFloats512(p, 4*step).MulAdd(k, s1)
		s2 = vec.LoadFloats512(p, 8*step).MulAdd(k, s2)
		s3 = vec.LoadFloats512(p, 12*step).MulAdd(k, s3)
	}
	s0.Store((*[vec.Lanes512]float32)(to))
	s1.Store((*[vec.Lanes512]float32)(unsafe.Add(to, 4*channels)))
	s2.Store((*[vec.Lanes512]float32)(unsafe.Add(to, 8*channels)))
	s3.Store((*[vec.Lanes512]float32)(unsafe.Add(to, 12*channels)))
}

// depthwiseWindow512 computes one window, four vectors of channels side by side, so that no addition waits for the one before.
// SAFETY: the caller has seen to it that all runs lie in their slices.
func depthwiseWindow512(to, x, w []float32, taps []Tap) {
	channels, c := len(to), 0
	if channels < vec.Lanes512 {
		depthwisePart512(to, x, w, taps)
		return
	}
	from, weights, out := unsafe.Pointer(&x[0]), unsafe.Pointer(&w[0]), unsafe.Pointer(&to[0])
	for ; c+4*vec.Lanes512 <= channels; c += 4 * vec.Lanes512 {
		var s0, s1, s2, s3 archsimd.Float32x16
		for t := range taps {
			p, k := unsafe.Add(from, 4*(taps[t].Offset+c)), unsafe.Add(weights, 4*(int(taps[t].Number)*channels+c))
			s0 = vec.LoadFloats512(p, 0).MulAdd(vec.LoadFloats512(k, 0), s0)
			s1 = vec.LoadFloats512(p, 4*vec.Lanes512).MulAdd(vec.LoadFloats512(k, 4*vec.Lanes512), s1)
			s2 = vec.LoadFloats512(p, 8*vec.Lanes512).MulAdd(vec.LoadFloats512(k, 8*vec.Lanes512), s2)
			s3 = vec.LoadFloats512(p, 12*vec.Lanes512).MulAdd(vec.LoadFloats512(k, 12*vec.Lanes512), s3)
		}
		y := (*[4][vec.Lanes512]float32)(unsafe.Add(out, 4*c))
		s0.Store(&y[0])
		s1.Store(&y[1])
		s2.Store(&y[2])
		s3.Store(&y[3])
	}
	for ; c < channels; c += vec.Lanes512 {
		c = min(c, channels-vec.Lanes512)
		var s archsimd.Float32x16
		for t := range taps {
			s = vec.LoadFloats512(from, 4*(taps[t].Offset+c)).MulAdd(vec.LoadFloats512(weights, 4*(int(taps[t].Number)*channels+c)), s)
		}
		s.Store((*[vec.Lanes512]float32)(unsafe.Add(out, 4*c)))
	}
}

// A vector that begins with a run shorter than itself has elements of what is behind it too. Where these are in the slices they
// are computed with the others, and the results of the next windows, which come later, replace what they make.

// depthwiseFew512 is the part of depthwiseChannelsLast512 for runs that are shorter than a vector in which whole vectors lie in the slices:
// it answers how many windows it has computed, in fours.
// SAFETY: the last of four windows is looked at before they are computed, for each tap, and so is the last weight.
func depthwiseFew512(to, x, w []float32, taps []Tap, n, step, channels int) (i int) {
	for t := range taps {
		if int(taps[t].Number)*channels+vec.Lanes512 > len(w) {
			return 0
		}
	}
	for ; i+4 <= n && (i+3)*channels+vec.Lanes512 <= len(to); i += 4 {
		for t := range taps {
			if (i+3)*step+taps[t].Offset+vec.Lanes512 > len(x) {
				return i
			}
		}
		fourWindows512(unsafe.Pointer(&to[i*channels]), unsafe.Pointer(&x[i*step]), unsafe.Pointer(&w[0]), taps, step, channels)
	}
	return i
}

// depthwisePart512 computes one window whose run is shorter than a vector.
func depthwisePart512(to, x, w []float32, taps []Tap) {
	channels := len(to)
	var s archsimd.Float32x16
	for _, t := range taps {
		v := archsimd.LoadFloat32x16SlicePart(x[t.Offset:][:channels])
		s = v.MulAdd(archsimd.LoadFloat32x16SlicePart(w[int(t.Number)*channels:][:channels]), s)
	}
	s.StoreSlicePart(to)
}

// maxPoolChannelsLast512 is MaxPoolChannelsLast.
// SAFETY: see depthwiseChannelsLast512.
func maxPoolChannelsLast512(to, x []float32, taps []Tap, n, step, channels int) {
	if channels < vec.Lanes512 {
		maxPoolChannelsLastRow(to, x, taps, n, step, channels)
		return
	}
	from, out := unsafe.Pointer(&x[0]), unsafe.Pointer(&to[0])
	for i := range n {
		for c := 0; c < channels; c += vec.Lanes512 {
			c = min(c, channels-vec.Lanes512)
			at := unsafe.Add(from, 4*(i*step+c))
			top := vec.LoadFloats512(at, 4*taps[0].Offset)
			for t := 1; t < len(taps); t++ {
				v := vec.LoadFloats512(at, 4*taps[t].Offset)
				top = top.Merge(v, v.LessEqual(top).Or(top.IsNaN()))
			}
			top.Store((*[vec.Lanes512]float32)(unsafe.Add(out, 4*(i*channels+c))))
		}
	}
	archsimd.ClearAVXUpperBits()
}
