package tape

import (
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// callHooks passes the gradients through the hooks, in the order in which they were added.
//
// With To the hooks of leaves are not called: they are about what a leaf adds up. Where the gradient of a traced function is traced,
// its arguments are leaves whose hooks the function has added: these are called. Those of captured tensors are not: each pass through
// a run of the function goes on to these tensors, and calls them then.
func (b *backward) callHooks(n *runtime.Node, dy []*runtime.Tensor) error {
	if n.Leaf && b.pass.To != nil && !b.pass.Ends || b.isCaptured(n) {
		return nil
	}
	n.Mu.Lock()
	hooks := n.Hooks
	for _, h := range hooks {
		if h.Hook != nil {
			h.Refs.Add(1) // another goroutine may remove it meanwhile
		}
	}
	n.Mu.Unlock()
	defer func() {
		for _, h := range hooks {
			if h.Hook != nil {
				h.Release()
			}
		}
	}()
	for _, h := range hooks {
		if dy[h.Index] == nil {
			continue
		}
		var err error
		if h.Hook == nil {
			err = b.retain(n, h.Index, dy[h.Index])
		} else {
			err = b.see(n, h, dy)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// see shows a gradient to a hook.
func (b *backward) see(n *runtime.Node, h runtime.NodeHook, dy []*runtime.Tensor) error {
	other, err := h.See(dy[h.Index])
	if err != nil || other == nil {
		return err
	}
	b.rt.Free(dy[h.Index].Handle())
	dy[h.Index] = other
	if want := &n.Out[h.Index]; other.Shape != want.Shape || other.DType != want.DType || other.Store.Context != want.Context {
		return status.Errorf(status.Invalid, "[register_hook] the hook returned %s of shape %s on %s; want %s of shape %s on %s", other.DType, &other.Shape, other.Place(), want.DType, &want.Shape, want.Context.Place())
	}
	return nil
}

// retain leaves a gradient to a tensor that is no leaf, in the place of that of the last pass: it does not add up, as Paddle's
// does not. It is a copy, because a hook that comes later may change the gradient in place.
func (b *backward) retain(n *runtime.Node, i int, dy *runtime.Tensor) error {
	if n.Names.Load() == 0 {
		return nil
	}
	kept, err := b.own(dy)
	if err == nil {
		n.PutGradient(i, kept)
	}
	return err
}
