// Package product holds the matrix products: of floats, of 8-bit integers, of bfloat16 by pairs, of one row, of constant right
// operands that are packed once, and those of the system's BLAS library, which may round otherwise.
package product

import (
	"sync"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/kernels/host/elem"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
	"github.com/paddle-mps/paddle-mps/kernels/host/fusion"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/gemm"
)

// Matmul is the product of matrices with elements of a type T: C = A * B for each index of the batch
// axes. T is that of multiply alone. Operands whose rows are not contiguous elements of T are packed into the workspace first,
// and so is the output, which is unpacked at the end.
type Matmul struct {
	dtype    dtype.DType // of T; Invalid where each operand has its own elements, which are multiplied as they are
	native   bool        // elements are of that dtype
	Multiply Multiply
	Known    *constant // where the right operand was known when the kernel was made; else nil
	tile     [2]int64  // rows and columns of C that are computed together
	Library  library   // multiplies instead; nil: none does
	jobs     sync.Pool
}

// Multiply is a product of matrices in memory, whose rows begin lda, ldb and ldc elements apart: one of a call j.
type Multiply func(j *Multiplication, c, a, b unsafe.Pointer, m, n, k, lda, ldb, ldc int64) bool

// library multiplies matrices that lie by rows or by columns.
type library interface {
	// cut is the work of a call after plan, and its pieces in each matrix.
	cut(j *Multiplication) (work engine.Splitter, pieces int64)
}

// multiplying is the loops of a type as that.
// SAFETY: the addresses are those of the first elements of matrices that lie in their operands.
func multiplying[T any](product func(c, a, b []T, m, n, k, lda, ldb, ldc int) bool) Multiply {
	return func(_ *Multiplication, c, a, b unsafe.Pointer, m, n, k, lda, ldb, ldc int64) bool {
		return product(Matrix[T](c, m, n, ldc), Matrix[T](a, m, k, lda), Matrix[T](b, k, n, ldb), int(m), int(n), int(k), int(lda), int(ldb), int(ldc))
	}
}

// Halves are multiplied in float32 and rounded once at the end, and int16 in int32. Integers wrap around. Where there are no
// vector loops, tiles only decide how work is split.
func init() {
	tile, square := matmulTile[float32](), [2]int64{64, 64}
	for _, d := range []dtype.DType{dtype.Float16, dtype.BFloat16, dtype.Float32} {
		registerMatmul(d, dtype.Float32, multiplying(gemm.MatMul[float32]), tile)
		registerConstant(d, tile)
	}
	registerPairs()
	registerMatmul(dtype.Float64, dtype.Float64, multiplying(gemm.MatMul[float64]), matmulTile[float64]())
	for _, d := range []dtype.DType{dtype.Int16, dtype.Int32} {
		registerMatmul(d, dtype.Int32, multiplying(gemm.MatMulPlain[int32, int32]), square)
	}
	registerMatmul(dtype.Int64, dtype.Int64, multiplying(gemm.MatMulPlain[int64, int64]), square)
}

// matmulTile is the number of rows and of columns that the loops of a type compute together.
func matmulTile[T vec.Real]() [2]int64 {
	rows, cols := gemm.MatMulTile[T]()
	return [2]int64{int64(rows), int64(cols)}
}

// registerMatmul adds the portable kernel of a dtype whose elements are multiplied as those of another.
func registerMatmul(d, in dtype.DType, product Multiply, tile [2]int64) {
	engine.Register(op.IDMatmul, d, &Matmul{dtype: in, native: d == in, Multiply: product, tile: tile})
}

// Cost takes eight multiply-adds for an addition, and an element of a matrix for one, because all are read.
func (k *Matmul) Cost(c *device.Call) int64 {
	x := &c.In[0]
	return max(c.Out[0].Numel()*max(x.Dims[x.Rank-1], 8)/8, x.Numel(), c.In[engine.Right].Numel())
}

// Workspace has room for each operand that cannot be multiplied where it is.
func (k *Matmul) Workspace(c *device.Call) (bytes int64) {
	for i := engine.Left; i <= engine.Result; i++ {
		if o := engine.OperandAt(c, i); !k.usable(i, o) {
			bytes += packedBytes(o, k.of(o).Size())
		}
	}
	return bytes
}

