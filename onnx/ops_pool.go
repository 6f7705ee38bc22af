package onnx

import (
	"slices"

	"github.com/paddle-mps/paddle-mps/core/op"
)

// Pooling. Common pools are rows. The others go axis by axis, because maximum and sum of a window are those of its lines:
// the elements of the windows of an axis are gathered side by side and reduced.
//
// The other way costs more memory, a copy of the operand for each axis, and is for what few models use: dilations,
// numbers of windows that are rounded up, integers, and p-norms.

var pools = []entry{
	// MaxPool: values, and indices in the whole tensor.
	{"MaxPool", 1, 0, maxPool},
	// AveragePool: with or without the padding.
	{"AveragePool", 1, 0, averagePool},
	{"LpPool", 1, 0, lpPool},
	// GlobalMaxPool: over all axes behind the channels.
	{"GlobalMaxPool", 1, 0, func(c *call) []*value { return one(c.highest(c.x(0), true, c.spatial()...)) }},
	{"GlobalAveragePool", 1, 0, func(c *call) []*value { return one(c.mean(c.x(0), true, c.spatial()...)) }},
	{"GlobalLpPool", 1, 0, func(c *call) []*value {
		return one(c.lp(c.x(0), func(x *value) *value { return c.sum(x, true, c.spatial()...) }))
	}},
	{"MaxUnpool", 9, 0, maxUnpool},
}

// spatial are the axes of images behind batch and channels.
func (c *call) spatial() []int64 {
	if c.x(0).rank() < 3 {
		c.wrong("the operand has %d dimensions; want 3 or more", c.x(0).rank())
	}
	return count(c.x(0).rank())[2:]
}

// pool is windowsOf for a pool, and the number of windows on each axis. plain says that a row does all of it: no
// dilation, no rounding up, and no window that lies in the padding.
func (c *call) pool() (x *value, w windows, out []int64, plain bool) {
	x = c.x(0)
	w = c.windowsOf(x, c.list("kernel_shape"))
	up := c.yes("ceil_mode", 0)
	plain = !up && len(w.kernel) <= 3
	for i, n := range x.dims()[2:] {
		span := n + w.before[i] + w.behind[i] - w.extent(i)
		// Division drops the fraction: a window that reaches over the end of a short axis is there once, as in onnxruntime.
		windows := span/w.stride[i] + 1
		if up && span%w.stride[i] != 0 && windows*w.stride[i] < n+w.before[i] { // the last begins within x or the pads before it
			windows++
		}
		out = append(out, max(windows, 0))
		plain = plain && span >= 0 && w.dilation[i] == 1 && w.before[i] < w.kernel[i] && w.behind[i] < w.kernel[i] && windows > 0 && n > 0
	}
	return x, w, out, plain && x.DType.IsFloat()
}

// places are the elements of x that the windows of an axis have: out windows of kernel elements each, -1 for the
// padding. They depend on the axis alone, and are the same for all lines of it.
func (c *call) places(w *windows, i int, n, out int64) []int64 {
	c.room(out, w.kernel[i])
	list := make([]int64, 0, out*w.kernel[i])
	for o := range out {
		for k := range w.kernel[i] {
			at := o*w.stride[i] + k*w.dilation[i] - w.before[i]
			if at < 0 || at >= n {
				at = -1
			}
			list = append(list, at)
		}
	}
	return list
}

// byAxis reduces the windows axis by axis. What is beyond the ends is fill. reduce gets the elements of windows
// along the axis that it is told, which it removes. The result is exact for maxima. Sums are added in another order
// than windows of several axes would have it.
func (c *call) byAxis(x *value, w windows, out []int64, fill op.Value, reduce func(x *value, axis int64) *value) *value {
	for i := range w.kernel {
		axis, n := i+2, x.dims()[i+2]
		list := c.places(&w, i, n, out[i])
		for j, at := range list {
			if at < 0 {
				list[j] = n // which is padded
			}
		}
		if slices.Contains(list, n) {
			x = c.padAxis(x, axis, 0, 1, numberOf(fill))
		}
		dims := slices.Insert(slices.Clone(x.dims()), axis+1, w.kernel[i])
		dims[axis] = out[i]
		x = reduce(c.reshape(c.take(x, axis, list), dims...), int64(axis)+1)
	}
	return x
}

