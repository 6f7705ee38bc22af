package host

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
	"github.com/paddle-mps/paddle-mps/kernels/host/product"
)

// products multiplies by the definition; values are small integers, exact in every dtype.
func products(x, y []float64, batch, m, k, n int) []float64 {
	out := make([]float64, batch*m*n)
	for b := range batch {
		for i := range m {
			for j := range n {
				for l := range k {
					out[(b*m+i)*n+j] += x[(b*m+i)*k+l] * y[(b*k+l)*n+j]
				}
			}
		}
	}
	return out
}

func TestMatmul(t *testing.T) {
	eachMode(t, func(t *testing.T, r *rig) {
		for _, d := range dtype.Numbers.Members() {
			for _, s := range [][4]int64{{1, 1, 1, 1}, {1, 3, 4, 5}, {1, 1, 6, 200}, {1, 150, 6, 1}, {6, 5, 3, 9}, {2, 0, 3, 4}, {2, 3, 0, 4}, {0, 2, 2, 2}, {1, 65, 5, 40}} {
				b, m, k, n := s[0], s[1], s[2], s[3]
				for xw, xl := range layouts(b, m, k) {
					for yw, yl := range layouts(b, k, n) {
						x, y := place(d, xl, 0, 1, 0, 2, 1, 0), place(d, yl, 1, 0, 1, 1)
						want := products(x.values(), y.values(), int(b), int(m), int(k), int(n))
						for _, ow := range []string{"contiguous", "transposed"} {
							out := place(d, layouts(b, m, n)[ow], 0)
							require.NoError(t, r.call("matmul", &device.Call{In: operands(x, y), Out: operands(out)}))
							expect(t, out, func(i int) float64 { return want[i] }, d, s, xw, yw, ow)
						}
					}
				}
			}
		}
	})
}

// TestMatmulOnThreads has products that are cut along rows and along columns, with more strips on the other side, of operands in every
// layout: each number of threads has the bits of one.
func TestMatmulOnThreads(t *testing.T) {
	for _, s := range [][4]int64{{1, 64, 400, 120}, {1, 120, 400, 64}, {2, 64, 120, 400}, {1, 100, 300, 130}, {3, 33, 65, 97}, {1, 784, 64, 256}} {
		b, m, k, n := s[0], s[1], s[2], s[3]
		for xw, xl := range layouts(b, m, k) {
			x, y := place(dtype.Float32, xl, 0, ramp(977, -2, 0.01)...), of(dtype.Float32, dims(b, k, n), ramp(1009, -1, 0.03)...)
			var want []float64
			for _, count := range []int{1, 2, 3} {
				out := of(dtype.Float32, dims(b, m, n))
				require.NoError(t, newRig(t, Config{Threads: count}).call("matmul", &device.Call{In: operands(x, y), Out: operands(out)}), "%v, %s, %d threads", s, xw, count)
				if want == nil {
					want = out.values()
				}
				sameBits(t, want, out.values(), s, xw, count)
			}
			exact := products(x.values()[:k], y.values()[:k*n], 1, 1, int(k), int(n))
			sizes := products(absolute(x)[:k], absolute(y)[:k*n], 1, 1, int(k), int(n))
			for i, v := range exact { // each of k roundings is at most 2**-24 of a sum that is no larger than that of the terms' sizes
				require.InDelta(t, v, want[i], float64(k)*0x1p-24*sizes[i], "%v, %s", s, xw)
			}
		}
	}
}

// TestMatmulBroadcast repeats one matrix over a batch of two axes.
func TestMatmulBroadcast(t *testing.T) {
	r := newRig(t, Config{Threads: 2})
	for _, d := range []dtype.DType{dtype.Float32, dtype.Float16} {
		for where, l := range layouts(40, 50) {
			full := must(shape.Of(2, 3, 40, 50))
			x := of(d, dims(2, 3, 70, 40), 0, 1, 2, 0, 1)
			y := place(d, l, 0, 1, 2, 1)
			wide := *y
			wide.Layout = y.BroadcastTo(&full)
			out := of(d, dims(2, 3, 70, 50))
			require.NoError(t, r.call("matmul", &device.Call{In: operands(x, &wide), Out: operands(out)}))
			want := products(x.values(), wide.values(), 6, 70, 40, 50)
			expect(t, out, func(i int) float64 { return want[i] }, d, where)
		}
	}
}

