package runtime

import (
	"slices"
	"sync/atomic"

	"github.com/paddle-mps/paddle-mps/core/status"
)

// The tape of reverse-mode differentiation. A call in mode Recording with an operand that asks for gradients makes a
// node, which its results name as their history; the node names those of the operands. A backward pass (backward.go)
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
//	replays.tracing, pullback.tracing   calls are traced; no hook of the caller is called: see backward.isCaptured
//	Program.mu, replays.mu              of a program that is closed, then of those that only it has
//	Trace.mu                            one call is added to a graph
//	node.adding                         one addition to the gradient of a leaf
//	origin.mu                           the history of a tensor and its views is read or replaced
//	node.mu                             a few loads and stores
//	storage.mu, Context.submit and all of memory
//
// No function of the caller runs under any but the first two lines: not a hook, nor what ends with the last reference to a node or to
// memory. So under Trace.mu, origin.mu and node.mu no node is released and no tensor looks at its origin (Tensor.latest): each may
// end a history. What is to be released is taken away under the lock, and released without it.

// history says what computed a tensor that asks for gradients: a result of a node.
type history struct {
	node  *node
	index int
	// Of results of a function of the caller that share memory with its operand: the version of the storage when it returned.
	opaque  bool
	version uint32
}

// inherit makes the tensor a result of what the history names, whose node the caller keeps alive; nothing for nil.
func (t *Tensor) inherit(h *history) {
	if h != nil {
		h.node.refs.Add(1)
		t.take(h)
	}
}

// take is inherit with a reference to the node that the tensor takes over.
func (t *Tensor) take(h *history) {
	if !t.hidden {
		h.node.names.Add(1)
	}
	watched()
	t.replace(h)
}

// forget makes the tensor one that asks for no gradient.
//
// Other tensors that were computed from it keep its node.
func (t *Tensor) forget() {
	t.replace(nil)
	t.leave(t.changed.Swap(nil))
}

// replace gives the tensor another history, and its views.
func (t *Tensor) replace(h *history) {
	if o := t.own.Load(); o != nil {
		o.set(h.held())
	}
	t.swap(h)
}

// exchange is swap with a reference to the node that the tensor takes over.
func (t *Tensor) exchange(h *history) {
	if h != nil && !t.hidden {
		h.node.names.Add(1)
	}
	t.swap(h)
}

// swap gives the tensor another history. One whose gradient is to be retained stays beside it, so that the tensor has that
// gradient after it changed in place, as in Paddle.
func (t *Tensor) swap(h *history) {
	old := t.history.Swap(h)
	if o := t.of; o != nil && (h == nil) != (old == nil) {
		if h != nil {
			o.asked.Add(1)
		} else {
			o.asked.Add(-1)
		}
	}
	if h != nil && old != nil && old.retains() && t.changed.CompareAndSwap(nil, old) {
		return
	}
	t.leave(old)
}

// leave drops the tensor's reference to what it was computed from; nothing for nil.
func (t *Tensor) leave(h *history) {
	if h == nil {
		return
	}
	if !t.hidden {
		h.node.unname()
	}
	h.node.release()
}

// retains reports whether backward passes keep the gradient of a tensor that is no leaf.
func (h *history) retains() bool {
	h.node.mu.Lock()
	defer h.node.mu.Unlock()
	return slices.ContainsFunc(h.node.hooks, func(k hook) bool { return k.Hook == nil && k.index == h.index })
}

// hide notes that no caller has the tensor, nor will: it is the gradient that another one keeps.
func (t *Tensor) hide() {
	for _, h := range [2]*history{t.history.Load(), t.changed.Load()} {
		if h != nil {
			h.node.unname()
		}
	}
	t.hidden = true
}

// withHistory makes a handle of a view with a history, whose node the caller keeps alive, that no caller will have: a
// program holds captured tensors so. Gradients that passes have left to a tensor go when callers have freed it, although the program is
// there: one that a pass has recorded may hold the program.
func (t *Tensor) withHistory(v *view, h *history) (*Tensor, error) {
	held, err := t.share(v)
	if err != nil {
		return nil, err
	}
	held.hidden = true
	held.inherit(h)
	return held, nil
}

