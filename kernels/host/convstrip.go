package host

import "github.com/paddle-mps/paddle-mps/core/op"

// A strip is a part of an image, padded, with the planes of its channels one behind the other. What the windows see of a
// channel at one element of the kernel is then one run of a plane, from an offset on: window after window, line after
// line, with some elements in between that belong to no window, where lines of a plane are longer than those of the grid.
// Their sums are computed and dropped.
//
// With a stride, a plane has only every stride-th element, and a channel has as many planes as the elements of the kernel
// begin at: windows that are neighbours see neighbours in each.
//
// Where planes would have more elements than the windows see, as with long dilations, each element of the kernel has a
// plane of its own.
//
// Strips are as long as fits the second-level cache, and of as many channels. Where no padding is needed, an image is its own
// strip.

// strips is how images are cut for a phase.
type strips struct {
	along    int                  // the axis that is cut
	length   int64                // of a strip on that axis, in windows
	count    int64                // of one image
	from     int                  // its part of the offsets, one for each tap of the channels of a strip
	begin    int                  // its planes
	planes   int                  // and how many there are: where they begin in the image, relative to low
	low      [op.MaxSpatial]int64 // the least tap
	dims     [op.MaxSpatial]int64 // of a plane
	strides  [op.MaxSpatial]int64
	size     int64 // of a plane
	channels int64 // that are copied at a time
	apart    bool  // each tap has a plane of its own
	inPlace  bool
}

// part is the grid of a strip and its first window on the axis that is cut.
func (s *strips) part(grid [op.MaxSpatial]int64, strip int64) (part [op.MaxSpatial]int64, first int64) {
	first = strip * s.length
	grid[s.along] = min(s.length, grid[s.along]-first)
	return grid, first
}

// span is the number of elements of a plane from the first window to the last.
func (s *strips) span(grid *[op.MaxSpatial]int64) int64 {
	n := int64(1)
	for axis := range grid {
		n += (grid[axis] - 1) * s.strides[axis]
	}
	return n
}

// at is the index of the first element of a channel.
func (im *image[T]) at(img, channel int64) int64 {
	return im.origin + img*im.perImage + channel*im.perChannel
}

// A strip has some hundred windows, so that a row of the weights is used often, and more where a kernel sees one channel
// only and is done with it at once. There are several strips for each thread where that leaves enough in each.
const (
	stripWindows  = 512
	aloneWindows  = 4096
	leastWindows  = 64
	stripElements = 1 << 16 // of float32: a half of the second-level cache
	wantedPieces  = 8
)

// cut decides how images are cut for a phase, and notes the offsets of its taps.
func (j *convolving[T]) cut(p *convPhase[T]) {
	s := &p.strips
	taps := j.taps[p.from:][:p.taps]
	s.low = leastTap(taps)
	most := j.shifts(s, taps)
	if windows, size := volume(&p.grid), volume(&most, &p.grid); size*float64(s.planes) > windows*float64(p.taps) {
		s.apart = true
		most = j.shifts(s, taps)
	}
	for s.along < op.MaxSpatial-1 && p.grid[s.along] == 1 {
		s.along++
	}
	s.inPlace = j.step == neighbours && s.low == [op.MaxSpatial]int64{} && j.in.flat() && j.in.perChannel >= 0
	for axis := range most {
		s.inPlace = s.inPlace && !s.apart && p.grid[axis]+most[axis] <= j.in.dims[axis]
	}
	j.lengthen(p, &most)
	s.dims = p.grid
	s.dims[s.along] = s.length
	for axis := range most {
		s.dims[axis] += most[axis]
	}
	s.strides = [op.MaxSpatial]int64{s.dims[1] * s.dims[2], s.dims[2], 1}
	s.size = s.dims[0] * s.strides[0]
	perChannel := s.size * int64(s.planes)
	s.channels = min(max(2*stripElements/max(perChannel, 1), 1), j.channels)
	if s.inPlace {
		s.strides, perChannel, s.channels = j.in.strides, j.in.perChannel, j.channels
	}
	s.from = len(j.offsets)
	for i := range taps {
		plane, shift := j.place(s, &taps[i])
		number := i
		if !s.apart {
			number = j.planeOf(s, &plane)
		}
		at := int64(number) * s.size
		for axis := range shift {
			at += shift[axis] * s.strides[axis]
		}
		j.offsets = append(j.offsets, int(at))
	}
	for c := int64(1); c < s.channels; c++ {
		for _, at := range j.offsets[s.from:][:p.taps] {
			j.offsets = append(j.offsets, at+int(c*perChannel))
		}
	}
}

// With stride s, element low + i of a channel is number i / s of plane i % s. A tap is a distance i of that kind, from the
// first element that any tap sees: its plane is the remainder, and its shift in the plane the quotient.

// shifts finds the planes that the taps see, and how far the last one is shifted on each axis.
func (j *convolving[T]) shifts(s *strips, taps [][op.MaxSpatial]int64) (most [op.MaxSpatial]int64) {
	j.planes, s.begin, s.planes = j.planes[:len(j.planes)-s.planes], len(j.planes)-s.planes, 0
	for i := range taps {
		plane, shift := j.place(s, &taps[i])
		for axis := range most {
			most[axis] = max(most[axis], shift[axis])
		}
		if s.apart || j.planeOf(s, &plane) < 0 {
			j.planes = append(j.planes, plane)
			s.planes++
		}
	}
	return most
}

