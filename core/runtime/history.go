package runtime

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/paddle-mps/paddle-mps/core/op"
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

// node is a recorded call, or a leaf: a tensor that asks for gradients and was not computed from any that does.
type node struct {
	seq    uint64       // ascending, so that a node has a higher one than all that it names
	refs   atomic.Int32 // of tensors, nodes and passes
	names  atomic.Int32 // of tensors that a caller may have: without any, the gradients cannot be read
	reads  op.Reads
	row    *op.Row // nil for a leaf, a move to another device, and a function of the caller
	attrs  op.Attrs
	in     []kept
	out    []kept
	moved  bool      // to another device
	custom *Function // of the caller
	leaf   bool

	stopped atomic.Uint64 // by result, up to 64: tensors that ask for none any more
	adding  sync.Mutex    // of a leaf: held while a pass adds to its gradient

	spent atomic.Bool // kept values are gone, because a backward pass has used them; written under mu

	mu    sync.Mutex
	hooks []hook
	grads []*Tensor // by result: gradients of a leaf, and of results that retain theirs
	zeros *zeroed   // of a leaf: its gradient is zeros that have not been made yet; see ZeroGradient
}

// kept is what a node knows of an operand or a result.
type kept struct {
	op.Type
	ctx     *Context // nil for a number
	number  op.Value
	view    view // without a storage where the rule does not read it
	version uint32
	from    *history // of operands that ask for gradients

	displaced int32 // as in the storage, for the gradient of the operand
}

// hook is called with the gradient of a result.
type hook struct {
	id    uint64
	index int
	*Hook // nil for one that retains the gradient
}

// Hook is a function of the caller that sees the gradients of a tensor.
type Hook struct {
	// See is called during a backward pass. It may return another tensor to take the gradient's place, which is the
	// runtime's from then on; nil leaves it. The gradient stays the runtime's.
	See func(gradient *Tensor) (*Tensor, error)
	// Close is called once, when the hook is removed, or no backward pass can reach it any more, and See is not being
	// called. It may be nil.
	Close func()
	Tag   Tag // for Held; the zero Tag is not named there

	refs atomic.Int32 // of the node, and of passes that call See
}

// release drops a reference to a hook.
func (h *Hook) release() {
	if h.refs.Add(-1) == 0 && h.Close != nil {
		h.Close()
	}
}

// Function is a function of the caller with a gradient of its own.
type Function struct {
	// Backward gets the gradients of the results, nil where there is none, and returns those of the operands, nil for
	// zero. It must not free what it gets.
	Backward func(of []*Tensor) ([]*Tensor, error)
	// Close is called once, when no backward pass can go through the function any more, and Backward is not being
	// called: after the first pass that does not keep what was recorded. It may be nil.
	Close func()
	Tag   Tag // as of Hook

	// through stands for Backward where the gradient depends on the pass and the node.
	through func(b *backward, n *node, of []*Tensor) ([]*Tensor, error)
	back    *pullback // to which it has a reference; nil for most

	refs atomic.Int32 // the node, and passes that are calling Backward
}

// release drops a reference to the function.
func (f *Function) release() {
	if f.refs.Add(-1) == 0 && f.Close != nil {
		f.Close()
	}
}

// function is the node's function of the caller, with a reference for the pass that calls it; nil where there is none.
func (n *node) function() *Function {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.custom != nil {
		n.custom.refs.Add(1)
	}
	return n.custom
}

var nodes atomic.Uint64 // made so far

// newNode makes a node that one tensor will name.
func newNode(row *op.Row, at op.Attrs) *node {
	n := &node{seq: nodes.Add(1), row: row, attrs: at}
	if row != nil {
		n.reads = row.Grad.ReadsFor(at)
	}
	return n
}

// retain adds a reference to a node; false where the last one is gone.
func (n *node) retain() bool {
	for {
		refs := n.refs.Load()
		if refs == 0 {
			return false
		}
		if n.refs.CompareAndSwap(refs, refs+1) {
			return true
		}
	}
}

// release drops a reference to a node. The nodes that only it names go with it: one after the other, because a chain of
// them may be long.
func (n *node) release() {
	todo := []*node{n}
	var room [4]*storage
	for len(todo) > 0 {
		last := len(todo) - 1
		n, todo = todo[last], todo[:last]
		if n.refs.Add(-1) > 0 {
			continue
		}
		n.mu.Lock()
		values := n.drop(room[:0])
		grads, hooks := n.grads, n.hooks
		n.grads, n.zeros, n.hooks = nil, nil, nil
		for i := range n.in {
			if h := n.in[i].from; h != nil {
				todo = append(todo, h.node)
				n.in[i].from = nil
			}
		}
		n.mu.Unlock()
		releaseValues(values)
		freeGradients(grads)
		for i := range hooks {
			if hooks[i].Hook != nil {
				hooked.Delete(hooks[i].id)
				hooks[i].release()
			}
		}
		if f := n.custom; f != nil {
			f.release()
		}
	}
}

// freeGradients frees what tensors have kept.
func freeGradients(list []*Tensor) {
	for _, g := range list {
		if g != nil {
			g.store.ctx.rt.Free(g.handle)
		}
	}
}

// unname notes that a tensor is gone. With the last one the gradients go: they may name the node themselves, after a
// pass with Again, and would keep it for ever.
func (n *node) unname() {
	if n.names.Add(-1) > 0 {
		return
	}
	n.mu.Lock()
	var grads []*Tensor
	if n.names.Load() == 0 { // a backward pass may have made one meanwhile
		grads, n.grads, n.zeros = n.grads, nil, nil
	}
	n.mu.Unlock()
	freeGradients(grads)
}

// drop takes away what was kept for the rule, and appends it to values; mu is held. The caller releases it without mu: the memory of
// another owner ends with a call of that owner.
func (n *node) drop(values []*storage) []*storage {
	for _, list := range [2][]kept{n.in, n.out} {
		for i := range list {
			if st := list[i].view.store; st != nil {
				list[i].view.store = nil
				values = append(values, st)
			}
		}
	}
	n.spent.Store(true)
	return values
}

// releaseValues releases what a node has kept.
func releaseValues(values []*storage) {
	for _, st := range values {
		st.release()
	}
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
