package lowprec

import (
	"math"
	"sync"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/float16"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/gemm"
)

// Products of bfloat16 with sums in float32, for processors that multiply pairs: two neighbours in a row of a times the two in a
// column of b, added to a sum of float32. Both products are exact. The second is added first, then the first, each with one
// rounding, so that a sum has the bits of fused multiply-adds in the order 1, 0, 3, 2, ... of k.
//
// The instruction takes subnormal numbers for 0, operands and sums alike. So products in which one could occur are not left to it:
// pairs are widened and multiplied by the tile of float32 in the same order, which gives the same bits where none occurs. Whether
// one could follows from the least magnitudes that are not 0 of both operands. Their last places multiplied divide all sums, and
// no sum but 0 is less than that.
//
// AMX, the matrix unit of Intel's server processors, sums in another order: see apart. Where it multiplies, all that is not left to
// it is summed in that order too.

// A pairTile multiplies rows of a with a panel of b, of which each element is a pair: that of rows 2l and 2l+1 in its lower and
// upper half. The sums are set, side by side: see bf16_amd64.s and amx_amd64.s.
type pairTile struct {
	rows, fewRows int                                                        // of a in the two products
	run, few      func(c *float32, a *uint16, lda int, b *uint32, pairs int) // nil: there is no tile

	// apart is the number of pairs whose first elements make a sum, and whose second ones another; both are added, and then that to
	// the element. 0: products are added to the element one by one.
	apart int

	block int         // pairs of b in half of the second-level cache, for all rows of a
	lent  func() bool // whether the system lets the process use the registers; nil: every process may

	// pack lays out so many pairs of rows of b, of pairCols columns, and least goes through a row. Both return the least of what
	// they are given and the magnitudes of the elements: their bits without sign, less 1, so that 0 is the largest.
	pack  func(to []uint32, b []uint16, ldb, pairs int, least uint16) uint16
	least func(x []uint16, least uint16) uint16

	round func(c []uint16, ldc int, sums []float32) // stores rows of pairCols sums
}

const (
	pairCols     = 32
	mostPairRows = 32 // of a tile
	packedPairs  = 16 // that all panels take up together, so that rows of b are read on and on
	noMagnitude  = math.MaxUint16

	// The sum of the exponents of two elements, as they are stored, from which on the product of their last places is normal: an
	// exponent e, from 1 on, is 2^(e-127), its last place 2^(e-134), and the least normal number 2^-126.
	normalExponents = 2*134 - 126
)

// HasBF16 reports whether [MatMulBF16] is there: everything else multiplies bfloat16 in float32.
func HasBF16() bool { return active.pairs.run != nil }

// BF16Tile gives the granularity at which splitting c wastes no work. The first call may ask the system for registers.
func BF16Tile() (rows, cols int) { return active.fastestPairs().rows, pairCols }

func (t *table) fastestPairs() *pairTile {
	if t.amx.run != nil && t.amx.lent() {
		return &t.amx
	}
	return &t.pairs
}

// MatMulBF16 sets c (m x n) to a (m x k) times b (k x n), all bfloat16, row-major with leading dimensions lda, ldb and ldc. Each
// element is rounded once, from a sum of float32. It reports false and leaves c alone where [gemm.MatMul] would, and where there
// are no pairs, runs on the calling thread, and no split of c changes a bit of the result. c must not overlap a or b.
func MatMulBF16(c, a, b []uint16, m, n, k, lda, ldb, ldc int) bool {
	if !HasBF16() || !vec.MatrixFits(len(c), m, n, ldc) || !vec.MatrixFits(len(a), m, k, lda) || !vec.MatrixFits(len(b), k, n, ldb) {
		return false
	}
	if m == 0 || n == 0 || k == 0 {
		vec.ZeroRows(c, m, n, ldc)
		return true
	}
	p := takePairs()
	defer p.give()
	if p.a, p.m, p.k, p.lda = a, m, k, lda; m < p.fewRows && p.apart == 0 {
		p.thin(c, b, n, ldb, ldc)
		return true
	}
	p.look()
	block := p.columnsOfBlock(k)
	for j := 0; j < n; j += block {
		cols := min(block, n-j)
		p.b = room(p.b, panelPairs(k, cols))
		least := p.packRight(p.b, b[j:], k, cols, ldb)
		p.multiply(c[j:], p.b, cols, ldc, least)
	}
	return true
}

