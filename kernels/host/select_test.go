package host

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
)

func TestCompare(t *testing.T) {
	nan := math.NaN()
	xs, ys := []float64{0, 1, 2, 3, 0, nan, nan}, []float64{0, 2, 1, 3, 4, 1, nan}
	r := newRig(t, Config{Threads: 1})
	for name, f := range map[string]func(x, y float64) bool{
		"equal":         func(x, y float64) bool { return x == y },
		"not_equal":     func(x, y float64) bool { return x != y },
		"less_than":     func(x, y float64) bool { return x < y },
		"less_equal":    func(x, y float64) bool { return x <= y },
		"greater_than":  func(x, y float64) bool { return x > y },
		"greater_equal": func(x, y float64) bool { return x >= y },
		"logical_and":   func(x, y float64) bool { return x != 0 && y != 0 },
		"logical_or":    func(x, y float64) bool { return x != 0 || y != 0 },
		"logical_xor":   func(x, y float64) bool { return (x != 0) != (y != 0) },
	} {
		for _, d := range dtype.All.Members() {
			n := 7
			if !d.IsFloat() {
				n = 5
			}
			for where, l := range layouts(int64(n)) {
				x, y, out := place(d, l, 1, xs...), place(d, l, 0, ys...), of(dtype.Bool, dims(int64(n)))
				if d == dtype.Bool {
					x, y = place(d, l, 0, 0, 1, 0, 1, 1), place(d, l, 0, 0, 0, 1, 1, 1)
				}
				require.NoError(t, r.call(name, &device.Call{In: operands(x, y), Out: operands(out)}))
				a, b := x.values(), y.values()
				expect(t, out, func(i int) float64 { return float64(engine.Bit(f(a[i], b[i]))) }, name, d, where)
			}
		}
	}
}

func TestWhere(t *testing.T) {
	eachMode(t, func(t *testing.T, r *rig) {
		for _, d := range dtype.All.Members() {
			for where, l := range layouts(61, 67) {
				condition := place(dtype.Bool, layouts(61, 67)["padded"], 0, 1, 0, 0)
				x, y, out := place(d, l, 0, 1, 0), scalar(d, dims(61, 67), 1), of(d, dims(61, 67))
				require.NoError(t, r.call("where", &device.Call{In: operands(condition, x, y), Out: operands(out)}))
				cs, xs := condition.values(), x.values()
				expect(t, out, func(i int) float64 {
					if cs[i] != 0 {
						return xs[i]
					}
					return 1
				}, d, where)
			}
		}
	})
}

func TestClip(t *testing.T) {
	r := newRig(t, Config{Threads: 1})
	for _, d := range dtype.Numbers.Members() {
		for where, l := range layouts(30, 40) {
			x, out := place(d, l, 0, ramp(100, 0, 1)...), of(d, dims(30, 40))
			low, high := scalar(d, dims(30, 40), 10), scalar(d, dims(30, 40), 60)
			require.NoError(t, r.call("clip", &device.Call{In: operands(x, low, high), Out: operands(out)}))
			xs := x.values()
			expect(t, out, func(i int) float64 { return min(max(xs[i], 10), 60) }, d, where)
		}
	}
	inf, nan := math.Inf(1), math.NaN()
	out, l := of(dtype.Float32, dims(3)), dims(3)
	in := operands(of(dtype.Float32, l, nan, -inf, inf), scalar(dtype.Float32, l, 0), scalar(dtype.Float32, l, 1))
	require.NoError(t, r.call("clip", &device.Call{In: in, Out: operands(out)}))
	sameBits(t, []float64{nan, 0, 1}, out.values())
}
