package runtime_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/execute"
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/op"
)

// TestExplainSaysWhatStepsAsk has a product, a convolution, and a sum with a broadcast operand; numbers of the plan are no memory.
func TestExplainSaysWhatStepsAsk(t *testing.T) {
	call := func(name string, in [][]int64, at op.Attrs) string {
		b := graph.NewBuilder()
		operands, shapes := []graph.Value{}, []op.Type{}
		for _, dims := range in {
			x := typed(dtype.Float32, dims...)
			operands, shapes = append(operands, b.Input(x)), append(shapes, x)
		}
		if len(in) == 1 {
			operands = append(operands, b.Scalar(double(2)))
		}
		out, err := b.Call(op.MustByName(name), operands, at)
		require.NoError(t, err)
		_, c := cpuWithout(t, 0)
		p := execute.New(c, b.Build(out...))
		defer p.Close()
		require.NoError(t, p.Prepare(shapes))
		return p.Explain()
	}
	require.Contains(t, call("matmul", [][]int64{{2, 3}, {3, 5}}, nil), "124 bytes, 60 flop") // 4 * (6 + 15 + 10), 2 * 3 * 10
	require.Contains(t, call("conv", [][]int64{{1, 2, 4, 4}, {3, 2, 3, 3}}, nil), "392 bytes, 432 flop")
	require.Contains(t, call("add", [][]int64{{2, 3}, {3}}, nil), "60 bytes, 6 flop")
	require.Contains(t, call("multiply", [][]int64{{2, 3}}, nil), "48 bytes, 6 flop")
}
