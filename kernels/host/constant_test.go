package host

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
	"github.com/paddle-mps/paddle-mps/kernels/host/product"
)

// normals writes numbers with all bits of their dtype in use.
func normals(g *rand.Rand, bytes []byte, d dtype.DType) {
	for size := int(d.Size()); len(bytes) > 0; bytes = bytes[size:] {
		put(bytes[:size], d, g.NormFloat64())
	}
}

// layer is a plan of x times a constant matrix, which the graph transposes or not.
func layer(d dtype.DType, x, y []int64, turned bool) *graph.Planned {
	b := graph.NewBuilder()
	weights := &op.Const{Type: typed(d, y...)}
	weights.Bytes = make([]byte, weights.Shape.Numel()*d.Size())
	normals(rand.New(rand.NewPCG(1, 2)), weights.Bytes, d)
	at := op.Attrs{op.MatmulTransposeX: {}, op.MatmulTransposeY: {Kind: op.Bool}}
	if turned {
		at[op.MatmulTransposeY].I = 1
	}
	out := must(b.Call(op.ByID(op.IDMatmul), []graph.Value{b.Input(typed(d, x...)), b.Constant(weights)}, at))
	return must(b.Build(out...).Plan())
}

// withoutConstants is the same plan for the portable kernel.
func withoutConstants(p *graph.Planned) *device.Plan {
	plain := p.Plan
	plain.Steps = append([]device.Step(nil), p.Steps...)
	for i := range plain.Steps {
		s := &plain.Steps[i]
		c := *s.Call
		c.In = append([]device.Operand(nil), c.In...)
		for j := range c.In {
			c.In[j].Const = nil
		}
		s.Call = &c
	}
	return &plain
}

// isConstant reports whether a program of one product has packed its right operand.
func isConstant(p device.Program) bool {
	k, ok := p.(*program).kernel.(*sequence).stages[0].kernel.(*product.Matmul)
	return ok && k.Known != nil
}

// TestMatmulConstant compares products by a packed constant with those by the portable kernel, to the
// last bit.
func TestMatmulConstant(t *testing.T) {
	eachMode(t, func(t *testing.T, r *rig) {
		for _, d := range []dtype.DType{dtype.Float32, dtype.Float16, dtype.BFloat16, dtype.Float64, dtype.Int32} {
			for _, c := range []struct {
				x, y []int64
				want bool // packed
			}{
				{[]int64{1, 1}, []int64{1, 1}, true},
				{[]int64{1, 300}, []int64{300, 33}, true},
				{[]int64{3, 40}, []int64{40, 200}, true},
				{[]int64{70, 260}, []int64{260, 35}, true},
				{[]int64{66, 5}, []int64{5, 1100}, true},
				{[]int64{2, 3, 5, 40}, []int64{40, 33}, true}, // one matrix for the whole batch
				{[]int64{2, 5, 40}, []int64{1, 40, 33}, true},
				{[]int64{40}, []int64{40, 33}, true},
				{[]int64{4, 40}, []int64{40}, true},
				{[]int64{2, 5, 40}, []int64{2, 40, 33}, false}, // several matrices
				{[]int64{3, 0}, []int64{0, 4}, false},
			} {
				for _, turned := range []bool{false, true} {
					y := append([]int64(nil), c.y...)
					if n := len(y); turned && n > 1 {
						y[n-1], y[n-2] = y[n-2], y[n-1]
					}
					p := layer(d, c.x, y, turned)
					packed, plain := must(r.Compile(&p.Plan)), must(r.Compile(withoutConstants(p)))
					half := d == dtype.Float16 || d == dtype.BFloat16
					require.Equal(t, c.want && (half || d == dtype.Float32), isConstant(packed), "%s %v", d, c)
					require.False(t, isConstant(plain))
					if !isConstant(packed) {
						continue // both are the portable kernel
					}
					want, got := planCall(p, 3), planCall(p, 3)
					normals(rand.New(rand.NewPCG(5, 6)), engine.Slice[byte](want.In[0].Addr, bytesOf(&want.In[0])), d)
					copy(engine.Slice[byte](got.In[0].Addr, bytesOf(&got.In[0])), engine.Slice[byte](want.In[0].Addr, bytesOf(&want.In[0])))
					require.NoError(t, runPlan(r, plain, want))
					require.NoError(t, runPlan(r, packed, got))
					require.Equal(t, bytesOut(want), bytesOut(got), "%s %v", d, c)
				}
			}
		}
	})
}

