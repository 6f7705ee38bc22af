package conv

import (
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/gemm"
	"github.com/paddle-mps/paddle-mps/kernels/host/window"
)

// A strip is a part of an image, padded, with the planes of its channels one behind the other. What the windows see of a
// channel at one element of the kernel is then one run of a plane, from an offset on: window after window, line after
// line, with some elements in between that belong to no window, where lines of a plane are longer than those of the grid.
// Their sums are computed and dropped, or, where vec has loads of parts of vectors, left out.
//
// With a stride, a plane has only every stride-th element, and a channel has as many planes as the elements of the kernel
// begin at: windows that are neighbours see neighbours in each.
//
// Strips are as long as fits the second-level cache, and of as many channels. Where no padding is needed, an image is its own
// strip.
//
// That is a waste where a strip has many more elements than windows: with kernels nearly as wide as the image, long dilations,
// and images of few windows. There rows of the matrix are gathered window by window, through all images, some at a time.

// strips is how images are cut for a phase.
type strips struct {
	gathered bool                 // rows of the matrix are copied, windows of all images one behind the other
	along    int                  // the axis that is cut
	length   int64                // of a strip on that axis, in windows; windows of a block where they are gathered
	count    int64                // of one image; of all where they are gathered
	from     int                  // its part of the offsets, one for each tap of the channels of a strip
	begin    int                  // its planes
	planes   int                  // and how many there are: where they begin in the image, relative to low
	low      [op.MaxSpatial]int64 // the least tap
	dims     [op.MaxSpatial]int64 // of a plane
	strides  [op.MaxSpatial]int64
	size     int64 // of a plane
	channels int64 // that are copied at a time
	inPlace  bool
	exact    bool  // a product has a column for each window, and none for what lies between lines of them
	parts    int64 // of the rows of the product, each of which is a piece
}

// pieces is the number of strips or blocks of one group.
func (s *strips) pieces(images int64) int64 {
	if s.gathered {
		return s.count
	}
	return s.count * images
}

// part is the grid of a strip and its first window on the axis that is cut.
func (s *strips) part(grid [op.MaxSpatial]int64, strip int64) (part [op.MaxSpatial]int64, first int64) {
	first = strip * s.length
	grid[s.along] = min(s.length, grid[s.along]-first)
	return grid, first
}

// span is the number of columns of a product: the elements of a plane from the first window to the last, or the windows.
func (s *strips) span(grid *[op.MaxSpatial]int64) int64 {
	if s.exact {
		return window.Volume(grid)
	}
	n := int64(1)
	for axis := range grid {
		n += (grid[axis] - 1) * s.strides[axis]
	}
	return n
}

// The length of a strip follows from the shapes alone, and not from the number of threads: a strip is the same work on every
// machine, and the same memory.
//
// A strip has some hundred windows, so that a row of the weights is used often, and more where a kernel sees one channel
// only and is done with it at once, or where few rows read a channel once. There are several strips for each thread where that
// leaves enough in each.
const (
	stripWindows  = 512
	aloneWindows  = 4096
	leastWindows  = 64
	exactWindows  = 192     // the same where no columns are left over, and rows can be cut too
	stripElements = 1 << 16 // of float32: a half of the second-level cache
	wantedPieces  = 8
	mostPlanes    = 64
	fewWindows    = 32  // of an image, as many as a tile has columns
	gatheredTerms = 256 // rows of the matrix that are gathered at a time
)

