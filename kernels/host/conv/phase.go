package conv

import (
	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/host/fusion"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/gemm"
	"github.com/paddle-mps/paddle-mps/kernels/host/window"
)

// convPhase is a product of its own: the windows that see one set of elements of the kernel. conv has one.
type convPhase[T any] struct {
	grid        [op.MaxSpatial]int64 // windows of one image
	first, step [op.MaxSpatial]int64 // where in the result they are: first + at*step
	from, taps  int                  // its part of the taps, which say where in the image a window sees an element of the kernel
	raw         []T                  // for each group a matrix of rows x (channels*taps)
	weights     []T                  // the same, each packed where tiles need that
	perGroup    int64                // of weights
	perTerm     int64                // from the weights of a term to those of the next
	strips      strips
	tiling      tiling
}

// noteTaps sets the steps and the taps of windows that see an image, and returns the size of the kernel: its element k lies
// over element at*stride + k*dilation - before of the image.
func (j *Convolving[T]) noteTaps(w *op.Windows) (kernel [op.MaxSpatial]int64) {
	j.Step, kernel = window.Spatial(w.Stride, w.Axes, 1), window.Spatial(w.Kernel, w.Axes, 1)
	dilation, before := window.Spatial(w.Dilation, w.Axes, 1), window.Spatial(w.Before, w.Axes, 0)
	each(&kernel, func(k [op.MaxSpatial]int64) {
		for axis := range k {
			k[axis] = k[axis]*dilation[axis] - before[axis]
		}
		j.Taps = append(j.Taps, k)
	})
	return kernel
}

// planForward is the plan of conv: one phase, whose windows are the elements of the result. The weight is the matrix as it is:
// an output channel a row, and in it the channels of its group, each with the elements of the kernel.
func planForward[T float32 | float64](j *Convolving[T], w *op.Windows) {
	j.work = phased[T]{j}
	j.Rows = j.out.Channels / j.Groups
	kernel := j.noteTaps(w)
	f, narrow := any(j).(*Convolving[float32])
	if narrow && planPlanes(f, kernel) {
		return
	}
	j.flattenSingle(kernel)
	p := convPhase[T]{grid: j.out.Dims, step: window.UnitSteps, raw: j.other, taps: int(kernel[0] * kernel[1] * kernel[2])}
	// An axis has as many planes as different remainders of its taps.
	planes, dilation := int64(1), window.Spatial(w.Dilation, w.Axes, 1)
	for axis := range kernel {
		planes *= min(kernel[axis], j.Step[axis]/common(dilation[axis], j.Step[axis]))
	}
	if narrow {
		p.tiling = planWinograd(f, &p.grid, w)
	}
	j.addPhase(p, planes)
}

// flattenSingle makes one line of each plane where the kernel has one element, and windows see all elements in their order.
func (j *Convolving[T]) flattenSingle(kernel [op.MaxSpatial]int64) {
	if kernel == window.UnitSteps && j.Step == window.UnitSteps && j.Taps[0] == [op.MaxSpatial]int64{} && j.In.Dims == j.out.Dims && j.In.Flat() && j.out.Flat() {
		j.In.Flatten()
		j.out.Flatten()
	}
}

