package host

import (
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/kernels"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// Images of few windows waste most of a tile, whose columns are windows: 49 windows take four tiles of 16 columns, and a
// single one takes as long as 16. The transposed product has channels as columns and windows as rows, of which a tile has
// fewer. Its right operand is the weight, so that this needs one that is known when the kernel is made.
//
// Sums are those of the other kernels to the last bit: they are over the same terms in the same order.

// mostColumnWindows is the number of windows up to which gathering them pays.
const mostColumnWindows = 64

func init() {
	registry.Add(variant{
		Op: op.IDConv, DTypes: dtype.SetOf(dtype.Float32), Priority: kernels.Special + 1, Accepts: acceptsColumns,
		Make: func(d *Device, c *device.Call, _ uint64) (kernel, error) {
			packed, err := packTransposed(d.threads, &c.In[right])
			if err != nil {
				return nil, err
			}
			return &convolution[float32]{dtype: dtype.Float32, native: true, plan: planColumns, right: packed}, nil
		},
	})
}

// acceptsColumns takes convolutions of one group with a constant weight for which the transposed product has less to compute.
func acceptsColumns(_ *Device, c *device.Call) (uint64, bool) {
	weight, channels := &c.In[right], c.Out[0].Dims[1]
	if !isFilter(weight) || resultRows(c) != channels || channels == 0 {
		return 0, false
	}
	windows := c.Out[0].Numel() / channels
	rows, cols := vec.MatMulTile[float32]()
	least := int64(vec.FewRows[float32]())
	straight := roundTo(channels, int64(rows)) * roundTo(windows, int64(cols))
	turned := roundTo(windows, int64(rows)) * roundTo(channels, int64(cols))
	return 0, windows <= mostColumnWindows && channels >= least && (windows < least || turned < straight)
}

// The operand is only described with other strides: packing reads it in that order, so that there is no transposed copy.

// packTransposed lays out a contiguous weight as the right operand of the transposed product.
func packTransposed(t *threads, weight *device.Operand) (*vec.Right[float32], error) {
	turned := *weight
	channels, terms := weight.Dims[0], weight.Numel()/weight.Dims[0]
	turned.Layout = shape.Layout{Shape: shape.Shape{Rank: 2, Dims: [shape.MaxRank]int64{terms, channels}}}
	turned.Strides[0], turned.Strides[1] = 1, terms
	return packRight(t, &turned, 1)
}

// planColumns is the plan of a conv whose windows are the rows of the product. Pieces are columns of tiles.
func planColumns(j *convolving[float32], w *op.Windows) {
	j.work = (*columned)(j)
	j.rows = j.out.channels
	j.flattenSingle(j.noteTaps(w))
	j.pieces = (j.rows + tileColumns - 1) / tileColumns
}

// A piece takes several tiles, because its windows are gathered again for each thread that has one.

// tileColumns is the number of columns of a piece, a multiple of those of every tile.
const tileColumns = 96

// columned is a call as work that is cut into columns.
type columned convolving[float32]

// part computes pieces lo to hi-1 in one go: the windows are gathered for all of them.
func (j *columned) part(_ *device.Call, lo, hi int64) error {
	pool := scratchPool[float32]()
	s := pool.Get().(*scratch[float32])
	defer pool.Put(s)
	grid := &j.out.dims
	windows, taps := volumeOf(grid)*j.out.batch, int64(len(j.taps))
	from, begin := lo*tileColumns, cursorAt(grid, 0)
	n := min(hi*tileColumns, j.rows) - from
	s.sums, s.columns = grown(s.sums, windows*(n+1)), grown(s.columns, gatheredTerms*windows)
	sums, row := s.sums[:windows*n], s.sums[windows*n:]
	for first, terms := int64(0), j.channels*taps; first < terms; first += gatheredTerms {
		steps := min(gatheredTerms, terms-first)
		for l := range steps {
			j.in.gather(s.columns[l*windows:][:windows], begin, grid, &j.step, &j.taps[(first+l)%taps], (first+l)/taps)
		}
		if !j.right.AddRows(sums, s.columns, int(first), int(steps), int(windows), int(from), int(n), int(n), first == 0) {
			return misfit()
		}
	}
	var origin [op.MaxSpatial]int64
	for channel := range n {
		for w := range row {
			row[w] = sums[int64(w)*n+channel]
		}
		j.out.scatter(row, begin, grid, &origin, &neighbours, from+channel)
	}
	b, plane := j.epilogue.begin(), volumeOf(grid)
	defer j.epilogue.end(b)
	return j.epilogue.rows(b, from*plane, j.out.batch, j.rows*plane, n*plane)
}

// rightBytes is the memory of a right operand that may be nil.
func rightBytes[T float32 | float64](r *vec.Right[T]) int64 {
	if r == nil {
		return 0
	}
	return r.Bytes() + int64(unsafe.Sizeof(*r))
}
