package ops

import (
	"slices"

	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/onnx/build"
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
	{"GlobalMaxPool", 1, 0, func(c *build.Call) []*build.Value { return build.One(c.Highest(c.X(0), true, spatial(c)...)) }},
	{"GlobalAveragePool", 1, 0, func(c *build.Call) []*build.Value { return build.One(c.Mean(c.X(0), true, spatial(c)...)) }},
	{"GlobalLpPool", 1, 0, func(c *build.Call) []*build.Value {
		return build.One(lp(c, c.X(0), func(x *build.Value) *build.Value { return c.Sum(x, true, spatial(c)...) }))
	}},
	{"MaxUnpool", 9, 0, maxUnpool},
}

// spatial are the axes of images behind batch and channels.
func spatial(c *build.Call) []int64 {
	if c.X(0).Rank() < 3 {
		c.Wrong("the operand has %d dimensions; want 3 or more", c.X(0).Rank())
	}
	return build.Count(c.X(0).Rank())[2:]
}

// pool is windowsOf for a pool, and the number of windows on each axis. plain says that a row does all of it: no
// dilation, no rounding up, and no window that lies in the padding.
func pool(c *build.Call) (x *build.Value, w windows, out []int64, plain bool) {
	x = c.X(0)
	w = windowsOf(c, x, c.List("kernel_shape"))
	up := c.Yes("ceil_mode", 0)
	plain = !up && len(w.kernel) <= 3
	for i, n := range x.Dims()[2:] {
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
func places(c *build.Call, w *windows, i int, n, out int64) []int64 {
	c.Room(out, w.kernel[i])
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
func byAxis(c *build.Call, x *build.Value, w windows, out []int64, fill op.Value, reduce func(x *build.Value, axis int64) *build.Value) *build.Value {
	for i := range w.kernel {
		axis, n := i+2, x.Dims()[i+2]
		list := places(c, &w, i, n, out[i])
		for j, at := range list {
			if at < 0 {
				list[j] = n // which is padded
			}
		}
		if slices.Contains(list, n) {
			x = padAxis(c, x, axis, 0, 1, fill)
		}
		dims := slices.Insert(slices.Clone(x.Dims()), axis+1, w.kernel[i])
		dims[axis] = out[i]
		x = reduce(c.Reshape(c.Take(x, axis, list), dims...), int64(axis)+1)
	}
	return x
}

// maxPool is the largest element of each window. The second result, if it is wanted, says where these are.
func maxPool(c *build.Call) []*build.Value {
	x, w, out, plain := pool(c)
	if plain {
		made := c.All(op.IDMaxPool, build.With(op.MaxPoolKernelSize, w.kernel, op.MaxPoolStride, w.stride, op.MaxPoolPadding, w.paddings()), x)
		if len(c.Node.Out) < 2 {
			return build.One(made[0])
		}
		return []*build.Value{made[0], indicesOfTensor(c, made[1], x)}
	}
	fill := lowest(x.DType)
	y := byAxis(c, x, w, out, fill, func(v *build.Value, axis int64) *build.Value { return c.Highest(v, false, axis) })
	if len(c.Node.Out) < 2 {
		return build.One(y)
	}
	return []*build.Value{y, indicesOfTensor(c, placesOfMaxima(c, x, w, out), x)}
}

// placesOfMaxima are the indices within planes, of windows that the row does not have: of all elements of a window
// the first of the largest. The windows of all axes are crossed here, one list of places for a plane; the planes
// then are gathered as lines.
func placesOfMaxima(c *build.Call, x *build.Value, w windows, out []int64) *build.Value {
	n := int64(1)
	plane := x.Dims()[2:]
	windows, size := build.Times(out...), build.Times(w.kernel...)
	c.Room(windows, size)
	// An element that is padding on one axis is padding in the window.
	//
	// Row-major places of every element of every window: the windows of all axes, crossed.
	flat, ow, ok := []int64{0}, int64(1), int64(1)
	for i, d := range plane {
		list := places(c, &w, i, d, out[i])
		c.Room(int64(len(flat)), int64(len(list)))
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
	lead := x.Dims()[:2]
	lines := padAxis(c, c.Reshape(x, lead[0], lead[1], n), 2, 0, 1, lowest(x.DType))
	lines = c.Reshape(c.Take(lines, 2, flat), lead[0], lead[1], windows, size)
	best := c.Do(op.IDArgmax, build.With(op.ArgmaxAxis, 3, op.ArgmaxKeepdim, false), lines)
	which := c.Add(best, c.Mul(c.Steps(windows, 2, 3), build.Whole(size)))
	made := c.Reshape(c.Binary(op.IDGather, c.Vector(flat...), c.Reshape(which, which.Shape.Numel())), lead[0]*lead[1]*windows)
	return c.Reshape(made, append(slices.Clone(lead), out...)...)
}

// indicesOfTensor are indices within planes as indices of the whole tensor. ONNX numbers the elements of the whole
// tensor, and the row those of a plane.
func indicesOfTensor(c *build.Call, at, x *build.Value) *build.Value {
	plane := build.Product(x.Dims()[2:])
	if c.Yes("storage_order", 0) { // column-major within a plane
		if x.Rank() == 4 {
			h, w := x.Dims()[2], x.Dims()[3]
			row := c.Binary(op.IDFloorDivide, at, build.Whole(w))
			at = c.Add(c.Mul(c.Binary(op.IDRemainder, at, build.Whole(w)), build.Whole(h)), row)
		} else if x.Rank() > 4 {
			c.Refuse("storage_order is not supported for %d dimensions", x.Rank())
		}
	}
	n, ch := x.Dims()[0], x.Dims()[1]
	dims := slices.Repeat([]int64{1}, x.Rank())
	dims[0], dims[1] = n, ch
	c.Room(n, ch)
	first := make([]int64, n*ch)
	for i := range first {
		first[i] = int64(i) * plane
	}
	return c.Add(at, c.Tensor(dims, first))
}

// averagePool divides by the elements of the window in x, or with count_include_pad by those in the padding too.
// Where windows are counted up, what is beyond the padding counts for nothing in either case.
func averagePool(c *build.Call) []*build.Value {
	x, w, out, plain := pool(c)
	padded := c.Yes("count_include_pad", 0)
	// The row counts, as Paddle does, no more of the padding behind an axis than there is in front of it.
	for i, n := range w.behind {
		plain = plain && (!padded || n <= w.before[i])
	}
	if plain {
		return build.One(c.Do(op.IDAvgPool, build.With(op.AvgPoolKernelSize, w.kernel, op.AvgPoolStride, w.stride, op.AvgPoolPadding, w.paddings(), op.AvgPoolExclusive, !padded), x))
	}
	y := byAxis(c, x, w, out, op.Value{Kind: op.Float}, func(v *build.Value, axis int64) *build.Value { return c.Sum(v, false, axis) })
	for i, n := range x.Dims()[2:] {
		c.Room(out[i], w.kernel[i]) // the windows are counted element by element
		counts := make([]float64, out[i])
		for o := range out[i] {
			for k := range w.kernel[i] {
				at := o*w.stride[i] + k*w.dilation[i] - w.before[i]
				if at >= 0 && at < n || padded && at >= -w.before[i] && at < n+w.behind[i] {
					counts[o]++
				}
			}
		}
		dims := slices.Repeat([]int64{1}, x.Rank())
		dims[i+2] = out[i]
		y = c.Div(y, c.Reals(x.DType, dims, counts))
	}
	return build.One(y)
}

// lp is the p-th root of what reduce makes of the p-th powers of absolute values.
func lp(c *build.Call, x *build.Value, reduce func(x *build.Value) *build.Value) *build.Value {
	switch p := c.Int("p", 2); p {
	case 1:
		return reduce(c.Unary(op.IDAbs, x))
	case 2:
		return c.Unary(op.IDSqrt, reduce(c.Unary(op.IDSquare, x)))
	default:
		return c.Binary(op.IDPow, reduce(c.Binary(op.IDPow, c.Unary(op.IDAbs, x), build.Num(float64(p)))), build.Num(1/float64(p)))
	}
}

// lpPool is the p-norm of each window; the padding counts as 0. The row has no absolute values, and its mean the limits of averagePool.
func lpPool(c *build.Call) []*build.Value {
	x, w, out, plain := pool(c)
	for i, n := range w.behind {
		plain = plain && n <= w.before[i]
	}
	if plain {
		at := build.With(op.LpPoolNormType, float64(c.Int("p", 2)), op.LpPoolKernelSize, w.kernel, op.LpPoolStride, w.stride, op.LpPoolPadding, w.paddings())
		return build.One(c.Do(op.IDLpPool, at, c.Unary(op.IDAbs, x)))
	}
	return build.One(lp(c, x, func(x *build.Value) *build.Value {
		return byAxis(c, x, w, out, op.Value{Kind: op.Float}, func(v *build.Value, axis int64) *build.Value { return c.Sum(v, false, axis) })
	}))
}

// maxUnpool puts elements where a MaxPool found them, in the least image that has such windows. If a larger one is asked
// for, that is its corner.
func maxUnpool(c *build.Call) []*build.Value {
	x, at := c.X(0), c.X(1)
	w := windowsOf(c, x, c.List("kernel_shape"))
	least := slices.Clone(x.Dims())
	for i := range w.kernel {
		least[i+2] = (x.Dims()[i+2]-1)*w.stride[i] + w.kernel[i] - w.before[i] - w.behind[i]
	}
	flat := c.Full(x.DType, op.Value{Kind: op.Float}, build.Product(c.Checked(least)))
	y := c.Do(op.IDIndexPut, nil, flat, c.Reshape(x, x.Shape.Numel()), c.Reshape(fromStart(c, at, flat.Shape.Numel()), at.Shape.Numel()))
	y = c.Reshape(y, least...)
	if !c.Has(2) {
		return build.One(y)
	}
	want := c.Checked(c.Ints(2, "output_shape"))
	if len(want) != x.Rank() {
		c.Wrong("output_shape has %d dimensions; want %d", len(want), x.Rank())
	}
	pairs := make([]int64, 2*x.Rank())
	for i, n := range want {
		pairs[2*i+1] = n - least[i]
	}
	return build.One(padWith(c, y, pairs, "constant", build.Integer(0)))
}
