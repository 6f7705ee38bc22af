package modelconfig

import "fmt"

// mostInstances is the number of instances of a group, and of all groups together: each has a goroutine and its buffers.
const mostInstances = 1024

// mostLevels is the number of levels of priority: each has a queue.
const mostLevels = 4096

// CheckInstances applies the rules for groups of instances that CompleteInstances has seen, on a machine with so many GPUs.
func CheckInstances(c *ModelConfig, gpus int) error {
	if levels := c.GetDynamicBatching().GetPriorityLevels(); levels > mostLevels {
		return fmt.Errorf("priority_levels of %s is %d; want at most %d", c.Name, levels, mostLevels)
	}
	all := 0
	for _, g := range c.InstanceGroup {
		of := fmt.Sprintf("instance group %s of model %s", g.Name, c.Name)
		switch {
		case g.Count > mostInstances:
			return fmt.Errorf("%s has count %d; want at most %d", of, g.Count, mostInstances)
		case g.Kind == ModelInstanceGroup_KIND_MODEL && len(g.Gpus) > 0:
			return fmt.Errorf("%s has kind KIND_MODEL but specifies one or more GPUs", of)
		case g.Kind == ModelInstanceGroup_KIND_CPU && len(g.Gpus) > 0:
			return fmt.Errorf("%s has kind KIND_CPU but specifies one or more GPUs", of)
		case g.Kind == ModelInstanceGroup_KIND_GPU && gpus == 0:
			return fmt.Errorf("%s has kind KIND_GPU but no GPUs are available", of)
		}
		// A GPU is named by its number: mps:0 is 0.
		for _, n := range g.Gpus {
			if n < 0 || int(n) >= gpus {
				return fmt.Errorf("%s specifies invalid or unsupported gpu id %d. The GPUs are 0 to %d", of, n, gpus-1)
			}
		}
		all += int(g.Count) * max(len(g.Gpus), 1) // a GPU may be named more than once
	}
	if all > mostInstances {
		return fmt.Errorf("model %s has %d instances; want at most %d", c.Name, all, mostInstances)
	}
	return nil
}
