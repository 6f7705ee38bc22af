package backend

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/jsontext"
)

// TestReadConfig: numbers may be strings, null is like nothing, and what is not known is kept as it is written.
func TestReadConfig(t *testing.T) {
	c, err := readConfig([]byte(`{"name": "m\u00e9", "max_batch_size": "4", "default_model_filename": "a\/b", "more": {"x": [1.50, 9223372036854775808]},
		"input": [{"name": "x", "data_type": "TYPE_FP32", "dims": [1, "2", -1], "reshape": {"shape": []}, "optional": true, "allow_ragged_batch": false}, {"dims": null}],
		"output": null, "batch_input": [], "model_transaction_policy": {"decoupled": false}}`))
	require.NoError(t, err)
	require.EqualValues(t, 4, c.maxBatch)
	require.Equal(t, "a/b", c.fileName)
	require.Equal(t, []*port{
		{name: "x", dataType: "TYPE_FP32", dims: []int64{1, 2, -1}, reshaped: true, reshape: []int64{}, optional: true},
		{dims: []int64{}},
	}, c.inputs)
	require.Empty(t, c.outputs)
	text := c.with(true)
	require.Contains(t, string(text), `"more":{"x":[1.50,9223372036854775808]}`)
	require.Contains(t, string(text), `"input":[{"name":"x","data_type":"TYPE_FP32","dims":[1,2,-1],"reshape":{"shape":[]},"optional":true},{"name":"","data_type":"","dims":[]}]`)
	require.Contains(t, string(text), `"dynamic_batching":{}`)
}

// TestConfigsThatAreRefused: damaged JSON, numbers that are none, and fields that ask for what the backend cannot do.
func TestConfigsThatAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"": "damaged", "{": "damaged", "[1,]": "damaged", `{"a":}`: "damaged", `{"a":"\u12g4"}`: "damaged", "{} {}": "damaged", "[]": "damaged",
		strings.Repeat(`{"a":`, 200_000):                               "damaged",
		`{"max_batch_size":1.5}`:                                       "got 1.5; want a whole number",
		`{"max_batch_size":"x"}`:                                       "got x; want a whole number",
		`{"max_batch_size":-1}`:                                        "max_batch_size is -1; want 0 or more",
		`{"input":[{"dims":[9223372036854775808]}]}`:                   "got 9223372036854775808; want a whole number",
		`{"output":[{"dims":[true]}]}`:                                 "got true; want a whole number",
		`{"output":[{"reshape":{"shape":[0.5]}}]}`:                     "got 0.5; want a whole number",
		`{"batch_output":[{}]}`:                                        "the configuration has batch_output; want one without",
		`{"sequence_batching":{"x":1}}`:                                "the configuration has sequence_batching; want one without",
		`{"model_transaction_policy":{"decoupled":true}}`:              "the configuration has model_transaction_policy.decoupled; want one without",
		`{"input":[{"name":"x"},{"name":"y","is_shape_tensor":true}]}`: `"y" has is_shape_tensor; want one without`,
	} {
		_, err := readConfig([]byte(text))
		require.ErrorContains(t, err, want, text)
	}
}

// TestBackendConfig: the size may be written as a string.
func TestBackendConfig(t *testing.T) {
	for text, want := range map[string]int64{
		`{}`: 7, `{"cmdline":{"other":"1"}}`: 7, `{"cmdline":{"default-max-batch-size":"4"}}`: 4, `{"cmdline":{"default-max-batch-size":0}}`: 0,
	} {
		n, err := ReadBackendConfig([]byte(text), 7)
		require.NoError(t, err, text)
		require.Equal(t, want, n, text)
	}
	for _, text := range []string{`{"cmdline":{"default-max-batch-size":"-1"}}`, `{"cmdline":{"default-max-batch-size":2147483648}}`, `{"cmdline":{"default-max-batch-size":{}}}`, `{`} {
		_, err := ReadBackendConfig([]byte(text), 7)
		require.ErrorContains(t, err, "[metal_mps]", text)
	}
}

// What is written can be read again, and has all fields.
func FuzzConfig(f *testing.F) {
	f.Add(`{"name":"m","max_batch_size":4,"input":[{"name":"x","dims":[1,-1]}],"dynamic_batching":{}}`)
	f.Add(`{"parameters":{"\ud83d\ude00\ud800":"` + "\x80" + `"},"output":[{"dims":["3"],"reshape":{"shape":[]}}]}`)
	f.Add(`{"name":"m","si` + "\x85\x86" + `e":4,"si` + "\x87" + `e":5}`)
	f.Add(`{"name":"m","input":[{"name":"` + "\x8a\x8a" + `u","dims":[1,-1]}],"output":[{"name":"` + "\xff" + `","data_type":"` + "\xff" + `"}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		c, err := readConfig([]byte(text))
		if err != nil {
			return
		}
		made := c.with(true)
		again, err := readConfig(made)
		require.NoError(t, err, string(made))
		require.Equal(t, c.maxBatch, again.maxBatch)
		require.ElementsMatch(t, c.inputs, again.inputs)
		require.ElementsMatch(t, c.outputs, again.outputs)
		for _, m := range c.all {
			if _, written := map[string]bool{"max_batch_size": true, "input": true, "output": true}[m.Name]; !written {
				want, _ := jsontext.Find(c.all, m.Name)
				got, _ := jsontext.Find(again.all, m.Name)
				require.Equal(t, string(jsontext.Append(nil, want)), string(jsontext.Append(nil, got)))
			}
		}
	})
}
