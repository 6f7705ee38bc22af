package vectest

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// Specials32 are n random numbers with NaN, infinities, zeros of both signs and equals among them.
func Specials32(r *rand.Rand, n int) []float32 {
	special := []float32{
		float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), 0, float32(math.Copysign(0, -1)), 1, 1,
	}
	x := make([]float32, n)
	for i := range x {
		if x[i] = float32(r.NormFloat64()); r.IntN(3) == 0 {
			x[i] = special[r.IntN(len(special))]
		}
	}
	return x
}

// Sizes are numbers of columns around those that fill a vector of some kind, and around several of them.
var Sizes = []int{1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 200}

// EachStack calls f at each level with rows of every size, numbers of rows around multiples of four and eight, and distances from none at all.
func EachStack(t *testing.T, eachLevel func(*testing.T, func(*testing.T)), f func(t *testing.T, r *rand.Rand, n, stride, rows int)) {
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(3, 4))
		for _, n := range Sizes {
			for rows := range 15 {
				for _, stride := range []int{0, 1, n, n + 3} {
					f(t, r, n, stride, rows)
				}
			}
		}
	})
}

// EachLevel runs f once at every level that this machine has. rooms are the functions UseLevel of the rooms whose loops f runs.
func EachLevel(t *testing.T, f func(t *testing.T), rooms ...func(vec.Level)) {
	t.Helper()
	defer UseLevel(vec.Active(), rooms...)
	for _, level := range vec.Levels() {
		UseLevel(level, rooms...)
		t.Run(level.String(), f)
	}
}

// UseLevel has rooms run the loops of a level.
func UseLevel(level vec.Level, rooms ...func(vec.Level)) {
	vec.UseLevel(level)
	for _, use := range rooms {
		use(level)
	}
}

// MaxLength covers every tail of the widest loop, unrolled four times.
const MaxLength = 70

// Guard marks elements that a row function has no business with.
const Guard = 123456

// Guarded copies x into a longer slice whose end must stay as it is.
func Guarded[T vec.Number](x []T) (row []T, check func(t *testing.T)) {
	whole := make([]T, len(x)+40)
	copy(whole, x)
	mark := T(Guard & 63)
	for i := len(x); i < len(whole); i++ {
		whole[i] = mark
	}
	return whole[:len(x)], func(t *testing.T) {
		t.Helper()
		for i, v := range whole[len(x):] {
			require.Equal(t, mark, v, "element %d beyond a row of %d", i, len(x))
		}
	}
}

// Edges32 are the float32 values at which something changes.
func Edges32() []float32 {
	positive := []float32{
		0, math.SmallestNonzeroFloat32, 1e-44, 1.17549421e-38, 1.17549435e-38, 1e-30, 1e-10, 1e-7, 1e-4, 0.1,
		0.25, 0.35, 0.41421354, 0.41421357, 0.49999997, 0.5, 0.50000006, 0.70710677, 0.70710683, 0.7853982, 0.9999999,
		1, 1.0000001, 1.4142135, 1.4142137, 1.5, 1.5707963, 2, 2.5, 3, 3.1415927, 3.5, 3.9, 4, 5.5, 9, 9.1, 10, 10.1, 13, 14.3,
		20, 22, 87.3, 87.33655, 88, 88.72, 88.72283, 88.7229, 89.4, 103.27, 103.97, 103.972, 104, 150, 708, 710, 1e3,
		8388607.5, 8388608, 1e9, 1073741824, 1073741888, 1e10, 1e19, 1e30, math.MaxFloat32, float32(math.Inf(1)),
		float32(math.NaN()),
	}
	both := positive
	for _, x := range positive {
		both = append(both, -x)
	}
	return append(both, float32(math.Copysign(0, -1)))
}

// SameBits compares floats as bits, except that any NaN is as good as another.
func SameBits(a, b float64) bool {
	return math.Float64bits(a) == math.Float64bits(b) || a != a && b != b
}

// RandomRow has n numbers of a normal distribution.
func RandomRow(r *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	return x
}

// Noise is n numbers, none of which is like another.
func Noise(r *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	return x
}

// ExactSum adds up without rounding, and the magnitudes beside.
func ExactSum[T float32 | float64](x []T) (sum, magnitude float64) {
	s, m := new(big.Float).SetPrec(2200), new(big.Float).SetPrec(2200)
	for _, v := range x {
		s.Add(s, big.NewFloat(float64(v)))
		m.Add(m, big.NewFloat(math.Abs(float64(v))))
	}
	sum, _ = s.Float64()
	magnitude, _ = m.Float64()
	return sum, magnitude
}

// SmallIntegers are elements whose sums of products are exact.
func SmallIntegers(r *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.IntN(9) - 4)
	}
	return x
}