// A program keeps its constant itself: it counts the bytes, needs no workspace for it and does not look at
// the operand of the call.
func TestMatmulConstantIsKept(t *testing.T) {
	r := newRig(t, Config{Threads: 1})
	p := layer(dtype.Float16, []int64{16, 64}, []int64{64, 96}, false)
	packed, plain := must(r.Compile(&p.Plan)), must(r.Compile(withoutConstants(p)))
	const weights = 4 * 64 * 96
	require.GreaterOrEqual(t, packed.(device.Sized).Bytes(), plain.(device.Sized).Bytes()+weights)
	want, got := planCall(p, 3), planCall(p, 3)
	require.Equal(t, plain.Workspace(want)-weights, packed.Workspace(got))
	require.NoError(t, runPlan(r, plain, want))
	clear(engine.Slice[byte](got.In[1].Addr, bytesOf(&got.In[1])))
	require.NoError(t, runPlan(r, packed, got))
	require.Equal(t, bytesOut(want), bytesOut(got))
}

// A call has no constants, so that its key is one that no program with a state has.
func TestKeyOfMatmul(t *testing.T) {
	r := newRig(t, Config{})
	l := dims(4, 4)
	c := &device.Call{Op: op.IDMatmul, In: operands(of(dtype.Float32, l), of(dtype.Float32, l)), Out: operands(of(dtype.Float32, l))}
	key := r.Key(c.Op, c)
	require.Equal(t, key, r.Key(c.Op, c))
	c.In[1].Const = make([]byte, 64)
	require.NotEqual(t, key, r.Key(c.Op, c))
}

// BenchmarkMatmulConstant compares a constant right operand with one that is not known before the run.
func BenchmarkMatmulConstant(b *testing.B) {
	for _, d := range []dtype.DType{dtype.Float32, dtype.Float16} {
		for _, m := range []int64{1, 8, 64, 512} {
			p := layer(d, []int64{m, 512}, []int64{512, 512}, false)
			for name, plan := range map[string]*device.Plan{"portable": withoutConstants(p), "constant": &p.Plan} {
				b.Run(fmt.Sprintf("%s/%d/%s", d, m, name), func(b *testing.B) {
					r := newRig(b, Config{Threads: 1})
					program, c := must(r.Compile(plan)), planCall(p, 1)
					c.Workspace = room(program.Workspace(c))
					b.ReportAllocs()
					for b.Loop() {
						r.stream.Run(program, c)
					}
					b.ReportMetric(float64(2*m*512*512)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
				})
			}
		}
	}
}

// A run reads all inputs but the weights that were packed, which are asked for by the number of the input.
func TestProgramReads(t *testing.T) {
	r := newRig(t, Config{Threads: 1})
	for name, c := range map[string]struct {
		plan *device.Plan
		want []bool
	}{
		"packed":   {&layer(dtype.Float32, []int64{16, 64}, []int64{64, 96}, false).Plan, []bool{true, false}},
		"unpacked": {withoutConstants(layer(dtype.Float32, []int64{16, 64}, []int64{64, 96}, false)), []bool{true, true}},
		"integers": {&layer(dtype.Int32, []int64{16, 64}, []int64{64, 96}, false).Plan, []bool{true, true}},
	} {
		t.Run(name, func(t *testing.T) {
			reads := make([]bool, len(c.want))
			must(r.Compile(c.plan)).(device.Selective).Reads(reads)
			require.Equal(t, c.want, reads)
		})
	}
}
