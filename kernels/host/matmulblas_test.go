//go:build cgo

package host

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/internal/sample"
	"github.com/paddle-mps/paddle-mps/kernels/host/product"
)

// newBLASRig is a rig that computes large products by Accelerate or its mock.
func newBLASRig(t testing.TB, threads int) *rig {
	r := newRig(t, Config{Threads: threads, Accelerate: true})
	n := dims(64, 64)
	x := device.Operand{DType: dtype.Float32, Layout: n}
	if !byLibrary(must(r.compile("matmul", &device.Call{In: []device.Operand{x, x}, Out: []device.Operand{x}}))) {
		t.Skip("there is neither Accelerate nor a C compiler that makes its mock")
	}
	return r
}

// byLibrary reports whether the product of a program is one of the library.
func byLibrary(p device.Program) bool {
	k := p.(*program).kernel
	if s, ok := k.(*sequence); ok {
		k = s.stages[0].kernel
	}
	product, ok := k.(*product.Matmul)
	return ok && product.Library != nil
}

// withStrides is a layout with other strides.
func withStrides(l shape.Layout, strides ...int64) shape.Layout {
	copy(l.Strides[:], strides)
	return l
}

// rowsAndColumns are the layouts of a batch of matrices that a library reads where they are, and some that it cannot read.
func rowsAndColumns(b, m, n int64) map[string]shape.Layout {
	all := layouts(b, m, n)
	all["rows apart"] = withStrides(dims(b, m, n), m*(n+5), n+5, 1)
	all["columns"] = withStrides(dims(b, m, n), m*n, 1, m)
	all["columns apart"] = withStrides(dims(b, m, n), (m+3)*n, 1, m+3)
	all["columns of a longer batch"] = withStrides(dims(b, m, n), m, 1, b*m)
	if b > 1 {
		all["rows of a wider matrix"] = withStrides(dims(b, m, n), n, b*n, 1)
		all["columns that overlap"] = withStrides(dims(b, m, n), m*n, 1, m-1)
		all["columns of matrices that overlap"] = withStrides(dims(b, m, n), m, 1, m)
		all["one row again and again"] = withStrides(dims(b, m, n), n, 0, 1)
		all["one matrix again and again"] = withStrides(dims(b, m, n), 0, n, 1)
	}
	return all
}

// TestBLASProducts compares products of each layout with the definition. Sums are exact, so every order gives the same bits.
func TestBLASProducts(t *testing.T) {
	r := newBLASRig(t, 3)
	for i, s := range [][4]int64{{1, 64, 64, 64}, {1, 16, 256, 16}, {1, 273, 17, 40}, {1, 40, 33, 529}, {3, 37, 50, 41}, {70, 1, 33, 29}} {
		for _, d := range []dtype.DType{dtype.Float32, dtype.Float64} {
			t.Run(fmt.Sprint(s, d), func(t *testing.T) {
				if testing.Short() { // the race detector and the emulator make them ten times slower
					sample.Skip(t, 5, "TestBLASProducts", i)
				}
				eachLayout(t, r, d, s[0], s[1], s[2], s[3])
			})
		}
	}
}

// eachLayout multiplies batches of m x k and k x n in each layout.
func eachLayout(t *testing.T, r *rig, d dtype.DType, b, m, k, n int64) {
	for xw, xl := range rowsAndColumns(b, m, k) {
		for yw, yl := range rowsAndColumns(b, k, n) {
			if xw != "contiguous" && yw != "contiguous" && xw != yw && yw != "one matrix again and again" {
				continue // each layout with itself, with contiguous operands and with one matrix
			}
			x, y := place(d, xl, 0, 1, 0, 2, 1, 0, -3), place(d, yl, 0, 1, 0, 1, 1, -2)
			want := products(x.values(), y.values(), int(b), int(m), int(k), int(n))
			for ow, ol := range rowsAndColumns(b, m, n) {
				if strings.Contains(ow, "overlap") || strings.Contains(ow, "again") || ow != "contiguous" && (xw != yw || xw != "columns") {
					continue // no result lies like that, or others were tried
				}
				out := place(d, ol, 0, math.NaN())
				require.NoError(t, r.call("matmul", &device.Call{In: operands(x, y), Out: operands(out)}))
				expect(t, out, func(i int) float64 { return want[i] }, xw, yw, ow)
				gaps := len(out.memory) - int(out.Numel()*d.Size())
				require.GreaterOrEqual(t, bytes.Count(out.memory, []byte{0xA5}), gaps, "%v: it wrote between the rows", ow)
			}
		}
	}
}