// of is the dtype in which an operand is multiplied.
func (k *Matmul) of(o *device.Operand) dtype.DType {
	if k.dtype == dtype.Invalid {
		return o.DType
	}
	return k.dtype
}

// packedBytes is the room that an operand takes in the workspace.
func packedBytes(o *device.Operand, size int64) int64 {
	l := distinct(o)
	return engine.RoundUp(l.Numel() * size)
}

// usable reports whether the matrices of operand i can be multiplied where they are. Those of a constant
// are not looked at. A library reads matrices by their columns, too.
func (k *Matmul) usable(i int, o *device.Operand) bool {
	if i == engine.Right && k.Known != nil {
		return true
	}
	return k.native && byRows(o) || k.Library != nil && i != engine.Result && byColumns(o) || k.isTurned(i, o)
}

// byRows reports whether the rows of an operand are contiguous and do not overlap.
//
//go:noinline
func byRows(o *device.Operand) bool {
	rows, cols := o.Rank-2, o.Rank-1
	return (o.Strides[cols] == 1 || o.Dims[cols] == 1) && (o.Strides[rows] >= o.Dims[cols] || o.Dims[rows] == 1)
}

// byColumns reports whether the columns of an operand are contiguous and do not overlap, and its rows are not.
func byColumns(o *device.Operand) bool {
	rows, cols := o.Rank-2, o.Rank-1
	return !byRows(o) && o.Strides[rows] == 1 && o.Strides[cols] >= o.Dims[rows]
}

// distinct is the layout of an operand with broadcast batch axes cut to one: what has to be packed.
func distinct(o *device.Operand) (l shape.Layout) {
	l = o.Layout
	for i := range l.Rank - 2 {
		if l.Strides[i] == 0 {
			l.Dims[i] = min(l.Dims[i], 1)
		}
	}
	return l
}

// Multiplication is one call of a matmul with its operands as they are multiplied.
type Multiplication struct {
	*Matmul
	Operands [3]device.Operand
	m, n, k  int64
	zero     int32 // of 8-bit integers: what is subtracted from each element of A
	byCols   bool  // pieces are strips of columns, otherwise of rows
	strips   int64 // of one matrix
	elem.Staging
	epilogue fusion.Epilogue
}

// Leads takes products whose result is not converted.
func (k *Matmul) Leads(c *device.Call) bool { return k.native && fusion.WorthLeading(&c.Out[0]) }

// Run packs, multiplies and unpacks; each step is split over the threads by itself.
func (k *Matmul) Run(t *engine.Threads, c *device.Call) error { return k.Lead(t, c, fusion.Epilogue{}) }

// Lead is run with an epilogue.
func (k *Matmul) Lead(t *engine.Threads, c *device.Call, e fusion.Epilogue) error {
	if c.Out[0].Numel() == 0 { // which has no matrices to count
		return nil
	}
	if c.Workspace == nil && k.Workspace(c) > 0 {
		return status.Errorf(status.Internal, "[matmul] got no workspace; want %d bytes", k.Workspace(c))
	}
	j, _ := k.jobs.Get().(*Multiplication)
	if j == nil {
		j = &Multiplication{Matmul: k}
	}
	j.epilogue, j.zero = e, ZeroPoint(c)
	defer func() {
		j.epilogue = fusion.Epilogue{}
		k.jobs.Put(j)
	}()
	if err := j.pack(t, c); err != nil {
		return err
	}
	for j.JoinBatch() {
	}
	j.plan(int64(t.Count()))
	work, pieces := engine.Splitter(j), j.strips
	if k.Library != nil {
		work, pieces = k.Library.cut(j)
	}
	if err := t.Each(work, c, pieces*j.matrices(), k.Cost(c)); err != nil {
		return err
	}
	if k.usable(engine.Result, &c.Out[0]) {
		return nil
	}
	packed := device.Operand{Addr: j.Operands[engine.Result].Addr, DType: j.Operands[engine.Result].DType, Layout: shape.Contiguous(c.Out[0].Shape)}
	return j.Copy(t, &packed, &c.Out[0])
}