// maxPool is the largest element of each window. The second result, if it is wanted, says where these are.
func maxPool(c *call) []*value {
	x, w, out, plain := c.pool()
	if plain {
		made := c.all(op.IDMaxPool, with(op.MaxPoolKernelSize, w.kernel, op.MaxPoolStride, w.stride, op.MaxPoolPadding, w.paddings()), x)
		if len(c.node.Out) < 2 {
			return one(made[0])
		}
		return []*value{made[0], c.indicesOfTensor(made[1], x)}
	}
	fill := lowest(x.DType)
	y := c.byAxis(x, w, out, fill, func(v *value, axis int64) *value { return c.highest(v, false, axis) })
	if len(c.node.Out) < 2 {
		return one(y)
	}
	return []*value{y, c.indicesOfTensor(c.placesOfMaxima(x, w, out), x)}
}

// placesOfMaxima are the indices within planes, of windows that the row does not have: of all elements of a window
// the first of the largest. The windows of all axes are crossed here, one list of places for a plane; the planes
// then are gathered as lines.
func (c *call) placesOfMaxima(x *value, w windows, out []int64) *value {
	n := int64(1)
	plane := x.dims()[2:]
	windows, size := times(out...), times(w.kernel...)
	c.room(windows, size)
	// An element that is padding on one axis is padding in the window.
	//
	// Row-major places of every element of every window: the windows of all axes, crossed.
	flat, ow, ok := []int64{0}, int64(1), int64(1)
	for i, d := range plane {
		list := c.places(&w, i, d, out[i])
		c.room(int64(len(flat)), int64(len(list)))
		next := make([]int64, 0, len(flat)*len(list))
		for a := range ow {
			for o := range out[i] {
				for b := range ok {
					for k := range w.kernel[i] {
						before, at := flat[a*ok+b], list[o*w.kernel[i]+k]
						if before < 0 || at < 0 {
							next = append(next, -1)
						} else {
							next = append(next, before*d+at)
						}
					}
				}
			}
		}
		flat, ow, ok = next, ow*out[i], ok*w.kernel[i]
		n *= d
	}
	for i, at := range flat {
		if at < 0 {
			flat[i] = n
		}
	}
	lead := x.dims()[:2]
	lines := c.padAxis(c.reshape(x, lead[0], lead[1], n), 2, 0, 1, numberOf(lowest(x.DType)))
	lines = c.reshape(c.take(lines, 2, flat), lead[0], lead[1], windows, size)
	best := c.do(op.IDArgmax, with(op.ArgmaxAxis, 3, op.ArgmaxKeepdim, false), lines)
	which := c.add(best, c.mul(c.steps(windows, 2, 3), whole(size)))
	made := c.reshape(c.binary(op.IDGather, c.vector(flat...), c.reshape(which, which.Shape.Numel())), lead[0]*lead[1]*windows)
	return c.reshape(made, append(slices.Clone(lead), out...)...)
}

// indicesOfTensor are indices within planes as indices of the whole tensor. ONNX numbers the elements of the whole
// tensor, and the row those of a plane.
func (c *call) indicesOfTensor(at, x *value) *value {
	plane := product(x.dims()[2:])
	if c.yes("storage_order", 0) { // column-major within a plane
		if x.rank() == 4 {
			h, w := x.dims()[2], x.dims()[3]
			row := c.binary(op.IDFloorDivide, at, whole(w))
			at = c.add(c.mul(c.binary(op.IDRemainder, at, whole(w)), whole(h)), row)
		} else if x.rank() > 4 {
			c.refuse("storage_order is not supported for %d dimensions", x.rank())
		}
	}
	n, ch := x.dims()[0], x.dims()[1]
	dims := slices.Repeat([]int64{1}, x.rank())
	dims[0], dims[1] = n, ch
	c.room(n, ch)
	first := make([]int64, n*ch)
	for i := range first {
		first[i] = int64(i) * plane
	}
	return c.add(at, c.tensor(dims, first))
}

