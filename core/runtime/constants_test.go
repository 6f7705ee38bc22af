package runtime_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/execute"
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/kernels/host"
	"github.com/paddle-mps/paddle-mps/place"
)

// masked adds exp(full(4, 4)) * 3 to the matrices of an input, as many as each run chooses.
func masked(t *testing.T) *graph.Graph {
	b := graph.NewBuilder()
	call := func(name string, at op.Attrs, in ...graph.Value) graph.Value {
		out, err := b.Call(op.MustByName(name), in, at)
		require.NoError(t, err)
		return out[0]
	}
	x := b.Input(typed(dtype.Float32, b.Symbol(), 4, 4))
	ones := call("full", op.Attrs{ints(4, 4), double(1), kind(dtype.Float32)})
	mask := call("multiply", nil, call("exp", nil, ones), b.Scalar(double(3)))
	return b.Build(call("softmax", nil, call("add", nil, x, mask)))
}

// What follows from constants alone is computed when a program is compiled: fewer steps, the same bits, and memory that goes
// with the compiled program.
func TestConstantsAreFolded(t *testing.T) {
	results := map[bool][]float32{}
	for _, with := range []bool{true, false} {
		off := graph.Constants
		if with {
			off = 0
		}
		rt, err := runtime.New(runtime.Config{CPU: host.New(host.Config{Threads: 2}), WithoutPasses: off})
		require.NoError(t, err)
		w := &world{T: t, rt: rt}
		w.cpu, _ = rt.Context(place.CPU)
		p := execute.New(w.cpu, masked(t))
		for _, n := range []int64{0, 1, 3} {
			in := w.filled(w.cpu, 0.37, n, 4, 4)
			out := w.run(p, in)
			results[with] = append(results[with], w.floats(out[0])...)
			w.free(out[0], in)
		}
		info := p.Info()
		require.EqualValues(t, 3, info.Compilations)
		require.Equal(t, map[bool]int{true: 2, false: 5}[with], info.Steps)
		require.Zero(t, info.Constants, "a constant of one set of shapes is not the program's")
		p.Close()
		require.NoError(t, rt.Close())
	}
	require.Equal(t, results[false], results[true])
}

// A call of constants that fails is no error of the compilation: each run has the error of the call.
func TestFoldingLeavesErrorsToRuns(t *testing.T) {
	w := newWorld(t)
	b := graph.NewBuilder()
	full := func(v int64) graph.Value {
		out, err := b.Call(op.MustByName("full"), nil, op.Attrs{ints(3), integer(v), kind(dtype.Int32)})
		require.NoError(t, err)
		return out[0]
	}
	x := b.Input(typed(dtype.Int32, 3))
	quotient, err := b.Call(op.MustByName("floor_divide"), []graph.Value{full(7), full(0)}, nil)
	require.NoError(t, err)
	sum, err := b.Call(op.MustByName("add"), []graph.Value{x, quotient[0]}, nil)
	require.NoError(t, err)
	p := execute.New(w.cpu, b.Build(sum[0]))
	defer p.Close()
	in, err := w.rt.FromHost(w.cpu, dtype.Int32, typed(dtype.Int32, 3).Shape, make([]byte, 12))
	require.NoError(t, err)
	defer w.free(in)
	for range 2 {
		_, err = p.Run([]*runtime.Tensor{in}, nil)
		require.ErrorContains(t, err, "[floor_divide]")
	}
}
