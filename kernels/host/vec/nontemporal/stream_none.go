//go:build !((goexperiment.simd && amd64) || (arm64 && cgo)) || race

package nontemporal

import "unsafe"

// available: this build has none of the loops. Nothing calls the functions below.
const (
	available = false
	chooses   = false
)

// LeastChosen is the number of elements from which on Choose is faster than a loop in Go.
const LeastChosen = 1

func streamLoop(int, unsafe.Pointer, unsafe.Pointer, unsafe.Pointer, int, int, int) {}

func chooseLoop(int, bool, unsafe.Pointer, unsafe.Pointer, unsafe.Pointer, unsafe.Pointer, int) {}

func storeFence() {}
