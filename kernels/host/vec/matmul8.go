package vec

import (
	"encoding/binary"
	"slices"
	"sync"
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
func (m *Bytes) fits(rows, cols int) bool {
	return m.Gather != nil && rows >= 0 && cols >= 0 || fits(len(m.Data), rows, cols, m.Step)
}

// fits reports whether a matrix of rows x cols lies within c.
func (c *Sums) fits(rows, cols int) bool {
	return fits(max(len(c.Wide), len(c.Low)), rows, cols, c.Step)
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
	edge  [maxTile]int32
	part  [4 * 32]uint8                       // a group of rows of b, of which there are fewer
	rows  [4 * packGroups8 * blockCols8]uint8 // that were gathered
	line  [depth8]uint32                      // a row that is multiplied alone
	sums  []int32                             // of which the low bytes are wanted; made when needed
}

var packs8 = sync.Pool{New: func() any { return new(packed8) }}

// MatMul8 sets c (m x n) to a (m x k) times b (k x n). Any of m, n, k may be 0; with k = 0, c becomes 0. It reports false and
// leaves c alone where [MatMul] would, runs on the calling thread, and no split of c changes a bit of the result. c must not
// overlap a or b.
func MatMul8(c Sums, a, b Bytes, m, n, k int) bool {
	if !c.fits(m, n) || !a.fits(m, k) || !b.fits(k, n) {
		return false
	}
	if active.tile8.rows == 0 || k == 0 {
		plain8(c, a, b, m, n, k)
		return true
	}
	p := product8{tile8: &active.tile8, a: a, b: b, k: k, signed: truth(b.Signed)}
	p.multiply(c, m, n)
	return true
}

// Right8 is the right operand of such products, laid out once: see [Right].
type Right8 struct {
	tile   tile8
	k, n   int
	signed bool
	panels []uint32
	sums   []int32 // of the columns
	plain  []uint8 // where there is no tile: the operand itself, contiguous
}

// NewRight8 lays out b (k x n), of which it keeps nothing. It is nil where [MatMul8] would refuse b.
func NewRight8(b Bytes, k, n int) *Right8 {
	if !b.fits(k, n) {
		return nil
	}
	r := &Right8{tile: active.tile8, k: k, n: n, signed: b.Signed}
	if r.tile.rows == 0 || k == 0 || n == 0 {
		for l := 0; l < k && n > 0; l++ {
			r.plain = append(r.plain, b.Data[l*b.Step:][:n]...)
		}
		return r
	}
	t := &r.tile
	groups, all := t.groups(k), (n+t.cols-1)/t.cols*t.cols
	r.panels, r.sums = make([]uint32, groups*all), make([]int32, all)
	p := packs8.Get().(*packed8)
	for j := 0; j < n; j += t.cols {
		panel := r.panels[j*groups:][:t.cols*groups]
		t.packPanel(panel, b, 0, j, k, min(t.cols, n-j), p)
		for l := 0; l < groups; l += depth8 {
			t.addColumns(r.sums[j:][:t.cols], panel[l*t.cols:], min(depth8, groups-l), truth(b.Signed), p)
		}
	}
	packs8.Put(p)
	return r
}

// Bytes is the memory that r holds.
func (r *Right8) Bytes() int64 { return int64(4*len(r.panels) + 4*len(r.sums) + len(r.plain)) }

// MatMul sets c (m x n) to a (m x k) times columns from to from+n-1 of r, as [MatMul8] would; k is that of r. from is a
// multiple of the columns of [MatMul8Tile]. It reports false and leaves c alone where MatMul8 would, and for columns that
// r does not have.
func (r *Right8) MatMul(c Sums, a Bytes, m, from, n int) bool {
	if _, cols := r.tile.size(); from < 0 || n < 0 || n > r.n-from || from%cols != 0 || !c.fits(m, n) || !a.fits(m, r.k) {
		return false
	}
	if r.panels == nil {
		b := Bytes{Data: r.plain, Step: r.n, Signed: r.signed}
		if r.k > 0 && n > 0 {
			b.Data = r.plain[from:]
		}
		plain8(c, a, b, m, n, r.k)
		return true
	}
	p := product8{tile8: &r.tile, a: a, right: r, from: from, k: r.k, signed: truth(r.signed)}
	p.multiply(c, m, n)
	return true
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

// truth is 1 for true.
func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}

// groups is the number of groups of k elements.
func (t *tile8) groups(k int) int { return (k + t.group - 1) / t.group }

// product8 is one product by tiles.
type product8 struct {
	*tile8
	a, b   Bytes
	right  *Right8 // instead of b, from a column on
	from   int
	k      int
	signed int // 1: elements of b are
	blocks *packed8
}

// moves reports whether elements of a are moved by 128.
func (p *product8) moves() bool { return p.group == 4 && truth(p.a.Signed) == p.signed }

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
func (p *product8) multiply(c Sums, m, n int) {
	if m == 0 || n == 0 {
		return
	}
	p.blocks = packs8.Get().(*packed8)
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
	r, excess := p.right, p.excess()
	if r == nil {
		p.packRight(l*p.group, groups, col, cols)
	} else if all := p.groups(p.k); l > 0 || excess == 0 {
		return r.panels[(p.from+col)*all+l*p.cols:], p.cols * all, p.blocks.zero[:]
	}
	whole := (cols + p.cols - 1) / p.cols * p.cols
	first = p.blocks.first[:whole]
	if r != nil {
		copy(first, r.sums[p.from+col:])
		b, stride = r.panels[(p.from+col)*p.groups(p.k):], p.cols*p.groups(p.k)
	} else {
		clear(first)
		b, stride = p.blocks.b[:], p.cols*groups
		for j := 0; j < whole && excess != 0; j += p.cols {
			p.addColumns(first[j:][:p.cols], b[j*groups:], groups, p.signed, p.blocks)
		}
	}
	for j := range first {
		first[j] *= -excess
	}
	return b, stride, first
}

// packRight lays out groups of columns of b, from row on. Some rows of all columns are read before the next.
func (p *product8) packRight(row, groups, col, cols int) {
	rows := min(groups*p.group, p.k-row)
	for g := 0; g < groups; g += packGroups8 {
		b, from, at := p.b, row+g*p.group, col
		have := min(packGroups8*p.group, rows-g*p.group)
		if b.Gather != nil {
			b.Gather(p.blocks.rows[:], blockCols8, from, have, col, cols)
			b.Data, b.Step, from, at = p.blocks.rows[:], blockCols8, 0, 0
		}
		for j := 0; j < cols; j += p.cols {
			p.packPanel(p.blocks.b[j*groups+g*p.cols:], b, from, at+j, have, min(p.cols, cols-j), p.blocks)
		}
	}
}

// addColumns adds the sums of the columns of a panel to sums.
func (t *tile8) addColumns(sums []int32, panel []uint32, groups, signed int, p *packed8) {
	ones := uint32(0x01010101)
	if t.group == 2 {
		ones = 0x00010001
	}
	line := p.line[:groups]
	for i := range line {
		line[i] = ones
	}
	_, _ = panel[groups*t.cols-1], sums[t.cols-1]
	t.line[signed](&sums[0], 0, &line[0], &panel[0], groups, &p.zero[0], false)
}

// packPanel lays out rows of b from row on, and of these cols columns from col on.
func (t *tile8) packPanel(to []uint32, b Bytes, row, col, rows, cols int, p *packed8) {
	run, whole := t.pack[truth(b.Signed)], 0
	if cols == t.cols {
		whole = rows / t.group
	}
	if whole > 0 {
		at := row*b.Step + col
		_, _ = to[whole*t.cols-1], b.Data[at+(whole*t.group-1)*b.Step+cols-1]
		run(&to[0], &b.Data[at], b.Step, whole)
	}
	for l := whole * t.group; l < rows; l += t.group {
		clear(p.part[:])
		for i := range min(t.group, rows-l) {
			copy(p.part[i*t.cols:][:cols], b.Data[(row+l+i)*b.Step+col:])
		}
		at := l / t.group * t.cols
		_ = to[at+t.cols-1]
		run(&to[at], &p.part[0], t.cols, 1)
	}
}

// packLeft lays out rows of a: panels of as many rows as a tile has, and a last one that is padded with what was there. Few
// rows that are left over are panels of one row each.
func (p *product8) packLeft(row, rows, l, groups int) {
	for i := 0; i < rows; i += p.rows {
		have, width := min(p.rows, rows-i), p.rows
		if have < p.least() {
			width = 1
		}
		for r := range have {
			to := p.blocks.a[i*groups:]
			if width == 1 {
				to = to[r*groups:]
			} else {
				to = to[r:]
			}
			from := l * p.group
			p.packRow(to, p.a.Data[(row+i+r)*p.a.Step+from:][:min(groups*p.group, p.k-from)], width)
		}
	}
}

// least is the number of rows from which on a tile is faster than lines.
func (t *tile8) least() int { return t.rows / 2 }

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
	at := 0
	for ; len(from) >= 4 && at < len(to); from, at = from[4:], at+width {
		to[at] = binary.LittleEndian.Uint32(from) ^ flip
	}
	if len(from) > 0 {
		var last [4]uint8
		copy(last[:], from)
		to[at] = binary.LittleEndian.Uint32(last[:]) ^ flip
	}
}

