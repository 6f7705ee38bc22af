package rows

import "github.com/paddle-mps/paddle-mps/core/op"

// gradLayerNorm. With n = (x - mean(x)) * scale and g = dy * weight, the gradient of x is
// scale * (g - mean(g) - n * mean(g * n)): what moves along the mean and the deviation of a line is taken out of g. That of
// scale itself, of which dx is -scale**2 * n / count, is added where something depends on it.
func gradLayerNorm(g *op.Gradient) {
	x := g.In[0]
	s, centered := g.Shape(x), g.Attrs[op.LayerNormCentered].I != 0
	if g.Err != nil {
		return
	}
	last := int64(s.Rank - 1)
	count := s.Dims[last]
	mean := func(v op.Var) op.Var { return g.Scale(g.SumKept(v, last), 1/float64(count)) }
	wide, scale := g.Cast(x, g.TypeOf(g.Out[1]).DType), g.Out[1]
	n := g.Do(op.IDLayerNorm, g.Attrs, wide, g.Number(op.Value{}), g.Number(op.Value{}))
	dx := op.NoVar
	if g.Dy[0] != op.NoVar {
		dy := g.Cast(g.Dy[0], g.TypeOf(scale).DType)
		if g.Wants[1] {
			g.Set(1, g.Multiply(dy, n))
		}
		g.Set(2, dy)
		if !g.Absent(g.In[1]) {
			dy = g.Multiply(dy, g.In[1])
		}
		along := g.Multiply(n, mean(g.Multiply(dy, n)))
		if centered {
			dy = g.Subtract(dy, mean(dy))
		}
		dx = g.Multiply(scale, g.Subtract(dy, along))
	}
	if g.Dy[1] != op.NoVar {
		of := g.Multiply(g.Multiply(g.Dy[1], g.Scale(g.Square(scale), -1/float64(count))), n)
		if dx == op.NoVar {
			dx = of
		} else {
			dx = g.Add(dx, of)
		}
	}
	g.Set(0, dx)
}
