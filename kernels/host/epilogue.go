package host

import "github.com/paddle-mps/paddle-mps/core/device"

// The epilogue of a product: elementwise steps that run on elements of its result while these are in the cache. A head
// computes its result in pieces, in memory that the planner gave it, and after each piece has the steps run on the elements
// of that piece, by the same kernels and in the same blocks as any other group. No kernel knows which steps these are.

// head is a kernel that can be the first step of a group; see device.Group.
type head interface {
	kernel
	// leads reports whether the kernel of a call runs an epilogue piece by piece. Of the operands, dtypes and layouts are
	// known.
	leads(c *device.Call) bool
	// lead is run with an epilogue, which is there for every element of a contiguous result when it returns.
	lead(t *threads, c *device.Call, e epilogue) error
}

// epilogue is the steps behind a head in one run of a program. The zero value has none.
type epilogue struct {
	steps *fused
	run   *device.Call // of the program
}

// begin is what a thread needs to run the steps until end; nil where there are none.
func (e *epilogue) begin() *blocks {
	if e.steps == nil {
		return nil
	}
	return e.steps.open(e.run)
}

// end gives back what begin gave.
func (e *epilogue) end(b *blocks) {
	if b != nil {
		e.steps.close(b)
	}
}

// rows runs the steps on n elements of each of a number of rows, which begin distance elements apart.
func (e *epilogue) rows(b *blocks, first, number, distance, n int64) error {
	if b == nil {
		return nil
	}
	if distance == n {
		n, number = n*number, 1
	}
	for range number {
		if err := e.steps.span(b, first, first+n); err != nil {
			return err
		}
		first += distance
	}
	return nil
}

// What is small stays in the cache from one step of a program to the next. There it is better to run the steps on long blocks
// than on the rows of a piece.

// leastLed is the bytes of a result from which on an epilogue pays.
const leastLed = 256 << 10

// worthLeading reports whether an operand is contiguous and that large.
func worthLeading(o *device.Operand) bool {
	return o.IsContiguous() && o.Numel() >= leastLed/o.DType.Size()
}

// pieceBytes is about how much of its result a head computes before the epilogue, where it has a choice: a quarter of a
// small second-level cache.
const pieceBytes = 128 << 10

// Fewer rows than that have less to use each column of the right operand on.

// leastPiece is the least number of rows that are multiplied before their epilogue.
const leastPiece = 96

// fewRows is how many strips of rows, each tile rows of so many bytes, are multiplied before their epilogue.
func fewRows(bytes, tile int64) int64 {
	return (max(pieceBytes/bytes, leastPiece) + tile - 1) / tile
}

// product runs the epilogue on strips first to last-1 of matrix number of a batch of m x n matrices, by rows or columns of
// tiles.
func (e *epilogue) product(b *blocks, m, n, number, first, last int64, tile [2]int64, byCols bool) error {
	begin := number * m * n
	if byCols {
		from := first * tile[1]
		return e.rows(b, begin+from, m, n, min(last*tile[1], n)-from)
	}
	from := first * tile[0]
	return e.rows(b, begin+from*n, min(last*tile[0], m)-from, n, n)
}