// pack makes the three operands usable.
// SAFETY: the workspace has room for each operand that is not; see workspace.
func (j *Multiplication) pack(t *engine.Threads, c *device.Call) error {
	room := c.Workspace
	for i := engine.Left; i <= engine.Result; i++ {
		o := engine.OperandAt(c, i)
		j.Operands[i] = *o
		if j.usable(i, o) {
			continue
		}
		whole := device.Operand{Addr: room, DType: j.of(o), Layout: shape.Contiguous(distinct(o).Shape)}
		j.Operands[i] = stretched(&whole, o)
		room = unsafe.Add(room, packedBytes(o, whole.DType.Size()))
		if i == engine.Result || whole.Numel() == 0 {
			continue
		}
		once := *o
		once.Layout = distinct(o)
		if err := j.Copy(t, &once, &whole); err != nil {
			return err
		}
	}
	return nil
}

// Matrices of a batch that are multiplied by the same one are a single matrix where their rows follow one another at one distance:
// a layer that works on a sequence is one product of as many rows as the sequence has steps.

// JoinBatch makes the last batch axis a part of the rows. It reports false where there is none, or that is not possible: columns
// are not lengthened.
func (j *Multiplication) JoinBatch() bool {
	a, b, c := &j.Operands[engine.Left], &j.Operands[engine.Right], &j.Operands[engine.Result]
	if axis := c.Rank - 3; axis < 0 || b.Dims[axis] != 1 && b.Strides[axis] != 0 || byColumns(a) || !joinsRows(a) || !joinsRows(c) {
		return false
	}
	for i := range j.Operands {
		o := &j.Operands[i]
		batch, rows, cols := o.Rank-3, o.Rank-2, o.Rank-1
		count, step := o.Dims[rows], o.Strides[rows]
		if i != engine.Right {
			if count == 1 {
				step = o.Strides[batch]
			}
			count *= o.Dims[batch]
		}
		o.Dims[batch], o.Strides[batch] = count, step
		o.Dims[rows], o.Strides[rows] = o.Dims[cols], o.Strides[cols]
		o.Rank--
	}
	return true
}

// joinsRows reports whether the rows of all matrices along the last batch axis follow one another at one distance.
func joinsRows(o *device.Operand) bool {
	batch, rows, cols := o.Rank-3, o.Rank-2, o.Rank-1
	switch {
	case o.Dims[batch] == 1:
		return true
	case o.Dims[cols] > 1 && o.Strides[cols] > 1: // they are columns
		return false
	case o.Dims[rows] == 1: // whose stride says nothing
		return o.Strides[batch] >= o.Dims[cols]
	}
	return o.Strides[batch] == o.Dims[rows]*o.Strides[rows]
}

// stretched is a packed operand with the batch axes of the original, where some are broadcast.
func stretched(packed, original *device.Operand) device.Operand {
	o := *packed
	for i := range o.Rank - 2 {
		if original.Strides[i] == 0 {
			o.Dims[i], o.Strides[i] = original.Dims[i], 0
		}
	}
	return o
}

// Strips go along the longer side of C, so that there are enough for all threads, and are as wide as a tile: no strip
// shares a tile with another. Where the left operand is read in place, strips of columns are better if there are enough of them: each
// thread packs its own part of B, and of strips of rows each would pack all of it.

// plan decides how the output is cut for so many threads. How a library's products are cut does not depend on their number, because its
// sums may depend on how they are cut.
func (j *Multiplication) plan(threads int64) {
	a, b := &j.Operands[engine.Left], &j.Operands[engine.Right]
	j.m, j.k, j.n = a.Dims[a.Rank-2], a.Dims[a.Rank-1], b.Dims[b.Rank-1]
	rows, cols := (j.m+j.tile[0]-1)/j.tile[0], (j.n+j.tile[1]-1)/j.tile[1]
	inPlace := j.Known == nil && j.Library == nil &&
		(j.dtype == dtype.BFloat16 || gemm.ReadsInPlace() && (j.dtype == dtype.Float32 || j.dtype == dtype.Float64))
	j.byCols = cols > rows || inPlace && threads > 1 && cols >= 2*threads
	j.strips = rows
	if j.byCols {
		j.strips = cols
	}
}

// matrices is the number of products in the batch.
func (j *Multiplication) matrices() int64 {
	return j.Operands[engine.Result].Numel() / (j.m * j.n)
}

// Neighbouring strips of a matrix are one product: what is packed for one serves all.

