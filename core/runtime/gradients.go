package runtime

import (
	"slices"

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

// known is a new handle of the gradient of a result, or what zeros to make for it; neither where there is none.
func (n *node) known(i int) (*Tensor, *zeroed, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if g := n.gradient(i); g != nil {
		same, err := g.sameAsSeen()
		return same, nil, err
	}
	if i > 0 {
		return nil, nil, nil
	}
	return nil, n.zeros, nil
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

// zero frees the gradient of a leaf that has no other handle or view, of a dtype that [zeros] can make. It answers with a new handle of
// any other, to be changed.
func (n *node) zero(i int) (*Tensor, error) {
	n.mu.Lock()
	g := n.gradient(i)
	if g == nil || !n.leaf || !g.alone() || g.dtype.IsComplex() {
		defer n.mu.Unlock()
		if g == nil {
			return nil, nil
		}
		return g.sameAsSeen()
	}
	n.swap(i, nil)
	n.zeros = &zeroed{op.Type{DType: g.dtype, Shape: g.Shape}, g.store.ctx}
	n.mu.Unlock()
	freeGradients([]*Tensor{g})
	return nil, nil
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

// put replaces the gradient of a result by one that the node owns from then on; nil removes it.
func (n *node) put(i int, g *Tensor) {
	if g != nil {
		g.hide()
	}
	n.mu.Lock()
	old := n.swap(i, g)
	n.mu.Unlock()
	freeGradients([]*Tensor{old})
}

// swap is put for the holder of mu. It returns the tensor to free.
func (n *node) swap(i int, g *Tensor) *Tensor {
	n.zeros = nil
	if n.names.Load() == 0 {
		return g // it cannot be read
	}
	for len(n.grads) <= i {
		n.grads = append(n.grads, nil)
	}
	old := n.grads[i]
	n.grads[i] = g
	return old
}

// putIf is put where the gradient is still that of a handle, 0 for none. False where it is not: the caller frees g.
func (n *node) putIf(i int, before uint64, g *Tensor) bool {
	g.hide() // before the lock: g may name the node itself
	n.mu.Lock()
	now := n.gradient(i)
	same := now == nil && before == 0 || now != nil && now.handle == before
	var old *Tensor
	if same {
		old = n.swap(i, g)
	}
	n.mu.Unlock()
	freeGradients([]*Tensor{old})
	return same
}

// AddHook calls a hook with each gradient of the tensor, and returns its number. Hooks are called in the order in which
// they were added.
func (t *Tensor) AddHook(call *Hook) (uint64, error) {
	h := t.holdAsked()
	if h == nil {
		return 0, status.Errorf(status.Invalid, "[register_hook] the tensor has stop_gradient=True; want False")
	}
	defer h.node.release()
	h.node.mu.Lock()
	defer h.node.mu.Unlock()
	id := nodes.Add(1)
	call.refs.Store(1)
	h.node.hooks = append(h.node.hooks, hook{id, h.index, call})
	hooked.Store(id, h.node)
	return id, nil
}

// RemoveHook removes the hook of a number, also of what a tensor was before it changed in place; false where there is none.
func RemoveHook(id uint64) bool {
	n, ok := hooked.Load(id)
	if !ok {
		return false
	}
	removed := n.(*node).unhook(id)
	if removed == nil {
		return false
	}
	removed.release()
	return true
}

// unhook removes a hook and returns it; nil where there is none of that number. A pass may be going through the list.
func (n *node) unhook(id uint64) *Hook {
	n.mu.Lock()
	defer n.mu.Unlock()
	at := slices.IndexFunc(n.hooks, func(k hook) bool { return k.id == id })
	if at < 0 {
		return nil
	}
	removed := n.hooks[at].Hook
	hooked.Delete(id)
	n.hooks = slices.Delete(slices.Clone(n.hooks), at, at+1)
	return removed
}
