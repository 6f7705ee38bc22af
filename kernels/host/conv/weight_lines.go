package conv

import (
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/dots"
	"github.com/paddle-mps/paddle-mps/kernels/host/window"
)

// Where y lies in lines of neighbours, a term of conv_weight is the sum of their products with lines of x that begin at the tap
// of the term. Nothing is gathered: lines of y are read where they are, and those of x too, or from a padded copy, whose planes
// are those of a strip.
//
// conv drops the sums that belong to no window, and can therefore multiply a strip as one run. Here each product would be added
// to a term that counts, and zeros in y would not help: a NaN beside a line, times 0, is NaN. So each line ends where its windows
// do.

const (
	leastLine    = 8       // windows of a line: half of a vector
	lineElements = 1 << 16 // of y and the copy of x that are multiplied at a time: a quarter of the second-level cache
)

// lineCut is how a conv_weight is cut into lines; nothing of it counts unless on.
type lineCut[T any] struct {
	On     bool
	phase  convPhase[T] // its strips are the planes of a copy
	images int64        // that are multiplied at a time
	lines  int64        // of each of them
}

// CutLines decides whether and how a call takes lines. It depends on shapes and strides alone.
func CutLines(j *Convolving[float32]) {
	c, y, grid := &j.CutInLines, &j.Seen, &j.Seen.Dims
	*c = lineCut[float32]{}
	if len(j.Taps) == 1 && j.Taps[0] == [op.MaxSpatial]int64{} && j.Step == window.UnitSteps && j.In.Dims == y.Dims && j.In.Flat() && y.Flat() {
		j.In.Flatten() // windows see all elements in their order: one line
		y.Flatten()
	}
	if !dots.HasLines() || j.Rows < dots.LineRows || grid[0] != 1 || grid[2] < leastLine {
		return
	}
	if y.Strides[2] != 1 || min(y.Strides[1], y.PerChannel, y.PerImage) < 0 || window.Volume(grid)*j.In.Batch*j.Channels == 0 {
		return
	}
	// The planes are those of one strip that has all lines which are multiplied at a time.
	s := &c.phase.strips
	low, high := bounds(j.Taps)
	var most [op.MaxSpatial]int64 // the largest shift of a plane
	s.low, s.dims = low, *grid
	s.inPlace = j.Step == window.UnitSteps && low == [op.MaxSpatial]int64{} && j.In.Flat() && min(j.In.PerChannel, j.In.PerImage) >= 0
	for axis := range most {
		most[axis] = (high[axis] - low[axis]) / j.Step[axis]
		s.dims[axis] += most[axis]
		s.inPlace = s.inPlace && s.dims[axis] <= j.In.Dims[axis]
	}
	// With a stride, a channel has a plane for each distance of windows at which the kernel has elements.
	planes := min(window.Volume(&j.Step), int64(len(j.Taps)))
	lines := float64(min(blockTerms/int64(len(j.Taps))+2, j.Channels)*planes) * float64(s.dims[0]) * float64(s.dims[2]) // elements of a line of all planes
	each := float64(j.Rows)*float64(window.Volume(grid)) + lines*float64(s.dims[1])
	c.images, c.lines = max(int64(lineElements/each), 1), grid[1]
	if each > lineElements {
		c.lines = min(max(int64(lineElements/each*float64(grid[1])), 1), grid[1])
	}
	// Floats do not overflow, whatever the dilation is.
	copied := float64(c.images) * lines * float64(c.lines+most[1])
	if !s.inPlace && (planes > mostPlanes || c.lines < most[1] || s.dims[2] > 2*grid[2] || copied > 4*lineElements) {
		return // more would be copied than multiplied, or than fits the cache
	}
	s.dims[1] = c.lines + most[1]
	s.strides = [op.MaxSpatial]int64{s.dims[1] * s.dims[2], s.dims[2], 1}
	if s.size = s.dims[0] * s.strides[0]; s.inPlace {
		s.strides = j.In.Strides
	}
	c.phase.taps = len(j.Taps)
	j.placeTaps(&c.phase, j.Taps)
	c.On = true
}

// The sum of an element takes images in their order, some at a time, and of each the lines.

// linePiece is piece for lines.
func linePiece(j *weighed[float32], share, group, first, n int64, s *window.Scratch[float32]) bool {
	c, st, taps := &j.CutInLines, &j.CutInLines.phase.strips, int64(len(j.Taps))
	channel, end := first/taps, (first+n-1)/taps+1
	perChannel := st.size * int64(st.planes)
	l := dots.Lines{Width: int(j.Seen.Dims[2]), StepA: int(j.Seen.Strides[1]), StepB: int(st.strides[1]), NextA: int(j.Seen.PerImage), Row: int(j.Seen.PerChannel)}
	l.NextB = int(perChannel * (end - channel))
	if st.inPlace {
		perChannel, l.NextB = j.In.PerChannel, int(j.In.PerImage)
	}
	// All channels of the copy have the same taps, a channel's planes further on.
	offsets := make([]int, n)
	for i := range offsets {
		term := first + int64(i)
		offsets[i] = int((term/taps-channel)*perChannel) + j.offsets[term%taps]
	}
	s.Sums = window.Grown(s.Sums, j.Rows*n)
	clear(s.Sums)
	last := j.In.Batch * (share + 1) / j.shares.images
	for img := j.In.Batch * share / j.shares.images; img < last; img += c.images {
		for line := int64(0); line < j.Seen.Dims[1]; line += c.lines {
			images := min(c.images, last-img)
			l.Images, l.Count = int(images), int(min(c.lines, j.Seen.Dims[1]-line))
			x := lineCopy(j, img, images, group*j.Channels+channel, end-channel, line, int64(l.Count), s)
			y := j.Seen.Data[j.Seen.At(img, group*j.Rows)+line*j.Seen.Strides[1]:]
			if !dots.AddLines(s.Sums, y, x, offsets, int(j.Rows), int(n), &l) {
				return false
			}
		}
	}
	return true
}

// A copy has the images one behind the other, in each its channels, and in each of those its planes. Padding is
// zeros, as where windows are gathered: a NaN of y is in the terms of all taps, those that see padding beside it too.

// lineCopy is what windows of some lines see in some channels of some images: the images as they are, or a padded copy.
func lineCopy(j *weighed[float32], img, images, channel, channels, line, count int64, s *window.Scratch[float32]) []float32 {
	st := &j.CutInLines.phase.strips
	if st.inPlace {
		return j.In.Data[j.In.At(img, channel)+line*j.In.Strides[1]:]
	}
	// The last lines of an image may be fewer, in planes of the same size.
	need := st.dims
	need[1] += count - j.CutInLines.lines
	s.Columns = window.Grown(s.Columns, images*channels*int64(st.planes)*st.size)
	to := s.Columns
	for i := range images {
		for c := range channels {
			for _, plane := range j.planes[st.begin:][:st.planes] {
				for axis := range plane {
					plane[axis] += st.low[axis]
				}
				plane[1] += line * j.Step[1]
				j.In.Padded(to, j.In.At(img+i, channel+c), &need, &st.strides, &plane, &j.Step)
				to = to[st.size:]
			}
		}
	}
	return s.Columns
}
