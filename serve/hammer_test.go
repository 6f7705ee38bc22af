package serve

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/internal/onnxtest"
)

// TestEverythingAtOneTime: models of an ensemble are loaded, replaced, unloaded, polled, described and asked at one time. Afterwards
// all can be loaded, answer rightly, and nothing is on its way.
func TestEverythingAtOneTime(t *testing.T) {
	files := ensembleFiles("response_cache { enable: true }")
	s := started(t, files, Options{Control: ControlExplicit, Cache: NewCache(1 << 12), Limiter: NewLimiter(nil)})
	names := []string{"neg", "abs", "e"}
	configs := []string{
		"", `{"backend": "metal_mps"}`, `{"max_batch_size": -1}`,
		`{"backend": "metal_mps", "max_batch_size": 4, "instance_group": [{"count": 3, "kind": "KIND_CPU"}], "response_cache": {"enable": true},
			"dynamic_batching": {"preserve_ordering": true, "max_queue_delay_microseconds": 100}}`,
	}
	kinds := []string{"Neg", "Abs"}
	tried := map[string]string{}
	root := s.options.Repositories[0]
	do := func(n int) {
		name := names[n%len(names)]
		switch rand.IntN(12) {
		case 0:
			_ = s.Load(name, Overrides{})
		case 1:
			if name != "e" {
				o := Overrides{Config: configs[rand.IntN(len(configs))]}
				if o.Config != "" {
					o.Files = map[string][]byte{"1/model.onnx": onnxtest.Unary(kinds[n%2], onnxtest.Float, -1, 2)}
				}
				_ = s.Load(name, o)
			}
		case 2:
			_ = s.Unload(name, rand.IntN(2) == 0)
		case 3:
			_, _ = s.Index(rand.IntN(2) == 0)
			s.Ready()
		case 4:
			_, _ = s.Statistics("", -1)
			_, _ = s.Metadata(name, -1)
			_, _ = s.ConfigOf(name, 1)
		case 5: // files come and go
			_ = os.Rename(filepath.Join(root, "abs"), filepath.Join(root, ".abs"))
			_ = s.Load("abs", Overrides{})
			_ = os.Rename(filepath.Join(root, ".abs"), filepath.Join(root, "abs"))
		default:
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(rand.IntN(1000))*time.Microsecond)
			defer cancel()
			r := ofE(-1, 2)
			if name != "e" {
				r = input(name, []int64{1, 2}, -1, 2)
			}
			if got, err := s.Infer(ctx, r); err == nil {
				got.Free()
			}
		}
	}
	var all sync.WaitGroup
	for i := range 6 {
		all.Go(func() {
			for n := range 400 {
				do(n + i)
			}
		})
	}
	all.Go(func() {
		for range 30 {
			s.poll(tried)
		}
	})
	all.Wait()
	for _, name := range names {
		require.NoError(t, s.Load(name, Overrides{}), name)
	}
	require.True(t, s.Ready())
	got, err := s.Infer(t.Context(), ofE(-1, 2))
	require.NoError(t, err)
	require.Equal(t, floats(1, 2), got.Outputs[0].Data)
	got.Free()
	require.Zero(t, s.Flights())
}
