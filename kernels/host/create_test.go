package host

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/host/create"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
)

func decimal(x float64) op.Value { return op.Value{Kind: op.Float, F: x} }
func whole(i int64) op.Value     { return op.Value{Kind: op.Int, I: i} }

func TestFull(t *testing.T) {
	eachMode(t, func(t *testing.T, r *rig) {
		for _, d := range dtype.All.Members() {
			for where, l := range layouts(31, 33) {
				for _, v := range []op.Value{whole(1), decimal(1), {Kind: op.Bool, I: 1}} {
					out := place(d, l, 1)
					require.NoError(t, r.call("full", &device.Call{Out: operands(out), Attrs: op.Attrs{{}, v, {}}}))
					expect(t, out, func(int) float64 { return 1 }, d, where)
				}
			}
		}
		large := of(dtype.Int16, dims(500, 601))
		require.NoError(t, r.call("full", &device.Call{Out: operands(large), Attrs: op.Attrs{{}, whole(-7), {}}}))
		expect(t, large, func(int) float64 { return -7 })
		out := of(dtype.Int64, dims(3))
		require.NoError(t, r.call("full", &device.Call{Out: operands(out), Attrs: op.Attrs{{}, whole(1<<53 + 1), {}}}))
		require.Equal(t, []int64{1<<53 + 1, 1<<53 + 1, 1<<53 + 1}, out.ints())
		require.NoError(t, r.call("full", &device.Call{Out: operands(out), Attrs: op.Attrs{{}, decimal(1.9), {}}}))
		require.Equal(t, []int64{1, 1, 1}, out.ints())
	})
}

func TestRangeAndLinspace(t *testing.T) {
	r := newRig(t, Config{Threads: 2})
	for _, c := range []struct {
		op    string
		attrs op.Attrs
		d     dtype.DType
		want  []float64
	}{
		{"range", op.Attrs{whole(1), whole(2), whole(3), {}}, dtype.Int64, []float64{1, 3, 5}},
		{"range", op.Attrs{decimal(0.5), whole(1), whole(3), {}}, dtype.Float16, []float64{0.5, 1.5, 2.5}},
		{"range", op.Attrs{decimal(0), decimal(0.7), whole(4), {}}, dtype.Int8, []float64{0, 0, 1, 2}},
		{"number_line", op.Attrs{{Kind: op.Floats, Ref: []float64{0.25, -3, 7}}, {}}, dtype.Float16, []float64{0.25, -3, 7}},
		{"number_line", op.Attrs{{Kind: op.Floats, Ref: []float64{2.9, -2.9, 7}}, {}}, dtype.Int64, []float64{2, -2, 7}},
		{"linspace", op.Attrs{decimal(0), decimal(10), whole(4), {}}, dtype.Int64, []float64{0, 3, 6, 10}},
		{"linspace", op.Attrs{decimal(0), decimal(1), whole(1), {}}, dtype.Float32, []float64{0}},
		{"linspace", op.Attrs{decimal(1), decimal(0), whole(3), {}}, dtype.Float32, []float64{1, 0.5, 0}},
		{"linspace", op.Attrs{decimal(0), decimal(1), whole(0), {}}, dtype.Float32, []float64{}},
	} {
		out := of(c.d, dims(int64(len(c.want))))
		require.NoError(t, r.call(c.op, &device.Call{Out: operands(out), Attrs: c.attrs}))
		require.Equal(t, c.want, out.values(), c.op)
	}
	out := of(dtype.Int64, dims(100000))
	require.NoError(t, r.call("range", &device.Call{Out: operands(out), Attrs: op.Attrs{whole(1 << 60), whole(-3), whole(100000), {}}}))
	for i, v := range out.ints() {
		if v != 1<<60-3*int64(i) {
			require.Equal(t, 1<<60-3*i, v)
		}
	}
	ends := of(dtype.Float64, dims(1000))
	require.NoError(t, r.call("linspace", &device.Call{Out: operands(ends), Attrs: op.Attrs{decimal(0.1), decimal(0.7), whole(1000), {}}}))
	require.Equal(t, 0.1, ends.values()[0])
	require.Equal(t, 0.7, ends.values()[999])
}

