package gpu_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/internal/fakemetal"
	"github.com/paddle-mps/paddle-mps/kernels/metal"
	"github.com/paddle-mps/paddle-mps/kernels/metal/gpu"
	"github.com/paddle-mps/paddle-mps/kernels/metal/metaltest"
	"github.com/paddle-mps/paddle-mps/objc"
)

// heap is one of 4 MiB, with operands in it.
func heap(t *testing.T) (h *gpu.Heap, at func(offset int64, d dtype.DType, n int64) device.Operand) {
	_, h, at = heapOf(t)
	return h, at
}

// heapOf is heap with its device.
func heapOf(t *testing.T) (d *metal.Device, h *gpu.Heap, at func(offset int64, d dtype.DType, n int64) device.Operand) {
	d, err := metal.Open(metal.Config{Library: fakemetal.Library(t)})
	require.NoError(t, err)
	made, err := d.NewHeap(4 << 20)
	require.NoError(t, err)
	h = made.(*gpu.Heap)
	t.Cleanup(func() {
		require.NoError(t, h.Close())
		require.NoError(t, d.Close())
	})
	fakemetal.Reset(t)
	return d, h, func(offset int64, d dtype.DType, n int64) device.Operand {
		return device.Operand{Addr: h.At(uint64(offset)), Heap: h, DType: d, Layout: metaltest.Line(n)}
	}
}

// TestWindows shows the same memory through buffers of parts, a bounded number of them.
func TestWindows(t *testing.T) {
	h, _ := heap(t)
	defer objc.Pool().Close()
	first := h.Window(4096, 64)
	require.EqualValues(t, gpu.Granule, first.Length())
	require.EqualValues(t, uintptr(h.At(4096)), first.Contents())
	made := fakemetal.Count(t, "buffers")
	again := h.Window(4096, 64)
	require.Equal(t, first, again)
	require.Equal(t, made, fakemetal.Count(t, "buffers"))
	require.Zero(t, h.Window(4096+gpu.Granule/2, 64), "not aligned")
	objc.Release(first)
	objc.Release(again)
	for i := range uint64(gpu.MostWindows + 50) {
		b := h.Window(i*gpu.Granule, 16)
		require.NotZero(t, b)
		objc.Release(b)
	}
	require.Equal(t, gpu.MostWindows, h.Windows())
}

// A window has to have room for what Metal wants for a buffer of its length, which may be more.
func TestWindowsAtTheEnd(t *testing.T) {
	const length, size = 2 * gpu.Granule, 4 << 20
	d, h, _ := heapOf(t)
	require.True(t, h.Takes(size-length, length))
	d.Device.SetSize(length, 16<<10)
	require.False(t, h.Takes(size-length, length))
	require.Zero(t, h.Window(size-length, length))
	require.True(t, h.Takes(size-16<<10, length))
}

// Of what a compiler says the first error is quoted, and not all of it.
func TestEssence(t *testing.T) {
	const mistake = "program_source:39:13: error: reference to 'plus' is ambiguous"
	require.Equal(t, mistake, gpu.Essence("program_source:3:1: warning: unused\n"+mistake+"\n    return plus(a, b);\n"))
	require.Equal(t, "Compiler encountered an internal error", gpu.Essence("Compiler encountered an internal error"))
	require.LessOrEqual(t, len(gpu.Essence(strings.Repeat("é", 1000))), 304)
}

// TestLocate finds operands that begin anywhere and run backwards.
func TestLocate(t *testing.T) {
	h, at := heap(t)
	back := at(1000, dtype.Int16, 8)
	back.Strides[0] = -2
	for name, c := range map[string]struct {
		o    device.Operand
		want gpu.Span
	}{
		"aligned":   {at(512, dtype.Float32, 4), gpu.Span{Buffer: h.Whole(), Offset: 512, First: 0}},
		"odd":       {at(513, dtype.Uint8, 4), gpu.Span{Buffer: h.Whole(), Offset: 512, First: 1}},
		"half":      {at(514, dtype.Float16, 4), gpu.Span{Buffer: h.Whole(), Offset: 512, First: 1}},
		"backwards": {back, gpu.Span{Buffer: h.Whole(), Offset: 1000 - 28, First: 14}},
	} {
		s, ok := gpu.Locate(&c.o)
		require.True(t, ok, name)
		require.Equal(t, c.want, s, name)
	}
	stranger := metaltest.Scalar(1, 3)
	_, ok := gpu.Locate(&stranger)
	require.False(t, ok)
}