// TestBLASTakes says which products a library computes.
func TestBLASTakes(t *testing.T) {
	r := newBLASRig(t, 1)
	flat := func(ds ...int64) device.Operand { return device.Operand{DType: dtype.Float32, Layout: dims(ds...)} }
	with := func(o device.Operand, strides ...int64) device.Operand {
		o.Layout = withStrides(o.Layout, strides...)
		return o
	}
	const beyond = math.MaxInt32 + 1
	for _, c := range []struct {
		what      string
		x, y, out device.Operand
		want      bool
	}{
		{"40 x 40 x 40 is too small by 1536", flat(40, 40), flat(40, 40), flat(40, 40), false},
		{"41 x 41 x 41", flat(41, 41), flat(41, 41), flat(41, 41), true},
		{"a row", flat(1, 4096), flat(4096, 4096), flat(1, 4096), false},
		{"a column", flat(4096, 4096), flat(4096, 1), flat(4096, 1), false},
		{"15 rows", flat(15, 4096), flat(4096, 4096), flat(15, 4096), false},
		{"16 rows", flat(16, 4096), flat(4096, 4096), flat(16, 4096), true},
		{"15 columns", flat(4096, 4096), flat(4096, 15), flat(4096, 15), false},
		{"few terms", flat(4096, 15), flat(15, 4096), flat(4096, 4096), false},
		{"no terms", flat(4096, 0), flat(0, 4096), flat(4096, 4096), false},
		{"no rows", flat(0, 64), flat(64, 64), flat(0, 64), false},
		{"no matrices", flat(0, 64, 64), flat(0, 64, 64), flat(0, 64, 64), false},
		{"many small matrices", flat(1000, 20, 20), flat(1000, 20, 20), flat(1000, 20, 20), false},
		{"a batch", flat(3, 64, 64), flat(3, 64, 64), flat(3, 64, 64), true},
		{"rows of a sequence, which are joined", flat(64, 1, 64), with(flat(64, 64, 64), 0, 64, 1), flat(64, 1, 64), true},
		{"a sequence, and a matrix for each row", flat(64, 1, 64), flat(64, 64, 64), flat(64, 1, 64), false},
		{"distances of rows beyond an int", with(flat(64, 64), beyond, 1), flat(64, 64), flat(64, 64), false},
		{"distances of columns beyond an int", flat(64, 64), with(flat(64, 64), 1, beyond), flat(64, 64), false},
		{"what is packed", with(flat(64, 64), beyond, 2), flat(64, 64), flat(64, 64), true},
		{"sizes beyond an int", flat(16, beyond), flat(beyond, 16), flat(16, 16), false},
		{"rows beyond an int", flat(beyond, 16), flat(16, 16), flat(beyond, 16), false},
		{"columns beyond an int", flat(16, 16), flat(16, beyond), flat(16, beyond), false},
	} {
		call := &device.Call{Op: op.IDMatmul, In: []device.Operand{c.x, c.y}, Out: []device.Operand{c.out}}
		require.Equal(t, c.want, byLibrary(must(r.compile("matmul", call))), c.what)
		if !sample.UnderRace {
			require.Zero(t, testing.AllocsPerRun(10, func() { r.Key(op.IDMatmul, call) }), c.what)
		}
		other := newRig(t, Config{Threads: 1}) // which was not asked to
		require.False(t, byLibrary(must(other.compile("matmul", call))), c.what)
	}
	for i := range 3 {
		l := dims(64, 64)
		all := []*tensor{of(dtype.Float64, l, 0), of(dtype.Float64, l, 0), of(dtype.Float64, l, 0)}
		all[i] = place(dtype.Float64, l, 1, 0)
		require.False(t, byLibrary(must(r.compile("matmul", &device.Call{In: operands(all[:2]...), Out: operands(all[2])}))), "it is not aligned")
	}
	for _, d := range dtype.Numbers.Members() {
		o := flat(64, 64)
		o.DType = d
		p := must(r.compile("matmul", &device.Call{In: []device.Operand{o, o}, Out: []device.Operand{o}}))
		require.Equal(t, d == dtype.Float32 || d == dtype.Float64, byLibrary(p), d)
	}
}

// TestBLASThreads: the bits are those of one thread for any number of them, though the library adds up in another order for other
// sizes.
func TestBLASThreads(t *testing.T) {
	for _, s := range [][4]int64{{1, 700, 70, 50}, {1, 50, 70, 700}, {1, 257, 100, 129}, {3, 300, 40, 60}} {
		for _, d := range []dtype.DType{dtype.Float32, dtype.Float64} {
			var want []float64
			for _, threads := range []int{1, 2, 3, 7} {
				r := newBLASRig(t, threads)
				x, y, out := of(d, dims(s[0], s[1], s[2]), 0), of(d, dims(s[0], s[2], s[3]), 0), of(d, dims(s[0], s[1], s[3]), 0)
				normals(rand.New(rand.NewPCG(1, 2)), x.memory, d)
				normals(rand.New(rand.NewPCG(3, 4)), y.memory, d)
				require.NoError(t, r.call("matmul", &device.Call{In: operands(x, y), Out: operands(out)}))
				if want == nil {
					want = out.values()
					closeToPortable(t, x, y, out)
				}
				sameBits(t, want, out.values(), s, d, threads)
			}
		}
	}
}