// TestRandomIsTheSameEverywhere draws in all modes and as a view, and skips counters.
func TestRandomIsTheSameEverywhere(t *testing.T) {
	const n = 50000
	for name, attrs := range map[string]op.Attrs{
		"uniform": {{}, decimal(-1), decimal(1), {}}, "normal": {{}, decimal(0), decimal(1), {}},
		"randint": {{}, whole(-5), whole(1000), {}}, "randperm": {whole(n), {}},
	} {
		for _, d := range []dtype.DType{dtype.Float32, dtype.Float64, dtype.Int32} {
			if !engine.Registry.DTypes(op.MustByName(name).ID).Has(d) {
				continue
			}
			draw := func(r *rig, counter uint64, step int64) []float64 {
				l := dims(n)
				l.Strides[0] = step
				out := place(d, l, 0)
				require.NoError(t, r.call(name, &device.Call{Out: operands(out), Attrs: attrs, Seed: [2]uint64{42, counter}}))
				return out.values()
			}
			want := draw(newRig(t, Config{Threads: 1}), 7, 1)
			for _, config := range modes {
				require.True(t, slices.Equal(want, draw(newRig(t, config), 7, 3)), name, d)
			}
			if name != "randperm" {
				counters := uint64(10) // of 4 elements each, or of 2
				skipped := 40
				if d != dtype.Float32 {
					skipped = 20
				}
				later := draw(newRig(t, Config{Threads: 1}), 7+counters, 1)
				require.True(t, slices.Equal(want[skipped:], later[:n-skipped]), name, d)
			}
		}
	}
}

// TestRandomBitsAreOfTwoWords: the 53 bits of a float64 are the upper ones of a 64-bit number, whose halves are different words.
func TestRandomBitsAreOfTwoWords(t *testing.T) {
	const n = 1000
	out := of(dtype.Float64, dims(n))
	r := newRig(t, Config{Threads: 1})
	require.NoError(t, r.call("uniform", &device.Call{Out: operands(out), Attrs: op.Attrs{{}, decimal(0), decimal(1), {}}, Seed: [2]uint64{42, 7}}))
	equal := 0
	for _, v := range out.values() {
		if bits := uint64(v * (1 << 53)); bits>>32 == bits&(1<<21-1) {
			equal++
		}
	}
	require.Zero(t, equal, "of %d, where one in 2^21 is expected", n)
}

func TestRandomDistributions(t *testing.T) {
	r := newRig(t, Config{Threads: 2})
	const n = 200000
	draw := func(name string, d dtype.DType, attrs op.Attrs) []float64 {
		out := of(d, dims(n))
		require.NoError(t, r.call(name, &device.Call{Out: operands(out), Attrs: attrs, Seed: [2]uint64{1, 2}}))
		return out.values()
	}
	for _, d := range dtype.Floats.Members() {
		vs := draw("uniform", d, op.Attrs{{}, decimal(2), decimal(3), {}})
		require.InDelta(t, 2.5, total(vs)/n, 0.01)
		require.GreaterOrEqual(t, slices.Min(vs), 2.0)
		require.Less(t, slices.Max(vs), 3.0)

		vs = draw("normal", d, op.Attrs{{}, decimal(1), decimal(2), {}})
		mean, square := total(vs)/n, 0.0
		for _, v := range vs {
			square += (v - mean) * (v - mean)
		}
		require.InDelta(t, 1, mean, 5*2/math.Sqrt(n))
		require.InDelta(t, 4, square/n, 5*4*math.Sqrt(2.0/n))
	}
	var counts [6]int
	for _, v := range draw("randint", dtype.Int8, op.Attrs{{}, whole(-3), whole(3), {}}) {
		counts[int(v)+3]++
	}
	for _, c := range counts {
		require.InDelta(t, n/6, c, 5*math.Sqrt(n*5.0/36))
	}
	order := draw("randperm", dtype.Int64, op.Attrs{whole(n), {}})
	require.False(t, slices.IsSorted(order))
	slices.Sort(order)
	require.True(t, slices.Equal(ramp(n, 0, 1), order))
}

// TestBelow checks the largest value under a bound by its neighbours.
func TestBelow(t *testing.T) {
	for _, d := range dtype.Floats.Members() {
		for _, x := range []float64{3, 1, 0, -1, 0.1, -0.1, 65504, 1e-8} {
			v := create.Below(d, x)
			require.Less(t, v, x, "%s", d)
			require.Equal(t, v, rounded(d, v), "%s holds it", d)
			require.GreaterOrEqual(t, rounded(d, v+spacing(d, v)), x, "%s: there is nothing between %v and %v", d, v, x)
		}
	}
}
