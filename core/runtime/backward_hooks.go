package runtime

import "github.com/paddle-mps/paddle-mps/core/status"

// callHooks passes the gradients through the hooks, in the order in which they were added.
//
// With To the hooks of leaves are not called: they are about what a leaf adds up. Where the gradient of a traced function is traced,
// its arguments are leaves whose hooks the function has added: these are called. Those of captured tensors are not: each pass through
// a run of the function goes on to these tensors, and calls them then.
func (b *backward) callHooks(n *node, dy []*Tensor) error {
	if n.leaf && b.pass.To != nil && !b.pass.Ends || b.isCaptured(n) {
		return nil
	}
	n.mu.Lock()
	hooks := n.hooks
	for _, h := range hooks {
		if h.Hook != nil {
			h.refs.Add(1) // another goroutine may remove it meanwhile
		}
	}
	n.mu.Unlock()
	defer func() {
		for _, h := range hooks {
			if h.Hook != nil {
				h.release()
			}
		}
	}()
	for _, h := range hooks {
		if dy[h.index] == nil {
			continue
		}
		var err error
		if h.Hook == nil {
			err = b.retain(n, h.index, dy[h.index])
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
func (b *backward) see(n *node, h hook, dy []*Tensor) error {
	other, err := h.See(dy[h.index])
	if err != nil || other == nil {
		return err
	}
	b.rt.Free(dy[h.index].handle)
	dy[h.index] = other
	if want := &n.out[h.index]; other.Shape != want.Shape || other.dtype != want.DType || other.store.ctx != want.ctx {
		return status.Errorf(status.Invalid, "[register_hook] the hook returned %s of shape %s on %s; want %s of shape %s on %s", other.dtype, &other.Shape, other.Place(), want.DType, &want.Shape, want.ctx.place)
	}
	return nil
}

// retain leaves a gradient to a tensor that is no leaf, in the place of that of the last pass: it does not add up, as Paddle's
// does not. It is a copy, because a hook that comes later may change the gradient in place.
func (b *backward) retain(n *node, i int, dy *Tensor) error {
	if n.names.Load() == 0 {
		return nil
	}
	kept, err := b.own(dy)
	if err == nil {
		n.put(i, kept)
	}
	return err
}
