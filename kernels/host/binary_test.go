package host

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// exactPairs are binary operators with the exact result in float64, before rounding.
var exactPairs = map[string]func(x, y float64) float64{
	"add":      func(x, y float64) float64 { return x + y },
	"subtract": func(x, y float64) float64 { return x - y },
	"multiply": func(x, y float64) float64 { return x * y },
	"maximum":  math.Max,
	"minimum":  math.Min,
}

// TestBinaryLayouts runs every pair of layouts, in every dtype, against index arithmetic.
func TestBinaryLayouts(t *testing.T) {
	r := newRig(t, Config{Threads: 1})
	shapes := [][]int64{{}, {1}, {7}, {3, 5}, {2, 3, 4}, {0, 3}, {40, 33}}
	for name, f := range exactPairs {
		for _, d := range dtype.Numbers.Members() {
			for _, ds := range shapes {
				all := layouts(ds...)
				for xn, xl := range all {
					for yn, yl := range all {
						n := int(xl.Numel())
						x, y := place(d, xl, 1, ramp(n, 0, 1)...), place(d, yl, 0, ramp(n, 3, 2)...)
						out := of(d, dims(ds...))
						require.NoError(t, r.call(name, &device.Call{In: operands(x, y), Out: operands(out)}))
						xs, ys := x.values(), y.values()
						expect(t, out, func(i int) float64 { return f(xs[i], ys[i]) }, name, d, ds, xn, yn)
					}
				}
			}
		}
	}
}

// TestBinaryBroadcast stretches either operand along any axes, and writes in place and into views.
func TestBinaryBroadcast(t *testing.T) {
	eachMode(t, func(t *testing.T, r *rig) {
		const rows, cols = 30, 600
		full := must(shape.Of(rows, cols))
		row, col := dims(cols), dims(rows, 1)
		for _, d := range []dtype.DType{dtype.Float16, dtype.Float32, dtype.Int64} {
			x := of(d, dims(rows, cols), ramp(901, -450, 1)...)
			for name, small := range map[string]*tensor{
				"row":    place(d, row.BroadcastTo(&full), 0, ramp(cols, 0, 1)...),
				"column": place(d, col.BroadcastTo(&full), 0, 5),
				"scalar": scalar(d, dims(rows, cols), 3),
			} {
				for swap, in := range [][]device.Operand{operands(x, small), operands(small, x)} {
					for where, out := range map[string]*tensor{
						"fresh":      of(d, dims(rows, cols)),
						"transposed": place(d, layouts(rows, cols)["transposed"], 0),
						"padded":     place(d, layouts(rows, cols)["padded"], 0),
					} {
						require.NoError(t, r.call("subtract", &device.Call{In: in, Out: operands(out)}))
						xs, ys := x.values(), small.values()
						if swap == 1 {
							xs, ys = ys, xs
						}
						expect(t, out, func(i int) float64 { return xs[i] - ys[i] }, d, name, where)
					}
				}
			}
		}
	})
}

func TestBinaryInPlace(t *testing.T) {
	r := newRig(t, Config{Threads: 3})
	for name, l := range layouts(300, 301) {
		x := place(dtype.Float32, l, 0, ramp(300*301, 0, 1)...)
		require.NoError(t, r.call("add", &device.Call{In: operands(x, x), Out: operands(x)}))
		expect(t, x, func(i int) float64 { return 2 * float64(i) }, name)
	}
}

