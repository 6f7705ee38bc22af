package tape

import (
	"slices"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/eager"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/shape"
)

// throughKind computes the gradients of a node that is none of a row or of a function of the caller. They are calls like any others, so
// that a recorded pass has gradients of them, and a traced one makes them nodes of the graph.
func (b *backward) throughKind(n *runtime.Node, dy *runtime.Tensor) ([]*runtime.Tensor, error) {
	switch n.Kind {
	case runtime.PartReadNode:
		whole, err := b.filled(0, dy.DType, &n.In[0].Shape, dy.Store.Context)
		if err == nil {
			err = writePart(eager.In(b.rt, b.mode), whole, n.Attrs, dy, b.on)
		}
		return []*runtime.Tensor{whole}, err
	case runtime.PartWriteNode:
		return b.throughPart(n, n.Attrs, dy)
	default:
		zeros, err := b.filled(0, n.In[0].DType, &n.In[0].Shape, n.In[0].Context)
		return []*runtime.Tensor{zeros}, err
	}
}

// throughPart computes the gradients of the whole, which has none where the part is, and of the part, which has what is there.
func (b *backward) throughPart(n *runtime.Node, part op.Attrs, dy *runtime.Tensor) (dx []*runtime.Tensor, err error) {
	dx = []*runtime.Tensor{nil, nil}
	defer func() {
		if err != nil {
			b.rt.FreeAll(dx)
			dx = nil
		}
	}()
	c := eager.In(b.rt, b.mode)
	whole, err := copied(c, dy, b.on)
	if err != nil {
		return nil, err
	}
	dx[0] = whole
	if b.wanted(&n.In[1]) {
		shown, err := c.Call(runtime.StridedRow, []runtime.Operand{{Tensor: whole}}, slices.Clone(part), nil, b.on)
		if err != nil {
			return dx, err
		}
		dx[1], err = copied(c, shown[0], b.on)
		c.Free(shown[0].Handle())
		if err != nil {
			return dx, err
		}
	}
	if !b.wanted(&n.In[0]) {
		b.rt.Free(whole.Handle())
		dx[0] = nil
		return dx, nil
	}
	zero, err := b.filled(0, dy.DType, &shape.Shape{}, dy.Store.Context)
	if err != nil {
		return dx, err
	}
	defer b.rt.Free(zero.Handle())
	return dx, writePart(c, whole, part, zero, b.on)
}

// writePart writes a value into a part of a contiguous tensor.
func writePart(c eager.Caller, whole *runtime.Tensor, part op.Attrs, value *runtime.Tensor, on *runtime.Stream) error {
	shown, err := c.Call(runtime.StridedRow, []runtime.Operand{{Tensor: whole}}, slices.Clone(part), nil, on)
	if err != nil {
		return err
	}
	defer c.Free(shown[0].Handle())
	return c.CallInto(runtime.AssignRow, []runtime.Operand{{Tensor: value}}, nil, shown[0], on)
}

func (b *backward) filled(value float64, d dtype.DType, s *shape.Shape, ctx *runtime.Context) (*runtime.Tensor, error) {
	c := eager.Calculator{Runtime: b.rt, Context: ctx, Stream: b.on}
	defer c.Free()
	calls := op.Calls{Calculator: &c}
	made := calls.Full(c.Push(eager.Variable{Type: op.Type{DType: d, Shape: *s}}), value)
	if calls.Err != nil {
		return nil, calls.Err
	}
	return c.Take(made)
}

// copied is a contiguous copy.
func copied(c eager.Caller, t *runtime.Tensor, on *runtime.Stream) (*runtime.Tensor, error) {
	made, err := c.Call(runtime.AssignRow, []runtime.Operand{{Tensor: t}}, nil, nil, on)
	if err != nil {
		return nil, err
	}
	return made[0], nil
}
