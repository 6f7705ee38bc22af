package stencil

import "github.com/paddle-mps/paddle-mps/kernels/host/vec"

// Images that have their channels last are looked at channel by channel in the lanes of a vector: what a window sees at one tap
// is a run of channels.

// DepthwiseChannelsLast sets to to sums over taps of elements of x times those of w, for each of n windows and each channel:
// to[i*channels+c] is the sum over taps, in their order, of x[i*step+tap.Offset+c] * w[tap.Number*channels+c], added with the
// level's one way of rounding. It reports false, and does nothing, where a window, a weight or the result does not lie in its
// slice.
func DepthwiseChannelsLast(to, x, w []float32, taps []Tap, n, step, channels int) bool {
	if !windowsFit(len(to), len(x), taps, n, step, channels) {
		return false
	}
	least, most := int32(0), int32(-1)
	for i := range taps {
		least, most = min(least, taps[i].Number), max(most, taps[i].Number)
	}
	if least < 0 || channels > 0 && int(most) > len(w)/channels-1 {
		return false
	}
	if n > 0 && channels > 0 {
		active.depthwiseChannelsLast(to, x, w, taps, n, step, channels)
	}
	return true
}

// MaxPoolChannelsLast sets to to the largest element over taps, of which there is one at least, for each of n windows and each channel; NaN
// is the largest of all. Windows are those of [DepthwiseChannelsLast], and so is what it reports.
func MaxPoolChannelsLast(to, x []float32, taps []Tap, n, step, channels int) bool {
	if len(taps) == 0 || !windowsFit(len(to), len(x), taps, n, step, channels) {
		return false
	}
	if n > 0 && channels > 0 {
		active.maxPoolChannelsLast(to, x, taps, n, step, channels)
	}
	return true
}

// windowsFit reports whether windows and their results lie in slices of these lengths.
func windowsFit(to, x int, taps []Tap, n, step, channels int) bool {
	if n < 0 || step < 0 || channels < 0 || !vec.MatrixFits(to, n, channels, channels) {
		return false
	}
	if len(taps) == 0 {
		return true
	}
	least, most := 0, 0
	for i := range taps {
		least, most = min(least, taps[i].Offset), max(most, taps[i].Offset)
	}
	return least >= 0 && most <= x && (n == 0 || within(x-most, n, step, channels))
}

// within reports whether n runs of channels, step apart, lie in so many elements.
func within(elements, n, step, channels int) bool {
	return channels <= elements && (n == 1 || step <= (elements-channels)/(n-1))
}

// depthwiseChannelsLastRow is DepthwiseChannelsLast, portable.
func depthwiseChannelsLastRow(to, x, w []float32, taps []Tap, n, step, channels int) {
	for i := range n {
		sums := to[i*channels:][:channels]
		clear(sums)
		for _, t := range taps {
			weights := w[int(t.Number)*channels:][:channels]
			for c, v := range x[i*step+t.Offset:][:channels] {
				sums[c] += float32(v * weights[c])
			}
		}
	}
}

// maxPoolChannelsLastRow is MaxPoolChannelsLast, portable.
func maxPoolChannelsLastRow(to, x []float32, taps []Tap, n, step, channels int) {
	for i := range n {
		best := to[i*channels:][:channels]
		copy(best, x[i*step+taps[0].Offset:])
		for _, t := range taps[1:] {
			for c, v := range x[i*step+t.Offset:][:channels] {
				// A comparison with NaN is false: a NaN replaces what is there, and nothing replaces it.
				if top := best[c]; !(v <= top) && top == top { //nolint:staticcheck // a NaN is not less
					best[c] = v
				}
			}
		}
	}
}
