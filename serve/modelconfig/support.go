package modelconfig

import (
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// supported are the fields that the server obeys, by message. A field that is set and not listed here fails the load with
// its name: nothing in a configuration is ignored.
var supported = map[string]string{
	"ModelConfig": "name platform backend runtime version_policy max_batch_size input output optimization dynamic_batching " +
		"instance_group default_model_filename metric_tags model_warmup model_transaction_policy response_cache parameters ensemble_scheduling",
	"ModelEnsembling":             "step",
	"ModelEnsembling.Step":        "model_name model_version input_map output_map",
	"ModelVersionPolicy":          "latest all specific",
	"ModelVersionPolicy.Latest":   "num_versions",
	"ModelVersionPolicy.All":      "",
	"ModelVersionPolicy.Specific": "versions",
	"ModelInput":                  "name data_type format dims reshape optional",
	"ModelParameter":              "string_value",
	"ModelOutput":                 "name data_type dims reshape label_filename",
	"ModelTensorReshape":          "shape",
	// Every memory is reachable from the CPU here, so that there is no pinned memory to copy through: both are obeyed.
	"ModelOptimizationPolicy":                    "input_pinned_memory output_pinned_memory",
	"ModelOptimizationPolicy.PinnedMemoryBuffer": "enable",
	"ModelDynamicBatching": "preferred_batch_size max_queue_delay_microseconds preserve_ordering priority_levels " +
		"default_priority_level default_queue_policy priority_queue_policy",
	"ModelQueuePolicy":          "timeout_action default_timeout_microseconds allow_timeout_override max_queue_size",
	"ModelInstanceGroup":        "name kind count gpus rate_limiter",
	"ModelRateLimiter":          "resources priority",
	"ModelRateLimiter.Resource": "name global count",
	"ModelWarmup":               "name batch_size inputs count",
	"ModelWarmup.Input":         "data_type dims zero_data random_data input_data_file",
	// decoupled only as false, which is as good as not there.
	"ModelTransactionPolicy": "",
	"ModelResponseCache":     "enable",
}

// Unsupported names the first field that is set and that the server lacks, or whose value it does not know, with its path; ""
// where there is none.
func Unsupported(c *ModelConfig) string { return unsupported(c.ProtoReflect()) }

// unsupported is Unsupported of one message and what it has.
func unsupported(m protoreflect.Message) (path string) {
	// Messages that are not in the table have no field that is obeyed.
	fields := strings.Fields(supported[strings.TrimPrefix(string(m.Descriptor().FullName()), "inference.")])
	all := m.Descriptor().Fields()
	for i := range all.Len() {
		f := all.Get(i)
		// A field with the value that it has anyhow, such as decoupled: false, counts as not set.
		if !m.Has(f) {
			continue
		}
		name := string(f.Name())
		if !slices.Contains(fields, name) {
			return name
		}
		// A number without a name, which the parsers take, has no meaning that could be obeyed.
		if e := f.Enum(); e != nil && !f.IsList() && e.Values().ByNumber(m.Get(f).Enum()) == nil {
			return name
		}
		// The path is built from the inside: the reader of the message finds the field in the file with it.
		if inner := within(f, m.Get(f)); inner != "" {
			return name + "." + inner
		}
	}
	return ""
}

// within is unsupported of the messages of a field.
func within(f protoreflect.FieldDescriptor, v protoreflect.Value) (path string) {
	switch {
	case f.IsMap() && f.MapValue().Message() != nil:
		v.Map().Range(func(k protoreflect.MapKey, v protoreflect.Value) bool {
			if inner := unsupported(v.Message()); inner != "" {
				path = fmt.Sprintf("%s.%s", k, inner)
			}
			return path == ""
		})
	case f.IsList() && f.Message() != nil:
		for i := range v.List().Len() {
			if path = unsupported(v.List().Get(i).Message()); path != "" {
				return path
			}
		}
	case !f.IsList() && !f.IsMap() && f.Message() != nil:
		return unsupported(v.Message())
	}
	return path
}
