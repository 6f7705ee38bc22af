package conv

import (
	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/reduction"
	"github.com/paddle-mps/paddle-mps/kernels/host/window"
)

// Tiles add and subtract neighbours, so that an error is relative to the largest element of a tile, and not to those that a sum sees.
// That shows where sizes differ much, and where users compare bits, as of kernels that copy an image. Such operands are called uneven
// and are computed term by term: a row of the weight, which are the kernels of one output channel, and the channels of a group of one
// image. Their elements decide and nothing else, so that an image has the same result in every batch, on any number of threads.
//
// Rows of the weight are read when they are transformed. An image is read once more than otherwise, which is two vector operations for
// 16 elements beside a multiplication or more for each of 32 rows or more.

// mostUneven is how many times the mean size of the others the largest element of even operands is at most.
const mostUneven = 1 << 10

// magnitude is the size of the largest of some elements, and the sum of all sizes.
type magnitude struct{ most, sum float64 }

// uneven reports whether one of n elements is mostUneven times the mean of the others, or the only one that is not 0. Elements that are
// not finite are even: see winogradCall.strip.
func (e magnitude) uneven(n int64) bool {
	return e.most > 0 && e.most*float64(n-1) > mostUneven*max(e.sum-e.most, 0)
}

// sizes are what is known of the operands of a convolution in tiles.
type sizes struct {
	termByTerm bool
	channels   []magnitude // of images, one after the other
	uneven     []bool      // of groups of images
	alone      []bool      // of rows of the weight, where they are transformed for all pieces
}

// measure adds elements.
func (e *magnitude) measure(x []float32) {
	most, sum := reduction.Magnitudes(x)
	e.most, e.sum = max(e.most, most), e.sum+sum
}

// prepare transforms the weight if pieces share it, and measures the images.
func (j winogradCall) prepare(t *engine.Threads, c *device.Call) error {
	p, images := &j.phases[0], j.out.Batch
	if p.tiling.cells != nil {
		j.sizes.alone = window.Grown(j.sizes.alone, j.Groups*j.Rows)
		if err := t.Each(j, c, j.Groups*j.Rows, int64(len(p.tiling.cells))); err != nil {
			return err
		}
	}
	j.sizes.channels = window.Grown(j.sizes.channels, images*j.Groups*j.Channels)
	if err := t.Each(measuring(j), c, images*j.Groups*j.Channels, images*j.Groups*j.Channels*window.Volume(&j.In.Dims)/vectorElements); err != nil {
		return err
	}
	j.sizes.uneven = window.Grown(j.sizes.uneven, images*j.Groups)
	for i := range j.sizes.uneven {
		var all magnitude
		for _, e := range j.sizes.channels[int64(i)*j.Channels:][:j.Channels] {
			all.most, all.sum = max(all.most, e.most), all.sum+e.sum
		}
		j.sizes.uneven[i] = all.uneven(j.Channels * window.Volume(&j.In.Dims))
	}
	return nil
}

// measuring is a call whose images are measured, channel by channel.
type measuring struct{ *Convolving[float32] }

// Part measures channels lo to hi-1, counted through all images.
func (j measuring) Part(_ *device.Call, lo, hi int64) error {
	all, im := j.Groups*j.Channels, &j.In
	for i := lo; i < hi; i++ {
		var e magnitude
		first := im.At(i/all, i%all)
		if im.Strides[2] == 1 && im.Strides[1] == im.Dims[2] {
			e.measure(im.Data[first:][:im.Dims[1]*im.Dims[2]])
			j.sizes.channels[i] = e
			continue
		}
		for line := range im.Dims[1] {
			at := first + line*im.Strides[1]
			if im.Strides[2] == 1 {
				e.measure(im.Data[at:][:im.Dims[2]])
				continue
			}
			for column := range im.Dims[2] {
				one := im.Data[at+column*im.Strides[2]:]
				e.measure(one[:1])
			}
		}
		j.sizes.channels[i] = e
	}
	return nil
}

// unevenKernel measures a row of the weight.
func (j winogradCall) unevenKernel(p *convPhase[float32], row int64) bool {
	var e magnitude
	n := j.Channels * 9
	e.measure(p.raw[row*n:][:n])
	return e.uneven(n)
}

// alone says which of n rows of the weight are uneven.
func (j winogradCall) alone(p *convPhase[float32], row, n int64, s *window.Scratch[float32]) []bool {
	if p.tiling.cells != nil {
		return j.sizes.alone[row:][:n]
	}
	s.Alone = window.Grown(s.Alone, n)
	for i := range n {
		s.Alone[i] = j.unevenKernel(p, row+i)
	}
	return s.Alone
}
