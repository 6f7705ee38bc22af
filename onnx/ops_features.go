package onnx

import "github.com/paddle-mps/paddle-mps/core/op"

// Operators of ai.onnx.ml.

var features = []entry{
	// Binarizer: 1 above a threshold.
	{"ai.onnx.ml:Binarizer", 1, 0, func(c *call) []*value {
		x := c.x(0)
		return one(c.cast(c.do(op.IDGreaterThan, nil, x, num(c.float("threshold", 0))), x.DType))
	}},
	// ArrayFeatureExtractor: x, indices of the last axis.
	{"ai.onnx.ml:ArrayFeatureExtractor", 1, 0, featuresOf},
}

// featuresOf is indices of the last axis. Of a vector the result is a matrix of one row.
func featuresOf(c *call) []*value {
	x, at := c.x(0), c.x(1)
	if x.rank() == 0 {
		c.wrong("the operand is a number; want 1 dimension or more")
	}
	if x.rank() == 1 {
		x = c.unsqueeze(x, 0)
	}
	return one(c.gathered(x, c.reshape(at, at.Shape.Numel()), x.rank()-1))
}
