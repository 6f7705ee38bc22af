package fusion

import (
	"slices"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/kernels/host/elem"
)

// Stream has the steps of a group write past the cache whose results exceed it. What the group reads itself stays in the cache.
func (f *Group) Stream() {
	for i := range f.steps {
		past := elem.PastCache(f.Kernels[i])
		if past != nil && f.steps[i].Out[0].Space != device.Local && elem.ExceedsCache(&f.steps[i].Call.Out[0]) && !f.reads(i) {
			f.Kernels[i], f.Fence = past, true
		}
	}
}

// reads reports whether a later step of the group, or its tail, reads the result of step i.
//
//go:noinline
func (f *Group) reads(i int) bool {
	found := f.Tail != nil && f.Tail.from == i
	for j := i + 1; j < len(f.steps); j++ {
		found = found || slices.Contains(f.steps[j].In, f.steps[i].Out[0])
	}
	return found
}
