package runtime_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/eager"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/snapshot"
	"github.com/paddle-mps/paddle-mps/kernels/host"
)

// TestFallbacksAreReported: the snapshot counts the calls that the CPU has run in place of the device, by operator.
func TestFallbacksAreReported(t *testing.T) {
	w := newWorldOn(t, &lacking{host.New(host.Config{Async: true, InlineLimit: -1}), func(id op.ID) bool { return id != op.IDExp }})
	reported := func() map[string]int64 {
		var text bytes.Buffer
		require.NoError(t, snapshot.Write(w.mps, &text))
		var found struct {
			Fallbacks map[string]int64 `json:"cpu_fallbacks"`
		}
		require.NoError(t, json.Unmarshal(text.Bytes(), &found))
		return found.Fallbacks
	}
	require.Equal(t, map[string]int64{}, reported())
	x := w.filled(w.mps, 0, 8)
	defer w.free(x)
	for range 3 {
		y, err := eager.Unary(w.rt, op.MustByName("exp"), x, nil)
		require.NoError(t, err)
		require.Equal(t, []float32{1, 1, 1, 1, 1, 1, 1, 1}, w.floats(y))
		w.free(y)
		y, err = eager.Unary(w.rt, op.MustByName("tanh"), x, nil)
		require.NoError(t, err)
		w.free(y)
	}
	require.Equal(t, map[string]int64{"exp": 3}, reported())
}
