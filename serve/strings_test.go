package serve

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/internal/onnxtest"
	"github.com/paddle-mps/paddle-mps/serve/inference"
	"github.com/paddle-mps/paddle-mps/serve/tensors"
)

// elemString is the element type of strings in ONNX.
const elemString = 8

// wire is strings as the data of a tensor.
func wire(list ...string) []byte {
	data := []byte{}
	for _, s := range list {
		data = tensors.AppendElement(data, []byte(s))
	}
	return data
}

// texts are the strings of a tensor.
func texts(t *testing.T, data []byte) []string {
	list := []string{}
	for len(data) > 0 {
		text, rest, ok := tensors.NextElement(data)
		require.True(t, ok)
		list, data = append(list, string(text)), rest
	}
	return list
}

// stringsTo is a request with one input of strings.
func stringsTo(model string, shape []int64, list ...string) *inference.Request {
	return &inference.Request{Model: model, Version: -1, Inputs: []inference.Tensor{{Name: "x", Type: tensors.Bytes, Shape: shape, Data: wire(list...)}}}
}

// sameStrings is a model that returns a matrix of strings.
var sameStrings = string(onnxtest.Unary("Identity", elemString, -1, 2))

// TestStrings: a model of strings is completed, described and answers, also with strings that are empty or have NUL characters.
func TestStrings(t *testing.T) {
	s := started(t, map[string]string{"m/1/model.onnx": sameStrings, "one/1/model.onnx": string(onnxtest.Unary("Identity", elemString, 1))}, Options{})
	require.True(t, s.Ready())
	m, err := s.Metadata("m", -1)
	require.NoError(t, err)
	require.Equal(t, []Port{{"x", "BYTES", []int64{-1, 2}}}, m.Inputs)
	require.Equal(t, []Port{{"y", "BYTES", []int64{-1, 2}}}, m.Outputs)
	c, err := s.ConfigOf("m", -1)
	require.NoError(t, err)
	require.Equal(t, "TYPE_STRING", c.Input[0].DataType.String())
	list := []string{"", "a\x00b", strings.Repeat("long ", 1<<16), "日本🎉"}
	r, err := s.Infer(context.Background(), stringsTo("m", []int64{2, 2}, list...))
	require.NoError(t, err)
	require.Equal(t, tensors.Bytes, r.Outputs[0].Type)
	require.Equal(t, []int64{2, 2}, r.Outputs[0].Shape)
	require.Equal(t, list, texts(t, r.Outputs[0].Data))
	// A body without JSON is the only string of a model of one.
	one, err := s.RawInput("one", -1, []byte("text"))
	require.NoError(t, err)
	r, err = s.Infer(context.Background(), &inference.Request{Model: "one", Version: -1, Inputs: []inference.Tensor{one}})
	require.NoError(t, err)
	require.Equal(t, []string{"text"}, texts(t, r.Outputs[0].Data))
	_, err = s.RawInput("m", -1, []byte("text"))
	require.EqualError(t, err, "[request id: <id_unknown>] For BYTE datatype raw input 'x', the model must have input shape [1]")
	// Classes of strings are no numbers.
	ranked := stringsTo("m", []int64{1, 2}, "a", "b")
	ranked.Outputs = []inference.Requested{{Name: "y", Classes: 1}}
	_, err = s.Infer(context.Background(), ranked)
	require.EqualError(t, err, "class result not available for output due to unsupported type 'BYTES'")
}

// TestWrongStrings: lengths that lie, and other numbers of elements than the shape says, with tritonserver's texts.
func TestWrongStrings(t *testing.T) {
	s := started(t, map[string]string{"m/1/model.onnx": sameStrings}, Options{})
	const of = " for inference input 'x' for model 'm'"
	for name, c := range map[string]struct{ data, want string }{
		"nothing":                {"", "expected 2 string elements" + of + ", got 0"},
		"one":                    {"\x01\x00\x00\x00a", "expected 2 string elements" + of + ", got 1"},
		"one that has both":      {"\x09\x00\x00\x00a\x00\x00\x00\x00", "expected 2 string elements" + of + ", got 1"},
		"three":                  {"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", "unexpected number of string elements 3" + of + ", expecting 2"},
		"many, the third cut":    {"\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff", "unexpected number of string elements 3" + of + ", expecting 2"},
		"a length that is cut":   {"\x00\x00\x00\x00\x00\x00\x00", "incomplete string length indicator" + of + ", expecting 4 bytes but only 3 bytes available. Please make sure the string length indicator is in one buffer."},
		"a rest":                 {"\x00\x00\x00\x00\x00\x00\x00\x00a", "incomplete string length indicator" + of + ", expecting 4 bytes but only 1 bytes available. Please make sure the string length indicator is in one buffer."},
		"the largest length":     {"\x00\x00\x00\x00\xff\xff\xff\xffabc", "incomplete string data" + of + ", expecting string of length 4294967295 but only 3 bytes available."},
		"the sign of a length":   {"\x00\x00\x00\x80\x00\x00\x00\x00", "expected 2 string elements" + of + ", got 1"},
		"bytes that are no text": {"\x00\x00\x00\x00\x01\x00\x00\x00\xff", "string element 1 of inference input 'x' for model 'm' is not UTF-8, as strings of ONNX models are"},
	} {
		r := stringsTo("m", []int64{1, 2})
		r.Inputs[0].Data = []byte(c.data)
		_, err := s.Infer(context.Background(), r)
		require.EqualError(t, err, "[request id: <id_unknown>] "+c.want, name)
		require.Equal(t, inference.InvalidArg, inference.From(err).Code, name)
	}
}

