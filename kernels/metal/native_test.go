package metal_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

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
	from, at, err := y.Buffer()
	require.NoError(t, err)
	part, err := z.Index([]runtime.IndexItem{{Kind: runtime.IndexSlice, Has: 1, Start: 128}})
	require.NoError(t, err)
	to, there, err := part.Buffer()
	require.NoError(t, err)
	_, whole, err := z.Buffer()
	require.NoError(t, err)
	require.EqualValues(t, 4*128, there-whole)

	commits := fakemetal.Count(t, "commits")
	queue, err := s.Queue()
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
	_, err = s.Queue()
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
	_, _, err := x.Buffer()
	require.EqualError(t, err, "[tensor_get_metal] cpu runs on device host; want device metal")
	_, err = w.cpu.Default().Queue()
	require.Equal(t, status.Unsupported, status.CodeOf(err))
	_, err = w.cpu.Object()
	require.Equal(t, status.Unsupported, status.CodeOf(err))
	object, err := w.gpu.Object()
	require.NoError(t, err)
	require.NotZero(t, object)
	w.free(x)
}

func TestCapture(t *testing.T) {
	w := newWorld(t)
	path := filepath.Join(t.TempDir(), "trace.gputrace")
	require.False(t, w.gpu.CanCapture())
	err := w.gpu.BeginCapture(path)
	require.Equal(t, status.Unsupported, status.CodeOf(err))
	require.ErrorContains(t, err, "want MTL_CAPTURE_ENABLED=1")
	require.Equal(t, status.Invalid, status.CodeOf(w.gpu.EndCapture()), "nothing to end")

	t.Setenv("MTL_CAPTURE_ENABLED", "1")
	require.True(t, w.gpu.CanCapture())
	require.False(t, w.gpu.Capturing())
	require.NoError(t, w.gpu.BeginCapture(path))
	require.True(t, w.gpu.Capturing())
	require.ErrorContains(t, w.gpu.BeginCapture(path), "a capture is under way")
	x := w.filled(w.gpu, 1, 4)
	y := w.add(x, x, nil)
	require.NoError(t, w.gpu.EndCapture())
	require.True(t, w.gpu.Default().Query(), "the work is in the document")
	require.False(t, w.gpu.Capturing())
	require.FileExists(t, path)
	require.ErrorContains(t, w.gpu.BeginCapture(path), "exists")
	w.free(x, y)

	require.False(t, w.cpu.CanCapture())
	require.False(t, w.cpu.Capturing())
	require.Equal(t, status.Unsupported, status.CodeOf(w.cpu.BeginCapture(path)))
	require.Equal(t, status.Unsupported, status.CodeOf(w.cpu.EndCapture()))
}
