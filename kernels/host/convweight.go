package host

import (
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
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
	return sharesOf(terms, c.In[left].Dims[1]/max(weight.Dims[1], 1), c.In[left].Dims[0]), weight.Numel()
}

// planWeight is the plan of conv_weight. Pieces are blocks of terms of one group, for a range of images.
func planWeight[T float32 | float64](j *convolving[T], w *op.Windows) {
	j.work = (*weighed[T])(j)
	j.noteTaps(w)
	j.seen.open(&j.all[right])
	j.rows = j.seen.channels / j.groups
	if narrow, ok := any(j).(*convolving[float32]); ok {
		cutLines(narrow)
	}
	j.shares = sharesOf(j.terms(), j.groups, j.in.batch)
	if j.shares.images > 1 {
		j.sums = j.reserve(j.shares.images * j.out.batch * j.terms())
	}
	j.pieces = j.groups * j.shares.blocks * j.shares.images
}

// terms is the number of terms of a group: elements of the weight for each output channel.
func (j *convolving[T]) terms() int64 { return j.channels * int64(len(j.taps)) }

// weighed is a call as work that is cut into pieces.
type weighed[T float32 | float64] convolving[T]

// part does pieces lo to hi-1.
func (j *weighed[T]) part(_ *device.Call, lo, hi int64) error {
	pool := scratchPool[T]()
	s := pool.Get().(*scratch[T])
	defer pool.Put(s)
	terms := (*convolving[T])(j).terms()
	for ; lo < hi; lo++ {
		share, block := lo/(j.groups*j.shares.blocks), lo%(j.groups*j.shares.blocks)
		group, first := block/j.shares.blocks, block%j.shares.blocks*blockTerms
		n := min(blockTerms, terms-first)
		if !j.piece(share, group, first, n, s) {
			return misfit()
		}
		if j.sums == nil {
			j.store(group, first, n, s.sums, n)
			continue
		}
		for row := range j.rows {
			copy(j.sums[(share*j.out.batch+group*j.rows+row)*terms+first:][:n], s.sums[row*n:])
		}
	}
	return nil
}

// Both matrices of a piece have a line for each window, so that the sums go along memory, and their lines are as long as whole
// vectors: what is added at the end are products of zeros.

// The sum of an element takes blocks of windows in the order of the windows: within a block it is that of vec.AddDots.
//
// piece adds up n terms of one group in s.sums, a row for each channel of y. It reports false where memory does not fit, which
// is a mistake of ours.
func (j *weighed[T]) piece(share, group, first, n int64, s *scratch[T]) bool {
	if narrow, ok := any(j).(*weighed[float32]); ok && narrow.cutInLines.on {
		return linePiece(narrow, share, group, first, n, any(s).(*scratch[float32]))
	}
	grid := &j.seen.dims
	plane := volumeOf(grid)
	at, end := j.in.batch*share/j.shares.images*plane, j.in.batch*(share+1)/j.shares.images*plane
	s.sums = grown(s.sums, j.rows*n)
	s.columns = grown(s.columns, (n+j.rows)*blockWindows)
	clear(s.sums)
	for ; at < end; at += blockWindows {
		windows := min(blockWindows, end-at)
		begin := cursorAt(grid, at)
		full := roundTo(windows, wholeVectors)
		x, y := s.columns[:n*full], s.columns[n*full:][:j.rows*full]
		if full > windows {
			clear(s.columns[:(n+j.rows)*full])
		}
		for i := range n {
			term := first + i
			j.in.gather(x[i*full:][:windows], begin, grid, &j.step, &j.taps[term%int64(len(j.taps))], group*j.channels+term/int64(len(j.taps)))
		}
		for i := range j.rows {
			j.seen.gather(y[i*full:][:windows], begin, grid, &neighbours, &[op.MaxSpatial]int64{}, group*j.rows+i)
		}
		if !vec.AddDots(s.sums, y, x, int(j.rows), int(n), int(full), int(full), int(full), int(n)) {
			return false
		}
	}
	return true
}

// addShares adds up the weights of all shares of the images, in the order of the images. It runs on the thread of the caller
// when all pieces have ended: there are shares only of weights with few terms.
func (j *weighed[T]) addShares() {
	size := j.out.batch * (*convolving[T])(j).terms()
	whole := j.sums[:size]
	for share := int64(1); share < j.shares.images; share++ {
		for i, v := range j.sums[share*size:][:size] {
			whole[i] += v
		}
	}
	terms := size / max(j.out.batch, 1)
	for group := range j.groups {
		j.store(group, 0, terms, whole[group*j.rows*terms:], terms)
	}
}

// A weight is mostly contiguous: its terms are neighbours. One with its channels last, or a view, is written one by one.

// store writes n terms of a group into the weight; channels of y are ld apart in sums.
func (j *weighed[T]) store(group, first, n int64, sums []T, ld int64) {
	if j.out.flat() && j.out.perChannel == int64(len(j.taps)) {
		for row := range j.rows {
			copy(j.out.data[j.out.at(group*j.rows+row, 0)+first:], sums[row*ld:][:n])
		}
		return
	}
	for i := range n {
		term := first + i
		at := cursorAt(&j.out.dims, term%int64(len(j.taps))).at
		to := j.out.at(group*j.rows, term/int64(len(j.taps)))
		for axis := range at {
			to += at[axis] * j.out.strides[axis]
		}
		for row := range j.rows {
			j.out.data[to+row*j.out.perImage] = sums[row*ld+i]
		}
	}
}

// shareBytes is the room for the weights of all shares.
func shareBytes[T any](c *device.Call) int64 {
	s, elements := weightShares(c)
	if s.images < 2 {
		return 0
	}
	return roundUp(s.images * elements * int64(unsafe.Sizeof(*new(T))))
}
