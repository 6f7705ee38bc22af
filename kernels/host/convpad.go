package host

import (
	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// What a window sees of a line of the image is a run of channels. Neighbouring windows of a line see runs of the same lines, each a
// stride further on than the one before. These runs are the rows of a left operand that overlap: a product reads them where they
// lie, instead of copies side by side, of which a kernel of 3 x 3 needs nine for each element. Where windows see what is outside
// of the image, a piece of the work pads the lines that its windows see in scratch memory, and else they lie in the image. A kernel of
// one element with a stride of 1 sees an image as one line. Planes of a volume are added one after the other, and so are the columns
// of a kernel whose lines have gaps.

const (
	leastRows   = 98      // windows of a piece: so many use what has been read of the weight; a multiple of the rows of a tile
	rowMultiple = 14      // the rows of a tile
	rowResults  = 1 << 16 // elements of the result of a piece, about: a quarter of the second-level cache
	paddedStrip = 1 << 16 // elements of the padded lines of a piece, about
	readStrip   = 1 << 17 // of the lines where they lie in the image
)

// padCut says which lines a piece has.
type padCut struct {
	inPlace  bool  // windows read the image where it lies
	three    bool  // three channels are interleaved
	windows  int64 // of a line of the result
	whole    int64 // lines of a plane of the result
	lines    int64 // of a piece
	perPlane int64 // pieces of lines
	columns  int64 // channels of the result of a piece
	parts    int64 // pieces of the same lines
	deep     int64 // planes of the kernel
	kernel   int64 // lines of it
	apart    int64 // distance of these in the image
	across   int64 // columns of the kernel that are added one after the other
	between  int64 // elements from one to the next
	run      int64 // elements that a window sees of a line at once
	length   int64 // elements of a line that is read, from which the next begins
	step     int64 // lines from one of the result to the next
}

// planLines is the plan of a conv whose windows read lines. How a result is cut depends on shapes alone.
func planLines(j *convolving[float32], w *op.Windows) {
	j.work = lined{j}
	j.rows = j.out.channels
	kernel := j.noteTaps(w)
	p := &j.byPads
	dilation := spatial(w.Dilation, w.Axes, 1)
	*p = padCut{
		windows: j.out.dims[2], whole: j.out.dims[1], step: j.step[1],
		deep: kernel[0], kernel: kernel[1], apart: dilation[1], across: 1, between: dilation[2] * j.channels, run: kernel[2] * j.channels,
	}
	if dilation[2] > 1 {
		p.across, p.run = kernel[2], j.channels
	}
	p.three = !isLast(&j.all[left])
	planes, strip := j.out.batch*j.out.dims[0], int64(paddedStrip)
	p.length = ((p.windows-1)*j.step[2] + (kernel[2]-1)*dilation[2] + 1) * j.channels
	if p.inPlace = j.inside(); p.inPlace {
		strip, p.length = readStrip, j.in.dims[2]*j.channels
		if len(j.taps) == 1 && j.step == neighbours && j.in.dims == j.out.dims {
			p.windows, p.whole, p.length, planes = 1, planes*p.whole*p.windows, j.channels, 1
		}
	}
	p.lines = min(rowResults/(p.windows*j.rows), strip/(p.length*p.step), (p.whole*planes+wantedPieces-1)/wantedPieces)
	p.lines = min(max(p.lines, (leastRows+p.windows-1)/p.windows), p.whole)
	p.perPlane = (p.whole + p.lines - 1) / p.lines
	p.lines = (p.whole + p.perPlane - 1) / p.perPlane
	if p.windows == 1 {
		p.lines = roundTo(p.lines, rowMultiple)
	}
	p.perPlane = (p.whole + p.lines - 1) / p.lines
	// Where there are few pieces, as at the end of a network, they are cut along the channels too, so that each thread has some.
	_, width := vec.MatMulTile[float32]()
	pieces := planes * p.perPlane
	p.parts = max((wantedPieces+pieces/2)/pieces, 1)
	p.columns = roundTo((j.rows+p.parts-1)/p.parts, int64(width))
	p.parts = (j.rows + p.columns - 1) / p.columns
	j.pieces = pieces * p.parts
}

// inside reports whether no window sees what is outside of the image, which has its channels last.
func (j *convolving[T]) inside() bool {
	if !isLast(&j.all[left]) {
		return false
	}
	low, high := bounds(j.taps)
	for axis, n := range j.out.dims {
		if low[axis] < 0 || (n-1)*j.step[axis]+high[axis] >= j.in.dims[axis] {
			return false
		}
	}
	return true
}

// lined is a call as work that is cut into lines of windows, and those into channels where there are few.
type lined struct{ *convolving[float32] }

// Lines that two pieces see are padded by both: a piece has many lines where its image is small, and else the product takes much
// longer than the copy. Pieces of the same lines are multiplied together where one thread has them. The order of a sum is over the
// lines of the kernel, in each over its elements, and for each over the channels.

// part computes pieces lo to hi-1.
func (j lined) part(_ *device.Call, lo, hi int64) error {
	pool := scratchPool[float32]()
	s := pool.Get().(*scratch[float32])
	defer pool.Put(s)
	b := j.epilogue.begin()
	defer j.epilogue.end(b)
	p := &j.byPads
	for lo < hi {
		block, part := lo/p.parts, lo%p.parts
		end := min(hi-lo+part, p.parts) // of the parts
		from, to := part*p.columns, min(end*p.columns, j.rows)
		plane, line := block/p.perPlane, block%p.perPlane*p.lines
		lines := min(p.lines, p.whole-line)
		first := (plane*p.whole+line)*p.windows*j.rows + from
		w := vec.Windows{
			Lines: int(lines), PerLine: int(p.windows), Line: int(p.step * p.length), Step: int(j.step[2] * j.channels),
			Runs: int(p.kernel), Run: int(p.run), Apart: int(p.apart * p.length),
		}
		for z := range p.deep {
			seen := j.lines(s, plane, z, line, lines)
			for x := range p.across {
				term := (z*p.across + x) * p.kernel * p.run
				if !j.conv.right.AddWindows(j.out.data[first:], seen[x*p.between:], w, int(term), int(from), int(to-from), int(j.rows), term == 0) {
					return misfit()
				}
			}
		}
		if err := j.epilogue.rows(b, first, lines*p.windows, j.rows, to-from); err != nil {
			return err
		}
		lo += end - part
	}
	return nil
}

// lines are what windows see of plane z of the kernel, from the first line of a plane of the result on: the image, or padded lines.
func (j lined) lines(s *scratch[float32], plane, z, line, lines int64) []float32 {
	p, im := &j.byPads, &j.in
	tap := &j.taps[z*int64(len(j.taps))/p.deep] // the first that a window sees
	image, a := plane/j.out.dims[0], plane%j.out.dims[0]*j.step[0]+tap[0]
	if p.inPlace {
		return im.data[(image*im.dims[0]+a)*im.dims[1]*im.dims[2]*im.channels+(line*p.step+tap[1])*p.length+tap[2]*im.channels:]
	}
	j.pad(s, image, a, line*p.step, (lines-1)*p.step+(p.kernel-1)*p.apart+1)
	return s.columns
}

// pad fills s.columns with lines of plane a of an image, which windows see from line first on.
func (j lined) pad(s *scratch[float32], image, a, first, lines int64) {
	im, length := &j.in, j.byPads.length
	s.columns = grown(s.columns, lines*length)
	tap := &j.taps[0] // the first, whose line and element are those of all planes
	// What is left and right of the image is the same in all lines, and in all channels.
	low := min(max(-tap[2], 0)*j.channels, length) // elements of a line that are inside
	high := max(min((im.dims[2]-tap[2])*j.channels, length), low)
	for i := range lines {
		to, b := s.columns[i*length:][:length], first+tap[1]+i
		if a < 0 || a >= im.dims[0] || b < 0 || b >= im.dims[1] {
			clear(to)
			continue
		}
		clear(to[:low])
		clear(to[high:])
		if inside := to[low:high]; len(inside) > 0 {
			at := im.at(image, 0) + a*im.strides[0] + b*im.strides[1] + (low/j.channels+tap[2])*im.strides[2]
			if !j.byPads.three {
				copy(inside, im.data[at:])
				continue
			}
			n, b, c := int64(len(inside))/3, at+im.perChannel, at+2*im.perChannel
			vec.Interleave3(inside, im.data[at:][:n], im.data[b:][:n], im.data[c:][:n])
		}
	}
}

// The first image of a network has its channels first, and three of them: they are interleaved where lines are padded.

// threeLines reports whether an image has three channels, of whose lines the elements are neighbours.
func threeLines(o *device.Operand) bool {
	return o.Dims[1] == 3 && o.Strides[o.Rank-1] == 1
}
