package host

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
)

// BenchmarkConv runs the convolutions of bench/cpu.py with a weight that is no constant: it is read anew in each call.
func BenchmarkConv(b *testing.B) {
	for _, c := range []convCase{
		square(3, 224, 64, 7, 2, 3, 1), square(64, 56, 64, 1, 1, 0, 1), square(64, 56, 64, 3, 1, 1, 1), square(64, 56, 256, 1, 1, 0, 1),
		square(256, 56, 512, 1, 2, 0, 1), square(128, 28, 128, 3, 1, 1, 1), square(256, 14, 256, 3, 1, 1, 1), square(1024, 14, 256, 1, 1, 0, 1),
		square(512, 7, 512, 3, 1, 1, 1), square(512, 7, 2048, 1, 1, 0, 1),
		square(3, 224, 16, 3, 2, 1, 1), square(16, 112, 16, 3, 1, 1, 16), square(16, 112, 64, 1, 1, 0, 1), square(64, 112, 64, 3, 2, 1, 64),
		square(72, 56, 72, 5, 2, 2, 72), square(120, 28, 120, 5, 1, 2, 120), square(80, 14, 480, 1, 1, 0, 1), square(672, 14, 672, 5, 2, 2, 672),
		square(160, 7, 960, 1, 1, 0, 1),
		square(3, 256, 64, 3, 1, 1, 1), square(64, 256, 64, 3, 1, 1, 1), square(128, 128, 128, 3, 1, 1, 1), square(512, 32, 512, 3, 1, 1, 1),
		square(64, 256, 2, 1, 1, 0, 1),
	} {
		for _, threads := range []int{1, 2} {
			b.Run(fmt.Sprintf("%dx%d^2->%d,%dx%d:%d,threads=%d", c.in*c.groups, c.size[1], c.out*c.groups, c.kernel[1], c.kernel[1], c.stride[1], threads), func(b *testing.B) {
				r := newRig(b, Config{Threads: threads})
				x := of(dtype.Float32, dims(c.sizes(c.batch, c.in*c.groups, c.size)...), 0.5, -1.25, 0.75, 2)
				w := of(dtype.Float32, dims(c.sizes(c.out*c.groups, c.in, c.kernel)...), 0.25, -0.5, 1.5)
				y := of(dtype.Float32, dims(c.sizes(c.batch, c.out*c.groups, c.windows())...))
				call := &device.Call{In: operands(x, w), Out: operands(y), Attrs: c.attrs("conv")}
				program := must(r.compile("conv", call))
				call.Workspace = room(program.Workspace(call))
				require.NoError(b, r.call("conv", call))
				call.Owner = quiet{}
				for b.Loop() {
					r.stream.Run(program, call)
				}
				r.stream.Sync(r.stream.Done())
			})
		}
	}
}
