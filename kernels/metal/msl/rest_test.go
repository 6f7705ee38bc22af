package msl

import (
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// ends are the numbers at which a remainder can go wrong: zeros, the ends of the subnormal and of the normal numbers,
// powers of two and their neighbours, infinities and NaN.
var ends = []uint32{
	0, 1, 2, 3, 0x007fffff, 0x00800000, 0x00800001, 0x00ffffff, 0x33d6bf95, 0x3dcccccd, 0x3f7fffff, 0x3f800000,
	0x3f800001, 0x40400000, 0x4b7fffff, 0x4b800000, 0x4f800000, 0x501502f9, 0x7effffff, 0x7f7fffff, 0x7f800000, 0x7fc00000,
}

// pairs is every end with every other in both signs, and random bits.
func pairs() (x, y []uint32) {
	for _, a := range ends {
		for _, b := range ends {
			x = append(x, a, a|1<<31, a, a|1<<31)
			y = append(y, b, b, b|1<<31, b|1<<31)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		a := r.Uint32()
		x, y = append(x, a, a), append(y, r.Uint32(), a^r.Uint32()&0x00ffffff) // of any quotient, and of a small one
	}
	return x, y
}

// bytesOf is the memory of numbers.
// SAFETY: the slice keeps it.
func bytesOf(u []uint32) []byte { return unsafe.Slice((*byte)(unsafe.Pointer(&u[0])), 4*len(u)) }

// TestRestIsExact has the remainder of floats to the last bit, subnormals too, where hardware flushes them, where fmod is
// a multiplication and a subtraction, and where these are fused.
func TestRestIsExact(t *testing.T) {
	needCompiler(t)
	worst(t)
	k := compile(t, prelude+`
kernel void `+Name+`(device const uint *x [[buffer(0)]], device const uint *y [[buffer(1)]], device uint *out [[buffer(2)]],
    uint i [[thread_position_in_grid]]) { out[i] = as_type<uint>(rest_of(as_type<float>(x[i]), as_type<float>(y[i]))); }`)
	x, y := pairs()
	out := make([]uint32, len(x))
	k.run(t, inLine(int64(len(x))), bytesOf(x), bytesOf(y), bytesOf(out))
	for i := range x {
		a, b := math.Float32frombits(x[i]), math.Float32frombits(y[i])
		want, got := float32(math.Mod(float64(a), float64(b))), math.Float32frombits(out[i])
		if math.IsNaN(float64(want)) {
			require.True(t, math.IsNaN(float64(got)), "%g after whole numbers of %g is %g; want NaN", a, b, got)
			continue
		}
		require.Equal(t, math.Float32bits(want), out[i], "%g after whole numbers of %g is %g; want %g", a, b, got, want)
	}
}
