//go:build goexperiment.simd && amd64 && !race

package stencil

import "github.com/paddle-mps/paddle-mps/kernels/host/vec"

// use chooses the loops of a level.
func (t *table) use(level vec.Level) {
	if t.level = level; level == vec.AVX512 {
		t.use512()
	} else {
		t.use256()
	}
}

func (t *table) use256() {
	t.maxPoolRow = maxPoolRow256
	t.depthwiseChannelsLast, t.maxPoolChannelsLast = depthwiseChannelsLast256, maxPoolChannelsLast256
	t.evenElements, t.depthwisePlane = evenElements256, depthwisePlane256
}

func (t *table) use512() {
	t.maxPoolRow = maxPoolRow512
	t.depthwiseChannelsLast, t.maxPoolChannelsLast = depthwiseWindows512, maxPoolChannelsLast512
	t.evenElements = evenElements512
	t.splitLines, t.mostSplit, t.depthwisePlane = splitLines512, mostSplit512, depthwisePlane512
}
