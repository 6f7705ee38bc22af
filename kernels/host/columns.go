package host

import (
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// image is an operand of a convolution or a pool: batch, channels and three spatial axes, the first of which have one
// element where the operand has fewer. Its elements are addressed by index in the memory that it spans.
type image[T any] struct {
	data []T
	planes
}

// planes say where the elements of an image lie. What does not depend on their type is a method of it: it is there once.
type planes struct {
	origin          int64 // the index of the element with all indices zero
	batch, channels int64
	perImage        int64 // distance of images
	perChannel      int64 // and of channels
	dims, strides   [op.MaxSpatial]int64
}

// open reads the layout of an operand, whose elements are of type T.
// SAFETY: the span from the lowest to the highest element lies in the operand's memory.
func (im *image[T]) open(o *device.Operand) {
	if im.data = nil; im.arrange(o) {
		low, high, _ := o.Extent()
		im.data = spanOf[T](o, low, high)
	}
}

// arrange is open without the elements. It reports whether there are some.
//
//go:noinline
func (p *planes) arrange(o *device.Operand) bool {
	*p = planes{batch: o.Dims[0], channels: o.Dims[1], perImage: o.Strides[0], perChannel: o.Strides[1], dims: neighbours}
	axes := o.Rank - 2
	copy(p.dims[op.MaxSpatial-axes:], o.Dims[2:o.Rank])
	copy(p.strides[op.MaxSpatial-axes:], o.Strides[2:o.Rank])
	if o.Numel() == 0 {
		return false
	}
	low, _, _ := o.Extent()
	p.origin = -low
	return true
}

// Operands with fewer spatial axes than three have theirs last, so that one loop serves all of them and the innermost
// axis is always the last.

// spatial moves the numbers of a window to the axes that an image has them on; the axes in front get rest. It is not inlined either.
//
//go:noinline
func spatial(v [op.MaxSpatial]int64, axes int, rest int64) (out [op.MaxSpatial]int64) {
	for i := range out {
		if at := i - (op.MaxSpatial - axes); at >= 0 {
			out[i] = v[at]
		} else {
			out[i] = rest
		}
	}
	return out
}

// plane is the number of elements of one channel of one image.
func (p *planes) plane() int64 { return volumeOf(&p.dims) }

// volumeOf is the product of sizes.
func volumeOf(dims *[op.MaxSpatial]int64) int64 { return dims[0] * dims[1] * dims[2] }

// Two shortcuts need planes without holes: results that are multiplied into, and kernels of one element, to which a plane
// is one line. Views, images with their channels last among them, are gathered and scattered instead.

// flat reports whether the elements of a plane lie one behind the other.
func (p *planes) flat() bool {
	l := shape.Layout{Shape: shape.Shape{Rank: op.MaxSpatial}}
	copy(l.Dims[:], p.dims[:])
	copy(l.Strides[:], p.strides[:])
	return l.IsContiguous()
}

// flatten makes one axis of the three of a flat plane.
func (p *planes) flatten() {
	p.dims = [op.MaxSpatial]int64{1, 1, p.plane()}
	p.strides = [op.MaxSpatial]int64{0, 0, 1}
}

// Windows are numbered through all images, image by image and in row-major order of the grid in each, so that blocks of
// them are ranges of numbers. A cursor is such a number taken apart once, and moved on without a division.

// cursor is a window: the image, and where the window lies on the grid of windows.
type cursor struct {
	image int64
	at    [op.MaxSpatial]int64
}

// cursorAt is window number i of all images, in row-major order. It is called once for a block, and not inlined, for the size of
// the library.
//
//go:noinline
func cursorAt(grid *[op.MaxSpatial]int64, i int64) (c cursor) {
	for axis := op.MaxSpatial - 1; axis >= 0; axis-- {
		c.at[axis] = i % grid[axis]
		i /= grid[axis]
	}
	c.image = i
	return c
}

// next goes n windows on, at most to the end of the line.
func (c *cursor) next(grid *[op.MaxSpatial]int64, n int64) {
	axis := op.MaxSpatial - 1
	c.at[axis] += n
	for c.at[axis] == grid[axis] {
		c.at[axis] = 0
		if axis--; axis < 0 {
			c.image++
			return
		}
		c.at[axis]++
	}
}

// Gathering is where padding, strides, dilations and layouts end: what comes after sees matrices. It goes along lines of
// the last axis, of which the part outside is cleared and the rest copied. Other axes cost a few additions a line.

// gather fills a row with the elements of a channel that windows see at one place of the kernel, from window c on: the
// element at index at*step + tap on each axis, 0 where that is outside.
func (im *image[T]) gather(row []T, c cursor, grid, step, tap *[op.MaxSpatial]int64, channel int64) {
	last := op.MaxSpatial - 1
	from := im.origin + channel*im.perChannel
	for len(row) > 0 {
		n := min(grid[last]-c.at[last], int64(len(row)))
		i, k := c.at[0]*step[0]+tap[0], c.at[1]*step[1]+tap[1]
		if i < 0 || i >= im.dims[0] || k < 0 || k >= im.dims[1] {
			clear(row[:n])
		} else {
			line := from + c.image*im.perImage + i*im.strides[0] + k*im.strides[1]
			im.line(row[:n], line, c.at[last]*step[last]+tap[last], step[last])
		}
		c.next(grid, n)
		row = row[n:]
	}
}

// shortCopy is the number of elements up to which a loop is faster than a call of copy.
const shortCopy = 12

// copyShort fills a row with the first elements of another, which has as many. Lines of images in the middle of a network are
// of 7 or 14 elements: a call of the runtime's copy takes longer than moving those one by one.
func copyShort[T any](to, from []T) {
	if from = from[:len(to)]; len(to) > shortCopy {
		copy(to, from)
		return
	}
	for i := range to {
		to[i] = from[i] //nolint:staticcheck // what copy would do, without its call
	}
}

// line is the innermost loop of a gather. Which elements are inside is worked out before it, so that it has no test an
// element; with neighbouring elements it is a copy.
//
// line fills a row with every step-th element of a line of the last axis, from index i on, which may be outside.
func (im *image[T]) line(row []T, line, i, step int64) {
	size, n := im.dims[op.MaxSpatial-1], int64(len(row))
	stride := step * im.strides[op.MaxSpatial-1]
	if stride == 1 && i >= 0 && i+n <= size { // most lines
		copyShort(row, im.data[line+i:])
		return
	}
	low, high := int64(0), int64(0)
	if i < 0 {
		low = min((-i+step-1)/step, n)
	}
	if i < size {
		high = min((size-i+step-1)/step, n)
	}
	high = max(high, low)
	clear(row[:low])
	clear(row[high:])
	if low == high {
		return
	}
	at := line + (i+low*step)*im.strides[op.MaxSpatial-1]
	if stride == 1 {
		copy(row[low:high], im.data[at:])
		return
	}
	every(row[low:high], im.data, at, stride)
}

// every copies elements of a list that are a distance apart, which may be negative or 0, from an index on.
func every[T any](to, from []T, at, distance int64) {
	// The commonest distance: convolutions and pools that halve an image.
	if distance == 2 && len(to) > 0 && unsafe.Sizeof(to[0]) == 4 {
		// SAFETY: these are the elements of both, which are not looked into.
		words, seen := unsafe.Slice((*float32)(unsafe.Pointer(&to[0])), len(to)), from[at:]
		if vec.Evens(words, unsafe.Slice((*float32)(unsafe.Pointer(&seen[0])), len(seen))) {
			return
		}
	}
	for i := range to { // all other distances
		to[i] = from[at]
		at += distance
	}
}

// scatter is the way back for what is gathered. Each element is written once and by one thread.
//
// scatter writes a row of results to a channel, from window c on: to index first + at*step on each axis.
func (im *image[T]) scatter(row []T, c cursor, grid, first, step *[op.MaxSpatial]int64, channel int64) {
	last := op.MaxSpatial - 1
	stride := step[last] * im.strides[last]
	for len(row) > 0 {
		n := min(grid[last]-c.at[last], int64(len(row)))
		at := im.at(c.image, channel)
		for axis := range op.MaxSpatial {
			at += (first[axis] + c.at[axis]*step[axis]) * im.strides[axis]
		}
		for _, v := range row[:n] {
			im.data[at] = v
			at += stride
		}
		c.next(grid, n)
		row = row[n:]
	}
}
