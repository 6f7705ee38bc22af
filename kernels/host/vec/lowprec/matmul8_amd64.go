//go:build goexperiment.simd && !race

package lowprec

import "simd/archsimd"

// The loops of matmul8_amd64.s. Those of tiles and lines have one signature: rows of c are ldc apart, and first is what the
// sums of a row begin with.

//go:noescape
func tileUnsigned12x32(c *int32, ldc int, a, b *uint32, groups int, first *int32, set bool)

//go:noescape
func tileSigned12x32(c *int32, ldc int, a, b *uint32, groups int, first *int32, set bool)

//go:noescape
func lineUnsigned32(c *int32, ldc int, a, b *uint32, groups int, first *int32, set bool)

//go:noescape
func lineSigned32(c *int32, ldc int, a, b *uint32, groups int, first *int32, set bool)

//go:noescape
func packQuads32(to *uint32, b *uint8, ldb, groups int)

//go:noescape
func lowBytes512(to *uint8, from *int32, vectors int)

//go:noescape
func tilePairs6x16(c *int32, ldc int, a, b *uint32, groups int, first *int32, set bool)

//go:noescape
func linePairs16(c *int32, ldc int, a, b *uint32, groups int, first *int32, set bool)

//go:noescape
func packUnsigned16(to *uint32, b *uint8, ldb, groups int)

//go:noescape
func packSigned16(to *uint32, b *uint8, ldb, groups int)

// integers256 sets the tile of vec.AVX2, which has no products of bytes that are exact.
func (t *table) integers256() {
	t.tile8 = tile8{
		rows: 6, cols: 16, group: 2,
		run:  [2]runTile8{tilePairs6x16, tilePairs6x16},
		line: [2]runTile8{linePairs16, linePairs16},
		pack: [2]packTile8{packUnsigned16, packSigned16},
		low:  lowBytesRow,
	}
}

// integers512 sets that of processors whose AVX-512 multiplies bytes.
func (t *table) integers512() {
	if !archsimd.X86.AVX512VNNI() {
		return
	}
	t.tile8 = tile8{
		rows: 12, cols: 32, group: 4,
		run:  [2]runTile8{tileSigned12x32, tileUnsigned12x32},
		line: [2]runTile8{lineSigned32, lineUnsigned32},
		pack: [2]packTile8{packQuads32, packQuads32},
		low:  lowBytes,
	}
}

// lowBytes is lowBytesRow, sixteen elements at a time.
func lowBytes(dst []uint8, src []int32) {
	n := min(len(dst), len(src))
	if whole := n / 16; whole > 0 {
		lowBytes512(&dst[0], &src[0], whole)
	}
	lowBytesRow(dst[n&^15:n], src[n&^15:n])
}
