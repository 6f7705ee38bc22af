package op

import (
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// MaxSpatial is the largest number of spatial axes that a window moves along.
const MaxSpatial = 3

// Windows is how an operator of kind Window moves over images: the attributes of a call with their defaults, by spatial
// axis. Entries from Axes on are those of an axis of one element, over which a window of one element moves.
//
// It is read from the attributes anew in each call, by inference and by kernels alike: nothing is kept between calls, and
// the two cannot disagree. Lists that are left out have the defaults of the attributes.
type Windows struct {
	Axes                            int
	Kernel, Stride, Dilation        [MaxSpatial]int64
	Before, Behind                  [MaxSpatial]int64 // padding
	Extra                           [MaxSpatial]int64 // output_padding of conv_transpose
	Groups                          int64
	Ceil, Adaptive, Exclusive, Last bool
	ByKernel, strideGiven           bool // neighbouring windows of pools touch unless stride says otherwise
}

// WindowsOf reads the attributes of a call with images of so many spatial axes. Inference has checked those of a call that
// a device sees.
func WindowsOf(row *Row, at Attrs, axes int) (w Windows, err error) {
	w = Windows{Axes: axes, Groups: 1, Kernel: ones, Stride: ones, Dilation: ones}
	for i := range row.Attrs {
		if err = w.read(row, row.Attrs[i].Name, &at[i]); err != nil {
			return w, err
		}
	}
	if w.ByKernel && !w.strideGiven {
		w.Stride = w.Kernel
	}
	return w, nil
}

var ones = [MaxSpatial]int64{1, 1, 1}

// read takes one attribute. Rows have some of them only; those that a row does not have keep their defaults. Whether the
// windows of a row touch where no stride is given follows from what else it has: convolutions dilate, and pools do not.
func (w *Windows) read(row *Row, name string, v *Value) error {
	switch name {
	case "kernel_size":
		w.ByKernel = row.AttrIndex("dilation") < 0
		return w.list(row, name, v, &w.Kernel, 1)
	case "stride":
		w.strideGiven = v.Set()
		return w.list(row, name, v, &w.Stride, 1)
	case "dilation":
		return w.list(row, name, v, &w.Dilation, 1)
	case "output_padding":
		return w.list(row, name, v, &w.Extra, 0)
	case "padding":
		return w.pad(row, v)
	case "groups":
		w.Groups = v.I
		if w.Groups < 1 {
			return status.Errorf(status.Invalid, "[%s] groups is %d; want 1 or more", row.Name, w.Groups)
		}
	case "ceil_mode":
		w.Ceil = v.I != 0
	case "adaptive":
		w.Adaptive = v.I != 0
	case "exclusive":
		w.Exclusive = v.I != 0
	case "channels_last":
		w.Last = v.I != 0
	}
	return nil
}

// list takes a number for each axis, of at least least.
func (w *Windows) list(row *Row, name string, v *Value, to *[MaxSpatial]int64, least int64) error {
	if !v.Set() {
		return nil
	}
	if len(v.Ints) != w.Axes {
		return status.Errorf(status.Invalid, "[%s] %s has %d numbers; want one for each of %s", row.Name, name, len(v.Ints), status.Count(w.Axes, "spatial axis", "spatial axes"))
	}
	for i, n := range v.Ints {
		if n < least || n > LargestSide {
			return status.Errorf(status.Invalid, "[%s] %s is %v; want numbers from %d", row.Name, name, v.Ints, least)
		}
		to[i] = n
	}
	return nil
}

// LargestSide keeps sums and products of two numbers of a window within int64.
const LargestSide = 1 << 30

// pad takes two numbers for each axis.
func (w *Windows) pad(row *Row, v *Value) error {
	if !v.Set() {
		return nil
	}
	if len(v.Ints) != 2*w.Axes {
		return status.Errorf(status.Invalid, "[%s] padding has %d numbers; want two for each of %s", row.Name, len(v.Ints), status.Count(w.Axes, "spatial axis", "spatial axes"))
	}
	for i, n := range v.Ints {
		if n < 0 || n > LargestSide {
			return status.Errorf(status.Invalid, "[%s] padding is %v; want numbers from 0", row.Name, v.Ints)
		}
		if i%2 == 0 {
			w.Before[i/2] = n
		} else {
			w.Behind[i/2] = n
		}
	}
	return nil
}

// Count is how many windows there are on an axis of size elements; below 1 where not one fits. As in Paddle, one of a
// pool fits where less than a stride of it has no room.
func (w *Windows) Count(axis int, size int64) int64 {
	if w.Adaptive {
		return w.Kernel[axis]
	}
	room := size + w.Before[axis] + w.Behind[axis] - w.Dilation[axis]*(w.Kernel[axis]-1) - 1
	if room < 0 && !w.ByKernel {
		return 0
	}
	if w.Ceil {
		room += w.Stride[axis] - 1
	}
	return room/w.Stride[axis] + 1
}

// Back is the size of an axis with so many windows, which conv_transpose makes. It is the least size that has so many, and
// output_padding more. It may be below 1: padding takes elements away here.
func (w *Windows) Back(axis int, count int64) int64 {
	return (count-1)*w.Stride[axis] - w.Before[axis] - w.Behind[axis] + w.Dilation[axis]*(w.Kernel[axis]-1) + 1 + w.Extra[axis]
}

// Range is where window i of a pool lies on an axis of size elements, from low to high-1, and by which share of a
// divisor its mean is divided: by the elements that are there, or by the size of the window. Two things are as in Paddle:
// a window behind the end has a share below 0, which makes zeros of such means negative; and what is cut off the size of a
// window is what lies further behind the end than the padding in front is wide.
func (w *Windows) Range(axis int, i, size int64) (low, high, share int64) {
	if w.Adaptive {
		n := w.Kernel[axis]
		low, high = i*size/n, ((i+1)*size+n-1)/n
		return low, high, high - low
	}
	first := i*w.Stride[axis] - w.Before[axis]
	low, high = max(first, 0), min(first+w.Kernel[axis], size)
	if w.Exclusive {
		return low, high, high - low
	}
	return low, high, min(first+w.Kernel[axis], size+w.Before[axis]) - first
}

// MayBeEmpty reports whether a window of a pool can lie in the padding alone, whatever the size of the images is: one as wide
// as the padding beside it, or with ceil_mode the last one, which may begin up to a stride further behind the end.
func (w *Windows) MayBeEmpty() bool {
	if w.Adaptive {
		return false
	}
	for i := range w.Axes {
		behind := w.Behind[i]
		if w.Ceil {
			behind += w.Stride[i] - 1
		}
		if max(w.Before[i], behind) >= w.Kernel[i] {
			return true
		}
	}
	return false
}

// Rules and kernels look at images in one order of axes. What follows moves the channels there and back; for kernels, in
// the strides, so that no element moves.

// Image is the shape of an operand with channels in front: batch, channels, then spatial axes.
func (w *Windows) Image(s *shape.Shape) shape.Shape {
	if !w.Last {
		return *s
	}
	l := shape.Layout{Shape: *s}
	ChannelsFirst(&l)
	return l.Shape
}

// Result is the shape of a result with the channels where the call has them.
func (w *Windows) Result(s shape.Shape) shape.Shape {
	if w.Last {
		channels := s.Dims[1]
		copy(s.Dims[1:], s.Dims[2:s.Rank])
		s.Dims[s.Rank-1] = channels
	}
	return s
}

// ChannelsFirst moves the last axis of images to axis 1.
func ChannelsFirst(l *shape.Layout) {
	channels := l.Rank - 1
	d, s := l.Dims[channels], l.Strides[channels]
	l.Remove(channels)
	l.Insert(1)
	l.Dims[1], l.Strides[1] = d, s
}

// The frames: devices see images with their channels at axis 1, wherever the call has them.

// A transposed convolution whose stride is its kernel, as most networks have that make images larger, gives each element of an
// image a tile of the result of its own.

// Tiled reports whether a conv_transpose of one group, with channels at axis 1, makes its result of such tiles.
func Tiled(at Attrs, x, weight, out *shape.Shape) bool {
	w, err := WindowsOf(ByID(IDConvTranspose), at, x.Rank-2)
	if err != nil || weight.Dims[1] != out.Dims[1] {
		return false
	}
	for i := range w.Axes {
		if k := weight.Dims[2+i]; w.Before[i] != 0 || w.Dilation[i] != 1 || w.Stride[i] != k || out.Dims[2+i] != x.Dims[2+i]*k {
			return false
		}
	}
	return true
}
