package tape

import (
	"cmp"
	"slices"

	"github.com/paddle-mps/paddle-mps/core/runtime"
)

// find notes which nodes lead to the tensors that are asked for, so that no other gradient is computed.
//
// It goes through the nodes twice: once to reach all of them, and once in ascending order, in which each node comes after
// those that it was computed from. Without it a pass for one input would compute the gradients of all.
func (b *backward) find() {
	b.leads = map[*runtime.Node]bool{}
	var reached []*runtime.Node
	todo := []*runtime.Node{}
	for _, h := range b.roots {
		if h != nil {
			todo = append(todo, h.Node)
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
		for i := range n.In {
			if h := n.In[i].From; h != nil {
				todo = append(todo, h.Node)
			}
		}
	}
	for _, h := range b.to {
		if h != nil {
			b.leads[h.Node] = true
		}
	}
	slices.SortFunc(reached, func(x, y *runtime.Node) int { return cmp.Compare(x.Seq, y.Seq) }) // operands first
	for _, n := range reached {
		for i := range n.In {
			if h := n.In[i].From; h != nil && !b.stops(h) && b.leads[h.Node] {
				b.leads[n] = true
			}
		}
	}
}

// stops reports whether gradients go no further than this result.
func (b *backward) stops(h *runtime.History) bool {
	return slices.ContainsFunc(b.pass.Stop, func(t *runtime.Tensor) bool {
		s := t.LatestHistory()
		return s != nil && s.Node == h.Node && s.Index == h.Index
	})
}

// wanted reports whether the gradient of an operand is to be computed.
func (b *backward) wanted(k *runtime.NodeValue) bool {
	h := k.From
	return h != nil && (b.leads == nil || b.leads[h.Node] && !b.stops(h))
}

// reaches reports whether the node is that of a tensor of To.
func (b *backward) reaches(n *runtime.Node) bool {
	return slices.ContainsFunc(b.to, func(h *runtime.History) bool { return h != nil && h.Node == n })
}

// isCaptured reports whether the node is that of a captured tensor, at which the gradient of a traced function ends.
func (b *backward) isCaptured(n *runtime.Node) bool {
	if !b.pass.Ends {
		return false
	}
	for i, h := range b.to {
		if h != nil && h.Node == n && !b.pass.To[i].Traced() {
			return true
		}
	}
	return false
}
