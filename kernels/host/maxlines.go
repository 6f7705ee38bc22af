package host

import (
	"math"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// Windows that are one or two elements apart are looked at in vectors, a window in each lane. The elements of a line of
// windows are known by their distance from the first element of the first window, which is the same for all lines of a plane
// that see as many of its lines. Windows of less than full width, at the edges, are looked at one by one.

// mostLineTaps is the number of elements of the largest window that is looked at in vectors: that many numbers are kept.
const mostLineTaps = 1 << 12

// lined reports whether maxLines is the way to go. Numbers of elements are added up in 32 bits.
func (j *pooling[T]) lined(s *poolScratch) bool {
	w, x := &j.windows, &j.x
	// Elements of a line have to be neighbours, and those of lines further on to lie behind the first.
	if w.Adaptive || w.Stride[2] > 2 || !vec.HasWindowMax() || x.strides[2] != 1 || x.strides[0] < 0 || x.strides[1] < 0 {
		return false
	}
	if w.Kernel[0] > mostLineTaps || w.Kernel[1] > mostLineTaps || w.Kernel[2] > mostLineTaps || volumeOf(&w.Kernel) > mostLineTaps || x.plane() > math.MaxInt32 {
		return false
	}
	// A window at an edge takes as long as several in a vector.
	low, high := fullWindows(s.ranges[2], w.Kernel[2])
	return 4*(high-low) >= 3*len(s.ranges[2])
}

// fullWindows are the first window of full width on an axis, and the first behind it that is not.
func fullWindows(ranges []span, width int64) (low, high int) {
	for low < len(ranges) && ranges[low].high-ranges[low].low != width {
		low++
	}
	for high = low; high < len(ranges) && ranges[high].high-ranges[high].low == width; high++ {
	}
	return low, high
}

// A line of windows is a few windows at its left edge, one by one, a run in vectors, and a few at its right edge. Taps change
// only where a line of windows sees fewer lines of the plane than the one before, at the upper and the lower edge: what they
// say is relative to the first line seen.

// maxLines is max_pool of a plane. It reports false where windows do not lie in their plane, which is a mistake of ours.
func maxLines(j *pooling[float32], img, channel int64, s *poolScratch) bool {
	f := newFrame()
	defer f.free()
	best, at := slice[float32](f.room(), block), slice[int32](f.room(), block)
	across := s.ranges[2]
	low, high := fullWindows(across, j.windows.Kernel[2])
	from, seen, taps := j.x.start(img, channel), poolRows{}, s.taps[:0]
	together := j.together(s)
	for a := range s.ranges[0] {
		for b := 0; b < len(s.ranges[1]); {
			lines := rowsOf(&s.ranges[0][a], &s.ranges[1][b])
			full, end := low, high
			if lines.fromA >= lines.toA || lines.fromB >= lines.toB {
				full, end = len(across), len(across) // all windows are empty
			} else if lines.toA-lines.fromA != seen.toA-seen.fromA || lines.toB-lines.fromB != seen.toB-seen.fromB {
				seen, taps = lines, j.tapsOf(taps[:0], &lines)
			}
			to := j.y.start(img, channel) + int64(a)*j.y.strides[0] + int64(b)*j.y.strides[1]
			place := int64(0)
			if !j.unread {
				place = j.places.start(img, channel) + int64(a)*j.places.strides[0] + int64(b)*j.places.strides[1]
			}
			if count := together.from(b); count > 1 && end > full {
				if !j.line(best, at, from, &lines, across[0].low, (count-1)*together.pitch+len(across), taps) {
					return false
				}
				for l := range count {
					i := l * together.pitch
					j.storeLine(best[i:][:len(across)], at[i:][:len(across)], to+int64(l)*j.y.strides[1], place+int64(l)*j.places.strides[1])
				}
				b += count
				continue
			}
			for i := 0; i < len(across); {
				n := min(end-i, block)
				if i < full || i >= end {
					v, number := j.largest(from, &lines, &across[i])
					n, best[0], at[0] = 1, v, int32(number)
				} else if !j.line(best, at, from, &lines, across[i].low, n, taps) {
					return false
				}
				j.storeLine(best[:n], at[:n], to+int64(i)*j.y.strides[2], place+int64(i)*j.places.strides[2])
				i += n
			}
			b++
		}
	}
	s.taps = taps
	return true
}

// Short lines of windows of a plane without holes are looked at together, as one line that goes on through the plane: what is between the
// last window of one and the first of the next is looked at too, and dropped. It takes less time than beginning each line anew.

// mostPitch is the longest distance of lines that are worth it: two or three vectors are dropped for each.
const mostPitch = 64

// togetherLines are lines of windows first to end-1, most of them at a time, that begin pitch windows apart.
type togetherLines struct{ first, end, most, pitch int }

// from is how many lines can be looked at together from line b on.
func (t *togetherLines) from(b int) int {
	if b < t.first {
		return 1
	}
	return min(t.most, t.end-b)
}

// together are the lines of windows whose windows all have full size; none where lines do not begin a number of windows apart.
func (j *pooling[T]) together(s *poolScratch) (t togetherLines) {
	w, across := &j.windows, s.ranges[2]
	step := w.Stride[1] * j.x.strides[1]
	low, high := fullWindows(across, w.Kernel[2])
	if len(across) == 0 || low > 0 || high < len(across) || j.x.strides[1] != j.x.dims[2] || step%w.Stride[2] != 0 || step/w.Stride[2] > mostPitch {
		return t
	}
	t.pitch = int(step / w.Stride[2])
	t.first, t.end = fullWindows(s.ranges[1], w.Kernel[1])
	t.most = (block-len(across))/t.pitch + 1
	return t
}

// tapsOf are the elements of a window that sees these lines: how far from its first, in memory and in the plane.
func (j *pooling[T]) tapsOf(taps []vec.Tap, r *poolRows) []vec.Tap {
	for a := range r.toA - r.fromA {
		for b := range r.toB - r.fromB {
			for c := range j.windows.Kernel[2] {
				taps = append(taps, vec.Tap{
					Offset: int(a*j.x.strides[0] + b*j.x.strides[1] + c),
					Number: int32((a*j.x.dims[1]+b)*j.x.dims[2] + c),
				})
			}
		}
	}
	return taps
}

// A line of windows begins at the first element that its first window of full width sees; what x has from there on is
// longer than the line, so that vectors can be read whole.

// line looks at n windows of full width that see the same lines, the first from index low of the last axis on.
func (j *pooling[T]) line(best []float32, at []int32, from int64, r *poolRows, low int64, n int, taps []vec.Tap) bool {
	x := any(j.x.data).([]float32)[from+r.fromA*j.x.strides[0]+r.fromB*j.x.strides[1]+low:]
	first := (r.fromA*j.x.dims[1]+r.fromB)*j.x.dims[2] + low
	return vec.WindowMax(best, at, x, taps, n, int(j.windows.Stride[2]), int32(first))
}

// Results of a line are mostly neighbours in memory, as are their indices: then they are copied.

// storeLine writes results and indices of neighbouring windows.
func (j *pooling[T]) storeLine(best []T, at []int32, to, place int64) {
	if j.y.strides[2] == 1 {
		copy(j.y.data[to:], best)
	} else {
		for i, v := range best {
			j.y.data[to+int64(i)*j.y.strides[2]] = v
		}
	}
	switch step := j.places.strides[2]; {
	case j.unread:
	case j.narrow && step == 1:
		copy(j.places32[place:], at)
	case j.narrow:
		for i, v := range at {
			j.places32[place+int64(i)*step] = v
		}
	case step == 1:
		numbers := j.places.data[place:][:len(at)]
		for i, v := range at {
			numbers[i] = int64(v)
		}
	default:
		for i, v := range at {
			j.places.data[place+int64(i)*step] = int64(v)
		}
	}
}
