package metal_test

import (
	"bytes"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/eager"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/internal/fakemetal"
	"github.com/paddle-mps/paddle-mps/kernels/metal"
)

// page is what the GPU takes memory in, whatever the machine of the test does.
const page = 16 << 10

// pages is memory of the test that begins with a page, mapped to the end of its last one.
func pages(t *testing.T, size int) []byte {
	length := (size+page-1)/page*page + page
	mapped, err := syscall.Mmap(-1, 0, length, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, syscall.Munmap(mapped)) })
	behind := int(uintptr(unsafe.Pointer(&mapped[0])) % page)
	return mapped[(page-behind)%page:][:size]
}

// numbers is memory as float32.
func numbers(b []byte) []float32 {
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/4)
}

// lend makes a square matrix of the GPU over memory of the test, which counts in freed that it is back.
func (w *world) lend(b []byte, freed *atomic.Int64, n int64) (*runtime.Tensor, error) {
	s, err := shape.Of(n, n)
	require.NoError(w, err)
	x, err := w.rt.Import(dtype.Float32, shape.Contiguous(s), unsafe.Pointer(unsafe.SliceData(b)), func() { freed.Add(1) })
	require.NoError(w, err)
	defer w.free(x)
	return x.Share(w.gpu)
}

func (w *world) run(name string, x, y *runtime.Tensor) *runtime.Tensor {
	row := op.MustByName(name)
	in := []runtime.Operand{{Tensor: x}, {Tensor: y}}
	made, err := eager.Call(w.rt, row, in, make(op.Attrs, len(row.Attrs)), nil, nil)
	require.NoError(w, err)
	return made[0]
}

// TestShare computes in memory of the test both ways, with lengths that MPSGraph can be fed and one that
// has to be carried around for it, and copies nothing.
func TestShare(t *testing.T) {
	for name, prefer := range map[string]metal.Prefer{"shaders": metal.PreferShaders, "graphs": metal.PreferGraphs} {
		for _, n := range []int64{64, 7} {
			t.Run(name, func(t *testing.T) { share(newWorldOf(t, metal.Config{Prefer: prefer}), n) })
		}
	}
}

func share(w *world, n int64) {
	memory := pages(w.T, int(4*n*n))
	values := numbers(memory)
	for i := range values {
		values[i] = float32(i % 3)
	}
	objects := fakemetal.Settled(w)
	var freed atomic.Int64
	x, err := w.lend(memory, &freed, n)
	require.NoError(w, err)
	require.EqualValues(w, 1, fakemetal.Count(w, "live_objects")-objects, "one buffer")

	square := w.run("matmul", x, x)
	require.NoError(w, eager.CallInto(w.rt, op.MustByName("add"), []runtime.Operand{{Tensor: x}, {Tensor: x}}, nil, x, nil))
	require.NoError(w, eager.CallInto(w.rt, op.MustByName("matmul"), []runtime.Operand{{Tensor: square}, {Tensor: square}}, op.Attrs{{}, {}}, x, nil))
	require.NoError(w, w.gpu.Synchronize())
	calls, _ := w.gpu.CopyCount()
	require.Zero(w, calls)
	require.Zero(w, fakemetal.Count(w, "copied_bytes"))
	first, _, err := w.first(x)
	require.NoError(w, err)
	require.Equal(w, fourth(n), first)
	require.Equal(w, first, values[0], "in the memory of the test")

	w.free(x, square)
	require.EqualValues(w, 1, freed.Load())
}

// fourth is the first element of the fourth power of the matrix that share begins with; small integers,
// exact in float32 whatever the order of the sums.
func fourth(n int64) float32 {
	product := func(a, b []float64) []float64 {
		c := make([]float64, n*n)
		for i := range n * n {
			for k := range n {
				c[i] += a[i/n*n+k] * b[k*n+i%n]
			}
		}
		return c
	}
	m := make([]float64, n*n)
	for i := range m {
		m[i] = float64(i % 3)
	}
	square := product(m, m)
	return float32(product(square, square)[0])
}

// TestShareLeavesTheRest computes in odd lengths and finds what lies behind them as it was.
func TestShareLeavesTheRest(t *testing.T) {
	for _, prefer := range []metal.Prefer{metal.PreferShaders, metal.PreferGraphs} {
		w := newWorldOf(t, metal.Config{Prefer: prefer})
		for _, d := range []dtype.DType{dtype.Uint8, dtype.Float16, dtype.Float32} {
			memory := pages(t, page)
			for i := range memory {
				memory[i] = 0x21
			}
			s, err := shape.Of(67)
			require.NoError(t, err)
			here, err := w.rt.Import(d, shape.Contiguous(s), unsafe.Pointer(&memory[0]), nil)
			require.NoError(t, err)
			x, err := here.Share(w.gpu)
			require.NoError(t, err)
			y := w.run("multiply", x, x)
			for name, in := range map[string][]runtime.Operand{
				"add": {{Tensor: x}, {Tensor: x}}, "abs": {{Tensor: x}}, "assign": {{Tensor: y}},
			} {
				require.NoError(t, eager.CallInto(w.rt, op.MustByName(name), in, nil, x, nil))
			}
			require.NoError(t, w.gpu.Synchronize())
			used := int(67 * d.Size())
			require.Equal(t, bytes.Repeat([]byte{0x21}, page-used), memory[used:])
			w.free(here, x, y)
		}
	}
}

// TestShareGivesBack returns memory when the GPU has passed it, with no object left over.
func TestShareGivesBack(t *testing.T) {
	w := newWorld(t)
	memory := pages(t, page)
	var freed atomic.Int64
	var settled int64
	for round := range 4 {
		x, err := w.lend(memory, &freed, 64)
		require.NoError(t, err)
		y := w.run("add", x, x)
		w.free(x, y)
		require.NoError(t, w.gpu.Synchronize())
		require.Eventually(t, func() bool { return freed.Load() == int64(round+1) }, time.Minute, time.Millisecond)
		if round == 0 {
			settled = fakemetal.Count(t, "live_objects")
		}
	}
	ended := func() bool { return fakemetal.Count(t, "live_objects") <= settled } // workers drop theirs a little later
	require.Eventually(t, ended, time.Minute, time.Millisecond)
}

// TestShareWants says how the memory would have to lie, or that the GPU has no room, and leaves it alone.
func TestShareWants(t *testing.T) {
	w := newWorld(t)
	memory := pages(t, 2*page)
	var freed atomic.Int64
	_, err := w.lend(memory[4:], &freed, 8)
	require.Equal(t, status.Unsupported, status.CodeOf(err))
	require.ErrorContains(t, err, "[share] the memory begins 4 bytes behind the start of a page; want")
	fakemetal.Fail(t, "buffer", 1, 0)
	_, err = w.lend(memory, &freed, 8)
	require.Equal(t, status.Unsupported, status.CodeOf(err), "Metal does not say why, so that a copy may be tried")
	require.EqualValues(t, 2, freed.Load(), "with the CPU's tensors")
	x, err := w.lend(memory, &freed, 8)
	require.NoError(t, err)
	w.free(x)
}
