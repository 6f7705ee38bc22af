package runtime_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/eager"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/tape"
)

// record is world.call in mode Recording.
func (w *world) record(name string, in []runtime.Operand, at ...op.Value) *runtime.Tensor {
	ts, err := eager.In(w.rt, runtime.Recording).Call(op.MustByName(name), in, op.Attrs(at), nil, nil)
	require.NoError(w, err)
	require.Len(w, ts, 1)
	return ts[0]
}

// leaf is a float32 tensor that asks for gradients.
func (w *world) leaf(c *runtime.Context, values ...float32) *runtime.Tensor {
	t := w.f32(c, values, int64(len(values)))
	require.NoError(w, t.Ask(true))
	return t
}

// gradient reads the gradient that a tensor has.
func (w *world) gradient(t *runtime.Tensor) []float32 {
	g, err := tape.Gradient(t)
	require.NoError(w, err)
	require.NotNil(w, g)
	defer w.free(g)
	return w.floats(g)
}

// backward runs a pass.
func (w *world) backward(p tape.Pass) []*runtime.Tensor {
	found, err := tape.Backward(w.rt, &p, nil)
	require.NoError(w, err)
	return found
}

func one(t *runtime.Tensor) []*runtime.Tensor { return []*runtime.Tensor{t} }

// TestRecordedMemoryReturns: values that a gradient reads stay until the last tensor goes that leads to them, or until
// a pass has used them.
func TestRecordedMemoryReturns(t *testing.T) {
	newWorld(t).each(func(w *world, c *runtime.Context) {
		blocks := func() int64 {
			require.NoError(w, c.Synchronize())
			return c.Stats().Blocks.Current
		}
		before := blocks()
		x := w.leaf(c, filled(1000, 2)...)
		y := w.record("exp", of(x)) // its gradient reads the result
		z := w.record("multiply", of(y, y))
		w.free(y)
		require.Equal(w, before+3, blocks(), "y is kept")
		w.free(z)
		require.Equal(w, before+1, blocks(), "y went with z")

		y = w.record("exp", of(x))
		z = w.record("multiply", of(y, y))
		w.free(y)
		w.backward(tape.Pass{Of: one(z)})
		require.Equal(w, before+3, blocks(), "x, its gradient, and z, but not y")
		w.free(x, z)
		require.Equal(w, before, blocks(), "the gradient went with x")
	})
}

// TestLongHistoriesReturn: nodes go one after the other, not one within the other.
func TestLongHistoriesReturn(t *testing.T) {
	w := newWorld(t)
	x := w.leaf(w.cpu, 1)
	y := x
	for range 20000 {
		next := w.record("neg", of(y))
		if y != x {
			w.free(y)
		}
		y = next
	}
	w.backward(tape.Pass{Of: one(y), Keep: true})
	require.Equal(t, []float32{1}, w.gradient(x))
	w.free(y, x)
}

// TestGradientsThatNameTheirTensor: a gradient that was recorded itself leads back to its leaf, which keeps it. Both go
// with the last tensor of the caller.
func TestGradientsThatNameTheirTensor(t *testing.T) {
	newWorld(t).each(func(w *world, c *runtime.Context) {
		x := w.leaf(c, 3)
		y := w.record("multiply", of(x, x))
		cube := w.record("multiply", of(x, y))
		require.NoError(w, tape.Retain(y))
		w.backward(tape.Pass{Of: one(cube), Again: true})
		require.Equal(w, []float32{27}, w.gradient(x))
		g, err := tape.Gradient(x)
		require.NoError(w, err)
		w.free(x, y, cube)
		require.EqualValues(w, 1, w.rt.Live())
		require.True(w, g.Asks())
		w.free(g) // the world expects no other
	})
	w := newWorld(t)
	x, y := w.leaf(w.cpu, 1), w.leaf(w.cpu, 2)
	require.NoError(t, tape.SetGradient(x, x))
	require.NoError(t, tape.SetGradient(y, x))
	require.NoError(t, tape.SetGradient(x, y))
	require.Equal(t, []float32{2}, w.gradient(x))
	w.free(x, y)
}

// TestPassesAddUp: passes of many goroutines that end at one leaf lose none of its gradients.
func TestPassesAddUp(t *testing.T) {
	newWorld(t).each(func(w *world, c *runtime.Context) {
		x := w.leaf(c, filled(50000, 1)...) // large enough for sums to overlap
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for range 50 {
					y := w.record("add", of(x, x))
					w.backward(tape.Pass{Of: one(y)})
					w.free(y)
				}
			})
		}
		wg.Wait()
		require.Equal(w, filled(50000, 800), w.gradient(x))
		w.free(x)
	})
}

