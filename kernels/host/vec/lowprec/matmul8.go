package lowprec

import (
	"encoding/binary"
	"sync"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/gemm"
)

// Products of matrices of 8-bit integers, with sums of 32 bits that wrap around. They are exact, so that the order of a sum
// and the instructions that compute it are free.

// Bytes is a matrix of 8-bit integers, row-major: row i begins with element i*Step.
type Bytes struct {
	Data   []uint8
	Step   int
	Signed bool  // elements are int8
	Zero   int32 // of a left operand: what is subtracted from each element

	// Gather is what a right operand may have instead of Data. It writes elements to rows of to, step apart: these rows
	// and columns of the matrix. Any number of threads may call it.
	Gather func(to []uint8, step, row, rows, col, cols int)
}

// Sums is where a product is written: row i begins with element i*Step of Wide, or of Low, which takes the low 8 bits of each
// sum. One of both is nil.
type Sums struct {
	Wide []int32
	Low  []uint8
	Step int
	Add  bool // a product is added to Wide
}

// fits reports whether a matrix of rows x cols lies within m.
//
//go:noinline
func (m *Bytes) fits(rows, cols int) bool {
	return m.Gather != nil && rows >= 0 && cols >= 0 || vec.MatrixFits(len(m.Data), rows, cols, m.Step)
}

// flip is the bit that is turned over where an element is as far from the least of its type as of an unsigned one.
func (m *Bytes) flip() uint8 {
	if m.Signed {
		return 0x80
	}
	return 0
}

// A tile8 is the innermost block of such a product, as a tile is of floats. Operands are laid out in groups of four bytes:
// as many elements of k, of one row of a or one column of b. A panel of a has a group of each of rows rows, then the next
// group of each; one of b likewise of cols columns. Elements beyond k are 0.
//
// An instruction that multiplies groups of four takes unsigned elements of one operand and signed ones of the other. b is
// left as it is. Where a is of the same kind as b, its elements are moved by 128 into the other kind. Whatever is to be
// subtracted from all elements of a, that and a.Zero, makes the sums begin with the sums of the columns of b times it, with
// the sign turned over.
type tile8 struct {
	rows, cols int // of c; rows is 0 where there is no such tile
	group      int // elements of a group: 4, or 2 that are widened to 16 bits, which need no correction

	// run adds a panel of a times one of b to the tile at c, and line a row of a to a row of c: see matmul8_amd64.s. The
	// first is for unsigned elements of b, the second for signed ones.
	run, line [2]runTile8
	pack      [2]packTile8 // lays out groups of cols columns of b, of the same two kinds

	low func(dst []uint8, src []int32) // the low 8 bits of elements
}

type (
	runTile8  = func(c *int32, ldc int, a, b *uint32, groups int, first *int32, set bool)
	packTile8 = func(to *uint32, b *uint8, ldb, groups int)
)

// Blocks of operands are as for floats, with groups for steps: a panel of b stays in the first-level cache, and what goes
// with it in the second.
const (
	depth8     = 128 // groups
	blockRows8 = 96  // multiple of every tile8.rows
	blockCols8 = 1024
	lowRows8   = 384 // rows of which the low bytes are taken together

	packGroups8 = 4 // that all panels take up together, so that rows of b are read on and on
)

// packed8 is the blocks of a product.
type packed8 struct {
	a     [blockRows8 * depth8]uint32
	b     [depth8 * blockCols8]uint32
	first [blockCols8]int32 // what the sums of a row begin with
	zero  [blockCols8]int32
	edge  [gemm.MaxTile]int32
	part  [4 * 32]uint8                       // a group of rows of b, of which there are fewer
	rows  [4 * packGroups8 * blockCols8]uint8 // that were gathered
	line  [depth8]uint32                      // a row that is multiplied alone
	sums  []int32                             // of which the low bytes are wanted; made when needed
}

var packs8 = sync.Pool{New: func() any { return new(packed8) }}

// takeBlocks takes blocks from the pool, which gets them back.
//
//go:noinline
func takeBlocks() *packed8 { return packs8.Get().(*packed8) }

// MatMul8 sets c (m x n) to a (m x k) times b (k x n). Any of m, n, k may be 0; with k = 0, c becomes 0. It reports false and
// leaves c alone where [gemm.MatMul] would, runs on the calling thread, and no split of c changes a bit of the result. c must not
// overlap a or b.
func MatMul8(c *Sums, a, b *Bytes, m, n, k int) bool {
	p := product8{tile8: &active.tile8, a: a, b: b, k: k, signed: boolToInt(b.Signed)}
	return b.fits(k, n) && p.multiply(c, m, n)
}

