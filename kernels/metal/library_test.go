package metal_test

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/native"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/internal/fakemetal"
	"github.com/paddle-mps/paddle-mps/kernels/metal"
)

const source = `
kernel void full(device float *out, constant float &value, uint i [[thread_position_in_grid]]) { out[i] = value; }
kernel void axpy(device float *y, device const float *x, constant float &a, constant long &n,
                 uint i [[thread_position_in_grid]]) {
  if (long(i) < n) y[i] += a * x[i];
}
kernel void where_am_i(device uint *out, uint3 at [[thread_position_in_grid]], uint3 size [[threads_per_grid]],
                       uint3 group [[threads_per_threadgroup]]) {
  out[(at.z * size.y + at.y) * size.x + at.x] = group.x * 100 + group.y * 10 + group.z;
}
`

// library compiles source; the test closes it.
func (w *world) library(source string) *native.Library {
	l, err := native.NewLibrary(w.gpu, source)
	require.NoError(w, err)
	w.Cleanup(func() { require.NoError(w, l.Close()) })
	return l
}

func (w *world) kernel(l *native.Library, name string) *native.Kernel {
	k, err := l.Kernel(name)
	require.NoError(w, err)
	w.Cleanup(func() { require.NoError(w, k.Close()) })
	return k
}

// number is a float as an argument.
func number(v float32) native.KernelArg {
	return native.KernelArg{Bytes: binary.LittleEndian.AppendUint32(nil, math.Float32bits(v))}
}

func long(n int64) native.KernelArg {
	return native.KernelArg{Bytes: binary.LittleEndian.AppendUint64(nil, uint64(n))}
}

func tensor(t *runtime.Tensor) native.KernelArg { return native.KernelArg{Tensor: t} }

// line is n threads in one dimension; auto leaves the threadgroup to the library.
func line(n uint64) [3]uint64 { return [3]uint64{n, 1, 1} }

var auto [3]uint64

func TestLibraryIsDescribed(t *testing.T) {
	w := newWorld(t)
	l := w.library(source)
	require.Equal(t, []string{"full", "axpy", "where_am_i"}, l.Names())
	k := w.kernel(l, "axpy")
	require.Equal(t, "axpy", k.Name)
	require.EqualValues(t, 32, k.Width)
	require.EqualValues(t, 1024, k.MaxGroup)
	require.Len(t, k.Params, 4)
	require.Equal(t, "y", k.Params[0].Name)
	for i, written := range []bool{true, false, false, false} {
		require.Equal(t, written, k.Params[i].Written, i)
	}
	_, err := l.Kernel("nobody")
	require.Equal(t, status.NotFound, status.CodeOf(err))
}

// A call of a kernel that is repeated allocates nothing, whatever it writes; each call has its own numbers.
func TestKernelsAllocateNothing(t *testing.T) {
	w := newWorld(t)
	l := w.library(source + `
kernel void rotate3(device float *x, device float *y, device float *z, constant float &a, uint i [[thread_position_in_grid]]) {
  float first = x[i];
  x[i] = y[i], y[i] = z[i], z[i] = first + a;
}`)
	k := w.kernel(l, "rotate3")
	x, y, z := w.filled(w.gpu, 1, 2), w.filled(w.gpu, 2, 2), w.filled(w.gpu, 3, 2)
	args := []native.KernelArg{tensor(x), tensor(y), tensor(z), number(0.5)}
	call := func() {
		require.NoError(t, k.Run(args, line(2), auto, nil))
		require.NoError(t, w.gpu.Synchronize())
	}
	for range 6 {
		call()
	}
	require.Equal(t, []float32{2, 2}, w.values(x))
	if !metal.UnderRace { // where pools of purego, which makes the sends, drop some of what is put back
		require.Zero(t, testing.AllocsPerRun(100, call))
	}
	w.free(x, y, z)
}

