package metal

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/metal/gpu"
)

// Every operator has a shader or a graph in every dtype that its row promises and the GPU has.
func TestNoKernelIsMissing(t *testing.T) {
	for i := range op.Table {
		row := &op.Table[i]
		require.NoError(t, row.CheckKernels("metal", gpu.Elements, gpu.Variants(gpu.PreferShaders).DTypes(row.ID)))
	}
}
