package host

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
)

// TestSumOfManyElements adds up more than is in the cache, which has loops of its own, in layouts that these take and in others: rows
// apart, backwards, one row again and again, and rows that overlap. Sums of small integers are exact, so that there is one right answer.
func TestSumOfManyElements(t *testing.T) {
	const rows, length = 100, 1000
	distances := map[string][2]int64{
		"contiguous": {length, 1}, "apart": {length + 3, 1}, "backwards": {-length, 1}, "repeated": {0, 1}, "overlapping": {length / 2, 1},
		"flipped": {length, -1}, "transposed": {1, rows}, "every second": {2 * length, 2},
	}
	for threads := 1; threads <= 2; threads++ {
		r := newRig(t, Config{Threads: threads})
		for name, strides := range distances {
			for _, d := range []dtype.DType{dtype.Float32, dtype.Float16, dtype.Int32} {
				l := dims(rows, length)
				copy(l.Strides[:], strides[:])
				x := place(d, l, 0, 0)
				for i := range l.Numel() { // elements of rows that overlap are written more than once
					put(x.at(i), d, float64(i%7-3))
				}
				values := x.values()
				for _, axes := range []op.Axes{1, 2, 3} {
					for _, mean := range []bool{false, true} {
						if mean && d != dtype.Float32 {
							continue
						}
						out, call, by := of(d, dims(keep([]int64{rows, length}, axes)...)), "sum", 1.0
						groups := groups(values, []int64{rows, length}, axes)
						if mean {
							call, by = "mean", float64(len(groups[0]))
						}
						require.NoError(t, r.call(call, &device.Call{In: operands(x), Out: operands(out), Axes: axes}))
						for i, got := range out.values() {
							want := 0.0
							for _, v := range groups[i] {
								want += v
							}
							require.Equal(t, rounded(d, want/by), got, fmt.Sprintf("%s of %s, %s, axes %b, %d threads, output %d", call, d, name, axes, threads, i))
						}
					}
				}
			}
		}
	}
}
