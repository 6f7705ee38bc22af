package rows

import (
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// unfold: the elements under windows are read where they lie, and the result is written once.

// unfolded is the rule of unfold.
func unfolded(c *op.Inference) error {
	w, x, err := window(c)
	if err != nil {
		return err
	}
	windows := x
	if err := counted(c, &w, &x, &windows); err != nil {
		return err
	}
	out := shape.Shape{Rank: 3, Dims: [shape.MaxRank]int64{x.Dims[0], x.Dims[1], 1}}
	for i := range w.Axes {
		out.Dims[1] = c.Times(out.Dims[1], w.Kernel[i])
		if n := windows.Dims[2+i]; shape.IsSymbol(n) || shape.IsSymbol(out.Dims[2]) {
			out.Dims[2] = c.Unknown()
		} else {
			out.Dims[2] = c.Times(out.Dims[2], n)
		}
	}
	c.Out[0].Shape = out
	return nil
}

// Folded is the rule of fold: x is what unfold makes of the result.
func Folded(c *op.Inference) error {
	s, size := &c.In[0].Shape, c.Attr("size").Ints
	if s.Rank != 3 || len(size) < 1 || len(size) > op.MaxSpatial {
		return status.Errorf(status.Invalid, "[%s] x has %d axes and size is %v; want 3, and 1 to %d sizes", c.Row.Name, s.Rank, size, op.MaxSpatial)
	}
	w, err := op.WindowsOf(c.Row, c.Attrs, len(size))
	if err != nil {
		return err
	}
	out := shape.Shape{Rank: 2 + len(size), Dims: [shape.MaxRank]int64{s.Dims[0]}}
	elements, windows := int64(1), int64(1)
	for i, n := range size {
		if n < 0 || n > op.LargestSide {
			return status.Errorf(status.Invalid, "[%s] size is %v; want numbers from 0", c.Row.Name, size)
		}
		count := w.Count(i, n)
		if count < 1 {
			return status.Errorf(status.Invalid, "[%s] a window of %d elements does not fit axis %d of %d with padding %d and %d", c.Row.Name, w.Dilation[i]*(w.Kernel[i]-1)+1, i, n, w.Before[i], w.Behind[i])
		}
		elements, windows = c.Times(elements, w.Kernel[i]), c.Times(windows, count)
		out.Dims[2+i] = n
	}
	if op.Differ(s.Dims[2], windows) || !shape.IsSymbol(s.Dims[1]) && s.Dims[1]%elements != 0 {
		return status.Errorf(status.Invalid, "[%s] x has shape %s; want a multiple of %d elements, and %d windows", c.Row.Name, s, elements, windows)
	}
	if out.Dims[1] = s.Dims[1]; elements > 1 {
		if shape.IsSymbol(s.Dims[1]) {
			out.Dims[1] = c.Unknown()
		} else {
			out.Dims[1] = s.Dims[1] / elements
		}
	}
	c.Out[0].Shape = out
	return nil
}

// lowerUnfold copies a view of the padded image, which has an axis for the elements of a window and one for the windows in place of
// each axis. The result has those axes in another order.
func lowerUnfold(e op.Emitter, s *op.Step) error {
	axes := s.In[0].Rank - 2
	w, err := op.WindowsOf(s.Row, s.Attrs, axes)
	if err != nil || s.Out[0].Numel() == 0 {
		return err
	}
	x := s.In[0]
	pads := make([]int64, 4, 2*x.Rank)
	for i := range axes {
		pads = append(pads, w.Before[i], w.Behind[i])
	}
	if w.Before != [op.MaxSpatial]int64{} || w.Behind != [op.MaxSpatial]int64{} {
		made, err := e.Call(op.ByID(op.IDPad), []op.Ref{x}, op.Attrs{op.PadPads: {Kind: op.Ints, Ints: pads}, op.PadMode: op.ByID(op.IDPad).Attrs[op.PadMode].Default, op.PadValue: {Kind: op.Int}})
		if err != nil {
			return err
		}
		x = made[0]
	}
	read, write := shape.Layout{}, shape.Layout{}
	read.Rank, write.Rank = 2+2*axes, 2+2*axes
	for i := range 2 {
		read.Dims[i], read.Strides[i] = x.Dims[i], x.Strides[i]
	}
	within, window := s.Out[0].Strides[1], s.Out[0].Strides[2]
	for i := axes - 1; i >= 0; i-- {
		element, place := 2+i, 2+axes+i
		read.Dims[element], read.Strides[element] = w.Kernel[i], x.Strides[2+i]*w.Dilation[i]
		read.Dims[place], read.Strides[place] = (x.Dims[2+i]-w.Dilation[i]*(w.Kernel[i]-1)-1)/w.Stride[i]+1, x.Strides[2+i]*w.Stride[i]
		write.Strides[element], write.Strides[place] = within, window
		within, window = within*w.Kernel[i], window*read.Dims[place]
	}
	write.Strides[0], write.Strides[1] = s.Out[0].Strides[0], within
	write.Dims = read.Dims
	return e.Copy(x.View(0, &read), s.Out[0].View(0, &write))
}

// gradUnfold adds the columns to where they were read.
func gradUnfold(g *op.Gradient) {
	s := g.Shape(g.In[0])
	size := append([]int64{}, s.Dims[2:max(s.Rank, 2)]...)
	g.Set(0, g.Do(op.IDFold, op.Attrs{
		op.FoldSize: {Kind: op.Ints, Ints: size}, op.FoldKernelSize: g.Attrs[op.UnfoldKernelSize], op.FoldStride: g.Attrs[op.UnfoldStride],
		op.FoldPadding: g.Attrs[op.UnfoldPadding], op.FoldDilation: g.Attrs[op.UnfoldDilation],
	}, g.Dy[0]))
}
