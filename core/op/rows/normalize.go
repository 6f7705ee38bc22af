package rows

import (
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// Normalizations along the last axis. Those of other axes, such as group normalization, reshape their operand; a layer
// normalization over several axes does as well.

var normalizeRows = []op.Row{
	// The row makes in one pass what would be a mean, a difference, a sum of squares, a factor and a term. It is right
	// where the mean is large beside the deviation: the squares are those of differences. Both devices compute the
	// statistics and the element in about twice the digits of float32, and round once.
	{
		ID: 230, Name: "layer_norm", Kind: op.Normalize,
		In:  []op.Input{{Name: "x", Domain: op.Ordinary}, {Name: "weight", Domain: op.Ordinary, Optional: true}, {Name: "bias", Domain: op.Ordinary, Optional: true}},
		Out: []op.Output{{Name: "out"}, {Name: "scale", Optional: true}}, Grad: op.Grad{Rule: gradLayerNorm, Reads: op.ReadsX | op.ReadsY | op.ReadsNext},
		Accepts: dtype.Floats, Infer: op.Rules{inFloat32OrWider, normalized},
		Python: internal, ONNX: "LayerNormalization-17",
		Attrs: []op.Attr{
			{Name: "epsilon", Type: op.FloatAttr, Default: op.Value{Kind: op.Float, F: 1e-5}},
			{Name: "centered", Type: op.BoolAttr, Default: op.Value{Kind: op.Bool, I: 1}},
		},
	},
}

// inFloat32OrWider is the rule of what is computed, for halves, in float32 from the weights on: all operands but the first,
// and the second result, are float32 beside halves.
func inFloat32OrWider(c *op.Inference) error {
	if err := c.Settle(c.In[0].DType); err != nil {
		return err
	}
	wide := c.In[0].DType
	if wide.Size() < dtype.Float32.Size() {
		wide = dtype.Float32
	}
	for i := 1; i < len(c.Cast); i++ {
		c.Cast[i] = wide
	}
	c.Out = append(c.Out, op.Type{DType: wide})
	return nil
}

// normalized is the rule of layer_norm: weight and bias are lines, and of each line of x there is one scale.
func normalized(c *op.Inference) error {
	x := &c.In[0].Shape
	if x.Rank == 0 || x.Dims[x.Rank-1] == 0 {
		return status.Errorf(status.Invalid, "[%s] x has shape %s; want 1 element or more along a last axis", c.Row.Name, x)
	}
	for i := 1; i < len(c.In); i++ {
		if in := &c.In[i]; !in.Absent && (in.Shape.Rank != 1 || op.Differ(in.Shape.Dims[0], x.Dims[x.Rank-1])) {
			return status.Errorf(status.Invalid, "[%s] %s has shape %s; want %d elements in one dimension, as the last axis of x",
				c.Row.Name, c.Row.In[i].Name, &in.Shape, x.Dims[x.Rank-1])
		}
	}
	c.Axes = 1 << (x.Rank - 1)
	c.Out[0].Shape, c.Out[1].Shape = *x, *x
	c.Out[1].Shape.Dims[x.Rank-1] = 1
	return nil
}
