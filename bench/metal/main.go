// Command metal counts what the Metal device asks of Apple's libraries, on what stands in for them
// (tests/fakemetal): the counts are exact and the same on any machine.
//
//	metal            what warm calls, copies and waits cost: sends, objects, crossings, allocations
//	metal failures   a program of 50 operators with everything that can fail made to fail in turn
//	metal soak [S]   operators of ever new shapes for S seconds, 300 by default
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

var errMissed = errors.New("a bar was missed")

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "metal:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch {
	case len(args) == 0:
		return counts()
	case args[0] == "failures" && len(args) == 1:
		return failures()
	case args[0] == "soak" && len(args) <= 2:
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
	return fmt.Errorf("got %q; want nothing, failures, or soak and a number of seconds", args)
}

// machine is a runtime over the stand-in, and its GPU.
type machine struct {
	rt  *runtime.Runtime
	gpu *runtime.Context
	cpu *runtime.Context
}

// start opens a machine on which nothing has been compiled and work stays open until somebody waits.
func start(prefer metal.Prefer) (m machine, err error) {
	library, err := fakemetal.Path()
	if err != nil {
		return m, fmt.Errorf("%w: %s", err, library)
	}
	d, err := metal.Open(metal.Config{Library: library, Prefer: prefer, Linger: -1})
	if err != nil {
		return m, err
	}
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