func TestBinaryValues(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	zero := math.Copysign(0, -1)
	r := newRig(t, Config{Threads: 1})
	for _, c := range []struct {
		op         string
		d          dtype.DType
		x, y, want []float64
	}{
		{"floor_divide", dtype.Int64, []float64{7, -7, 7, -7}, []float64{2, 2, -2, -2}, []float64{3, -4, -4, 3}},
		{"remainder", dtype.Int64, []float64{7, -7, 7, -7}, []float64{2, 2, -2, -2}, []float64{1, 1, -1, -1}},
		{"floor_divide", dtype.Int8, []float64{-128}, []float64{-1}, []float64{-128}},
		{"remainder", dtype.Int8, []float64{-128}, []float64{-1}, []float64{0}},
		{"floor_divide", dtype.Float32, []float64{7, -7, 1, -1, 0, 5.5, -5.5, inf}, []float64{2, 2, 0, 0, 0, 2, 2, 2}, []float64{3, -4, inf, -inf, nan, 2, -3, nan}},
		{"floor_divide", dtype.Float32, []float64{1, -1, inf, 1, 6, 0.3}, []float64{inf, inf, inf, 0.1, 0.2, 0.1}, []float64{0, -1, nan, 9, 29, 3}},
		{"remainder", dtype.Float32, []float64{1, -1, inf, 7, -7, 1}, []float64{inf, inf, inf, -2, 2, 0}, []float64{1, inf, nan, -1, 1, nan}},
		{"remainder", dtype.Float32, []float64{zero, 0, -6, 6}, []float64{3, -3, 3, -3}, []float64{zero, 0, zero, 0}},
		{"remainder", dtype.Float32, []float64{5.3, 1e20}, []float64{0.1, 3}, []float64{1.1175870895385742e-07, 2}},
		{"pow", dtype.Int32, []float64{2, -3, 0, 7, 3}, []float64{10, 3, 0, 1, 21}, []float64{1024, -27, 1, 7, 1870418611}},
		{"pow", dtype.Float32, []float64{0, nan, 1, -8, 0, 2}, []float64{0, 0, nan, 1.0 / 3, -1, 0.5}, []float64{1, 1, 1, nan, inf, float64(float32(math.Sqrt2))}},
		{"add", dtype.Int8, []float64{100, -100}, []float64{100, -100}, []float64{-56, 56}},
		{"add", dtype.Bool, []float64{0, 1, 0, 1}, []float64{0, 0, 1, 1}, []float64{0, 1, 1, 1}},
		{"multiply", dtype.Bool, []float64{0, 1, 0, 1}, []float64{0, 0, 1, 1}, []float64{0, 0, 0, 1}},
		{"divide", dtype.Bool, []float64{0, 1, 0, 1}, []float64{0, 0, 1, 1}, []float64{0, 0, 0, 1}},
		{"maximum", dtype.Bool, []float64{0, 1, 0, 1}, []float64{0, 0, 1, 1}, []float64{0, 1, 1, 1}},
		{"minimum", dtype.Bool, []float64{0, 1, 0, 1}, []float64{0, 0, 1, 1}, []float64{0, 0, 0, 1}},
		{"maximum", dtype.BFloat16, []float64{nan, 1}, []float64{1, nan}, []float64{nan, nan}},
		{"divide", dtype.Float16, []float64{1, -1, 0, 1}, []float64{3, 0, 0, 1e-4}, []float64{rounded(dtype.Float16, 1.0/3), -inf, nan, rounded(dtype.Float16, 1/rounded(dtype.Float16, 1e-4))}},
	} {
		l := dims(int64(len(c.x)))
		out := of(c.d, l)
		require.NoError(t, r.call(c.op, &device.Call{In: operands(of(c.d, l, c.x...), of(c.d, l, c.y...)), Out: operands(out)}))
		sameBits(t, c.want, out.values(), c.op)
	}
}

func TestBinaryErrors(t *testing.T) {
	eachMode(t, func(t *testing.T, r *rig) {
		l := dims(3000)
		for _, d := range dtype.Integers.Members() {
			x, y, out := of(d, l, 5), of(d, l, 1, 2, 3), of(d, l)
			put(y.at(2999), d, 0)
			for _, name := range []string{"floor_divide", "remainder"} {
				err := r.call(name, &device.Call{In: operands(x, y), Out: operands(out)})
				require.Equal(t, status.Math, status.CodeOf(err))
				require.ErrorContains(t, err, "["+name+"]")
			}
		}
		err := r.call("subtract", &device.Call{In: operands(of(dtype.Bool, l, 1), of(dtype.Bool, l, 1)), Out: operands(of(dtype.Bool, l))})
		require.Equal(t, status.Unsupported, status.CodeOf(err))
	})
}

