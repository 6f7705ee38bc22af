package host

import (
	"math"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
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

// TestIndexElements reads and writes single elements of a line, of every width.
func TestIndexElements(t *testing.T) {
	eachMode(t, func(t *testing.T, r *rig) {
		for _, d := range dtype.All.Members() {
			x, at, out := of(d, dims(3), 1, 0, 1), of(dtype.Int64, dims(4), 2, -2, 0, 1), place(d, dims(4), 0)
			require.NoError(t, r.call("index", &device.Call{In: operands(x, at), Out: operands(out)}))
			require.Equal(t, []float64{1, 0, 1, 0}, out.values(), d)
			target := of(d, dims(3), 1, 1, 1)
			require.NoError(t, r.call("index_put", &device.Call{In: operands(out, at), Out: operands(target)}))
			require.Equal(t, []float64{1, 0, 1}, target.values(), d)
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

// TestIndexGrids reads and writes single elements that one index an axis names, more of them than a block, in every width, and
// fills them with one element. Axes of the tensor are strided, and the first index is the same along a row.
func TestIndexGrids(t *testing.T) {
	eachMode(t, func(t *testing.T, r *rig) {
		const d0, d1, b0, b1 = 5, 7, 130, 9
		shape := dims(b0, b1)
		for _, d := range dtype.All.Members() {
			for where, l := range layouts(d0, d1) {
				x := place(d, l, 0, ramp(d0*d1, 0, 1)...)
				column := dims(b0, 1)
				first := place(dtype.Int64, column.BroadcastTo(&shape.Shape), 0, ramp(2*d0, -d0, 1)...)
				second := of(dtype.Int64, dims(b0, b1), ramp(2*d1, -d1, 1)...)
				out := place(d, dims(b0, b1), 0)
				require.NoError(t, r.call("index", &device.Call{In: operands(x, first, second), Out: operands(out)}))
				xs, is, js := x.values(), first.ints(), second.ints()
				at := func(i int) int { return int((is[i]+d0)%d0)*d1 + int((js[i]+d1)%d1) }
				expect(t, out, func(i int) float64 { return xs[at(i)] }, d, where)

				for how, value := range []*tensor{out, scalar(d, dims(b0, b1), 1)} {
					target, want := place(d, l, 0, 0), make([]float64, d0*d1)
					require.NoError(t, r.call("index_put", &device.Call{In: operands(value, first, second), Out: operands(target)}))
					for i, v := range value.values() {
						want[at(i)] = v
					}
					sameBits(t, want, target.values(), d, where, how)
				}
			}
		}
	})
}

// TestIndexPutOverItsIndices has indices in the memory that it writes. The runtime copies such indices first;
// the kernel by itself may write any element of its output, and nothing else.
func TestIndexPutOverItsIndices(t *testing.T) {
	r := newRig(t, Config{Threads: 1})
	for _, v := range []float64{32, -32} {
		around := of(dtype.Int64, dims(100), 1, 0)
		x := around.Operand
		x.Addr, x.Layout = unsafe.Add(x.Addr, 50*8), dims(4)
		value := of(dtype.Int64, dims(4), v)
		err := r.call("index_put", &device.Call{In: []device.Operand{value.Operand, x}, Out: []device.Operand{x}})
		require.Equal(t, status.Index, status.CodeOf(err))
		for i, got := range around.ints() {
			if i < 50 || i >= 54 {
				require.EqualValues(t, (i+1)%2, got, "element %d", i)
			}
		}
	}
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

// TestNonzeroKeepsToItsOutput has room for fewer rows than there are, as after a count that another thread has outdated.
func TestNonzeroKeepsToItsOutput(t *testing.T) {
	r := newRig(t, Config{Threads: 1})
	for _, l := range []shape.Layout{dims(6), dims(2, 3)} {
		for rows := range int64(7) {
			x, out := place(dtype.Uint8, l, 0, 1, 1, 0, 1, 0, 1), of(dtype.Int64, dims(6, int64(l.Rank)))
			c := &device.Call{In: operands(x), Out: operands(out)}
			c.Out[0].Dims[0] = rows
			before := out.ints()
			require.NoError(t, r.call("nonzero", c))
			require.Equal(t, min(rows, 4), c.Count)
			used := min(rows, 6) * int64(l.Rank)
			require.Equal(t, before[used:], out.ints()[used:], "behind the output")
		}
	}
}

// TestIndexReduce joins several values with each place, in their order, in every dtype and from strided memory.
func TestIndexReduce(t *testing.T) {
	r := newRig(t, Config{Threads: 3})
	want := map[string][]float64{"add": {1, 9, 4}, "multiply": {1, 24, 4}, "minimum": {1, 2, 2}, "maximum": {1, 4, 2}}
	whether := map[string][]float64{"add": {0, 1, 1}, "multiply": {0, 0, 1}, "minimum": {0, 0, 1}, "maximum": {0, 1, 1}}
	for _, d := range dtype.All.Members() {
		for name, l := range layouts(3) {
			for how, result := range want {
				x, value := place(d, l, 0, 1, 2, 2), of(d, dims(3), 3, 2, 4)
				if d == dtype.Bool {
					x, value, result = place(d, l, 0, 0, 0, 1), of(d, dims(3), 1, 1, 0), whether[how]
				}
				where := of(dtype.Int64, dims(3), 1, 2, -2)
				c := &device.Call{In: operands(value, where), Out: operands(x), Attrs: op.Attrs{{Kind: op.String, Ref: how}}}
				require.NoError(t, r.call("index_reduce", c))
				sameBits(t, result, x.values(), d, name)
			}
		}
	}
}

// TestIndexReduceRoundsEachStep: 1 and halves of its spacing, of which each one is rounded off.
func TestIndexReduceRoundsEachStep(t *testing.T) {
	r := newRig(t, Config{Threads: 1})
	for d, half := range map[dtype.DType]float64{dtype.Float16: 1. / 2048, dtype.BFloat16: 1. / 256, dtype.Float32: 1. / (1 << 24)} {
		x, where := of(d, dims(1), 1), of(dtype.Int64, dims(4), 0)
		c := &device.Call{In: operands(of(d, dims(4), half), where), Out: operands(x), Attrs: op.Attrs{{Kind: op.String, Ref: "add"}}}
		require.NoError(t, r.call("index_reduce", c))
		require.Equal(t, []float64{1}, x.values(), d)
	}
}
