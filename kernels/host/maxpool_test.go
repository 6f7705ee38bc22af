package host

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
	"github.com/paddle-mps/paddle-mps/kernels/host/pool"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/arith"
	"github.com/paddle-mps/paddle-mps/kernels/host/window"
)

// Both ways of pooling a run of windows find the same elements, with ties, zeros of both signs, infinities and nan.
func TestWaysOfMaxPoolAgree(t *testing.T) {
	values := []float32{0, float32(math.Copysign(0, -1)), 1, -1, 2, -2, float32(math.Inf(1)), float32(math.Inf(-1)), 1e-45, -1e-45}
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range 2000 {
		kernel := [op.MaxSpatial]int64{1 + rng.Int64N(2), 1 + rng.Int64N(2), 1 + rng.Int64N(4)}
		stride, n := 2+rng.Int64N(3), int(1+rng.Int64N(5))
		x := window.Image[float32]{Data: make([]float32, 240), Planes: window.Planes{Dims: [op.MaxSpatial]int64{2, 3, 40}, Strides: [op.MaxSpatial]int64{120, 40, 1}}}
		for i := range x.Data {
			x.Data[i] = values[rng.IntN(len(values))]
			if round%3 == 0 && rng.IntN(6) == 0 {
				x.Data[i] = math.Float32frombits(rng.Uint32() | 0x7FC00000) // nan of either sign
			}
		}
		if round%2 == 0 { // the same plane, read backwards
			x.Origin, x.Strides = 239, [op.MaxSpatial]int64{-120, -40, -1}
		}
		j := &pool.Pooling[float32]{Pool: &pool.Pool[float32]{Larger: arith.RowsOf[float32](arith.Max).VV}, X: x}
		j.Windows.Kernel, j.Windows.Stride = kernel, [op.MaxSpatial]int64{1, 1, stride}
		m := pool.MaxRun[float32]{Pooling: j, From: x.Origin, Lines: pool.PoolRows{FromA: 0, ToA: kernel[0], FromB: 1, ToB: 1 + kernel[1]}, Row: make([]float32, engine.Block)}
		require.True(t, m.Compares())
		best, places := make([]float32, n), make([]int64, n)
		m.Pool(3, best, places)
		others, found := make([]float32, n), make([]int64, n)
		m.Compare(3, others, found)
		require.Equal(t, places, found, "kernel %v, stride %d", kernel, stride)
		for i := range best {
			at := places[i]
			if round%2 == 0 {
				at = x.Origin - at
			}
			require.Equal(t, math.Float32bits(x.Data[at]), math.Float32bits(others[i]))
		}
	}
}

// A program in which nothing reads the indices has the values of one that makes them: of windows with and without strides,
// wide ones, adaptive ones, at edges, and of lines that are longer than a block.
func TestMaxPoolWithoutIndices(t *testing.T) {
	r := newRig(t, Config{Threads: 2})
	ints := func(n ...int64) op.Value { return op.Value{Kind: op.Ints, Ints: n} }
	for name, c := range map[string]struct {
		shape []int64
		attrs op.Attrs
	}{
		"stride 2": {[]int64{2, 3, 21, 1500}, op.Attrs{op.MaxPoolKernelSize: ints(3, 3), op.MaxPoolStride: ints(2, 2), op.MaxPoolPadding: ints(1, 1, 1, 1)}},
		"stride 1": {[]int64{1, 2, 9, 1100}, op.Attrs{op.MaxPoolKernelSize: ints(3, 2), op.MaxPoolStride: ints(1, 1)}},
		"wide":     {[]int64{1, 2, 5, 3000}, op.Attrs{op.MaxPoolKernelSize: ints(2, 1200), op.MaxPoolStride: ints(1, 2)}},
		"stride 5": {[]int64{1, 2, 7, 64}, op.Attrs{op.MaxPoolKernelSize: ints(2, 7), op.MaxPoolStride: ints(1, 5)}},
		"adaptive": {[]int64{1, 2, 7, 65}, op.Attrs{op.MaxPoolKernelSize: ints(3, 6), op.MaxPoolAdaptive: {Kind: op.Bool, I: 1}}},
		"one axis": {[]int64{2, 3, 77}, op.Attrs{op.MaxPoolKernelSize: ints(4), op.MaxPoolStride: ints(3)}},
		"corners":  {[]int64{1, 2, 6, 7}, op.Attrs{op.MaxPoolKernelSize: ints(4, 5), op.MaxPoolStride: ints(3, 2), op.MaxPoolPadding: ints(2, 2, 2, 2), op.MaxPoolCeilMode: {Kind: op.Bool, I: 1}}},
		"volume":   {[]int64{1, 2, 5, 6, 7}, op.Attrs{op.MaxPoolKernelSize: ints(3, 2, 3), op.MaxPoolStride: ints(2, 1, 2), op.MaxPoolPadding: ints(1, 1, 1, 1, 1, 1)}},
		"bands":    {[]int64{1, 1, 700, 60}, op.Attrs{op.MaxPoolKernelSize: ints(5, 3), op.MaxPoolStride: ints(2, 1), op.MaxPoolPadding: ints(2, 2, 1, 1)}},
		"channels": {[]int64{2, 12, 13, 5}, op.Attrs{op.MaxPoolKernelSize: ints(3, 3), op.MaxPoolStride: ints(2, 2), op.MaxPoolChannelsLast: {Kind: op.Bool, I: 1}}},
	} {
		for _, d := range []dtype.DType{dtype.Float32, dtype.Float16, dtype.Float64} {
			graphs := [2]*graph.Planned{}
			for i := range graphs {
				b := graph.NewBuilder()
				out := must(b.Call(op.ByID(op.IDMaxPool), []graph.Value{b.Input(typed(d, c.shape...))}, c.attrs))
				graphs[i] = must(b.Build(out[:1+i]...).PlanFor(r.Composes, nil))
			}
			require.True(t, graphs[0].Steps[0].Call.Out[1].Absent())
			require.False(t, graphs[1].Steps[0].Call.Out[1].Absent())
			got, want := planCall(graphs[0], 1), planCall(graphs[1], 1)
			if d == dtype.Float32 { // ties, among them zeros of both signs
				for _, c := range []*device.Call{got, want} {
					rng := rand.New(rand.NewPCG(7, 8))
					x := engine.Slice[float32](c.In[0].Addr, c.In[0].Numel())
					for i := range x {
						x[i] = []float32{0, float32(math.Copysign(0, -1)), -1, -2, float32(math.Inf(-1)), 1}[rng.IntN(5+i%2)]
					}
				}
			}
			require.NoError(t, runPlan(r, must(r.Compile(&graphs[0].Plan)), got), name)
			require.NoError(t, runPlan(r, must(r.Compile(&graphs[1].Plan)), want), name)
			require.Equal(t, bytesOut(want)[0], bytesOut(got)[0], "%s, %s", name, d)
		}
	}
}

