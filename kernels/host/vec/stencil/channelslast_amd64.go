//go:build goexperiment.simd && !race

package stencil

import "github.com/paddle-mps/paddle-mps/kernels/host/vec"

//go:noescape
func eightWindows512(to, x, w *float32, taps *Tap, count, step, channels int)

const (
	deepWindows = 8 // of eightWindows512
	fewWindows  = 4 // that are left over and cost less one by one, or four together
)

// depthwiseWindows512 is depthwise of AVX-512. The Go compiler would compute the places of what a tap sees for each window anew. All
// channels of eight windows come before the next ones: what these see is in the first-level cache in between, and channels of one
// window are read in their order. The last eight may compute some once more.
// SAFETY: the caller has seen to it that all runs lie in their slices.
func depthwiseWindows512(to, x, w []float32, taps []Tap, n, step, channels int) {
	if n < deepWindows || channels < vec.Lanes512 || len(taps) == 0 {
		depthwiseChannelsLast512(to, x, w, taps, n, step, channels)
		return
	}
	i := 0
	for ; n-i > fewWindows; i += deepWindows {
		i = min(i, n-deepWindows)
		eightWindows512(&to[i*channels], &x[i*step], &w[0], &taps[0], len(taps), step, channels)
	}
	if i < n {
		depthwiseChannelsLast512(to[i*channels:], x[i*step:], w, taps, n-i, step, channels)
	}
}
