package fusion

import (
	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
)

// The epilogue of a product: elementwise steps that run on elements of its result while these are in the cache. A head
// computes its result in pieces, in memory that the planner gave it, and after each piece has the steps run on the elements
// of that piece, by the same kernels and in the same blocks as any other group. No kernel knows which steps these are.

// Head is a kernel that can be the first step of a group; see device.Group.
type Head interface {
	engine.Kernel
	// Leads reports whether the kernel of a call runs an epilogue piece by piece. Of the operands, dtypes and layouts are
	// known.
	Leads(c *device.Call) bool
	// Lead is run with an epilogue, which is there for every element of a contiguous result when it returns.
	Lead(t *engine.Threads, c *device.Call, e Epilogue) error
}

// Epilogue is the steps behind a head in one run of a program. The zero value has none.
type Epilogue struct {
	Steps *Group
	Run   *device.Call // of the program
}

// Begin is what a thread needs to run the steps until end; nil where there are none.
func (e *Epilogue) Begin() *Blocks {
	if e.Steps == nil {
		return nil
	}
	return e.Steps.open(e.Run)
}

// End gives back what begin gave.
func (e *Epilogue) End(b *Blocks) {
	if b != nil {
		e.Steps.close(b)
	}
}

// Rows runs the steps on n elements of each of a number of rows, which begin distance elements apart.
func (e *Epilogue) Rows(b *Blocks, first, number, distance, n int64) error {
	if b == nil {
		return nil
	}
	if distance == n {
		n, number = n*number, 1
	}
	for range number {
		if err := e.Steps.span(b, first, first+n); err != nil {
			return err
		}
		first += distance
	}
	return nil
}

// What is small stays in the cache from one step of a program to the next. There it is better to run the steps on long blocks
// than on the rows of a piece.

// LeastBytes is the bytes of a result from which on an epilogue pays.
const LeastBytes = 256 << 10

// WorthLeading reports whether an operand is contiguous and that large.
func WorthLeading(o *device.Operand) bool {
	return o.IsContiguous() && o.Numel() >= LeastBytes/o.DType.Size()
}

// pieceBytes is about how much of its result a head computes before the epilogue, where it has a choice: a quarter of a
// small second-level cache.
const pieceBytes = 128 << 10

// Fewer rows than that have less to use each column of the right operand on.

// leastPiece is the least number of rows that are multiplied before their epilogue.
const leastPiece = 96

// RowsOfPiece is how many strips of rows, each tile rows of so many bytes, are multiplied before their epilogue.
func RowsOfPiece(bytes, tile int64) int64 {
	return (max(pieceBytes/bytes, leastPiece) + tile - 1) / tile
}

// Product runs the epilogue on strips first to last-1 of matrix number of a batch of m x n matrices, by rows or columns of
// tiles.
func (e *Epilogue) Product(b *Blocks, m, n, number, first, last int64, tile [2]int64, byCols bool) error {
	begin := number * m * n
	if byCols {
		from := first * tile[1]
		return e.Rows(b, begin+from, m, n, min(last*tile[1], n)-from)
	}
	from := first * tile[0]
	return e.Rows(b, begin+from*n, min(last*tile[0], m)-from, n, n)
}