// TestPassesKeepWhatTheyWalk: hooks that free tensors, remove hooks and end histories in the middle of a pass.
func TestPassesKeepWhatTheyWalk(t *testing.T) {
	w := newWorld(t)
	x := w.leaf(w.cpu, 3)
	y := w.record("multiply", of(x, x))
	z := w.record("exp", of(y))
	top := w.record("log", of(z))
	var id uint64
	closed := 0
	id, err := top.AddHook(&runtime.Hook{
		See: func(*runtime.Tensor) (*runtime.Tensor, error) {
			require.True(t, runtime.RemoveHook(id))
			require.Zero(t, closed, "a hook is not closed while it runs")
			require.NoError(t, top.Ask(false))
			w.free(y, z)
			return nil, nil
		},
		Close: func() { closed++ },
	})
	require.NoError(t, err)
	w.backward(tape.Pass{Of: one(top)})
	require.Equal(t, 1, closed)
	got := w.gradient(x)
	require.InDelta(t, 6, got[0], 1e-5)
	w.free(x, top)
}

// TestHooksAreReplacedWithinTheDevice: a hook's gradient has to be where the tensor is.
func TestHooksAreReplacedWithinTheDevice(t *testing.T) {
	w := newWorld(t)
	x := w.leaf(w.mps, 3)
	_, err := x.AddHook(&runtime.Hook{See: func(*runtime.Tensor) (*runtime.Tensor, error) { return w.f32(w.cpu, []float32{1}, 1), nil }})
	require.NoError(t, err)
	y := w.record("neg", of(x))
	_, err = tape.Backward(w.rt, &tape.Pass{Of: one(y)}, nil)
	require.ErrorContains(t, err, "[register_hook] the hook returned float32 of shape [1] on cpu; want float32 of shape [1] on mps:0")
	require.False(t, tape.HasGradient(x))
	w.free(x, y)
}

// TestHistoriesUnderContention: goroutines record calls on tensors whose history, hooks and gradients others change.
// Each hook and function is closed once.
func TestHistoriesUnderContention(t *testing.T) {
	w := newWorld(t)
	rounds := 300
	if testing.Short() {
		rounds = 50
	}
	x := w.leaf(w.cpu, 1, 2)
	var made, closed atomic.Int64
	done := func() { closed.Add(1) }
	hook := func() *runtime.Hook {
		made.Add(1)
		return &runtime.Hook{See: func(*runtime.Tensor) (*runtime.Tensor, error) { return nil, nil }, Close: done}
	}
	for range rounds {
		y := w.record("multiply", of(x, x))
		z := w.call("exp", of(y))
		made.Add(1)
		eager.Apply(w.rt, &runtime.Function{
			Backward: func(of []*runtime.Tensor) ([]*runtime.Tensor, error) {
				same, err := of[0].Same()
				return []*runtime.Tensor{same}, err
			},
			Close: done,
		}, one(y), one(z))
		var wg sync.WaitGroup
		wg.Go(func() {
			u, err := eager.In(w.rt, runtime.Recording).Call(op.MustByName("multiply"), of(y, z), nil, nil, nil)
			if err == nil {
				w.free(u...)
			}
		})
		wg.Go(func() { // refused where the other pass was first, or z asks for none any more
			found, err := tape.Backward(w.rt, &tape.Pass{Of: one(z), To: one(x)}, nil)
			if err == nil && found[0] != nil {
				w.free(found...)
			}
		})
		wg.Go(func() { _, _ = tape.Backward(w.rt, &tape.Pass{Of: one(z)}, nil) })
		wg.Go(func() {
			h := hook()
			if id, err := z.AddHook(h); err != nil {
				h.Close()
			} else {
				runtime.RemoveHook(id)
			}
		})
		wg.Go(func() {
			h := hook()
			if _, err := y.AddHook(h); err != nil {
				h.Close()
			}
		})
		wg.Go(func() { require.NoError(t, z.Ask(false)) })
		wg.Go(func() { require.NoError(t, tape.SetGradient(x, nil)) })
		wg.Go(func() { require.NoError(t, tape.ZeroGradient(x)) })
		wg.Go(func() {
			g, err := tape.Gradient(x)
			require.NoError(t, err)
			if g != nil {
				w.free(g)
			}
		})
		wg.Go(func() {
			same, err := z.Same()
			require.NoError(t, err)
			w.free(same)
		})
		wg.Wait()
		w.free(y, z)
	}
	require.Equal(t, made.Load(), closed.Load())
	w.free(x)
}

