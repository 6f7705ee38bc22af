package serve

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/internal/onnxtest"
	"github.com/paddle-mps/paddle-mps/serve/inference"
)

const cachedConfig = `response_cache { enable: true } max_batch_size: 4 input { name: "x" data_type: TYPE_FP32 dims: -1 }
	output { name: "y" data_type: TYPE_FP32 dims: -1 }`

// TestCache: the second of two equal requests is answered with no execution; whatever an answer depends on makes requests
// differ.
func TestCache(t *testing.T) {
	cache := NewCache(1 << 20)
	s := started(t, map[string]string{
		"m/1/model.onnx": string(onnxtest.Unary("Neg", onnxtest.Float, -1, -1)), "m/config.pbtxt": cachedConfig,
		"other/1/model.onnx": string(onnxtest.Unary("Abs", onnxtest.Float, -1, -1)), "other/config.pbtxt": cachedConfig,
		"off/1/model.onnx": string(onnxtest.Unary("Neg", onnxtest.Float, -1, -1)),
	}, Options{Cache: cache, Control: ControlExplicit, Load: []string{"*"}})
	ask := func(r *inference.Request) []float32 {
		got, err := s.Infer(context.Background(), r)
		require.NoError(t, err)
		require.Equal(t, r.ID, got.ID)
		return numbers(got.Outputs[0].Data)
	}
	executions := func(name string) uint64 {
		c, err := s.Statistics(name, -1)
		require.NoError(t, err)
		return c[0].Executions
	}
	first := input("m", []int64{1, 4}, 1, 2, 3, 4)
	require.Equal(t, []float32{-1, -2, -3, -4}, ask(first))
	again := input("m", []int64{1, 4}, 1, 2, 3, 4)
	again.ID = "again"
	got, err := s.Infer(context.Background(), again)
	require.NoError(t, err)
	require.Equal(t, "again", got.ID)
	require.EqualValues(t, 1, executions("m"))
	// What the caller does with its answer does not reach the cache.
	clear(got.Outputs[0].Data)
	got.Outputs[0].Shape[0] = 9
	require.Equal(t, []float32{-1, -2, -3, -4}, ask(again))
	require.EqualValues(t, 1, executions("m"))
	// Another shape of the same bytes, other outputs, another model.
	require.Equal(t, []float32{-1, -2, -3, -4}, ask(input("m", []int64{2, 2}, 1, 2, 3, 4)))
	require.EqualValues(t, 2, executions("m"))
	classes := input("m", []int64{1, 4}, 1, 2, 3, 4)
	classes.Outputs = []inference.Requested{{Name: "y", Classes: 1}}
	got, err = s.Infer(context.Background(), classes)
	require.NoError(t, err)
	require.Contains(t, string(got.Outputs[0].Data), "-1.000000:0")
	require.EqualValues(t, 3, executions("m"))
	require.Equal(t, []float32{1, 2, 3, 4}, ask(input("other", []int64{1, 4}, 1, 2, 3, 4)))
	for range 2 {
		ask(input("off", []int64{1, 4}, 1, 2, 3, 4))
	}
	require.EqualValues(t, 2, executions("off"))
	c, err := s.Statistics("m", -1)
	require.NoError(t, err)
	require.EqualValues(t, 2, c[0].Stats.CacheHit.Count)
	require.EqualValues(t, 3, c[0].Stats.CacheMiss.Count)
	require.EqualValues(t, 5, c[0].Stats.Success.Count)
	require.True(t, c[0].Cached)
	// A model that is loaded again has other answers.
	require.NoError(t, s.Unload("m", false))
	require.NoError(t, s.Load("m", Overrides{Config: cachedOverride, Files: map[string][]byte{"1/model.onnx": onnxtest.Unary("Identity", onnxtest.Float, -1, -1)}}))
	require.Equal(t, []float32{1, 2, 3, 4}, ask(first))
}

