package dtype

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/status"
)

func TestNamesRoundTrip(t *testing.T) {
	for d := Bool; d <= Last; d++ {
		got, err := Parse(d.String())
		require.NoError(t, err)
		require.Equal(t, d, got)
		require.True(t, d.Valid())
	}
	_, err := Parse("float128")
	require.Equal(t, status.Type, status.CodeOf(err))
	require.False(t, DType(200).Valid())
	require.Zero(t, DType(200).Size())
}

// What no tensor has yet has a number, a name and a size, and takes part in nothing.
func TestRoomForFurtherTypes(t *testing.T) {
	for _, test := range []struct {
		d      DType
		number int // of the C header, for ever
		name   string
		bits   int64
	}{
		{Uint16, 13, "uint16", 16},
		{Uint32, 14, "uint32", 32},
		{Uint64, 15, "uint64", 64},
		{Float8E4M3FN, 16, "float8_e4m3fn", 8},
		{Float8E4M3FNUZ, 17, "float8_e4m3fnuz", 8},
		{Float8E5M2, 18, "float8_e5m2", 8},
		{Float8E5M2FNUZ, 19, "float8_e5m2fnuz", 8},
		{Int4, 20, "int4", 4},
		{Uint4, 21, "uint4", 4},
		{String, 22, "string", 0},
	} {
		require.EqualValues(t, test.number, test.d)
		require.Equal(t, test.name, test.d.String())
		require.Equal(t, test.bits, test.d.Bits())
		require.Equal(t, test.bits/8, test.d.Size())
		require.True(t, test.d.Named())
		require.False(t, test.d.Valid())
		require.False(t, All.Has(test.d))
		require.True(t, SetOf(test.d).Has(test.d))
		require.Equal(t, NoCategory, test.d.Category())
		_, err := Promote("add", Term{DType: test.d}, Term{DType: Float32})
		require.Equal(t, status.Type, status.CodeOf(err))
		_, err = Parse(test.name)
		require.ErrorContains(t, err, "there are no tensors of "+test.name+" yet")
	}
	require.False(t, DType(23).Named())
	require.False(t, Invalid.Named())
	require.Equal(t, "invalid", DType(23).String())
}

// Each type that tensors have takes whole bytes.
func TestSizes(t *testing.T) {
	for d := Bool; d <= Last; d++ {
		require.Positive(t, d.Size())
		require.Equal(t, d.Bits(), 8*d.Size())
	}
}

// What PaddlePaddle 3.3.1 answers for x + y, row by row; the columns are in the same order. "-" is a
// TypeError.
var short = map[string]DType{
	"b": Bool, "u8": Uint8, "i8": Int8, "i16": Int16, "i32": Int32, "i64": Int64,
	"f16": Float16, "bf": BFloat16, "f32": Float32, "f64": Float64, "c64": Complex64, "c128": Complex128,
}

const columns = "b u8 i8 i16 i32 i64 f16 bf f32 f64 c64 c128"

var measured = []struct {
	name string
	x, y Term
	rows string
}{
	{"vector + vector", Term{}, Term{}, `
		b - - - - - - - - - c64 c128
		- u8 - - - - - - - - c64 c128
		- - i8 - - - - - - - c64 c128
		- - - i16 - - - - - - c64 c128
		- - - - i32 - - - - - c64 c128
		- - - - - i64 - - - - c64 c128
		- - - - - - f16 f32 f32 f64 c64 c128
		- - - - - - f32 bf f32 f64 c64 c128
		- - - - - - f32 f32 f32 f64 c64 c128
		- - - - - - f64 f64 f64 f64 c128 c128
		c64 c64 c64 c64 c64 c64 c64 c64 c64 c128 c64 c128
		c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128`},
	{"vector + 0-d", Term{}, Term{ZeroD: true}, `
		b u8 i8 i16 i32 i64 f16 bf f32 f64 c64 c128
		u8 u8 u8 u8 u8 u8 f16 bf f32 f64 c64 c128
		i8 i8 i8 i8 i8 i8 f16 bf f32 f64 c64 c128
		i16 i16 i16 i16 i16 i16 f16 bf f32 f64 c64 c128
		i32 i32 i32 i32 i32 i32 f16 bf f32 f64 c64 c128
		i64 i64 i64 i64 i64 i64 f16 bf f32 f64 c64 c128
		f16 f16 f16 f16 f16 f16 f16 f16 f16 f16 c64 c128
		bf bf bf bf bf bf bf bf bf bf c64 c128
		f32 f32 f32 f32 f32 f32 f32 f32 f32 f32 c64 c128
		f64 f64 f64 f64 f64 f64 f64 f64 f64 f64 c128 c128
		c64 c64 c64 c64 c64 c64 c64 c64 c64 c128 c64 c128
		c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128`},
	{"0-d + 0-d", Term{ZeroD: true}, Term{ZeroD: true}, `
		b u8 i8 i16 i32 i64 f16 bf f32 f64 c64 c128
		u8 u8 i16 i16 i32 i64 f16 bf f32 f64 c64 c128
		i8 i16 i8 i16 i32 i64 f16 bf f32 f64 c64 c128
		i16 i16 i16 i16 i32 i64 f16 bf f32 f64 c64 c128
		i32 i32 i32 i32 i32 i64 f16 bf f32 f64 c64 c128
		i64 i64 i64 i64 i64 i64 f16 bf f32 f64 c64 c128
		f16 f16 f16 f16 f16 f16 f16 f32 f32 f64 c64 c128
		bf bf bf bf bf bf f32 bf f32 f64 c64 c128
		f32 f32 f32 f32 f32 f32 f32 f32 f32 f64 c64 c128
		f64 f64 f64 f64 f64 f64 f64 f64 f64 f64 c128 c128
		c64 c64 c64 c64 c64 c64 c64 c64 c64 c128 c64 c128
		c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128`},
}

