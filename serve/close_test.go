package serve

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/internal/onnxtest"
)

// TestCloseDuringPoll: the end of the server ends a load that a poll has begun, waits for it, and leaves no version behind.
func TestCloseDuringPoll(t *testing.T) {
	rt := newRuntime(t) // which is closed afterwards: nothing may run on it any more
	folder := repository(t, map[string]string{"m/1/model.onnx": string(onnxtest.Unary("Neg", onnxtest.Float, -1, 2))})
	s := New(Options{Runtime: rt, Repositories: []string{folder}, Control: ControlPoll, DefaultMaxBatch: 4})
	require.NoError(t, s.Start())
	ctx, cancel := context.WithCancel(t.Context())
	polled := make(chan struct{})
	go func() {
		s.Poll(ctx, time.Millisecond)
		close(polled)
	}()
	// The warm-up of the next model takes longer than any test.
	require.NoError(t, os.MkdirAll(filepath.Join(folder, "slow", "1"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "slow", "config.pbtxt"), []byte(
		`max_batch_size: 4 model_warmup { name: "w" batch_size: 1 count: 4000000000 inputs { key: "x" value { data_type: TYPE_FP32 dims: 2 zero_data: true } } }`), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "slow", "1", "model.onnx"), onnxtest.Unary("Neg", onnxtest.Float, -1, 2), 0o644))
	loading := func() bool {
		s.mu.RLock()
		defer s.mu.RUnlock()
		return s.models["slow"] != nil && s.models["slow"].states[1].Word == Loading
	}
	require.Eventually(t, loading, 20*time.Second, time.Millisecond)
	cancel()
	closed := make(chan struct{})
	go func() {
		s.Close()
		close(closed)
	}()
	select {
	case <-closed:
	case <-time.After(20 * time.Second):
		t.Fatal("the load goes on")
	}
	<-polled
	require.False(t, loading(), "Close has waited for the load")
	require.Empty(t, s.models["slow"].ready)
	require.Error(t, s.Serves("m", -1))
}
