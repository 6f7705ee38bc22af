package runtime_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/eager"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/runtime"
)

// TestHammer: sixteen goroutines share one input, each with a stream and tensors of its own; memory that one frees
// while its stream still uses it is reused by another.
func TestHammer(t *testing.T) {
	w := newWorld(t)
	rounds := 60
	if testing.Short() {
		rounds = 15
	}
	const n = 3000
	shared := w.f32(w.mps, filled(n, 1), n)
	add, multiply := op.MustByName("add"), op.MustByName("multiply")
	var wg sync.WaitGroup
	for g := range 16 {
		wg.Go(func() {
			s, err := w.mps.NewStream()
			require.NoError(t, err)
			own := w.f32(w.mps, filled(n, float32(g)), n)
			for i := range rounds {
				sum, err := eager.Binary(w.rt, add, runtime.Operand{Tensor: shared}, runtime.Operand{Tensor: own}, s)
				require.NoError(t, err)
				twice, err := eager.Binary(w.rt, multiply, runtime.Operand{Tensor: sum}, runtime.Operand{Value: op.Value{Kind: op.Int, I: 2}}, s)
				require.NoError(t, err)
				w.free(sum)
				if i%5 == 0 {
					for j, v := range w.floats(twice) {
						if v != 2*float32(g+1) {
							t.Errorf("goroutine %d, element %d is %v; want %d", g, j, v, 2*(g+1))
							break
						}
					}
				}
				w.free(twice)
			}
			w.free(own)
			require.NoError(t, s.Close())
		})
	}
	wg.Wait()
	w.free(shared)
}

func filled(n int, v float32) []float32 {
	out := make([]float32, n)
	for i := range out {
		out[i] = v
	}
	return out
}

// TestHandlesUnderContention: many goroutines use and free one tensor. Those that acquired it see it intact, all
// others find no tensor.
func TestHandlesUnderContention(t *testing.T) {
	w := newWorld(t)
	for range 50 {
		x := w.f32(w.cpu, []float32{1, 2, 3}, 3)
		h := x.Handle()
		var wg sync.WaitGroup
		freed := make(chan bool, 8)
		for range 8 {
			wg.Go(func() {
				if held := w.rt.Acquire(h); held != nil {
					if held.Layout.Numel() != 3 {
						t.Error("a held tensor was dropped")
					}
					held.Release()
				}
				freed <- w.rt.Free(h)
			})
		}
		wg.Wait()
		close(freed)
		count := 0
		for ok := range freed {
			if ok {
				count++
			}
		}
		require.Equal(t, 1, count, "a handle is freed once")
	}
}
