package runtime

import (
	"slices"
	"sync/atomic"

	"github.com/paddle-mps/paddle-mps/core/status"
)

// The tape of reverse-mode differentiation. A call in mode Recording with an operand that asks for gradients makes a
// node, which its results name as their history; the node names those of the operands. A backward pass (core/tape/backward.go)
// walks from a result through the nodes, the latest first.
//
// A node keeps what the rule of its row reads: views of operands and results, with the version of their storage. A
// tensor that was written to since is an error of the backward pass, not a wrong gradient. Nodes are counted by the
// tensors and nodes that name them, so that memory returns when the last tensor goes, without the garbage collector.

// Who names whom: a tensor names its history, a history its node, and a node the histories of its operands. Nothing points
// the other way, but for the gradients of leaves: those are tensors that a node owns, and may have histories themselves.
// An example, y = exp(x * w) with x and w leaves:
//
//	y -> node of exp, which keeps y -> node of multiply, which keeps x and w -> the leaves' nodes
//
// When y is freed, so is the node of exp, its reference to y's memory, the node of multiply, and what that keeps. The
// leaves' nodes stay as long as the leaves do.
//
// Three things make a recorded value unusable, and each is an error that names the operator: it was written to, which its
// version says; a pass has gone through its node and was not told to keep it; or it is a view that a function of the caller has
// returned, of memory that has changed since. Histories of all other views follow what is written: see origin.go.
//
// Locks: a node has one, for what changes after it was made. It is held for a few loads and stores and never during a call
// of an operator or of the caller's functions, so that those may do with any tensor what they like. That of a leaf for sums is
// held during one addition, which calls nothing of the caller's.
//
// Who holds one of these locks takes only others that stand behind it:
//
//	replays.tracing, Pullback.Tracing   calls are traced; no hook of the caller is called: see backward.isCaptured
//	Program.mu, replays.mu              of a program that is closed, then of those that only it has
//	Trace.mu                            one call is added to a graph
//	Node.Adding                         one addition to the gradient of a leaf
//	Origin.Mu                           the history of a tensor and its views is read or replaced
//	Node.Mu                             a few loads and stores
//	Storage.mu, Context.submit and all of memory
//
// No function of the caller runs under any but the first two lines: not a hook, nor what ends with the last reference to a node or to
// memory. So under Trace.mu, Origin.Mu and Node.Mu no node is released and no tensor looks at its origin (Tensor.LatestHistory): each may
// end a history. What is to be released is taken away under the lock, and released without it.

// History says what computed a tensor that asks for gradients: a result of a node.
type History struct {
	Node  *Node
	Index int
	// Of results of a function of the caller that share memory with its operand: the version of the storage when it returned.
	Opaque  bool
	Version uint32
}

// InheritHistory makes the tensor a result of what the history names, whose node the caller keeps alive; nothing for nil.
func (t *Tensor) InheritHistory(h *History) {
	if h != nil {
		h.Node.Refs.Add(1)
		t.TakeHistory(h)
	}
}

// TakeHistory is inherit with a reference to the node that the tensor takes over.
func (t *Tensor) TakeHistory(h *History) {
	if !t.hidden {
		h.Node.Names.Add(1)
	}
	watched()
	t.replace(h)
}

// ForgetHistory makes the tensor one that asks for no gradient.
//
// Other tensors that were computed from it keep its node.
func (t *Tensor) ForgetHistory() {
	t.replace(nil)
	t.leave(t.ChangedFrom.Swap(nil))
}

// replace gives the tensor another history, and its views.
func (t *Tensor) replace(h *History) {
	if o := t.own.Load(); o != nil {
		o.SetHistory(h.held())
	}
	t.swap(h)
}

// exchange is swap with a reference to the node that the tensor takes over.
func (t *Tensor) exchange(h *History) {
	if h != nil && !t.hidden {
		h.Node.Names.Add(1)
	}
	t.swap(h)
}

// swap gives the tensor another history. One whose gradient is to be retained stays beside it, so that the tensor has that
// gradient after it changed in place, as in Paddle.
func (t *Tensor) swap(h *History) {
	old := t.History.Swap(h)
	if o := t.ViewOrigin; o != nil && (h == nil) != (old == nil) {
		if h != nil {
			o.asked.Add(1)
		} else {
			o.asked.Add(-1)
		}
	}
	if h != nil && old != nil && old.Retains() && t.ChangedFrom.CompareAndSwap(nil, old) {
		return
	}
	t.leave(old)
}

// leave drops the tensor's reference to what it was computed from; nothing for nil.
func (t *Tensor) leave(h *History) {
	if h == nil {
		return
	}
	if !t.hidden {
		h.Node.unname()
	}
	h.Node.Release()
}

// Retains reports whether backward passes keep the gradient of a tensor that is no leaf.
func (h *History) Retains() bool {
	h.Node.Mu.Lock()
	defer h.Node.Mu.Unlock()
	return slices.ContainsFunc(h.Node.Hooks, func(k NodeHook) bool { return k.Hook == nil && k.Index == h.Index })
}

// hide notes that no caller has the tensor, nor will: it is the gradient that another one keeps.
func (t *Tensor) hide() {
	for _, h := range [2]*History{t.History.Load(), t.ChangedFrom.Load()} {
		if h != nil {
			h.Node.unname()
		}
	}
	t.hidden = true
}

