package conv

import (
	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/gemm"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/rearrange"
	"github.com/paddle-mps/paddle-mps/kernels/host/window"
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
func planLines(j *Convolving[float32], w *op.Windows) {
	j.work = lined{j}
	j.Rows = j.out.Channels
	kernel := j.noteTaps(w)
	p := &j.byPads
	dilation := window.Spatial(w.Dilation, w.Axes, 1)
	*p = padCut{
		windows: j.out.Dims[2], whole: j.out.Dims[1], step: j.Step[1],
		deep: kernel[0], kernel: kernel[1], apart: dilation[1], across: 1, between: dilation[2] * j.Channels, run: kernel[2] * j.Channels,
	}
	if dilation[2] > 1 {
		p.across, p.run = kernel[2], j.Channels
	}
	p.three = !window.IsLast(&j.all[engine.Left])
	planes, strip := j.out.Batch*j.out.Dims[0], int64(paddedStrip)
	p.length = ((p.windows-1)*j.Step[2] + (kernel[2]-1)*dilation[2] + 1) * j.Channels
	if p.inPlace = j.inside(); p.inPlace {
		strip, p.length = readStrip, j.In.Dims[2]*j.Channels
		if len(j.Taps) == 1 && j.Step == window.UnitSteps && j.In.Dims == j.out.Dims {
			p.windows, p.whole, p.length, planes = 1, planes*p.whole*p.windows, j.Channels, 1
		}
	}
	p.lines = min(rowResults/(p.windows*j.Rows), strip/(p.length*p.step), (p.whole*planes+wantedPieces-1)/wantedPieces)
	p.lines = min(max(p.lines, (leastRows+p.windows-1)/p.windows), p.whole)
	p.perPlane = (p.whole + p.lines - 1) / p.lines
	p.lines = (p.whole + p.perPlane - 1) / p.perPlane
	if p.windows == 1 {
		p.lines = roundTo(p.lines, rowMultiple)
	}
	p.perPlane = (p.whole + p.lines - 1) / p.lines
	// Where there are few pieces, as at the end of a network, they are cut along the channels too, so that each thread has some.
	_, width := gemm.MatMulTile[float32]()
	pieces := planes * p.perPlane
	p.parts = max((wantedPieces+pieces/2)/pieces, 1)
	p.columns = roundTo((j.Rows+p.parts-1)/p.parts, int64(width))
	p.parts = (j.Rows + p.columns - 1) / p.columns
	j.pieces = pieces * p.parts
}

// inside reports whether no window sees what is outside of the image, which has its channels last.
func (j *Convolving[T]) inside() bool {
	if !window.IsLast(&j.all[engine.Left]) {
		return false
	}
	low, high := bounds(j.Taps)
	for axis, n := range j.out.Dims {
		if low[axis] < 0 || (n-1)*j.Step[axis]+high[axis] >= j.In.Dims[axis] {
			return false
		}
	}
	return true
}

// lined is a call as work that is cut into lines of windows, and those into channels where there are few.
type lined struct{ *Convolving[float32] }

// Lines that two pieces see are padded by both: a piece has many lines where its image is small, and else the product takes much
// longer than the copy. Pieces of the same lines are multiplied together where one thread has them. The order of a sum is over the
// lines of the kernel, in each over its elements, and for each over the channels.

// Part computes pieces lo to hi-1.
func (j lined) Part(_ *device.Call, lo, hi int64) error {
	pool := window.ScratchPool[float32]()
	s := pool.Get().(*window.Scratch[float32])
	defer pool.Put(s)
	b := j.epilogue.Begin()
	defer j.epilogue.End(b)
	p := &j.byPads
	for lo < hi {
		block, part := lo/p.parts, lo%p.parts
		end := min(hi-lo+part, p.parts) // of the parts
		from, to := part*p.columns, min(end*p.columns, j.Rows)
		plane, line := block/p.perPlane, block%p.perPlane*p.lines
		lines := min(p.lines, p.whole-line)
		first := (plane*p.whole+line)*p.windows*j.Rows + from
		w := gemm.Windows{
			Lines: int(lines), PerLine: int(p.windows), Line: int(p.step * p.length), Step: int(j.Step[2] * j.Channels),
			Runs: int(p.kernel), Run: int(p.run), Apart: int(p.apart * p.length),
		}
		for z := range p.deep {
			seen := j.lines(s, plane, z, line, lines)
			for x := range p.across {
				term := (z*p.across + x) * p.kernel * p.run
				if !j.conv.Right.AddWindows(j.out.Data[first:], seen[x*p.between:], w, int(term), int(from), int(to-from), int(j.Rows), term == 0) {
					return window.Misfit()
				}
			}
		}
		if err := j.epilogue.Rows(b, first, lines*p.windows, j.Rows, to-from); err != nil {
			return err
		}
		lo += end - part
	}
	return nil
}

// lines are what windows see of plane z of the kernel, from the first line of a plane of the result on: the image, or padded lines.
func (j lined) lines(s *window.Scratch[float32], plane, z, line, lines int64) []float32 {
	p, im := &j.byPads, &j.In
	tap := &j.Taps[z*int64(len(j.Taps))/p.deep] // the first that a window sees
	image, a := plane/j.out.Dims[0], plane%j.out.Dims[0]*j.Step[0]+tap[0]
	if p.inPlace {
		return im.Data[(image*im.Dims[0]+a)*im.Dims[1]*im.Dims[2]*im.Channels+(line*p.step+tap[1])*p.length+tap[2]*im.Channels:]
	}
	j.pad(s, image, a, line*p.step, (lines-1)*p.step+(p.kernel-1)*p.apart+1)
	return s.Columns
}

// pad fills s.columns with lines of plane a of an image, which windows see from line first on.
func (j lined) pad(s *window.Scratch[float32], image, a, first, lines int64) {
	im, length := &j.In, j.byPads.length
	s.Columns = window.Grown(s.Columns, lines*length)
	tap := &j.Taps[0] // the first, whose line and element are those of all planes
	// What is left and right of the image is the same in all lines, and in all channels.
	low := min(max(-tap[2], 0)*j.Channels, length) // elements of a line that are inside
	high := max(min((im.Dims[2]-tap[2])*j.Channels, length), low)
	for i := range lines {
		to, b := s.Columns[i*length:][:length], first+tap[1]+i
		if a < 0 || a >= im.Dims[0] || b < 0 || b >= im.Dims[1] {
			clear(to)
			continue
		}
		clear(to[:low])
		clear(to[high:])
		if inside := to[low:high]; len(inside) > 0 {
			at := im.At(image, 0) + a*im.Strides[0] + b*im.Strides[1] + (low/j.Channels+tap[2])*im.Strides[2]
			if !j.byPads.three {
				copy(inside, im.Data[at:])
				continue
			}
			n, b, c := int64(len(inside))/3, at+im.PerChannel, at+2*im.PerChannel
			rearrange.Interleave3(inside, im.Data[at:][:n], im.Data[b:][:n], im.Data[c:][:n])
		}
	}
}

// The first image of a network has its channels first, and three of them: they are interleaved where lines are padded.

// threeLines reports whether an image has three channels, of whose lines the elements are neighbours.
func threeLines(o *device.Operand) bool {
	return o.Dims[1] == 3 && o.Strides[o.Rank-1] == 1
}
