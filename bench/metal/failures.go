package main

import (
	"fmt"
	"time"

	"github.com/paddle-mps/paddle-mps/internal/fakemetal"
	"github.com/paddle-mps/paddle-mps/internal/script"
	"github.com/paddle-mps/paddle-mps/kernels/metal"
)

// kinds are the kinds of requests that can fail; see fakemetal.InjectFailure.
var kinds = []string{"heap", "buffer", "library", "function", "pipeline", "executable", "queue", "event", "command_buffer"}

// attempt opens a machine, runs the program of 50 operators and closes the machine. The error is the first one of all
// three; closing happens in any case, so that leaks can be counted afterwards.
func attempt(prefer metal.Prefer) (result float64, err error) {
	m, err := start(prefer)
	if err != nil {
		return 0, err
	}
	result, err = script.Run(m.rt, m.gpu, 24)
	if e := m.rt.Close(); err == nil {
		err = e
	}
	return result, err
}

// failures makes each request of each kind fail in turn, with both preferences of the device, and prints how many
// there were, how many were returned as errors or were harmless, and the most objects that leaked.
func failures() error {
	fmt.Printf("%-10s%-16s%10s%10s%10s%10s\n", "prefer", "kind", "failures", "errors", "harmless", "objects")
	// Each preference uses other requests: shaders need libraries, functions and pipelines, graphs executables.
	for prefer, name := range []string{metal.PreferShaders: "msl", metal.PreferGraphs: "mpsgraph"} {
		prefer := metal.Prefer(prefer)
		want, err := attempt(prefer)
		if err != nil {
			return err
		}
		// The number of live objects to compare with, once the threads of the mock have released theirs.
		time.Sleep(100 * time.Millisecond)
		before, err := fakemetal.Counted("live_objects")
		if err != nil {
			return err
		}
		for _, kind := range kinds {
			if err := failuresOf(name, kind, prefer, want, before); err != nil {
				return fmt.Errorf("failures of a %s: %w", kind, err)
			}
		}
	}
	return nil
}

// failuresOf makes the first request of a kind fail, then the second, and so on, until the program makes fewer. A
// failure is harmless where the result is still right, because the device has another way. Anything else is an
// error, and so is a program that does not work when nothing fails any more.
func failuresOf(name, kind string, prefer metal.Prefer, want float64, before int64) error {
	returned, harmless, leaked := 0, 0, int64(0)
	// Injected failures and counters belong to the process, hence the reset before each attempt.
	for n := int64(1); ; n++ {
		if err := fakemetal.ResetCounts(); err != nil {
			return err
		}
		if err := fakemetal.InjectFailure(kind, n, 0); err != nil {
			return err
		}
		result, err := attempt(prefer)
		// Nothing has failed: the program makes fewer than n requests of this kind.
		failed, _ := fakemetal.Counted("failed")
		if failed == 0 {
			break
		}
		switch {
		case err != nil:
			returned++
		case result != want:
			return fmt.Errorf("number %d was not reported: the program returned %g; want %g or an error", n, result, want)
		default:
			harmless++
		}
		leaked = max(leaked, left(before))
	}
	if err := fakemetal.ResetCounts(); err != nil {
		return err
	}
	// The same process still works when nothing fails.
	if result, err := attempt(prefer); err != nil || result != want {
		return fmt.Errorf("the next program returned %g, %v; want %g and no error", result, err, want)
	}
	fmt.Printf("%-10s%-16s%10d%10d%10d%10d\n", name, kind, returned+harmless, returned, harmless, leaked)
	return nil
}

// left is how many more objects are alive than before, once the threads of the mock have released theirs: it waits up
// to a second for that.
func left(before int64) (more int64) {
	for range 1000 {
		live, _ := fakemetal.Counted("live_objects")
		if more = live - before; more <= 0 {
			return 0
		}
		time.Sleep(time.Millisecond)
	}
	return more
}