// closeToPortable compares a result with that of the portable kernel: each is off by at most a rounding for each term.
func closeToPortable(t *testing.T, x, y, out *tensor) {
	t.Helper()
	r := newRig(t, Config{Threads: 1})
	own, sizes := of(out.DType, out.Layout, 0), of(out.DType, out.Layout, 0)
	require.NoError(t, r.call("matmul", &device.Call{In: operands(x, y), Out: operands(own)}))
	ax, ay := of(x.DType, x.Layout, absolute(x)...), of(y.DType, y.Layout, absolute(y)...)
	require.NoError(t, r.call("matmul", &device.Call{In: operands(ax, ay), Out: operands(sizes)}))
	eps := map[dtype.DType]float64{dtype.Float32: 0x1p-24, dtype.Float64: 0x1p-53}[out.DType]
	want, bound := own.values(), sizes.values()
	for i, v := range out.values() {
		if math.Abs(want[i]-v) > 2*eps*float64(x.Dims[x.Rank-1]+1)*bound[i] {
			t.Fatalf("element %d is %v; want %v", i, v, want[i])
		}
	}
}

// absolute are the absolute values of the elements.
func absolute(x *tensor) []float64 {
	all := x.values()
	for i, v := range all {
		all[i] = math.Abs(v)
	}
	return all
}

// TestBLASSpecials: NaN and infinities of operands reach the elements that they are terms of, with a zero on the other side too, and
// those that the result had before reach none.
func TestBLASSpecials(t *testing.T) {
	r := newBLASRig(t, 2)
	for _, special := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		for _, d := range []dtype.DType{dtype.Float32, dtype.Float64} {
			x, y, out := of(d, dims(64, 64), 0, 1), of(d, dims(64, 64), 1, 0, 0), of(d, dims(64, 64), special)
			put(x.at(5*64+7), d, special)
			put(y.at(9*64+11), d, special)
			want := products(x.values(), y.values(), 1, 64, 64, 64)
			require.NoError(t, r.call("matmul", &device.Call{In: operands(x, y), Out: operands(out)}))
			expect(t, out, func(i int) float64 { return want[i] }, special, d)
		}
	}
}

// TestBLASSubnormals: subnormal operands and results are not taken for 0.
func TestBLASSubnormals(t *testing.T) {
	r := newBLASRig(t, 1)
	for d, least := range map[dtype.DType]float64{dtype.Float32: 0x1p-149, dtype.Float64: 0x1p-1074} {
		for _, scale := range []float64{1, 0x1p30} {
			x, y, out := of(d, dims(64, 64), 3*least, 0), of(d, dims(64, 64), scale), of(d, dims(64, 64), 0)
			require.NoError(t, r.call("matmul", &device.Call{In: operands(x, y), Out: operands(out)}))
			expect(t, out, func(int) float64 { return 32 * 3 * least * scale }, d, scale)
		}
	}
}

// TestBLASEpilogues: a group has the bits of its steps one by one, with constant weights and without.
func TestBLASEpilogues(t *testing.T) {
	for _, threads := range []int{1, 2, 5} {
		r := newBLASRig(t, threads)
		for _, known := range []bool{false, true} {
			for _, s := range [][]int64{{1001, 20, 77}, {40, 21, 2001}, {3, 300, 20, 100}} {
				b := graph.NewBuilder()
				call := func(id op.ID, in ...graph.Value) graph.Value { return must(b.Call(op.ByID(id), in, nil))[0] }
				last := len(s) - 1
				weight := typed(dtype.Float32, s[last-1], s[last])
				x := b.Input(typed(dtype.Float32, s[:last]...))
				var w graph.Value
				if known {
					k := &op.Const{Type: weight, Bytes: make([]byte, weight.Shape.Numel()*4)}
					normals(rand.New(rand.NewPCG(1, 2)), k.Bytes, dtype.Float32)
					w = b.Constant(k)
				} else {
					w = b.Input(weight)
				}
				y := call(op.IDMatmul, x, w)
				g := b.Build(call(op.IDTanh, call(op.IDAdd, y, b.Input(typed(dtype.Float32, s[last])))))
				plain, fused := planFused(r.Device, g, false), planFused(r.Device, g, true)
				require.Len(t, fused.Groups, 1)
				require.True(t, fused.Groups[0].Head)
				program := must(r.Compile(&fused.Plan))
				require.True(t, byLibrary(program))
				want, got := planCall(plain, 3), planCall(fused, 3)
				require.NoError(t, oneByOne(r, plain, want))
				require.NoError(t, runPlan(r, program, got))
				require.Equal(t, bytesOut(want), bytesOut(got), "%v", s)
			}
		}
	}
}

