//go:build cgo && !race

package nontemporal

import (
	"unsafe"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/neon"
)

// available: there are no stores past the caches; docs/design/cpu_loops.md says why. Nothing calls the two loops of them.
const (
	available = false
	chooses   = true
)

// LeastChosen is the number of elements from which on Choose is faster than a loop in Go.
const LeastChosen = vec.ShortRow

func streamLoop(int, unsafe.Pointer, unsafe.Pointer, unsafe.Pointer, int, int, int) {}

func chooseLoop(size int, _ bool, dst, condition, a, b unsafe.Pointer, n int) {
	neon.Choose(size, dst, condition, a, b, n)
}

func storeFence() {}
