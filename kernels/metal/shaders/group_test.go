package shaders

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/kernels/metal/msl"
)

// A group with a row that all rows share has about as many threads as vectors, and threads and steps that 32 bits can number.
func TestGroupSpread(t *testing.T) {
	repeated := 0
	for _, columns := range []int64{5, 8, 33, 1001, 1024, 1<<20 + 1, 1 << 20, 1<<27 + 1, 1<<29 + 1} {
		for _, rows := range []int64{2, 3, 7, 64, 1000} {
			s, err := shape.Of(rows, columns)
			require.NoError(t, err)
			whole := shape.Contiguous(s)
			if whole.Numel() > mostElements {
				continue
			}
			row := whole
			row.Strides[0] = 0
			of := func(l shape.Layout) device.Operand { return device.Operand{DType: dtype.Float32, Layout: l} }
			c := &device.Call{In: []device.Operand{of(whole), of(row)}, Out: []device.Operand{of(whole)}}
			g := msl.Group{
				Reads:  []msl.Operand{{DType: dtype.Float32}, {DType: dtype.Float32, Lie: msl.Anywhere}},
				Writes: []msl.Operand{{DType: dtype.Float32}},
			}
			n := whole.Numel()
			got, vectors := spreadOf(&g, n, repeats(&g, c)), n/g.Lanes()
			require.LessOrEqual(t, got.threads, 4*vectors+32, "%d rows of %d", rows, columns)
			require.Less(t, got.threads, int64(1)<<32)
			require.Less(t, 4*got.jump*max(got.times, 1)+vectors, int64(1)<<32)
			if g.Repeats() {
				repeated++
				require.Zero(t, got.jump*g.Lanes()%columns)
			}
		}
	}
	require.Greater(t, repeated, 10)
}
