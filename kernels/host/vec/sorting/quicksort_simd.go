//go:build goexperiment.simd && amd64 && !race

package sorting

import (
	"math"
	"math/bits"
	"simd/archsimd"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// Quicksort with AVX-512. A vector of keys is compared with the pivot at once, and an instruction packs those that are below it, and
// those that are not: there is no branch that a key could mispredict. See Blacher et al., Vectorized and Performance-Portable
// Quicksort, 2022. Few keys are sorted by a bitonic network in registers.

const (
	leafSorted = 8 * vec.Lanes512 // keys that the network sorts
	fewSampled = 1 << 10          // to sort fewer than so many, the pivot is chosen from nine
)

// sortUint32512 is SortUint32.
// SAFETY: both slices have the same length.
func sortUint32512(keys, spare []uint32) bool {
	if len(keys) < 2 {
		return true
	}
	ok := quicksort512(unsafe.Pointer(&keys[0]), unsafe.Pointer(&spare[0]), len(keys), 3*bits.Len(uint(len(keys))))
	archsimd.ClearAVXUpperBits()
	return ok
}

// quicksort512 sorts n keys, false if that takes more than so many partitions of partitions. Where a partition is far from halves, the
// next pivot is chosen with more care: the order of the keys may have led to it.
func quicksort512(keys, spare unsafe.Pointer, n, depth int) bool {
	for care := false; n > leafSorted; depth-- {
		if depth == 0 {
			return false
		}
		pivot := pivot512(keys, spare, n, care)
		below := partition512(keys, spare, n, pivot)
		care = min(below, n-below) < n/8
		if below > 0 {
			if !quicksort512(keys, spare, below, depth-1) {
				return false
			}
		} else if below = leastOut512(keys, spare, n, pivot); below == n {
			return true
		}
		keys, n = key512(keys, below), n-below
	}
	bitonicLeaf(keys, n)
	return true
}

// leastOut512 moves the keys that equal the least of all to the front and answers how many there are. They are done.
func leastOut512(keys, spare unsafe.Pointer, n int, least uint32) int {
	if least == math.MaxUint32 {
		return n
	}
	return partition512(keys, spare, n, least+1)
}

// key512 is the address of a key.
// SAFETY: there are as many keys, or as many and the address is not used.
func key512(keys unsafe.Pointer, i int) unsafe.Pointer { return unsafe.Add(keys, 4*i) }

// vector512 is the vector that begins at a key.
// SAFETY: as many keys follow.
func vector512(keys unsafe.Pointer, i int) *[vec.Lanes512]uint32 {
	return (*[vec.Lanes512]uint32)(unsafe.Add(keys, 4*i))
}

// pivot512 is a key that is likely to have half of the others below it: the median of a few, in the spare memory.
func pivot512(keys, spare unsafe.Pointer, n int, care bool) uint32 {
	at := func(i int) uint32 { return *(*uint32)(key512(keys, i)) }
	if n < fewSampled && !care {
		step := n / 10
		a := middle(at(step), at(2*step), at(3*step))
		b := middle(at(4*step), at(5*step), at(6*step))
		return middle(a, b, middle(at(7*step), at(8*step), at(9*step)))
	}
	step := n / leafSorted
	for i := range leafSorted {
		*(*uint32)(key512(spare, i)) = at(i*step + step/2)
	}
	bitonicLeaf(spare, leafSorted)
	return *(*uint32)(key512(spare, leafSorted/2))
}

// middle is the median of three.
func middle(a, b, c uint32) uint32 { return max(min(a, b), min(max(a, b), c)) }

// partition512 moves the keys below a pivot to the front and the others behind them, and answers how many are below. The first stay in
// place, where what they overwrite has been read, the others wait in the spare memory.
func partition512(keys, spare unsafe.Pointer, n int, pivot uint32) int {
	pivots, below, above := archsimd.BroadcastUint32x16(pivot), 0, 0
	i := 0
	for ; i+vec.Lanes512 <= n; i += vec.Lanes512 {
		x := archsimd.LoadUint32x16(vector512(keys, i))
		less := x.Less(pivots)
		count := bits.OnesCount16(less.ToBits())
		x.Compress(less).Store(vector512(keys, below))
		x.Compress(x.GreaterEqual(pivots)).Store(vector512(spare, above))
		below, above = below+count, above+vec.Lanes512-count
	}
	for ; i < n; i++ {
		k := *(*uint32)(key512(keys, i))
		*(*uint32)(key512(keys, below)) = k
		*(*uint32)(key512(spare, above)) = k
		less := 0
		if k < pivot {
			less = 1
		}
		below, above = below+less, above+1-less
	}
	if above > 0 {
		moveBack512(key512(keys, below), spare, above)
	}
	return below
}

// moveBack512 copies keys. The last vector may overlap the one before.
// SAFETY: there is room for n keys at both addresses.
func moveBack512(dst, src unsafe.Pointer, n int) {
	if n < vec.Lanes512 {
		copy(unsafe.Slice((*uint32)(dst), n), unsafe.Slice((*uint32)(src), n))
		return
	}
	for i := 0; i < n-vec.Lanes512; i += vec.Lanes512 {
		archsimd.LoadUint32x16(vector512(src, i)).Store(vector512(dst, i))
	}
	archsimd.LoadUint32x16(vector512(src, n-vec.Lanes512)).Store(vector512(dst, n-vec.Lanes512))
}

// bitonicLeaf sorts at most leafSorted keys.
// SAFETY: n keys follow.
//
//go:noescape
func bitonicLeaf(keys unsafe.Pointer, n int)
