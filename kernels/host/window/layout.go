package window

import (
	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/shape"
)

// ChannelsLast reports whether images of several channels and elements lie one behind the other with their channels last.
func ChannelsLast(o *device.Operand) bool {
	return o.Dims[1] > 1 && o.Numel() > o.Dims[0]*o.Dims[1] && IsLast(o)
}

// IsLast reports whether the layout of an operand is LastLayout, but for axes of one element, whose strides are never used.
func IsLast(o *device.Operand) bool {
	want := LastLayout(o.Shape)
	for i, d := range o.Shape.Slice() {
		if d > 1 && o.Strides[i] != want.Strides[i] {
			return false
		}
	}
	return true
}

// LastLayout is the layout of images whose elements lie one behind the other with their channels last.
func LastLayout(s shape.Shape) shape.Layout {
	l := shape.Layout{Shape: s}
	step := s.Dims[1]
	l.Strides[1] = 1
	for axis := s.Rank - 1; axis >= 2; axis-- {
		l.Strides[axis] = step
		step *= s.Dims[axis]
	}
	l.Strides[0] = step
	return l
}

// LastAxes is an image with its channels as the last axis: a copy goes over the elements in the order of the axes.
func LastAxes(o device.Operand) device.Operand {
	turned := o
	last := o.Rank - 1
	copy(turned.Dims[1:last], o.Dims[2:o.Rank])
	copy(turned.Strides[1:last], o.Strides[2:o.Rank])
	turned.Dims[last], turned.Strides[last] = o.Dims[1], o.Strides[1]
	return turned
}
