package main

import (
	"fmt"
	"time"

	"github.com/paddle-mps/paddle-mps/internal/fakemetal"
	"github.com/paddle-mps/paddle-mps/internal/script"
	"github.com/paddle-mps/paddle-mps/kernels/metal"
)

// kinds are what can fail.
var kinds = []string{"heap", "buffer", "library", "function", "pipeline", "executable", "queue", "event", "command_buffer"}

// attempt opens a machine, runs the program of 50 operators and closes the machine.
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

// failures makes each fail in turn and prints how many there were and how they ended.
func failures() error {
	fmt.Printf("%-10s%-16s%10s%10s%10s%10s\n", "prefer", "kind", "failures", "errors", "harmless", "objects")
	for prefer, name := range []string{metal.PreferShaders: "msl", metal.PreferGraphs: "mpsgraph"} {
		prefer := metal.Prefer(prefer)
		want, err := attempt(prefer)
		if err != nil {
			return err
		}
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

func failuresOf(name, kind string, prefer metal.Prefer, want float64, before int64) error {
	heard, harmless, most := 0, 0, int64(0)
	for n := int64(1); ; n++ {
		if err := fakemetal.Anew(); err != nil {
			return err
		}
		if err := fakemetal.Refuse(kind, n, 0); err != nil {
			return err
		}
		result, err := attempt(prefer)
		failed, _ := fakemetal.Counted("failed")
		if failed == 0 {
			break
		}
		switch {
		case err != nil:
			heard++
		case result != want:
			return fmt.Errorf("the %d. went unheard: the program gave %g; want %g", n, result, want)
		default:
			harmless++
		}
		most = max(most, left(before))
	}
	if err := fakemetal.Anew(); err != nil {
		return err
	}
	if result, err := attempt(prefer); err != nil || result != want {
		return fmt.Errorf("the next program gave %g, %v; want %g", result, err, want)
	}
	fmt.Printf("%-10s%-16s%10d%10d%10d%10d\n", name, kind, heard+harmless, heard, harmless, most)
	return nil
}

// left is how many more objects are alive than before, when the stand-in's threads have let go of theirs.
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
