package metal

import (
	"fmt"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/kernels/metal/metaltest"
)

// Indices in the memory that index_put writes may lead it to any element of its output, and nowhere else. The
// runtime copies such indices first; other threads of a program can do the same to indices that it does not copy.
func TestIndexPutOverItsIndices(t *testing.T) {
	row := op.MustByName("index_put")
	for name, config := range map[string]Config{"shaders": {}, "graphs": {Prefer: PreferGraphs}} {
		for _, v := range []float64{32, -32, 1 << 40} {
			t.Run(fmt.Sprintf("%s/%g", name, v), func(t *testing.T) {
				b := newRig(t, config).bench(t)
				around := b.Operand(dtype.Int64, "contiguous", func(i int64) float64 { return float64((i + 1) % 2) }, 96)
				before := metaltest.Contents(&around)
				x := around
				x.Addr, x.Layout = unsafe.Add(x.Addr, 32*8), line(32)
				value := b.Operand(dtype.Int64, "contiguous", func(int64) float64 { return v }, 32)
				got := b.ByGPU(row, &device.Call{In: []device.Operand{value, x}, Out: []device.Operand{x}})
				if got.Err != nil {
					require.Equal(t, status.Index, status.CodeOf(got.Err))
				}
				after := metaltest.Contents(&around)
				require.Equal(t, before[:32*8], after[:32*8])
				require.Equal(t, before[64*8:], after[64*8:])
			})
		}
	}
}
