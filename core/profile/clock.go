package profile

import _ "unsafe" // for go:linkname; no address is touched

// nanotime is the clock that package time measures with: CLOCK_MONOTONIC on Linux, mach_absolute_time in nanoseconds
// on macOS. time.Time keeps it to itself, while the GPU's times (MTLCommandBuffer.GPUStartTime, in seconds)
// and Python's time.perf_counter_ns are readings of this clock that a trace is to have in common with Go's.
//
//go:linkname nanotime runtime.nanotime
func nanotime() int64

// Now is the time on the clock of all events, in nanoseconds.
func Now() int64 { return nanotime() }