// packPairs is packRow for elements that are widened to 16 bits.
func (p *product8) packPairs(to []uint32, from []uint8, width int) {
	flip := p.a.flip()
	widen := func(x uint8) uint32 { return uint32(uint16(x^flip) - uint16(flip)) }
	at := 0
	for ; len(from) >= 2 && at < len(to); from, at = from[2:], at+width {
		to[at] = widen(from[0]) | widen(from[1])<<16
	}
	if len(from) > 0 {
		to[at] = widen(from[0])
	}
}

// block runs the tiles of a block of each operand.
func (p *product8) block(c []int32, ldc int, b []uint32, stride int, first []int32, rows, cols, groups int, set bool) {
	for j := 0; j < cols; j += p.cols {
		right, begin, width := b[j/p.cols*stride:][:p.cols*groups], first[j:][:p.cols], min(p.cols, cols-j)
		for i := 0; i < rows; i += p.rows {
			left, have := p.blocks.a[i*groups:], min(p.rows, rows-i)
			if have >= p.least() {
				p.tile(p.run[p.signed], c[i*ldc+j:], ldc, left[:p.rows*groups], right, begin, p.rows, have, width, groups, set)
				continue
			}
			for r := range have {
				p.tile(p.line[p.signed], c[(i+r)*ldc+j:], ldc, left[r*groups:][:groups], right, begin, 1, 1, width, groups, set)
			}
		}
	}
}