// TestKernelsOfNoElements: a kernel runs also where all that it writes is empty, whatever operators have run before. An operator
// has nothing to compute there.
func TestKernelsOfNoElements(t *testing.T) {
	w := newWorld(t)
	k := w.kernel(w.library("kernel void f(device float *x, constant int &n, uint i [[thread_position_in_grid]]) { if (n > 0) x[i] = 1; }"), "f")
	x := w.filled(w.gpu, 1, 4)
	empty, err := w.rt.Empty(w.gpu, dtype.Float32, shape.Shape{Rank: 1}, nil)
	require.NoError(t, err)
	args := []native.KernelArg{tensor(empty), {Bytes: make([]byte, 4)}}
	for range 8 {
		w.free(w.add(x, x, nil))
		require.NoError(t, w.gpu.Synchronize())
		before := fakemetal.Count(t, "dispatches")
		require.NoError(t, k.Run(args, line(4), auto, nil))
		require.NoError(t, w.gpu.Synchronize())
		require.EqualValues(t, 1, fakemetal.Count(t, "dispatches")-before)
	}
	w.free(x, empty)
}

func TestSourceThatDoesNotCompile(t *testing.T) {
	w := newWorld(t)
	_, err := native.NewLibrary(w.gpu, "kernel void f(device float *x) {\n  x[0] = undeclared;\n}")
	require.Equal(t, status.Syntax, status.CodeOf(err))
	require.ErrorContains(t, err, "[compile_shader] the source does not compile")
	require.ErrorContains(t, err, ":2:")
	require.ErrorContains(t, err, "undeclared")
	_, err = native.NewLibrary(w.gpu, "\xff")
	require.Equal(t, status.Invalid, status.CodeOf(err))
	_, err = native.NewLibrary(w.cpu, source)
	require.EqualError(t, err, "[compile_shader] cpu runs on device host; want device metal")
	require.Equal(t, status.Unsupported, status.CodeOf(err))
}

// TestKernelAmongOperators runs a kernel between operators on two streams: the runtime keeps them in order.
func TestKernelAmongOperators(t *testing.T) {
	w := newWorld(t)
	k := w.kernel(w.library(source), "axpy")
	other, err := w.gpu.NewStream()
	require.NoError(t, err)
	const n = 1000
	x, y := w.filled(w.gpu, 1, n), w.filled(w.gpu, 0, n)
	wantX, wantY := float32(1), float32(0)
	for i := range 15 {
		on := []*runtime.Stream{nil, other}[i%2]
		z := w.add(x, y, on)
		w.free(x)
		x = z
		on = []*runtime.Stream{nil, other}[i/2%2]
		require.NoError(t, k.Run([]native.KernelArg{tensor(y), tensor(x), number(1), long(n)}, line(n), auto, on))
		wantX += wantY
		wantY += wantX
	}
	first, last, err := w.first(y)
	require.NoError(t, err)
	require.Equal(t, []float32{wantY, wantY}, []float32{first, last})
	w.free(x, y)
	require.NoError(t, other.Close())
}

// TestFunctionsArePrecise has no fast function in a program's own shader either: a fast tanh is NaN above 44.
func TestFunctionsArePrecise(t *testing.T) {
	t.Setenv("FAKEMETAL_FAST_FUNCTIONS", "1")
	w := newWorld(t)
	k := w.kernel(w.library(`#include <metal_stdlib>
kernel void run(device float *x, uint i [[thread_position_in_grid]]) { x[i] = i == 0 ? metal::tanh(x[i]) : metal::fast::tanh(x[i]); }`), "run")
	x := w.filled(w.gpu, 50, 2)
	require.NoError(t, k.Run([]native.KernelArg{tensor(x)}, line(2), auto, nil))
	values := w.values(x)
	require.InDelta(t, 1, values[0], 1e-6)
	require.True(t, math.IsNaN(float64(values[1])), "the mock's fast::tanh(50) is %g; want NaN", values[1])
	w.free(x)
}