// place is where a tap sees a channel: which plane, and shifted by how much.
func (j *convolving[T]) place(s *strips, tap *[op.MaxSpatial]int64) (plane, shift [op.MaxSpatial]int64) {
	for axis := range tap {
		plane[axis] = tap[axis] - s.low[axis]
		if !s.apart {
			plane[axis], shift[axis] = plane[axis]%j.step[axis], plane[axis]/j.step[axis]
		}
	}
	return plane, shift
}

// volume is the product of sums of sizes. Dilations may be so long that it is no int64.
func volume(sizes ...*[op.MaxSpatial]int64) float64 {
	v := 1.0
	for axis := range op.MaxSpatial {
		sum := 0.0
		for _, s := range sizes {
			sum += float64(s[axis])
		}
		v *= sum
	}
	return v
}

// leastTap is the least index on each axis.
func leastTap(taps [][op.MaxSpatial]int64) (low [op.MaxSpatial]int64) {
	for i := range taps {
		for axis := range low {
			if i == 0 || taps[i][axis] < low[axis] {
				low[axis] = taps[i][axis]
			}
		}
	}
	return low
}

// planeOf is the number of a plane among those of a phase; -1 for one that is not there.
func (j *convolving[T]) planeOf(s *strips, plane *[op.MaxSpatial]int64) int {
	for i, p := range j.planes[s.begin:][:s.planes] {
		if p == *plane {
			return i
		}
	}
	return -1
}

// The length of a strip follows from the shapes alone, and not from the number of threads: a strip is the same work on every
// machine, and the same memory.

// lengthen decides how long strips are.
func (j *convolving[T]) lengthen(p *convPhase[T], most *[op.MaxSpatial]int64) {
	s := &p.strips
	line, plane := int64(1), int64(1) // windows of a strip of length 1, and elements of a plane of length 1
	for axis := s.along + 1; axis < op.MaxSpatial; axis++ {
		line *= p.grid[axis]
		plane *= p.grid[axis] + most[axis]
	}
	want := int64(stripWindows)
	if j.channels == 1 {
		want = aloneWindows
	}
	length := max(want/line, 1)
	if !s.inPlace {
		length = min(length, max(stripElements/max(plane*j.channels*int64(s.planes), 1)-most[s.along], 1))
	}
	whole := p.grid[s.along]
	if others := j.out.batch * j.groups; others < wantedPieces {
		share := (whole + wantedPieces/others - 1) / (wantedPieces / others)
		length = min(length, max(share, (leastWindows+line-1)/line))
	}
	length = min(length, whole)
	s.count = (whole + length - 1) / length
	s.length = (whole + s.count - 1) / s.count
	s.count = (whole + s.length - 1) / s.length
}

// strip is the strip of windows first to first+grid-1 of the axis that is cut, in some channels: a part of the image itself,
// or a padded copy in scratch memory.
func (j *phased[T]) strip(p *convPhase[T], img, channel, channels, first int64, grid *[op.MaxSpatial]int64, s *scratch[T]) ([]T, bool) {
	st := &p.strips
	if st.inPlace {
		begin := j.in.at(img, channel) + first*j.in.strides[st.along]
		if begin < 0 || begin > int64(len(j.in.data)) {
			return nil, false
		}
		return j.in.data[begin:], true
	}
	need := st.dims
	need[st.along] += grid[st.along] - st.length
	perChannel := st.size * int64(st.planes)
	s.columns = grown(s.columns, channels*perChannel+slack)
	for c := range channels {
		for i, plane := range j.planes[st.begin:][:st.planes] {
			for axis := range plane {
				plane[axis] += st.low[axis]
			}
			plane[st.along] += first * j.step[st.along]
			j.in.padded(s.columns[c*perChannel+int64(i)*st.size:], j.in.at(img, channel+c), &need, &st.strides, &plane, &j.step)
		}
	}
	return s.columns, true
}

// slack is how far behind a strip tiles read.
const slack = 64

// This is where padding, strides and layouts end: what comes after sees lines of neighbours.

// padded copies a plane of dims elements: index from + at*step on each axis, 0 where that is outside. The channel begins
// at index line.
func (im *image[T]) padded(to []T, line int64, dims, strides, from, step *[op.MaxSpatial]int64) {
	const last = op.MaxSpatial - 1
	for a := range dims[0] {
		i := from[0] + a*step[0]
		for b := range dims[1] {
			row := to[a*strides[0]+b*strides[1]:][:dims[last]]
			k := from[1] + b*step[1]
			if i < 0 || i >= im.dims[0] || k < 0 || k >= im.dims[1] {
				clear(row)
				continue
			}
			im.line(row, line+i*im.strides[0]+k*im.strides[1], from[last], step[last])
		}
	}
}

// roundTo is n rounded up to a multiple.
func roundTo(n, multiple int64) int64 { return (n + multiple - 1) / multiple * multiple }
