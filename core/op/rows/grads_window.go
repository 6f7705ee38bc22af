package rows

import (
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
)

// Gradients of convolutions and pools; the table at the top of window.go has them.

// plane is the spatial part of images.
//
// Images are [N, C, spatial...], or [N, spatial..., C] with channels last; weights are always [O, C / groups, spatial...].
func plane(s *shape.Shape, channelsLast bool) []int64 {
	if channelsLast {
		return append([]int64{}, s.Dims[1:s.Rank-1]...)
	}
	return append([]int64{}, s.Dims[2:s.Rank]...)
}

// leftOver is how much of images is left behind the last window, on each axis.
//
// Several sizes of images have one number of windows; the transposed convolution is told which by its output_padding.
func leftOver(g *op.Gradient, images, weight *shape.Shape, at *convolution) []int64 {
	size, kernel := plane(images, at.last.I != 0), plane(weight, false)
	list := func(v *op.Value, i int, otherwise int64) int64 {
		if !v.Set() {
			return otherwise
		}
		return v.Ints[i]
	}
	for i := range size {
		reach := list(&at.dilation, i, 1)*(kernel[i]-1) + 1
		size[i] = (size[i] + list(&at.padding, 2*i, 0) + list(&at.padding, 2*i+1, 0) - reach) % list(&at.stride, i, 1)
	}
	return size
}

// convolution is the attributes that the three convolutions share.
type convolution struct{ stride, padding, dilation, groups, last op.Value }

// conv is the convolution of images with a weight.
func conv(g *op.Gradient, x, weight op.Var, at *convolution) op.Var {
	return g.Do(op.IDConv, op.Attrs{op.ConvStride: at.stride, op.ConvPadding: at.padding, op.ConvDilation: at.dilation, op.ConvGroups: at.groups, op.ConvChannelsLast: at.last}, x, weight)
}

// nothing reports whether an operand has no elements. Gradients with respect to such images are empty, and sums over their
// windows are zero: no convolution computes them, for there are none of images without elements.
func nothing(g *op.Gradient, v op.Var) bool {
	s := g.Shape(v)
	return g.Err == nil && s.Numel() == 0
}

// setMaps sets the gradients of a map that is linear in both operands; each is zero where one of its own operands, or the
// gradient itself, has no elements.
func setMaps(g *op.Gradient, first, second func() op.Var) {
	none := nothing(g, g.Dy[0])
	for i, of := range []func() op.Var{first, second} {
		switch {
		case !g.Wants[i]:
		case none || nothing(g, g.In[0]) || nothing(g, g.In[1]):
			g.Set(i, g.Full(g.In[i], 0))
		default:
			g.Set(i, of())
		}
	}
}

// back is the transpose of conv: images of a shape.
func back(g *op.Gradient, y, weight op.Var, images *shape.Shape, at *convolution) op.Var {
	kernel := g.Shape(weight)
	if g.Err != nil {
		return op.NoVar
	}
	return g.Do(op.IDConvTranspose, op.Attrs{
		op.ConvTransposeStride: at.stride, op.ConvTransposePadding: at.padding,
		op.ConvTransposeOutputPadding: {Kind: op.Ints, Ints: leftOver(g, images, &kernel, at)},
		op.ConvTransposeDilation:      at.dilation, op.ConvTransposeGroups: at.groups, op.ConvTransposeChannelsLast: at.last,
	}, y, weight)
}

// weight is the gradient of conv with respect to a weight of a shape.
func weight(g *op.Gradient, x, y op.Var, s *shape.Shape, at *convolution) op.Var {
	if g.Err != nil {
		return op.NoVar
	}
	return g.Do(op.IDConvWeight, op.Attrs{
		op.ConvWeightKernelSize: {Kind: op.Ints, Ints: plane(s, false)},
		op.ConvWeightStride:     at.stride, op.ConvWeightPadding: at.padding, op.ConvWeightDilation: at.dilation,
		op.ConvWeightGroups: at.groups, op.ConvWeightChannelsLast: at.last,
	}, x, y)
}

// gradConv: a convolution is linear in its images and in its weight, so that each gradient is the transposed map of the other.
// Both are computed from dy in the layout of the call: channels_last goes along.
func gradConv(g *op.Gradient) {
	at := &convolution{g.Attrs[op.ConvStride], g.Attrs[op.ConvPadding], g.Attrs[op.ConvDilation], g.Attrs[op.ConvGroups], g.Attrs[op.ConvChannelsLast]}
	x, w := g.Shape(g.In[0]), g.Shape(g.In[1])
	setMaps(g, func() op.Var { return back(g, g.Dy[0], g.In[1], &x, at) }, func() op.Var { return weight(g, g.In[0], g.Dy[0], &w, at) })
}

// gradConvTranspose is gradConv with the roles of images and result exchanged. output_padding is not needed on the way back:
// it only says which of several sizes the result had.
func gradConvTranspose(g *op.Gradient) {
	at := &convolution{g.Attrs[op.ConvTransposeStride], g.Attrs[op.ConvTransposePadding], g.Attrs[op.ConvTransposeDilation], g.Attrs[op.ConvTransposeGroups], g.Attrs[op.ConvTransposeChannelsLast]}
	w := g.Shape(g.In[1])
	setMaps(g, func() op.Var { return conv(g, g.Dy[0], g.In[1], at) }, func() op.Var { return weight(g, g.Dy[0], g.In[0], &w, at) })
}

