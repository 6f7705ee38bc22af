package host

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// TestIndex reads x[i0, i1, :] and writes it back, from every layout.
func TestIndex(t *testing.T) {
	eachMode(t, func(t *testing.T, r *rig) {
		const d0, d1, rest, b1 = 5, 7, 3, 40
		for _, d := range dtype.All.Members() {
			b0 := int64(6)
			if d == dtype.Int16 {
				b0 = 70 // enough to be split
			}
			shape := dims(b0, b1)
			for where, l := range layouts(d0, d1, rest) {
				x := place(d, l, 0, ramp(d0*d1*rest, 0, 1)...)
				if d == dtype.Bool {
					x = place(d, l, 0, 1, 0, 0)
				}
				first := place(dtype.Int64, layouts(b0, b1)["padded"], 0, ramp(2*d0, -d0, 1)...)
				row := dims(b1)
				second := place(dtype.Int64, row.BroadcastTo(&shape.Shape), 0, 1, -7, 6)
				for ow, ol := range layouts(b0, b1, rest) {
					out := place(d, ol, 0)
					require.NoError(t, r.call("index", &device.Call{In: operands(x, first, second), Out: operands(out)}))
					xs, is, js := x.values(), first.ints(), second.ints()
					at := func(i int) int {
						p, q := is[i/rest], js[i/rest]
						return (int((p+d0)%d0)*d1+int((q+d1)%d1))*rest + i%rest
					}
					expect(t, out, func(i int) float64 { return xs[at(i)] }, d, where, ow)

					target, want := place(d, l, 0, 0), make([]float64, d0*d1*rest)
					require.NoError(t, r.call("index_put", &device.Call{In: operands(out, first, second), Out: operands(target)}))
					for i, v := range out.values() {
						want[at(i)] = v
					}
					sameBits(t, want, target.values(), d, where, ow)
				}
			}
		}
	})
}

func TestIndexPutLastWins(t *testing.T) {
	r := newRig(t, Config{Threads: 3})
	const n = 100000
	value, where, x := of(dtype.Int64, dims(n), ramp(n, 0, 1)...), of(dtype.Int64, dims(n), 0, 1), of(dtype.Int64, dims(3), 7)
	require.NoError(t, r.call("index_put", &device.Call{In: operands(value, where), Out: operands(x)}))
	require.Equal(t, []int64{n - 2, n - 1, 7}, x.ints())
}

func TestIndexOutOfRange(t *testing.T) {
	eachMode(t, func(t *testing.T, r *rig) {
		x, out := of(dtype.Float32, dims(2, 3), 1, 2, 3), of(dtype.Float32, dims(700), 9)
		zeros, where := of(dtype.Int64, dims(700), 0), of(dtype.Int64, dims(700), 0, -3, 2)
		put(where.at(699), dtype.Int64, 3)
		err := r.call("index", &device.Call{In: operands(x, zeros, where), Out: operands(out)})
		require.Equal(t, status.Index, status.CodeOf(err))
		require.EqualError(t, err, "[index] index 3 is out of range for axis 1 of 3 elements; want -3 to 2")
		expect(t, out, func(int) float64 { return 9 })

		put(where.at(699), dtype.Int64, -4)
		err = r.call("index_put", &device.Call{In: operands(out, zeros, where), Out: operands(x)})
		require.EqualError(t, err, "[index_put] index -4 is out of range for axis 1 of 3 elements; want -3 to 2")
		require.Equal(t, []float64{1, 2, 3, 1, 2, 3}, x.values())
	})
}

// TestIndexOfNothing has no indices, and indices into slices without elements.
func TestIndexOfNothing(t *testing.T) {
	r := newRig(t, Config{Threads: 1})
	x := of(dtype.Float32, dims(2, 0))
	require.NoError(t, r.call("index", &device.Call{In: operands(x, of(dtype.Int64, dims(0))), Out: operands(of(dtype.Float32, dims(0, 0)))}))
	require.NoError(t, r.call("index", &device.Call{In: operands(x, of(dtype.Int64, dims(4), 1)), Out: operands(of(dtype.Float32, dims(4, 0)))}))
	err := r.call("index", &device.Call{In: operands(x, of(dtype.Int64, dims(4), 2)), Out: operands(of(dtype.Float32, dims(4, 0)))})
	require.Equal(t, status.Index, status.CodeOf(err))
}

func TestNonzero(t *testing.T) {
	r := newRig(t, Config{Threads: 1})
	for _, d := range dtype.All.Members() {
		for where, l := range layouts(40, 30) {
			x := place(d, l, 0, 0, 1, 0, 0, 1)
			if d.IsFloat() {
				put(x.at(0), d, math.Copysign(0, -1))
			}
			out := of(dtype.Int64, dims(1200, 2))
			c := &device.Call{In: operands(x), Out: operands(out)}
			require.NoError(t, r.call("nonzero", c))
			got, n := out.ints(), int64(0)
			for i, v := range x.values() {
				if v != 0 {
					require.Equal(t, []int64{int64(i) / 30, int64(i) % 30}, got[2*n:2*n+2], "%s %s", d, where)
					n++
				}
			}
			require.Equal(t, n, c.Count)
		}
	}
	c := &device.Call{In: operands(of(dtype.Float32, dims(), 3)), Out: operands(of(dtype.Int64, dims(1, 0)))}
	require.NoError(t, r.call("nonzero", c))
	require.EqualValues(t, 1, c.Count)
}
