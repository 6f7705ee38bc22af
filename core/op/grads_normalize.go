package op

// gradLayerNorm. With n = (x - mean(x)) * scale and g = dy * weight, the gradient of x is
// scale * (g - mean(g) - n * mean(g * n)): what moves along the mean and the deviation of a line is taken out of g. That of
// scale itself, of which dx is -scale**2 * n / count, is added where something depends on it.
func gradLayerNorm(g *Gradient) {
	x := g.In[0]
	s, centered := g.Shape(x), g.Attrs[LayerNormCentered].I != 0
	if g.Err != nil {
		return
	}
	last := int64(s.Rank - 1)
	count := s.Dims[last]
	mean := func(v Var) Var { return g.scale(g.sumKept(v, last), 1/float64(count)) }
	wide, scale := g.Cast(x, g.TypeOf(g.Out[1]).DType), g.Out[1]
	n := g.Do(IDLayerNorm, g.Attrs, wide, g.Number(Value{}), g.Number(Value{}))
	dx := NoVar
	if g.Dy[0] != NoVar {
		dy := g.Cast(g.Dy[0], g.TypeOf(scale).DType)
		if g.Wants[1] {
			g.Set(1, g.multiply(dy, n))
		}
		g.Set(2, dy)
		if !g.Absent(g.In[1]) {
			dy = g.multiply(dy, g.In[1])
		}
		along := g.multiply(n, mean(g.multiply(dy, n)))
		if centered {
			dy = g.subtract(dy, mean(dy))
		}
		dx = g.multiply(scale, g.subtract(dy, along))
	}
	if g.Dy[1] != NoVar {
		of := g.multiply(g.multiply(g.Dy[1], g.scale(g.square(scale), -1/float64(count))), n)
		if dx == NoVar {
			dx = of
		} else {
			dx = g.add(dx, of)
		}
	}
	g.Set(0, dx)
}
