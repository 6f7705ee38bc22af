package pool

import (
	"math"

	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/stencil"
	"github.com/paddle-mps/paddle-mps/kernels/host/window"
)

// Windows that are one or two elements apart are looked at in vectors, a window in each lane. The elements of a line of
// windows are known by their distance from the first element of the first window, which is the same for all lines of a plane
// that see as many of its lines. Windows of less than full width, at the edges, are looked at one by one.

// mostLineTaps is the number of elements of the largest window that is looked at in vectors: that many numbers are kept.
const mostLineTaps = 1 << 12

// lined reports whether maxLines is the way to go. Numbers of elements are added up in 32 bits.
func (j *Pooling[T]) lined(s *poolScratch) bool {
	w, x := &j.Windows, &j.X
	// Elements of a line have to be neighbours, and those of lines further on to lie behind the first.
	if w.Adaptive || w.Stride[2] > 2 || !stencil.HasMaxPoolRow() || x.Strides[2] != 1 || x.Strides[0] < 0 || x.Strides[1] < 0 {
		return false
	}
	if w.Kernel[0] > mostLineTaps || w.Kernel[1] > mostLineTaps || w.Kernel[2] > mostLineTaps || window.Volume(&w.Kernel) > mostLineTaps || x.Plane() > math.MaxInt32 {
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
func maxLines(j *Pooling[float32], img, channel int64, s *poolScratch) bool {
	f := engine.NewFrame()
	defer f.Free()
	best, at := engine.Slice[float32](f.Room(), engine.Block), engine.Slice[int32](f.Room(), engine.Block)
	across := s.ranges[2]
	low, high := fullWindows(across, j.Windows.Kernel[2])
	from, seen, taps := j.X.Start(img, channel), PoolRows{}, s.taps[:0]
	together := j.together(s)
	for a := range s.ranges[0] {
		for b := 0; b < len(s.ranges[1]); {
			lines := rowsOf(&s.ranges[0][a], &s.ranges[1][b])
			full, end := low, high
			if lines.FromA >= lines.ToA || lines.FromB >= lines.ToB {
				full, end = len(across), len(across) // all windows are empty
			} else if lines.ToA-lines.FromA != seen.ToA-seen.FromA || lines.ToB-lines.FromB != seen.ToB-seen.FromB {
				seen, taps = lines, j.tapsOf(taps[:0], &lines)
			}
			to := j.y.Start(img, channel) + int64(a)*j.y.Strides[0] + int64(b)*j.y.Strides[1]
			place := int64(0)
			if !j.unread {
				place = j.places.Start(img, channel) + int64(a)*j.places.Strides[0] + int64(b)*j.places.Strides[1]
			}
			if count := together.from(b); count > 1 && end > full {
				if !j.line(best, at, from, &lines, across[0].low, (count-1)*together.pitch+len(across), taps) {
					return false
				}
				for l := range count {
					i := l * together.pitch
					j.storeLine(best[i:][:len(across)], at[i:][:len(across)], to+int64(l)*j.y.Strides[1], place+int64(l)*j.places.Strides[1])
				}
				b += count
				continue
			}
			for i := 0; i < len(across); {
				n := min(end-i, engine.Block)
				if i < full || i >= end {
					v, number := j.largest(from, &lines, &across[i])
					n, best[0], at[0] = 1, v, int32(number)
				} else if !j.line(best, at, from, &lines, across[i].low, n, taps) {
					return false
				}
				j.storeLine(best[:n], at[:n], to+int64(i)*j.y.Strides[2], place+int64(i)*j.places.Strides[2])
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
func (j *Pooling[T]) together(s *poolScratch) (t togetherLines) {
	w, across := &j.Windows, s.ranges[2]
	step := w.Stride[1] * j.X.Strides[1]
	low, high := fullWindows(across, w.Kernel[2])
	if len(across) == 0 || low > 0 || high < len(across) || j.X.Strides[1] != j.X.Dims[2] || step%w.Stride[2] != 0 || step/w.Stride[2] > mostPitch {
		return t
	}
	t.pitch = int(step / w.Stride[2])
	t.first, t.end = fullWindows(s.ranges[1], w.Kernel[1])
	t.most = (engine.Block-len(across))/t.pitch + 1
	return t
}

// tapsOf are the elements of a window that sees these lines: how far from its first, in memory and in the plane.
func (j *Pooling[T]) tapsOf(taps []stencil.Tap, r *PoolRows) []stencil.Tap {
	for a := range r.ToA - r.FromA {
		for b := range r.ToB - r.FromB {
			for c := range j.Windows.Kernel[2] {
				taps = append(taps, stencil.Tap{
					Offset: int(a*j.X.Strides[0] + b*j.X.Strides[1] + c),
					Number: int32((a*j.X.Dims[1]+b)*j.X.Dims[2] + c),
				})
			}
		}
	}
	return taps
}

// A line of windows begins at the first element that its first window of full width sees; what x has from there on is
// longer than the line, so that vectors can be read whole.

// line looks at n windows of full width that see the same lines, the first from index low of the last axis on.
func (j *Pooling[T]) line(best []float32, at []int32, from int64, r *PoolRows, low int64, n int, taps []stencil.Tap) bool {
	x := any(j.X.Data).([]float32)[from+r.FromA*j.X.Strides[0]+r.FromB*j.X.Strides[1]+low:]
	first := (r.FromA*j.X.Dims[1]+r.FromB)*j.X.Dims[2] + low
	return stencil.MaxPoolRow(best, at, x, taps, n, int(j.Windows.Stride[2]), int32(first))
}

// Results of a line are mostly neighbours in memory, as are their indices: then they are copied.

// storeLine writes results and indices of neighbouring windows.
func (j *Pooling[T]) storeLine(best []T, at []int32, to, place int64) {
	if j.y.Strides[2] == 1 {
		copy(j.y.Data[to:], best)
	} else {
		for i, v := range best {
			j.y.Data[to+int64(i)*j.y.Strides[2]] = v
		}
	}
	switch step := j.places.Strides[2]; {
	case j.unread:
	case j.narrow && step == 1:
		copy(j.places32[place:], at)
	case j.narrow:
		for i, v := range at {
			j.places32[place+int64(i)*step] = v
		}
	case step == 1:
		numbers := j.places.Data[place:][:len(at)]
		for i, v := range at {
			numbers[i] = int64(v)
		}
	default:
		for i, v := range at {
			j.places.Data[place+int64(i)*step] = int64(v)
		}
	}
}
