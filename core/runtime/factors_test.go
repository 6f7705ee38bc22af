package runtime_test

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
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

// normalized is conv, bias, a batch normalization and relu of images of a size that each run chooses.
func normalized(t *testing.T) *graph.Graph {
	r, b := rand.New(rand.NewPCG(1, 2)), graph.NewBuilder()
	constant := func(dims ...int64) graph.Value {
		k := &op.Const{Type: typed(dtype.Float32, dims...)}
		for range k.Shape.Numel() {
			k.Bytes = binary.LittleEndian.AppendUint32(k.Bytes, math.Float32bits(float32(r.NormFloat64())))
		}
		return b.Constant(k)
	}
	call := func(name string, in ...graph.Value) graph.Value {
		out, err := b.Call(op.MustByName(name), in, nil)
		require.NoError(t, err)
		return out[0]
	}
	x := b.Input(typed(dtype.Float32, 2, 16, b.Symbol(), 5))
	y := call("add", call("conv", x, constant(24, 16, 3, 3)), constant(1, 24, 1, 1))
	return b.Build(call("relu", call("add", call("multiply", y, constant(24, 1, 1)), constant(24, 1, 1))))
}

// Factors go into weights: fewer steps, results within roundings of those without the pass, and one weight for all sizes.
func TestFactorsInWeights(t *testing.T) {
	results := map[bool][]float32{}
	for _, with := range []bool{true, false} {
		off := graph.Layout // whose transposed result is a step more
		if !with {
			off |= graph.Factors
		}
		rt, err := runtime.New(runtime.Config{CPU: host.New(host.Config{Threads: 2}), WithoutPasses: off})
		require.NoError(t, err)
		w := &world{T: t, rt: rt}
		w.cpu, _ = rt.Context(place.CPU)
		p := execute.New(w.cpu, normalized(t))
		constants := int64(0)
		for i, long := range []int64{4, 3, 9} {
			in := w.filled(w.cpu, 0.37, 2, 16, long, 5)
			out := w.run(p, in)
			results[with] = append(results[with], w.floats(out[0])...)
			w.free(out[0], in)
			if i == 0 {
				constants = p.Info().Constants
			}
		}
		require.EqualValues(t, 3, p.Info().Compilations)
		require.Equal(t, constants, p.Info().Constants)
		require.Equal(t, map[bool]int{true: 3, false: 5}[with], p.Info().Steps)
		p.Close()
		require.NoError(t, rt.Close())
	}
	// Either way rounds about 150 sums of up to 144 terms 0.37 * |w * k|, of a mean of 0.3 |k|: at most 150 * 2^-24 * 43 |k|, of
	// which this is half for |k| = 1. There are larger factors, but roundings do not all go one way.
	for i, v := range results[false] {
		require.InDelta(t, v, results[true][i], 2*150*6e-8*20, "element %d", i)
	}
	require.NotEqual(t, results[false], results[true], "the roundings are others")
}
