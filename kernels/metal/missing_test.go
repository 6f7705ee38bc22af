package metal

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/dtype"
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

// TestSmallElementsAreNotCast compares the composites that do without a cast of small elements with the kernels: one that the
// device does not claim is lowered to a cast, eight bytes for each element.
func TestSmallElementsAreNotCast(t *testing.T) {
	d := newRig(t, Config{}).Device
	for i := range op.Table {
		row := &op.Table[i]
		if row.Uncast == 0 {
			continue
		}
		whole := op.ByID(row.Uncast)
		for _, from := range whole.Accepts.Members() {
			s := op.Step{Row: whole, In: []op.Ref{{DType: from}}, Out: []op.Ref{{DType: dtype.Int64}}}
			require.True(t, d.Composes(&s), "%s of %s", whole.Name, from)
		}
	}
}