// cut decides how images are cut for a phase, and notes the offsets of its taps. Each channel has a number of planes.
func (j *Convolving[T]) cut(p *convPhase[T], planes int64) {
	s := &p.strips
	taps := j.Taps[p.from:][:p.taps]
	low, high := bounds(taps)
	var most [op.MaxSpatial]int64 // the largest shift of a plane
	for axis := range most {
		most[axis] = (high[axis] - low[axis]) / j.Step[axis]
	}
	for s.along < op.MaxSpatial-1 && p.grid[s.along] == 1 {
		s.along++
	}
	s.low = low
	s.inPlace = j.Step == window.UnitSteps && low == [op.MaxSpatial]int64{} && j.In.Flat() && j.In.PerChannel >= 0
	for axis := range most {
		s.inPlace = s.inPlace && p.grid[axis]+most[axis] <= j.In.Dims[axis]
	}
	line, plane := 1.0, 1.0 // windows of a strip of length 1, and elements of a plane of length 1
	for axis := s.along + 1; axis < op.MaxSpatial; axis++ {
		line *= float64(p.grid[axis])
		if s.inPlace {
			plane *= float64(j.In.Dims[axis])
		} else {
			plane *= float64(p.grid[axis] + most[axis])
		}
	}
	want, least := int64(stripWindows), int64(leastWindows)
	if j.Channels == 1 || p.taps == 1 && j.Rows < int64(gemm.LeastTileRows[T]()) {
		want = aloneWindows
	}
	s.exact = p.grid[0] == 1 && gemm.HasGrid[T](int(j.Rows), int(p.grid[op.MaxSpatial-1]))
	if s.exact && j.Rows >= 2*leastPart {
		least = exactWindows
	}
	least = (least + int64(line) - 1) / int64(line) // lines
	length := min(max(want/int64(line), 1), p.grid[s.along])
	copied := float64(planes) * float64(length+most[s.along]) * plane
	gathered := !s.exact && plane > 2*line || !s.inPlace && (planes > mostPlanes || copied > float64(p.taps)*float64(length)*line) ||
		window.Volume(&p.grid) <= fewWindows && j.out.Batch > 1
	if gathered && !p.tiling.on {
		j.gatherBlocks(p)
		return
	}
	if !s.inPlace {
		length = min(length, max(2*stripElements/(int64(plane)*planes)-most[s.along], least))
	}
	s.length = share(p.grid[s.along], length, least, j.out.Batch*j.Groups)
	if p.tiling.on {
		s.length = min(2*p.tiling.lines, p.grid[s.along])
	}
	s.count = (p.grid[s.along] + s.length - 1) / s.length
	s.dims = p.grid
	s.dims[s.along] = s.length
	for axis := range most {
		s.dims[axis] += most[axis]
	}
	s.strides = [op.MaxSpatial]int64{s.dims[1] * s.dims[2], s.dims[2], 1}
	s.size = s.dims[0] * s.strides[0]
	if s.inPlace {
		s.strides = j.In.Strides
	}
	j.placeTaps(p, taps)
}

// Gathering costs a few instructions for each element that a window sees, and strips nearly none; but its blocks have exactly
// the windows, from as many images as are needed to fill them, and bounded memory whatever the sizes are.

// gatherBlocks cuts the windows of all images into blocks.
func (j *Convolving[T]) gatherBlocks(p *convPhase[T]) {
	s := &p.strips
	s.gathered, s.inPlace, s.exact = true, false, false
	windows := window.Volume(&p.grid) * j.out.Batch
	s.length = share(windows, min(stripWindows, windows), leastWindows, j.Groups)
	s.count = (windows + s.length - 1) / s.length
	s.from = len(j.offsets)
	for row := range min(gatheredTerms, j.Channels*int64(p.taps)) {
		j.offsets = append(j.offsets, int(row*s.length))
	}
}

// Late layers of a network have few windows and many rows. Where there are not enough strips for all threads, their rows are cut: a
// piece copies its strip anew, which is a small part of its work, and neighbouring pieces of one thread are a single one.

const (
	partRows       = 7  // the least that fills a tile
	leastPart      = 28 // rows of a piece
	partsForThread = 2
)

// cutRows says how many parts the rows have on so many threads. No sum depends on it.
func (j *Convolving[T]) cutRows(p *convPhase[T], threads int) {
	s := &p.strips
	s.parts = 1
	if pieces := s.pieces(j.out.Batch) * j.Groups; p.tiling.on {
		s.parts = max(min(int64(threads)/pieces, j.Rows/leastPart), 1) // each transforms the image
	} else if threads > 1 && pieces < int64(partsForThread*threads) {
		s.parts = max(min((int64(partsForThread*threads)+pieces-1)/pieces, j.Rows/leastPart), 1)
	}
}

// firstRow is where a part of rows begins: a multiple of the rows that a tile has, or that are packed side by side.
func (s *strips) firstRow(part, rows, tile int64) int64 {
	return min((rows+tile-1)/tile*part/s.parts*tile, rows)
}

// Pieces of one axis are as equal as they can be: the last one would be alone on its thread otherwise.

