package metal_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/internal/fakemetal"
	"github.com/paddle-mps/paddle-mps/internal/sample"
	"github.com/paddle-mps/paddle-mps/internal/script"
	"github.com/paddle-mps/paddle-mps/kernels/host"
	"github.com/paddle-mps/paddle-mps/kernels/metal"
	"github.com/paddle-mps/paddle-mps/place"
)

// machine is a runtime that has just been started, with nothing compiled, over the mock of Metal.
func machine(prefer metal.Prefer) (*runtime.Runtime, error) {
	library, _ := fakemetal.Path()
	d, err := metal.Open(metal.Config{Library: library, Prefer: prefer})
	if err != nil {
		return nil, err
	}
	return runtime.New(runtime.Config{CPU: host.New(host.Config{Threads: 1}), MPS: []device.Device{d}, NoFallback: true})
}

// attempt runs the program of 50 operators on a new machine.
func attempt(prefer metal.Prefer) (result float64, err error) {
	rt, err := machine(prefer)
	if err != nil {
		return 0, err
	}
	c, err := rt.Context(place.MPS(0))
	if err == nil {
		result, err = script.Run(rt, c, 24)
	}
	if live := rt.Live(); live != 0 {
		panic("tensors are left")
	}
	if e := rt.Close(); err == nil {
		err = e
	}
	return result, err
}

// left waits until as many objects are alive as before, because the mock's threads release theirs some time
// later, and answers how many more there are.
func left(t *testing.T, before int64) (more int64) {
	for range 2000 {
		if more = fakemetal.Count(t, "live_objects") - before; more == 0 {
			return 0
		}
		time.Sleep(time.Millisecond)
	}
	return more
}

// The compilers of shaders say that memory is short, because what they refuse has a second way.
var codes = map[string]int{"library": 12, "pipeline": 12}

var harmlessKinds = []string{"heap", "buffer", "command_buffer", "function", "executable"}

// Whatever a program of 50 operators sends that can fail is made to fail in turn, from the opening of the
// device on: an error each time, no object left, and the next program gives what it always gave. Some kinds may
// fail without an error, if the result is right: memory, because the allocator gives back what is idle and
// asks again; command buffers, because some have only events in them; functions and executables, because another
// kernel runs.
func TestEveryFailureOfAProgram(t *testing.T) {
	fakemetal.Library(t)
	for name, prefer := range map[string]metal.Prefer{"shaders": metal.PreferShaders, "graphs": metal.PreferGraphs} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() {
				sample.Skip(t, 5, "ways", int(prefer))
			}
			want, err := attempt(prefer)
			require.NoError(t, err)
			time.Sleep(100 * time.Millisecond)
			before := fakemetal.Count(t, "live_objects")
			for _, kind := range []string{"heap", "buffer", "library", "function", "pipeline", "executable", "queue", "event", "command_buffer"} {
				failures, harmless := int64(0), 0
				for n := int64(1); ; n++ {
					fakemetal.Reset(t)
					fakemetal.Fail(t, kind, n, codes[kind])
					result, err := attempt(prefer)
					if fakemetal.Count(t, "failed") == 0 {
						require.NoError(t, err)
						break // there was no n-th one
					}
					failures++
					if err == nil {
						require.Containsf(t, harmlessKinds, kind, "failure %d of a %s went unheard", n, kind)
						require.Equalf(t, want, result, "failure %d of a %s went unheard", n, kind)
						harmless++
					}
					require.Zerof(t, left(t, before), "objects left by failure %d of a %s", n, kind)
				}
				fakemetal.Reset(t)
				result, err := attempt(prefer)
				require.NoError(t, err, "after failures of a %s", kind)
				require.Equal(t, want, result)
				t.Logf("%d failures of a %s, %d of them harmless", failures, kind, harmless)
				if kind == "executable" {
					require.EqualValues(t, failures, harmless, "each has a shader")
				} else {
					require.Less(t, int64(harmless), max(failures, 2))
				}
			}
		})
	}
}
