package runtime_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"
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

// foreign is memory of the test as a CPU tensor, and how often its owner was notified that it is free.
type foreign struct {
	values []float32
	freed  atomic.Int64
}

func (w *world) foreign(values ...float32) (*foreign, *runtime.Tensor) {
	f := &foreign{values: values}
	s, err := shape.Of(int64(len(values)))
	require.NoError(w, err)
	t, err := w.rt.Import(dtype.Float32, shape.Contiguous(s), unsafe.Pointer(unsafe.SliceData(values)), func() { f.freed.Add(1) })
	require.NoError(w, err)
	return f, t
}

// add is x + y.
func (w *world) add(x, y *runtime.Tensor, on *runtime.Stream) *runtime.Tensor {
	z, err := eager.Binary(w.rt, op.MustByName("add"), runtime.Operand{Tensor: x}, runtime.Operand{Tensor: y}, on)
	require.NoError(w, err)
	return z
}

// addInto writes x + y to out.
func (w *world) addInto(out, x, y *runtime.Tensor, on *runtime.Stream) {
	in := []runtime.Operand{{Tensor: x}, {Tensor: y}}
	require.NoError(w, eager.CallInto(w.rt, op.MustByName("add"), in, nil, out, on))
}

// TestShare computes in the memory of the test without a copy, also through a view.
func TestShare(t *testing.T) {
	w := newWorld(t)
	f, x := w.foreign(1, 2, 3, 4)
	there, err := x.Share(w.mps)
	require.NoError(t, err)
	require.Equal(t, w.mps, there.Context())
	w.addInto(there, there, there, nil)
	require.NoError(t, w.mps.Synchronize())
	require.Equal(t, []float32{2, 4, 6, 8}, f.values)

	tail, err := x.Index([]runtime.IndexItem{{Kind: runtime.IndexSlice, Has: 1, Start: 2}})
	require.NoError(t, err)
	end, err := tail.Share(w.mps)
	require.NoError(t, err)
	require.EqualValues(t, 2, end.Offset)
	f.values[3] = 9
	calls, _ := w.mps.CopyCount()
	require.Zero(t, calls)
	require.Equal(t, []float32{6, 9}, w.floats(end))

	back, err := end.Share(w.cpu)
	require.NoError(t, err)
	require.Equal(t, []float32{6, 9}, w.floats(back))
	same, err := there.Share(w.mps)
	require.NoError(t, err)
	require.Equal(t, there.StorageID(), same.StorageID())

	w.free(x, tail, there, same, end)
	require.Zero(t, f.freed.Load(), "one view is left")
	w.free(back)
	require.EqualValues(t, 1, f.freed.Load())
}

// TestShareOwnMemory shares a block of the device as a tensor of the CPU, which keeps it alive.
func TestShareOwnMemory(t *testing.T) {
	w := newWorld(t)
	x := w.f32(w.mps, []float32{1, 2}, 2)
	here, err := x.Share(w.cpu)
	require.NoError(t, err)
	w.free(x)
	require.NotZero(t, w.mps.Stats().Allocated.Current)
	require.Equal(t, []float32{1, 2}, w.floats(here))
	w.free(here)
}

// TestShareEmpty shares tensors without elements, which no device refuses.
func TestShareEmpty(t *testing.T) {
	w := newWorldOn(t, &device.Null{})
	f, x := w.foreign()
	there, err := x.Share(w.mps)
	require.NoError(t, err)
	w.free(x, there)
	require.EqualValues(t, 1, f.freed.Load())
}

// TestShareRefused: a tensor whose memory the device does not accept stays as it was.
func TestShareRefused(t *testing.T) {
	w := newWorldOn(t, &device.Null{})
	f, x := w.foreign(1)
	_, err := x.Share(w.mps)
	require.Equal(t, status.Unsupported, status.CodeOf(err))
	require.ErrorContains(t, err, "[share]")
	require.Zero(t, f.freed.Load())
	w.free(x)
	require.EqualValues(t, 1, f.freed.Load())

	steered, d := newSteeredWorld(t, -1)
	d.refusal = errors.New("not this memory")
	f, x = steered.foreign(1)
	_, err = x.Share(steered.mps)
	require.ErrorIs(t, err, d.refusal)
	steered.free(x)
	require.EqualValues(t, 1, f.freed.Load())
}