// common is the greatest common divisor.
func common(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// planBack is the plan of conv_transpose. Element first + at*stride of the result sees element k of the kernel over
// element at + (first + before - k*dilation) / stride of the image, where that is a whole number.
//
// The weights of all phases together are as many as the operand has: on each axis an element of the kernel belongs to the
// one phase in which its distance is a multiple of the stride. They are arranged on one thread, which is a pass over the
// weight, a small part of the work for all but the smallest images. Where strides are longer than kernels, most elements of
// the result belong to no phase, and are zero.
func planBack[T float32 | float64](j *Convolving[T], w *op.Windows) {
	j.work = phased[T]{j}
	j.Rows = j.out.Channels / j.Groups
	stride, kernel := window.Spatial(w.Stride, w.Axes, 1), window.Spatial(w.Kernel, w.Axes, 1)
	dilation, before := window.Spatial(w.Dilation, w.Axes, 1), window.Spatial(w.Before, w.Axes, 0)
	var classes [op.MaxSpatial][]class
	covered, all := int64(1), int64(1)
	var number [op.MaxSpatial]int64
	for axis := range classes {
		classes[axis] = classesOf(kernel[axis], dilation[axis], before[axis], stride[axis], j.out.Dims[axis])
		number[axis] = int64(len(classes[axis]))
		covered, all = covered*number[axis], all*min(stride[axis], j.out.Dims[axis])
	}
	if covered < all {
		j.out.Clear()
	}
	room := j.reserve(int64(len(j.other)))
	each(&number, func(i [op.MaxSpatial]int64) {
		p := convPhase[T]{step: stride, from: len(j.Taps)}
		var seen [op.MaxSpatial]*class
		for axis := range seen {
			seen[axis] = &classes[axis][i[axis]]
			p.first[axis] = seen[axis].first
			p.grid[axis] = (j.out.Dims[axis] - p.first[axis] + stride[axis] - 1) / stride[axis]
		}
		n := j.arrangeWeights(&p, &kernel, &seen, room)
		p.raw, room = room[:n], room[n:]
		j.addPhase(p, 1)
	})
}

// class is, on one axis, the elements of the kernel that the windows of a phase see, and where in the image they see them.
type class struct {
	first    int64 // of the result
	elements []int64
	taps     []int64
}

// classesOf are the classes of an axis that has size elements in the result; each element of the kernel is in one at most.
func classesOf(kernel, dilation, before, stride, size int64) (all []class) {
	number := map[int64]int{}
	for k := range kernel {
		first := ((k*dilation-before)%stride + stride) % stride
		if first >= size {
			continue
		}
		i, ok := number[first]
		if !ok {
			i = len(all)
			number[first] = i
			all = append(all, class{first: first})
		}
		all[i].elements = append(all[i].elements, k)
		all[i].taps = append(all[i].taps, (first+before-k*dilation)/stride)
	}
	return all
}

// arrangeWeights notes the taps of a phase and writes its matrices, whose elements it counts. A row of them is an input
// channel of the convolution that is transposed, and a column one of its output channels and a tap.
func (j *Convolving[T]) arrangeWeights(p *convPhase[T], kernel *[op.MaxSpatial]int64, seen *[op.MaxSpatial]*class, to []T) int64 {
	var number [op.MaxSpatial]int64
	for axis := range seen {
		number[axis] = int64(len(seen[axis].taps))
	}
	var elements []int64
	each(&number, func(i [op.MaxSpatial]int64) {
		j.Taps = append(j.Taps, [op.MaxSpatial]int64{seen[0].taps[i[0]], seen[1].taps[i[1]], seen[2].taps[i[2]]})
		elements = append(elements, (seen[0].elements[i[0]]*kernel[1]+seen[1].elements[i[1]])*kernel[2]+seen[2].elements[i[2]])
	})
	p.taps = len(elements)
	n, size := int64(0), window.Volume(kernel)
	for g := range j.Groups {
		for row := range j.Rows {
			for c := range j.Channels {
				from := j.other[((g*j.Channels+c)*j.Rows+row)*size:]
				for _, k := range elements {
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

// With AVX-512, weights of float32 are read where they lie. Else they are packed on the thread of the caller, which is a pass over
// them. In a program they are mostly constants, which were packed when it was compiled; where they are not, as in training, there
// are many images to use them on.

// addPhase packs the weights of a phase, where that is needed, and cuts it into pieces: strips of images, for each group. A phase without windows
// has no part in the work.
func (j *Convolving[T]) addPhase(p convPhase[T], planes int64) {
	if window.Volume(&p.grid)*j.out.Batch*j.Rows == 0 {
		return
	}
	terms := j.Channels * int64(p.taps)
	p.weights, p.perGroup, p.perTerm = p.raw, j.Rows*terms, 1
	if isPacked[T](j.Rows) {
		p.perGroup, p.perTerm = int64(gemm.LeftSize[T](int(j.Rows), int(terms))), int64(gemm.PanelRows[T]())
		if p.weights = j.conv.known; p.weights == nil {
			p.weights = j.reserve(j.Groups * p.perGroup)
			for g := range j.Groups {
				packLeft(p.weights[g*p.perGroup:], p.raw[g*j.Rows*terms:], j.Rows, terms)
			}
		}
	}
	j.cut(&p, planes)
	j.cutRows(&p, j.threads)
	j.phases = append(j.phases, p)
	j.pieces += p.strips.pieces(j.out.Batch) * j.Groups * p.strips.parts
}

// phased is a call as work that is cut into strips of its phases.
type phased[T float32 | float64] struct{ *Convolving[T] }

// Pieces are numbered phase by phase, and in a phase group by group, image by image and strip by strip, so that neighbouring
// pieces use the same weights, and last by parts of the rows. Parts of one strip that a thread has are computed together.

// Part does pieces lo to hi-1, counted through all phases.
func (j phased[T]) Part(_ *device.Call, lo, hi int64) error {
	pool := window.ScratchPool[T]()
	s := pool.Get().(*window.Scratch[T])
	defer pool.Put(s)
	b := j.epilogue.Begin()
	defer j.epilogue.End(b)
	tile := int64(gemm.PanelRows[T]())
	if tile == 1 {
		tile = partRows
	}
	for i := range j.phases {
		p := &j.phases[i]
		each, parts := p.strips.pieces(j.out.Batch), p.strips.parts // of one group
		n := each * j.Groups * parts
		for at := max(lo, 0); at < min(hi, n); {
			piece, part := at/parts, at%parts
			end := min(min(hi, n)-at+part, parts)
			at += end - part
			rows := between{p.strips.firstRow(part, j.Rows, tile), p.strips.firstRow(end, j.Rows, tile)}
			ok, group := false, piece/each
			if p.strips.gathered {
				ok = j.block(p, group, piece%each, rows, s)
			} else {
				ok = j.piece(p, group, piece%each/p.strips.count, piece%p.strips.count, rows, s)
			}
			if !ok {
				return window.Misfit()
			}
			if err := j.finish(p, group, piece%each, rows, b); err != nil {
				return err
			}
		}
		lo, hi = lo-n, hi-n
	}
	return nil
}

// between is a range of rows of the product of a group.
type between struct{ from, to int64 }

// finish runs the epilogue on the windows of a piece of a group: those of a strip, which are neighbours in one image, or those
// of a block, which may be of several.
func (j phased[T]) finish(p *convPhase[T], group, piece int64, rows between, b *fusion.Blocks) error {
	if b == nil {
		return nil
	}
	plane := window.Volume(&p.grid)
	first, n := int64(0), int64(0) // counted through all images
	if st := &p.strips; st.gathered {
		first = piece * st.length
		n = min(st.length, plane*j.out.Batch-first)
	} else {
		grid, at := st.part(p.grid, piece%st.count)
		n = window.Volume(&grid)
		first = piece/st.count*plane + at*(n/grid[st.along])
	}
	for n > 0 {
		img, at := first/plane, first%plane
		here := min(n, plane-at)
		if err := j.epilogue.Rows(b, (img*j.out.Channels+group*j.Rows+rows.from)*plane+at, rows.to-rows.from, plane, here); err != nil {
			return err
		}
		first, n = first+here, n-here
	}
	return nil
}

// weightsAt are the weights of a row and the rows behind it in a group, from a term on.
func (j phased[T]) weightsAt(p *convPhase[T], group, row, term int64) []T {
	return p.weights[group*p.perGroup+row*j.Channels*int64(p.taps)+term*p.perTerm:]
}

// piece computes some rows of a strip of one image and one group, some channels at a time: it multiplies into the result where the strip
// lies in one line of it, and else into scratch memory.
func (j phased[T]) piece(p *convPhase[T], group, img, strip int64, rows between, s *window.Scratch[T]) bool {
	st := &p.strips
	grid, first := st.part(p.grid, strip)
	n, number := st.span(&grid), rows.to-rows.from
	channel := group*j.Rows + rows.from
	// Sums go straight into the result where its lines are those of the strip: then a channel is a row of the product, and
	// perChannel is the distance of rows.
	straight := p.step == window.UnitSteps && p.grid == j.out.Dims && j.out.Flat() && j.out.PerChannel >= n && n == window.Volume(&grid)
	var sums []T
	ld := n
	if straight {
		ld = j.out.PerChannel
		begin := j.out.At(img, channel) + first*j.out.Strides[st.along]
		sums = j.out.Data[begin : begin+(number-1)*ld+n]
	} else {
		s.Sums = window.Grown(s.Sums, number*n)
		sums = s.Sums
	}
	if !j.tiled(p, group, img, first, &grid, rows, sums, n, ld, s) {
		return false
	}
	for row := int64(0); row < number && !straight; row++ {
		j.store(p, sums[row*n:][:n], j.out.At(img, channel+row), first, &grid)
	}
	return true
}

// tiled computes sums of a piece: in tiles, where its phase is computed so, but for rows that are not finite then. Which rows these are
// does not depend on how the rows of a strip are cut.
func (j phased[T]) tiled(p *convPhase[T], group, img, first int64, grid *[op.MaxSpatial]int64, rows between, sums []T, n, ld int64, s *window.Scratch[T]) bool {
	f, narrow := any(j.Convolving).(*Convolving[float32])
	if !narrow || !p.tiling.on || j.sizes.uneven[img*j.Groups+group] {
		return j.definition(p, group, img, first, grid, rows, sums, n, ld, s)
	}
	again, ok := winogradCall{f}.strip(any(p).(*convPhase[float32]), group, img, first, grid, rows, floats(sums), ld, any(s).(*window.Scratch[float32]))
	for ok && len(again) > 0 {
		block := rows.around(again[0])
		whole := make([]T, (block.to-block.from)*ld)
		ok = j.definition(p, group, img, first, grid, block, whole, n, ld, s)
		for ; len(again) > 0 && rows.from+again[0] < block.to; again = again[1:] {
			copy(sums[again[0]*ld:][:n], whole[(rows.from+again[0]-block.from)*ld:])
		}
	}
	return ok
}

// around is a block of rows that has number n of them, and as many as a tile at least: a product of few rows cannot read several lines.
func (b between) around(n int64) between {
	rows := rowsTogether()
	last := max((b.to-b.from)/rows-1, 0)
	block := min(n/rows, last)
	from := b.from + block*rows
	if block == last {
		return between{from, b.to}
	}
	return between{from, from + rows}
}

// rowsTogether is a number of rows that fill tiles, and of which none is packed beside one of others.
func rowsTogether() int64 {
	if side := int64(gemm.PanelRows[float32]()); side > 1 {
		return 2 * side
	}
	return rowMultiple
}

// definition computes sums of rows of a piece term by term.
func (j phased[T]) definition(p *convPhase[T], group, img, first int64, grid *[op.MaxSpatial]int64, rows between, sums []T, n, ld int64, s *window.Scratch[T]) bool {
	st, number := &p.strips, rows.to-rows.from
	width, pitch := n, n
	if st.exact && grid[1] > 1 {
		width, pitch = grid[2], st.strides[1]
	}
	for row := int64(0); row < number && j.Channels == 0; row++ {
		clear(sums[row*ld:][:n])
	}
	// The channels are added in their order, whatever number of them fits a strip: the sums are the same.
	terms := j.Channels * int64(p.taps)
	for from := int64(0); from < j.Channels; from += st.channels {
		channels := min(st.channels, j.Channels-from)
		image, ok := j.strip(p, img, group*j.Channels+from, channels, first, grid, s)
		offsets := j.offsets[st.from:][:channels*int64(p.taps)]
		weights := j.weightsAt(p, group, rows.from, from*int64(p.taps))
		if !ok || !gemm.AddGridAtOffsets(sums, weights, image, offsets, int(number), int(n), int(terms), int(ld), int(width), int(pitch), from == 0) {
			return false
		}
	}
	return true
}

// The terms of a block are gathered some at a time and added in their order, so that a block has the sums of a strip.

// block computes some rows of a block of gathered windows of one group.
func (j phased[T]) block(p *convPhase[T], group, block int64, rows between, s *window.Scratch[T]) bool {
	st := &p.strips
	first := block * st.length
	n := min(st.length, window.Volume(&p.grid)*j.out.Batch-first)
	begin := window.CursorAt(&p.grid, first)
	terms, number := j.Channels*int64(p.taps), rows.to-rows.from
	if s.Sums = window.Grown(s.Sums, number*n); terms == 0 {
		clear(s.Sums)
	}
	for from := int64(0); from < terms; from += blockTerms * 4 {
		offsets := j.offsets[st.from:][:min(gatheredTerms, terms-from)]
		s.Columns = window.Grown(s.Columns, int64(len(offsets))*st.length+slack)
		for i := range offsets {
			term := from + int64(i)
			tap, channel := &j.Taps[p.from+int(term%int64(p.taps))], group*j.Channels+term/int64(p.taps)
			j.In.Gather(s.Columns[offsets[i]:][:n], begin, &p.grid, &j.Step, tap, channel)
		}
		if !gemm.AddAtOffsets(s.Sums, j.weightsAt(p, group, rows.from, from), s.Columns, offsets, int(number), int(n), int(terms), int(n), from == 0) {
			return false
		}
	}
	for row := range number {
		j.out.Scatter(s.Sums[row*n:][:n], begin, &p.grid, &p.first, &p.step, group*j.Rows+rows.from+row)
	}
	return true
}

// A phase of conv_transpose has every stride-th element of the result, and a view may have any strides, so that rows are
// written element by element in those cases, and copied in all others.

// store writes one channel of a strip into the result, where it begins at index to. Each element is written once, by one
// thread.
func (j phased[T]) store(p *convPhase[T], sums []T, to, first int64, grid *[op.MaxSpatial]int64) {
	const last = op.MaxSpatial - 1
	stride := p.step[last] * j.out.Strides[last]
	for axis := range op.MaxSpatial {
		at := p.first[axis]
		if axis == p.strips.along {
			at += first * p.step[axis]
		}
		to += at * j.out.Strides[axis]
	}
	lines := p.strips.strides
	if p.strips.exact {
		lines = [op.MaxSpatial]int64{grid[1] * grid[2], grid[2], 1}
	}
	for a := range grid[0] {
		for b := range grid[1] {
			row := sums[a*lines[0]+b*lines[1]:][:grid[last]]
			at := to + a*p.step[0]*j.out.Strides[0] + b*p.step[1]*j.out.Strides[1]
			if stride == 1 {
				window.CopyShort(j.out.Data[at:][:len(row)], row)
				continue
			}
			for _, v := range row {
				j.out.Data[at] = v
				at += stride
			}
		}
	}
}
