package host

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
)

// bytes8 are the dtypes of 8-bit integers.
var bytes8 = []dtype.DType{dtype.Uint8, dtype.Int8}

// randomOf8 places 8-bit integers, of which many are the least or the greatest.
func randomOf8(g *rand.Rand, d dtype.DType, l shape.Layout) *tensor {
	values := make([]float64, max(l.Numel(), 1))
	for i := range values {
		v := uint8(g.Uint32())
		if g.IntN(3) == 0 {
			v = []uint8{0, 0x7f, 0x80, 0xff}[g.IntN(4)]
		}
		if values[i] = float64(v); d == dtype.Int8 {
			values[i] = float64(int8(v))
		}
	}
	return place(d, l, 0, values...)
}

// products8 is products of x less a zero point, exact in float64.
func products8(x, y []float64, zero float64, batch, m, k, n int) []float64 {
	less := make([]float64, len(x))
	for i, v := range x {
		less[i] = v - zero
	}
	return products(less, y, batch, m, k, n)
}

// TestMatmulInteger multiplies 8-bit integers of either kind in any layout, with and without a zero point.
func TestMatmulInteger(t *testing.T) {
	eachMode(t, func(t *testing.T, r *rig) {
		g := rand.New(rand.NewPCG(1, 2))
		for _, s := range [][4]int64{{1, 1, 1, 1}, {1, 3, 4, 5}, {1, 1, 6, 200}, {1, 150, 6, 1}, {6, 5, 3, 9}, {2, 0, 3, 4}, {2, 3, 0, 4}, {0, 2, 2, 2}, {1, 65, 515, 40}} {
			b, m, k, n := s[0], s[1], s[2], s[3]
			for _, dx := range bytes8 {
				for _, dy := range bytes8 {
					for xw, xl := range layouts(b, m, k) {
						for yw, yl := range layouts(b, k, n) {
							x, y, zero := randomOf8(g, dx, xl), randomOf8(g, dy, yl), randomOf8(g, dx, dims())
							in := operands(x, y, zero)
							less := zero.values()[0]
							if g.IntN(3) == 0 {
								in[2], less = device.Operand{}, 0
							}
							want := products8(x.values(), y.values(), less, int(b), int(m), int(k), int(n))
							for _, ow := range []string{"contiguous", "transposed"} {
								out := place(dtype.Int32, layouts(b, m, n)[ow], 0)
								require.NoError(t, r.call("matmul_integer", &device.Call{In: in, Out: operands(out)}))
								expect(t, out, func(i int) float64 { return want[i] }, s, dx, dy, xw, yw, ow)
							}
						}
					}
				}
			}
		}
	})
}

// TestMatmulOfBytes has sums that do not fit an 8-bit integer: their low bits count.
func TestMatmulOfBytes(t *testing.T) {
	eachMode(t, func(t *testing.T, r *rig) {
		g := rand.New(rand.NewPCG(3, 4))
		for _, d := range bytes8 {
			for _, s := range [][3]int64{{1, 7, 3}, {13, 40, 33}, {400, 600, 35}, {2, 5, 1100}} {
				m, k, n := s[0], s[1], s[2]
				x, y, out := randomOf8(g, d, dims(m, k)), randomOf8(g, d, dims(k, n)), of(d, dims(m, n))
				require.NoError(t, r.call("matmul", &device.Call{In: operands(x, y), Out: operands(out)}))
				want := products8(x.values(), y.values(), 0, 1, int(m), int(k), int(n))
				expect(t, out, func(i int) float64 {
					if d == dtype.Int8 {
						return float64(int8(int64(want[i])))
					}
					return float64(uint8(int64(want[i])))
				}, d, s)
			}
		}
	})
}