// pairsIn is how many pairs k elements are; the last one may lack its second.
func pairsIn(k int) int { return (k + 1) / 2 }

// panelPairs is how many pairs the panels of so many columns have, with those that complete the last one.
func panelPairs(k, cols int) int { return pairsIn(k) * ((cols + pairCols - 1) / pairCols * pairCols) }

// columnsOfBlock is the number of columns whose panels stay in the cache for all rows of a.
func (t *pairTile) columnsOfBlock(k int) int {
	return max(t.block/pairsIn(k)/pairCols*pairCols, pairCols)
}

// PackedRightBF16 is the right operand of such products, laid out once: see [gemm.PackedRight].
type PackedRightBF16 struct {
	k, n   int
	least  uint16
	panels []uint32
}

// NewPackedRightBF16 lays out b (k x n), of which it keeps nothing. It is nil where [MatMulBF16] would refuse b.
func NewPackedRightBF16(b []uint16, k, n, ldb int) *PackedRightBF16 {
	if !HasBF16() || !vec.MatrixFits(len(b), k, n, ldb) {
		return nil
	}
	r := &PackedRightBF16{k: k, n: n, panels: make([]uint32, panelPairs(k, n)), least: noMagnitude}
	if len(r.panels) > 0 {
		p := takePairs()
		r.least = p.packRight(r.panels, b, k, n, ldb)
		p.give()
	}
	return r
}

// Bytes is the memory that r holds.
func (r *PackedRightBF16) Bytes() int64 { return 4 * int64(len(r.panels)) }

// MatMul sets c (m x n) to a (m x k) times columns from to from+n-1 of r, bit for bit as [MatMulBF16] would; k is that of r. from
// is a multiple of the columns of [BF16Tile]. It reports false and leaves c alone where MatMulBF16 would, and for columns that
// r does not have.
func (r *PackedRightBF16) MatMul(c, a []uint16, m, from, n, lda, ldc int) bool {
	if from < 0 || from%pairCols != 0 || n > r.n-from || !vec.MatrixFits(len(c), m, n, ldc) || !vec.MatrixFits(len(a), m, r.k, lda) {
		return false
	}
	if m == 0 || n == 0 || r.k == 0 {
		vec.ZeroRows(c, m, n, ldc)
		return true
	}
	p := takePairs()
	defer p.give()
	p.a, p.m, p.k, p.lda = a, m, r.k, lda
	p.look()
	for j, block := 0, p.columnsOfBlock(r.k); j < n; j += block {
		p.multiply(c[j:], r.panels[(from+j)*pairsIn(r.k):], min(block, n-j), ldc, r.least)
	}
	return true
}

type productPairs struct {
	pairTile
	a      []uint16
	m, k   int
	lda    int
	leastA uint16

	b            []uint32 // a block of the right operand
	copied       []uint16 // rows of a, completed or moved apart
	wideA, wideB []float32
	sums         [mostPairRows * pairCols]float32
	part         [2 * pairCols]uint16 // a pair of rows of b, completed

	firstSums, secondSums [mostPairRows * pairCols]float32
}

var pairProducts = sync.Pool{New: func() any { return new(productPairs) }}

// takePairs takes the memory of a product, which give gives back.
//
//go:noinline
func takePairs() *productPairs {
	p := pairProducts.Get().(*productPairs)
	p.pairTile = *active.fastestPairs()
	return p
}

//go:noinline
func (p *productPairs) give() {
	p.a = nil
	pairProducts.Put(p)
}

// room is memory for n elements.
func room[T any](have []T, n int) []T {
	if cap(have) < n {
		return make([]T, n)
	}
	return have[:n]
}

// look finds the least magnitude of the left operand.
//
//go:noinline
func (p *productPairs) look() {
	p.leastA = noMagnitude
	for i := range p.m {
		p.leastA = p.least(p.a[i*p.lda:][:p.k], p.leastA)
	}
}