// TestShareOutlivesWork: the owner is notified when the last stream has passed its use, not before, and the
// caller that frees the tensor does not wait for it.
func TestShareOutlivesWork(t *testing.T) {
	w, d := newSteeredWorld(t, -1)
	streams := w.streams(2)
	f, x := w.foreign(1, 2)
	there, err := x.Share(w.mps)
	require.NoError(t, err)
	first, second := d.gate(), d.gate()
	sum := w.add(there, there, streams[0])
	twice := w.add(there, there, streams[1])
	w.free(x, there)
	first()
	require.NoError(t, streams[0].Synchronize())
	require.Zero(t, f.freed.Load(), "the other stream still reads")
	second()
	require.Equal(t, []float32{2, 4}, w.floats(twice))
	require.Equal(t, []float32{2, 4}, w.floats(sum))
	require.Eventually(t, func() bool { return f.freed.Load() == 1 }, time.Minute, time.Millisecond)
	require.EqualValues(t, 1, d.adopted.Load())
	require.EqualValues(t, 1, d.returned.Load())
	w.free(sum, twice)
}

// TestCloseAwaitsOwners: Close waits until all foreign memory has been returned to its owners.
func TestCloseAwaitsOwners(t *testing.T) {
	d := &steered{Device: host.New(host.Config{Async: true, InlineLimit: -1})}
	rt, err := runtime.New(runtime.Config{CPU: host.New(host.Config{}), MPS: []device.Device{d}})
	require.NoError(t, err)
	w := &world{T: t, rt: rt}
	w.mps, err = rt.Context(place.MPS(0))
	require.NoError(t, err)
	f, x := w.foreign(1, 2)
	there, err := x.Share(w.mps)
	require.NoError(t, err)
	d.next(func() error { time.Sleep(20 * time.Millisecond); return nil })
	w.addInto(there, there, there, nil)
	w.free(x, there)
	require.NoError(t, rt.Close())
	require.EqualValues(t, 1, f.freed.Load())
	require.Equal(t, []float32{2, 4}, f.values)
}

// TestShareHammer shares, computes and frees on many streams at once; the owner overwrites the memory as soon as
// it is notified.
func TestShareHammer(t *testing.T) {
	w, d := newSteeredWorld(t, -1)
	d.each = naps(1)
	var wg sync.WaitGroup
	var freed atomic.Int64
	const workers, rounds, n = 8, 40, 64
	for i := range workers {
		s := w.streams(1)[0]
		wg.Go(func() {
			for r := range rounds {
				values := filled(n, float32(i+r))
				sh, _ := shape.Of(n)
				x, err := w.rt.Import(dtype.Float32, shape.Contiguous(sh), unsafe.Pointer(&values[0]), func() {
					copy(values, filled(n, -1))
					freed.Add(1)
				})
				require.NoError(t, err)
				there, err := x.Share(w.mps)
				require.NoError(t, err)
				sum := w.add(there, there, s)
				w.free(x, there)
				require.Equal(t, filled(n, 2*float32(i+r)), w.floats(sum))
				w.free(sum)
			}
		})
	}
	wg.Wait()
	require.Eventually(t, func() bool { return freed.Load() == workers*rounds }, time.Minute, time.Millisecond)
	require.Equal(t, d.adopted.Load(), d.returned.Load())
}

// TestCopyCount counts copies to and from a device.
func TestCopyCount(t *testing.T) {
	w := newWorld(t)
	counted := func(c *runtime.Context, calls, bytes int64) {
		t.Helper()
		n, b := c.CopyCount()
		require.Equal(t, [2]int64{calls, bytes}, [2]int64{n, b}, "%s", c.Place())
	}
	x := w.f32(w.mps, []float32{1, 2, 3}, 3)
	counted(w.mps, 1, 12)
	sum := w.add(x, x, nil)
	counted(w.mps, 1, 12)
	w.floats(sum)
	counted(w.mps, 2, 24)
	here, err := sum.To(w.cpu, true, nil)
	require.NoError(t, err)
	counted(w.mps, 3, 36)
	counted(w.cpu, 1, 12)
	w.free(x, sum, here)
}
