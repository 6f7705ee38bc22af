package host

import (
	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/op"
)

// conv_weight multiplies the column matrix of x by y, whose channels are staged last: a row of the product is an input
// channel and an element of the kernel, and a column is an output channel. The sum is over the windows of all images.

// Rows are split among threads and windows are not, so that the sum of an element is always in one order. A weight with
// few rows, as that of a first layer, therefore keeps few threads busy.

// weightRows is the number of rows of a piece.
const weightRows = 64

// planWeight is the plan of conv_weight. Pieces are blocks of rows of one group.
func planWeight[T float32 | float64](j *convolving[T], w *op.Windows) {
	j.work = (*weighed[T])(j)
	j.step = spatial(w.Stride, w.Axes, 1)
	dilation, before := spatial(w.Dilation, w.Axes, 1), spatial(w.Before, w.Axes, 0)
	kernel := spatial(w.Kernel, w.Axes, 1)
	each(&kernel, func(k [op.MaxSpatial]int64) {
		for axis := range k {
			k[axis] = k[axis]*dilation[axis] - before[axis]
		}
		j.taps = append(j.taps, k)
	})
	y := &j.all[right] // batch, spatial axes, channels
	p := convPhase[T]{grid: neighbours}
	copy(p.grid[op.MaxSpatial-w.Axes:], y.Dims[1:1+w.Axes])
	j.phases = append(j.phases, p)
	j.rows = y.Dims[y.Rank-1] / j.groups
	j.pieces = j.groups * weightBlocks(j)
}

// weightBlocks is the number of pieces of a group.
func weightBlocks[T float32 | float64](j *convolving[T]) int64 {
	return (j.channels*int64(len(j.taps)) + weightRows - 1) / weightRows
}

// weighed is a call as work that is cut into blocks of rows.
type weighed[T float32 | float64] convolving[T]

// part does pieces lo to hi-1.
func (j *weighed[T]) part(_ *device.Call, lo, hi int64) error {
	pool := scratchPool[T]()
	s := pool.Get().(*scratch[T])
	defer pool.Put(s)
	blocks := weightBlocks((*convolving[T])(j))
	for ; lo < hi; lo++ {
		first := lo % blocks * weightRows
		rows := min(weightRows, j.channels*int64(len(j.taps))-first)
		if !j.piece(lo/blocks, first, rows, s) {
			return misfit()
		}
	}
	return nil
}

// The part of the column matrix that is multiplied at a time is rows x depth: rows are gathered as conv gathers them, and
// y, which lies windows x channels, is the other matrix as it is.

// piece computes rows of one group: windows are added depth at a time, in their order.
func (j *weighed[T]) piece(group, first, rows int64, s *scratch[T]) bool {
	grid := &j.phases[0].grid
	windows := j.in.batch * grid[0] * grid[1] * grid[2]
	all := j.rows * j.groups // channels of y
	s.sums, s.columns = grown(s.sums, rows*j.rows), grown(s.columns, weightRows*depth)
	clear(s.sums)
	for from := int64(0); from < windows; from += depth {
		n := min(depth, windows-from)
		at := cursorAt(grid, from)
		for row := range rows {
			j.in.gather(s.columns[row*n:][:n], at, grid, &j.step, j.tap(first+row), j.channel(group, first+row))
		}
		y := j.other[from*all+group*j.rows:]
		if !j.add(s.sums, s.columns, y, int(rows), int(j.rows), int(n), int(n), int(all), int(j.rows)) {
			return false
		}
	}
	j.store(group, first, rows, s.sums)
	return true
}

// tap is the element of the kernel that a row is about.
func (j *weighed[T]) tap(row int64) *[op.MaxSpatial]int64 { return &j.taps[row%int64(len(j.taps))] }

// channel is the channel of x that a row of a group is about.
func (j *weighed[T]) channel(group, row int64) int64 {
	return group*j.channels + row/int64(len(j.taps))
}

// store writes rows of the product into the weight, of which they are columns.
func (j *weighed[T]) store(group, first, rows int64, sums []T) {
	for row := range rows {
		number := first + row
		at := cursorAt(&j.out.dims, number%int64(len(j.taps))).at
		to := j.out.origin + number/int64(len(j.taps))*j.out.perChannel + group*j.rows*j.out.perImage
		for axis := range at {
			to += at[axis] * j.out.strides[axis]
		}
		for i := range j.rows {
			j.out.data[to+i*j.out.perImage] = sums[row*j.rows+i]
		}
	}
}