// TestBLASSharesNoPackedWeights: products of one constant, some of which are too small for the library, keep their own kernels.
func TestBLASSharesNoPackedWeights(t *testing.T) {
	r := newBLASRig(t, 1)
	for _, rows := range [][]int64{{2, 300}, {300, 2}} {
		b := graph.NewBuilder()
		k := &op.Const{Type: typed(dtype.Float32, 64, 64), Bytes: make([]byte, 64*64*4)}
		normals(rand.New(rand.NewPCG(1, 2)), k.Bytes, dtype.Float32)
		w, out := b.Constant(k), []graph.Value{}
		for _, m := range rows {
			out = append(out, must(b.Call(op.ByID(op.IDMatmul), []graph.Value{b.Input(typed(dtype.Float32, m, 64)), w}, nil))[0])
		}
		p := must(b.Build(out...).Plan())
		s := must(r.Compile(&p.Plan)).(*program).kernel.(*sequence)
		for i, m := range rows {
			require.Equal(t, m == 300, s.stages[i].kernel.(*product.Matmul).Library != nil)
		}
		want, got := planCall(p, 3), planCall(p, 3)
		require.NoError(t, oneByOne(r, p, want))
		require.NoError(t, runPlan(r, &program{s}, got))
		require.Equal(t, bytesOut(want), bytesOut(got))
	}
}

// TestBLASConstants: weights that a graph transposes are read by columns, and not packed.
func TestBLASConstants(t *testing.T) {
	r := newBLASRig(t, 2)
	for _, turned := range []bool{false, true} {
		y := []int64{70, 80}
		if turned {
			y = []int64{80, 70}
		}
		p := layer(dtype.Float32, []int64{300, 70}, y, turned)
		compiled := must(r.Compile(&p.Plan))
		require.True(t, byLibrary(compiled))
		want, got := planCall(p, 3), planCall(p, 3)
		require.Zero(t, compiled.Workspace(got))
		require.NoError(t, oneByOne(r, p, want))
		require.NoError(t, runPlan(r, compiled, got))
		require.Equal(t, bytesOut(want), bytesOut(got))
	}
}

// TestBLASFromManyThreads: calls of one program at once do not disturb each other.
func TestBLASFromManyThreads(t *testing.T) {
	r := newBLASRig(t, 2)
	x, y := of(dtype.Float32, dims(300, 64), 1, 2, 0), of(dtype.Float32, dims(64, 64), 3, -1)
	p := must(r.compile("matmul", &device.Call{In: operands(x, y), Out: operands(of(dtype.Float32, dims(300, 64)))}))
	want := products(x.values(), y.values(), 1, 300, 64, 64)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 20 {
				out, o := of(dtype.Float32, dims(300, 64), math.NaN()), newOwner()
				r.stream.Run(p, &device.Call{Op: op.IDMatmul, In: operands(x, y), Out: operands(out), Owner: o})
				if err := o.wait(); err != nil || !slices.Equal(out.values(), want) {
					t.Errorf("a wrong product, or %v", err)
				}
			}
		})
	}
	all.Wait()
}

// TestBLASDoesNotAllocate: a warm product allocates nothing.
func TestBLASDoesNotAllocate(t *testing.T) {
	if sample.UnderRace {
		t.Skip("the race detector makes sync.Pool forget at random")
	}
	r := newBLASRig(t, 1)
	l := dims(64, 64)
	c := &device.Call{In: operands(of(dtype.Float32, l, 1), of(dtype.Float32, l, 2)), Out: operands(of(dtype.Float32, l, 0)), Owner: quiet{}}
	p := must(r.compile("matmul", c))
	require.LessOrEqual(t, testing.AllocsPerRun(50, func() { r.stream.Run(p, c) }), 0.3)
}

// refuse is a library that takes no sizes.
func refuse(_, _, _ unsafe.Pointer, _, _, _, _, _, _ int64, _ [2]bool) bool { return false }

// TestBLASRefuses: a product that the library does not take is an error that names its sizes, on any thread.
func TestBLASRefuses(t *testing.T) {
	for _, threads := range []int{1, 3} {
		r := newRig(t, Config{Threads: threads})
		k := product.BlasMatmul(dtype.Float32, refuse)
		x, y, out, o := of(dtype.Float32, dims(600, 64), 1), of(dtype.Float32, dims(64, 64), 1), of(dtype.Float32, dims(600, 64), 0), newOwner()
		r.stream.Run(&program{k}, &device.Call{Op: op.IDMatmul, In: operands(x, y), Out: operands(out), Owner: o})
		require.ErrorContains(t, o.wait(), "[matmul] got a product of 600 x 64 x 64 elements that BLAS does not allow")
	}
}
