package environment

import (
	goruntime "runtime"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/program"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/kernels/host"
	"github.com/paddle-mps/paddle-mps/kernels/metal"
)

// Devices are the CPU, and as mps the GPU or, if the environment asks for it, an emulated one. What a program does with
// diagnostics and with lack of memory, Log and Reclaim, is left to the caller.
func (c Config) Devices() runtime.Config {
	cpu := host.New(host.Config{Threads: c.Threads, UUID: identity(0), Accelerate: !c.Own, TermByTerm: c.Terms})
	cfg := runtime.Config{
		CPU: cpu, Limit: c.Pool, MaxAge: c.Age,
		Programs:   program.Config{Entries: c.Entries, Bytes: c.Bytes},
		NoFallback: c.Alone,
	}
	// What remains is what a reader of the graph would expect to run.
	if c.Plain {
		cfg.WithoutPasses = graph.AllPasses
	}
	if c.Device != "host" {
		// Metal is looked for unless the emulated device is asked for: a machine without it has no mps place, and says why.
		gpu, err := openMetal(c, goruntime.GOOS)
		if gpu == nil {
			cfg.NoMPS = noMPS(goruntime.GOOS, goruntime.GOARCH, err)
			return cfg
		}
		cfg.MPS = []device.Device{gpu}
		return cfg
	}
	// The emulated device is the CPU behind a queue, so that programs for a GPU can be tried anywhere.
	cfg.MPS = []device.Device{host.New(host.Config{
		Name:        "Emulated MPS (CPU: " + cpu.Info().Name + ")",
		UUID:        identity(1),
		Threads:     c.Threads,
		Accelerate:  !c.Own,
		TermByTerm:  c.Terms,
		Async:       true,
		InlineLimit: c.Inline,
	})}
	return cfg
}

// openMetal opens the GPU, or the mock of Metal that the environment names. Both results are nil on a system
// without Metal.
func openMetal(c Config, goos string) (device.Device, error) {
	if goos != "darwin" && c.Metal.Library == "" {
		return nil, nil
	}
	// The result is nil on an error, and not an interface that holds nil: callers compare it with nil.
	gpu, err := metal.Open(c.Metal)
	if err != nil {
		return nil, err
	}
	return gpu, nil
}

// identity is a UUID (RFC 9562, version 8: of our own making) for a device that has none. It is that
// of the n-th device in every process.
// Programs keep the identity of a device in files of compiled shaders.
func identity(n byte) [16]byte {
	return [16]byte{'p', 'a', 'd', 'd', 'l', 'e', 0x80, 'm', 0x80, 'p', 's', 15: n}
}