// averagePool divides by the elements of the window in x, or with count_include_pad by those in the padding too.
// Where windows are counted up, what is beyond the padding counts for nothing in either case.
func averagePool(c *call) []*value {
	x, w, out, plain := c.pool()
	padded := c.yes("count_include_pad", 0)
	// The row counts, as Paddle does, no more of the padding behind an axis than there is in front of it.
	for i, n := range w.behind {
		plain = plain && (!padded || n <= w.before[i])
	}
	if plain {
		return one(c.do(op.IDAvgPool, with(op.AvgPoolKernelSize, w.kernel, op.AvgPoolStride, w.stride, op.AvgPoolPadding, w.paddings(), op.AvgPoolExclusive, !padded), x))
	}
	y := c.byAxis(x, w, out, op.Value{Kind: op.Float}, func(v *value, axis int64) *value { return c.sum(v, false, axis) })
	for i, n := range x.dims()[2:] {
		c.room(out[i], w.kernel[i]) // the windows are counted element by element
		counts := make([]float64, out[i])
		for o := range out[i] {
			for k := range w.kernel[i] {
				at := o*w.stride[i] + k*w.dilation[i] - w.before[i]
				if at >= 0 && at < n || padded && at >= -w.before[i] && at < n+w.behind[i] {
					counts[o]++
				}
			}
		}
		dims := slices.Repeat([]int64{1}, x.rank())
		dims[i+2] = out[i]
		y = c.div(y, c.reals(x.DType, dims, counts))
	}
	return one(y)
}

// lp is the p-th root of what reduce makes of the p-th powers of absolute values.
func (c *call) lp(x *value, reduce func(x *value) *value) *value {
	switch p := c.int("p", 2); p {
	case 1:
		return reduce(c.unary(op.IDAbs, x))
	case 2:
		return c.unary(op.IDSqrt, reduce(c.unary(op.IDSquare, x)))
	default:
		return c.binary(op.IDPow, reduce(c.binary(op.IDPow, c.unary(op.IDAbs, x), num(float64(p)))), num(1/float64(p)))
	}
}

// lpPool is the p-norm of each window; the padding counts as 0.
func lpPool(c *call) []*value {
	x, w, out, _ := c.pool()
	return one(c.lp(x, func(x *value) *value {
		return c.byAxis(x, w, out, op.Value{Kind: op.Float}, func(v *value, axis int64) *value { return c.sum(v, false, axis) })
	}))
}

// maxUnpool puts elements where a MaxPool found them, in the least image that has such windows. If a larger one is asked
// for, that is its corner.
func maxUnpool(c *call) []*value {
	x, at := c.x(0), c.x(1)
	w := c.windowsOf(x, c.list("kernel_shape"))
	least := slices.Clone(x.dims())
	for i := range w.kernel {
		least[i+2] = (x.dims()[i+2]-1)*w.stride[i] + w.kernel[i] - w.before[i] - w.behind[i]
	}
	flat := c.full(x.DType, op.Value{Kind: op.Float}, product(c.checked(least)))
	y := c.do(op.IDIndexPut, nil, flat, c.reshape(x, x.Shape.Numel()), c.reshape(c.fromStart(at, flat.Shape.Numel()), at.Shape.Numel()))
	y = c.reshape(y, least...)
	if !c.has(2) {
		return one(y)
	}
	want := c.checked(c.ints(2, "output_shape"))
	if len(want) != x.rank() {
		c.wrong("output_shape has %d dimensions; want %d", len(want), x.rank())
	}
	for i, n := range want {
		if n != least[i] {
			y = c.padAxis(y, i, 0, n-least[i], num(0))
		}
	}
	return one(y)
}
