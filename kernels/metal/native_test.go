package metal_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/native"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/internal/fakemetal"
	"github.com/paddle-mps/paddle-mps/objc"
	"github.com/paddle-mps/paddle-mps/objc/mtl"
)

// TestBorrowedObjects does with the borrowed objects what another user of Metal would: a copy from one tensor
// to another on the stream's queue, between work of the library, which begins when the copy has ended.
func TestBorrowedObjects(t *testing.T) {
	w := newWorld(t)
	s, err := w.gpu.NewStream()
	require.NoError(t, err)
	x, z := w.filled(w.gpu, 1, 256), w.filled(w.gpu, 0, 256)
	y := w.add(x, x, s)
	from, at, err := native.Buffer(y)
	require.NoError(t, err)
	part, err := z.Index([]runtime.IndexItem{{Kind: runtime.IndexSlice, Has: 1, Start: 128}})
	require.NoError(t, err)
	to, there, err := native.Buffer(part)
	require.NoError(t, err)
	_, whole, err := native.Buffer(z)
	require.NoError(t, err)
	require.EqualValues(t, 4*128, there-whole)

	commits := fakemetal.Count(t, "commits")
	queue, err := native.Queue(s)
	require.NoError(t, err)
	require.EqualValues(t, 1, fakemetal.Count(t, "commits")-commits, "what is open is committed")
	done := copyOn(mtl.CommandQueue(queue), mtl.Buffer(from), at, mtl.Buffer(to), there, 4*128)
	defer objc.Release(done)
	done.WaitUntilCompleted()
	sum := w.add(z, z, s)
	require.Equal(t, []float32{0, 4}, []float32{w.values(sum)[127], w.values(sum)[128]})
	w.free(x, y, z, part, sum)
	require.NoError(t, s.Close())
}

// copyOn commits a copy of n bytes and answers the command buffer, +1.
func copyOn(q mtl.CommandQueue, from mtl.Buffer, at uint64, to mtl.Buffer, there, n uint64) mtl.CommandBuffer {
	defer objc.Pool().Close()
	b := objc.Retain(q.CommandBuffer())
	encoder := b.BlitCommandEncoder()
	encoder.Copy(from, at, to, there, n)
	encoder.EndEncoding()
	b.Commit()
	return b
}

// TestQueueWaitsForOthers takes the queue of a stream that stays behind another: its work is over by then.
func TestQueueWaitsForOthers(t *testing.T) {
	w := newWorld(t)
	s, err := w.gpu.NewStream()
	require.NoError(t, err)
	x := w.filled(w.gpu, 1, 1000)
	y := w.add(x, x, nil)
	z := w.add(y, y, s)
	_, err = native.Queue(s)
	require.NoError(t, err)
	require.True(t, w.gpu.Default().Query(), "the other stream's work is done")
	first, _, err := w.first(z)
	require.NoError(t, err)
	require.EqualValues(t, 4, first)
	w.free(x, y, z)
	require.NoError(t, s.Close())
}

func TestBorrowedFromTheCPU(t *testing.T) {
	w := newWorld(t)
	x := w.filled(w.cpu, 1, 4)
	_, _, err := native.Buffer(x)
	require.EqualError(t, err, "[tensor_get_metal] cpu runs on device host; want device metal")
	_, err = native.Queue(w.cpu.Default())
	require.Equal(t, status.Unsupported, status.CodeOf(err))
	_, err = native.Object(w.cpu)
	require.Equal(t, status.Unsupported, status.CodeOf(err))
	object, err := native.Object(w.gpu)
	require.NoError(t, err)
	require.NotZero(t, object)
	w.free(x)
}

func TestCapture(t *testing.T) {
	w := newWorld(t)
	path := filepath.Join(t.TempDir(), "trace.gputrace")
	require.False(t, native.CanCapture(w.gpu))
	err := native.BeginCapture(w.gpu, path)
	require.Equal(t, status.Unsupported, status.CodeOf(err))
	require.ErrorContains(t, err, "want MTL_CAPTURE_ENABLED=1")
	require.Equal(t, status.Invalid, status.CodeOf(native.EndCapture(w.gpu)), "nothing to end")

	t.Setenv("MTL_CAPTURE_ENABLED", "1")
	require.True(t, native.CanCapture(w.gpu))
	require.False(t, native.Capturing(w.gpu))
	require.NoError(t, native.BeginCapture(w.gpu, path))
	require.True(t, native.Capturing(w.gpu))
	require.ErrorContains(t, native.BeginCapture(w.gpu, path), "a capture is under way")
	x := w.filled(w.gpu, 1, 4)
	y := w.add(x, x, nil)
	require.NoError(t, native.EndCapture(w.gpu))
	require.True(t, w.gpu.Default().Query(), "the work is in the document")
	require.False(t, native.Capturing(w.gpu))
	require.FileExists(t, path)
	require.ErrorContains(t, native.BeginCapture(w.gpu, path), "exists")
	w.free(x, y)

	require.False(t, native.CanCapture(w.cpu))
	require.False(t, native.Capturing(w.cpu))
	require.Equal(t, status.Unsupported, status.CodeOf(native.BeginCapture(w.cpu, path)))
	require.Equal(t, status.Unsupported, status.CodeOf(native.EndCapture(w.cpu)))
}
