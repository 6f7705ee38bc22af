package host

import (
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/op"
)

// convPhase is a product of its own: the windows that see one set of elements of the kernel. conv has one.
type convPhase[T any] struct {
	grid        [op.MaxSpatial]int64 // windows of one image
	first, step [op.MaxSpatial]int64 // where in the result they are: first + at*step
	from, taps  int                  // its part of the taps, which say where in the image a window sees an element of the kernel
	weights     []T                  // for each group a matrix of rows x (channels*taps)
	width       int64                // columns of a block
	blocks      int64                // of one group
	alone       bool                 // a block lies in one image
}

// planForward is the plan of conv: one phase, whose windows are the elements of the result.
//
// Element k of the kernel lies over element at*stride + k*dilation - before of the image. The weight is the matrix as it
// is: an output channel a row, and in it the channels of its group, each with the elements of the kernel.
func planForward[T float32 | float64](j *convolving[T], w *op.Windows) {
	j.work = (*phased[T])(j)
	j.rows = j.out.channels / j.groups
	j.step = spatial(w.Stride, w.Axes, 1)
	dilation, before := spatial(w.Dilation, w.Axes, 1), spatial(w.Before, w.Axes, 0)
	kernel := spatial(w.Kernel, w.Axes, 1)
	if kernel == neighbours && j.step == neighbours && before == [op.MaxSpatial]int64{} && j.in.dims == j.out.dims && j.in.flat() && j.out.flat() {
		j.in.flatten() // 1x1: neighbouring lines go on
		j.out.flatten()
	}
	p := convPhase[T]{grid: j.out.dims, step: neighbours, weights: j.other, taps: int(kernel[0] * kernel[1] * kernel[2])}
	each(&kernel, func(k [op.MaxSpatial]int64) {
		for axis := range k {
			k[axis] = k[axis]*dilation[axis] - before[axis]
		}
		j.taps = append(j.taps, k)
	})
	j.addPhase(p)
}

// planBack is the plan of conv_transpose. Element first + at*stride of the result sees element k of the kernel over
// element at + (first + before - k*dilation) / stride of the image, where that is a whole number.
func planBack[T float32 | float64](j *convolving[T], w *op.Windows) {
	j.work = (*phased[T])(j)
	j.rows = j.out.channels / j.groups
	stride := spatial(w.Stride, w.Axes, 1)
	room := unsafe.Slice((*T)(j.room), len(j.other)) // SAFETY: workspace counts the weights twice
	each(&stride, func(first [op.MaxSpatial]int64) {
		p := convPhase[T]{first: first, step: stride, from: len(j.taps)}
		for axis := range first {
			p.grid[axis] = max((j.out.dims[axis]-first[axis]+stride[axis]-1)/stride[axis], 0)
		}
		n := j.packWeights(&p, w, room)
		p.weights, room = room[:n], room[n:]
		j.addPhase(p)
	})
}

// The weights of all phases together are as many as the operand has: on each axis an element of the kernel belongs to the
// one phase in which its distance is a multiple of the stride. They are packed on one thread, which is a pass over the
// weight, a small part of the work for all but the smallest images.

// packWeights finds the taps of a phase and writes its matrices, which it counts. A row of them is an input channel of
// the convolution that is transposed, and a column one of its output channels and a tap.
func (j *convolving[T]) packWeights(p *convPhase[T], w *op.Windows, to []T) int64 {
	kernel, dilation := spatial(w.Kernel, w.Axes, 1), spatial(w.Dilation, w.Axes, 1)
	before := spatial(w.Before, w.Axes, 0)
	var seen []int64 // which elements of the kernel
	number := int64(0)
	each(&kernel, func(k [op.MaxSpatial]int64) {
		var tap [op.MaxSpatial]int64
		whole := true
		for axis := range k {
			distance := p.first[axis] + before[axis] - k[axis]*dilation[axis]
			tap[axis] = distance / p.step[axis]
			whole = whole && distance%p.step[axis] == 0
		}
		if whole {
			j.taps, seen = append(j.taps, tap), append(seen, number)
		}
		number++
	})
	p.taps = len(seen)
	n := int64(0)
	for g := range j.groups {
		for row := range j.rows {
			for c := range j.channels {
				from := j.other[((g*j.channels+c)*j.rows+row)*number:]
				for _, k := range seen {
					to[n] = from[k]
					n++
				}
			}
		}
	}
	return n
}

// each calls f for all indices below dims, in row-major order.
func each(dims *[op.MaxSpatial]int64, f func([op.MaxSpatial]int64)) {
	for a := range dims[0] {
		for b := range dims[1] {
			for c := range dims[2] {
				f([op.MaxSpatial]int64{a, b, c})
			}
		}
	}
}

// Blocks have as many columns as vec multiplies at a time, or fewer where some threads would have none. Planes of few
// windows share blocks.
const (
	widest      = 512
	narrowest   = 64
	worthAlone  = 128
	wantedParts = 8
)

// A block of many columns makes the most of packed weights, and several blocks are wanted for each thread. Where planes
// are large, a block that ends with its image can be multiplied into the result and needs no copy.

