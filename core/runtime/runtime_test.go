package runtime_test

import (
	"encoding/binary"
	"math"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/eager"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/kernels/host"
	"github.com/paddle-mps/paddle-mps/place"
)

// world is a runtime with a CPU and an emulated mps device that runs no call on the submitting goroutine.
type world struct {
	*testing.T
	rt       *runtime.Runtime
	cpu, mps *runtime.Context
}

func newWorld(t *testing.T) *world {
	return newWorldOn(t, host.New(host.Config{Async: true, InlineLimit: -1}))
}

// newWorldOn is a runtime with a CPU and a given mps device; at the end both have to be empty.
func newWorldOn(t *testing.T, mps device.Device) *world {
	rt, err := runtime.New(runtime.Config{CPU: host.New(host.Config{}), MPS: []device.Device{mps}})
	require.NoError(t, err)
	w := &world{T: t, rt: rt}
	w.cpu, err = rt.Context(place.CPU)
	require.NoError(t, err)
	w.mps, err = rt.Context(place.MPS(0))
	require.NoError(t, err)
	t.Cleanup(func() {
		require.Zero(t, rt.Live(), "tensors leaked")
		for _, c := range []*runtime.Context{w.cpu, w.mps} {
			c.Synchronize()
			st := c.Stats()
			require.Zero(t, st.Allocated.Current, "%s leaked", c.Place())
			require.Zero(t, st.BadFrees)
		}
		require.NoError(t, rt.Close())
	})
	return w
}

// f32 makes a float32 tensor that the test frees by itself.
func (w *world) f32(c *runtime.Context, values []float32, dims ...int64) *runtime.Tensor {
	s, err := shape.Of(dims...)
	require.NoError(w, err)
	t, err := w.rt.Empty(c, dtype.Float32, s, nil)
	require.NoError(w, err)
	b := make([]byte, 4*len(values))
	for i, v := range values {
		binary.LittleEndian.PutUint32(b[4*i:], math.Float32bits(v))
	}
	require.NoError(w, t.Write(b))
	return t
}

