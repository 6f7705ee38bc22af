package runtime

import (
	"container/heap"

	"github.com/paddle-mps/paddle-mps/core/op"
)

// add adds to the gradient of a result, and takes dy over.
func (b *backward) add(h *history, dy *Tensor) error {
	list, queued := b.of[h.node]
	for len(list) <= h.index {
		list = append(list, nil)
	}
	b.of[h.node] = list
	if !queued {
		heap.Push(&b.queue, h.node)
	}
	before := list[h.index]
	if before == nil {
		list[h.index] = dy
		return nil
	}
	list[h.index] = nil
	sum, err := b.sum(before, dy)
	list[h.index] = sum
	return err
}

// sum adds two gradients, and frees both.
//
// In place where no other tensor shares the memory, which saves one allocation for each time that a value is used more than once.
// Gradients that are recorded are never changed.
func (b *backward) sum(x, y *Tensor) (*Tensor, error) {
	defer b.rt.Free(y.handle)
	if x.dtype.IsComplex() {
		defer b.rt.Free(x.handle)
		c := calculator{rt: b.rt, on: b.on, mode: b.mode}
		made, _, err := c.onComplex(addition, []Operand{{Tensor: x}, {Tensor: y}}, nil)
		if err != nil {
			return nil, err
		}
		return made[0], nil
	}
	in := []Operand{{Tensor: x}, {Tensor: y}}
	if b.mode == 0 && x.alone() {
		if err := b.rt.CallInto(addition, in, nil, x, b.on); err != nil {
			b.rt.Free(x.handle)
			return nil, err
		}
		return x, nil
	}
	defer b.rt.Free(x.handle)
	made, err := b.rt.In(b.mode).Call(addition, in, nil, nil, b.on)
	if err != nil {
		return nil, err
	}
	return made[0], nil
}

var addition = op.ByID(op.IDAdd)

// own is a gradient as a tensor that shares no memory with others; where the pass is recorded, another handle.
func (b *backward) own(dy *Tensor) (*Tensor, error) {
	if b.mode != 0 {
		return dy.Same()
	}
	return dy.To(dy.store.ctx, true, b.on)
}

// deliver gives the gradients to who asked for them: tensors of To, or the leaf.
//
// With To no leaf changes, so that a pass for gradients of gradients leaves the sums of a training step alone.
func (b *backward) deliver(n *node, dy []*Tensor) error {
	for i, h := range b.to {
		if h == nil || h.node != n || dy[h.index] == nil {
			continue
		}
		found, err := b.result(dy[h.index])
		if err != nil {
			return err
		}
		b.found[i] = found
	}
	if b.pass.To != nil || !n.leaf || dy[0] == nil || n.names.Load() == 0 {
		return nil
	}
	return b.accumulate(n, dy[0])
}

// result is a gradient for the caller, who may change it in place: it shares memory with no other gradient, and with none that the caller
// has given. Gradients of a sum are one tensor on the way, for example.
//
// In the trace of a gradient nothing is changed any more.
func (b *backward) result(dy *Tensor) (*Tensor, error) {
	shared := dy.store.refs.Load() > 0 || dy.MayOverlap() || dy.Traced() && dy.store.traced.IsView()
	if b.pass.Ends || !shared {
		return dy.Same()
	}
	return b.rt.In(b.mode).copied(dy, b.on)
}

// accumulate adds to the gradient of a leaf. Another pass may do so at the same time.
//
// The sum is in the memory of the first gradient, so that who has that sees it. A pass that is recorded makes a new one.
func (b *backward) accumulate(n *node, dy *Tensor) error {
	for {
		n.mu.Lock()
		var old *Tensor
		var before uint64
		var err error
		if g := n.gradient(0); g != nil {
			before = g.handle
			old, err = g.sameAsSeen()
		}
		n.mu.Unlock()
		if err != nil {
			return err
		}
		done, err := b.addTo(n, old, before, dy)
		if done || err != nil {
			return err
		}
	}
}

// addTo adds to a gradient, which it frees, or makes the first one; false where the leaf has another one meanwhile.
func (b *backward) addTo(n *node, old *Tensor, before uint64, dy *Tensor) (done bool, err error) {
	var made *Tensor
	switch {
	case old == nil && dy.alone() && b.mode == 0:
		made, err = dy.Same()
	case old == nil:
		made, err = b.own(dy)
	case b.mode == 0 && old.asks() == nil && old.IsContiguous() && !old.dtype.IsComplex():
		defer b.rt.Free(old.handle)
		n.adding.Lock() // two additions at a time would lose one
		defer n.adding.Unlock()
		return true, b.rt.CallInto(addition, []Operand{{Tensor: old}, {Tensor: dy}}, nil, old, b.on)
	default:
		if made, err = dy.Same(); err != nil {
			b.rt.Free(old.handle)
			return false, err
		}
		made, err = b.sum(old, made)
	}
	if err != nil {
		return false, err
	}
	if n.putIf(0, before, made) {
		return true, nil
	}
	b.rt.Free(made.handle)
	return false, nil
}
