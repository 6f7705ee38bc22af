package conv

import (
	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/stencil"
	"github.com/paddle-mps/paddle-mps/kernels/host/window"
)

// A depthwise convolution of images whose channels are planes has a sum of few terms for each element, of one channel: no part of it
// is used twice, so that what counts is how few instructions come around the products. A channel, or a band of its lines, is copied
// once, with its padding; elements of one remainder by the stride become neighbours. What a tap sees is then a vector for neighbouring
// windows, and lines of the result are written where they are.
//
// The order of a sum is that of the other kernels.

// planeCut is how planes are cut and copied.
type planeCut struct {
	lines, bands  int64 // of the result in a band, and bands of a plane
	height, width int64 // lines of a copy, of one remainder, and elements of these of one remainder
	seen          int64 // elements of a line that windows see, with padding
	before, above int64 // of them that are left of the image, and lines that are above it
	reach         int64 // lines from the first tap to the last
	left          []int // offsets of the taps in a copy
}

// copyElements is the number of elements of a copy, about: a half of the second-level cache.
const copyElements = 1 << 17

// planPlanes is the plan of a depthwise conv; it reports whether that is one that this kernel takes.
func planPlanes(j *Convolving[float32], kernel [op.MaxSpatial]int64) bool {
	in, out, p := &j.In, &j.out, &j.planeCut
	low, high := bounds(j.Taps)
	if j.Channels != 1 || j.Rows != 1 || kernel[0] != 1 || in.Dims[0] != 1 || out.Dims[0] != 1 || low[0] != 0 || len(in.Data) == 0 || len(out.Data) == 0 {
		return false
	}
	if in.Strides[2] != 1 || out.Strides[2] != 1 || in.Strides[1] < in.Dims[2] || out.Strides[1] < out.Dims[2] || j.Step[2] > 2 || low[1] > 0 || low[2] > 0 {
		return false
	}
	p.before, p.above, p.reach = -low[2], -low[1], high[1]-low[1]
	p.seen = (out.Dims[2]-1)*j.Step[2] + high[2] - low[2] + 1
	p.width = (p.seen + j.Step[2] - 1) / j.Step[2]
	if line := p.width * j.Step[2]; max(line, p.reach, j.Step[1]) > copyElements || (p.reach+j.Step[1])*line > copyElements {
		return false // one line of the result sees more
	}
	p.lines = min(max((copyElements/(p.width*j.Step[2])-p.reach)/j.Step[1], 1), out.Dims[1])
	p.lines = share(out.Dims[1], p.lines, max((leastPlane+out.Dims[2]-1)/out.Dims[2], 1), out.Batch*j.Groups)
	p.bands = (out.Dims[1] + p.lines - 1) / p.lines
	p.height = p.lines - 1 + (p.reach+j.Step[1])/j.Step[1]
	p.left = p.left[:0]
	for i := range j.Taps {
		line, at := j.Taps[i][1]-low[1], j.Taps[i][2]-low[2]
		p.left = append(p.left, int(p.copied(j, line, at)))
	}
	j.work, j.pieces = planed{j}, out.Batch*j.Groups*p.bands
	return true
}

// copied is where an element of a line that windows see is in a copy.
func (p *planeCut) copied(j *Convolving[float32], line, at int64) int64 {
	block := line%j.Step[1]*j.Step[2] + at%j.Step[2]
	return (block*p.height+line/j.Step[1])*p.width + at/j.Step[2]
}

// planed is a call as work that is cut into bands of planes, the same band of all planes one after the other.
type planed struct{ *Convolving[float32] }

// Part computes bands lo to hi-1.
func (j planed) Part(_ *device.Call, lo, hi int64) error {
	pool := window.ScratchPool[float32]()
	s := pool.Get().(*window.Scratch[float32])
	defer pool.Put(s)
	b := j.epilogue.Begin()
	defer j.epilogue.End(b)
	p, taps := &j.planeCut, int64(len(j.Taps))
	s.Columns = window.Grown(s.Columns, p.height*p.width*j.Step[1]*j.Step[2]+stencil.WindowLanes)
	planes, length := j.out.Batch*j.Groups, j.out.Dims[2]
	copies, last := make([]bandCopy, 0, 4), int64(-1)
	for ; lo < hi; lo++ {
		band, number := lo/planes, lo%planes
		first := band * p.lines
		lines := min(p.lines, j.out.Dims[1]-first)
		if band != last { // what is outside of the image stays 0 for all planes
			clear(s.Columns)
			copies, last = j.copies(copies[:0], first, lines), band
		}
		img, channel := number/j.Groups, number%j.Groups
		for i := range copies {
			c := &copies[i]
			if !stencil.PadPlane(s.Columns, j.In.Data[j.In.At(img, channel)+c.from:], c.lines, c.width, c.step, int(p.width), c.first, c.second, j.Step[2] == 2) {
				return window.Misfit()
			}
		}
		to := j.out.Data[j.out.At(img, channel)+first*j.out.Strides[1]:]
		if !stencil.DepthwisePlane(to, s.Columns, j.other[channel*taps:][:taps], p.left, int(lines), int(length), int(j.out.Strides[1]), int(p.width)) {
			return window.Misfit()
		}
		if err := j.epilogue.Rows(b, (number*j.out.Dims[1]+first)*length, 1, 0, lines*length); err != nil {
			return err
		}
	}
	return nil
}

// bandCopy is the lines of a plane with one remainder by the stride that a band copies.
type bandCopy struct {
	from               int64 // where they begin in the plane
	lines, width, step int
	first, second      int // where elements of the first go, with even numbers and with odd ones
}

// copies are what a band of lines of the result sees of a plane, from line first of it on.
func (j planed) copies(all []bandCopy, first, lines int64) []bandCopy {
	p, im, stride := &j.planeCut, &j.In, j.Step[1]
	begin := first*stride - p.above // of the lines of the image
	width := min(im.Dims[2], p.seen-p.before)
	for line := range stride {
		// Lines begin+line+i*stride of the image for some i; those in front of the image and behind it are 0.
		end := min(lines-1+(p.reach-line+stride)/stride, (im.Dims[1]-begin-line+stride-1)/stride)
		skip := max((stride-1-begin-line)/stride, 0)
		if line > (lines-1)*stride+p.reach || skip >= end || width <= 0 {
			continue
		}
		all = append(all, bandCopy{
			from: (begin + line + skip*stride) * im.Strides[1], lines: int(end - skip), width: int(width), step: int(stride * im.Strides[1]),
			first: int(p.copied(j.Convolving, line+skip*stride, p.before)), second: int(p.copied(j.Convolving, line+skip*stride, p.before+1)),
		})
	}
	return all
}
