package product

import (
	"sync"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/kernels"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/arith"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/float16"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/gemm"
)

// rowMatmul is the product of one row and a large matrix, which takes as long as the matrix takes to be read. Memory is fastest where
// it is read in order, so that a piece of the work is a block of the matrix's rows, and not some of its columns. The sums of all
// blocks are added up at the end. Blocks depend on the shapes alone: the result is the same for any number of threads. Halves are
// converted a few rows at a time, where the cache holds them.
type rowMatmul struct {
	codec *engine.Codec[float32]
	add   func(j *rowJob, sums, a []float32, at unsafe.Pointer, step int64) bool // see addFloats
	jobs  sync.Pool                                                              // of *rowJob
	rooms sync.Pool
}

func init() {
	registerRowMatmul(dtype.Float32, new(engine.Codec[float32]), (*rowJob).addFloats)
	registerRowMatmul(dtype.Float16, engine.HalfCodec(dtype.Float16), (*rowJob).addHalves)
	registerRowMatmul(dtype.BFloat16, engine.HalfCodec(dtype.BFloat16), (*rowJob).addBF16)
}

// registerRowMatmul adds the kernel of a dtype.
func registerRowMatmul(d dtype.DType, c *engine.Codec[float32], add func(j *rowJob, sums, a []float32, at unsafe.Pointer, step int64) bool) {
	engine.Registry.Add(engine.Variant{
		Op: op.IDMatmul, DTypes: dtype.SetOf(d), Priority: kernels.Special + 2,
		Accepts: func(_ *engine.Threads, c *device.Call) (uint64, bool) { return 0, IsRowTimesMatrix(c) },
		Make: func(*engine.Threads, *device.Call, uint64) (engine.Kernel, error) {
			return &rowMatmul{codec: c, add: add}, nil
		},
	})
}

const (
	rowBlock     = 1 << 18 // elements of a block at least
	mostBlocks   = 64      // each has sums of its own in the workspace
	leastColumns = 512     // of fewer the sums are read and written too often
)

// IsRowTimesMatrix reports whether a call is such a product. A constant matrix is packed once, and has a kernel of its own.
func IsRowTimesMatrix(c *device.Call) bool {
	y, out := &c.In[engine.Right], &c.Out[0]
	k, n := y.Dims[y.Rank-2], y.Dims[y.Rank-1]
	return out.Numel() == n && y.Numel() == k*n && n >= leastColumns && k*n >= 2*rowBlock && byRows(y) && out.IsContiguous() && !IsWeight(y)
}

// rowJob is one call.
type rowJob struct {
	*rowMatmul
	k, n, rows, blocks int64     // rows of a block
	x, sums            []float32 // sums of each block, one after the other
}

// sizes reads the shapes of a call.
func (j *rowJob) sizes(c *device.Call) {
	y := &c.In[engine.Right]
	j.k, j.n = y.Dims[y.Rank-2], y.Dims[y.Rank-1]
	j.rows = max((rowBlock+j.n-1)/j.n, (j.k+mostBlocks-1)/mostBlocks)
	j.blocks = (j.k + j.rows - 1) / j.rows
}

// Cost is the elements that are read, as for other products.
func (k *rowMatmul) Cost(c *device.Call) int64 { return c.In[engine.Right].Numel() }

// Sums begin a part of a page behind where the matrix does in its own: a processor that reads one of two places as far into their pages
// and writes the other mistakes them for one.
const (
	page       = 4096
	sumsBehind = page / 4
)

// sumsFrom is how many bytes into the workspace sums begin.
func (j *rowJob) sumsFrom(c *device.Call) int64 {
	behind := engine.RoundUp(4 * j.k)
	return behind + int64((uintptr(c.In[engine.Right].Addr)+sumsBehind-uintptr(c.Workspace)-uintptr(behind))%page)&^63
}

// Workspace has room for the row in float32, and for the sums of all blocks.
func (k *rowMatmul) Workspace(c *device.Call) int64 {
	var j rowJob
	j.sizes(c)
	return engine.RoundUp(4*j.k) + page + engine.RoundUp(4*j.blocks*j.n)
}

