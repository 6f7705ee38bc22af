package conv

import (
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/dots"
	"github.com/paddle-mps/paddle-mps/kernels/host/window"
)

// conv_weight adds up products along windows: those of a channel of y with what the windows see at an element of the kernel
// in a channel of x, which is a term of the weight. Windows are gathered some at a time, in their order, from both.

// Terms are split among threads. Where a weight has few, as that of a first layer, so are the images: a share of them has
// a weight of its own, and those are added up in the end. The number of shares depends on the shapes alone, and so does
// the order of every sum.

const (
	blockTerms   = 64  // of a piece
	blockWindows = 512 // that are gathered at a time
	wholeVectors = 16  // windows are filled up to a multiple of it, with zeros
)

// shares are the parts into which a call of conv_weight is cut.
type shares struct {
	blocks int64 // of terms, of one group
	images int64 // how many ranges of images there are
}

// sharesOf cuts a call.
func sharesOf(terms, groups, images int64) shares {
	s := shares{blocks: (terms + blockTerms - 1) / blockTerms}
	s.images = max(min(wantedPieces/max(s.blocks*groups, 1), images), 1)
	return s
}

// weightShares is sharesOf for a call, and the number of elements of one weight.
func weightShares(c *device.Call) (shares, int64) {
	weight := &c.Out[0]
	terms := weight.Numel() / max(weight.Dims[0], 1)
	return sharesOf(terms, c.In[engine.Left].Dims[1]/max(weight.Dims[1], 1), c.In[engine.Left].Dims[0]), weight.Numel()
}

// planWeight is the plan of conv_weight. Pieces are blocks of terms of one group, for a range of images.
func planWeight[T float32 | float64](j *Convolving[T], w *op.Windows) {
	j.work = (*weighed[T])(j)
	j.noteTaps(w)
	j.Seen.Open(&j.all[engine.Right])
	j.Rows = j.Seen.Channels / j.Groups
	if narrow, ok := any(j).(*Convolving[float32]); ok {
		CutLines(narrow)
	}
	j.shares = sharesOf(j.terms(), j.Groups, j.In.Batch)
	if j.shares.images > 1 {
		j.sums = j.reserve(j.shares.images * j.out.Batch * j.terms())
	}
	j.pieces = j.Groups * j.shares.blocks * j.shares.images
}

// terms is the number of terms of a group: elements of the weight for each output channel.
func (j *Convolving[T]) terms() int64 { return j.Channels * int64(len(j.Taps)) }

// weighed is a call as work that is cut into pieces.
type weighed[T float32 | float64] Convolving[T]

// Part does pieces lo to hi-1.
func (j *weighed[T]) Part(_ *device.Call, lo, hi int64) error {
	pool := window.ScratchPool[T]()
	s := pool.Get().(*window.Scratch[T])
	defer pool.Put(s)
	terms := (*Convolving[T])(j).terms()
	for ; lo < hi; lo++ {
		share, block := lo/(j.Groups*j.shares.blocks), lo%(j.Groups*j.shares.blocks)
		group, first := block/j.shares.blocks, block%j.shares.blocks*blockTerms
		n := min(blockTerms, terms-first)
		if !j.piece(share, group, first, n, s) {
			return window.Misfit()
		}
		if j.sums == nil {
			j.store(group, first, n, s.Sums, n)
			continue
		}
		for row := range j.Rows {
			copy(j.sums[(share*j.out.Batch+group*j.Rows+row)*terms+first:][:n], s.Sums[row*n:])
		}
	}
	return nil
}

// Both matrices of a piece have a line for each window, so that the sums go along memory, and their lines are as long as whole
// vectors: what is added at the end are products of zeros.

// The sum of an element takes blocks of windows in the order of the windows: within a block it is that of dots.AddTransposed.
//
// piece adds up n terms of one group in s.sums, a row for each channel of y. It reports false where memory does not fit, which
// is a mistake of ours.
func (j *weighed[T]) piece(share, group, first, n int64, s *window.Scratch[T]) bool {
	if narrow, ok := any(j).(*weighed[float32]); ok && narrow.CutInLines.On {
		return linePiece(narrow, share, group, first, n, any(s).(*window.Scratch[float32]))
	}
	grid := &j.Seen.Dims
	plane := window.Volume(grid)
	at, end := j.In.Batch*share/j.shares.images*plane, j.In.Batch*(share+1)/j.shares.images*plane
	s.Sums = window.Grown(s.Sums, j.Rows*n)
	s.Columns = window.Grown(s.Columns, (n+j.Rows)*blockWindows)
	clear(s.Sums)
	for ; at < end; at += blockWindows {
		windows := min(blockWindows, end-at)
		begin := window.CursorAt(grid, at)
		full := roundTo(windows, wholeVectors)
		x, y := s.Columns[:n*full], s.Columns[n*full:][:j.Rows*full]
		if full > windows {
			clear(s.Columns[:(n+j.Rows)*full])
		}
		for i := range n {
			term := first + i
			j.In.Gather(x[i*full:][:windows], begin, grid, &j.Step, &j.Taps[term%int64(len(j.Taps))], group*j.Channels+term/int64(len(j.Taps)))
		}
		for i := range j.Rows {
			j.Seen.Gather(y[i*full:][:windows], begin, grid, &window.UnitSteps, &[op.MaxSpatial]int64{}, group*j.Rows+i)
		}
		if !dots.AddTransposed(s.Sums, y, x, int(j.Rows), int(n), int(full), int(full), int(full), int(n)) {
			return false
		}
	}
	return true
}

// addShares adds up the weights of all shares of the images, in the order of the images. It runs on the thread of the caller
// when all pieces have ended: there are shares only of weights with few terms.
func (j *weighed[T]) addShares() {
	size := j.out.Batch * (*Convolving[T])(j).terms()
	whole := j.sums[:size]
	for share := int64(1); share < j.shares.images; share++ {
		for i, v := range j.sums[share*size:][:size] {
			whole[i] += v
		}
	}
	terms := size / max(j.out.Batch, 1)
	for group := range j.Groups {
		j.store(group, 0, terms, whole[group*j.Rows*terms:], terms)
	}
}

// A weight is mostly contiguous: its terms are neighbours. One with its channels last, or a view, is written one by one.

// store writes n terms of a group into the weight; channels of y are ld apart in sums.
func (j *weighed[T]) store(group, first, n int64, sums []T, ld int64) {
	if j.out.Flat() && j.out.PerChannel == int64(len(j.Taps)) {
		for row := range j.Rows {
			copy(j.out.Data[j.out.At(group*j.Rows+row, 0)+first:], sums[row*ld:][:n])
		}
		return
	}
	for i := range n {
		term := first + i
		at := window.CursorAt(&j.out.Dims, term%int64(len(j.Taps))).At
		to := j.out.At(group*j.Rows, term/int64(len(j.Taps)))
		for axis := range at {
			to += at[axis] * j.out.Strides[axis]
		}
		for row := range j.Rows {
			j.out.Data[to+row*j.out.PerImage] = sums[row*ld+i]
		}
	}
}

// shareBytes is the room for the weights of all shares.
func shareBytes[T any](c *device.Call) int64 {
	s, elements := weightShares(c)
	if s.images < 2 {
		return 0
	}
	return engine.RoundUp(s.images * elements * int64(unsafe.Sizeof(*new(T))))
}