// PackedRight8 is the right operand of such products, laid out once: see [gemm.PackedRight].
type PackedRight8 struct {
	tile   *tile8
	b      Bytes // a copy of the operand where there is no tile; else without elements
	k, n   int
	panels []uint32
	sums   []int32 // of the columns
}

// NewPackedRight8 lays out b (k x n), of which it keeps nothing. It is nil where [MatMul8] would refuse b.
func NewPackedRight8(b *Bytes, k, n int) *PackedRight8 {
	if !b.fits(k, n) {
		return nil
	}
	r := &PackedRight8{tile: &active.tile8, b: Bytes{Step: n, Signed: b.Signed}, k: k, n: n}
	t := r.tile
	if t.rows == 0 {
		r.b.Data = make([]uint8, k*n)
		for l := 0; l < k && n > 0; l++ {
			copy(r.b.Data[l*n:][:n], b.Data[l*b.Step:])
		}
		return r
	}
	p := product8{tile8: t, b: b, k: k, signed: boolToInt(b.Signed), blocks: takeBlocks()}
	groups := t.groups(k)
	r.panels, r.sums = make([]uint32, groups*t.whole(n)), make([]int32, t.whole(n))
	for j := 0; j < n; j += t.cols {
		panel := r.panels[j*groups:]
		p.packPanel(panel, b, 0, j, k, min(t.cols, n-j))
		for l := 0; l < groups; l += depth8 {
			p.addColumns(r.sums[j:][:t.cols], panel[l*t.cols:], min(depth8, groups-l))
		}
	}
	packs8.Put(p.blocks)
	return r
}

// Bytes is the memory that r holds.
func (r *PackedRight8) Bytes() int64 { return int64(4*len(r.panels) + 4*len(r.sums) + len(r.b.Data)) }

// MatMul sets c (m x n) to a (m x k) times columns from to from+n-1 of r, as [MatMul8] would; k is that of r. from is a
// multiple of the columns of [MatMul8Tile]. It reports false and leaves c alone where MatMul8 would, and for columns that
// r does not have.
func (r *PackedRight8) MatMul(c *Sums, a *Bytes, m, from, n int) bool {
	if _, cols := r.tile.size(); from < 0 || n < 0 || n > r.n-from || from%cols != 0 {
		return false
	}
	b := r.b
	if len(b.Data) > 0 {
		b.Data = b.Data[from:]
	}
	p := product8{tile8: r.tile, a: a, b: &b, right: r, from: from, k: r.k, signed: boolToInt(b.Signed)}
	return p.multiply(c, m, n)
}

// MatMul8Tile gives the granularity at which splitting c wastes no work.
func MatMul8Tile() (rows, cols int) { return active.tile8.size() }

// size is the rows and columns of a tile; without one, those of a piece that is worth splitting off.
func (t *tile8) size() (rows, cols int) {
	if t.rows == 0 {
		return 64, 64
	}
	return t.rows, t.cols
}

// boolToInt is 1 for true.
func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// groups is the number of groups of k elements.
func (t *tile8) groups(k int) int { return (k + t.group - 1) / t.group }

// whole is n columns and those that the last panel has more.
func (t *tile8) whole(n int) int { return (n + t.cols - 1) / t.cols * t.cols }

type product8 struct {
	*tile8
	a, b   *Bytes
	right  *PackedRight8 // instead of b where there are tiles, from a column on
	from   int
	k      int
	signed int // 1: elements of b are
	blocks *packed8
}

// moves reports whether elements of a are moved by 128.
func (p *product8) moves() bool { return p.group == 4 && boolToInt(p.a.Signed) == p.signed }

// excess is what is to be subtracted from the elements of a as they are laid out.
func (p *product8) excess() int32 {
	switch {
	case !p.moves():
		return p.a.Zero
	case p.a.Signed:
		return p.a.Zero + 128
	}
	return p.a.Zero - 128
}

// multiply goes through blocks of columns, and below them through rows.
func (p *product8) multiply(c *Sums, m, n int) bool {
	if !vec.MatrixFits(max(len(c.Wide), len(c.Low)), m, n, c.Step) || !p.a.fits(m, p.k) {
		return false
	}
	if m == 0 || n == 0 {
		return true
	}
	if p.rows == 0 || p.k == 0 {
		p.plain(c, m, n)
		return true
	}
	p.blocks = takeBlocks()
	for j := 0; j < n; j += blockCols8 {
		cols := min(blockCols8, n-j)
		if c.Low == nil {
			p.columns(c.Wide[j:], c.Step, 0, m, j, cols, !c.Add)
			continue
		}
		for i := 0; i < m; i += lowRows8 {
			rows := min(lowRows8, m-i)
			if len(p.blocks.sums) < rows*cols {
				p.blocks.sums = make([]int32, rows*cols)
			}
			p.columns(p.blocks.sums, cols, i, rows, j, cols, true)
			for r := range rows {
				p.low(c.Low[(i+r)*c.Step+j:][:cols], p.blocks.sums[r*cols:])
			}
		}
	}
	packs8.Put(p.blocks)
	return true
}

