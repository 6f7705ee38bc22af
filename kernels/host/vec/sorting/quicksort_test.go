//go:build goexperiment.simd && amd64 && !race

package sorting

import (
	"simd/archsimd"
	"slices"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// TestQuicksortGivesUp has all keys left where too many partitions would be needed: the caller sorts them in another way.
func TestQuicksortGivesUp(t *testing.T) {
	if !archsimd.X86.AVX512() {
		t.Skip("needs AVX-512")
	}
	keys, want := make([]uint32, 5000), make([]uint32, 5000)
	for i := range keys {
		want[i] = uint32(i)
		keys[i] = uint32(i * 7 % len(keys))
	}
	require.False(t, quicksort512(unsafe.Pointer(&keys[0]), unsafe.Pointer(&make([]uint32, len(keys))[0]), len(keys), 3))
	require.False(t, slices.IsSorted(keys))
	slices.Sort(keys)
	require.Equal(t, want, keys)
}
