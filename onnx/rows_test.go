package onnx

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/internal/onnxtest"
	"github.com/paddle-mps/paddle-mps/onnx/build"
)

// An operator of ONNX that is a composite of core/op is one node: what it computes is said by the row alone.
func TestCompositesAreOneNode(t *testing.T) {
	looked := 0
	for i := range op.Table {
		row := &op.Table[i]
		name, since, _ := strings.Cut(row.ONNX, "-")
		if opset, err := strconv.Atoi(since); row.Calls == nil || err != nil || opset > 17 || name == "Einsum" || row.Kind == op.Index { // that of the models of onnxtest, whose nodes have no attributes, and operands of floats
			continue
		}
		looked++
		t.Run(row.Name, func(t *testing.T) {
			ports := []onnxtest.Port{{Name: "x", Elem: 1, Dims: []int64{2, 3}}}
			node := onnxtest.Node{Op: name, In: []string{"x"}, Out: []string{"y"}}
			if len(row.In) > 1 {
				ports = append(ports, onnxtest.Port{Name: "slope", Elem: 1, Dims: []int64{3}})
				node.In = append(node.In, "slope")
			}
			m, err := build.Parse(onnxtest.Model(ports, []onnxtest.Port{{Name: "y", Elem: 1, Dims: []int64{2, 3}}}, node), "", nil)
			require.NoError(t, err)
			g, err := m.Resolve(m.Inputs())
			require.NoError(t, err)
			require.Equal(t, 1, g.Calls())
			require.Contains(t, g.String(), row.Name+"(")
		})
	}
	require.GreaterOrEqual(t, looked, 8)
}