// TestMatmulJoinsBatches looks at the product that is left of a batch whose right operand is one matrix, for rows that follow one
// another at one distance and for others, and multiplies.
func TestMatmulJoinsBatches(t *testing.T) {
	strided := func(l shape.Layout, strides ...int64) shape.Layout {
		copy(l.Strides[:], strides)
		return l
	}
	for _, c := range []struct {
		what    string
		x, out  shape.Layout
		m, rank int64
	}{
		{"rows of a sequence", dims(5, 3, 1, 7), dims(5, 3, 1, 4), 15, 2},
		{"matrices", dims(5, 3, 2, 7), dims(5, 3, 2, 4), 30, 2},
		{"one matrix", dims(1, 1, 6, 7), dims(1, 1, 6, 4), 6, 2},
		{"rows of longer rows", strided(dims(5, 3, 1, 7), 60, 20, 1, 1), dims(5, 3, 1, 4), 15, 2},
		{"gaps behind matrices", strided(dims(5, 3, 2, 7), 60, 20, 7, 1), dims(5, 3, 2, 4), 2, 4},
		{"gaps behind batches", strided(dims(5, 3, 2, 7), 50, 14, 7, 1), dims(5, 3, 2, 4), 6, 3},
		{"one row again and again", strided(dims(5, 3, 1, 7), 21, 0, 7, 1), dims(5, 3, 1, 4), 1, 4},
		{"results whose rows are far apart", dims(5, 3, 2, 7), strided(dims(5, 3, 2, 4), 4, 40, 20, 1), 6, 3},
		{"results that are turned", dims(5, 3, 1, 7), strided(dims(5, 3, 1, 4), 4, 20, 4, 1), 3, 3},
	} {
		x, y, out := place(dtype.Float32, c.x, 0, 1, 0, 2, 1, 3), of(dtype.Float32, dims(7, 4), 1, 2, 0), place(dtype.Float32, c.out, 0)
		full, wide := must(shape.Of(c.x.Dims[0], c.x.Dims[1], 7, 4)), *y
		wide.Layout = y.BroadcastTo(&full)
		j := product.Multiplication{Operands: [3]device.Operand{x.Operand, wide.Operand, out.Operand}}
		for j.JoinBatch() {
		}
		require.Equal(t, []int64{c.m, c.rank}, []int64{j.Operands[engine.Left].Dims[j.Operands[engine.Left].Rank-2], int64(j.Operands[engine.Left].Rank)}, c.what)
		for _, d := range []dtype.DType{dtype.Float32, dtype.BFloat16, dtype.Int64} { // the second is multiplied in packed memory
			for _, threads := range []int{1, 3} {
				x, y, out := place(d, c.x, 0, 1, 0, 2, 1, 3), of(d, dims(7, 4), 1, 2, 0), place(d, c.out, 0)
				wide := *y
				wide.Layout = y.BroadcastTo(&full)
				r := newRig(t, Config{Threads: threads})
				require.NoError(t, r.call("matmul", &device.Call{In: operands(x, &wide), Out: operands(out)}), c.what)
				want := products(x.values(), wide.values(), int(c.x.Dims[0]*c.x.Dims[1]), int(c.x.Dims[2]), 7, 4)
				expect(t, out, func(i int) float64 { return want[i] }, c.what, d)
			}
		}
	}
}

func TestMatmulWraps(t *testing.T) {
	r := newRig(t, Config{Threads: 1})
	x, y, out := of(dtype.Int8, dims(1, 2), 100, 100), of(dtype.Int8, dims(2, 1), 1, 1), of(dtype.Int8, dims(1, 1))
	require.NoError(t, r.call("matmul", &device.Call{In: operands(x, y), Out: operands(out)}))
	require.Equal(t, []int64{-56}, out.ints())
}

func TestMatmulWantsItsWorkspace(t *testing.T) {
	r := newRig(t, Config{Threads: 1})
	x, y, out := of(dtype.Float16, dims(2, 2), 1), of(dtype.Float16, dims(2, 2), 1), of(dtype.Float16, dims(2, 2))
	c := &device.Call{In: operands(x, y), Out: operands(out)}
	p := must(r.compile("matmul", c))
	require.Positive(t, p.Workspace(c))
	o := newOwner()
	c.Owner = o
	r.stream.Run(p, c)
	require.Equal(t, status.Internal, status.CodeOf(o.wait()))
}

func BenchmarkMatmul(b *testing.B) {
	r := newRig(b, Config{})
	for _, n := range []int64{64, 512} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			x, y, out := of(dtype.Float32, dims(n, n), 1, 2), of(dtype.Float32, dims(n, n), 3), of(dtype.Float32, dims(n, n))
			c := &device.Call{In: operands(x, y), Out: operands(out), Owner: quiet{}}
			p := must(r.compile("matmul", c))
			b.ReportAllocs()
			for b.Loop() {
				r.stream.Run(p, c)
			}
			b.ReportMetric(float64(2*n*n*n)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
		})
	}
}
