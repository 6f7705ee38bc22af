package host

import (
	"sync"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// matmul is the product of matrices with elements of a type T: C = A * B for each index of the batch
// axes. T is that of multiply alone. Operands whose rows are not contiguous elements of T are packed into the workspace first,
// and so is the output, which is unpacked at the end.
type matmul struct {
	dtype    dtype.DType // of T; Invalid where each operand has its own elements, which are multiplied as they are
	native   bool        // elements are of that dtype
	multiply multiply
	known    *constant // where the right operand was known when the kernel was made; else nil
	tile     [2]int64  // rows and columns of C that are computed together
	library  library   // multiplies instead; nil: none does
	jobs     sync.Pool
}

// multiply is a product of matrices in memory, whose rows begin lda, ldb and ldc elements apart: one of a call j.
type multiply func(j *multiplication, c, a, b unsafe.Pointer, m, n, k, lda, ldb, ldc int64) bool

// library multiplies matrices that lie by rows or by columns.
type library interface {
	// cut is the work of a call after plan, and its pieces in each matrix.
	cut(j *multiplication) (work splitter, pieces int64)
}

// multiplying is the loops of a type as that.
// SAFETY: the addresses are those of the first elements of matrices that lie in their operands.
func multiplying[T any](product func(c, a, b []T, m, n, k, lda, ldb, ldc int) bool) multiply {
	return func(_ *multiplication, c, a, b unsafe.Pointer, m, n, k, lda, ldb, ldc int64) bool {
		return product(matrix[T](c, m, n, ldc), matrix[T](a, m, k, lda), matrix[T](b, k, n, ldb), int(m), int(n), int(k), int(lda), int(ldb), int(ldc))
	}
}

// Halves are multiplied in float32 and rounded once at the end, and int16 in int32. Integers wrap around. Where there are no
// vector loops, tiles only decide how work is split.
func init() {
	tile, square := matmulTile[float32](), [2]int64{64, 64}
	for _, d := range []dtype.DType{dtype.Float16, dtype.BFloat16, dtype.Float32} {
		registerMatmul(d, dtype.Float32, multiplying(vec.MatMul[float32]), tile)
		registerConstant(d, tile)
	}
	registerPairs()
	registerMatmul(dtype.Float64, dtype.Float64, multiplying(vec.MatMul[float64]), matmulTile[float64]())
	for _, d := range []dtype.DType{dtype.Int16, dtype.Int32} {
		registerMatmul(d, dtype.Int32, multiplying(vec.MatMulPlain[int32, int32]), square)
	}
	registerMatmul(dtype.Int64, dtype.Int64, multiplying(vec.MatMulPlain[int64, int64]), square)
}

// matmulTile is the number of rows and of columns that the loops of a type compute together.
func matmulTile[T vec.Real]() [2]int64 {
	rows, cols := vec.MatMulTile[T]()
	return [2]int64{int64(rows), int64(cols)}
}

// registerMatmul adds the portable kernel of a dtype whose elements are multiplied as those of another.
func registerMatmul(d, in dtype.DType, product multiply, tile [2]int64) {
	register(op.IDMatmul, d, &matmul{dtype: in, native: d == in, multiply: product, tile: tile})
}

// operand numbers in a product.
const (
	left = iota
	right
	result
)

// cost takes eight multiply-adds for an addition, and an element of a matrix for one, because all are read.
func (k *matmul) cost(c *device.Call) int64 {
	x := &c.In[0]
	return max(c.Out[0].Numel()*max(x.Dims[x.Rank-1], 8)/8, x.Numel(), c.In[right].Numel())
}

// workspace has room for each operand that cannot be multiplied where it is.
func (k *matmul) workspace(c *device.Call) (bytes int64) {
	for i := left; i <= result; i++ {
		if o := nth(c, i); !k.usable(i, o) {
			bytes += packedBytes(o, k.of(o).Size())
		}
	}
	return bytes
}

// of is the dtype in which an operand is multiplied.
func (k *matmul) of(o *device.Operand) dtype.DType {
	if k.dtype == dtype.Invalid {
		return o.DType
	}
	return k.dtype
}

// nth is an operand of a product by its number.
func nth(c *device.Call, i int) *device.Operand {
	if i == result {
		return &c.Out[0]
	}
	return &c.In[i]
}

// packedBytes is the room that an operand takes in the workspace.
func packedBytes(o *device.Operand, size int64) int64 {
	l := distinct(o)
	return roundUp(l.Numel() * size)
}

// usable reports whether the matrices of operand i can be multiplied where they are. Those of a constant
// are not looked at. A library reads matrices by their columns, too.
func (k *matmul) usable(i int, o *device.Operand) bool {
	if i == right && k.known != nil {
		return true
	}
	return k.native && byRows(o) || k.library != nil && i != result && byColumns(o) || k.isTurned(i, o)
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

// multiplication is one call of a matmul with its operands as they are multiplied.
type multiplication struct {
	*matmul
	operands [3]device.Operand
	m, n, k  int64
	zero     int32 // of 8-bit integers: what is subtracted from each element of A
	byCols   bool  // pieces are strips of columns, otherwise of rows
	strips   int64 // of one matrix
	staging
	epilogue epilogue
}

// leads takes products whose result is not converted.
func (k *matmul) leads(c *device.Call) bool { return k.native && worthLeading(&c.Out[0]) }

// run packs, multiplies and unpacks; each step is split over the threads by itself.
func (k *matmul) run(t *threads, c *device.Call) error { return k.lead(t, c, epilogue{}) }

// lead is run with an epilogue.
func (k *matmul) lead(t *threads, c *device.Call, e epilogue) error {
	if c.Out[0].Numel() == 0 { // which has no matrices to count
		return nil
	}
	if c.Workspace == nil && k.workspace(c) > 0 {
		return status.Errorf(status.Internal, "[matmul] got no workspace; want %d bytes", k.workspace(c))
	}
	j, _ := k.jobs.Get().(*multiplication)
	if j == nil {
		j = &multiplication{matmul: k}
	}
	j.epilogue, j.zero = e, zeroOf(c)
	defer func() {
		j.epilogue = epilogue{}
		k.jobs.Put(j)
	}()
	if err := j.pack(t, c); err != nil {
		return err
	}
	for j.joinBatch() {
	}
	j.plan(int64(t.count()))
	work, pieces := splitter(j), j.strips
	if k.library != nil {
		work, pieces = k.library.cut(j)
	}
	if err := t.each(work, c, pieces*j.matrices(), k.cost(c)); err != nil {
		return err
	}
	if k.usable(result, &c.Out[0]) {
		return nil
	}
	packed := device.Operand{Addr: j.operands[result].Addr, DType: j.operands[result].DType, Layout: shape.Contiguous(c.Out[0].Shape)}
	return j.copy(t, &packed, &c.Out[0])
}

// pack makes the three operands usable.
// SAFETY: the workspace has room for each operand that is not; see workspace.
func (j *multiplication) pack(t *threads, c *device.Call) error {
	room := c.Workspace
	for i := left; i <= result; i++ {
		o := nth(c, i)
		j.operands[i] = *o
		if j.usable(i, o) {
			continue
		}
		whole := device.Operand{Addr: room, DType: j.of(o), Layout: shape.Contiguous(distinct(o).Shape)}
		j.operands[i] = stretched(&whole, o)
		room = unsafe.Add(room, packedBytes(o, whole.DType.Size()))
		if i == result || whole.Numel() == 0 {
			continue
		}
		once := *o
		once.Layout = distinct(o)
		if err := j.copy(t, &once, &whole); err != nil {
			return err
		}
	}
	return nil
}

// Matrices of a batch that are multiplied by the same one are a single matrix where their rows follow one another at one distance:
// a layer that works on a sequence is one product of as many rows as the sequence has steps.

// joinBatch makes the last batch axis a part of the rows. It reports false where there is none, or that is not possible: columns
// are not lengthened.
func (j *multiplication) joinBatch() bool {
	a, b, c := &j.operands[left], &j.operands[right], &j.operands[result]
	if axis := c.Rank - 3; axis < 0 || b.Dims[axis] != 1 && b.Strides[axis] != 0 || byColumns(a) || !joinsRows(a) || !joinsRows(c) {
		return false
	}
	for i := range j.operands {
		o := &j.operands[i]
		batch, rows, cols := o.Rank-3, o.Rank-2, o.Rank-1
		count, step := o.Dims[rows], o.Strides[rows]
		if i != right {
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

// staging is the call by which a kernel casts something else than its operands.
type staging struct {
	casting  device.Call
	from, to [1]device.Operand
}

// copy casts one operand to another.
func (s *staging) copy(t *threads, from, to *device.Operand) error {
	s.from[0], s.to[0] = *from, *to
	s.casting = device.Call{In: s.from[:], Out: s.to[:]}
	return castOf(&s.casting).run(t, &s.casting)
}

// Strips go along the longer side of C, so that there are enough for all threads, and are as wide as a tile: no strip
// shares a tile with another. Where the left operand is read in place, strips of columns are better if there are enough of them: each
// thread packs its own part of B, and of strips of rows each would pack all of it.

// plan decides how the output is cut for so many threads. How a library's products are cut does not depend on their number, because its
// sums may depend on how they are cut.
func (j *multiplication) plan(threads int64) {
	a, b := &j.operands[left], &j.operands[right]
	j.m, j.k, j.n = a.Dims[a.Rank-2], a.Dims[a.Rank-1], b.Dims[b.Rank-1]
	rows, cols := (j.m+j.tile[0]-1)/j.tile[0], (j.n+j.tile[1]-1)/j.tile[1]
	inPlace := j.known == nil && j.library == nil &&
		(j.dtype == dtype.BFloat16 || vec.HasLines() && (j.dtype == dtype.Float32 || j.dtype == dtype.Float64))
	j.byCols = cols > rows || inPlace && threads > 1 && cols >= 2*threads
	j.strips = rows
	if j.byCols {
		j.strips = cols
	}
}

// matrices is the number of products in the batch.
func (j *multiplication) matrices() int64 {
	return j.operands[result].Numel() / (j.m * j.n)
}

// Neighbouring strips of a matrix are one product: what is packed for one serves all.

// part does strips lo to hi-1, counted through all matrices; neighbouring ones in one go.
func (j *multiplication) part(_ *device.Call, lo, hi int64) error {
	if c := &j.operands[result]; c.Rank == 2 && j.epilogue.steps == nil { // a single matrix
		if !j.strip(j.operands[left].Addr, j.operands[right].Addr, c.Addr, lo, hi) {
			return j.misfit(lo, hi)
		}
		return nil
	}
	var at [3]walk // visits the first element of each matrix
	for i := range at {
		o := &j.operands[i]
		batch := o.Layout
		batch.Rank -= 2
		if o.Numel() == 0 {
			clear(batch.Strides[:]) // nothing to walk where K is 0
		}
		at[i].begin(o.Addr, o.DType.Size(), &batch)
		at[i].seek(lo / j.strips)
	}
	b := j.epilogue.begin()
	defer j.epilogue.end(b)
	for lo < hi {
		first := lo % j.strips
		last := min(first+hi-lo, j.strips)
		if b != nil && j.known != nil && !j.byCols {
			last = min(last, first+fewRows(j.n*j.operands[result].DType.Size(), j.tile[0]))
		}
		if !j.strip(at[left].here(), at[right].here(), at[result].here(), first, last) {
			return j.misfit(first, last)
		}
		if b != nil {
			if err := j.epilogue.product(b, j.m, j.n, lo/j.strips, first, last, j.tile, j.byCols); err != nil {
				return err
			}
		}
		if last == j.strips {
			for i := range at {
				at[i].skip(1)
			}
		}
		lo += last - first
	}
	return nil
}

// misfit is the error of strips whose operands do not lie in their memory.
func (j *multiplication) misfit(first, last int64) error {
	return status.Errorf(status.Internal, "[matmul] got strips %d to %d of %d x %d x %d that do not fit their memory", first, last, j.m, j.n, j.k)
}

// strip multiplies strips first to last-1 of one matrix.
// SAFETY: the addresses are those of the first elements of matrices that lie in their operands.
func (j *multiplication) strip(a, b, c unsafe.Pointer, first, last int64) bool {
	m, n, from := j.m, j.n, int64(0)
	lda, ldb, ldc := j.step(left), j.step(right), j.step(result)
	if j.byCols {
		from = first * j.tile[1]
		n = min(last*j.tile[1], n) - from
		c = unsafe.Add(c, from*j.bytes(result))
		if j.k > 0 {
			b = unsafe.Add(b, from*j.bytes(right))
		}
	} else {
		start := first * j.tile[0]
		m = min(last*j.tile[0], m) - start
		c = unsafe.Add(c, start*ldc*j.bytes(result))
		if j.k > 0 {
			a = unsafe.Add(a, j.rowsBefore(start)*j.bytes(left))
		}
	}
	if j.known != nil {
		return j.known.product(j, c, a, m, from, n, lda, ldc)
	}
	if o := &j.operands[left]; j.isTurned(left, o) {
		return multiplyTurned(c, a, b, m, n, j.k, o.Strides[o.Rank-1], ldb, ldc)
	}
	return j.multiply(j, c, a, b, m, n, j.k, lda, ldb, ldc)
}

// bytes is the size of an element of operand i.
func (j *multiplication) bytes(i int) int64 { return j.operands[i].DType.Size() }

// step is the distance of rows. That of a single row is free: it need not be what the strides say.
func (j *multiplication) step(i int) int64 {
	o := &j.operands[i]
	rows, cols := o.Rank-2, o.Rank-1
	if o.Dims[rows] <= 1 {
		return o.Dims[cols]
	}
	return o.Strides[rows]
}

// matrix is the memory from the first to the last element of a matrix. Inlined, it would be in each product three times.
//
//go:noinline
func matrix[T any](at unsafe.Pointer, rows, cols, step int64) []T {
	if rows == 0 || cols == 0 {
		return nil
	}
	return slice[T](at, (rows-1)*step+cols)
}
