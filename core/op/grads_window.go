package op

import "github.com/paddle-mps/paddle-mps/core/shape"

// Gradients of convolutions and pools; the table at the top of rows_window.go has them.

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
func (g *Gradient) leftOver(images, weight *shape.Shape, at *convolution) []int64 {
	size, kernel := plane(images, at.last.I != 0), plane(weight, false)
	list := func(v *Value, i int, otherwise int64) int64 {
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
type convolution struct{ stride, padding, dilation, groups, last Value }

// conv is the convolution of images with a weight.
func (g *Gradient) conv(x, weight Var, at *convolution) Var {
	return g.Do(IDConv, Attrs{ConvStride: at.stride, ConvPadding: at.padding, ConvDilation: at.dilation, ConvGroups: at.groups, ConvChannelsLast: at.last}, x, weight)
}

// nothing reports whether an operand has no elements. Gradients with respect to such images are empty, and sums over their
// windows are zero: no convolution computes them, for there are none of images without elements.
func (g *Gradient) nothing(v Var) bool {
	s := g.Shape(v)
	return g.Err == nil && s.Numel() == 0
}

// setMaps sets the gradients of a map that is linear in both operands; each is zero where one of its own operands, or the
// gradient itself, has no elements.
func (g *Gradient) setMaps(first, second func() Var) {
	none := g.nothing(g.Dy[0])
	for i, of := range []func() Var{first, second} {
		switch {
		case !g.Wants[i]:
		case none || g.nothing(g.In[0]) || g.nothing(g.In[1]):
			g.Set(i, g.Full(g.In[i], 0))
		default:
			g.Set(i, of())
		}
	}
}

// back is the transpose of conv: images of a shape.
func (g *Gradient) back(y, weight Var, images *shape.Shape, at *convolution) Var {
	kernel := g.Shape(weight)
	if g.Err != nil {
		return NoVar
	}
	return g.Do(IDConvTranspose, Attrs{
		ConvTransposeStride: at.stride, ConvTransposePadding: at.padding,
		ConvTransposeOutputPadding: {Kind: Ints, Ints: g.leftOver(images, &kernel, at)},
		ConvTransposeDilation:      at.dilation, ConvTransposeGroups: at.groups, ConvTransposeChannelsLast: at.last,
	}, y, weight)
}

// weight is the gradient of conv with respect to a weight of a shape.
func (g *Gradient) weight(x, y Var, s *shape.Shape, at *convolution) Var {
	if g.Err != nil {
		return NoVar
	}
	return g.Do(IDConvWeight, Attrs{
		ConvWeightKernelSize: {Kind: Ints, Ints: plane(s, false)},
		ConvWeightStride:     at.stride, ConvWeightPadding: at.padding, ConvWeightDilation: at.dilation,
		ConvWeightGroups: at.groups, ConvWeightChannelsLast: at.last,
	}, x, y)
}

// gradConv: a convolution is linear in its images and in its weight, so that each gradient is the transposed map of the other.
// Both are computed from dy in the layout of the call: channels_last goes along.
func gradConv(g *Gradient) {
	at := &convolution{g.Attrs[ConvStride], g.Attrs[ConvPadding], g.Attrs[ConvDilation], g.Attrs[ConvGroups], g.Attrs[ConvChannelsLast]}
	x, w := g.Shape(g.In[0]), g.Shape(g.In[1])
	g.setMaps(func() Var { return g.back(g.Dy[0], g.In[1], &x, at) }, func() Var { return g.weight(g.In[0], g.Dy[0], &w, at) })
}

// gradConvTranspose is gradConv with the roles of images and result exchanged. output_padding is not needed on the way back:
// it only says which of several sizes the result had.
func gradConvTranspose(g *Gradient) {
	at := &convolution{g.Attrs[ConvTransposeStride], g.Attrs[ConvTransposePadding], g.Attrs[ConvTransposeDilation], g.Attrs[ConvTransposeGroups], g.Attrs[ConvTransposeChannelsLast]}
	w := g.Shape(g.In[1])
	g.setMaps(func() Var { return g.conv(g.Dy[0], g.In[1], at) }, func() Var { return g.weight(g.Dy[0], g.In[0], &w, at) })
}

// gradConvWeight is needed for gradients of gradients alone.
func gradConvWeight(g *Gradient) {
	at := &convolution{g.Attrs[ConvWeightStride], g.Attrs[ConvWeightPadding], g.Attrs[ConvWeightDilation], g.Attrs[ConvWeightGroups], g.Attrs[ConvWeightChannelsLast]}
	x := g.Shape(g.In[0])
	g.setMaps(func() Var { return g.back(g.In[1], g.Dy[0], &x, at) }, func() Var { return g.conv(g.In[0], g.Dy[0], at) })
}

// gradMaxPool puts dy to where each window found its largest element. Windows may overlap, so that it is added. The indices
// have no gradient. A window without elements has the index -1, which max_unpool refuses: its dy becomes 0, at the first element.
func gradMaxPool(g *Gradient) {
	if g.Dy[0] == NoVar {
		return
	}
	s, last := g.Shape(g.In[0]), g.Attrs[MaxPoolChannelsLast]
	if g.Err != nil {
		return
	}
	dy, at := g.Dy[0], g.Out[1]
	windows, err := WindowsOf(ByID(IDMaxPool), g.Attrs, s.Rank-2)
	if err != nil {
		g.Err = err
		return
	}
	if windows.mayBeEmpty() {
		none := g.Number(Value{Kind: Int})
		dy = g.where(g.Do(IDLessThan, nil, at, none), g.zero(), dy)
		at = g.Do(IDMaximum, nil, at, none)
	}
	g.Set(0, g.Do(IDMaxUnpool, Attrs{
		MaxUnpoolSize: {Kind: Ints, Ints: plane(&s, last.I != 0)}, MaxUnpoolAdd: {Kind: Bool, I: 1}, MaxUnpoolChannelsLast: last,
	}, dy, at))
}

// gradMaxUnpool reads dy at the indices, which number the plane of each channel of each image. Nothing was put at -1.
func gradMaxUnpool(g *Gradient) {
	s, from := g.Shape(g.Dy[0]), g.Shape(g.In[1])
	if g.Err != nil {
		return
	}
	channel := 1
	if g.Attrs[MaxUnpoolChannelsLast].I != 0 {
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
	flatten := func(v Var, to shape.Shape) Var {
		if channel == 1 {
			return g.Reshape(v, &to)
		}
		turned := to
		turned.Dims[1], turned.Dims[2] = to.Dims[2], to.Dims[1]
		return g.Do(IDTranspose, Attrs{{Kind: Ints, Ints: []int64{0, 2, 1}}}, g.Reshape(v, &turned))
	}
	index := flatten(g.In[1], places)
	images, channels := g.column(places.Dims[0], 3, 0), g.column(places.Dims[1], 3, 1)
	read := g.read(flatten(g.Dy[0], flat), []Var{images, channels, index})
	put := g.where(g.Do(IDLessThan, nil, index, g.Number(Value{Kind: Int})), g.zero(), read)
	if channel != 1 {
		put = g.Do(IDTranspose, Attrs{{Kind: Ints, Ints: []int64{0, 2, 1}}}, put)
	}
	g.Set(0, g.Reshape(put, &from))
}

// gradAvgPool spreads dy over the windows, divided as the means were; avg_unpool is that map, with the attributes of the
// call and the size that the images had.
func gradAvgPool(g *Gradient) {
	s, last := g.Shape(g.In[0]), g.Attrs[AvgPoolChannelsLast]
	if g.Err != nil {
		return
	}
	g.Set(0, g.Do(IDAvgUnpool, Attrs{
		AvgUnpoolSize: {Kind: Ints, Ints: plane(&s, last.I != 0)}, AvgUnpoolKernelSize: g.Attrs[AvgPoolKernelSize],
		AvgUnpoolStride: g.Attrs[AvgPoolStride], AvgUnpoolPadding: g.Attrs[AvgPoolPadding], AvgUnpoolCeilMode: g.Attrs[AvgPoolCeilMode],
		AvgUnpoolAdaptive: g.Attrs[AvgPoolAdaptive], AvgUnpoolExclusive: g.Attrs[AvgPoolExclusive], AvgUnpoolChannelsLast: last,
	}, g.Dy[0]))
}

// gradAvgUnpool is the transpose of the transpose.
func gradAvgUnpool(g *Gradient) {
	g.Set(0, g.Do(IDAvgPool, Attrs{
		AvgPoolKernelSize: g.Attrs[AvgUnpoolKernelSize], AvgPoolStride: g.Attrs[AvgUnpoolStride], AvgPoolPadding: g.Attrs[AvgUnpoolPadding],
		AvgPoolCeilMode: g.Attrs[AvgUnpoolCeilMode], AvgPoolAdaptive: g.Attrs[AvgUnpoolAdaptive],
		AvgPoolExclusive: g.Attrs[AvgUnpoolExclusive], AvgPoolChannelsLast: g.Attrs[AvgUnpoolChannelsLast],
	}, g.Dy[0]))
}
