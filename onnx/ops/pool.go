package ops

import (
	"slices"

	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/onnx/build"
)

// Pooling. Common pools are rows with kernels. Row window_pool has the others: dilations, numbers of windows that are rounded up,
// integers, and p-norms.

var pools = []entry{
	{"MaxPool", 1, 0, maxPool},         // values, and indices in the whole tensor
	{"AveragePool", 1, 0, averagePool}, // with or without the padding
	{"LpPool", 1, 0, lpPool},
	// GlobalMaxPool: over all axes behind the channels.
	{"GlobalMaxPool", 1, 0, func(c *build.Call) []*build.Value { return build.One(c.Highest(c.X(0), true, spatial(c)...)) }},
	{"GlobalAveragePool", 1, 0, func(c *build.Call) []*build.Value { return build.One(c.Mean(c.X(0), true, spatial(c)...)) }},
	{"GlobalLpPool", 1, 0, globalLpPool},
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

// pooled is row window_pool, or the one of the places of maxima, with the attributes of both and more.
func pooled(c *build.Call, row op.ID, x *build.Value, w windows, out []int64, more ...any) *build.Value {
	var all []int64
	for i, n := range out {
		c.Room(n, w.kernel[i])
		all = append(all, n, w.kernel[i])
	}
	if row == op.IDWindowPoolPlaces {
		c.Room(all...)
	}
	at := append(more, op.WindowPoolKernelSize, w.kernel, op.WindowPoolStride, w.stride, op.WindowPoolPadding, w.paddings(), op.WindowPoolDilation, w.dilation, op.WindowPoolWindows, out)
	return c.Do(row, build.With(at...), x)
}

// maxPool is the largest element of each window. The second result, if it is wanted, says where these are.
func maxPool(c *build.Call) []*build.Value {
	x, w, out, plain := pool(c)
	var made []*build.Value
	switch {
	case plain:
		made = c.All(op.IDMaxPool, build.With(op.MaxPoolKernelSize, w.kernel, op.MaxPoolStride, w.stride, op.MaxPoolPadding, w.paddings()), x)
	case c.Wants(1):
		made = []*build.Value{pooled(c, op.IDWindowPool, x, w, out), pooled(c, op.IDWindowPoolPlaces, x, w, out)}
	default:
		made = build.One(pooled(c, op.IDWindowPool, x, w, out))
	}
	if !c.Wants(1) {
		return made[:1]
	}
	return []*build.Value{made[0], indicesOfTensor(c, made[1], x)}
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
	return build.One(pooled(c, op.IDWindowPool, x, w, out, op.WindowPoolMode, "mean", op.WindowPoolExclusive, !padded))
}

// globalLpPool is the p-norm over all axes behind the channels.
func globalLpPool(c *build.Call) []*build.Value {
	return build.One(c.Do(op.IDPNorm, build.With(op.PNormP, float64(c.Int("p", 2)), op.PNormAxis, spatial(c), op.PNormKeepdim, true), c.X(0)))
}

// lpPool is the p-norm of each window; the padding counts as 0. The row has no absolute values, and its mean the limits of averagePool.
// In other windows it is the p-th root of the sum of p-th powers.
func lpPool(c *build.Call) []*build.Value {
	x, w, out, plain := pool(c)
	for i, n := range w.behind {
		plain = plain && n <= w.before[i]
	}
	p := float64(c.Int("p", 2))
	if plain {
		at := build.With(op.LpPoolNormType, p, op.LpPoolKernelSize, w.kernel, op.LpPoolStride, w.stride, op.LpPoolPadding, w.paddings())
		return build.One(c.Do(op.IDLpPool, at, c.Unary(op.IDAbs, x)))
	}
	summed := func(x *build.Value) *build.Value {
		return pooled(c, op.IDWindowPool, x, w, out, op.WindowPoolMode, "sum")
	}
	switch p {
	case 1:
		return build.One(summed(c.Unary(op.IDAbs, x)))
	case 2:
		return build.One(c.Unary(op.IDSqrt, summed(c.Unary(op.IDSquare, x))))
	}
	powers := c.Binary(op.IDPow, c.Unary(op.IDAbs, x), build.Num(p))
	return build.One(c.Binary(op.IDPow, summed(powers), build.Num(1/p)))
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
