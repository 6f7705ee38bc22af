package ops

import (
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/onnx/build"
)

// Operators that read images at places that other tensors name, and determinants.

var sights = []entry{
	// DeformConv: X, W, offset, B, mask.
	{"DeformConv", 19, 0, deformConv},
	// RoiAlign: X, rois, batch_indices. Coordinates were not shifted before opset 16.
	{"RoiAlign", 10, 0, func(c *build.Call) []*build.Value { return build.One(aligned(c, false)) }},
	{"RoiAlign", 16, 0, func(c *build.Call) []*build.Value {
		return build.One(aligned(c, c.Text("coordinate_transformation_mode", "half_pixel") == "half_pixel"))
	}},
	{"Det", 11, 0, func(c *build.Call) []*build.Value { return build.One(determinant(c, c.X(0))) }},
}

// deformConv has the padding of all axes before, and then behind.
func deformConv(c *build.Call) []*build.Value {
	x := c.X(0)
	pads := c.List("pads")
	axes := len(pads) / 2
	c.Room(c.X(1).Shape.Numel(), 2)
	var padding []int64
	for i := range axes {
		padding = append(padding, pads[i], pads[i+axes])
	}
	at := build.With(op.DeformConvStride, c.List("strides"), op.DeformConvPadding, padding, op.DeformConvDilation, c.List("dilations"),
		op.DeformConvGroups, c.Int("group", 1), op.DeformConvDeformableGroups, c.Int("offset_group", 1))
	return build.One(c.Do(op.IDDeformConv, at, x, c.X(2), c.X(1), c.Optional(3), c.Optional(4)))
}

// aligned is regions of images, each as a grid of bins. half says that the corners are at the centers of elements.
func aligned(c *build.Call, half bool) *build.Value {
	each := c.Int("sampling_ratio", 0)
	if each < 1 {
		c.Refuse("sampling_ratio is %d, which makes the number of points depend on elements; want 1 or more", each)
	}
	height, width := c.Int("output_height", 1), c.Int("output_width", 1)
	c.Room(max(height, width, 1), each)
	at := build.With(op.RoiAlignOutputHeight, height, op.RoiAlignOutputWidth, width, op.RoiAlignSpatialScale, c.Float("spatial_scale", 1),
		op.RoiAlignSamplingRatio, each, op.RoiAlignHalfPixel, half, op.RoiAlignMode, c.Text("mode", "avg"))
	return c.Do(op.IDRoiAlign, at, c.X(0), c.X(1), c.X(2))
}

// largestDet is the most rows of a matrix whose determinant is computed: each takes a step of the elimination.
const largestDet = 128

// determinant eliminates a row and a column after the other. The row with the largest element in the first column changes
// places with the first row, which changes the sign. The determinant is the product of these elements.
//
// Batches choose different rows, so that nothing is moved by indices: a mask of one row reads it as a sum, and writes over it.
// Where a column has nothing but zeros, the determinant is 0, and what is eliminated further does not matter.
func determinant(c *build.Call, x *build.Value) *build.Value {
	last := x.Rank() - 1
	if last < 1 || x.Dims()[last] != x.Dims()[last-1] {
		c.Wrong("the operand has shape %s; want square matrices", &x.Shape)
	}
	if x.Dims()[last] > largestDet {
		c.Refuse("the matrices have %d rows; want at most %d", x.Dims()[last], largestDet)
	}
	d := x.DType
	a := c.Cast(x, precise(d))
	det := c.Full(a.DType, build.Integer(1), x.Dims()[:last-1]...)
	for n := x.Dims()[last]; n > 0; n-- {
		first := c.Pick(a, last, 0)
		best := c.Do(op.IDArgmax, build.With(op.ArgmaxAxis, last-1), c.Unary(op.IDAbs, first))
		places := c.Steps(n, last-1, last+1) // of rows
		chosen := c.Binary(op.IDEqual, places, c.Unsqueeze(best, int64(last-1), int64(last)))
		row := c.Sum(c.Where(chosen, a, zero(c, a.DType)), false, int64(last-1))
		head := c.Pick(row, last-1, 0)
		sign := c.Where(c.Binary(op.IDEqual, best, build.Whole(0)), c.Reals(a.DType, nil, []float64{1}), c.Reals(a.DType, nil, []float64{-1}))
		det = c.Mul(det, c.Mul(head, sign))
		if n == 1 {
			break
		}
		a = c.Where(chosen, c.Slice(a, last-1, 0, 1), a) // the first row is where the other was, and is dropped at its own place
		a = c.Slice(a, last-1, 1, n)
		safe := c.Where(c.Binary(op.IDEqual, head, build.Num(0)), c.Reals(a.DType, nil, []float64{1}), head)
		ratio := c.Div(c.Slice(a, last, 0, 1), c.Unsqueeze(safe, int64(last-1), int64(last)))
		a = c.Sub(c.Slice(a, last, 1, n), c.Mul(ratio, c.Unsqueeze(c.Slice(row, last-1, 1, n), int64(last-1))))
	}
	return c.Cast(det, d)
}