// gradients computes a function of several operators of a side x side tensor, its gradient and that of the gradient, and
// returns a number that depends on all of them. It frees what it makes.
func gradients(rt *runtime.Runtime, c *runtime.Context, side int64) (result float64, err error) {
	var made []*runtime.Tensor
	defer func() {
		for _, t := range made {
			rt.Free(t.Handle())
		}
		if deferred := c.Synchronize(); err == nil {
			err = deferred
		}
	}()
	keep := func(t *runtime.Tensor, e error) *runtime.Tensor {
		if err == nil {
			err = e
		}
		if e != nil || t == nil {
			return nil
		}
		made = append(made, t)
		return t
	}
	call := func(name string, in []runtime.Operand, at ...op.Value) *runtime.Tensor {
		if err != nil {
			return nil
		}
		row := op.MustByName(name)
		for i := len(at); i < len(row.Attrs); i++ {
			at = append(at, row.Attrs[i].Default)
		}
		ts, e := eager.In(rt, runtime.Recording).Call(row, in, op.Attrs(at), c, nil)
		if e != nil {
			return keep(nil, e)
		}
		return keep(ts[0], nil)
	}
	backward := func(p tape.Pass) *runtime.Tensor {
		if err != nil {
			return nil
		}
		found, e := tape.Backward(rt, &p, nil)
		if e != nil || found == nil {
			return keep(nil, e)
		}
		return keep(found[0], nil)
	}
	x := call("full", nil, ints(side, side), op.Value{Kind: op.Float, F: 0.5}, op.Value{Kind: op.DType, I: int64(dtype.Float32)})
	if err == nil {
		err = x.Ask(true)
	}
	y := call("multiply", of(x, x))
	z := call("exp", of(y))
	y = call("matmul", of(z, x))
	y = call("add", of(y, x))
	dx := backward(tape.Pass{Of: one(y), To: one(x), Again: true})
	dxx := call("multiply", of(dx, dx))
	backward(tape.Pass{Of: one(dxx)})
	if err != nil {
		return 0, err
	}
	g := keep(tape.Gradient(x))
	mean := call("mean", of(g))
	if err != nil {
		return 0, err
	}
	b := make([]byte, 4)
	if err = mean.Read(b); err != nil {
		return 0, err
	}
	return float64(math.Float32frombits(binary.LittleEndian.Uint32(b))), nil
}

// TestEveryFailureOfAPassIsClean makes each request of a recorded computation and its two backward passes to the devices
// fail in turn: an error each time, nothing left, and the next run right.
func TestEveryFailureOfAPassIsClean(t *testing.T) {
	for _, c := range []struct {
		kind string
		n    int64 // see TestEveryFailureIsClean
		idle bool
		min  int64
	}{
		{"run", 8, false, 20},
		{"compile", 8, false, 6},
		{"stream", 8, false, 1},
		{"heap", 8, false, 1},
		{"heap", 3000, true, 10},
	} {
		t.Run(fmt.Sprintf("%s of side %d", c.kind, c.n), func(t *testing.T) {
			want, failed := 0.0, int64(0)
			for n := int64(0); ; n++ { // 0 is the run without a failure
				m := &machine{T: t, faults: &faults{kind: c.kind, at: n}}
				if err := m.start(c.idle); err != nil {
					failed++
					require.ErrorContains(t, err, "injected")
					continue
				}
				result, err := gradients(m.rt, m.c, c.n)
				over := m.count.Load() < n // there was no n-th one
				if n == 0 {
					require.NoError(t, err)
					require.True(t, c.idle || result != 0)
					want = result
				} else if recovered := m.c.Stats().Retries > 0 && m.c.Stats().OOMs == 0; !over && recovered {
					require.Equal(t, "heap", c.kind) // memory that was in flight came free in time
				} else if !over {
					require.ErrorContains(t, err, "injected", "failure %d", n)
					failed++
					require.Zero(t, m.rt.Live(), "failure %d", n)
					m.at = 0
					result, err = gradients(m.rt, m.c, c.n)
				}
				require.NoError(t, err, "failure %d, afterwards", n)
				require.Equal(t, want, result, "failure %d, afterwards", n)
				require.Zero(t, m.rt.Live(), "failure %d", n)
				require.Zero(t, m.c.Stats().Allocated.Current, "failure %d", n)
				require.NoError(t, m.rt.Close())
				require.Zero(t, m.heaps.Load())
				if over {
					require.GreaterOrEqual(t, failed, c.min)
					t.Logf("%d failures of kind %s, each clean", failed, c.kind)
					return
				}
			}
		})
	}
}