// WithHistory makes a handle of a view with a history, whose node the caller keeps alive, that no caller will have: a
// program holds captured tensors so. Gradients that passes have left to a tensor go when callers have freed it, although the program is
// there: one that a pass has recorded may hold the program.
func (t *Tensor) WithHistory(v *View, h *History) (*Tensor, error) {
	held, err := t.ShareView(v)
	if err != nil {
		return nil, err
	}
	held.hidden = true
	held.InheritHistory(h)
	return held, nil
}

// HoldHistory is the history of a tensor with a reference to its node, which the caller releases; nil where there is none.
// Another goroutine may give the tensor another history meanwhile.
func (t *Tensor) HoldHistory() *History {
	t.LatestHistory()
	return t.holdSeen()
}

// holdSeen is hold without a look at the origin.
func (t *Tensor) holdSeen() *History {
	for {
		h := t.History.Load()
		if h == nil || h.Node.Retain() {
			return h
		}
	}
}

// HoldAskedHistory is hold for tensors that ask for gradients; nil for others.
func (t *Tensor) HoldAskedHistory() *History {
	h := t.HoldHistory()
	if h != nil && h.IsStopped() {
		h.Node.Release()
		return nil
	}
	return h
}

// AskedHistory is the history of a tensor that asks for gradients; nil for others, and for no tensor.
//
// The common answer is nil after one load: tensors that ask for nothing cost nothing more.
func (t *Tensor) AskedHistory() *History {
	if t == nil {
		return nil
	}
	h := t.LatestHistory()
	if h != nil && h.IsStopped() {
		return nil
	}
	return h
}

// IsStopped reports whether the tensor asks for no gradient any more. What was computed from it before is not concerned.
func (h *History) IsStopped() bool { return h.Node.stopped.Load()&(1<<min(h.Index, 63)) != 0 }

// stop makes the tensor ask for no gradient, or ask again.
func (h *History) stop(yes bool) {
	if bit := uint64(1) << min(h.Index, 63); yes {
		h.Node.stopped.Or(bit)
	} else {
		h.Node.stopped.And(^bit)
	}
}

// watch counts the histories that tensors get while someone wants to know.
var watch struct {
	on      atomic.Bool
	changes atomic.Uint64
	since   atomic.Uint64
}

// watched notes that a tensor gets a history.
func watched() {
	if watch.on.Load() {
		watch.changes.Add(1)
	}
}

// WatchHistories begins to count.
func WatchHistories() {
	watch.on.Store(true)
	watch.since.Store(watch.changes.Load())
}

// Unchanged reports whether no tensor has got a history since the last call of Held.
func Unchanged() bool { return watch.changes.Load() == watch.since.Load() }

// Unwatch ends the time for which Unchanged answers.
func Unwatch() { watch.on.Store(false) }

// Asks reports whether the tensor asks for gradients: stop_gradient is False.
func (t *Tensor) Asks() bool { return t.AskedHistory() != nil }

// IsLeaf reports whether the tensor was not computed from tensors that ask for gradients.
func (t *Tensor) IsLeaf() bool {
	h := t.LatestHistory()
	return h == nil || h.Node.Leaf
}

// Version is how often the runtime has written to the memory of the tensor since its first contents.
func (t *Tensor) Version() uint32 { return t.Store.Changes() }

// Ask makes the tensor ask for gradients, or for none, from now on: what was computed from it before keeps its history. One
// that was computed from nothing becomes a leaf. Only floats and complex numbers have gradients.
//
// A tensor that asks for none keeps what it was computed from, for when it asks again.
func (t *Tensor) Ask(yes bool) error {
	before := t.AskedHistory()
	h := t.LatestHistory()
	switch {
	case h != nil:
		h.stop(!yes)
	case yes:
		if !Differentiable(t.DType) {
			return status.Errorf(status.Type, "[stop_gradient] a tensor of %s has no gradient; want a floating-point or complex dtype", t.DType)
		}
		t.leaveOrigin()
		n := NewNode(nil, nil)
		n.Leaf = true
		n.KeepResult(0, t)
		t.InheritHistory(&History{Node: n})
	}
	// Programs that read the memory are traced anew, unless what asks is what did when they were traced: weights that each step
	// freezes and trains again.
	switch after := t.AskedHistory(); {
	case before == nil && after != nil:
		t.Store.Asked.Add(after.mark())
	case before != nil && after == nil:
		t.Store.Asked.Add(-before.mark())
	}
	return nil
}

// mark is a number that no other history has, for sums of them; the finalizer of SplitMix64 (Steele, Lea and Flood, Fast Splittable
// Pseudorandom Number Generators, 2014) makes it, so that two sums are as good as never equal by chance.
func (h *History) mark() uint64 {
	x := (h.Node.Seq<<6 | uint64(min(h.Index, 63))) + 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Retain makes backward passes keep the gradient.
func (h *History) Retain() {
	n := h.Node
	n.Mu.Lock()
	defer n.Mu.Unlock()
	n.Hooks = append(slices.Clone(n.Hooks), NodeHook{NodesMade.Add(1), h.Index, nil})
}

// AddHook calls a hook with each gradient of the tensor, and returns its number. Hooks are called in the order in which
// they were added.
func (t *Tensor) AddHook(call *Hook) (uint64, error) {
	h := t.HoldAskedHistory()
	if h == nil {
		return 0, status.Errorf(status.Invalid, "[register_hook] the tensor has stop_gradient=True; want False")
	}
	defer h.Node.Release()
	h.Node.Mu.Lock()
	defer h.Node.Mu.Unlock()
	id := NodesMade.Add(1)
	call.Refs.Store(1)
	h.Node.Hooks = append(h.Node.Hooks, NodeHook{id, h.Index, call})
	HookedNodes.Store(id, h.Node)
	return id, nil
}