// floats reads a tensor of float32.
func (w *world) floats(t *runtime.Tensor) []float32 {
	b := make([]byte, t.Layout.Numel()*4)
	require.NoError(w, t.Read(b))
	out := make([]float32, len(b)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return out
}

func (w *world) free(ts ...*runtime.Tensor) {
	for _, t := range ts {
		require.True(w, w.rt.Free(t.Handle()))
	}
}

func (w *world) call(name string, in []runtime.Operand, at ...op.Value) *runtime.Tensor {
	ts, err := w.try(name, in, at...)
	require.NoError(w, err)
	require.Len(w, ts, 1)
	return ts[0]
}

func (w *world) try(name string, in []runtime.Operand, at ...op.Value) ([]*runtime.Tensor, error) {
	row := op.MustByName(name)
	full := make(op.Attrs, len(row.Attrs))
	copy(full, at)
	return eager.Call(w.rt, row, in, full, nil, nil)
}

func of(ts ...*runtime.Tensor) (in []runtime.Operand) {
	for _, t := range ts {
		in = append(in, runtime.Operand{Tensor: t})
	}
	return in
}

func ints(v ...int64) op.Value { return op.Value{Kind: op.Ints, Ints: v} }

func (w *world) each(f func(w *world, c *runtime.Context)) {
	for _, c := range []*runtime.Context{w.cpu, w.mps} {
		w.Run(c.Place().String(), func(t *testing.T) { f(&world{t, w.rt, w.cpu, w.mps}, c) })
	}
}

func TestBroadcastAdd(t *testing.T) {
	newWorld(t).each(func(w *world, c *runtime.Context) {
		x, y := w.f32(c, []float32{1, 2, 3, 4, 5, 6}, 2, 3), w.f32(c, []float32{10, 20, 30}, 3)
		z := w.call("add", of(x, y))
		require.Equal(w, []float32{11, 22, 33, 14, 25, 36}, w.floats(z))
		q := w.call("multiply", []runtime.Operand{{Tensor: z}, {Value: op.Value{Kind: op.Int, I: 2}}})
		require.Equal(w, []float32{22, 44, 66, 28, 50, 72}, w.floats(q))
		w.free(x, y, z, q)
	})
}

func TestViewsShareAndCopiesDoNot(t *testing.T) {
	newWorld(t).each(func(w *world, c *runtime.Context) {
		x := w.f32(c, []float32{1, 2, 3, 4, 5, 6}, 2, 3)
		v := w.call("transpose", of(x), ints(1, 0))
		require.Equal(w, []float32{1, 4, 2, 5, 3, 6}, w.floats(v))
		require.Equal(w, x.StorageID(), v.StorageID())
		flat := w.call("reshape", of(v), ints(-1)) // strides cannot say it: a copy
		require.NotEqual(w, x.StorageID(), flat.StorageID())
		require.Equal(w, []float32{1, 4, 2, 5, 3, 6}, w.floats(flat))
		e := w.call("expand", of(x), ints(2, 2, 3))
		require.NotEqual(w, x.StorageID(), e.StorageID(), "expand copies, as in Paddle")
		last, err := x.Index([]runtime.IndexItem{{Kind: runtime.IndexEllipsis}, {Kind: runtime.IndexSlice, Has: 4, Step: -1}})
		require.NoError(w, err)
		require.Equal(w, []float32{3, 2, 1, 6, 5, 4}, w.floats(last))
		w.free(x) // the others keep the storage alive
		require.Equal(w, []float32{1, 4, 2, 5, 3, 6}, w.floats(v))
		w.free(v, flat, e, last)
	})
}

func TestAssembly(t *testing.T) {
	newWorld(t).each(func(w *world, c *runtime.Context) {
		x, y := w.f32(c, []float32{1, 2, 3, 4}, 2, 2), w.f32(c, []float32{5, 6}, 2, 1)
		for _, test := range []struct {
			name string
			in   []*runtime.Tensor
			at   op.Value
			want []float32
		}{
			{"concat", []*runtime.Tensor{x, y}, op.Value{Kind: op.Int, I: 1}, []float32{1, 2, 5, 3, 4, 6}},
			{"stack", []*runtime.Tensor{x, x}, op.Value{Kind: op.Int, I: -1}, []float32{1, 1, 2, 2, 3, 3, 4, 4}},
			{"tile", []*runtime.Tensor{x}, ints(2, 1, 3), []float32{1, 2, 1, 2, 1, 2, 3, 4, 3, 4, 3, 4, 1, 2, 1, 2, 1, 2, 3, 4, 3, 4, 3, 4}},
			{"flip", []*runtime.Tensor{x}, ints(0, 1), []float32{4, 3, 2, 1}},
		} {
			z := w.call(test.name, of(test.in...), test.at)
			require.Equal(w, test.want, w.floats(z), test.name)
			w.free(z)
		}
		w.free(x, y)
	})
}

func TestPlacesDoNotMix(t *testing.T) {
	w := newWorld(t)
	x, y := w.f32(w.cpu, []float32{1, 2}, 2), w.f32(w.mps, []float32{3, 4}, 2)
	_, err := w.try("add", of(x, y))
	require.ErrorContains(t, err, "cpu")
	require.ErrorContains(t, err, "mps:0")
	s := w.f32(w.cpu, []float32{10})
	z := w.call("add", of(s, y)) // a 0-d CPU tensor may stand beside
	require.Equal(t, place.MPS(0), z.Place())
	require.Equal(t, []float32{13, 14}, w.floats(z))
	moved, err := x.To(w.mps, false, nil)
	require.NoError(t, err)
	sum := w.call("add", of(moved, y))
	require.Equal(t, []float32{4, 6}, w.floats(sum))
	w.free(x, y, s, z, moved, sum)
}

func TestInPlaceOverlap(t *testing.T) {
	newWorld(t).each(func(w *world, c *runtime.Context) {
		x := w.f32(c, []float32{1, 2, 3, 4, 5}, 5)
		slice := func(from, to int64) *runtime.Tensor {
			v, err := x.Index([]runtime.IndexItem{{Kind: runtime.IndexSlice, Has: 3, Start: from, Stop: to}})
			require.NoError(w, err)
			return v
		}
		head, tail := slice(0, 4), slice(1, 5)
		require.NoError(w, eager.CallInto(w.rt, op.MustByName("add"), of(head, head), nil, tail, nil))
		require.Equal(w, []float32{1, 2, 4, 6, 8}, w.floats(x))
		require.NoError(w, eager.CallInto(w.rt, op.MustByName("add"), of(x, x), nil, x, nil))
		require.Equal(w, []float32{2, 4, 8, 12, 16}, w.floats(x))
		w.free(x, head, tail)
	})
}

// TestStreamsOrderThemselves: work that uses what another stream writes waits for it without a call of the user, in
// every direction.
func TestStreamsOrderThemselves(t *testing.T) {
	w := newWorld(t)
	a, err := w.mps.NewStream()
	require.NoError(t, err)
	b, err := w.mps.NewStream()
	require.NoError(t, err)
	add := op.MustByName("add")
	n := int64(1 << 16)
	ones := make([]float32, n)
	for i := range ones {
		ones[i] = 1
	}
	x, one := w.f32(w.mps, make([]float32, n), n), w.f32(w.mps, ones, n)
	for i := range 200 {
		on := a
		if i%3 == 0 {
			on = b
		}
		require.NoError(t, eager.CallInto(w.rt, add, of(x, one), nil, x, on))
	}
	got := w.floats(x)
	for i := range got {
		require.EqualValues(t, 200, got[i], "element %d", i)
	}
	w.free(x, one)
	require.NoError(t, a.Close())
	require.NoError(t, b.Close())
}

// TestAsynchronousFailure: a failure on a device with queues is returned to every reader of what depends on it, and
// reported once by the stream, which stays usable.
func TestAsynchronousFailure(t *testing.T) {
	w := newWorld(t)
	s, err := shape.Of(4)
	require.NoError(t, err)
	int32s := func(v ...int32) *runtime.Tensor {
		x, err := w.rt.Empty(w.mps, dtype.Int32, s, nil)
		require.NoError(t, err)
		require.NoError(t, x.Write(unsafe.Slice((*byte)(unsafe.Pointer(&v[0])), 16)))
		return x
	}
	x, zero, one := int32s(1, 2, 3, 4), int32s(1, 0, 1, 1), int32s(1, 1, 1, 1)
	bad := w.call("floor_divide", of(x, zero))
	worse := w.call("add", of(bad, x))
	fine := w.call("add", of(x, one))
	require.NoError(t, fine.Read(make([]byte, 16)))
	for _, y := range []*runtime.Tensor{bad, worse} {
		err := y.Read(make([]byte, 16))
		require.Equal(t, status.Math, status.CodeOf(err))
		require.ErrorContains(t, err, "[floor_divide]")
	}
	require.Error(t, w.mps.Synchronize())
	require.NoError(t, w.mps.Synchronize(), "reported once")
	again := w.call("floor_divide", of(x, one))
	require.NoError(t, again.Read(make([]byte, 16)))
	w.free(x, zero, one, bad, worse, fine, again)
}

func BenchmarkAdd8(b *testing.B) {
	rt, err := runtime.New(runtime.Config{CPU: host.New(host.Config{})})
	require.NoError(b, err)
	c, _ := rt.Context(place.CPU)
	s, _ := shape.Of(8)
	x, _ := rt.Empty(c, dtype.Float32, s, nil)
	y, _ := rt.Empty(c, dtype.Float32, s, nil)
	add := op.MustByName("add")
	b.ReportAllocs()
	for b.Loop() {
		px, py := rt.Acquire(x.Handle()), rt.Acquire(y.Handle())
		z, err := eager.Binary(rt, add, runtime.Operand{Tensor: px}, runtime.Operand{Tensor: py}, nil)
		if err != nil {
			b.Fatal(err)
		}
		px.Release()
		py.Release()
		rt.Free(z.Handle())
	}
}