// integerLayer is a plan of x less zero times a constant matrix, which the graph transposes or not.
func integerLayer(id op.ID, dx, dy dtype.DType, x, y []int64, turned bool) *graph.Planned {
	b, g := graph.NewBuilder(), rand.New(rand.NewPCG(1, 2))
	weights := &op.Const{Type: typed(dy, y...)}
	weights.Bytes = append([]byte(nil), randomOf8(g, dy, dims(y...)).memory...)
	in := []graph.Value{b.Input(typed(dx, x...)), b.Constant(weights)}
	if id == op.IDMatmulInteger {
		in = append(in, b.Input(typed(dx)))
	}
	at := op.Attrs{op.MatmulTransposeX: {}, op.MatmulTransposeY: {Kind: op.Bool}}
	if turned {
		at[op.MatmulTransposeY].I = 1
	}
	out := must(b.Call(op.ByID(id), in, at))
	return must(b.Build(out...).PlanFor(func(*op.Step) bool { return true }, nil))
}

// fillBytes gives two calls the same 8-bit integers for the first operands. The operands behind them are constants.
func fillBytes(g *rand.Rand, a, b *device.Call, inputs int) {
	for i := range inputs {
		n := bytesOf(&a.In[i])
		bytes := engine.Slice[byte](a.In[i].Addr, n)
		copy(bytes, randomOf8(g, dtype.Uint8, dims(n)).memory)
		copy(engine.Slice[byte](b.In[i].Addr, n), bytes)
	}
}

// TestMatmulIntegerConstant compares products by a packed constant with those by an operand of the call.
func TestMatmulIntegerConstant(t *testing.T) {
	eachMode(t, func(t *testing.T, r *rig) {
		g := rand.New(rand.NewPCG(5, 6))
		for _, c := range []struct{ x, y []int64 }{
			{[]int64{1, 1}, []int64{1, 1}},
			{[]int64{1, 300}, []int64{300, 33}},
			{[]int64{3, 40}, []int64{40, 200}},
			{[]int64{70, 530}, []int64{530, 35}},
			{[]int64{66, 5}, []int64{5, 1100}},
			{[]int64{2, 3, 5, 40}, []int64{40, 33}},
			{[]int64{40}, []int64{40, 33}},
			{[]int64{4, 40}, []int64{40}},
		} {
			for i, dx := range bytes8 {
				for j, dy := range bytes8 {
					for _, id := range []op.ID{op.IDMatmul, op.IDMatmulInteger} {
						if id == op.IDMatmul && i != j {
							continue
						}
						turned, y := g.IntN(2) == 0, append([]int64(nil), c.y...)
						if n := len(y); turned && n > 1 {
							y[n-1], y[n-2] = y[n-2], y[n-1]
						}
						p := integerLayer(id, dx, dy, c.x, y, turned)
						packed, plain := must(r.Compile(&p.Plan)), must(r.Compile(withoutConstants(p)))
						require.True(t, isConstant(packed), "%v", c)
						require.False(t, isConstant(plain))
						want, got := planCall(p, 3), planCall(p, 3)
						fillBytes(g, want, got, len(p.Inputs))
						require.NoError(t, runPlan(r, plain, want))
						require.NoError(t, runPlan(r, packed, got))
						require.Equal(t, bytesOut(want), bytesOut(got), "%s %s %v", dx, dy, c)
					}
				}
			}
		}
	})
}

// Where a device has no kernel of it, matmul_integer is a product in int32 with the same result.
func TestMatmulIntegerLowered(t *testing.T) {
	r, g := newRig(t, Config{Threads: 2}), rand.New(rand.NewPCG(7, 8))
	for _, dx := range bytes8 {
		for _, dy := range bytes8 {
			b := graph.NewBuilder()
			in := []graph.Value{b.Input(typed(dx, 3, 5, 40)), b.Input(typed(dy, 40, 33)), b.Input(typed(dx))}
			program := b.Build(must(b.Call(op.ByID(op.IDMatmulInteger), in, op.Attrs{op.MatmulTransposeX: {}, op.MatmulTransposeY: {}}))...)
			own, lowered := must(program.PlanFor(r.Composes, nil)), must(program.Plan())
			require.Less(t, len(own.Steps), len(lowered.Steps))
			want, got := planCall(lowered, 3), planCall(own, 3)
			fillBytes(g, want, got, len(lowered.Inputs))
			require.NoError(t, runPlan(r, must(r.Compile(&lowered.Plan)), want))
			require.NoError(t, runPlan(r, must(r.Compile(&own.Plan)), got))
			require.Equal(t, bytesOut(want), bytesOut(got), "%s %s", dx, dy)
		}
	}
}
