package host

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
)

// TestInterleavedCopies: a few long lines alternate in the result, such as channels of groups in turns, and threads begin in the
// middle of a matrix.
func TestInterleavedCopies(t *testing.T) {
	eachMode(t, func(t *testing.T, r *rig) {
		for _, d := range []dtype.DType{dtype.Uint8, dtype.Float32, dtype.Int64} {
			for _, size := range [][3]int64{{1, 2, 4}, {3, 2, 29}, {500, 3, 41}, {2, 15, 3000}, {70000, 2, 5}, {1, 4, 200001}} {
				images, lines, length := size[0], size[1], size[2]
				l := dims(images, lines, length)
				x := of(d, l, ramp(int(l.Numel()), 0, 1)...)
				turned := l
				turned.Dims[1], turned.Dims[2], turned.Strides[1], turned.Strides[2] = length, lines, 1, length
				out := of(d, dims(images, length, lines))
				in := x.Operand
				in.Layout = turned
				require.NoError(t, r.call("assign", &device.Call{In: []device.Operand{in}, Out: operands(out)}))
				want, got := x.values(), out.values()
				for i := range got {
					n := int64(i)
					image, at, line := n/(lines*length), n/lines%length, n%lines
					if got[i] != want[(image*lines+line)*length+at] {
						require.Equal(t, want[(image*lines+line)*length+at], got[i], "%v %v element %d", d, size, i)
					}
				}
			}
		}
	})
}
