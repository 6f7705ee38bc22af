//go:build goexperiment.simd && !race

package nontemporal

import "unsafe"

// available: a processor with vec.AVX2 has the loops of stream_amd64.s.
const (
	available = true
	chooses   = true
)

// LeastChosen is the number of elements from which on Choose is faster than a loop in Go.
const LeastChosen = 1

//go:noescape
func streamLoop(f int, dst, a, b unsafe.Pointer, n, stepA, stepB int)

//go:noescape
func chooseLoop(size int, past bool, dst, condition, a, b unsafe.Pointer, n int)

//go:noescape
func storeFence()