const cachedOverride = `{"backend": "metal_mps", "response_cache": {"enable": true}, "max_batch_size": 4,
	"input": [{"name": "x", "data_type": "TYPE_FP32", "dims": [-1]}], "output": [{"name": "y", "data_type": "TYPE_FP32", "dims": [-1]}]}`

// TestKeysOfTheCache: requests that differ in one part have other keys, and the order of outputs is no part.
func TestKeysOfTheCache(t *testing.T) {
	keyOf := func(load uint64, shape []int64, data string, outputs ...inference.Requested) key {
		return (&Version{load: load}).keyOf(&inference.Request{Outputs: outputs}, &accepted{shapes: [][]int64{shape}, data: [][]byte{[]byte(data)}})
	}
	y, z := inference.Requested{Name: "y"}, inference.Requested{Name: "z"}
	seen := map[key]string{}
	for name, k := range map[string]key{
		"as it is":        keyOf(1, []int64{2, 3}, "abcdef", y),
		"another load":    keyOf(2, []int64{2, 3}, "abcdef", y),
		"another shape":   keyOf(1, []int64{3, 2}, "abcdef", y),
		"other elements":  keyOf(1, []int64{2, 3}, "abcdeg", y),
		"another output":  keyOf(1, []int64{2, 3}, "abcdef", z),
		"two outputs":     keyOf(1, []int64{2, 3}, "abcdef", y, z),
		"all outputs":     keyOf(1, []int64{2, 3}, "abcdef"),
		"a class of each": keyOf(1, []int64{2, 3}, "abcdef", inference.Requested{Name: "y", Classes: 1}),
	} {
		require.NotContains(t, seen, k, name)
		seen[k] = name
	}
	require.Equal(t, "two outputs", seen[keyOf(1, []int64{2, 3}, "abcdef", z, y)])
}

// TestCacheIsBounded: old entries make room, large ones are not kept, and a failure is not an answer.
func TestCacheIsBounded(t *testing.T) {
	c := NewCache(4 * (2*overhead + 100))
	outputs := []inference.Tensor{{Name: "y", Data: make([]byte, 100)}}
	for i := range 10 {
		c.put(key{byte(i)}, outputs)
		_, ok := c.get(key{0}) // is used all the while, and stays
		require.True(t, ok)
		used, n := c.Use()
		require.LessOrEqual(t, used, c.size)
		require.LessOrEqual(t, n, 4)
	}
	_, ok := c.get(key{1})
	require.False(t, ok)
	_, ok = c.get(key{9})
	require.True(t, ok)
	c.put(key{99}, []inference.Tensor{{Data: make([]byte, 1<<20)}})
	_, ok = c.get(key{99})
	require.False(t, ok)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for j := range 500 {
				k := key{byte(100 + i), byte(j % 7)}
				c.put(k, []inference.Tensor{{Name: fmt.Sprint(k), Data: make([]byte, j%90)}})
				if got, ok := c.get(k); ok && got[0].Name != fmt.Sprint(k) {
					t.Errorf("%s is not %s", got[0].Name, fmt.Sprint(k))
				}
			}
		})
	}
	all.Wait()
	used, n := c.Use()
	sum := int64(0)
	for at := c.order.Front(); at != nil; at = at.Next() {
		sum += at.Value.(*entry).bytes
	}
	require.Equal(t, sum, used)
	require.Equal(t, c.order.Len(), n)
}

// TestNoCache: a model that asks for a cache of a server without one runs each request, as in tritonserver.
func TestNoCache(t *testing.T) {
	s := started(t, map[string]string{"m/1/model.onnx": string(onnxtest.Unary("Neg", onnxtest.Float, -1, -1)), "m/config.pbtxt": cachedConfig}, Options{})
	for range 2 {
		_, err := s.Infer(context.Background(), input("m", []int64{1, 1}, 1))
		require.NoError(t, err)
	}
	c, err := s.Statistics("m", -1)
	require.NoError(t, err)
	require.EqualValues(t, 2, c[0].Executions)
	require.Zero(t, c[0].Stats.CacheMiss.Count)
}