// gradConvWeight is needed for gradients of gradients alone.
func gradConvWeight(g *op.Gradient) {
	at := &convolution{g.Attrs[op.ConvWeightStride], g.Attrs[op.ConvWeightPadding], g.Attrs[op.ConvWeightDilation], g.Attrs[op.ConvWeightGroups], g.Attrs[op.ConvWeightChannelsLast]}
	x := g.Shape(g.In[0])
	setMaps(g, func() op.Var { return back(g, g.In[1], g.Dy[0], &x, at) }, func() op.Var { return conv(g, g.In[0], g.Dy[0], at) })
}

// gradMaxPool puts dy to where each window found its largest element. Windows may overlap, so that it is added. The indices
// have no gradient. A window without elements has the index -1, which max_unpool refuses: its dy becomes 0, at the first element.
func gradMaxPool(g *op.Gradient) {
	if g.Dy[0] == op.NoVar {
		return
	}
	s, last := g.Shape(g.In[0]), g.Attrs[op.MaxPoolChannelsLast]
	if g.Err != nil {
		return
	}
	dy, at := g.Dy[0], g.Out[1]
	windows, err := op.WindowsOf(op.ByID(op.IDMaxPool), g.Attrs, s.Rank-2)
	if err != nil {
		g.Err = err
		return
	}
	if windows.MayBeEmpty() {
		none := g.Number(op.Value{Kind: op.Int})
		dy = g.Where(g.Do(op.IDLessThan, nil, at, none), g.Zero(), dy)
		at = g.Do(op.IDMaximum, nil, at, none)
	}
	g.Set(0, g.Do(op.IDMaxUnpool, op.Attrs{
		op.MaxUnpoolSize: {Kind: op.Ints, Ints: plane(&s, last.I != 0)}, op.MaxUnpoolAdd: {Kind: op.Bool, I: 1}, op.MaxUnpoolChannelsLast: last,
	}, dy, at))
}

// gradMaxUnpool reads dy at the indices, which number the plane of each channel of each image. Nothing was put at -1.
func gradMaxUnpool(g *op.Gradient) {
	s, from := g.Shape(g.Dy[0]), g.Shape(g.In[1])
	if g.Err != nil {
		return
	}
	channel := 1
	if g.Attrs[op.MaxUnpoolChannelsLast].I != 0 {
		channel = s.Rank - 1
	}
	flat := shape.Shape{Rank: 3, Dims: [shape.MaxRank]int64{s.Dims[0], s.Dims[channel], 1}}
	places := flat
	for i := 1; i < s.Rank; i++ {
		if i != channel {
			flat.Dims[2] *= s.Dims[i]
			places.Dims[2] *= from.Dims[i]
		}
	}
	flatten := func(v op.Var, to shape.Shape) op.Var {
		if channel == 1 {
			return g.Reshape(v, &to)
		}
		turned := to
		turned.Dims[1], turned.Dims[2] = to.Dims[2], to.Dims[1]
		return g.Do(op.IDTranspose, op.Attrs{{Kind: op.Ints, Ints: []int64{0, 2, 1}}}, g.Reshape(v, &turned))
	}
	index := flatten(g.In[1], places)
	images, channels := Column(&g.Calls, places.Dims[0], 3, 0), Column(&g.Calls, places.Dims[1], 3, 1)
	read := read(g, flatten(g.Dy[0], flat), []op.Var{images, channels, index})
	put := g.Where(g.Do(op.IDLessThan, nil, index, g.Number(op.Value{Kind: op.Int})), g.Zero(), read)
	if channel != 1 {
		put = g.Do(op.IDTranspose, op.Attrs{{Kind: op.Ints, Ints: []int64{0, 2, 1}}}, put)
	}
	g.Set(0, g.Reshape(put, &from))
}

// gradAvgPool spreads dy over the windows, divided as the means were; avg_unpool is that map, with the attributes of the
// call and the size that the images had.
func gradAvgPool(g *op.Gradient) {
	s, last := g.Shape(g.In[0]), g.Attrs[op.AvgPoolChannelsLast]
	if g.Err != nil {
		return
	}
	g.Set(0, g.Do(op.IDAvgUnpool, op.Attrs{
		op.AvgUnpoolSize: {Kind: op.Ints, Ints: plane(&s, last.I != 0)}, op.AvgUnpoolKernelSize: g.Attrs[op.AvgPoolKernelSize],
		op.AvgUnpoolStride: g.Attrs[op.AvgPoolStride], op.AvgUnpoolPadding: g.Attrs[op.AvgPoolPadding], op.AvgUnpoolCeilMode: g.Attrs[op.AvgPoolCeilMode],
		op.AvgUnpoolAdaptive: g.Attrs[op.AvgPoolAdaptive], op.AvgUnpoolExclusive: g.Attrs[op.AvgPoolExclusive], op.AvgUnpoolChannelsLast: last,
	}, g.Dy[0]))
}

// gradAvgUnpool is the transpose of the transpose.
func gradAvgUnpool(g *op.Gradient) {
	g.Set(0, g.Do(op.IDAvgPool, op.Attrs{
		op.AvgPoolKernelSize: g.Attrs[op.AvgUnpoolKernelSize], op.AvgPoolStride: g.Attrs[op.AvgUnpoolStride], op.AvgPoolPadding: g.Attrs[op.AvgUnpoolPadding],
		op.AvgPoolCeilMode: g.Attrs[op.AvgUnpoolCeilMode], op.AvgPoolAdaptive: g.Attrs[op.AvgUnpoolAdaptive],
		op.AvgPoolExclusive: g.Attrs[op.AvgUnpoolExclusive], op.AvgPoolChannelsLast: g.Attrs[op.AvgUnpoolChannelsLast],
	}, g.Dy[0]))
}
