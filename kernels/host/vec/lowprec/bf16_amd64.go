//go:build goexperiment.simd && !race

package lowprec

import (
	"simd/archsimd"
	"slices"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/float16"
)

// The tiles of bf16_amd64.s: rows of a are lda elements apart, a pair of b is in each element of the panel, and there is at
// least one pair. The sums are set, side by side.

//go:noescape
func pairs12x32(c *float32, a *uint16, lda int, b *uint32, pairs int)

//go:noescape
func pairs4x32(c *float32, a *uint16, lda int, b *uint32, pairs int)

// multipliesPairs asks the processor, one with AVX-512, for VDPBF16PS.
//
//go:noescape
func multipliesPairs() bool

// pairs512 sets the tile of processors whose AVX-512 multiplies bfloat16.
func (t *table) pairs512() {
	if multipliesPairs() {
		t.pairs = pairTile{
			rows: 12, run: pairs12x32, fewRows: 4, few: pairs4x32, block: 1 << 17,
			pack: packPairs512, least: least512, round: roundPairs512,
		}
		t.amx512()
	}
}

// packPairs512 is pack of a pairTile.
func packPairs512(to []uint32, b []uint16, ldb, pairs int, least uint16) uint16 {
	bits, one := archsimd.BroadcastUint16x16(0x7fff), archsimd.BroadcastUint16x16(1)
	all := archsimd.BroadcastUint16x16(least)
	for l := range pairs {
		first, second, pair := b[2*l*ldb:][:pairCols], b[(2*l+1)*ldb:][:pairCols], to[l*pairCols:][:pairCols]
		for j := 0; j < pairCols; j += vec.Lanes512 {
			x, y := archsimd.LoadUint16x16Slice(first[j:]), archsimd.LoadUint16x16Slice(second[j:])
			all = all.Min(x.And(bits).Sub(one)).Min(y.And(bits).Sub(one))
			x.ExtendToUint32().Or(y.ExtendToUint32().ShiftAllLeft(16)).StoreSlice(pair[j:])
		}
	}
	var each [16]uint16
	all.Store(&each)
	archsimd.ClearAVXUpperBits()
	return slices.Min(each[:])
}

// least512 is least of a pairTile.
func least512(x []uint16, least uint16) uint16 {
	bits, one := archsimd.BroadcastUint16x32(0x7fff), archsimd.BroadcastUint16x32(1)
	all := archsimd.BroadcastUint16x32(least)
	for ; len(x) >= 2*vec.Lanes512; x = x[2*vec.Lanes512:] {
		all = all.Min(archsimd.LoadUint16x32Slice(x).And(bits).Sub(one))
	}
	var each [32]uint16
	all.Store(&each)
	archsimd.ClearAVXUpperBits()
	least = slices.Min(each[:])
	for _, v := range x {
		least = min(least, v&0x7fff-1)
	}
	return least
}

// roundPairs512 is round of a pairTile.
func roundPairs512(c []uint16, ldc int, sums []float32) {
	r := float16.BF16Rounding()
	for ; len(sums) >= pairCols; sums = sums[pairCols:] {
		row := c[:pairCols]
		r.Round(archsimd.LoadFloat32x16Slice(sums)).StoreSlice(row)
		r.Round(archsimd.LoadFloat32x16Slice(sums[vec.Lanes512:])).StoreSlice(row[vec.Lanes512:])
		c = c[min(ldc, len(c)):]
	}
	archsimd.ClearAVXUpperBits()
}