// Part does strips lo to hi-1, counted through all matrices; neighbouring ones in one go.
func (j *Multiplication) Part(_ *device.Call, lo, hi int64) error {
	if c := &j.Operands[engine.Result]; c.Rank == 2 && j.epilogue.Steps == nil { // a single matrix
		if !j.strip(j.Operands[engine.Left].Addr, j.Operands[engine.Right].Addr, c.Addr, lo, hi) {
			return j.misfit(lo, hi)
		}
		return nil
	}
	var at [3]engine.Walk // visits the first element of each matrix
	for i := range at {
		o := &j.Operands[i]
		batch := o.Layout
		batch.Rank -= 2
		if o.Numel() == 0 {
			clear(batch.Strides[:]) // nothing to walk where K is 0
		}
		at[i].Begin(o.Addr, o.DType.Size(), &batch)
		at[i].SeekTo(lo / j.strips)
	}
	b := j.epilogue.Begin()
	defer j.epilogue.End(b)
	for lo < hi {
		first := lo % j.strips
		last := min(first+hi-lo, j.strips)
		if b != nil && j.Known != nil && !j.byCols {
			last = min(last, first+fusion.RowsOfPiece(j.n*j.Operands[engine.Result].DType.Size(), j.tile[0]))
		}
		if !j.strip(at[engine.Left].Here(), at[engine.Right].Here(), at[engine.Result].Here(), first, last) {
			return j.misfit(first, last)
		}
		if b != nil {
			if err := j.epilogue.Product(b, j.m, j.n, lo/j.strips, first, last, j.tile, j.byCols); err != nil {
				return err
			}
		}
		if last == j.strips {
			for i := range at {
				at[i].Skip(1)
			}
		}
		lo += last - first
	}
	return nil
}

// misfit is the error of strips whose operands do not lie in their memory.
func (j *Multiplication) misfit(first, last int64) error {
	return status.Errorf(status.Internal, "[matmul] got strips %d to %d of %d x %d x %d that do not fit their memory", first, last, j.m, j.n, j.k)
}

// strip multiplies strips first to last-1 of one matrix.
// SAFETY: the addresses are those of the first elements of matrices that lie in their operands.
func (j *Multiplication) strip(a, b, c unsafe.Pointer, first, last int64) bool {
	m, n, from := j.m, j.n, int64(0)
	lda, ldb, ldc := j.step(engine.Left), j.step(engine.Right), j.step(engine.Result)
	if j.byCols {
		from = first * j.tile[1]
		n = min(last*j.tile[1], n) - from
		c = unsafe.Add(c, from*j.bytes(engine.Result))
		if j.k > 0 {
			b = unsafe.Add(b, from*j.bytes(engine.Right))
		}
	} else {
		start := first * j.tile[0]
		m = min(last*j.tile[0], m) - start
		c = unsafe.Add(c, start*ldc*j.bytes(engine.Result))
		if j.k > 0 {
			a = unsafe.Add(a, j.rowsBefore(start)*j.bytes(engine.Left))
		}
	}
	if j.Known != nil {
		return j.Known.product(j, c, a, m, from, n, lda, ldc)
	}
	if o := &j.Operands[engine.Left]; j.isTurned(engine.Left, o) {
		return multiplyTurned(c, a, b, m, n, j.k, o.Strides[o.Rank-1], ldb, ldc)
	}
	return j.Multiply(j, c, a, b, m, n, j.k, lda, ldb, ldc)
}

// bytes is the size of an element of operand i.
func (j *Multiplication) bytes(i int) int64 { return j.Operands[i].DType.Size() }

// step is the distance of rows. That of a single row is free: it need not be what the strides say.
func (j *Multiplication) step(i int) int64 {
	o := &j.Operands[i]
	rows, cols := o.Rank-2, o.Rank-1
	if o.Dims[rows] <= 1 {
		return o.Dims[cols]
	}
	return o.Strides[rows]
}

// Matrix is the memory from the first to the last element of a matrix. Inlined, it would be in each product three times.
//
//go:noinline
func Matrix[T any](at unsafe.Pointer, rows, cols, step int64) []T {
	if rows == 0 || cols == 0 {
		return nil
	}
	return engine.Slice[T](at, (rows-1)*step+cols)
}