// addPhase cuts a phase into pieces: blocks of columns of one group.
func (j *convolving[T]) addPhase(p convPhase[T]) {
	plane := p.grid[0] * p.grid[1] * p.grid[2]
	all := plane * j.out.batch
	if all == 0 {
		return
	}
	p.alone = plane >= worthAlone
	p.width = min(max(roundTo(all/wantedParts, narrowest), narrowest), widest)
	if p.alone {
		parts := (plane + p.width - 1) / p.width
		p.width = roundTo((plane+parts-1)/parts, narrowest/2)
		p.blocks = j.out.batch * ((plane + p.width - 1) / p.width)
	} else {
		p.blocks = (all + p.width - 1) / p.width
	}
	j.phases = append(j.phases, p)
	j.pieces += p.blocks * j.groups
}

// roundTo is n rounded up to a multiple.
func roundTo(n, multiple int64) int64 { return (n + multiple - 1) / multiple * multiple }

// phased is a call as work that is cut into blocks of its phases.
type phased[T float32 | float64] convolving[T]

// part does pieces lo to hi-1, counted through all phases.
func (j *phased[T]) part(_ *device.Call, lo, hi int64) error {
	pool := scratchPool[T]()
	s := pool.Get().(*scratch[T])
	defer pool.Put(s)
	for i := range j.phases {
		p := &j.phases[i]
		n := p.blocks * j.groups
		for piece := max(lo, 0); piece < min(hi, n); piece++ {
			if !j.piece(p, piece/p.blocks, piece%p.blocks, s) {
				return misfit()
			}
		}
		lo, hi = lo-n, hi-n
	}
	return nil
}

// columnsOf are the first window and the number of windows of a block.
func (j *phased[T]) columnsOf(p *convPhase[T], block int64) (first, n int64) {
	plane := p.grid[0] * p.grid[1] * p.grid[2]
	if p.alone {
		parts := (plane + p.width - 1) / p.width
		first = block % parts * p.width
		return block/parts*plane + first, min(p.width, plane-first)
	}
	first = block * p.width
	return first, min(p.width, plane*j.out.batch-first)
}

// piece computes a block of one group: it multiplies into the result where the block lies in one line of it, and else
// into scratch memory.
func (j *phased[T]) piece(p *convPhase[T], group, block int64, s *scratch[T]) bool {
	first, n := j.columnsOf(p, block)
	at := cursorAt(&p.grid, first)
	straight := p.alone && p.step == neighbours && p.grid == j.out.dims && j.out.flat() && j.out.perChannel >= n
	var sums []T
	ld := n
	if straight {
		ld = j.out.perChannel
		begin := j.out.origin + at.image*j.out.perImage + group*j.rows*ld + first%j.out.plane()
		sums = j.out.data[begin : begin+(j.rows-1)*ld+n]
	} else {
		s.sums = grown(s.sums, j.rows*n)
		sums = s.sums
	}
	for row := range j.rows {
		clear(sums[row*ld:][:n])
	}
	if !j.multiply(p, group, at, n, sums, ld, s) {
		return false
	}
	if straight {
		return true
	}
	for row := range j.rows {
		j.out.scatter(sums[row*n:][:n], at, &p.grid, &p.first, &p.step, group*j.rows+row)
	}
	return true
}

// multiply adds the product of a block to sums, block of rows by block of rows of the column matrix.
func (j *phased[T]) multiply(p *convPhase[T], group int64, at cursor, n int64, sums []T, ld int64, s *scratch[T]) bool {
	terms := j.channels * int64(p.taps)
	weights := p.weights[group*j.rows*terms:]
	if b, step, ok := j.inPlace(p, group, at, n); ok {
		return j.add(sums, weights, b, int(j.rows), int(n), int(terms), int(terms), int(step), int(ld))
	}
	s.columns = grown(s.columns, min(depth, terms)*n)
	taps := j.taps[p.from:][:p.taps]
	channel, tap := group*j.channels, 0
	for from := int64(0); from < terms; from += depth {
		rows := min(depth, terms-from)
		for row := range rows {
			j.in.gather(s.columns[row*n:][:n], at, &p.grid, &j.step, &taps[tap], channel)
			if tap++; tap == len(taps) {
				tap, channel = 0, channel+1
			}
		}
		if !j.add(sums, weights[from:], s.columns, int(j.rows), int(n), int(rows), int(terms), int(n), int(ld)) {
			return false
		}
	}
	return true
}

// Without padding, a kernel of one element sees the image as it is. Its channels are the rows of the column matrix, and
// gathering would copy each of them whole.

// inPlace is the image as the column matrix, which it is where windows are its elements in their order.
func (j *phased[T]) inPlace(p *convPhase[T], group int64, at cursor, n int64) (b []T, step int64, ok bool) {
	last := op.MaxSpatial - 1
	if p.taps != 1 || j.taps[p.from] != [op.MaxSpatial]int64{} || !p.alone || j.step != neighbours || p.grid != j.in.dims ||
		j.in.dims[0] != 1 || j.in.dims[1] != 1 || j.in.strides[last] != 1 || j.in.perChannel < n || j.channels == 0 {
		return nil, 0, false
	}
	begin := j.in.origin + at.image*j.in.perImage + group*j.channels*j.in.perChannel + at.at[last]
	return j.in.data[begin : begin+(j.channels-1)*j.in.perChannel+n], j.in.perChannel, true
}
