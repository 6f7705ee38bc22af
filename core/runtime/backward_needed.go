package runtime

import (
	"cmp"
	"slices"
)

// find notes which nodes lead to the tensors that are asked for, so that no other gradient is computed.
//
// It goes through the nodes twice: once to reach all of them, and once in ascending order, in which each node comes after
// those that it was computed from. Without it a pass for one input would compute the gradients of all.
func (b *backward) find() {
	b.leads = map[*node]bool{}
	var reached []*node
	todo := []*node{}
	for _, h := range b.roots {
		if h != nil {
			todo = append(todo, h.node)
		}
	}
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if _, seen := b.leads[n]; seen {
			continue
		}
		b.leads[n] = false
		reached = append(reached, n)
		for i := range n.in {
			if h := n.in[i].from; h != nil {
				todo = append(todo, h.node)
			}
		}
	}
	for _, h := range b.to {
		if h != nil {
			b.leads[h.node] = true
		}
	}
	slices.SortFunc(reached, func(x, y *node) int { return cmp.Compare(x.seq, y.seq) }) // operands first
	for _, n := range reached {
		for i := range n.in {
			if h := n.in[i].from; h != nil && !b.stops(h) && b.leads[h.node] {
				b.leads[n] = true
			}
		}
	}
}

// stops reports whether gradients go no further than this result.
func (b *backward) stops(h *history) bool {
	return slices.ContainsFunc(b.pass.Stop, func(t *Tensor) bool {
		s := t.latest()
		return s != nil && s.node == h.node && s.index == h.index
	})
}

// wanted reports whether the gradient of an operand is to be computed.
func (b *backward) wanted(k *kept) bool {
	h := k.from
	return h != nil && (b.leads == nil || b.leads[h.node] && !b.stops(h))
}

// reaches reports whether the node is that of a tensor of To.
func (b *backward) reaches(n *node) bool {
	return slices.ContainsFunc(b.to, func(h *history) bool { return h != nil && h.node == n })
}

// isCaptured reports whether the node is that of a captured tensor, at which the gradient of a traced function ends.
func (b *backward) isCaptured(n *node) bool {
	if !b.pass.Ends {
		return false
	}
	for i, h := range b.to {
		if h != nil && h.node == n && !b.pass.To[i].Traced() {
			return true
		}
	}
	return false
}