// TestKernelSeesMemory binds a part of a tensor, a number from the CPU and a tensor without elements.
func TestKernelSeesMemory(t *testing.T) {
	w := newWorld(t)
	l := w.library(source)
	full := w.kernel(l, "full")
	x := w.filled(w.gpu, 0, 10)
	part, err := x.Index([]runtime.IndexItem{{Kind: runtime.IndexSlice, Has: 1, Start: 3}})
	require.NoError(t, err)
	seven := w.filled(w.cpu, 7, 1)
	scalar, err := seven.Index([]runtime.IndexItem{{Kind: runtime.IndexInt}})
	require.NoError(t, err)
	require.NoError(t, full.Run([]native.KernelArg{tensor(part), tensor(scalar)}, line(6), auto, nil))
	require.Equal(t, []float32{0, 0, 0, 7, 7, 7, 7, 7, 7, 0}, w.values(x))

	empty, err := x.Index([]runtime.IndexItem{{Kind: runtime.IndexSlice, Has: 1, Start: 10}})
	require.NoError(t, err)
	axpy := w.kernel(l, "axpy")
	require.NoError(t, axpy.Run([]native.KernelArg{tensor(empty), tensor(empty), number(1), long(0)}, line(5), auto, nil))
	require.NoError(t, full.Run([]native.KernelArg{tensor(empty), number(1)}, line(0), auto, nil), "nothing runs")
	require.NoError(t, w.gpu.Synchronize())
	w.free(x, part, seven, scalar, empty)
}

