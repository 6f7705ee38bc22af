package runtime_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/eager"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/tape"
)

// TestViewsOnThreads: goroutines write through views of one tensor, each into a part of its own, while others make views, read them and
// run passes. When all are done, the gradients are those of what was written last.
func TestViewsOnThreads(t *testing.T) {
	w := newWorld(t)
	const parts, rounds = 6, 40
	recording := eager.In(w.rt, runtime.Recording)
	x, y := w.leaf(w.cpu, filled(parts, 2)...), w.leaf(w.cpu, filled(parts, 3)...)
	whole := w.record("multiply", []runtime.Operand{{Tensor: x}, {Value: op.Value{Kind: op.Int, I: 5}}})
	at := func(of *runtime.Tensor, i int) *runtime.Tensor {
		v, err := recording.Index(of, []runtime.IndexItem{{Kind: runtime.IndexSlice, Has: 3, Start: int64(i), Stop: int64(i + 1)}}, nil)
		assert.NoError(t, err)
		return v
	}
	var wg sync.WaitGroup
	for i := range parts {
		wg.Go(func() { // writes, into every second part
			for range rounds {
				v, from := at(whole, i), at(y, i)
				if i%2 == 0 {
					assert.NoError(t, recording.CallInto(op.MustByName("assign"), []runtime.Operand{{Tensor: from}}, nil, v, nil))
				}
				w.free(v)
				w.free(from)
			}
		})
		wg.Go(func() { // reads
			for range rounds {
				v := at(whole, i)
				v.Asks()
				same, err := v.Same()
				assert.NoError(t, err)
				sum := w.record("add", []runtime.Operand{{Tensor: v}, {Tensor: same}})
				assert.True(t, sum.Asks())
				found, err := tape.Backward(w.rt, &tape.Pass{Of: one(sum), To: one(x), Keep: true}, nil)
				assert.NoError(t, err)
				for _, g := range found {
					if g != nil {
						w.free(g)
					}
				}
				for _, u := range []*runtime.Tensor{v, same, sum} {
					w.free(u)
				}
			}
		})
	}
	wg.Wait()
	total := w.record("multiply", []runtime.Operand{{Tensor: whole}, {Value: op.Value{Kind: op.Int, I: 7}}})
	w.backward(tape.Pass{Of: one(total)})
	require.Equal(t, []float32{0, 35, 0, 35, 0, 35}, w.gradient(x))
	require.Equal(t, []float32{7, 0, 7, 0, 7, 0}, w.gradient(y))
	for _, u := range []*runtime.Tensor{total, whole, x, y} {
		w.free(u)
	}
}

// TestGradientThatShowsItsOwnTensor: a retained gradient may be the tensor itself, seen before a write through a view. Reading, clearing
// and adding to it look at that write, whose history is told to the node that holds the gradient: neither may wait for the other.
func TestGradientThatShowsItsOwnTensor(t *testing.T) {
	for name, use := range map[string]func(w *world, y *runtime.Tensor) error{
		"read": func(w *world, y *runtime.Tensor) error {
			g, err := tape.Gradient(y)
			if err == nil && g == nil {
				t.Error("read: no gradient")
			}
			if g != nil {
				g.Asks()
				w.free(g)
			}
			return err
		},
		"clear": func(_ *world, y *runtime.Tensor) error { return tape.ZeroGradient(y) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			recording := eager.In(w.rt, runtime.Recording)
			x := w.leaf(w.cpu, 1, 2, 3)
			y := w.record("multiply", []runtime.Operand{{Tensor: x}, {Value: op.Value{Kind: op.Int, I: 2}}})
			require.NoError(t, tape.Retain(y))
			v, err := recording.Index(y, []runtime.IndexItem{{Kind: runtime.IndexSlice, Has: 3, Start: 0, Stop: 1}}, nil)
			require.NoError(t, err)
			w.backward(tape.Pass{Of: one(y), Dy: one(y), Again: true})
			from, err := recording.Index(x, []runtime.IndexItem{{Kind: runtime.IndexSlice, Has: 3, Start: 1, Stop: 2}}, nil)
			require.NoError(t, err)
			require.NoError(t, recording.CallInto(op.MustByName("assign"), []runtime.Operand{{Tensor: from}}, nil, v, nil))
			require.NoError(t, use(w, y))
			for _, u := range []*runtime.Tensor{v, from, y, x} {
				w.free(u)
			}
		})
	}
}
