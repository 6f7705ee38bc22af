package rows

import (
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// Views that name axes and diagonals, where those of array.go name shapes and ranges; and a sum of any number of tensors.
var shapeRows = []op.Row{
	{
		ID: 437, Name: "flatten", Kind: op.View, In: x, Grad: op.Grad{Rule: gradSame}, Accepts: moved, View: viewFlatten, Alias: op.Alias{Write: writeReshaped}, Python: byHand,
		Attrs: []op.Attr{
			{Name: "start_axis", Type: op.IntAttr, Default: op.Value{Kind: op.Int}, Doc: "the first of the axes that become one"},
			{Name: "stop_axis", Type: op.IntAttr, Default: op.Value{Kind: op.Int, I: -1}, Doc: "the last of them"},
		},
	},
	{
		ID: 438, Name: "diagonal", Kind: op.View, In: x, Grad: op.Grad{Rule: gradDiagonal}, Accepts: moved, View: viewDiagonal, Alias: op.Alias{Write: writeDiagonal}, Python: byHand,
		Attrs: []op.Attr{
			aboveMain,
			{Name: "axis1", Type: op.IntAttr, Default: op.Value{Kind: op.Int}, Doc: "the axis that counts rows"},
			{Name: "axis2", Type: op.IntAttr, Default: op.Value{Kind: op.Int, I: 1}, Doc: "the axis that counts columns"},
		},
	},
	{
		ID: 439, Name: "unstack", Kind: op.View, Fresh: true, Out: parts, In: x, Grad: op.Grad{Rule: gradUnstack}, Accepts: moved, View: viewUnstack, Python: byHand,
		Attrs: []op.Attr{
			{Name: "axis", Type: op.IntAttr, Default: op.Value{Kind: op.Int}, Doc: "the axis of the slices, which they do not have"},
			{Name: "num", Type: op.IntAttr, Needed: true, Doc: "how many there are"},
		},
	},
	{
		// Tests add three tensors, with two roundings.
		ID: 440, Name: "add_n", Kind: op.Composed, In: []op.Input{{Name: "inputs", Variadic: true, Domain: op.Ordinary}}, Grad: op.Grad{Rule: gradAddN}, Accepts: anyNumber, Infer: op.Rules{joined, Broadcast}, Lower: op.LowerToCalls, Calls: addAll, Tolerance: pairwise, Python: &op.Python{ByHand: true},
	},
}

// viewFlatten makes some neighbouring axes one; of a tensor without axes one of one element.
func viewFlatten(c *op.Inference, in *shape.Layout) error {
	first, err := shape.Axis(c.Row.Name, c.Attr("start_axis").I, in.Rank)
	last := first
	if err == nil {
		last, err = shape.Axis(c.Row.Name, c.Attr("stop_axis").I, in.Rank)
	}
	if err == nil && last < first {
		err = status.Errorf(status.Invalid, "[%s] stop_axis is %d; want %d or more", c.Row.Name, last, first)
	}
	if err != nil {
		return err
	}
	s := shape.Shape{}
	for i, d := range in.Slice() {
		if i > first && i <= last {
			s.Dims[first] = remaining(c, []int64{s.Dims[first], d}, 1)
		} else {
			s.Append(d)
		}
	}
	if in.Rank == 0 {
		s.Append(1)
	}
	return emitReshaped(c, in, &s)
}

// viewDiagonal has the diagonals over two axes as its last axis.
func viewDiagonal(c *op.Inference, in *shape.Layout) error {
	first, second, err := planeOf(c, in.Rank)
	if err != nil {
		return err
	}
	p := diagonalOf(in, c.Attr("offset").I, first, second)
	if shape.IsSymbol(in.Dims[first]) || shape.IsSymbol(in.Dims[second]) {
		p.Dims[p.Rank-1] = c.Unknown()
	}
	c.Parts = append(c.Parts, p)
	return nil
}

func gradDiagonal(g *op.Gradient) {
	g.Set(0, g.Do(op.IDDiagonalScatter, g.Attrs, g.Full(g.In[0], 0), g.Dy[0]))
}

func writeDiagonal(c *op.Calls, at op.Attrs, part, before op.Var) op.Var {
	return c.Do(op.IDDiagonalScatter, at, before, part)
}

// viewUnstack has the slices along an axis, without it.
func viewUnstack(c *op.Inference, in *shape.Layout) error {
	axis, err := shape.Axis(c.Row.Name, c.Attr("axis").I, in.Rank)
	if err != nil {
		return err
	}
	num := c.Attr("num").I
	if in.Rank == 0 || uint64(num) > mostParts || op.Differ(in.Dims[axis], num) {
		return status.Errorf(status.Invalid, "[%s] num is %d and x has shape %s; want the size of axis %d", c.Row.Name, num, &in.Shape, axis)
	}
	c.Parts = make([]op.Part, 0, num)
	for i := range num {
		c.Parts = append(c.Parts, sliceAt(in, axis, i))
	}
	return nil
}

func gradUnstack(g *op.Gradient) {
	parts := make([]op.Var, len(g.Out))
	for i := range parts {
		parts[i] = dy(g, i)
	}
	g.Set(0, g.Do(op.IDStack, op.Attrs{g.Attrs[0]}, parts...))
}

// addAll adds tensors, one after the other; halves in float32.
func addAll(c *op.Calls, in []op.Var, _ op.Attrs) []op.Var {
	given := c.TypeOf(in[0]).DType
	wide := given
	if given.IsFloat() && given.Size() == 2 {
		wide = dtype.Float32
	}
	total := c.Cast(in[0], wide)
	for _, v := range in[1:] {
		total = c.Add(total, c.Cast(v, wide))
	}
	return []op.Var{c.Cast(total, given)}
}

func gradAddN(g *op.Gradient) {
	for i := range g.In {
		g.Set(i, g.Dy[0])
	}
}
