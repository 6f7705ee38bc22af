package httpapi

import (
	"github.com/paddle-mps/paddle-mps/serve"
)

// What the server lacks is refused with what it is, and lists of it are empty.

// noMemory is the error of shared memory of a kind.
func noMemory(kind string) error {
	return serve.Errorf(serve.Unsupported, "%s shared memory is not supported by this server", kind)
}

// systemMemoryStatus lists the registered regions: none.
// tritonserver answers the same where no region is registered: clients that only look are served.
func (c *call) systemMemoryStatus() error { return c.reply([]any{}) }

// systemMemoryRegister would register a region.
func (c *call) systemMemoryRegister() error { return noMemory("system") }

// systemMemoryUnregister forgets regions: there are none.
func (c *call) systemMemoryUnregister() error { return c.done() }

// cudaMemoryStatus lists the registered regions: none.
func (c *call) cudaMemoryStatus() error { return c.reply([]any{}) }

// cudaMemoryRegister would register a region.
func (c *call) cudaMemoryRegister() error { return noMemory("CUDA") }

// cudaMemoryUnregister forgets regions: there are none.
func (c *call) cudaMemoryUnregister() error { return c.done() }

// trace would show and change the settings of traces.
// tritonserver answers so where it was built without traces.
func (c *call) trace() error {
	return serve.Errorf(serve.Unavailable, "the server does not support tracing")
}
