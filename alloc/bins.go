package alloc

import "math/bits"

const (
	colBits = 5 // 32 columns: the sizes of a bin differ by at most 3.1 %
	cols    = 1 << colBits
	rows    = maxBits - 8 - colBits + 2 // as many as MaxSize in units of Alignment needs

	// probes is how many blocks of a request's own class are tried. The class may hold blocks that are
	// too short, so this bounds the time; findAll tries all of them before a new heap is made.
	probes = 4
)

// bins holds free blocks by the class of their size.
//
// Sizes count in units of 256 bytes. Row 0 has the sizes below 32 units, one to a column; row r > 0
// has those from 32<<(r-1) up to twice that, in columns of 1<<(r-1) units each. Rows 0 and 1 are
// exact: all blocks of a column have one size.
type bins struct {
	filled uint64       // bit r: row r has blocks
	in     [rows]uint32 // bit c of in[r]: column c has blocks
	first  [rows][cols]*Block
}

// class returns the row and column of a size in bytes, which is a multiple of Alignment. It is monotonic: a
// longer block is never in an earlier class.
func class(size int64) (row, col uint8) {
	units := uint64(size) / Alignment
	if units < cols {
		return 0, uint8(units)
	}
	shift := log2(units) - colBits
	return shift + 1, uint8(units>>shift) % cols
}

// log2 is the logarithm of n > 0, rounded down.
func log2(n uint64) uint8 { return uint8(bits.Len64(n) - 1) }

// insert adds a block at the front of its bin, so that the block whose memory is most likely in a cache is
// found first.
func (s *bins) insert(b *Block) {
	row, col := class(b.Size)
	b.row, b.col = row, col
	head := s.first[row][col]
	b.binPrev, b.binNext = nil, head
	if head != nil {
		head.binPrev = b
	}
	s.first[row][col] = b
	s.in[row] |= 1 << col
	s.filled |= 1 << row
}

// remove takes a block out of its bin. The row and column stored in the block say which: its size may have
// changed since.
func (s *bins) remove(b *Block) {
	if b.binNext != nil {
		b.binNext.binPrev = b.binPrev
	}
	if b.binPrev != nil {
		b.binPrev.binNext = b.binNext
		return
	}
	row, col := b.row, b.col
	s.first[row][col] = b.binNext
	if b.binNext != nil {
		return
	}
	s.in[row] &^= 1 << col
	if s.in[row] == 0 {
		s.filled &^= 1 << row
	}
}

// resize changes the size of a block that is in a bin. It moves the block only where its class changes.
func (s *bins) resize(b *Block, size int64) {
	if row, col := class(size); row == b.row && col == b.col {
		b.Size = size
		return
	}
	s.remove(b)
	b.Size = size
	s.insert(b)
}

// find returns a block of at least n bytes, nearly the shortest, or nil, in constant time. It may miss one
// of the class of n itself.
func (s *bins) find(n int64) *Block {
	row, col := class(n)
	b := s.first[row][col]
	for range probes {
		if b == nil {
			break
		}
		if b.Size >= n {
			return b
		}
		b = b.binNext
	}
	return s.above(row, col)
}

// above returns a block of the first class after this one that has any, or nil. Every block there is long
// enough, and two bit scans find it.
func (s *bins) above(row, col uint8) *Block {
	if m := s.in[row] &^ (2<<col - 1); m != 0 {
		return s.first[row][bits.TrailingZeros32(m)]
	}
	m := s.filled &^ (2<<row - 1)
	if m == 0 {
		return nil
	}
	row = uint8(bits.TrailingZeros64(m))
	return s.first[row][bits.TrailingZeros32(s.in[row])]
}

// findAll is find without the bound on its time: it tries the whole class. It is called where a miss would
// cost a new heap.
func (s *bins) findAll(n int64) *Block {
	row, col := class(n)
	for b := s.first[row][col]; b != nil; b = b.binNext {
		if b.Size >= n {
			return b
		}
	}
	return s.above(row, col)
}

// longest is the size of the longest block in bytes, 0 when there is none. For messages: it walks a bin.
func (s *bins) longest() int64 {
	if s.filled == 0 {
		return 0
	}
	row := log2(s.filled)
	size := int64(0)
	for b := s.first[row][log2(uint64(s.in[row]))]; b != nil; b = b.binNext {
		size = max(size, b.Size)
	}
	return size
}