func (w *world) values(t *runtime.Tensor) []float32 {
	raw := make([]byte, 4*t.Numel())
	require.NoError(w, t.Read(raw))
	values := make([]float32, t.Numel())
	for i := range values {
		values[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	return values
}

func TestThreadgroups(t *testing.T) {
	w := newWorld(t)
	k := w.kernel(w.library(source), "where_am_i")
	x := w.filled(w.gpu, 0, 24)
	require.NoError(t, k.Run([]native.KernelArg{tensor(x)}, [3]uint64{4, 3, 2}, [3]uint64{4, 3, 1}, nil))
	for _, v := range w.values(x) {
		require.EqualValues(t, 431, math.Float32bits(v))
	}
	for name, c := range map[string]struct{ threads, group [3]uint64 }{
		"too many in a group":   {line(4), [3]uint64{1025, 1, 1}},
		"too many by products":  {line(4), [3]uint64{64, 64, 1}},
		"an axis without any":   {line(4), [3]uint64{4, 0, 1}},
		"products that wrap":    {line(4), [3]uint64{1 << 32, 1 << 32, 1}},
		"positions of 33 bits":  {line(1 << 33), auto},
		"33 bits along an axis": {[3]uint64{1, 1, 1 << 32}, auto},
	} {
		require.Equal(t, status.Invalid, status.CodeOf(k.Run([]native.KernelArg{tensor(x)}, c.threads, c.group, nil)), name)
	}
	w.free(x)
}

func TestArgumentsAreChecked(t *testing.T) {
	w := newWorld(t)
	l := w.library(source)
	full, axpy := w.kernel(l, "full"), w.kernel(l, "axpy")
	x, onCPU := w.filled(w.gpu, 0, 4), w.filled(w.cpu, 0, 4)
	bytes := func(n int) native.KernelArg { return native.KernelArg{Bytes: make([]byte, n)} }
	for _, c := range []struct {
		name   string
		kernel *native.Kernel
		args   []native.KernelArg
		code   status.Code
		says   string
	}{
		{"too few", full, []native.KernelArg{tensor(x)}, status.Invalid, "[full] argument 1 (value) is missing; want 2 arguments"},
		{"none", axpy, nil, status.Invalid, "argument 0 (y) is missing; want 4 arguments"},
		{"a number to be written", full, []native.KernelArg{number(1), number(1)}, status.Type, "[full] argument 0 (out) is written by the kernel; want a tensor on mps:0"},
		{"a tensor elsewhere", full, []native.KernelArg{tensor(onCPU), number(1)}, status.Invalid, "[full] argument 0 is on cpu"},
		{"nothing", full, []native.KernelArg{tensor(x), {}}, status.Invalid, "argument 1 is empty"},
		{"too many bytes", full, []native.KernelArg{tensor(x), bytes(4081), bytes(1)}, status.Invalid, "got 4112 bytes of numbers; want at most 4096"},
		{"too many", full, make([]native.KernelArg, 32), status.Invalid, "got 32 arguments; want at most 31"},
	} {
		err := c.kernel.Run(c.args, line(4), auto, nil)
		require.Equal(t, c.code, status.CodeOf(err), c.name)
		require.ErrorContains(t, err, c.says, c.name)
	}
	require.NoError(t, full.Run([]native.KernelArg{tensor(x), bytes(4096)}, line(4), auto, nil))
	require.NoError(t, w.gpu.Synchronize())
	w.free(x, onCPU)
}

// TestThreadgroupArguments refuses what no caller could give.
func TestThreadgroupArguments(t *testing.T) {
	w := newWorld(t)
	l := w.library("kernel void f(device float *x, threadgroup float *t, uint i [[thread_position_in_threadgroup]]) { t[i] = x[i]; }")
	_, err := l.Kernel("f")
	require.Equal(t, status.Unsupported, status.CodeOf(err))
	require.ErrorContains(t, err, "want buffers, and threadgroup memory declared in the kernel")
}

// TestWarmKernel counts what a call of a kernel that has run before costs the GPU's side.
func TestWarmKernel(t *testing.T) {
	w := newWorld(t)
	k := w.kernel(w.library(source), "full")
	x := w.filled(w.gpu, 0, 64)
	args := []native.KernelArg{tensor(x), number(3)}
	require.NoError(t, k.Run(args, line(64), auto, nil))
	before := map[string]int64{}
	for _, what := range []string{"compiles", "buffers", "sends", "dispatches"} {
		before[what] = fakemetal.Count(t, what)
	}
	require.NoError(t, k.Run(args, line(64), auto, nil))
	require.EqualValues(t, 0, fakemetal.Count(t, "compiles")-before["compiles"])
	require.EqualValues(t, 0, fakemetal.Count(t, "buffers")-before["buffers"])
	require.EqualValues(t, 1, fakemetal.Count(t, "dispatches")-before["dispatches"])
	require.LessOrEqual(t, fakemetal.Count(t, "sends")-before["sends"], int64(4))
	w.free(x)
}

// TestFailureNamesTheKernel fails the command buffer with a kernel and an operator in it.
func TestFailureNamesTheKernel(t *testing.T) {
	w := newWorld(t)
	k := w.kernel(w.library(source), "full")
	x, y := w.filled(w.gpu, 0, 64), w.filled(w.gpu, 1, 64)
	require.NoError(t, w.gpu.Synchronize())
	fakemetal.Fail(t, "command_buffer", 1, 3)
	require.NoError(t, k.Run([]native.KernelArg{tensor(x), number(3)}, line(64), auto, nil))
	z := w.add(y, y, nil)
	_, _, err := w.first(x)
	require.Equal(t, status.Device, status.CodeOf(err))
	require.ErrorContains(t, err, "[full] the GPU stopped the command buffer")
	_, _, err = w.first(z)
	require.ErrorContains(t, err, "[add] the GPU stopped the command buffer")
	require.ErrorContains(t, err, "in it ran full of the program's own")
	require.ErrorContains(t, w.gpu.Synchronize(), "[full]")
	require.NoError(t, w.gpu.Synchronize())
	require.NoError(t, k.Run([]native.KernelArg{tensor(y), number(3)}, line(64), auto, nil))
	first, _, err := w.first(y)
	require.NoError(t, err)
	require.EqualValues(t, 3, first)
	w.free(x, y, z)
}

// TestFailureStaysWithWhatIsWritten fails a kernel: what it only reads is as good as before, and what already
// was a failure goes on into what it writes.
func TestFailureStaysWithWhatIsWritten(t *testing.T) {
	w := newWorld(t)
	l := w.library(source)
	axpy := w.kernel(l, "axpy")
	x, y, z := w.filled(w.gpu, 1, 8), w.filled(w.gpu, 2, 8), w.filled(w.gpu, 3, 8)
	require.NoError(t, w.gpu.Synchronize())
	fakemetal.Fail(t, "command_buffer", 1, 3)
	require.NoError(t, axpy.Run([]native.KernelArg{tensor(y), tensor(x), number(1), long(8)}, line(8), auto, nil))
	require.Error(t, w.gpu.Synchronize())
	require.EqualValues(t, 1, w.values(x)[7])
	require.NoError(t, axpy.Run([]native.KernelArg{tensor(z), tensor(y), number(1), long(8)}, line(8), auto, nil))
	for _, failed := range []*runtime.Tensor{y, z} {
		_, _, err := w.first(failed)
		require.ErrorContains(t, err, "[axpy] the GPU stopped the command buffer")
	}
	require.NoError(t, w.gpu.Synchronize(), "it is said once")
	w.free(x, y, z)
}

// TestReports: what a kernel reports is an error of the first wait for the stream or for what it wrote, and of no other;
// tensors stay valid.
func TestReports(t *testing.T) {
	w := newWorld(t)
	k := w.kernel(w.library("kernel void f(device float *x, device uint *says, uint i [[thread_position_in_grid]]) { x[i] += 1; if (i == 3) says[1] = 5; }"), "f")
	x := w.filled(w.gpu, 1, 8)
	run := func(fails bool) {
		require.NoError(t, k.RunReporting([]native.KernelArg{tensor(x)}, line(8), auto, 16, false, func(words []uint32) error {
			if !slices.Equal(words[:3], []uint32{0, 5, 0}) { // no require, which would end the stream's goroutine
				return status.Errorf(status.Internal, "the kernel has reported %v", words[:3])
			}
			if fails {
				return status.Errorf(status.Device, "x is odd")
			}
			return nil
		}, nil))
	}
	run(true)
	require.EqualError(t, w.gpu.Synchronize(), "x is odd")
	require.NoError(t, w.gpu.Synchronize())
	first, _, err := w.first(x)
	require.NoError(t, err)
	require.EqualValues(t, 2, first)
	run(true)
	_, _, err = w.first(x)
	require.EqualError(t, err, "x is odd")
	require.NoError(t, w.gpu.Synchronize())
	run(false)
	y := w.add(x, x, nil)
	first, _, err = w.first(y)
	require.NoError(t, err)
	require.EqualValues(t, 8, first)
	require.NoError(t, w.gpu.Synchronize())
	w.free(x, y)
}

// TestEveryStepOfALibraryFails lets each thing that can be refused be refused in turn.
func TestEveryStepOfALibraryFails(t *testing.T) {
	w := newWorld(t)
	l := w.library(source)
	for what, make := range map[string]func() error{
		"library":  func() error { _, err := native.NewLibrary(w.gpu, source); return err },
		"function": func() error { _, err := l.Kernel("full"); return err },
		"pipeline": func() error { _, err := l.Kernel("full"); return err },
	} {
		fakemetal.Fail(t, what, 1, 0)
		require.Error(t, make(), what)
		fakemetal.Fail(t, what, 0, 0)
	}
}

func TestLoadLibrary(t *testing.T) {
	w := newWorld(t)
	path := filepath.Join(t.TempDir(), "kernels.metallib")
	_, err := native.LoadLibrary(w.gpu, path)
	require.Equal(t, status.Invalid, status.CodeOf(err))
	require.ErrorContains(t, err, "[load_metallib] "+path+" does not load")
	require.NoError(t, os.WriteFile(path, []byte(source), 0o600)) // the mock of Metal takes source
	l, err := native.LoadLibrary(w.gpu, path)
	require.NoError(t, err)
	require.Contains(t, l.Names(), "axpy")
	require.NoError(t, l.Close())
	_, err = native.LoadLibrary(w.cpu, path)
	require.Equal(t, status.Unsupported, status.CodeOf(err))
}
