package modelconfig

import (
	"fmt"
	"maps"
	"slices"
)

// Ensemble is the platform of a model that is a graph of other models.
const Ensemble = "ensemble"

// mostSteps is the number of steps of an ensemble: each is a request to a model.
const mostSteps = 1024

// checkEnsemble checks that the graph of an ensemble is one: every tensor is written once, from the inputs on, and read. The
// messages are those of Triton, its quotes too. Models of the steps are looked at when the ensemble is loaded.
func checkEnsemble(c *ModelConfig) error {
	e := c.GetEnsembleScheduling()
	// What an ensemble must not have belongs to its models: they have instances, optimizations and warm-ups of their own.
	switch {
	case c.Platform != Ensemble:
		return fmt.Errorf("ensemble scheduling cannot be set for model '%s' whose platform is not %s", c.Name, Ensemble)
	case e == nil:
		return fmt.Errorf("must specify 'ensemble_scheduling' for ensemble '%s'", c.Name)
	case len(c.InstanceGroup) > 0:
		return fmt.Errorf("instance group should not be specified for ensemble '%s'", c.Name)
	case c.Optimization != nil:
		return fmt.Errorf("optimization should not be specified for ensemble '%s'", c.Name)
	case len(c.ModelWarmup) > 0:
		return fmt.Errorf("model_warmup can not be specified for ensemble '%s'", c.Name)
	case len(e.Step) == 0:
		return fmt.Errorf("must specify 'step' for ensemble '%s'", c.Name)
	case len(e.Step) > mostSteps:
		return fmt.Errorf("ensemble '%s' has %d steps; want at most %d", c.Name, len(e.Step), mostSteps)
	case len(c.Input) == 0 || len(c.Output) == 0:
		return fmt.Errorf("must specify 'input' and 'output' for ensemble '%s'", c.Name)
	}
	if err := checkSteps(c); err != nil {
		return err
	}
	return checkFlow(c)
}

// checkSteps checks each step by itself, and that no tensor is written twice.
func checkSteps(c *ModelConfig) error {
	written := map[string]bool{}
	for _, in := range c.Input {
		written[in.Name] = true
	}
	// Steps are numbered from 0 in messages, as in Triton.
	for i, s := range c.GetEnsembleScheduling().Step {
		for _, member := range []struct {
			name string
			has  bool
		}{{"model_name", s.ModelName != ""}, {"input_map", len(s.InputMap) > 0}, {"output_map", len(s.OutputMap) > 0}} {
			if !member.has {
				return fmt.Errorf("must specify '%s' in step %d of ensemble '%s'", member.name, i, c.Name)
			}
		}
		for _, tensor := range s.OutputMap {
			if written[tensor] {
				return fmt.Errorf("ensemble tensor '%s' can appear in an output map only once for ensemble '%s' step %d", tensor, c.Name, i)
			}
			written[tensor] = true
		}
	}
	return nil
}

// checkFlow follows the tensors from the inputs: a step can run once all that it reads is there. What never runs waits for
// itself, or for a tensor that nothing writes.
func checkFlow(c *ModelConfig) error {
	there, read := map[string]bool{}, map[string]bool{}
	for _, in := range c.Input {
		there[in.Name] = true
	}
	// Steps that can run are taken out round by round, until a round takes none.
	left := slices.Clone(c.GetEnsembleScheduling().Step)
	for _, s := range left {
		for _, tensor := range s.InputMap {
			read[tensor] = true
		}
	}
	for n := -1; n != len(left); {
		n = len(left)
		left = slices.DeleteFunc(left, func(s *ModelEnsembling_Step) bool {
			for _, tensor := range s.InputMap {
				if !there[tensor] {
					return false
				}
			}
			for _, tensor := range s.OutputMap {
				there[tensor] = true
			}
			return true
		})
	}
	for _, in := range c.Input {
		if !read[in.Name] {
			return fmt.Errorf("ensemble input '%s' for ensemble %s' is not used", in.Name, c.Name)
		}
	}
	// The first that is missing is named, in an order that does not change.
	for _, s := range left {
		for _, tensor := range slices.Sorted(maps.Values(s.InputMap)) {
			if !there[tensor] {
				output := slices.Sorted(maps.Values(s.OutputMap))[0]
				return fmt.Errorf("output '%s' for ensemble '%s' is not written: at least one of its depending tensors, '%s', is not connected", output, c.Name, tensor)
			}
		}
	}
	for _, out := range c.Output {
		if !there[out.Name] {
			return fmt.Errorf("ensemble output '%s' for ensemble %s' is not used", out.Name, c.Name)
		}
		read[out.Name] = true
	}
	for _, tensor := range slices.Sorted(maps.Keys(there)) {
		if !read[tensor] {
			return fmt.Errorf("ensemble tensor '%s' is unused in ensemble '%s'", tensor, c.Name)
		}
	}
	return nil
}
