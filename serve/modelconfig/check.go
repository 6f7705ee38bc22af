package modelconfig

import (
	"fmt"
	"slices"
	"strings"
)

// Check applies the rules for a configuration that Complete has seen. The messages are those of Triton Inference Server.
func Check(c *ModelConfig) error {
	switch {
	case c.Name == "":
		return fmt.Errorf("model configuration must specify 'name'")
	case c.Backend == "" && c.Platform == "":
		return fmt.Errorf("must specify 'platform' or 'backend' for '%s'", c.Name)
	case c.Platform == Ensemble || c.GetEnsembleScheduling() != nil:
		return checkEnsemble(c)
	case c.Platform != "" && c.Platform != "onnxruntime_onnx":
		return fmt.Errorf("unexpected platform type '%s' for %s", c.Platform, c.Name)
	// The pair is what clients see in metadata: both name the same thing or the configuration is wrong.
	case c.Platform == "onnxruntime_onnx" && c.Backend != ORT:
		return fmt.Errorf("unexpected 'platform' and 'backend' pair, got:%s, %s", c.Platform, c.Backend)
	case c.MaxBatchSize < 0:
		return fmt.Errorf("'max_batch_size' must be non-negative value for %s", c.Name)
	case strings.ContainsAny(c.DefaultModelFilename, `/\`) || c.DefaultModelFilename == "..":
		return fmt.Errorf("'default_model_filename' must name a file in the version directory for %s", c.Name)
	}
	// A key becomes a label of Prometheus behind an underscore. Labels have these characters, and those that begin with two
	// underscores are Prometheus' own.
	for key := range c.MetricTags {
		if strings.HasPrefix(key, "_") || strings.Trim(key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != "" {
			return fmt.Errorf("metric_tags of %s has key %q; want letters, digits and underscores, and a letter or digit first", c.Name, key)
		}
	}
	return checkBatching(c)
}

// checkBatching checks the scheduler.
func checkBatching(c *ModelConfig) error {
	d := c.GetDynamicBatching()
	if d == nil {
		return nil
	}
	// A size that cannot occur would never be reached, and the queue would wait for the delay each time.
	for _, size := range d.PreferredBatchSize {
		if size <= 0 {
			return fmt.Errorf("dynamic batching preferred size must be positive for %s", c.Name)
		}
		if size > c.MaxBatchSize {
			return fmt.Errorf("dynamic batching preferred size must be <= max batch size for %s", c.Name)
		}
	}
	levels := d.PriorityLevels
	// Levels begin with 1; a request that names none needs one that exists.
	if levels > 0 {
		if d.DefaultPriorityLevel == 0 || d.DefaultPriorityLevel > levels {
			return fmt.Errorf("default priority level must be in range [1, %d] for %s", levels, c.Name)
		}
		for level := range d.PriorityQueuePolicy {
			if level == 0 || level > levels {
				return fmt.Errorf("priority queue policy must have priority level in range [1, %d] for %s", levels, c.Name)
			}
		}
	}
	// Priorities and late items change the order of requests, which is what preserve_ordering excludes.
	if !d.PreserveOrdering {
		return nil
	}
	if levels > 1 {
		//lint:ignore ST1005 it is Triton's text
		return fmt.Errorf("Only one priority level is allowed when 'preserve_ordering' is true for %s", c.Name)
	}
	policies := []*ModelQueuePolicy{d.DefaultQueuePolicy}
	for _, p := range d.PriorityQueuePolicy {
		policies = append(policies, p)
	}
	if slices.ContainsFunc(policies, func(p *ModelQueuePolicy) bool { return p.GetTimeoutAction() == ModelQueuePolicy_DELAY }) {
		//lint:ignore ST1005 it is Triton's text
		return fmt.Errorf("Queue policy can not have DELAY as timeout action when 'preserve_ordering' is true for %s", c.Name)
	}
	return nil
}

// CheckPorts applies the rules for inputs and outputs, which may be of the file or completed from the model.
func CheckPorts(c *ModelConfig) error {
	for _, in := range c.Input {
		if err := checkPort(c, "model input ", in); err != nil {
			return err
		}
		if in.Format != ModelInput_FORMAT_NONE && len(in.Dims) != 3 {
			return fmt.Errorf("model input NHWC/NCHW require 3 dims for %s", c.Name)
		}
	}
	for _, out := range c.Output {
		if err := checkPort(c, "model output ", out); err != nil {
			return err
		}
	}
	return nil
}

// port is what inputs and outputs have in common.
type port interface {
	GetName() string
	GetDataType() DataType
	GetDims() []int64
	GetReshape() *ModelTensorReshape
}

// checkPort checks one of them.
func checkPort(c *ModelConfig, what string, p port) error {
	wrong := func(format string, args ...any) error {
		return fmt.Errorf(what+"'"+strings.ReplaceAll(p.GetName(), "%", "%%")+"' "+format+" for "+strings.ReplaceAll(c.Name, "%", "%%"), args...)
	}
	bad := func(d int64) bool { return d < 1 && d != -1 }
	switch {
	case p.GetName() == "":
		return fmt.Errorf("%smust specify 'name' for %s", what, c.Name)
	case p.GetDataType() == DataType_TYPE_INVALID:
		return wrong("must specify 'data_type'")
	case len(p.GetDims()) == 0:
		return wrong("must specify 'dims'")
	case slices.ContainsFunc(p.GetDims(), bad):
		return wrong("dimension must be integer >= 1, or -1 to indicate a variable-size dimension")
	}
	// Without a reshape the dims are what the model gets.
	r := p.GetReshape()
	switch {
	case r == nil:
		return nil
	case len(r.Shape) == 0 && c.MaxBatchSize == 0:
		return wrong("cannot have empty reshape for non-batching model as scalar tensors are not supported")
	case slices.ContainsFunc(r.Shape, bad):
		return wrong("reshape dimensions must be integer >= 1, or -1 to indicate a variable-size dimension")
	}
	// Open dimensions divide a shape into runs of known ones. A reshape moves elements within a run and never over an open
	// dimension, whose size is not known here.
	dims, reshaped := trunks(p.GetDims()), trunks(r.Shape)
	if len(dims) != len(reshaped) {
		return wrong("has different number of variable-size dimensions for dims and reshape")
	}
	if !slices.Equal(dims, reshaped) {
		return wrong("has different size for dims and reshape")
	}
	return nil
}

// trunks are the numbers of elements between the dimensions of any size. A product that overflows is 0, which equals none
// that fits.
func trunks(dims []int64) []int64 {
	all := []int64{1}
	for _, d := range dims {
		// A product that is too large must not wrap around to one that fits.
		at := &all[len(all)-1]
		switch {
		case d == -1:
			all = append(all, 1)
		case *at > (1<<62)/d:
			*at = 0
		default:
			*at *= d
		}
	}
	return all
}
