package runtime

import (
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// What a tensor offers about its gradient: the sum that backward passes have left, and hooks.

// EndHistory makes the tensor a result of nothing: it asks for gradients as before, and none goes further. Nothing happens to a leaf
// and to a tensor that asks for none.
func (t *Tensor) EndHistory() {
	h := t.asks()
	if h == nil || h.node.leaf {
		return
	}
	n := newNode(nil, nil)
	n.keepResult(0, t)
	t.written(&history{node: n})
}

// Retain makes backward passes keep the gradient of a tensor that is no leaf: the one that hooks added before have made of it,
// of the last pass. Nothing happens to a leaf, which keeps its own.
func (t *Tensor) Retain() error {
	h := t.asks()
	if h == nil {
		return status.Errorf(status.Invalid, "[retain_grads] the tensor has stop_gradient=True; want False")
	}
	if h.node.leaf {
		return nil
	}
	if !h.retains() {
		h.retain()
	}
	return nil
}

// Gradient is a new handle of the gradient that backward passes have left; nil where there is none. That of a tensor that
// changed in place after Retain is the one of what it was before.
func (t *Tensor) Gradient() (*Tensor, error) {
	h := t.latest() // which may find that the tensor has changed
	if g, err := t.changed.Load().gradient(); g != nil || err != nil {
		return g, err
	}
	return h.gradient()
}

// gradient is a new handle of what backward passes have left; nil where there is none, and for no history.
func (h *history) gradient() (*Tensor, error) {
	for h != nil {
		same, nothing, err := h.node.known(h.index)
		if nothing == nil {
			return same, err
		}
		made, err := zeros(&nothing.Type, nothing.ctx)
		if err != nil {
			return nil, err
		}
		if !h.node.putIf(0, 0, made) { // a pass was first
			freeGradients([]*Tensor{made})
		}
	}
	return nil, nil
}

// HasGradient reports whether backward passes have left a gradient.
func (t *Tensor) HasGradient() bool {
	h := t.latest() // which may find that the tensor has changed
	return t.changed.Load().hasGradient() || h.hasGradient()
}

// hasGradient reports whether a backward pass has left a gradient for the tensor; nil has none.
func (h *history) hasGradient() bool {
	if h == nil {
		return false
	}
	h.node.mu.Lock()
	defer h.node.mu.Unlock()
	return h.node.gradient(h.index) != nil || h.index == 0 && h.node.zeros != nil
}

// ZeroGradient makes the gradient zeros, if there is one.
//
// They are in its memory if it has another handle or a view, which then sees the zeros and what later passes add. Otherwise it is
// freed, and zeros are made when they are asked for. Mostly the next backward pass comes first, which then leaves its gradient without
// an addition, so that a training step neither writes zeros nor reads them.
//
// A gradient that asks for gradients itself is left to its other owners, who read what it was; zeros take its place.
func (t *Tensor) ZeroGradient() error {
	h := t.latest()
	if before := t.changed.Load(); before.hasGradient() {
		h = before
	}
	if h == nil {
		return nil
	}
	g, err := h.node.zero(h.index)
	if g == nil || err != nil {
		return err
	}
	rt := g.store.ctx.rt
	defer rt.Free(g.handle)
	nothing, err := rt.zerosLike(g)
	if err != nil {
		return err
	}
	if g.asks() != nil {
		h.node.put(h.index, nothing)
		return nil
	}
	defer rt.Free(nothing.handle)
	return rt.CallInto(op.ByID(op.IDAssign), []Operand{{Tensor: nothing}}, nil, g, nil)
}

// SetGradient replaces the gradient by a copy of g, to which passes add, or removes it.
func (t *Tensor) SetGradient(g *Tensor) error {
	h := t.hold()
	if h == nil {
		return status.Errorf(status.Invalid, "[grad] the tensor has stop_gradient=True; want False")
	}
	defer h.node.release()
	if g != nil && (g.Shape != t.Shape || g.dtype != t.dtype || g.store.ctx != t.store.ctx) {
		return status.Errorf(status.Invalid, "[grad] got %s of shape %s on %s for a tensor of %s, %s, on %s; want them equal", g.dtype, &g.Shape, g.Place(), t.dtype, &t.Shape, t.Place())
	}
	var same *Tensor
	if g != nil {
		var err error
		if same, err = g.To(g.store.ctx, true, nil); err != nil {
			return err
		}
	}
	h.node.put(h.index, same)
	if before := t.changed.Load(); before != nil {
		before.node.put(before.index, nil)
	}
	return nil
}
