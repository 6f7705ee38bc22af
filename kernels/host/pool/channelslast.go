package pool

import (
	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/arith"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/stencil"
	"github.com/paddle-mps/paddle-mps/kernels/host/window"
)

// Pools of images that have their channels last go along lines of windows: what a window sees at one element is a run of all
// channels. Windows of a line that are of full width see the same runs, each a stride further on; the others, at the edges, are
// looked at one by one.

// The largest elements are the same as those of the other kernels, whose order of comparisons does not show once nothing reads
// the indices. A mean is a sum of float32 here, rounded once a term, and one of float64 there.

// isChannelsLast reports whether a call is a pool of such images. Sums of float32 are rounded once a term.
func isChannelsLast(c *device.Call, x, y *device.Operand) bool {
	return window.ChannelsLast(y) && window.IsLast(x) && (c.Op == op.IDAvgPool || c.Op == op.IDMaxPool && c.Out[1].Absent())
}

// deepPooling is a call as work that is cut into lines of windows.
type deepPooling Pooling[float32]

// lines is how many there are.
func (j *deepPooling) lines() int64 { return j.y.Batch * j.y.Dims[0] * j.y.Dims[1] }

// Part does lines lo to hi-1.
func (j *deepPooling) Part(c *device.Call, lo, hi int64) error {
	s := poolScratches.Get().(*poolScratch)
	defer poolScratches.Put(s)
	s.measured = false
	(*Pooling[float32])(j).measure(s, &j.y.Dims, &j.X.Dims)
	mean := c.Op == op.IDAvgPool
	across := s.ranges[2]
	low, high := fullWindows(across, j.Windows.Kernel[2])
	if j.Windows.Adaptive {
		low, high = 0, 0
	}
	f := engine.NewFrame()
	defer f.Free()
	if mean {
		s.ones = window.Grown(s.ones, j.X.Channels)
		for i := range s.ones {
			s.ones[i] = 1
		}
	}
	for ; lo < hi; lo++ {
		a, b := &s.ranges[0][lo/j.y.Dims[1]%j.y.Dims[0]], &s.ranges[1][lo%j.y.Dims[1]]
		image := lo / (j.y.Dims[0] * j.y.Dims[1])
		to := j.y.Data[lo*j.y.Dims[2]*j.y.Channels:][:j.y.Dims[2]*j.y.Channels]
		for i := 0; i < len(across); {
			n := 1
			if i == low && low < high {
				n = high - low
			}
			if !j.run(to[int64(i)*j.y.Channels:][:int64(n)*j.y.Channels], image, n, a, b, &across[i], s, mean) {
				return window.Misfit()
			}
			i += n
		}
	}
	return nil
}

// run computes n windows of a line, the first of which sees these elements.
func (j *deepPooling) run(to []float32, image int64, n int, a, b, c *span, s *poolScratch, mean bool) bool {
	channels := j.X.Channels
	s.taps = s.taps[:0]
	for i := range max(a.high-a.low, 0) {
		for k := range max(b.high-b.low, 0) {
			for l := range max(c.high-c.low, 0) {
				s.taps = append(s.taps, stencil.Tap{Offset: int(((i*j.X.Dims[1]+k)*j.X.Dims[2] + l) * channels)})
			}
		}
	}
	from, step := j.X.Data, int(j.Windows.Stride[2]*channels)
	if len(s.taps) > 0 {
		from = from[(((image*j.X.Dims[0]+a.low)*j.X.Dims[1]+b.low)*j.X.Dims[2]+c.low)*channels:]
	}
	share := float32(a.share * b.share * c.share)
	switch {
	case mean:
		if !stencil.DepthwiseChannelsLast(to, from, s.ones, s.taps, n, step, int(channels)) {
			return false
		}
		arith.RowsOf[float32](arith.Div).VS(to, to, share)
	case len(s.taps) == 0:
		for i := range to {
			to[i] = j.lowest
		}
	default:
		return stencil.MaxPoolChannelsLast(to, from, s.taps, n, step, int(channels))
	}
	return true
}