// hold is the history of a tensor with a reference to its node, which the caller releases; nil where there is none.
// Another goroutine may give the tensor another history meanwhile.
func (t *Tensor) hold() *history {
	t.latest()
	return t.holdSeen()
}

// holdSeen is hold without a look at the origin.
func (t *Tensor) holdSeen() *history {
	for {
		h := t.history.Load()
		if h == nil || h.node.retain() {
			return h
		}
	}
}

// holdAsked is hold for tensors that ask for gradients; nil for others.
func (t *Tensor) holdAsked() *history {
	h := t.hold()
	if h != nil && h.isStopped() {
		h.node.release()
		return nil
	}
	return h
}

// asks is the history of a tensor that asks for gradients; nil for others, and for no tensor.
//
// The common answer is nil after one load: tensors that ask for nothing cost nothing more.
func (t *Tensor) asks() *history {
	if t == nil {
		return nil
	}
	h := t.latest()
	if h != nil && h.isStopped() {
		return nil
	}
	return h
}

// isStopped reports whether the tensor asks for no gradient any more. What was computed from it before is not concerned.
func (h *history) isStopped() bool { return h.node.stopped.Load()&(1<<min(h.index, 63)) != 0 }

// stop makes the tensor ask for no gradient, or ask again.
func (h *history) stop(yes bool) {
	if bit := uint64(1) << min(h.index, 63); yes {
		h.node.stopped.Or(bit)
	} else {
		h.node.stopped.And(^bit)
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

// watchHistories begins to count.
func watchHistories() {
	watch.on.Store(true)
	watch.since.Store(watch.changes.Load())
}

// Unchanged reports whether no tensor has got a history since the last call of Held.
func Unchanged() bool { return watch.changes.Load() == watch.since.Load() }

// Unwatch ends the time for which Unchanged answers.
func Unwatch() { watch.on.Store(false) }

// Asks reports whether the tensor asks for gradients: stop_gradient is False.
func (t *Tensor) Asks() bool { return t.asks() != nil }

// IsLeaf reports whether the tensor was not computed from tensors that ask for gradients.
func (t *Tensor) IsLeaf() bool {
	h := t.latest()
	return h == nil || h.node.leaf
}

// Version is how often the runtime has written to the memory of the tensor since its first contents.
func (t *Tensor) Version() uint32 { return t.store.changes() }

// Ask makes the tensor ask for gradients, or for none, from now on: what was computed from it before keeps its history. One
// that was computed from nothing becomes a leaf. Only floats and complex numbers have gradients.
//
// A tensor that asks for none keeps what it was computed from, for when it asks again.
func (t *Tensor) Ask(yes bool) error {
	before := t.asks()
	h := t.latest()
	switch {
	case h != nil:
		h.stop(!yes)
	case yes:
		if !differentiable(t.dtype) {
			return status.Errorf(status.Type, "[stop_gradient] a tensor of %s has no gradient; want a floating-point or complex dtype", t.dtype)
		}
		t.leaveOrigin()
		n := newNode(nil, nil)
		n.leaf = true
		n.keepResult(0, t)
		t.inherit(&history{node: n})
	}
	// Programs that read the memory are traced anew, unless what asks is what did when they were traced: weights that each step
	// freezes and trains again.
	switch after := t.asks(); {
	case before == nil && after != nil:
		t.store.asked.Add(after.mark())
	case before != nil && after == nil:
		t.store.asked.Add(-before.mark())
	}
	return nil
}

// mark is a number that no other history has, for sums of them; the finalizer of SplitMix64 (Steele, Lea and Flood, Fast Splittable
// Pseudorandom Number Generators, 2014) makes it, so that two sums are as good as never equal by chance.
func (h *history) mark() uint64 {
	x := (h.node.seq<<6 | uint64(min(h.index, 63))) + 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// retain makes backward passes keep the gradient.
func (h *history) retain() {
	n := h.node
	n.mu.Lock()
	defer n.mu.Unlock()
	n.hooks = append(slices.Clone(n.hooks), hook{nodes.Add(1), h.index, nil})
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
