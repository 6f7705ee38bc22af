package serve

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/paddle-mps/paddle-mps/serve/inference"
	"github.com/paddle-mps/paddle-mps/serve/modelconfig"
)

// Parameters of a configuration are pairs of texts for the backend and for clients, who read them with the configuration.
// Those of the ONNX Runtime backend say how it is to use threads and memory: they change no answer. One that would change
// answers is refused.

// checkParameters refuses parameters that ask for other answers than the server gives.
func checkParameters(c *modelconfig.ModelConfig) error {
	if p := c.Parameters["precision"]; p != nil && p.StringValue != "fp32" {
		return inference.Errorf(inference.Unsupported, "parameter 'precision' in the configuration of model '%s' is '%s'; want 'fp32': a model runs in the types of its file", c.Name, p.StringValue)
	}
	return nil
}

// noteParameters names the parameters in the log that have no effect here.
func (o *opening) noteParameters(c *modelconfig.ModelConfig) {
	// Their author should learn that a setting of threads or memory does nothing here.
	names := slices.Sorted(maps.Keys(c.Parameters))
	names = slices.DeleteFunc(names, func(name string) bool { return name == "precision" })
	if len(names) > 0 {
		o.server.options.Log(Info, fmt.Sprintf("parameters of model '%s' that are shown to clients and have no other effect: %s", c.Name, strings.Join(names, ", ")))
	}
}
