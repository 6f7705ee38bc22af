package maths

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec/vectest"
)

// TestPowWithinTwoUlp pairs the edges with each other and with small integers, and random bases with powers that keep
// the result in the range of float32.
func TestPowWithinTwoUlp(t *testing.T) {
	var x, y []float32
	powers := append(vectest.Edges32(), -3, -2, -1, 5, 7, 16777215, 16777216)
	for _, a := range vectest.Edges32() {
		for _, b := range powers {
			// A vector of one pair, and one among ordinary pairs, which must not be drawn into the scalar way with other bits.
			x, y = append(x, a, 2, a, 1.5), append(y, b, 3, b, -2.5)
		}
	}
	r := rand.New(rand.NewPCG(3, 4))
	for range 200_000 {
		a := math.Exp(80 * (2*r.Float64() - 1))
		b := 100 * (2*r.Float64() - 1) / max(math.Abs(math.Log(a)), 1e-3)
		if r.IntN(4) == 0 {
			a, b = -a, math.Round(b)
		}
		x, y = append(x, float32(a)), append(y, float32(b))
	}
	// The portable loop is the oracle's own rounding; the others have 2 ulp, and the sign and nan of each special pair.
	dst := make([]float32, len(x))
	for _, set := range tables() {
		set.pow(dst, x, y)
		for i := range x {
			want := math.Pow(float64(x[i]), float64(y[i]))
			if d := vectest.Ulps(dst[i], want); d < 0 || d > 2 {
				t.Fatalf("%v: pow(%g, %g) = %g; want %g (%d ulp)", set.level, x[i], y[i], dst[i], float32(want), d)
			}
		}
	}
}

// TestPowAtTheEndsOfTheRange has bases whose logarithms cancel most, and powers by which the result is almost infinite or 0: the errors of
// logarithms count up to 128 times there. Results are less than 2 ulp off the right ones, not only off what they round to.
func TestPowAtTheEndsOfTheRange(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	x, y, dst := make([]float32, 1<<18), make([]float32, 1<<18), make([]float32, 1<<18)
	for i := range x {
		a := []float64{
			1 + (r.Float64()-0.5)/16, 0.69 + 0.72*r.Float64(), math.Exp2(250*r.Float64() - 125),
			1 + (r.Float64()-0.5)*math.Exp2(-float64(r.IntN(24))),
		}[r.IntN(4)]
		x[i] = float32(a)
		log := math.Log2(float64(x[i]))
		if log == 0 {
			log = 1
		}
		y[i] = float32((125 + 3*r.Float64()) * float64(1-2*r.IntN(2)) / log)
	}
	for _, set := range tables() {
		set.pow(dst, x, y)
		for i := range x {
			if off := vectest.TrueUlps(dst[i], math.Pow(float64(x[i]), float64(y[i]))); off > 2 {
				t.Fatalf("%v: pow(%g, %g) is %.3f ulp off", set.level, x[i], y[i], off)
			}
		}
	}
}

// TestSquaresArePowers wants the bits of Square, alone in a vector of other powers as well as in a row of squares.
func TestSquaresArePowers(t *testing.T) {
	x := vectest.Edges32()
	eachLevel(t, func(t *testing.T) {
		for _, others := range []float32{2, 0.5, 3} {
			y, want, got := make([]float32, len(x)), make([]float32, len(x)), make([]float32, len(x))
			for i := range y {
				y[i] = others
				if i%3 == 0 {
					y[i] = 2
				}
			}
			Square.Row(want, x)
			Pow(got, x, y)
			for i, p := range y {
				if p == 2 && !vectest.SameBits(float64(got[i]), float64(want[i])) {
					t.Fatalf("pow(%g, 2) is %g among powers of %g; want %g", x[i], got[i], others, want[i])
				}
			}
		}
	})
}

// TestWholePowersAreExact has whole numbers whose powers are whole numbers that float32 has.
func TestWholePowersAreExact(t *testing.T) {
	var x, y, want []float32
	for base := -200; base <= 200; base++ {
		product := 1
		for power := 0; power < 24 && max(product, -product) <= 1<<24; power++ {
			x, y, want = append(x, float32(base)), append(y, float32(power)), append(want, float32(product))
			product *= base
		}
	}
	eachLevel(t, func(t *testing.T) {
		got := make([]float32, len(x))
		Pow(got, x, y)
		for i := range x {
			if got[i] != want[i] {
				t.Fatalf("pow(%g, %g) = %g; want %g", x[i], y[i], got[i], want[i])
			}
		}
	})
}

// TestPowDependsOnItsOperandsAlone computes rows whole and each pair by itself, among them pairs that vectors leave to the
// scalar function.
func TestPowDependsOnItsOperandsAlone(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	x, y := make([]float32, 100_003), make([]float32, 100_003)
	for i := range x {
		x[i], y[i] = r.Float32()*10, r.Float32()*10-5
		if r.IntN(50) == 0 {
			x[i] = -x[i]
		}
	}
	eachLevel(t, func(t *testing.T) {
		row, one := make([]float32, len(x)), make([]float32, 1)
		Pow(row, x, y)
		for i := range x {
			Pow(one, x[i:i+1], y[i:i+1])
			if !vectest.SameBits(float64(one[0]), float64(row[i])) {
				t.Fatalf("pow(%g, %g) is %g alone and %g in a row", x[i], y[i], one[0], row[i])
			}
		}
	})
}

// TestExp2 wants the bits of Pow, in rows of integers and of any numbers.
func TestExp2(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rows := [][]float32{vectest.Edges32()}
		for n := range vectest.MaxLength {
			row := make([]float32, n)
			for i := range row {
				row[i] = float32(i*7%300 - 150)
				if n%3 == 0 {
					row[i] = float32(i*7%253 - 126)
				}
			}
			rows = append(rows, row)
		}
		for _, row := range rows {
			twos, want := make([]float32, len(row)), make([]float32, len(row))
			for i := range twos {
				twos[i] = 2
			}
			Pow(want, twos, row)
			got, check := vectest.Guarded(make([]float32, len(row)))
			Exp2(got, row)
			check(t)
			for i, y := range row {
				if !vectest.SameBits(float64(got[i]), float64(want[i])) || y == float32(math.Trunc(float64(y))) && math.Ldexp(1, int(max(min(y, 500), -500))) != float64(got[i]) && math.Abs(float64(y)) <= 149 && y <= 127 {
					t.Fatalf("2 to the %g is %g; want %g", y, got[i], want[i])
				}
			}
		}
	})
}

func BenchmarkPow(b *testing.B) {
	x, y, dst := make([]float32, 1<<12), make([]float32, 1<<12), make([]float32, 1<<12)
	r := rand.New(rand.NewPCG(5, 6))
	for i := range x {
		x[i], y[i] = r.Float32(), r.Float32()
	}
	b.SetBytes(int64(4 * len(x)))
	for b.Loop() {
		Pow(dst, x, y)
	}
}