// share is the length of a piece of the whole: at most length, less where there are few others, at least least.
func share(whole, length, least, others int64) int64 {
	if others < wantedPieces {
		length = min(length, max((whole+wantedPieces/others-1)/(wantedPieces/others), least))
	}
	length = max(min(length, whole), 1)
	count := (whole + length - 1) / length
	return (whole + count - 1) / count
}

// The taps of a channel are those of every other, a channel's planes further on.

// placeTaps notes the offsets of the taps, and how many channels a strip has.
func (j *Convolving[T]) placeTaps(p *convPhase[T], taps [][op.MaxSpatial]int64) {
	s := &p.strips
	s.begin, s.from = len(j.planes), len(j.offsets)
	for i := range taps {
		plane, shift := j.place(s, &taps[i])
		number := j.planeOf(s, &plane)
		if number < 0 {
			number = s.planes
			j.planes = append(j.planes, plane)
			s.planes++
		}
		at := int64(number) * s.size
		for axis := range shift {
			at += shift[axis] * s.strides[axis]
		}
		j.offsets = append(j.offsets, int(at))
	}
	perChannel := s.size * int64(s.planes)
	s.channels = min(max(2*stripElements/max(perChannel, 1), 1), j.Channels)
	if s.inPlace {
		perChannel, s.channels = j.In.PerChannel, j.Channels
	}
	for c := int64(1); c < s.channels; c++ {
		for _, at := range j.offsets[s.from:][:p.taps] {
			j.offsets = append(j.offsets, at+int(c*perChannel))
		}
	}
}

// bounds are the least and the largest index on each axis.
func bounds(taps [][op.MaxSpatial]int64) (low, high [op.MaxSpatial]int64) {
	for i := range taps {
		for axis := range low {
			if v := taps[i][axis]; i == 0 {
				low[axis], high[axis] = v, v
			} else {
				low[axis], high[axis] = min(low[axis], v), max(high[axis], v)
			}
		}
	}
	return low, high
}

// With stride s, element low + i of a channel is number i / s of plane i % s. A tap is a distance i of that kind, from the
// first element that any tap sees: its plane is the remainder, and its shift in the plane the quotient.

// place is where a tap sees a channel: which plane, and shifted by how much.
func (j *Convolving[T]) place(s *strips, tap *[op.MaxSpatial]int64) (plane, shift [op.MaxSpatial]int64) {
	for axis := range tap {
		distance := tap[axis] - s.low[axis]
		plane[axis], shift[axis] = distance%j.Step[axis], distance/j.Step[axis]
	}
	return plane, shift
}

// planeOf is the number of a plane among those of a phase; -1 for one that is not there.
func (j *Convolving[T]) planeOf(s *strips, plane *[op.MaxSpatial]int64) int {
	for i, p := range j.planes[s.begin:][:s.planes] {
		if p == *plane {
			return i
		}
	}
	return -1
}

// strip is the strip of windows first to first+grid-1 of the axis that is cut, in some channels: a part of the image itself,
// or a padded copy in scratch memory.
func (j *phased[T]) strip(p *convPhase[T], img, channel, channels, first int64, grid *[op.MaxSpatial]int64, s *window.Scratch[T]) ([]T, bool) {
	st := &p.strips
	if st.inPlace {
		begin := j.In.At(img, channel) + first*j.In.Strides[st.along]
		if begin < 0 || begin > int64(len(j.In.Data)) {
			return nil, false
		}
		return j.In.Data[begin:], true
	}
	need := st.dims
	need[st.along] += grid[st.along] - st.length
	perChannel := st.size * int64(st.planes)
	s.Columns = window.Grown(s.Columns, channels*perChannel+slack)
	for c := range channels {
		for i, plane := range j.planes[st.begin:][:st.planes] {
			for axis := range plane {
				plane[axis] += st.low[axis]
			}
			plane[st.along] += first * j.Step[st.along]
			j.In.Padded(s.Columns[c*perChannel+int64(i)*st.size:], j.In.At(img, channel+c), &need, &st.strides, &plane, &j.Step)
		}
	}
	return s.Columns, true
}

// slack is how far behind a strip tiles read.
const slack = 64

// This is where padding, strides and layouts end: what comes after sees lines of neighbours.

// roundTo is n rounded up to a multiple.
func roundTo(n, multiple int64) int64 { return (n + multiple - 1) / multiple * multiple }