// packRight lays out panels of b (k x cols), all pairs of one behind the other, and returns the least magnitude. Some pairs of all
// columns are read before the next. What the last panel and the last pair lack is 0.
func (p *productPairs) packRight(to []uint32, b []uint16, k, cols, ldb int) uint16 {
	all, least := pairsIn(k), uint16(noMagnitude)
	for l := 0; l < all; l += packedPairs {
		pairs := min(packedPairs, all-l)
		for j := 0; j < cols; j += pairCols {
			panel, width, whole := to[j*all+l*pairCols:], min(pairCols, cols-j), 0
			if width == pairCols {
				if whole = min(pairs, k/2-l); whole > 0 {
					least = p.pack(panel, b[2*l*ldb+j:], ldb, whole, least)
				}
			}
			for ; whole < pairs; whole++ {
				clear(p.part[:])
				for r := 2 * (l + whole); r < min(k, 2*(l+whole)+2); r++ {
					copy(p.part[r%2*pairCols:], b[r*ldb+j:][:width])
				}
				least = p.pack(panel[whole*pairCols:], p.part[:], pairCols, 1, least)
			}
		}
	}
	return least
}

// thin is the product for few rows: b is read where it lies, in order. Sums of float32 need no look at subnormal numbers.
func (p *productPairs) thin(c, b []uint16, n, ldb, ldc int) {
	width := min(n, gemm.ThinCols)
	p.wideA, p.wideB = room(p.wideA, p.m*p.k), room(p.wideB, (gemm.ThinRows+p.m)*width)
	for i := range p.m {
		p.inOrder(p.wideA[i*p.k:][:p.k], p.a[i*p.lda:])
	}
	for j := 0; j < n; j += width {
		cols := min(width, n-j)
		rows, sums := p.wideB[:gemm.ThinRows*width], p.wideB[gemm.ThinRows*width:]
		clear(sums)
		for l := 0; l < p.k; l += gemm.ThinRows {
			steps := min(gemm.ThinRows, p.k-l)
			for r := range steps {
				float16.BF16ToF32Row(rows[p.ordered(r, steps)*width:][:cols], b[(l+r)*ldb+j:][:cols])
			}
			for i := range p.m {
				gemm.AddRows(sums[i*width:][:cols], p.wideA[i*p.k+l:][:steps], rows, width)
			}
		}
		for i := range p.m {
			float16.F32ToBF16Row(c[i*ldc+j:][:cols], sums[i*width:][:cols])
		}
	}
}

// ordered is the place of element l of n in the order of the sums: that of the other of its pair, if there is one; or, in parts of
// apart pairs, first elements come before second ones.
func (t *pairTile) ordered(l, n int) int {
	if t.apart > 0 {
		at := l % (2 * t.apart)
		from := l - at
		return from + at/2 + at%2*t.firsts(n-from)
	}
	if l^1 < n {
		return l ^ 1
	}
	return l
}

// firsts is the number of first elements in a part of which n elements are left, with what comes behind it.
func (t *pairTile) firsts(n int) int { return min(t.apart, pairsIn(n)) }

// inOrder widens a row in the order of the sums.
func (t *pairTile) inOrder(to []float32, from []uint16) {
	for l := range to {
		to[t.ordered(l, len(to))] = math.Float32frombits(uint32(from[l]) << 16)
	}
}

// exponentOf is the stored exponent of a magnitude: that of no element but 0 is the largest.
func exponentOf(magnitude uint16) int { return int(magnitude+1-magnitude/noMagnitude) >> 7 }

// normal reports whether no sum of products of elements of such magnitudes is subnormal, nor an element.
func normal(a, b uint16) bool {
	x, y := exponentOf(a), exponentOf(b)
	return x > 0 && y > 0 && x+y >= normalExponents
}

