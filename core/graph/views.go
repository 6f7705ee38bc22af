package graph

import (
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
)

// elideViews leaves out calls that change nothing, and views of views that their last call could have made alone:
//
//   - A view that shows its operand as it is, such as a reshape to the same shape or a slice of everything, is its
//     operand; so are two views that cancel out, such as a transpose of a transpose.
//   - A view of a view, such as a reshape of a reshape, reads the operand of the first where the second makes the
//     same of it.
//   - A conversion to the dtype that its operand has already is its operand.
//
// What a view shows is asked of its row, for a contiguous operand: a view maps indices to indices, however the
// memory lies. That some views copy does not matter, because values of a graph do not change.
func elideViews(g *Graph) *Graph {
	made := make([]*Node, len(g.values)) // by value: the view that shows one tensor as another
	return g.replacing(func(n *Node, instead []Value) bool {
		if len(n.In) == 0 || len(n.Out) != 1 || n.Row.Random {
			return true
		}
		x, out := n.In[0], n.Out[0]
		if g.values[x].number != nil {
			return true
		}
		if n.Row.Kind == op.Convert && len(n.In) == 1 && g.values[x].Type == g.values[out].Type {
			instead[out] = x
			return false
		}
		if n.Row.Kind != op.View {
			return true
		}
		whole := shape.Contiguous(g.values[x].Shape)
		shown, ok := g.show(n, &whole) // elements of the operand, as numbers from 0 on
		if ok && shown.Offset == 0 && shown.Layout == whole {
			instead[out] = x
			return false
		}
		if first := made[x]; ok && first != nil {
			whole = shape.Contiguous(g.values[first.In[0]].Shape)
			before, _ := g.show(first, &whole)
			alone, possible := g.show(n, &whole)
			both, visible := g.show(n, &before.Layout)
			both.Offset += before.Offset
			switch {
			case visible && both.Offset == 0 && both.Layout == whole:
				instead[out] = first.In[0]
				return false
			case visible && possible && both == alone: // the first view makes no difference
				n.In[0] = first.In[0]
			}
		}
		if ok {
			kept := *n
			made[out] = &kept
		}
		return true
	})
}

// show is the part of a layout that a view with one result shows; false where it needs a copy, or has an operand that is
// no tensor.
func (g *Graph) show(n *Node, l *shape.Layout) (op.Part, bool) {
	var c op.Inference
	c.Reset(n.Row, n.Attrs)
	for i, v := range n.In {
		x := &g.values[v]
		a := op.Arg{Type: x.Type, Scalar: x.number != nil, Absent: x.number != nil && !x.number.Set(), Value: x.number, Const: x.data}
		if i == 0 {
			a.Shape = l.Shape
		}
		c.In, c.Cast = append(c.In, a), append(c.Cast, dtype.Invalid)
	}
	if n.Row.View(&c, l) != nil || len(c.Parts) != 1 {
		return op.Part{}, false
	}
	return c.Parts[0], true
}
