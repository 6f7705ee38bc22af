package product

import (
	"math"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/kernels"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
)

// Large products of floats by the system's BLAS library, where there is one: Accelerate on macOS, which uses the matrix unit of
// the processor. matmulblas_darwin.go registers them; nothing here is linked on other systems. They have other roundings than
// the portable kernel, within the tolerance of matmul.
//
// A product is cut into pieces of many rows or columns, each of which is one call of the library. The library may add up in
// another order for other sizes, so the sizes of pieces follow from those of the matrices alone: the same pieces, and the
// same bits, for any number of threads.

// BLASLibrary is the products of a library: C (m x n) = A (m x k) times B (k x n). Of a transposed operand, A or B, the columns
// are contiguous and begin ld elements apart; otherwise the rows. They report false for what BLAS does not allow.
type BLASLibrary interface {
	Float32(c, a, b unsafe.Pointer, m, n, k, lda, ldb, ldc int64, transposed [2]bool) bool
	Float64(c, a, b unsafe.Pointer, m, n, k, lda, ldb, ldc int64, transposed [2]bool) bool
}

type libraryProduct func(c, a, b unsafe.Pointer, m, n, k, lda, ldb, ldc int64, transposed [2]bool) bool

// blasPriority comes before the kernels for constant weights, whose packed copy a library cannot use.
const blasPriority = kernels.Special + 1

// RegisterBLAS adds the variants of matmul for a library. find is called when a product first is large enough, and then for
// each; it answers nil where there is no library.
func RegisterBLAS(find func() BLASLibrary) {
	for _, d := range []dtype.DType{dtype.Float32, dtype.Float64} {
		engine.Registry.Add(engine.Variant{
			Op: op.IDMatmul, DTypes: dtype.SetOf(d), Priority: blasPriority,
			Accepts: func(t *engine.Threads, c *device.Call) (uint64, bool) {
				return 0, t.Accelerate && worthBLAS(c) && find() != nil
			},
			Make: func(*engine.Threads, *device.Call, uint64) (engine.Kernel, error) {
				if d == dtype.Float64 {
					return BlasMatmul(d, find().Float64), nil
				}
				return BlasMatmul(d, find().Float32), nil
			},
		})
	}
}

// BlasMatmul is the kernel: that of matmul, which packs what neither it nor the library can read where it is.
func BlasMatmul(d dtype.DType, product libraryProduct) *Matmul {
	return &Matmul{dtype: d, native: true, Library: product, tile: [2]int64{blasUnit, blasUnit}}
}

const (
	// blasUnit is the rows or columns that a piece is a multiple of: the numbers that fit one register of the matrix unit, 64
	// bytes of float32. A product with fewer rows or columns is one of vectors, which is as fast as memory by our own kernels.
	blasUnit = 16
	// blasPiece is the units of a whole piece: of 1024 rows there are four pieces, for as many threads.
	blasPiece = 16
	// leastBLAS is the multiplications of one matrix product from which on the library is called, as many as in about 40 x 40 x 40.
	// They take a core at least a microsecond; the call itself takes a tenth of that.
	leastBLAS = 1 << 16
)

// worthBLAS reports whether a library is better for a product: for each of its matrices, after a batch has been joined.
func worthBLAS(c *device.Call) bool {
	x, out := &c.In[engine.Left], &c.Out[0]
	k := x.Dims[x.Rank-1]
	if k < blasUnit || out.Dims[out.Rank-1] < blasUnit || out.Numel() < leastBLAS/k {
		return false
	}
	j := Multiplication{
		Matmul:   &Matmul{native: true, Library: libraryProduct(nil), tile: [2]int64{1, 1}},
		Operands: [3]device.Operand{*x, c.In[engine.Right], *out},
	}
	widest := k
	for i := range j.Operands {
		o := &j.Operands[i]
		if uintptr(o.Addr)%uintptr(o.DType.Size()) != 0 { // the runtime makes no such tensors; our kernels take them
			return false
		}
		if !j.usable(i, o) {
			whole := device.Operand{DType: o.DType, Layout: shape.Contiguous(distinct(o).Shape)}
			*o = stretched(&whole, o)
		}
		widest = max(widest, leading(o))
	}
	for j.JoinBatch() {
	}
	j.plan(1)
	return j.m >= blasUnit && j.m*j.n >= leastBLAS/j.k && max(widest, j.m, j.n) <= math.MaxInt32
}

// leading is the distance of the rows of an operand, or of its columns if they are contiguous. That of a single one is free.
func leading(o *device.Operand) int64 {
	rows, cols := o.Rank-2, o.Rank-1
	switch {
	case byColumns(o):
		return o.Strides[cols]
	case o.Dims[rows] == 1:
		return o.Dims[cols]
	}
	return o.Strides[rows]
}

// blasProduct is a call of matmul by a library. Its pieces are numbered through all matrices of the batch.
type blasProduct Multiplication

// cut divides a matrix into pieces of at most blasPiece units, whose numbers differ by at most one.
func (libraryProduct) cut(j *Multiplication) (work engine.Splitter, pieces int64) {
	p := (*blasProduct)(j)
	return p, p.pieces()
}

// pieces is the number of them.
func (p *blasProduct) pieces() int64 { return (p.strips + blasPiece - 1) / blasPiece }

// Part does pieces lo to hi-1, each by one call of the library.
func (p *blasProduct) Part(_ *device.Call, lo, hi int64) error {
	var at [3]engine.Walk // visits the first element of each matrix
	for i := range at {
		o := &p.Operands[i]
		batch := o.Layout
		batch.Rank -= 2
		at[i].Begin(o.Addr, o.DType.Size(), &batch)
	}
	b := p.epilogue.Begin()
	defer p.epilogue.End(b)
	for pieces := p.pieces(); lo < hi; lo++ {
		number, piece := lo/pieces, lo%pieces
		for i := range at {
			at[i].SeekTo(number)
		}
		first, last := piece*p.strips/pieces, (piece+1)*p.strips/pieces
		if !p.piece(at[engine.Left].Here(), at[engine.Right].Here(), at[engine.Result].Here(), first, last) {
			return status.Errorf(status.Internal, "[matmul] got a product of %d x %d x %d elements that BLAS does not allow", p.m, p.n, p.k)
		}
		if b != nil {
			if err := p.epilogue.Product(b, p.m, p.n, number, first, last, p.tile, p.byCols); err != nil {
				return err
			}
		}
	}
	return nil
}

// piece multiplies units first to last-1 of the rows or columns of one matrix.
// SAFETY: the addresses are those of the first elements of matrices that lie in their operands.
func (p *blasProduct) piece(a, b, c unsafe.Pointer, first, last int64) bool {
	m, n, size := p.m, p.n, p.dtype.Size()
	x, y, out := &p.Operands[engine.Left], &p.Operands[engine.Right], &p.Operands[engine.Result]
	lda, ldb, ldc := leading(x), leading(y), leading(out)
	transposed := [2]bool{byColumns(x), byColumns(y)}
	if p.byCols {
		from, apart := first*blasUnit, int64(1)
		if transposed[engine.Right] {
			apart = ldb
		}
		n = min(last*blasUnit, n) - from
		b, c = unsafe.Add(b, from*apart*size), unsafe.Add(c, from*size)
	} else {
		from, apart := first*blasUnit, lda
		if transposed[engine.Left] {
			apart = 1
		}
		m = min(last*blasUnit, m) - from
		a, c = unsafe.Add(a, from*apart*size), unsafe.Add(c, from*ldc*size)
	}
	return p.Library.(libraryProduct)(c, a, b, m, n, p.k, lda, ldb, ldc, transposed)
}