// Run computes the sums of all blocks, and then the result.
// SAFETY: the workspace is as long as workspace says, and operands have the elements that their layouts say.
func (k *rowMatmul) Run(t *engine.Threads, c *device.Call) error {
	if c.Workspace == nil {
		return status.Errorf(status.Internal, "[matmul] got no workspace; want %d bytes", k.Workspace(c))
	}
	j, _ := k.jobs.Get().(*rowJob)
	if j == nil {
		j = &rowJob{rowMatmul: k}
	}
	defer k.jobs.Put(j)
	j.sizes(c)
	f := engine.NewFrame()
	defer f.Free()
	x, out := &c.In[engine.Left], &c.Out[0]
	var line engine.LineAccess[float32]
	line.OpenLast(x, k.codec, f)
	j.x = line.Read(x.Addr, engine.Slice[float32](c.Workspace, j.k))
	j.sums = engine.Slice[float32](unsafe.Add(c.Workspace, j.sumsFrom(c)), j.blocks*j.n)
	if err := t.Each(j, c, j.blocks, k.Cost(c)); err != nil {
		return err
	}
	total := j.sums[:j.n]
	for rest := j.sums[j.n:]; len(rest) > 0; rest = rest[j.n:] {
		sumRows.VV(total, total, rest[:j.n])
	}
	line.OpenLast(out, k.codec, f)
	copy(line.Room(out.Addr, total), total)
	line.Write(out.Addr, total)
	return nil
}

// Part computes the sums of blocks lo to hi-1.
// SAFETY: the rows lie in the matrix.
func (j *rowJob) Part(c *device.Call, lo, hi int64) error {
	y := &c.In[engine.Right]
	step := y.Strides[y.Rank-2]
	if j.k == 1 {
		step = j.n
	}
	for ; lo < hi; lo++ {
		first := lo * j.rows
		last := min(first+j.rows, j.k)
		sums := j.sums[lo*j.n:][:j.n]
		clear(sums)
		at := unsafe.Add(y.Addr, first*step*y.DType.Size())
		if !j.add(j, sums, j.x[first:last], at, step) {
			return status.Errorf(status.Internal, "[matmul] got a block of %d rows of %d elements that does not fit its memory", last-first, j.n)
		}
	}
	return nil
}

// addRows adds rows of b, so far apart, times the elements of a to sums.
func addRows(sums, a, b []float32, step int64) bool {
	return gemm.AddMatMul(sums, a, b, 1, len(sums), len(a), len(a), int(step), len(sums))
}

// addFloats is addRows of rows at an address.
// SAFETY: the rows lie in the matrix.
func (j *rowJob) addFloats(sums, a []float32, at unsafe.Pointer, step int64) bool {
	return addRows(sums, a, Matrix[float32](at, int64(len(a)), j.n, step), step)
}

// addBF16 is addFloats of bfloat16, which are floats without their lower half.
// SAFETY: see addFloats.
func (j *rowJob) addBF16(sums, a []float32, at unsafe.Pointer, step int64) bool {
	return float16.AddBF16Rows(sums, a, Matrix[uint16](at, int64(len(a)), j.n, step), int(step))
}

// A few rows of halves are converted together, as many columns as leave room for the sums in the first-level cache.
const (
	halfRows = 4
	halfCols = 496 // below leastColumns: sums are then read and written once for all rows
)

// addHalves is addFloats of float16.
// SAFETY: see addFloats.
func (j *rowJob) addHalves(sums, a []float32, at unsafe.Pointer, step int64) bool {
	const size = 2
	held := engine.RoomOf[float32](&j.rooms, halfRows*halfCols)
	defer j.rooms.Put(held)
	room := *held
	for l := 0; l < len(a); l += halfRows {
		some := a[l:min(l+halfRows, len(a))]
		for from := int64(0); from < j.n; from += halfCols {
			part := sums[from:min(from+halfCols, j.n)]
			for i := range some {
				j.codec.Load(room[i*halfCols:][:len(part)], unsafe.Add(at, (int64(l+i)*step+from)*size))
			}
			if !addRows(part, some, room, halfCols) {
				return false
			}
		}
	}
	return true
}

// sumRows is the loop that adds rows.
var sumRows = arith.RowsOf[float32](arith.Add)