// TestBatchesOfStrings: requests that share a batch get their own strings back, whatever their sizes are. The delay is longer than
// any test: the batch runs when all of its eight items are there.
func TestBatchesOfStrings(t *testing.T) {
	config := `max_batch_size: 8 input { name: "x" data_type: TYPE_STRING dims: 2 } output { name: "y" data_type: TYPE_STRING dims: 2 }
		dynamic_batching { preferred_batch_size: 8 max_queue_delay_microseconds: 1000000000 }`
	s := started(t, map[string]string{"m/1/model.onnx": sameStrings, "m/config.pbtxt": config}, Options{})
	require.True(t, s.Ready())
	var all sync.WaitGroup
	for i, rows := range []int{1, 3, 2, 2} {
		all.Go(func() {
			var list []string
			for k := range 2 * rows {
				list = append(list, strings.Repeat(string(rune('a'+i)), 7*k*i))
			}
			got, err := s.Infer(context.Background(), stringsTo("m", []int64{int64(rows), 2}, list...))
			if err != nil || fmt.Sprint(got.Outputs[0].Shape, texts(t, got.Outputs[0].Data)) != fmt.Sprint([]int{rows, 2}, list) {
				t.Errorf("request %d: %v", i, err)
			}
		})
	}
	all.Wait()
	c, err := s.Statistics("m", -1)
	require.NoError(t, err)
	require.EqualValues(t, 8, c[0].Inferences)
	require.EqualValues(t, 1, c[0].Executions)
}

// TestWarmUpOfStrings: zeros and random elements are empty strings, as in tritonserver; a file has elements with their lengths.
func TestWarmUpOfStrings(t *testing.T) {
	files := map[string]string{}
	for name, kind := range map[string]string{"zero": "zero_data: true", "random": "random_data: true", "file": `input_data_file: "good"`, "wrong": `input_data_file: "bad"`, "large": "zero_data: true"} {
		rows := map[bool]int{false: 2, true: 3_000_000}[name == "large"]
		files[name+"/1/model.onnx"] = sameStrings
		files[name+"/warmup/good"], files[name+"/warmup/bad"] = string(wire("a", "b", "c", "d")), "a\nb\nc\nd\n"
		files[name+"/config.pbtxt"] = `max_batch_size: 2 input { name: "x" data_type: TYPE_STRING dims: 2 } output { name: "y" data_type: TYPE_STRING dims: 2 }
			model_warmup { name: "w" batch_size: ` + strconv.Itoa(rows) + ` inputs { key: "x" value { data_type: TYPE_STRING dims: 2 ` + kind + ` } } }`
	}
	s := started(t, files, Options{})
	for _, name := range []string{"zero", "random", "file"} {
		_, err := s.Infer(context.Background(), stringsTo(name, []int64{1, 2}, "a", "b"))
		require.NoError(t, err, name)
	}
	all, err := s.Index(false)
	require.NoError(t, err)
	for _, e := range all {
		if e.Name == "large" { // 24 MB in the request, and 1.5 GB in a run
			require.Contains(t, e.Reason, "want known dimensions and at most 1073741824 bytes for all inputs")
		}
		if e.Name == "wrong" {
			require.Contains(t, e.Reason, "failed to run warmup sample 'w': [request id: w] ")
			require.Contains(t, e.Reason, "string element")
		}
	}
	require.Len(t, all, 5)
}

// TestStringsInCacheAndEnsemble: an answer of the cache has the strings of the first one, and an ensemble passes strings on.
func TestStringsInCacheAndEnsemble(t *testing.T) {
	ports := `max_batch_size: 4 input { name: "x" data_type: TYPE_STRING dims: 2 } output { name: "y" data_type: TYPE_STRING dims: 2 } `
	step := func(from, to string) string {
		return `step { model_name: "m" model_version: -1 input_map { key: "x" value: "` + from + `" } output_map { key: "y" value: "` + to + `" } } `
	}
	cache := NewCache(1 << 20)
	s := started(t, map[string]string{
		"m/1/model.onnx": sameStrings, "m/config.pbtxt": ports + "response_cache { enable: true }",
		"e/config.pbtxt": ports + `platform: "ensemble" ensemble_scheduling { ` + step("x", "between") + step("between", "y") + `}`, "e/1/empty": "",
	}, Options{Cache: cache})
	for _, list := range [][]string{{"a", "bc"}, {"ab", "c"}, {"a", "bc"}} {
		for _, model := range []string{"m", "e"} {
			got, err := s.Infer(context.Background(), stringsTo(model, []int64{1, 2}, list...))
			require.NoError(t, err)
			require.Equal(t, list, texts(t, got.Outputs[0].Data))
		}
	}
	c, err := s.Statistics("m", -1)
	require.NoError(t, err)
	require.EqualValues(t, 4, c[0].Executions, "two for each of the two inputs: the ensemble names the output that it wants")
	r := stringsTo("e", []int64{1, 2})
	_, err = s.Infer(context.Background(), r)
	require.EqualError(t, err, "[request id: <id_unknown>] expected 2 string elements for inference input 'x' for model 'e', got 0")
}