// Lines of windows that are looked at together have the largest elements and the indices that a comparison in order finds, with and
// without rows and columns that no window sees, padding above and below, indices of both widths, and results with gaps.
func TestMaxPoolOfShortLines(t *testing.T) {
	r := newRig(t, Config{Threads: 2})
	rng := rand.New(rand.NewPCG(3, 4))
	ints := func(n ...int64) op.Value { return op.Value{Kind: op.Ints, Ints: n} }
	values := []float64{0, math.Copysign(0, -1), 1, -1, 2, math.Inf(1), math.Inf(-1), math.NaN()}
	for round := range 200 {
		h, w := 2+rng.Int64N(30), 2+rng.Int64N(40)
		kernel := [2]int64{1 + rng.Int64N(min(3, h)), 1 + rng.Int64N(min(3, w))}
		stride, padding := [2]int64{1 + rng.Int64N(3), 1 + rng.Int64N(2)}, rng.Int64N((kernel[0]+1)/2+1)/2
		outH, outW := (h+2*padding-kernel[0])/stride[0]+1, (w-kernel[1])/stride[1]+1
		in := make([]float64, 2*3*h*w)
		for i := range in {
			in[i] = values[rng.IntN(len(values)-round%2)]
		}
		wide, indices := dims(2, 3, outH, outW), dtype.Int64
		if round%4 == 0 { // results with gaps, in lines and between them
			wide.Strides[3] = 2
			copy(wide.Strides[:], []int64{3 * outH * (2*outW + 3), outH * (2*outW + 3), 2*outW + 3})
		}
		if round%3 == 0 {
			indices = dtype.Int32
		}
		best, places := of(dtype.Float32, wide), of(indices, wide)
		c := &device.Call{
			Op: op.IDMaxPool, In: operands(of(dtype.Float32, dims(2, 3, h, w), in...)), Out: operands(best, places),
			Attrs: make(op.Attrs, len(op.ByID(op.IDMaxPool).Attrs)),
		}
		c.Attrs[op.MaxPoolKernelSize], c.Attrs[op.MaxPoolStride], c.Attrs[op.MaxPoolPadding] = ints(kernel[:]...), ints(stride[:]...), ints(padding, padding, 0, 0)
		require.NoError(t, op.ByID(op.IDMaxPool).Fill(c.Attrs))
		require.NoError(t, r.call("max_pool", c))
		numbers, found, i := places.ints(), best.values(), 0
		for plane := range int64(6) {
			for a := range outH {
				for b := range outW {
					number := int64(-1)
					for y := max(a*stride[0]-padding, 0); y < min(a*stride[0]-padding+kernel[0], h); y++ {
						for x := b * stride[1]; x < b*stride[1]+kernel[1]; x++ {
							now, v := y*w+x, in[plane*h*w+y*w+x]
							if number < 0 || v > in[plane*h*w+number] || v != v && in[plane*h*w+number] == in[plane*h*w+number] { //nolint:gocritic,staticcheck // nan
								number = now
							}
						}
					}
					want := in[plane*h*w+number]
					if number != numbers[i] || math.Float64bits(want) != math.Float64bits(found[i]) && want == want { //nolint:gocritic,staticcheck // nan
						t.Fatalf("round %d, plane %d, window %d, %d of %d x %d: got %g, number %d; want %g, number %d", round, plane, a, b, h, w, found[i], numbers[i], want, number)
					}
					i++
				}
			}
		}
	}
}
