package runtime_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/eager"
	"github.com/paddle-mps/paddle-mps/core/execute"
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// i64 makes an int64 tensor of small numbers.
func (w *world) i64(c *runtime.Context, values ...byte) *runtime.Tensor {
	s, err := shape.Of(int64(len(values)))
	require.NoError(w, err)
	t, err := w.rt.Empty(c, dtype.Int64, s, nil)
	require.NoError(w, err)
	b := make([]byte, 8*len(values))
	for i, v := range values {
		b[8*i] = v
	}
	require.NoError(w, t.Write(b))
	return t
}

// Calls that have nothing to compute reach no device, and need no program: elementwise ones by the short way and the
// long one, products, scans, assembly, copies to a place, and programs.
func TestEmptyWorkIsNotLaunched(t *testing.T) {
	w, d := newSteeredWorld(t, -1)
	x, y := w.f32(w.mps, nil, 0, 3), w.f32(w.mps, nil, 2, 0)
	m := w.f32(w.mps, make([]float32, 15), 3, 5)
	where, value := w.i64(w.mps), w.f32(w.mps, nil, 0, 5)
	d.each = func() error { t.Error("a call reached the device"); return nil }
	misses := w.mps.Programs().Misses
	for _, made := range []*runtime.Tensor{
		w.neg(x, nil), w.call("add", of(x, x)), w.call("exp", of(x)), w.call("matmul", of(x, m)), w.call("softmax", of(x)),
		w.call("sum", of(y), ints(0)), w.call("concat", of(x, x)), w.call("tile", of(y), ints(2, 2)),
		w.call("reshape", of(x), ints(-1)), w.call("nonzero", of(x)), w.call("index", of(m, where)),
		w.call("index_put", of(value, value, where)), w.call("flip", of(x), ints(0)),
	} {
		require.Zero(t, made.Numel())
		w.free(made)
	}
	require.NoError(t, eager.CallInto(w.rt, op.ByID(op.IDIndexPut), of(m, value, where), nil, m, nil))
	require.NoError(t, eager.CallInto(w.rt, op.ByID(op.IDAdd), of(x, x), nil, x, nil))
	on, err := x.To(w.cpu, true, nil)
	require.NoError(t, err)

	b := graph.NewBuilder()
	out, err := b.Call(op.ByID(op.IDExp), []graph.Value{b.Input(typed(dtype.Float32, 0, 3))}, nil)
	require.NoError(t, err)
	p := execute.New(w.mps, b.Build(out...))
	defer p.Close()
	made, err := p.Run([]*runtime.Tensor{x}, nil)
	require.NoError(t, err)
	require.NoError(t, w.mps.Synchronize())
	require.Equal(t, misses+1, w.mps.Programs().Misses, "the program of the graph, which has no steps")
	w.free(x, y, m, where, value, on, made[0])
}

// A tensor whose contents were never computed stays failed when a part of it is written: by an update in place, and
// by one of a copy.
func TestUpdatesKeepTheFailureOfTheRest(t *testing.T) {
	w, d := newSteeredWorld(t, -1)
	x, value, where := w.f32(w.mps, []float32{1, 2, 3}, 3), w.f32(w.mps, []float32{9}, 1), w.i64(w.mps, 1)
	put := op.ByID(op.IDIndexPut)
	for _, inPlace := range []bool{true, false} {
		d.next(func() error { return status.Errorf(status.Device, "[neg] broken") })
		y := w.neg(x, nil)
		in, z := of(y, value, where), y
		if inPlace {
			require.NoError(t, eager.CallInto(w.rt, put, in, nil, y, nil))
		} else {
			z = w.call("index_put", in)
		}
		require.ErrorContains(t, z.Read(make([]byte, 12)), "[neg] broken", "in place: %v", inPlace)
		_ = w.mps.Synchronize() // reports the failure once
		if z != y {
			w.free(z)
		}
		w.free(y)
	}
	w.free(x, value, where)
}

// TestADivisorOfZeroLeavesTheOutput: the zero stands behind elements that a kernel has computed when it meets it.
func TestADivisorOfZeroLeavesTheOutput(t *testing.T) {
	w := newWorld(t)
	divisors := bytes.Repeat([]byte{3}, 100_000)
	divisors[len(divisors)-1] = 0
	dividends := bytes.Repeat([]byte{7}, len(divisors))
	for _, name := range []string{"floor_divide", "remainder"} {
		x, y := w.i64(w.cpu, dividends...), w.i64(w.cpu, divisors...)
		before := w.bytes(x)
		require.ErrorContains(t, eager.CallInto(w.rt, op.MustByName(name), of(x, y), nil, x, nil), "divided by zero", name)
		require.Equal(t, before, w.bytes(x), name)
		w.free(x, y)
	}
}