func TestPromotionIsPaddles(t *testing.T) {
	names := strings.Fields(columns)
	for _, m := range measured {
		for i, row := range strings.Split(strings.TrimSpace(m.rows), "\n") {
			for j, want := range strings.Fields(row) {
				x, y := m.x, m.y
				x.DType, y.DType = short[names[i]], short[names[j]]
				got, err := Promote("add", x, y)
				swapped, err2 := Promote("add", y, x)
				require.Equal(t, got, swapped, "%s: %s and %s do not commute", m.name, names[i], names[j])
				if want == "-" {
					require.Equal(t, status.Type, status.CodeOf(err), "%s: %s + %s", m.name, names[i], names[j])
					require.Error(t, err2)
					continue
				}
				require.NoError(t, err)
				require.Equal(t, short[want], got, "%s: %s + %s", m.name, names[i], names[j])
			}
		}
	}
}

func TestPythonScalarsAreWeak(t *testing.T) {
	scalar := func(d DType) Term { return Term{DType: d, Scalar: true} }
	for _, test := range []struct{ x, scalar, want DType }{
		{Bool, Bool, Bool},
		{Bool, Int64, Int64},
		{Bool, Float32, Float32},
		{Int8, Bool, Int8},
		{Int8, Int64, Int8},
		{Int8, Float32, Float32},
		{Int64, Float32, Float32},
		{Float16, Float32, Float16},
		{BFloat16, Int64, BFloat16},
		{Float64, Float32, Float64},
	} {
		for _, zeroD := range []bool{false, true} {
			got, err := Promote("add", Term{DType: test.x, ZeroD: zeroD}, scalar(test.scalar))
			require.NoError(t, err)
			require.Equal(t, test.want, got, "%s + a %s scalar", test.x, test.scalar)
		}
	}
}

func TestRange(t *testing.T) {
	for _, test := range []struct {
		d         DType
		low, high int64
	}{{Bool, 0, 1}, {Uint8, 0, 255}, {Int8, -128, 127}, {Int16, -32768, 32767}, {Int32, math.MinInt32, math.MaxInt32}, {Int64, math.MinInt64, math.MaxInt64}} {
		low, high := test.d.Range()
		require.Equal(t, test.low, low)
		require.Equal(t, test.high, high)
	}
}

func fromFloat16(h uint16) float64  { return float64(F16ToF32(h)) }
func fromBFloat16(h uint16) float64 { return float64(BF16ToF32(h)) }

// Every float16 and bfloat16 survives the way to float64 and back, and every value between two of
// them goes to the nearer one, ties to even.
func TestHalvesRoundToNearestEven(t *testing.T) {
	for name, f := range map[string]struct {
		from func(uint16) float64
		to   func(float64) uint16
		inf  uint16
	}{"float16": {fromFloat16, F64ToF16, 0x7c00}, "bfloat16": {fromBFloat16, F64ToBF16, 0x7f80}} {
		for h := range f.inf {
			v, next := f.from(h), f.from(h+1)
			require.Equal(t, h, f.to(v), "%s %#x", name, h)
			require.Equal(t, h|0x8000, f.to(-v), "%s -%#x", name, h)
			if h+1 == f.inf {
				continue
			}
			middle := v + (next-v)/2
			require.Equal(t, h+h&1, f.to(middle), "%s tie above %#x", name, h)
			require.Equal(t, h, f.to(math.Nextafter(middle, 0)), "%s below the tie above %#x", name, h)
			require.Equal(t, h+1, f.to(math.Nextafter(middle, math.Inf(1))), "%s above the tie above %#x", name, h)
		}
		require.Equal(t, f.inf, f.to(math.Inf(1)))
		require.Equal(t, f.inf, f.to(1e300))
		require.True(t, math.IsNaN(f.from(f.to(math.NaN()))))
	}
}

// The bfloat16 of any float64 is the one nearest to it, computed in exact arithmetic.
func TestBFloat16RoundsOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		x := math.Ldexp(1+r.Float64(), r.IntN(200)-100)
		if r.IntN(2) == 0 { // close to a tie, where rounding twice goes wrong
			x = math.Nextafter(fromBFloat16(uint16(r.IntN(0x7000)+0x100))*(1+0x1p-9), x)
		}
		got := F64ToBF16(x)
		best := new(big.Float).Sub(big.NewFloat(x), big.NewFloat(fromBFloat16(got)))
		for _, other := range []uint16{got - 1, got + 1} {
			d := new(big.Float).Sub(big.NewFloat(x), big.NewFloat(fromBFloat16(other)))
			require.LessOrEqual(t, best.Abs(best).Cmp(d.Abs(d)), 0, "%v went to %#x but %#x is nearer", x, got, other)
		}
	}
}

func TestPart(t *testing.T) {
	for d := Bool; d <= Last; d++ {
		want := d
		if d.IsComplex() {
			want = Float32
			if d == Complex128 {
				want = Float64
			}
			require.Equal(t, d.Size(), 2*d.Part().Size())
		}
		require.Equal(t, want, d.Part(), d)
	}
}

// TestNaNKeepsItsSign: narrowing makes a nan quiet and leaves its sign.
func TestNaNKeepsItsSign(t *testing.T) {
	negative := math.Float32frombits(0xff800001)
	require.EqualValues(t, 0xfe00, F32ToF16(negative))
	require.EqualValues(t, 0x7e00, F32ToF16(-negative))
	require.EqualValues(t, 0xffc0, F32ToBF16(negative)&0xffc0)
	require.EqualValues(t, 0x7fc0, F32ToBF16(-negative)&0xffc0)
}
