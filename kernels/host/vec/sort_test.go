package vec

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// Keys are in the order of numbers, with NaN last and zeros equal, whatever the length of the row.
func TestSortKeys(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(13, 14))
		for _, n := range sizes {
			for _, flip := range []uint32{0, math.MaxUint32} {
				x := specials32(r, n)
				if n%2 == 0 {
					copy(x, edges32())
				}
				keys, check := guarded(make([]uint32, n))
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
			for _, flip := range []uint32{0, Descending} {
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