// tile runs one tile, or a line. Where c has only a part of it, it runs through a whole one, the rest of which is never read.
func (p *product8) tile(run runTile8, c []int32, ldc int, a, b []uint32, first []int32, tall, rows, cols, groups int, set bool) {
	if rows == tall && cols == p.cols {
		_ = c[(rows-1)*ldc+cols-1]
		run(&c[0], ldc, &a[0], &b[0], groups, &first[0], set)
		return
	}
	whole := p.blocks.edge[:tall*p.cols]
	for r := 0; r < rows && !set; r++ {
		copy(whole[r*p.cols:], c[r*ldc:][:cols])
	}
	run(&whole[0], p.cols, &a[0], &b[0], groups, &first[0], set)
	for r := range rows {
		copy(c[r*ldc:][:cols], whole[r*p.cols:])
	}
}

// plain8 is [MatMul8] in plain Go.
func plain8(c Sums, a, b Bytes, m, n, k int) {
	var sums [64]int32
	var gathered []uint8
	flipA, flipB := a.flip(), b.flip()
	less := int32(flipA) + a.Zero
	for j := 0; j < n; j += len(sums) {
		s, right, step := sums[:min(len(sums), n-j)], b.Data, b.Step
		if b.Gather != nil {
			gathered, step = slices.Grow(gathered[:0], k*len(sums))[:k*len(sums)], len(sums)
			b.Gather(gathered, step, 0, k, j, len(s))
			right = gathered
		} else if k > 0 {
			right = right[j:]
		}
		for i := range m {
			clear(s)
			if c.Add {
				copy(s, c.Wide[i*c.Step+j:])
			}
			for l := range k {
				x := int32(a.Data[i*a.Step+l]^flipA) - less
				for w, y := range right[l*step:][:len(s)] {
					s[w] += x * (int32(y^flipB) - int32(flipB))
				}
			}
			if c.Low != nil {
				lowBytesRow(c.Low[i*c.Step+j:], s)
				continue
			}
			copy(c.Wide[i*c.Step+j:], s)
		}
	}
}

// lowBytesRow takes the low 8 bits of each element.
func lowBytesRow(dst []uint8, src []int32) {
	for i, v := range src[:min(len(dst), len(src))] {
		dst[i] = uint8(v)
	}
}
