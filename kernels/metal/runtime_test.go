package metal_test

import (
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
	"github.com/paddle-mps/paddle-mps/internal/fakemetal"
	"github.com/paddle-mps/paddle-mps/kernels/host"
	"github.com/paddle-mps/paddle-mps/kernels/metal"
	"github.com/paddle-mps/paddle-mps/place"
)

// world is a runtime with a CPU and the GPU.
type world struct {
	*testing.T
	rt       *runtime.Runtime
	cpu, gpu *runtime.Context
}

// newWorld has work linger until a call waits for it, so that counts are exact.
func newWorld(t *testing.T) *world { return newWorldOf(t, metal.Config{Linger: -1}) }

func newWorldOf(t *testing.T, config metal.Config) *world {
	config.Library = fakemetal.Library(t)
	d, err := metal.Open(config)
	require.NoError(t, err)
	rt, err := runtime.New(runtime.Config{CPU: host.New(host.Config{}), MPS: []device.Device{d}})
	require.NoError(t, err)
	w := &world{T: t, rt: rt}
	w.cpu, err = rt.Context(place.CPU)
	require.NoError(t, err)
	w.gpu, err = rt.Context(place.MPS(0))
	require.NoError(t, err)
	t.Cleanup(func() {
		require.Zero(t, rt.Live(), "tensors leaked")
		require.NoError(t, rt.Close())
	})
	fakemetal.Reset(t)
	return w
}

// filled is a line of n equal elements.
func (w *world) filled(c *runtime.Context, v float32, n int64) *runtime.Tensor {
	s, err := shape.Of(n)
	require.NoError(w, err)
	t, err := w.rt.Empty(c, dtype.Float32, s, nil)
	require.NoError(w, err)
	values := make([]float32, n)
	for i := range values {
		values[i] = v
	}
	require.NoError(w, t.Write(unsafe.Slice((*byte)(unsafe.Pointer(&values[0])), 4*n)))
	return t
}

// first reads a tensor and returns its first and its last element.
func (w *world) first(t *runtime.Tensor) (float32, float32, error) {
	values := make([]float32, t.Numel())
	err := t.Read(unsafe.Slice((*byte)(unsafe.Pointer(&values[0])), 4*len(values)))
	return values[0], values[len(values)-1], err
}

func (w *world) add(x, y *runtime.Tensor, on *runtime.Stream) *runtime.Tensor {
	z, err := eager.Binary(w.rt, op.MustByName("add"), runtime.Operand{Tensor: x}, runtime.Operand{Tensor: y}, on)
	require.NoError(w, err)
	return z
}

func (w *world) free(ts ...*runtime.Tensor) {
	for _, t := range ts {
		require.True(w, w.rt.Free(t.Handle()))
	}
}

// TestChain adds and frees what it does not need any more, on two streams that the runtime keeps in order.
func TestChain(t *testing.T) {
	w := newWorld(t)
	second, err := w.gpu.NewStream()
	require.NoError(t, err)
	total, one := w.filled(w.gpu, 0, 1000), w.filled(w.gpu, 1, 1000)
	const steps = 300
	for i := range steps {
		on := w.gpu.Default()
		if i%3 == 0 {
			on = second
		}
		next := w.add(total, one, on)
		w.free(total)
		total = next
	}
	low, high, err := w.first(total)
	require.NoError(t, err)
	require.EqualValues(t, steps, low)
	require.EqualValues(t, steps, high)
	require.NoError(t, w.gpu.Synchronize())
	require.LessOrEqual(t, fakemetal.Count(t, "dispatches"), int64(steps))
	w.free(total, one)
	require.NoError(t, second.Close())
}

// TestPlaces takes tensors from the CPU to the GPU and back, behind the work that makes them.
func TestPlaces(t *testing.T) {
	w := newWorld(t)
	for _, n := range []int64{10, 100_000} {
		x := w.filled(w.cpu, 3, n)
		up, err := x.To(w.gpu, true, nil)
		require.NoError(t, err)
		double := w.add(up, up, nil)
		down, err := double.To(w.cpu, true, nil)
		require.NoError(t, err)
		w.free(double, up, x)
		low, high, err := w.first(down)
		require.NoError(t, err)
		require.EqualValues(t, 6, low)
		require.EqualValues(t, 6, high)
		w.free(down)
	}
}

// TestFailuresTravel marks what a failed command buffer was to compute, and what is computed from that.
func TestFailuresTravel(t *testing.T) {
	w := newWorld(t)
	x := w.filled(w.gpu, 1, 10)
	warm := w.add(x, x, nil)
	require.NoError(t, w.gpu.Synchronize())
	fakemetal.Fail(t, "command_buffer", 1, 2)
	lost := w.add(x, x, nil)
	require.Error(t, w.gpu.Synchronize())
	require.NoError(t, w.gpu.Synchronize(), "reported once")
	later := w.add(lost, x, nil)
	for _, y := range []*runtime.Tensor{lost, later} {
		_, _, err := w.first(y)
		require.Equal(t, status.Device, status.CodeOf(err))
		require.ErrorContains(t, err, "[add]")
	}
	good := w.add(x, x, nil)
	low, _, err := w.first(good)
	require.NoError(t, err)
	require.False(t, math.IsNaN(float64(low)))
	require.EqualValues(t, 2, low)
	w.free(x, warm, lost, later, good)
}
