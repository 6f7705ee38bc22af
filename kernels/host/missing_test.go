package host

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
)

// Every operator has a kernel in every dtype that its row promises.
func TestNoKernelIsMissing(t *testing.T) {
	for i := range op.Table {
		row := &op.Table[i]
		require.NoError(t, row.CheckKernels("host", dtype.Movable, engine.Registry.DTypes(row.ID)))
	}
}
