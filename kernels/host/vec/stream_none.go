//go:build !(goexperiment.simd && amd64) || race

package vec

import "unsafe"

// hasStreams: this build has none of the loops. Nothing calls the functions below.
const hasStreams = false

func streamLoop(int, unsafe.Pointer, unsafe.Pointer, unsafe.Pointer, int, int, int) {}

func chooseLoop(int, bool, unsafe.Pointer, unsafe.Pointer, unsafe.Pointer, unsafe.Pointer, int) {}

func storeFence() {}
