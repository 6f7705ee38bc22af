package tape

import (
	"container/heap"

	"github.com/paddle-mps/paddle-mps/core/eager"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/runtime"
)

// add adds to the gradient of a result, and takes dy over.
func (b *backward) add(h *runtime.History, dy *runtime.Tensor) error {
	list, queued := b.of[h.Node]
	for len(list) <= h.Index {
		list = append(list, nil)
	}
	b.of[h.Node] = list
	if !queued {
		heap.Push(&b.queue, h.Node)
	}
	before := list[h.Index]
	if before == nil {
		list[h.Index] = dy
		return nil
	}
	list[h.Index] = nil
	sum, err := b.sum(before, dy)
	list[h.Index] = sum
	return err
}

// sum adds two gradients, and frees both.
//
// In place where no other tensor shares the memory, which saves one allocation for each time that a value is used more than once.
// Gradients that are recorded are never changed.
func (b *backward) sum(x, y *runtime.Tensor) (*runtime.Tensor, error) {
	defer b.rt.Free(y.Handle())
	if x.DType.IsComplex() {
		defer b.rt.Free(x.Handle())
		c := eager.Calculator{Runtime: b.rt, Stream: b.on, Mode: b.mode}
		made, _, err := c.OnComplex(addition, []runtime.Operand{{Tensor: x}, {Tensor: y}}, nil)
		if err != nil {
			return nil, err
		}
		return made[0], nil
	}
	in := []runtime.Operand{{Tensor: x}, {Tensor: y}}
	if b.mode == 0 && x.IsAlone() {
		if err := eager.CallInto(b.rt, addition, in, nil, x, b.on); err != nil {
			b.rt.Free(x.Handle())
			return nil, err
		}
		return x, nil
	}
	defer b.rt.Free(x.Handle())
	made, err := eager.In(b.rt, b.mode).Call(addition, in, nil, nil, b.on)
	if err != nil {
		return nil, err
	}
	return made[0], nil
}

var addition = op.ByID(op.IDAdd)

// own is a gradient as a tensor that shares no memory with others; where the pass is recorded, another handle.
func (b *backward) own(dy *runtime.Tensor) (*runtime.Tensor, error) {
	if b.mode != 0 {
		return dy.Same()
	}
	return dy.To(dy.Store.Context, true, b.on)
}

// deliver gives the gradients to who asked for them: tensors of To, or the leaf.
//
// With To no leaf changes, so that a pass for gradients of gradients leaves the sums of a training step alone.
func (b *backward) deliver(n *runtime.Node, dy []*runtime.Tensor) error {
	for i, h := range b.to {
		if h == nil || h.Node != n || dy[h.Index] == nil {
			continue
		}
		found, err := b.result(dy[h.Index])
		if err != nil {
			return err
		}
		b.found[i] = found
	}
	if b.pass.To != nil || !n.Leaf || dy[0] == nil || n.Names.Load() == 0 {
		return nil
	}
	return b.accumulate(n, dy[0])
}

// result is a gradient for the caller, who may change it in place: it shares memory with no other gradient, and with none that the caller
// has given. Gradients of a sum are one tensor on the way, for example.
//
// In the trace of a gradient nothing is changed any more.
func (b *backward) result(dy *runtime.Tensor) (*runtime.Tensor, error) {
	shared := dy.Store.Refs.Load() > 0 || dy.MayOverlap() || dy.Traced() && dy.Store.Traced.IsView()
	if b.pass.Ends || !shared {
		return dy.Same()
	}
	return copied(eager.In(b.rt, b.mode), dy, b.on)
}

// accumulate adds to the gradient of a leaf. Another pass may do so at the same time.
//
// The sum is in the memory of the first gradient, so that who has that sees it. A pass that is recorded makes a new one.
func (b *backward) accumulate(n *runtime.Node, dy *runtime.Tensor) error {
	for {
		n.Mu.Lock()
		var old *runtime.Tensor
		var before uint64
		var err error
		if g := n.Gradient(0); g != nil {
			before = g.Handle()
			old, err = g.SameAsSeen()
		}
		n.Mu.Unlock()
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
func (b *backward) addTo(n *runtime.Node, old *runtime.Tensor, before uint64, dy *runtime.Tensor) (done bool, err error) {
	var made *runtime.Tensor
	switch {
	case old == nil && dy.IsAlone() && b.mode == 0:
		made, err = dy.Same()
	case old == nil:
		made, err = b.own(dy)
	case b.mode == 0 && old.AskedHistory() == nil && old.IsContiguous() && !old.DType.IsComplex():
		defer b.rt.Free(old.Handle())
		n.Adding.Lock() // two additions at a time would lose one
		defer n.Adding.Unlock()
		return true, eager.CallInto(b.rt, addition, []runtime.Operand{{Tensor: old}, {Tensor: dy}}, nil, old, b.on)
	default:
		if made, err = dy.Same(); err != nil {
			b.rt.Free(old.Handle())
			return false, err
		}
		made, err = b.sum(old, made)
	}
	if err != nil {
		return false, err
	}
	if n.PutGradientIf(0, before, made) {
		return true, nil
	}
	b.rt.Free(made.Handle())
	return false, nil
}