// columns sets c, whose rows are ldc apart, to rows of a from row on, times columns of b from col on, or adds them.
func (p *product8) columns(c []int32, ldc, row, rows, col, cols int, set bool) {
	all := p.groups(p.k)
	for l := 0; l < all; l += depth8 {
		groups := min(depth8, all-l)
		b, stride, first := p.blockOfRight(l, groups, col, cols)
		for i := 0; i < rows; i += blockRows8 {
			have := min(blockRows8, rows-i)
			p.packLeft(row+i, have, l, groups)
			p.block(c[i*ldc:], ldc, b, stride, first, have, cols, groups, set && l == 0)
		}
	}
}

// blockOfRight is groups of columns of the right operand, whose panels begin stride apart, and what the sums of a row begin
// with or are added to.
func (p *product8) blockOfRight(l, groups, col, cols int) (b []uint32, stride int, first []int32) {
	all, excess := p.groups(p.k), p.excess()
	b, stride, first = p.blocks.b[:], p.cols*groups, p.blocks.first[:p.whole(cols)]
	if r := p.right; r != nil {
		b, stride = r.panels[(p.from+col)*all+l*p.cols:], p.cols*all
		if copy(first, r.sums[p.from+col:]); l > 0 {
			excess = 0 // the sums are those of all groups
		}
	} else {
		p.packRight(l*p.group, groups, col, cols)
		clear(first)
		for j := 0; j < len(first) && excess != 0; j += p.cols {
			p.addColumns(first[j:], b[j*groups:], groups)
		}
	}
	for j := range first {
		first[j] *= -excess
	}
	return b, stride, first
}

// packRight lays out groups of columns of b, from row on. Some rows of all columns are read before the next.
func (p *product8) packRight(row, groups, col, cols int) {
	rows, b, gathered := min(groups*p.group, p.k-row), p.b, Bytes{Data: p.blocks.rows[:], Step: blockCols8, Signed: p.b.Signed}
	for g := 0; g < groups; g += packGroups8 {
		from, at := row+g*p.group, col
		have := min(packGroups8*p.group, rows-g*p.group)
		if p.b.Gather != nil {
			p.b.Gather(gathered.Data, gathered.Step, from, have, col, cols)
			b, from, at = &gathered, 0, 0
		}
		for j := 0; j < cols; j += p.cols {
			p.packPanel(p.blocks.b[j*groups+g*p.cols:], b, from, at+j, have, min(p.cols, cols-j))
		}
	}
}

// addColumns adds the sums of the columns of a panel to sums.
func (p *product8) addColumns(sums []int32, panel []uint32, groups int) {
	ones := uint32(0x01010101)
	if p.group == 2 {
		ones = 0x00010001
	}
	line := p.blocks.line[:groups]
	for i := range line {
		line[i] = ones
	}
	_, _ = panel[groups*p.cols-1], sums[p.cols-1]
	p.line[p.signed](&sums[0], 0, &line[0], &panel[0], groups, &p.blocks.zero[0], false)
}

// packPanel lays out rows of b from row on, and of these cols columns from col on.
func (p *product8) packPanel(to []uint32, b *Bytes, row, col, rows, cols int) {
	run, part := p.pack[p.signed], &p.blocks.part
	for l := 0; l < rows; {
		from, step, groups := b.Data[(row+l)*b.Step+col:], b.Step, (rows-l)/p.group
		if groups == 0 || cols < p.cols { // one group that lacks rows or columns
			clear(part[:])
			for i := range min(p.group, rows-l) {
				copy(part[i*p.cols:][:cols], from[i*step:])
			}
			from, step, groups = part[:], p.cols, 1
		}
		at := l / p.group * p.cols
		_, _ = to[at+groups*p.cols-1], from[(groups*p.group-1)*step+p.cols-1]
		run(&to[at], &from[0], step, groups)
		l += groups * p.group
	}
}

// next is what rows of a are laid out for where so many are left: a tile of which tall rows exist, or one row alone. Few rows
// are faster one by one.
func (p *product8) next(left int) (tall, have int) {
	if left < p.rows/2 {
		return 1, 1
	}
	return p.rows, min(p.rows, left)
}

