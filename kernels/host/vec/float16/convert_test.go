package float16

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/vectest"
)

// format16 describes a 16-bit float by its field widths: an oracle that knows
// no bit tricks.
type format16 struct {
	name               string
	exponent, fraction int
	widen              func(uint16) float32
	narrow32           func(float32) uint16
	narrow64           func(float64) uint16
}

var formats16 = []format16{
	{"float16", 5, 10, dtype.F16ToF32, dtype.F32ToF16, dtype.F64ToF16},
	{"bfloat16", 8, 7, dtype.BF16ToF32, dtype.F32ToBF16, dtype.F64ToBF16},
}

// value decodes h by the definition of the format.
func (f format16) value(h uint16) float64 {
	fraction := float64(h & (1<<f.fraction - 1))
	exponent := int(h>>f.fraction) & (1<<f.exponent - 1)
	bias := 1<<(f.exponent-1) - 1
	v := math.Ldexp(1+fraction/float64(int(1)<<f.fraction), exponent-bias)
	switch {
	case exponent == 1<<f.exponent-1 && fraction != 0:
		return math.NaN()
	case exponent == 1<<f.exponent-1:
		v = math.Inf(1)
	case exponent == 0:
		v = math.Ldexp(fraction, 1-bias-f.fraction)
	}
	if h>>15 == 1 {
		return -v
	}
	return v
}

func TestWidenEveryValue(t *testing.T) {
	for _, f := range formats16 {
		for h := range 1 << 16 {
			want, got := f.value(uint16(h)), f.widen(uint16(h))
			require.True(t, vectest.SameBits(want, float64(got)), "%s %#04x = %g; want %g", f.name, h, got, want)
			if want == want {
				require.Equal(t, uint16(h), f.narrow32(got), "%s %g back", f.name, got)
				require.Equal(t, uint16(h), f.narrow64(want), "%s %g back from float64", f.name, got)
			}
		}
	}
}

// TestNarrowAroundEveryMidpoint tests ties, and the nearest float32 and
// float64 on both sides, between all neighbours up to infinity.
func TestNarrowAroundEveryMidpoint(t *testing.T) {
	for _, f := range formats16 {
		infinity := uint16(1<<f.exponent-1) << f.fraction
		for h := uint16(0); h < infinity; h++ {
			low, step := f.value(h), 0.0
			if h+1 < infinity {
				step = f.value(h+1) - low
			} else {
				step = low - f.value(h-1)
			}
			mid, even := low+step/2, h+h&1
			for _, sign := range []float64{1, -1} {
				bit := uint16(0)
				if sign < 0 {
					bit = 0x8000
				}
				require.Equal(t, even|bit, f.narrow32(float32(sign*mid)), "%s tie %g", f.name, mid)
				require.Equal(t, even|bit, f.narrow64(sign*mid), "%s tie %g", f.name, mid)
				require.Equal(t, h|bit, f.narrow64(sign*math.Nextafter(mid, 0)), "%s below %g", f.name, mid)
				require.Equal(t, (h+1)|bit, f.narrow64(sign*math.Nextafter(mid, math.Inf(1))), "%s above %g", f.name, mid)
				require.Equal(t, h|bit, f.narrow32(float32(sign)*math.Nextafter32(float32(mid), 0)), "%s below %g", f.name, mid)
				require.Equal(t, (h+1)|bit, f.narrow32(float32(sign)*math.Nextafter32(float32(mid), math.MaxFloat32)), "%s above %g", f.name, mid)
			}
		}
	}
}

func TestNarrowExtremes(t *testing.T) {
	for _, f := range formats16 {
		infinity := uint16(1<<f.exponent-1) << f.fraction
		for x, want := range map[float64]uint16{
			math.Inf(1): infinity, math.Inf(-1): infinity | 0x8000, 1e300: infinity, -1e300: infinity | 0x8000,
			5e-324: 0, -5e-324: 0x8000, 1e-50: 0, math.Copysign(0, -1): 0x8000,
		} {
			require.Equal(t, want, f.narrow64(x), "%s %g", f.name, x)
			require.Equal(t, want, f.narrow32(float32(x)), "%s %g", f.name, x)
		}
		// A NaN whose payload lies only in the bits that are cut off.
		for _, bits := range []uint32{0x7f800001, 0xff800001, 0x7fffffff, 0x7fc00000} {
			h := f.narrow32(math.Float32frombits(bits))
			require.True(t, math.IsNaN(f.value(h)), "%s of NaN %#x is %#x", f.name, bits, h)
			require.Equal(t, uint16(bits>>31), h>>15)
		}
		require.True(t, math.IsNaN(f.value(f.narrow64(math.NaN()))))
	}
}

func TestHalfRowsAreTheScalars(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		all := make([]uint16, 1<<16)
		for i := range all {
			all[i] = uint16(i)
		}
		wide := make([]float32, len(all))
		F16ToF32Row(wide, all)
		for i, x := range wide {
			require.True(t, vectest.SameBits(float64(dtype.F16ToF32(all[i])), float64(x)), "float16 %#x", i)
		}
		BF16ToF32Row(wide, all)
		for i, x := range wide {
			require.True(t, vectest.SameBits(float64(dtype.BF16ToF32(all[i])), float64(x)), "bfloat16 %#x", i)
		}
		f16, bf16 := make([]uint16, vectest.BlockLength), make([]uint16, vectest.BlockLength)
		vectest.Sweep(func(src []float32) {
			F32ToF16Row(f16, src)
			F32ToBF16Row(bf16, src)
			for i, x := range src {
				if f16[i] != dtype.F32ToF16(x) || bf16[i] != dtype.F32ToBF16(x) {
					t.Fatalf("%g narrowed to %#x and %#x; want %#x and %#x", x, f16[i], bf16[i], dtype.F32ToF16(x), dtype.F32ToBF16(x))
				}
			}
		})
	})
}

func TestHalfRowTails(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		for n := range vectest.MaxLength + 1 {
			bits, floats, doubles := make([]uint16, n), make([]float32, n), make([]float64, n)
			for i := range n {
				bits[i], floats[i], doubles[i] = uint16(0x3c00+i), float32(i), float64(i)
			}
			wide, checkWide := vectest.Guarded(make([]float32, n))
			short, checkShort := vectest.Guarded(make([]uint16, n))
			for _, row := range []func([]float32, []uint16){F16ToF32Row, BF16ToF32Row} {
				row(wide, bits)
				checkWide(t)
			}
			for _, row := range []func([]uint16, []float32){F32ToF16Row, F32ToBF16Row} {
				row(short, floats)
				checkShort(t)
			}
			for _, row := range []func([]uint16, []float64){F64ToF16Row, F64ToBF16Row} {
				row(short, doubles)
				checkShort(t)
			}
			for i := range n {
				require.Equal(t, dtype.F64ToBF16(doubles[i]), short[i])
				require.Equal(t, dtype.BF16ToF32(bits[i]), wide[i])
			}
		}
	})
}

func BenchmarkHalf(b *testing.B) {
	wide, short := make([]float32, 16384), make([]uint16, 16384)
	for name, row := range map[string]func(){
		"dtype.F16ToF32": func() { F16ToF32Row(wide, short) }, "dtype.F32ToF16": func() { F32ToF16Row(short, wide) },
		"dtype.BF16ToF32": func() { BF16ToF32Row(wide, short) }, "dtype.F32ToBF16": func() { F32ToBF16Row(short, wide) },
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(6 * len(wide)))
			for b.Loop() {
				row()
			}
		})
	}
}
