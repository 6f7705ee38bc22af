//go:build !(goexperiment.simd && amd64) || race

package nontemporal

import "unsafe"

// available: this build has none of the loops. Nothing calls the functions below.
const available = false

func streamLoop(int, unsafe.Pointer, unsafe.Pointer, unsafe.Pointer, int, int, int) {}

func chooseLoop(int, bool, unsafe.Pointer, unsafe.Pointer, unsafe.Pointer, unsafe.Pointer, int) {}

func storeFence() {}
