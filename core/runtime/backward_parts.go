package runtime

import (
	"slices"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
)

// throughKind computes the gradients of a node that is none of a row or of a function of the caller. They are calls like any others, so
// that a recorded pass has gradients of them, and a traced one makes them nodes of the graph.
func (b *backward) throughKind(n *node, dy *Tensor) ([]*Tensor, error) {
	switch n.kind {
	case partReadNode:
		whole, err := b.filled(0, dy.dtype, &n.in[0].Shape, dy.store.ctx)
		if err == nil {
			err = b.rt.In(b.mode).writePart(whole, n.attrs, dy, b.on)
		}
		return []*Tensor{whole}, err
	case partWriteNode:
		return b.throughPart(n, n.attrs, dy)
	default:
		zeros, err := b.filled(0, n.in[0].DType, &n.in[0].Shape, n.in[0].ctx)
		return []*Tensor{zeros}, err
	}
}

// throughPart computes the gradients of the whole, which has none where the part is, and of the part, which has what is there.
func (b *backward) throughPart(n *node, part op.Attrs, dy *Tensor) (dx []*Tensor, err error) {
	dx = []*Tensor{nil, nil}
	defer func() {
		if err != nil {
			b.rt.freeAll(dx)
			dx = nil
		}
	}()
	c := b.rt.In(b.mode)
	whole, err := c.copied(dy, b.on)
	if err != nil {
		return nil, err
	}
	dx[0] = whole
	if b.wanted(&n.in[1]) {
		shown, err := c.Call(strided, []Operand{{Tensor: whole}}, slices.Clone(part), nil, b.on)
		if err != nil {
			return dx, err
		}
		dx[1], err = c.copied(shown[0], b.on)
		c.Free(shown[0].handle)
		if err != nil {
			return dx, err
		}
	}
	if !b.wanted(&n.in[0]) {
		b.rt.Free(whole.handle)
		dx[0] = nil
		return dx, nil
	}
	zero, err := b.filled(0, dy.dtype, &shape.Shape{}, dy.store.ctx)
	if err != nil {
		return dx, err
	}
	defer b.rt.Free(zero.handle)
	return dx, c.writePart(whole, part, zero, b.on)
}

// writePart writes a value into a part of a contiguous tensor.
func (c Caller) writePart(whole *Tensor, part op.Attrs, value *Tensor, on *Stream) error {
	shown, err := c.Call(strided, []Operand{{Tensor: whole}}, slices.Clone(part), nil, on)
	if err != nil {
		return err
	}
	defer c.Free(shown[0].handle)
	return c.CallInto(assign, []Operand{{Tensor: value}}, nil, shown[0], on)
}

func (b *backward) filled(value float64, d dtype.DType, s *shape.Shape, ctx *Context) (*Tensor, error) {
	c := calculator{rt: b.rt, ctx: ctx, on: b.on}
	defer c.free()
	calls := op.Calls{Calculator: &c}
	made := calls.Full(c.push(operandVar{Type: op.Type{DType: d, Shape: *s}}), value)
	if calls.Err != nil {
		return nil, calls.Err
	}
	return c.take(made)
}

// copied is a contiguous copy.
func (c Caller) copied(t *Tensor, on *Stream) (*Tensor, error) {
	made, err := c.Call(assign, []Operand{{Tensor: t}}, nil, nil, on)
	if err != nil {
		return nil, err
	}
	return made[0], nil
}