func BenchmarkAdd8(b *testing.B) {
	r := newRig(b, Config{Threads: 1})
	l := dims(8)
	c := &device.Call{In: operands(of(dtype.Float32, l, 1), of(dtype.Float32, l, 2)), Out: operands(of(dtype.Float32, l)), Owner: quiet{}}
	p := must(r.compile("add", c))
	b.ReportAllocs()
	for b.Loop() {
		r.stream.Run(p, c)
	}
}

// BenchmarkAddLanes adds few elements through lanes, where setting up the walks counts most.
func BenchmarkAddLanes(b *testing.B) {
	r := newRig(b, Config{Threads: 1})
	for name, l := range map[string]shape.Layout{"half": dims(2, 2, 2), "transposed": layouts(2, 2, 2)["transposed"]} {
		b.Run(name, func(b *testing.B) {
			d := dtype.Float16
			if name != "half" {
				d = dtype.Float32
			}
			c := &device.Call{In: operands(place(d, l, 0, 1), place(d, l, 0, 2)), Out: operands(of(d, dims(2, 2, 2))), Owner: quiet{}}
			p := must(r.compile("add", c))
			for b.Loop() {
				r.stream.Run(p, c)
			}
		})
	}
}

// quiet is an owner that wants to know nothing.
type quiet struct{}

func (quiet) Ready() error { return nil }
func (quiet) Done(error)   {}

// TestSquaresAsPowers: a power of 2 has the bits of square in any dtype of floats, whether the exponent is a number or a tensor,
// contiguous or not.
func TestSquaresAsPowers(t *testing.T) {
	values := []float64{0, math.Copysign(0, -1), 1, -1, 1.1, -3.3, 1e-3, 1e-25, 1e-42, 3e19, -1e30, math.Inf(1), math.Inf(-1), math.NaN(), 0.7}
	eachMode(t, func(t *testing.T, r *rig) {
		for _, d := range []dtype.DType{dtype.Float16, dtype.BFloat16, dtype.Float32, dtype.Float64} {
			n := int64(1003) // the last vector is not full
			x, want := of(d, dims(n), values...), of(d, dims(n))
			require.NoError(t, r.call("square", &device.Call{In: operands(x), Out: operands(want)}))
			number, twos, out := of(d, dims(n), 2), of(d, dims(n), 2), of(d, dims(n))
			number.Strides[0] = 0
			for name, y := range map[string]*tensor{"number": number, "tensor": twos} {
				require.NoError(t, r.call("pow", &device.Call{In: operands(x, y), Out: operands(out)}))
				sameBits(t, want.values(), out.values(), "%s, %s", d, name)
			}
		}
	})
}

// TestNextafter compares with the library, and wants y itself where x equals it.
func TestNextafter(t *testing.T) {
	inf, nan, zero, tiny := math.Inf(1), math.NaN(), math.Copysign(0, -1), float64(math.SmallestNonzeroFloat32)
	numbers := []float64{0, zero, tiny, -tiny, 1, -1, 1.5, -1.5, math.MaxFloat32, -math.MaxFloat32, inf, -inf, nan}
	var x, y, want32, want64 []float64
	for _, a := range numbers {
		for _, b := range numbers {
			x, y = append(x, a), append(y, b)
			want32, want64 = append(want32, float64(math.Nextafter32(float32(a), float32(b)))), append(want64, math.Nextafter(a, b))
			if a == b {
				want32[len(x)-1], want64[len(x)-1] = b, b
			}
		}
	}
	r := newRig(t, Config{Threads: 1})
	for d, want := range map[dtype.DType][]float64{dtype.Float32: want32, dtype.Float64: want64} {
		l := dims(int64(len(x)))
		out := of(d, l)
		require.NoError(t, r.call("nextafter", &device.Call{In: operands(of(d, l, x...), of(d, l, y...)), Out: operands(out)}))
		sameBits(t, want, out.values(), d.String())
	}
}
