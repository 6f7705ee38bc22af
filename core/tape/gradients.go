package tape

import (
	"github.com/paddle-mps/paddle-mps/core/eager"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// What a tensor offers about its gradient: the sum that backward passes have left, and hooks.

// EndHistory makes the tensor a result of nothing: it asks for gradients as before, and none goes further. Nothing happens to a leaf
// and to a tensor that asks for none.
func EndHistory(t *runtime.Tensor) {
	h := t.AskedHistory()
	if h == nil || h.Node.Leaf {
		return
	}
	n := runtime.NewNode(nil, nil)
	n.KeepResult(0, t)
	t.WrittenAs(&runtime.History{Node: n})
}

// Retain makes backward passes keep the gradient of a tensor that is no leaf: the one that hooks added before have made of it,
// of the last pass. Nothing happens to a leaf, which keeps its own.
func Retain(t *runtime.Tensor) error {
	h := t.AskedHistory()
	if h == nil {
		return status.Errorf(status.Invalid, "[retain_grads] the tensor has stop_gradient=True; want False")
	}
	if h.Node.Leaf {
		return nil
	}
	if !h.Retains() {
		h.Retain()
	}
	return nil
}

// Gradient is a new handle of the gradient that backward passes have left; nil where there is none. That of a tensor that
// changed in place after Retain is the one of what it was before.
func Gradient(t *runtime.Tensor) (*runtime.Tensor, error) {
	h := t.LatestHistory() // which may find that the tensor has changed
	if g, err := gradient(t.ChangedFrom.Load()); g != nil || err != nil {
		return g, err
	}
	return gradient(h)
}

// gradient is a new handle of what backward passes have left; nil where there is none, and for no history.
func gradient(h *runtime.History) (*runtime.Tensor, error) {
	for h != nil {
		same, nothing, err := h.Node.KnownGradient(h.Index)
		if nothing == nil {
			return same, err
		}
		made, err := eager.Zeros(&nothing.Type, nothing.Context)
		if err != nil {
			return nil, err
		}
		if !h.Node.PutGradientIf(0, 0, made) { // a pass was first
			runtime.FreeGradients([]*runtime.Tensor{made})
		}
	}
	return nil, nil
}

// HasGradient reports whether backward passes have left a gradient.
func HasGradient(t *runtime.Tensor) bool {
	h := t.LatestHistory() // which may find that the tensor has changed
	return hasGradient(t.ChangedFrom.Load()) || hasGradient(h)
}

// hasGradient reports whether a backward pass has left a gradient for the tensor; nil has none.
func hasGradient(h *runtime.History) bool {
	if h == nil {
		return false
	}
	h.Node.Mu.Lock()
	defer h.Node.Mu.Unlock()
	return h.Node.Gradient(h.Index) != nil || h.Index == 0 && h.Node.Zeros != nil
}

// ZeroGradient makes the gradient zeros, if there is one.
//
// They are in its memory if it has another handle or a view, which then sees the zeros and what later passes add. Otherwise it is
// freed, and zeros are made when they are asked for. Mostly the next backward pass comes first, which then leaves its gradient without
// an addition, so that a training step neither writes zeros nor reads them.
//
// A gradient that asks for gradients itself is left to its other owners, who read what it was; zeros take its place.
func ZeroGradient(t *runtime.Tensor) error {
	h := t.LatestHistory()
	if before := t.ChangedFrom.Load(); hasGradient(before) {
		h = before
	}
	if h == nil {
		return nil
	}
	g, err := h.Node.ZeroGradient(h.Index)
	if g == nil || err != nil {
		return err
	}
	rt := g.Store.Context.Runtime
	defer rt.Free(g.Handle())
	nothing, err := eager.ZerosLike(rt, g)
	if err != nil {
		return err
	}
	if g.AskedHistory() != nil {
		h.Node.PutGradient(h.Index, nothing)
		return nil
	}
	defer rt.Free(nothing.Handle())
	return eager.CallInto(rt, op.ByID(op.IDAssign), []runtime.Operand{{Tensor: nothing}}, nil, g, nil)
}

// SetGradient replaces the gradient by a copy of g, to which passes add, or removes it.
func SetGradient(t *runtime.Tensor, g *runtime.Tensor) error {
	h := t.HoldHistory()
	if h == nil {
		return status.Errorf(status.Invalid, "[grad] the tensor has stop_gradient=True; want False")
	}
	defer h.Node.Release()
	if g != nil && (g.Shape != t.Shape || g.DType != t.DType || g.Store.Context != t.Store.Context) {
		return status.Errorf(status.Invalid, "[grad] got %s of shape %s on %s for a tensor of %s, %s, on %s; want them equal", g.DType, &g.Shape, g.Place(), t.DType, &t.Shape, t.Place())
	}
	var same *runtime.Tensor
	if g != nil {
		var err error
		if same, err = g.To(g.Store.Context, true, nil); err != nil {
			return err
		}
	}
	h.Node.PutGradient(h.Index, same)
	if before := t.ChangedFrom.Load(); before != nil {
		before.Node.PutGradient(before.Index, nil)
	}
	return nil
}
