package httpapi

import (
	"github.com/paddle-mps/paddle-mps/serve/inference"
)

// What the server lacks is refused with what it is, and lists of it are empty.

// cudaMemoryStatus lists the registered regions: none.
// tritonserver answers the same where no region is registered: clients that only look are served.
func (c *call) cudaMemoryStatus() error {
	if c.region != "" {
		return inference.Errorf(inference.NotFound, "Unable to find cuda shared memory region: '%s'", c.region)
	}
	return c.reply([]any{})
}

// cudaMemoryRegister would register a region.
func (c *call) cudaMemoryRegister() error {
	return inference.Errorf(inference.Unsupported, "CUDA shared memory is not supported by this server")
}

// cudaMemoryUnregister forgets regions: there are none.
func (c *call) cudaMemoryUnregister() error { return c.done() }
