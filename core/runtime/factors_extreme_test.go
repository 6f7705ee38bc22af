package runtime_test

import (
	"encoding/binary"
	"math"
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

// Factors that the weights cannot take without becoming infinite, undefined or subnormal stay where they are: the result is
// what the calls one by one give.
func TestExtremeFactors(t *testing.T) {
	inf := float32(math.Inf(1))
	for name, c := range map[string]struct {
		x, weight, bias, factor, term []float32
		how                           string
	}{
		"divisor 0":        {x: []float32{1, 0}, weight: []float32{1, 1, 2, -1}, factor: []float32{0, 2}, how: "divide"},
		"infinite factor":  {x: []float32{1, 0}, weight: []float32{1, 1, 2, -1}, factor: []float32{inf, 2}, how: "multiply"},
		"large factor":     {x: []float32{1e-10, 1e-10}, weight: []float32{1e10, 1, 2, 3}, factor: []float32{1e30, 1}, how: "multiply"},
		"small factor":     {x: []float32{1e30, 0}, weight: []float32{1e-25, 1, 2, 3}, factor: []float32{1e-20, 1}, how: "multiply"},
		"subnormal weight": {x: []float32{1e30, 0}, weight: []float32{1.2345678e-25, 1, 2, 3}, factor: []float32{1e-16, 1}, how: "multiply"},
		"large bias":       {x: []float32{-3e38, 0}, weight: []float32{1, 1, 2, 3}, bias: []float32{3e38, 1}, factor: []float32{1, 1}, term: []float32{3e38, 0}, how: "multiply"},
		"factor 0":         {x: []float32{1, 2}, weight: []float32{1, 1, 2, -1}, factor: []float32{0, 2}, how: "multiply"},
	} {
		t.Run(name, func(t *testing.T) {
			var results [2][]float32
			for i, off := range []graph.Passes{0, graph.Factors} {
				b := graph.NewBuilder()
				constant := func(values []float32, dims ...int64) graph.Value {
					k := &op.Const{Type: typed(dtype.Float32, dims...)}
					for _, v := range values {
						k.Bytes = binary.LittleEndian.AppendUint32(k.Bytes, math.Float32bits(v))
					}
					return b.Constant(k)
				}
				call := func(name string, in ...graph.Value) graph.Value {
					out, err := b.Call(op.MustByName(name), in, nil)
					require.NoError(t, err)
					return out[0]
				}
				y := call("matmul", b.Input(typed(dtype.Float32, 1, 2)), constant(c.weight, 2, 2))
				if c.bias != nil {
					y = call("add", y, constant(c.bias, 2))
				}
				y = call(c.how, y, constant(c.factor, 2))
				if c.term != nil {
					y = call("add", y, constant(c.term, 2))
				}
				rt, err := runtime.New(runtime.Config{CPU: host.New(host.Config{Threads: 1}), WithoutPasses: off})
				require.NoError(t, err)
				w := &world{T: t, rt: rt}
				w.cpu, _ = rt.Context(place.CPU)
				p := execute.New(w.cpu, b.Build(y))
				in := w.f32(w.cpu, c.x, 1, 2)
				out := w.run(p, in)
				results[i] = w.floats(out[0])
				w.free(out[0], in)
				p.Close()
				require.NoError(t, rt.Close())
			}
			for i, want := range results[1] {
				if got := results[0][i]; want-want == 0 {
					require.InDelta(t, want, got, 1e-6*math.Abs(float64(want)), "%v, want %v", results[0], results[1])
				} else {
					require.True(t, got == want || got != got && want != want, "%v, want %v", results[0], results[1])
				}
			}
		})
	}
}
