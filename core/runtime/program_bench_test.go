package runtime_test

import (
	"fmt"
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

// sums is a graph of so many additions, each of the one before.
func sums(b testing.TB, nodes int, dims ...int64) *graph.Graph {
	g := graph.NewBuilder()
	x, y := g.Input(typed(dtype.Float32, dims...)), g.Input(typed(dtype.Float32, dims...))
	for range nodes {
		out, err := g.Call(op.ByID(op.IDAdd), []graph.Value{x, y}, nil)
		require.NoError(b, err)
		x = out[0]
	}
	return g.Build(x)
}

// cpuWithout is a runtime of the cpu place without some passes.
func cpuWithout(b testing.TB, off graph.Passes) (*runtime.Runtime, *runtime.Context) {
	rt, err := runtime.New(runtime.Config{CPU: host.New(host.Config{Threads: 1}), WithoutPasses: off})
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, rt.Close()) })
	c, err := rt.Context(place.CPU)
	require.NoError(b, err)
	return rt, c
}

// BenchmarkProgram is what a run of a program of tiny nodes costs, with groups and without.
func BenchmarkProgram(b *testing.B) {
	for _, off := range []graph.Passes{0, graph.Groups} {
		for _, nodes := range []int{1, 100} {
			b.Run(fmt.Sprintf("groups=%t/nodes=%d", off == 0, nodes), func(b *testing.B) {
				rt, c := cpuWithout(b, off)
				p := execute.New(c, sums(b, nodes, 8))
				defer p.Close()
				x, err := rt.FromHost(c, dtype.Float32, typed(dtype.Float32, 8).Shape, make([]byte, 32))
				require.NoError(b, err)
				defer rt.Free(x.Handle())
				in := []*runtime.Tensor{x, x}
				for b.Loop() {
					out, err := p.Run(in, nil)
					if err != nil {
						b.Fatal(err)
					}
					rt.Free(out[0].Handle())
				}
			})
		}
	}
}

// BenchmarkPrepare is what a graph of nodes costs from symbols to a program.
func BenchmarkPrepare(b *testing.B) {
	for _, nodes := range []int{100, 1000, 10000} {
		b.Run(fmt.Sprint(nodes), func(b *testing.B) {
			_, c := cpuWithout(b, 0)
			n := int64(0)
			g := sums(b, nodes, -1, 8)
			for b.Loop() {
				n++ // a size that was not compiled yet
				p := execute.New(c, g)
				require.NoError(b, p.Prepare([]op.Type{typed(dtype.Float32, n, 8), typed(dtype.Float32, n, 8)}))
				p.Close()
			}
		})
	}
}
