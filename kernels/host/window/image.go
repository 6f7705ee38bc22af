// Package window is what convolutions and pools share: images as channels of spatial axes, their layouts, the copies of what
// windows see, and the scratch memory of a thread.
package window

import (
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/stencil"
)

// Image is an operand of a convolution or a pool: batch, channels and three spatial axes, the first of which have one
// element where the operand has fewer. Its elements are addressed by index in the memory that it spans.
type Image[T any] struct {
	Data []T
	Planes
}

// Planes say where the elements of an image lie. What does not depend on their type is a method of it: it is there once.
type Planes struct {
	Origin          int64 // the index of the element with all indices zero
	Batch, Channels int64
	PerImage        int64 // distance of images
	PerChannel      int64 // and of channels
	Dims, Strides   [op.MaxSpatial]int64
}

// Open reads the layout of an operand, whose elements are of type T.
// SAFETY: the span from the lowest to the highest element lies in the operand's memory.
func (im *Image[T]) Open(o *device.Operand) {
	if im.Data = nil; im.arrange(o) {
		low, high, _ := o.Extent()
		im.Data = engine.SpanOf[T](o, low, high)
	}
}

// arrange is open without the elements. It reports whether there are some.
//
//go:noinline
func (p *Planes) arrange(o *device.Operand) bool {
	*p = Planes{Batch: o.Dims[0], Channels: o.Dims[1], PerImage: o.Strides[0], PerChannel: o.Strides[1], Dims: UnitSteps}
	axes := o.Rank - 2
	copy(p.Dims[op.MaxSpatial-axes:], o.Dims[2:o.Rank])
	copy(p.Strides[op.MaxSpatial-axes:], o.Strides[2:o.Rank])
	if o.Numel() == 0 {
		return false
	}
	low, _, _ := o.Extent()
	p.Origin = -low
	return true
}

// Operands with fewer spatial axes than three have theirs last, so that one loop serves all of them and the innermost
// axis is always the last.

// Spatial moves the numbers of a window to the axes that an image has them on; the axes in front get rest. It is not inlined either.
//
//go:noinline
func Spatial(v [op.MaxSpatial]int64, axes int, rest int64) (out [op.MaxSpatial]int64) {
	for i := range out {
		if at := i - (op.MaxSpatial - axes); at >= 0 {
			out[i] = v[at]
		} else {
			out[i] = rest
		}
	}
	return out
}

// Plane is the number of elements of one channel of one image.
func (p *Planes) Plane() int64 { return Volume(&p.Dims) }

// Volume is the product of sizes.
func Volume(dims *[op.MaxSpatial]int64) int64 { return dims[0] * dims[1] * dims[2] }

// Two shortcuts need planes without holes: results that are multiplied into, and kernels of one element, to which a plane
// is one line. Views, images with their channels last among them, are gathered and scattered instead.

// Flat reports whether the elements of a plane lie one behind the other.
func (p *Planes) Flat() bool {
	l := shape.Layout{Shape: shape.Shape{Rank: op.MaxSpatial}}
	copy(l.Dims[:], p.Dims[:])
	copy(l.Strides[:], p.Strides[:])
	return l.IsContiguous()
}

// Flatten makes one axis of the three of a flat plane.
func (p *Planes) Flatten() {
	p.Dims = [op.MaxSpatial]int64{1, 1, p.Plane()}
	p.Strides = [op.MaxSpatial]int64{0, 0, 1}
}

// Windows are numbered through all images, image by image and in row-major order of the grid in each, so that blocks of
// them are ranges of numbers. A cursor is such a number taken apart once, and moved on without a division.

// cursor is a window: the image, and where the window lies on the grid of windows.
type cursor struct {
	image int64
	At    [op.MaxSpatial]int64
}

// CursorAt is window number i of all images, in row-major order. It is called once for a block, and not inlined, for the size of
// the library.
//
//go:noinline
func CursorAt(grid *[op.MaxSpatial]int64, i int64) (c cursor) {
	for axis := op.MaxSpatial - 1; axis >= 0; axis-- {
		c.At[axis] = i % grid[axis]
		i /= grid[axis]
	}
	c.image = i
	return c
}

// next goes n windows on, at most to the end of the line.
func (c *cursor) next(grid *[op.MaxSpatial]int64, n int64) {
	axis := op.MaxSpatial - 1
	c.At[axis] += n
	for c.At[axis] == grid[axis] {
		c.At[axis] = 0
		if axis--; axis < 0 {
			c.image++
			return
		}
		c.At[axis]++
	}
}

// Gathering is where padding, strides, dilations and layouts end: what comes after sees matrices. It goes along lines of
// the last axis, of which the part outside is cleared and the rest copied. Other axes cost a few additions a line.

// Gather fills a row with the elements of a channel that windows see at one place of the kernel, from window c on: the
// element at index at*step + tap on each axis, 0 where that is outside.
func (im *Image[T]) Gather(row []T, c cursor, grid, step, tap *[op.MaxSpatial]int64, channel int64) {
	last := op.MaxSpatial - 1
	from := im.Origin + channel*im.PerChannel
	for len(row) > 0 {
		n := min(grid[last]-c.At[last], int64(len(row)))
		i, k := c.At[0]*step[0]+tap[0], c.At[1]*step[1]+tap[1]
		if i < 0 || i >= im.Dims[0] || k < 0 || k >= im.Dims[1] {
			clear(row[:n])
		} else {
			line := from + c.image*im.PerImage + i*im.Strides[0] + k*im.Strides[1]
			im.Line(row[:n], line, c.At[last]*step[last]+tap[last], step[last])
		}
		c.next(grid, n)
		row = row[n:]
	}
}

