package smalldevice_test

import (
	"encoding/binary"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/eager"
	"github.com/paddle-mps/paddle-mps/core/execute"
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/examples/smalldevice"
	"github.com/paddle-mps/paddle-mps/kernels/host"
	"github.com/paddle-mps/paddle-mps/place"
)

// world is a runtime whose mps:0 is the small device.
type world struct {
	*testing.T
	*runtime.Runtime
	small *runtime.Context
}

func newWorld(t *testing.T) world {
	rt, err := runtime.New(runtime.Config{CPU: host.New(host.Config{}), MPS: []device.Device{smalldevice.New()}})
	require.NoError(t, err)
	small, err := rt.Context(place.MPS(0))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, rt.Close()) })
	return world{t, rt, small}
}

// tensor is a vector on the device.
func (w world) tensor(values ...float32) *runtime.Tensor {
	x, err := w.Empty(w.small, dtype.Float32, w.dims(int64(len(values))), nil)
	require.NoError(w, err)
	w.Cleanup(func() { require.True(w, w.Free(x.Handle())) })
	var b []byte
	for _, v := range values {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	require.NoError(w, x.Write(b))
	return x
}

func (w world) dims(dims ...int64) shape.Shape {
	s, err := shape.Of(dims...)
	require.NoError(w, err)
	return s
}

// read is the elements of a result, which it frees.
func (w world) read(x *runtime.Tensor, err error) []float32 {
	require.NoError(w, err)
	defer w.Free(x.Handle())
	b := make([]byte, 4*x.Layout.Numel())
	require.NoError(w, x.Read(b))
	values := make([]float32, len(b)/4)
	for i := range values {
		values[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return values
}

// TestCallsRunOnTheDeviceOrTheCPU: what the device has runs there, what it lacks on the CPU, in the memory of the device.
func TestCallsRunOnTheDeviceOrTheCPU(t *testing.T) {
	w := newWorld(t)
	x, y := w.tensor(-1, 0, 2), w.tensor(1, 2, 3)
	require.Equal(t, []float32{0, 2, 5}, w.read(eager.Binary(w.Runtime, op.MustByName("add"), runtime.Operand{Tensor: x}, runtime.Operand{Tensor: y}, nil)))
	require.Equal(t, []float32{0, 0, 2}, w.read(eager.Unary(w.Runtime, op.MustByName("relu"), x, nil)))
	require.Empty(t, w.small.Fallbacks())

	require.Equal(t, []float32{1, 0, 2}, w.read(eager.Unary(w.Runtime, op.MustByName("abs"), x, nil)))
	require.Equal(t, map[string]int64{"abs": 1}, w.small.Fallbacks())

	// The operand that is broadcast has gaps: another key, and another answer of Compile.
	require.Equal(t, []float32{4, 5, 7}, w.read(eager.Binary(w.Runtime, op.MustByName("add"), runtime.Operand{Tensor: x}, runtime.Operand{Tensor: w.tensor(5)}, nil)))
	require.Equal(t, map[string]int64{"abs": 1, "add": 1}, w.small.Fallbacks())
}

// TestProgramIsDividedAroundWhatTheDeviceLacks: abs in relu(abs(x * y) + y) runs on the CPU.
func TestProgramIsDividedAroundWhatTheDeviceLacks(t *testing.T) {
	w := newWorld(t)
	b := graph.NewBuilder()
	call := func(name string, in ...graph.Value) graph.Value {
		out, err := b.Call(op.MustByName(name), in, nil)
		require.NoError(t, err)
		return out[0]
	}
	vector := op.Type{DType: dtype.Float32, Shape: w.dims(3)}
	x, y := b.Input(vector), b.Input(vector)
	p := execute.New(w.small, b.Build(call("relu", call("add", call("abs", call("multiply", x, y)), y))))
	defer p.Close()
	out, err := p.Run([]*runtime.Tensor{w.tensor(-1, 0, 2), w.tensor(1, -2, 3)}, nil)
	require.NoError(t, err)
	require.Equal(t, []float32{2, 0, 9}, w.read(out[0], nil))
	require.Equal(t, map[string]int64{"abs": 1}, w.small.Fallbacks())
}

// TestTheDeviceIsSmall: docs/tour.md promises a device of fewer than 100 lines of code.
func TestTheDeviceIsSmall(t *testing.T) {
	source, err := os.ReadFile("device.go")
	require.NoError(t, err)
	lines := 0
	for _, line := range strings.Split(string(source), "\n") {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
			lines++
		}
	}
	require.Less(t, lines, 100)
}