// packLeft lays out rows of a: panels of as many rows as a tile has, and of one row each what is left. A tile that lacks rows
// has what was there.
func (p *product8) packLeft(row, rows, l, groups int) {
	from := l * p.group
	steps := min(groups*p.group, p.k-from)
	for i := 0; i < rows; {
		tall, have := p.next(rows - i)
		for r := range have {
			p.packRow(p.blocks.a[i*groups+r:], p.a.Data[(row+i+r)*p.a.Step+from:][:steps], tall)
		}
		i += have
	}
}

// packRow lays out the groups of a row, width apart.
func (p *product8) packRow(to []uint32, from []uint8, width int) {
	if p.group == 2 {
		p.packPairs(to, from, width)
		return
	}
	var flip uint32
	if p.moves() {
		flip = 0x80808080
	}
	at, le := 0, binary.LittleEndian
	for ; len(from) >= 16; from, at = from[16:], at+4*width {
		x, y, four := le.Uint64(from), le.Uint64(from[8:]), to[at:]
		four[3*width] = uint32(y>>32) ^ flip
		four[2*width] = uint32(y) ^ flip
		four[width] = uint32(x>>32) ^ flip
		four[0] = uint32(x) ^ flip
	}
	for ; len(from) >= 4; from, at = from[4:], at+width {
		to[at] = le.Uint32(from) ^ flip
	}
	if len(from) > 0 {
		var last [4]uint8
		copy(last[:], from)
		to[at] = le.Uint32(last[:]) ^ flip
	}
}

// packPairs is packRow for elements that are widened to 16 bits.
func (p *product8) packPairs(to []uint32, from []uint8, width int) {
	flip := p.a.flip()
	for at := range from {
		x := uint32(uint16(from[at]^flip) - uint16(flip))
		if at%2 == 0 {
			to[at/2*width] = x
		} else {
			to[at/2*width] |= x << 16
		}
	}
}

// block runs the tiles of a block of each operand. Where c has only a part of one, it runs through a whole one, the rest of
// which is never read.
func (p *product8) block(c []int32, ldc int, b []uint32, stride int, first []int32, rows, cols, groups int, set bool) {
	for j := 0; j < cols; j += p.cols {
		right, begin, width := b[j/p.cols*stride:][:p.cols*groups], &first[j], min(p.cols, cols-j)
		for i := 0; i < rows; {
			tall, have := p.next(rows - i)
			run := p.run[p.signed]
			if tall == 1 {
				run = p.line[p.signed]
			}
			at, left := c[i*ldc+j:], &p.blocks.a[i*groups]
			i += have
			if have == tall && width == p.cols {
				_ = at[(have-1)*ldc+width-1]
				run(&at[0], ldc, left, &right[0], groups, begin, set)
				continue
			}
			whole := p.blocks.edge[:]
			for r := 0; r < have && !set; r++ {
				copy(whole[r*p.cols:], at[r*ldc:][:width])
			}
			run(&whole[0], p.cols, left, &right[0], groups, begin, set)
			for r := range have {
				copy(at[r*ldc:][:width], whole[r*p.cols:])
			}
		}
	}
}

// plain is multiply in plain Go.
func (p *product8) plain(c *Sums, m, n int) {
	var sums [64]int32
	a, right, step := p.a, p.b.Data, p.b.Step
	if p.b.Gather != nil {
		right, step = make([]uint8, p.k*len(sums)), len(sums)
	}
	flipA, flipB := a.flip(), p.b.flip()
	less := int32(flipA) + a.Zero
	for j := 0; j < n; j += len(sums) {
		s, from := sums[:min(len(sums), n-j)], j
		if p.b.Gather != nil {
			p.b.Gather(right, step, 0, p.k, j, len(s))
			from = 0
		}
		for i := range m {
			clear(s)
			if c.Add {
				copy(s, c.Wide[i*c.Step+j:])
			}
			for l := range p.k {
				x := int32(a.Data[i*a.Step+l]^flipA) - less
				for w, y := range right[l*step+from:][:len(s)] {
					s[w] += x * (int32(y^flipB) - int32(flipB))
				}
			}
			if c.Low != nil {
				lowBytesRow(c.Low[i*c.Step+j:], s)
			} else {
				copy(c.Wide[i*c.Step+j:], s)
			}
		}
	}
}

// lowBytesRow takes the low 8 bits of each element.
//
//go:noinline
func lowBytesRow(dst []uint8, src []int32) {
	for i, v := range src[:min(len(dst), len(src))] {
		dst[i] = uint8(v)
	}
}