// shortCopy is the number of elements up to which a loop is faster than a call of copy.
const shortCopy = 12

// CopyShort fills a row with the first elements of another, which has as many. Lines of images in the middle of a network are
// of 7 or 14 elements: a call of the runtime's copy takes longer than moving those one by one.
func CopyShort[T any](to, from []T) {
	if from = from[:len(to)]; len(to) > shortCopy {
		copy(to, from)
		return
	}
	for i := range to {
		to[i] = from[i] //nolint:staticcheck // what copy would do, without its call
	}
}

// Line is the innermost loop of a gather. Which elements are inside is worked out before it, so that it has no test an
// element; with neighbouring elements it is a copy.
//
// line fills a row with every step-th element of a line of the last axis, from index i on, which may be outside.
func (im *Image[T]) Line(row []T, line, i, step int64) {
	size, n := im.Dims[op.MaxSpatial-1], int64(len(row))
	stride := step * im.Strides[op.MaxSpatial-1]
	if stride == 1 && i >= 0 && i+n <= size { // most lines
		CopyShort(row, im.Data[line+i:])
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
	at := line + (i+low*step)*im.Strides[op.MaxSpatial-1]
	if stride == 1 {
		copy(row[low:high], im.Data[at:])
		return
	}
	CopyStrided(row[low:high], im.Data, at, stride)
}

// CopyStrided copies elements of a list that are a distance apart, which may be negative or 0, from an index on.
func CopyStrided[T any](to, from []T, at, distance int64) {
	// The commonest distance: convolutions and pools that halve an image.
	if distance == 2 && len(to) > 0 && unsafe.Sizeof(to[0]) == 4 {
		// SAFETY: these are the elements of both, which are not looked into.
		words, seen := unsafe.Slice((*float32)(unsafe.Pointer(&to[0])), len(to)), from[at:]
		if stencil.EvenElements(words, unsafe.Slice((*float32)(unsafe.Pointer(&seen[0])), len(seen))) {
			return
		}
	}
	for i := range to { // all other distances
		to[i] = from[at]
		at += distance
	}
}

// Scatter is the way back for what is gathered. Each element is written once and by one thread.
//
// scatter writes a row of results to a channel, from window c on: to index first + at*step on each axis.
func (im *Image[T]) Scatter(row []T, c cursor, grid, first, step *[op.MaxSpatial]int64, channel int64) {
	last := op.MaxSpatial - 1
	stride := step[last] * im.Strides[last]
	for len(row) > 0 {
		n := min(grid[last]-c.At[last], int64(len(row)))
		at := im.At(c.image, channel)
		for axis := range op.MaxSpatial {
			at += (first[axis] + c.At[axis]*step[axis]) * im.Strides[axis]
		}
		for _, v := range row[:n] {
			im.Data[at] = v
			at += stride
		}
		c.next(grid, n)
		row = row[n:]
	}
}

// At is the index of the first element of a channel.
func (im *Image[T]) At(img, channel int64) int64 {
	return im.Origin + img*im.PerImage + channel*im.PerChannel
}

// Padded copies a plane of dims elements: index from + at*step on each axis, 0 where that is outside. The channel begins
// at index line. Which elements of a line are inside is the same for all lines.
func (im *Image[T]) Padded(to []T, line int64, dims, strides, from, step *[op.MaxSpatial]int64) {
	const last = op.MaxSpatial - 1
	size, distance := im.Dims[last], step[last]*im.Strides[last]
	low := min(max((step[last]-1-from[last])/step[last], 0), dims[last])
	high := max(min((size-from[last]+step[last]-1)/step[last], dims[last]), low)
	begin := line + (from[last]+low*step[last])*im.Strides[last]
	for a := range dims[0] {
		i := from[0] + a*step[0]
		for b := range dims[1] {
			row := to[a*strides[0]+b*strides[1]:][:dims[last]]
			k := from[1] + b*step[1]
			if i < 0 || i >= im.Dims[0] || k < 0 || k >= im.Dims[1] || low == high {
				clear(row)
				continue
			}
			at := begin + i*im.Strides[0] + k*im.Strides[1]
			if inside := row[low:high]; distance == 1 {
				CopyShort(inside, im.Data[at:])
			} else {
				CopyStrided(inside, im.Data, at, distance)
			}
			clear(row[:low])
			clear(row[high:])
		}
	}
}

// Clear makes all elements zero.
func (im *Image[T]) Clear() {
	var zero T
	for img := range im.Batch {
		for channel := range im.Channels {
			for a := range im.Dims[0] {
				for b := range im.Dims[1] {
					at := im.At(img, channel) + a*im.Strides[0] + b*im.Strides[1]
					for range im.Dims[2] {
						im.Data[at] = zero
						at += im.Strides[2]
					}
				}
			}
		}
	}
}

// UnitSteps are steps of one element.
var UnitSteps = [op.MaxSpatial]int64{1, 1, 1}

// Start is the index of the first element of a plane.
func (p *Planes) Start(img, channel int64) int64 {
	return p.Origin + img*p.PerImage + channel*p.PerChannel
}

// Offset is how far an element of a plane is from its first.
func (p *Planes) Offset(at *[op.MaxSpatial]int64) int64 {
	return at[0]*p.Strides[0] + at[1]*p.Strides[1] + at[2]*p.Strides[2]
}

// Element is offset for an element of any plane by its number. Planes with holes are rare: it is not inlined for the size of the library.
//
//go:noinline
func (p *Planes) Element(number int64) int64 {
	c := CursorAt(&p.Dims, number)
	return p.Offset(&c.At)
}
