package sorting

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/vectest"
)

// Keys are in the order of numbers, with NaN last and zeros equal, whatever the length of the row.
func TestSortKeys(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(13, 14))
		for _, n := range vectest.Sizes {
			for _, flip := range []uint32{0, math.MaxUint32} {
				x := vectest.Specials32(r, n)
				if n%2 == 0 {
					copy(x, vectest.Edges32())
				}
				keys, check := vectest.Guarded(make([]uint32, n))
				some, all, zero := SortKeys(keys, x, flip)
				wantSome, wantAll, wantZero := uint32(0), uint32(math.MaxUint32), false
				for i, v := range x {
					k := keys[i] ^ flip
					require.Equal(t, SortKey(v), k)
					require.True(t, OfSortKey(k) == v || v != v && k == math.MaxUint32 && OfSortKey(k) != OfSortKey(k))
					for j, w := range x[:i] {
						require.Equal(t, v < w || v == v && w != w, k < keys[j]^flip, "%g and %g", v, w)
					}
					wantSome, wantAll = wantSome|keys[i], wantAll&keys[i]
					wantZero = wantZero || math.Float32bits(v) == 1<<31
				}
				require.Equal(t, []any{wantSome, wantAll, wantZero}, []any{some, all, zero}, n)
				check(t)
			}
		}
	})
}

// An element beyond a bound is found wherever it is, NaN too.
func TestBeyond(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		for _, n := range []int{0, 1, 15, 16, 17, 31, 32, 63, 64, 65, 127, 128, 129, 200} {
			for _, flip := range []uint32{0, vec.Descending} {
				x := make([]float32, n)
				require.Equal(t, -1, Beyond(x, 0, flip))
				for i := range x {
					for _, v := range []float32{1, float32(math.NaN()), float32(math.Inf(1))} {
						x[i] = math.Float32frombits(math.Float32bits(v) ^ flip)
						require.Equal(t, i, Beyond(x, 0, flip), "%g of %d", v, n)
						require.Equal(t, v <= 1, Beyond(x, 1, flip) < 0, "%g of %d", v, n)
					}
					x[i] = 0
				}
				require.Equal(t, min(0, n-1), Beyond(x, float32(math.NaN()), flip))
			}
		}
	})
}

// Elements of keys have the bits of those that the keys were made of, but that all NaN are one and zeros have no sign.
func TestOfSortKeys(t *testing.T) {
	x := append(vectest.Edges32(), vectest.Edges32()...)
	eachLevel(t, func(t *testing.T) {
		for n := range len(x) {
			for _, flip := range []uint32{0, math.MaxUint32} {
				keys := make([]uint32, n)
				SortKeys(keys, x[:n], flip)
				got, check := vectest.Guarded(make([]float32, n))
				OfSortKeys(got, keys, flip)
				check(t)
				for i, want := range x[:n] {
					if want == 0 {
						want = 0 // -0 as well
					}
					require.True(t, vectest.SameBits(float64(got[i]), float64(want)), "%g of the key of %g", got[i], want)
				}
			}
		}
	})
}

// TestSortUint32 sorts keys of every length up to beyond two leaves of the network, and long ones, random and in orders that pivots may
// be bad for.
func TestSortUint32(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	orders := map[string]func(i, n int) uint32{
		"random":   func(int, int) uint32 { return r.Uint32() },
		"few":      func(int, int) uint32 { return r.Uint32N(3) * math.MaxInt32 },
		"equal":    func(int, int) uint32 { return 7 },
		"largest":  func(int, int) uint32 { return math.MaxUint32 },
		"rising":   func(i, _ int) uint32 { return uint32(i) },
		"falling":  func(i, n int) uint32 { return uint32(n - i) },
		"organ":    func(i, n int) uint32 { return uint32(min(i, n-i)) },
		"sawtooth": func(i, _ int) uint32 { return uint32(i % 97) },
		"one":      func(i, n int) uint32 { return uint32(i / max(n-1, 1)) },
	}
	lengths := []int{1000, 4096, 100_003}
	for n := range 4*vectest.MaxLength + 10 {
		lengths = append(lengths, n)
	}
	eachLevel(t, func(t *testing.T) {
		if !SortUint32([]uint32{2, 1}, make([]uint32, 2)) {
			t.Skip("there are no instructions for it")
		}
		for name, order := range orders {
			for _, n := range lengths {
				keys := make([]uint32, n+2*lanesBeside) // what is beside must stay
				for i := range keys {
					keys[i] = uint32(i) * 2654435761
				}
				beside := slices.Clone(keys)
				line := keys[lanesBeside : lanesBeside+n]
				for i := range line {
					line[i] = order(i, n)
				}
				want := slices.Sorted(slices.Values(line))
				require.True(t, SortUint32(line, make([]uint32, n)), "%s, %d", name, n)
				require.True(t, slices.Equal(want, line), "%s, %d", name, n)
				require.Equal(t, beside[:lanesBeside], keys[:lanesBeside])
				require.Equal(t, beside[lanesBeside+n:], keys[lanesBeside+n:])
			}
		}
	})
}

// lanesBeside are elements on either side of a row under test.
const lanesBeside = 20
