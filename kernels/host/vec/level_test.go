package vec

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// eachLevel runs f once on every set of loops that this machine has.
func eachLevel(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	chosen := active
	defer func() { active = chosen }()
	for _, set := range tables() {
		active = set
		t.Run(set.level.String(), f)
	}
}

func TestFastestLevelIsActive(t *testing.T) {
	all := tables()
	require.Equal(t, Portable, all[0].level)
	require.Equal(t, all[len(all)-1].level, active.level)
}

// maxLength covers every tail of the widest loop, unrolled four times.
const maxLength = 70

// guard marks elements that a row function has no business with.
const guard = 123456

// guarded copies x into a longer slice whose end must stay as it is.
func guarded[T Number](x []T) (row []T, check func(t *testing.T)) {
	whole := make([]T, len(x)+40)
	copy(whole, x)
	mark := T(guard & 63)
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

// edges32 are the float32 values at which something changes.
func edges32() []float32 {
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

// sameBits compares floats as bits, except that any NaN is as good as another.
func sameBits(a, b float64) bool {
	return math.Float64bits(a) == math.Float64bits(b) || a != a && b != b
}
