package pool

import (
	"math"

	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/host/window"
)

// Where nothing reads the indices, a band of a plane's lines is pooled at once. It is copied into rows of every stride-th
// element, with -infinity where the padding is: what all windows see at one element of the kernel is then one run of a copy,
// from an offset on, with some elements in between that belong to no window. A kernel of 3x3 takes nine passes over the band in
// vectors, whatever the stride, and windows at edges are like all others.

// bandElements is about how many elements of a plane are copied at a time: half of a small second-level cache.
const bandElements = 1 << 15

// banded reports whether windows can be pooled in bands: each has an element at least.
func (j *Pooling[T]) banded(s *poolScratch) bool {
	if !j.unread || j.Windows.Adaptive {
		return false
	}
	for axis := range s.ranges {
		for _, r := range s.ranges[axis] {
			if r.low >= r.high {
				return false
			}
		}
	}
	return true
}

// band is some lines of windows of one plane.
type band[T float32 | float64] struct {
	*Pooling[T]
	height, width int64 // of a copy
	phases        [2]int64
	copies, best  []T
}

// maxBands is max_pool of a plane.
func maxBands[T float32 | float64](j *Pooling[T], img, channel int64) {
	pool := window.ScratchPool[T]()
	s := pool.Get().(*window.Scratch[T])
	defer pool.Put(s)
	w, out := &j.Windows, &j.y.Dims
	b := band[T]{Pooling: j, width: out[2] + (w.Kernel[2]-1)/w.Stride[2]}
	b.phases = [2]int64{min(w.Kernel[1], w.Stride[1]), min(w.Kernel[2], w.Stride[2])}
	more := (w.Kernel[1] - 1) / w.Stride[1]
	lines := min(max(bandElements/(b.phases[0]*b.phases[1]*b.width)-more, 1), out[1])
	s.Columns = window.Grown(s.Columns, b.phases[0]*b.phases[1]*(lines+more)*b.width)
	s.Sums = window.Grown(s.Sums, lines*b.width)
	b.copies = s.Columns
	for a := range out[0] {
		for first := int64(0); first < out[1]; first += lines {
			n := min(lines, out[1]-first)
			b.height, b.best = n+more, s.Sums[:(n-1)*b.width+out[2]]
			b.pool(img, channel, a, first)
			to := j.y.Start(img, channel) + a*j.y.Strides[0] + first*j.y.Strides[1]
			for line := range n {
				j.store(b.best[line*b.width:][:out[2]], nil, to+line*j.y.Strides[1], 0)
			}
		}
	}
}

// Padding in front of the first axis is left out, because there a whole plane is.

// pool finds the largest elements. They are looked at in their order, and of equals the first stays, as in all other ways.
func (b *band[T]) pool(img, channel, a, first int64) {
	w := &b.Windows
	for i := range b.best {
		b.best[i] = T(math.Inf(-1))
	}
	for above := range w.Kernel[0] {
		i := a*w.Stride[0] + above - w.Before[0]
		if i < 0 || i >= b.X.Dims[0] {
			continue
		}
		b.copy(b.X.Start(img, channel)+i*b.X.Strides[0], first*w.Stride[1]-w.Before[1])
		for down := range w.Kernel[1] {
			for across := range w.Kernel[2] {
				phase := down%w.Stride[1]*b.phases[1] + across%w.Stride[2]
				at := (phase*b.height+down/w.Stride[1])*b.width + across/w.Stride[2]
				b.Larger(b.best, b.copies[at:][:len(b.best)], b.best) // of equals the second, which came first
			}
		}
	}
}

// copy copies lines from line top of a plane on, which begins at index from.
func (b *band[T]) copy(from, top int64) {
	w, step := &b.Windows, b.Windows.Stride[2]
	for down := range b.phases[0] {
		for across := range b.phases[1] {
			for r := range b.height {
				row := b.copies[((down*b.phases[1]+across)*b.height+r)*b.width:][:b.width]
				i, k := top+r*w.Stride[1]+down, across-w.Before[2]
				low, high := int64(0), int64(0)
				if i >= 0 && i < b.X.Dims[1] {
					low = min(max((step-1-k)/step, 0), b.width)
					high = max(min((b.X.Dims[op.MaxSpatial-1]-k+step-1)/step, b.width), low)
					b.X.Line(row[low:high], from+i*b.X.Strides[1], k+low*step, step)
				}
				nothing(row[:low])
				nothing(row[high:])
			}
		}
	}
}

// nothing fills a row with what is smaller than all elements.
func nothing[T float32 | float64](row []T) {
	for i := range row {
		row[i] = T(math.Inf(-1))
	}
}
