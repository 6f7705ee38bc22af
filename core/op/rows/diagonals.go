package rows

import (
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// Diagonals, slices and blocks that are written into a copy or into a tensor of one value: rows that are lowered to copies.

// planeOf is two different axes that attributes name.
func planeOf(c *op.Inference, rank int) (first, second int, err error) {
	if first, err = shape.Axis(c.Row.Name, c.Attr("axis1").I, rank); err == nil {
		second, err = shape.Axis(c.Row.Name, c.Attr("axis2").I, rank)
	}
	if err == nil && (first == second || rank < 2) {
		err = status.Errorf(status.Invalid, "[%s] the axes are %d and %d of %d; want two different ones", c.Row.Name, c.Attr("axis1").I, c.Attr("axis2").I, rank)
	}
	return first, second, err
}

// checkOffset refuses an offset further away than any tensor is long.
func checkOffset(c *op.Inference) error {
	if offset := c.Attr("offset").I; offset > farthest || offset < -farthest {
		return status.Errorf(status.Invalid, "[%s] offset is %d; want a number that sizes have", c.Row.Name, offset)
	}
	return nil
}

// axesOfPlane are the axes of a call that inference has checked.
func axesOfPlane(first, second *op.Value, rank int) (a, b int) {
	count := func(v *op.Value) int { return int((v.I + int64(rank)) % int64(rank)) }
	return count(first), count(second)
}

// distance is that of a diagonal from the main one.
func distance(offset int64) int64 { return max(offset, -offset) }

// diagonalOf is the diagonals of the matrices over two axes, as the last axis. One that lies outside has no elements, however far.
func diagonalOf(l *shape.Layout, offset int64, first, second int) op.Part {
	p := op.Part{Layout: *l}
	offset = min(max(offset, -farthest), farthest)
	above, below := max(offset, 0), max(-offset, 0)
	count := max(min(l.Dims[first]-below, l.Dims[second]-above), 0)
	if count > 0 {
		p.Offset = below*l.Strides[first] + above*l.Strides[second]
	}
	p.Remove(max(first, second))
	p.Remove(min(first, second))
	p.Append(count)
	p.Strides[p.Rank-1] = l.Strides[first] + l.Strides[second]
	return p
}

// Diagonal is the diagonals of the matrices over two axes, as the last axis. They are read in one line, in which each element is as
// far behind the one before as a row is long, and one more.
func Diagonal(c *op.Calls, v op.Var, offset int64, first, second int) op.Var {
	s := c.Shape(v)
	if c.Err != nil {
		return v
	}
	var order []int64
	flat := shape.Shape{}
	for axis, d := range s.Slice() {
		if axis != first && axis != second {
			order = append(order, int64(axis))
			flat.Append(d)
		}
	}
	height, width := s.Dims[first], s.Dims[second]
	flat.Append(height * width)
	above, below := max(offset, 0), max(-offset, 0)
	start, end, step := above+below*width, int64(0), width+1
	if count := max(min(height-below, width-above), 0); count > 0 {
		end = start + (count-1)*step + 1
	} else {
		start = 0
	}
	turned := c.Do(op.IDTranspose, op.Attrs{{Kind: op.Ints, Ints: append(order, int64(first), int64(second))}}, v)
	one := func(n int64) op.Value { return op.Value{Kind: op.Ints, Ints: []int64{n}} }
	return c.Do(op.IDSlice, op.Attrs{one(-1), one(start), one(end), one(step)}, c.Reshape(turned, &flat))
}

// embedded is the rule of diag_embed: an axis more, and both as long as the diagonal and its distance.
func embedded(c *op.Inference) error {
	s := c.In[0].Shape
	if s.Rank < 1 || s.Rank >= shape.MaxRank {
		return status.Errorf(status.Invalid, "[%s] x has %s; want 1 to %d", c.Row.Name, status.Count(s.Rank, "dimension", "dimensions"), shape.MaxRank-1)
	}
	first, second, err := planeOf(c, s.Rank+1)
	if err == nil {
		err = checkOffset(c)
	}
	if err != nil {
		return err
	}
	side := c.Plus(s.Dims[s.Rank-1], distance(c.Attr("offset").I))
	l := shape.Layout{Shape: s}
	l.Remove(s.Rank - 1)
	l.Insert(min(first, second))
	l.Insert(max(first, second))
	l.Dims[first], l.Dims[second] = side, side
	c.Out[0].Shape = l.Shape
	return nil
}

func lowerDiagEmbed(e op.Emitter, s *op.Step) error {
	out := &s.Out[0]
	if out.Numel() == 0 {
		return nil
	}
	if err := fill(e, out, &s.Attrs[op.DiagEmbedPaddingValue]); err != nil || s.In[0].Numel() == 0 {
		return err
	}
	first, second := axesOfPlane(&s.Attrs[op.DiagEmbedAxis1], &s.Attrs[op.DiagEmbedAxis2], out.Rank)
	p := diagonalOf(&out.Layout, s.Attrs[op.DiagEmbedOffset].I, first, second)
	return e.Copy(s.In[0], out.View(p.Offset, &p.Layout))
}

func gradDiagEmbed(g *op.Gradient) {
	first, second := axesOfPlane(&g.Attrs[op.DiagEmbedAxis1], &g.Attrs[op.DiagEmbedAxis2], g.Shape(g.In[0]).Rank+1)
	g.Set(0, Diagonal(&g.Calls, g.Dy[0], g.Attrs[op.DiagEmbedOffset].I, first, second))
}

// onDiagonal is the rule of diagonal_scatter: y has the shape of the diagonals.
func onDiagonal(c *op.Inference) error {
	l := shape.Contiguous(c.In[0].Shape)
	if err := viewDiagonal(c, &l); err != nil {
		return err
	}
	part := c.Parts[0].Shape
	c.Out[0].Shape, c.Parts = c.In[0].Shape, c.Parts[:0]
	return fits(c, &part, "the diagonal")
}

// fits refuses a second operand that has not the shape of a part of the first one.
func fits(c *op.Inference, want *shape.Shape, what string) error {
	if got := &c.In[1].Shape; op.Unlike(got, want) {
		return status.Errorf(status.Invalid, "[%s] operand %s has shape %s and %s %s; want them equal", c.Row.Name, c.Row.In[1].Name, got, what, want)
	}
	return nil
}

// copied copies x, and then the second operand to a part of the result.
func copied(e op.Emitter, s *op.Step, p *op.Part) error {
	value, out := s.In[1], &s.Out[0]
	if out.Numel() == 0 {
		return nil
	}
	if err := e.Copy(s.In[0], *out); err != nil || p.Numel() == 0 {
		return err
	}
	value.Layout = value.BroadcastTo(&p.Shape)
	return e.Copy(value, out.View(p.Offset, &p.Layout))
}

func lowerDiagonalScatter(e op.Emitter, s *op.Step) error {
	first, second := axesOfPlane(&s.Attrs[op.DiagonalScatterAxis1], &s.Attrs[op.DiagonalScatterAxis2], s.Out[0].Rank)
	p := diagonalOf(&s.Out[0].Layout, s.Attrs[op.DiagonalScatterOffset].I, first, second)
	return copied(e, s, &p)
}

// replacing answers for rows that put a value into a copy: x has the gradient but for what was replaced, and the value that of its
// part.
func replacing(g *op.Gradient, part func() op.Var) {
	s := g.Shape(g.In[1])
	if g.Wants[0] {
		g.Set(0, g.Do(g.Row.ID, g.Attrs, g.Dy[0], zeros(g, &s, dtypeOf(g, g.Dy[0]))))
	}
	if g.Wants[1] {
		g.Set(1, part())
	}
}

func gradDiagonalScatter(g *op.Gradient) {
	first, second := axesOfPlane(&g.Attrs[op.DiagonalScatterAxis1], &g.Attrs[op.DiagonalScatterAxis2], g.Shape(g.In[0]).Rank)
	replacing(g, func() op.Var { return Diagonal(&g.Calls, g.Dy[0], g.Attrs[op.DiagonalScatterOffset].I, first, second) })
}

// inSlice is the rule of slice_scatter: value broadcasts to the slice.
func inSlice(c *op.Inference) error {
	s := c.In[0].Shape
	l := shape.Contiguous(s)
	if err := viewSlice(c, &l); err != nil {
		return err
	}
	part := c.Parts[0].Shape
	c.Out[0].Shape, c.Parts = s, c.Parts[:0]
	if made, err := c.Broadcast(&c.In[1].Shape, &part); err != nil || op.Unlike(&made, &part) {
		return status.Errorf(status.Invalid, "[%s] value has shape %s and the slice %s; want one that broadcasts to it", c.Row.Name, &c.In[1].Shape, &part)
	}
	return nil
}

func lowerSliceScatter(e op.Emitter, s *op.Step) error {
	p := op.Part{Layout: s.Out[0].Layout}
	p.CutAll(s.Attrs)
	return copied(e, s, &p)
}

func gradSliceScatter(g *op.Gradient) {
	replacing(g, func() op.Var { return g.Do(op.IDSlice, g.Attrs, g.Dy[0]) })
}

// atIndex is the rule of select_scatter: values have the shape of the slice.
func atIndex(c *op.Inference) error {
	s, index := c.In[0].Shape, c.Attr("index").I
	axis, err := shape.Axis(c.Row.Name, c.Attr("axis").I, s.Rank)
	if err != nil {
		return err
	}
	if s.Rank == 0 || !shape.IsSymbol(s.Dims[axis]) && (index < -s.Dims[axis] || index >= s.Dims[axis]) {
		return status.Errorf(status.Invalid, "[%s] index is %d and x has shape %s; want one along axis %d", c.Row.Name, index, &s, axis)
	}
	l := shape.Layout{Shape: s}
	l.Remove(axis)
	c.Out[0].Shape = s
	return fits(c, &l.Shape, "the slice")
}

// sliceAt is a slice without its axis.
func sliceAt(l *shape.Layout, axis int, index int64) op.Part {
	p := op.Part{Layout: *l}
	if index < 0 {
		index += l.Dims[axis]
	}
	p.Offset = index * l.Strides[axis]
	p.Remove(axis)
	return p
}

func lowerSelectScatter(e op.Emitter, s *op.Step) error {
	axis, _ := axesOfPlane(&s.Attrs[op.SelectScatterAxis], &s.Attrs[op.SelectScatterAxis], s.Out[0].Rank)
	p := sliceAt(&s.Out[0].Layout, axis, s.Attrs[op.SelectScatterIndex].I)
	return copied(e, s, &p)
}

func gradSelectScatter(g *op.Gradient) {
	replacing(g, func() op.Var {
		s, index := g.Shape(g.In[0]), g.Attrs[op.SelectScatterIndex].I
		axis, _ := axesOfPlane(&g.Attrs[op.SelectScatterAxis], &g.Attrs[op.SelectScatterAxis], s.Rank)
		if index < 0 {
			index += s.Dims[axis]
		}
		one := func(n int64) op.Value { return op.Value{Kind: op.Ints, Ints: []int64{n}} }
		part, values := g.Do(op.IDSlice, op.Attrs{one(int64(axis)), one(index), one(index + 1), one(1)}, g.Dy[0]), g.Shape(g.In[1])
		return g.Reshape(part, &values)
	})
}

// identity is the rule of eye.
func identity(c *op.Inference) error {
	sides := [...]int64{c.Attr("num_rows").I, c.Attr("num_rows").I}
	if columns := c.Attr("num_columns"); columns.Set() {
		sides[1] = columns.I
	}
	out := shape.Shape{Rank: 2}
	for i, n := range sides {
		if out.Dims[i] = c.SizeOf(n); n < 0 && out.Dims[i] == n {
			return status.Errorf(status.Invalid, "[%s] there are %d rows and %d columns; want numbers from 0", c.Row.Name, sides[0], sides[1])
		}
	}
	c.Out[0].Shape = out
	return checkOffset(c)
}

func lowerEye(e op.Emitter, s *op.Step) error {
	out := &s.Out[0]
	if out.Numel() == 0 {
		return nil
	}
	if err := fill(e, out, &op.Value{Kind: op.Int}); err != nil {
		return err
	}
	p := diagonalOf(&out.Layout, s.Attrs[op.EyeOffset].I, 0, 1)
	if p.Numel() == 0 {
		return nil
	}
	ones := out.View(p.Offset, &p.Layout)
	return fill(e, &ones, &op.Value{Kind: op.Int, I: 1})
}

// blockShape is the shape of a block: vectors are rows, and numbers rows of one element.
func blockShape(s shape.Shape) shape.Shape { return s.Lead(2) }

// blocks is the rule of block_diag.
func blocks(c *op.Inference) error {
	out := shape.Shape{Rank: 2}
	for i := range c.In {
		if c.In[i].Shape.Rank > 2 {
			return status.Errorf(status.Invalid, "[%s] tensor %d has shape %s; want at most 2 axes", c.Row.Name, i, &c.In[i].Shape)
		}
		m := blockShape(c.In[i].Shape)
		for axis := range 2 {
			out.Dims[axis] = c.Plus(out.Dims[axis], m.Dims[axis])
		}
	}
	c.Out[0].Shape = out
	return nil
}

// eachBlock gives the places of blocks: their first row and column.
func eachBlock(n int, of func(i int) shape.Shape, do func(i int, row, column int64, m *shape.Shape) error) error {
	row, column := int64(0), int64(0)
	for i := range n {
		m := blockShape(of(i))
		if err := do(i, row, column, &m); err != nil {
			return err
		}
		row, column = row+m.Dims[0], column+m.Dims[1]
	}
	return nil
}

func lowerBlockDiag(e op.Emitter, s *op.Step) error {
	out := &s.Out[0]
	if out.Numel() == 0 {
		return nil
	}
	if len(s.In) > 1 {
		if err := fill(e, out, &op.Value{Kind: op.Int}); err != nil {
			return err
		}
	}
	return eachBlock(len(s.In), func(i int) shape.Shape { return s.In[i].Shape }, func(i int, row, column int64, m *shape.Shape) error {
		if m.Numel() == 0 {
			return nil
		}
		x := s.In[i]
		for x.Rank < 2 {
			x.Insert(0)
		}
		p := op.Part{Layout: out.Layout}
		p.Cut(0, row, row+m.Dims[0], 1)
		p.Cut(1, column, column+m.Dims[1], 1)
		return e.Copy(x, out.View(p.Offset, &p.Layout))
	})
}

func gradBlockDiag(g *op.Gradient) {
	g.Err = eachBlock(len(g.In), func(i int) shape.Shape { return g.Shape(g.In[i]) }, func(i int, row, column int64, m *shape.Shape) error {
		if !g.Wants[i] {
			return nil
		}
		two := func(x, y int64) op.Value { return op.Value{Kind: op.Ints, Ints: []int64{x, y}} }
		s := g.Shape(g.In[i])
		g.Set(i, g.Reshape(g.Do(op.IDSlice, op.Attrs{two(0, 1), two(row, column), two(row+m.Dims[0], column+m.Dims[1]), two(1, 1)}, g.Dy[0]), &s))
		return g.Err
	})
}
