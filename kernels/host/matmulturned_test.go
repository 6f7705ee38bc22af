package host

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/gemm"
)

// TestMatmulOfTransposes multiplies left operands that are stored as their transposes, as gradients of weights do, without a
// workspace: whole, padded, in batches and repeated.
func TestMatmulOfTransposes(t *testing.T) {
	turned := func(batch, m, k, gap, step int64) shape.Layout {
		l := dims(batch, m, k)
		l.Strides[0], l.Strides[1], l.Strides[2] = step, 1, m+gap
		return l
	}
	height, _ := gemm.MatMulTile[float32]()
	for _, d := range []dtype.DType{dtype.Float32, dtype.Float64} {
		for _, threads := range []int{1, 3} {
			for _, c := range []struct {
				what    string
				x       shape.Layout
				n       int64
				without bool // a workspace
			}{
				{"a wide product", turned(1, 20, 7, 0, 140), 100, true},
				{"a tall product", turned(1, 150, 7, 0, 1050), 5, true},
				{"one column", turned(1, 150, 7, 0, 1050), 1, true},
				{"gaps", turned(1, 50, 7, 3, 371), 40, true},
				{"a batch", turned(3, 50, 7, 0, 350), 40, true},
				{"matrices that lie side by side", turned(3, 50, 7, 100, 50), 40, true},
				{"one matrix again and again", turned(3, 50, 7, 0, 0), 40, true},
				{"few rows", turned(1, 3, 7, 0, 21), 40, height <= 3}, // or a tile has no more
				{"rows that overlap", func() shape.Layout { l := turned(1, 50, 7, 0, 350); l.Strides[2] = 20; return l }(), 40, false},
			} {
				r := newRig(t, Config{Threads: threads})
				batch, m, k := c.x.Dims[0], c.x.Dims[1], c.x.Dims[2]
				x, y, out := place(d, c.x, 0, 1, 0, 2, 1, 3), of(d, dims(batch, k, c.n), 1, 2, 0), of(d, dims(batch, m, c.n))
				call := &device.Call{In: operands(x, y), Out: operands(out)}
				require.Equal(t, c.without && d == dtype.Float32, must(r.compile("matmul", call)).Workspace(call) == 0, c.what)
				require.NoError(t, r.call("matmul", call), c.what)
				want := products(x.values(), y.values(), int(batch), int(m), int(k), int(c.n))
				expect(t, out, func(i int) float64 { return want[i] }, c.what, d, threads)
			}
		}
	}
}
