// Command metal counts the calls that the Metal device makes of Apple's libraries, on the mock of them
// (tests/fakemetal): the counts are exact and the same on any machine.
//
//	metal            what warm calls, copies and waits cost: sends, objects, calls of C, allocations
//	metal shaders [FAMILY]
//	                 what the kernels of each family ask of memory; without a family, part of the first
//	metal failures   a program of 50 operators; each request that can fail fails in turn
//	metal soak [S]   operators of always new shapes for S seconds, 300 by default
//
// # Reading the counts
//
// A send is a message to an object of Metal or MPSGraph: their number is what the library asks of Apple's code for a
// call, whatever each of them costs on a Mac. A crossing is a call of C from Go, which costs more than the sends in
// it, so that all sends of a dispatch are made in one crossing. Allocations of Go and buffers of Metal are counted
// because a warm call should need neither.
//
// Every row with a bar is exact, so the bar is the number that the design promises and not a measured one with some
// room. Rows without a bar are there to see changes. The last three rows are times of the C program in c/, of which
// only the difference has a bar, because the mock is not as fast as Apple's libraries.
//
// Memory barriers are those between kernels of one command buffer: as many as results that kernels wait for, or one for
// several of those at a time.
//
// # Reading the shaders
//
// There is no GPU, so a model counts what kernels ask of memory; tests/fakemetal/shader_count.c describes it. Bytes are those
// that are loaded and stored, for each byte of operands and result: 1 is the least, where each is moved once. Lines are
// the lines of 128 bytes that SIMD groups ask for, divided by how many would do for the same bytes. Instructions are
// arithmetic, for each element of the larger of operands and result. Barriers are those of a threadgroup. The time is that
// of an M1 with 1 GiB of operands and result, if memory and arithmetic ran at their peaks.
//
// # Reading the failures
//
// A request that fails either makes the program return an error, or is harmless: the device does without it and the
// result is the same. A wrong result without an error ends the command with a failure. The last column is the most
// objects that were still alive when the program had ended; more than 0 is a leak.
package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/internal/fakemetal"
	"github.com/paddle-mps/paddle-mps/kernels/host"
	"github.com/paddle-mps/paddle-mps/kernels/metal"
	"github.com/paddle-mps/paddle-mps/place"
)

// errMissed ends the command with status 1 where a number exceeds its bar.
var errMissed = errors.New("a bar was missed")

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "metal:", err)
		os.Exit(1)
	}
}

// run does what the arguments say.
func run(args []string) error {
	switch {
	case len(args) == 0:
		return errors.Join(counts(), shaders())
	case args[0] == "shaders" && len(args) <= 2:
		return shaders(args[1:]...)
	case args[0] == "failures" && len(args) == 1:
		return failures()
	case args[0] == "soak" && len(args) <= 2:
		// Long enough for the cache of programs to evict many times.
		seconds := 300
		if len(args) == 2 {
			n, err := strconv.Atoi(args[1])
			if err != nil {
				return err
			}
			seconds = n
		}
		return soak(time.Duration(seconds) * time.Second)
	}
	return fmt.Errorf("got %q; want nothing, shaders, failures, or soak and a number of seconds", args)
}

// machine is a runtime over the mock, with its GPU and its CPU.
type machine struct {
	rt  *runtime.Runtime
	gpu *runtime.Context
	cpu *runtime.Context
}

// start opens a machine on which nothing has been compiled. Command buffers stay open until they are full or a caller
// waits (Linger), so that counts do not depend on time; nothing runs on the CPU instead (NoFallback).
func start(prefer metal.Prefer) (m machine, err error) {
	library, err := fakemetal.Path()
	if err != nil {
		return m, fmt.Errorf("%w: %s", err, library)
	}
	d, err := metal.Open(metal.Config{Library: library, Prefer: prefer, Linger: -1})
	if err != nil {
		return m, err
	}
	// One thread on the CPU: its work is not measured, and more threads would only add noise.
	m.rt, err = runtime.New(runtime.Config{CPU: host.New(host.Config{Threads: 1}), MPS: []device.Device{d}, NoFallback: true})
	if err != nil {
		return m, err
	}
	if m.gpu, err = m.rt.Context(place.MPS(0)); err != nil {
		return m, err
	}
	m.cpu, err = m.rt.Context(place.CPU)
	return m, err
}