// multiply sets c to a times panels of cols columns.
func (p *productPairs) multiply(c []uint16, panels []uint32, cols, ldc int, least uint16) {
	pairs, safe := pairsIn(p.k), normal(p.leastA, least)
	if !safe {
		p.widenRight(panels[:panelPairs(p.k, cols)])
	}
	for i := 0; i < p.m; {
		tall, run := p.rows, p.run
		if p.m-i < p.rows {
			tall, run = p.fewRows, p.few
		}
		have := min(tall, p.m-i)
		rows, lda := p.rowsFrom(i, have, tall)
		if !safe {
			p.widenLeft(rows, tall, lda)
		}
		for j := 0; j < cols; j += pairCols {
			if safe {
				_ = rows[(tall-1)*lda+2*pairs-1]
				run(&p.sums[0], &rows[0], lda, &panels[j*pairs : (j+pairCols)*pairs][0], pairs)
			} else {
				p.widened(tall, p.wideB[j*p.k:])
			}
			p.store(c[i*ldc+j:], ldc, have, cols-j)
		}
		i += have
	}
}

// rowsFrom are rows of a from i on, where they lie or copied: a pair must not reach beyond its row, nor rows be missing, nor
// all be in the same sets of the first-level cache.
func (p *productPairs) rowsFrom(i, have, tall int) (rows []uint16, lda int) {
	if have == tall && p.k%2 == 0 && p.lda%gemm.AliasingStride != 0 {
		return p.a[i*p.lda:], p.lda
	}
	lda = 2*pairsIn(p.k) + rowGap
	p.copied = room(p.copied, tall*lda)
	for r := range tall {
		to, n := p.copied[r*lda:][:lda], 0
		if r < have {
			n = copy(to, p.a[(i+r)*p.lda:][:p.k])
		}
		clear(to[n:])
	}
	return p.copied, lda
}

// store rounds rows of the sums, of which the result has cols columns left.
func (p *productPairs) store(c []uint16, ldc, rows, cols int) {
	if cols >= pairCols {
		p.round(c, ldc, p.sums[:rows*pairCols])
		return
	}
	for r := range rows {
		float16.F32ToBF16Row(c[r*ldc:][:cols], p.sums[r*pairCols:][:cols])
	}
}

// widened sets the sums to rows of a times a panel, both widened.
func (p *productPairs) widened(tall int, panel []float32) {
	if p.apart == 0 {
		p.widenedPart(p.sums[:], tall, panel, 0, p.k)
		return
	}
	clear(p.sums[:])
	for l := 0; l < p.k; l += 2 * p.apart {
		firsts, all := p.firsts(p.k-l), min(2*p.apart, p.k-l)
		p.widenedPart(p.firstSums[:], tall, panel, l, firsts)
		p.widenedPart(p.secondSums[:], tall, panel, l+firsts, all-firsts)
		for i := range p.sums[:tall*pairCols] {
			p.sums[i] += p.firstSums[i] + p.secondSums[i]
		}
	}
}

// widenedPart sets sums to those of n products from number l on.
func (p *productPairs) widenedPart(sums []float32, tall int, panel []float32, l, n int) {
	if n == 0 {
		clear(sums)
		return
	}
	w := gemm.Windows{Lines: 1, PerLine: tall, Step: p.k, Runs: 1, Run: n}
	gemm.MulPanelWindows(sums, p.wideA[l:], panel[l*pairCols:], w, pairCols, pairCols, true)
}

// rowGap is how many elements further than needed copied rows begin: a line of the cache.
const rowGap = 32

// widenLeft makes rows of a float32, in the order of the sums.
func (p *productPairs) widenLeft(rows []uint16, tall, lda int) {
	p.wideA = room(p.wideA, tall*p.k)
	for r := range tall {
		p.inOrder(p.wideA[r*p.k:][:p.k], rows[r*lda:])
	}
}

// widenRight makes panels of float32, in the order of the sums. A row that was completed is left out: a sum may have become -0.
func (p *productPairs) widenRight(panels []uint32) {
	pairs := pairsIn(p.k)
	p.wideB = room(p.wideB, len(panels)/pairs*p.k)
	for from, to := panels, p.wideB; len(from) > 0; from, to = from[pairs*pairCols:], to[p.k*pairCols:] {
		for l := range p.k {
			shift := l % 2 * 16
			row := to[p.ordered(l, p.k)*pairCols:][:pairCols]
			for j, pair := range from[l/2*pairCols:][:pairCols] {
				row[j] = math.Float32frombits(pair >> shift << 16)
			}
		}
	}
}
