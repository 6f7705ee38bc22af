package modelconfig

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// completed is a configuration as a server completes it, for the model m.
func completed(t *testing.T, text string) *ModelConfig {
	t.Helper()
	c, err := Parse([]byte(text))
	require.NoError(t, err)
	Complete(c, "m", true)
	return c
}

// TestRules: the messages about configurations that are wrong, as Triton has them.
func TestRules(t *testing.T) {
	for text, want := range map[string]string{
		`max_batch_size: -1`:        "'max_batch_size' must be non-negative value for m",
		`platform: "tensorrt_plan"`: "unexpected platform type 'tensorrt_plan' for m",
		`max_batch_size: 4 dynamic_batching { preferred_batch_size: 5 }`:                                                "dynamic batching preferred size must be <= max batch size for m",
		`max_batch_size: 4 dynamic_batching { preferred_batch_size: 0 }`:                                                "dynamic batching preferred size must be positive for m",
		`max_batch_size: 4 dynamic_batching { priority_levels: 2 default_priority_level: 3 }`:                           "default priority level must be in range [1, 2] for m",
		`max_batch_size: 4 dynamic_batching { preserve_ordering: true default_queue_policy { timeout_action: DELAY } }`: "Queue policy can not have DELAY as timeout action when 'preserve_ordering' is true for m",
		`default_model_filename: "../a"`:        "'default_model_filename' must name a file in the version directory for m",
		`metric_tags { key: "_a" value: "c" }`:  `metric_tags of m has key "_a"; want letters, digits and underscores, and a letter or digit first`,
		`metric_tags { key: "a b" value: "c" }`: `metric_tags of m has key "a b"; want letters, digits and underscores, and a letter or digit first`,
	} {
		require.EqualError(t, Check(completed(t, text)), want)
	}
	for text, want := range map[string]string{
		`input { name: "x" data_type: TYPE_FP32 }`:                                                    "model input 'x' must specify 'dims' for m",
		`input { name: "x" data_type: TYPE_FP32 dims: 0 }`:                                            "model input 'x' dimension must be integer >= 1, or -1 to indicate a variable-size dimension for m",
		`input { name: "x" dims: 1 }`:                                                                 "model input 'x' must specify 'data_type' for m",
		`output { name: "100%" data_type: TYPE_FP32 dims: [2, 3] reshape { shape: [5] } }`:            "model output '100%' has different size for dims and reshape for m",
		`output { name: "y" data_type: TYPE_FP32 dims: [-1, 3] reshape { shape: [3] } }`:              "model output 'y' has different number of variable-size dimensions for dims and reshape for m",
		`output { name: "y" data_type: TYPE_FP32 dims: [2, -1, 6] reshape { shape: [2, -1, 3, 2] } }`: "",
	} {
		if err := CheckPorts(completed(t, text)); want == "" {
			require.NoError(t, err)
		} else {
			require.EqualError(t, err, want)
		}
	}
}

// TestParse: what is no configuration is refused.
func TestParse(t *testing.T) {
	for _, text := range []string{`nonsense: 1`, `name: 1`, `max_batch_size: 99999999999`, `input [`, string(make([]byte, largest+1))} {
		_, err := Parse([]byte(text))
		require.Error(t, err)
	}
	_, err := Parse([]byte(strings.Repeat("input {", 100000)))
	require.ErrorContains(t, err, "nested deeper than")
	c, err := ParseJSON([]byte(`{"name": "m", "max_batch_size": "4", "dynamicBatching": {}, "input": [{"name": "x", "dims": [1, "2"]}]}`))
	require.NoError(t, err)
	require.Equal(t, []int64{1, 2}, c.Input[0].Dims)
}

// TestJSON: numbers are numbers, whatever their width, and messages are there only where they are set.
func TestJSON(t *testing.T) {
	c := completed(t, `max_batch_size: 8 input { name: "x" data_type: TYPE_FP32 dims: [-1, 3] } dynamic_batching { max_queue_delay_microseconds: 5
		priority_levels: 1 default_priority_level: 1 priority_queue_policy { key: 1 value { max_queue_size: 2 } } } metric_tags { key: "b" value: "\"" } metric_tags { key: "a" value: "1" }`)
	CompleteInstances(c, 0)
	var got struct {
		Batch   int `json:"max_batch_size"`
		Input   []struct{ Dims []int64 }
		Dynamic struct {
			Delay    int64 `json:"max_queue_delay_microseconds"`
			Policies map[string]struct {
				Size int `json:"max_queue_size"`
			} `json:"priority_queue_policy"`
		} `json:"dynamic_batching"`
		Tags      map[string]string       `json:"metric_tags"`
		Sequence  any                     `json:"sequence_batching"`
		Instances []struct{ Kind string } `json:"instance_group"`
	}
	text := JSON(c)
	require.NoError(t, json.Unmarshal(text, &got), string(text))
	require.Equal(t, 8, got.Batch)
	require.Equal(t, []int64{-1, 3}, got.Input[0].Dims)
	require.EqualValues(t, 5, got.Dynamic.Delay)
	require.Equal(t, 2, got.Dynamic.Policies["1"].Size)
	require.Equal(t, map[string]string{"a": "1", "b": `"`}, got.Tags)
	require.Nil(t, got.Sequence)
	require.Equal(t, "KIND_CPU", got.Instances[0].Kind)
	again, err := ParseJSON(text)
	require.NoError(t, err)
	require.Equal(t, string(text), string(JSON(again)))
}

// FuzzParse: no text is a fault, and what is accepted has a form as JSON that is accepted as well.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`name: "m" max_batch_size: 8 input { name: "x" data_type: TYPE_FP32 dims: [ -1, 3 ] reshape { shape: [3] } } dynamic_batching { }`))
	f.Add([]byte(`instance_group [ { kind: KIND_GPU gpus: [ 0 ] } ] version_policy { specific { versions: [1, 2] } } optimization { graph { level: 1 } }`))
	f.Add([]byte(`model_warmup { inputs { key: "x" value { dims: 99999999999 zero_data: true } } } model_metrics { metric_control { histogram_options { buckets: nan } } }`))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := Parse(text)
		if err != nil {
			return
		}
		Complete(c, "m", true)
		CompleteInstances(c, 1)
		_, _, _, _ = Check(c), CheckPorts(c), CheckInstances(c, 1), Unsupported(c)
		if !json.Valid(JSON(c)) {
			t.Fatalf("%q is no JSON", JSON(c))
		}
	})
}
