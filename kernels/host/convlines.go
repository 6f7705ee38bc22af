package host

import (
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
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
	on     bool
	phase  convPhase[T] // its strips are the planes of a copy
	images int64        // that are multiplied at a time
	lines  int64        // of each of them
}

// cutLines decides whether and how a call takes lines. It depends on shapes and strides alone.
func cutLines(j *convolving[float32]) {
	c, y, grid := &j.cutInLines, &j.seen, &j.seen.dims
	*c = lineCut[float32]{}
	if len(j.taps) == 1 && j.taps[0] == [op.MaxSpatial]int64{} && j.step == neighbours && j.in.dims == y.dims && j.in.flat() && y.flat() {
		j.in.flatten() // windows see all elements in their order: one line
		y.flatten()
	}
	if !vec.HasLineDots() || j.rows < vec.LineRows || grid[0] != 1 || grid[2] < leastLine {
		return
	}
	if y.strides[2] != 1 || min(y.strides[1], y.perChannel, y.perImage) < 0 || volumeOf(grid)*j.in.batch*j.channels == 0 {
		return
	}
	// The planes are those of one strip that has all lines which are multiplied at a time.
	s := &c.phase.strips
	low, high := bounds(j.taps)
	var most [op.MaxSpatial]int64 // the largest shift of a plane
	s.low, s.dims = low, *grid
	s.inPlace = j.step == neighbours && low == [op.MaxSpatial]int64{} && j.in.flat() && min(j.in.perChannel, j.in.perImage) >= 0
	for axis := range most {
		most[axis] = (high[axis] - low[axis]) / j.step[axis]
		s.dims[axis] += most[axis]
		s.inPlace = s.inPlace && s.dims[axis] <= j.in.dims[axis]
	}
	// With a stride, a channel has a plane for each distance of windows at which the kernel has elements.
	planes := min(volumeOf(&j.step), int64(len(j.taps)))
	lines := float64(min(blockTerms/int64(len(j.taps))+2, j.channels)*planes) * float64(s.dims[0]) * float64(s.dims[2]) // elements of a line of all planes
	each := float64(j.rows)*float64(volumeOf(grid)) + lines*float64(s.dims[1])
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
		s.strides = j.in.strides
	}
	c.phase.taps = len(j.taps)
	j.placeTaps(&c.phase, j.taps)
	c.on = true
}

// The sum of an element takes images in their order, some at a time, and of each the lines.

// linePiece is piece for lines.
func linePiece(j *weighed[float32], share, group, first, n int64, s *scratch[float32]) bool {
	c, st, taps := &j.cutInLines, &j.cutInLines.phase.strips, int64(len(j.taps))
	channel, end := first/taps, (first+n-1)/taps+1
	perChannel := st.size * int64(st.planes)
	l := vec.Lines{Width: int(j.seen.dims[2]), StepA: int(j.seen.strides[1]), StepB: int(st.strides[1]), NextA: int(j.seen.perImage), Row: int(j.seen.perChannel)}
	l.NextB = int(perChannel * (end - channel))
	if st.inPlace {
		perChannel, l.NextB = j.in.perChannel, int(j.in.perImage)
	}
	// All channels of the copy have the same taps, a channel's planes further on.
	offsets := make([]int, n)
	for i := range offsets {
		term := first + int64(i)
		offsets[i] = int((term/taps-channel)*perChannel) + j.offsets[term%taps]
	}
	s.sums = grown(s.sums, j.rows*n)
	clear(s.sums)
	last := j.in.batch * (share + 1) / j.shares.images
	for img := j.in.batch * share / j.shares.images; img < last; img += c.images {
		for line := int64(0); line < j.seen.dims[1]; line += c.lines {
			images := min(c.images, last-img)
			l.Images, l.Count = int(images), int(min(c.lines, j.seen.dims[1]-line))
			x := lineCopy(j, img, images, group*j.channels+channel, end-channel, line, int64(l.Count), s)
			y := j.seen.data[j.seen.at(img, group*j.rows)+line*j.seen.strides[1]:]
			if !vec.AddLineDots(s.sums, y, x, offsets, int(j.rows), int(n), &l) {
				return false
			}
		}
	}
	return true
}

// A copy has the images one behind the other, in each its channels, and in each of those its planes. Padding is
// zeros, as where windows are gathered: a NaN of y is in the terms of all taps, those that see padding beside it too.

// lineCopy is what windows of some lines see in some channels of some images: the images as they are, or a padded copy.
func lineCopy(j *weighed[float32], img, images, channel, channels, line, count int64, s *scratch[float32]) []float32 {
	st := &j.cutInLines.phase.strips
	if st.inPlace {
		return j.in.data[j.in.at(img, channel)+line*j.in.strides[1]:]
	}
	// The last lines of an image may be fewer, in planes of the same size.
	need := st.dims
	need[1] += count - j.cutInLines.lines
	s.columns = grown(s.columns, images*channels*int64(st.planes)*st.size)
	to := s.columns
	for i := range images {
		for c := range channels {
			for _, plane := range j.planes[st.begin:][:st.planes] {
				for axis := range plane {
					plane[axis] += st.low[axis]
				}
				plane[1] += line * j.step[1]
				j.in.padded(to, j.in.at(img+i, channel+c), &need, &st.strides, &plane, &j.step)
				to = to[st.size:]
			}
		}
	}
	return s.columns
}
