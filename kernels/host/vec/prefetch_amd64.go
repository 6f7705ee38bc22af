//go:build goexperiment.simd && !race

package vec

import "unsafe"

// prefetch asks for a row to be in the first-level cache, without waiting for it. Of a row longer than prefetchMost it asks for the first
// elements: more would replace what is in use.
// SAFETY: the instruction only reads addresses, and faults at none.
func prefetch(row []float32) {
	if len(row) > 0 {
		prefetchLines(unsafe.Pointer(&row[0]), 4*min(len(row), prefetchMost))
	}
}

// prefetchMost is in elements; the processor follows longer rows by itself.
const prefetchMost = 2048

// nextOf is the part of x after n elements that is as long, or what there is of it.
func nextOf(x []float32, n int) []float32 { return x[n:min(2*n, len(x))] }

// prefetchLines asks for the lines of the cache from an address on.
//
//go:noescape
func prefetchLines(p unsafe.Pointer, bytes int)
