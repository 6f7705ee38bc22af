package graph

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
)

// BenchmarkCompile is what a graph of cheap nodes costs on its way to a plan: chains (wide=1), and calls on any of many values,
// which are all alive to the end.
func BenchmarkCompile(b *testing.B) {
	for _, nodes := range []int{100, 1000, 10000} {
		for _, wide := range []int{1, 100} {
			b.Run(fmt.Sprintf("nodes=%d/wide=%d", nodes, wide), func(b *testing.B) {
				made := NewBuilder()
				values := []Value{made.Input(typed(dtype.Float32, 64, 64)), made.Input(typed(dtype.Float32, 64, 1))}
				for i := range nodes {
					x := values[max(0, len(values)-1-i%wide)]
					name := []string{"add", "multiply", "softmax", "add", "subtract", "exp"}[i%6]
					in := []Value{x, values[max(0, len(values)-wide)]}
					values = append(values, made.must(b, name, nil, in[:len(op.MustByName(name).In)]...))
				}
				g := made.Build(values[len(values)-1], values[len(values)/2])
				for b.Loop() {
					g, err := g.Resolve(g.Inputs())
					require.NoError(b, err)
					_, err = g.Rewrite(AllPasses).PlanFor(nil, func(*op.Step) bool { return true })
					require.NoError(b, err)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(nodes), "ns/node")
			})
		}
	}
}
