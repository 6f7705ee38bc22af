package runtime

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/paddle-mps/paddle-mps/core/op"
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
	kind   nodeKind
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

// nodeKind says where the gradient of a node comes from that has neither a row nor a function of the caller.
type nodeKind uint8

const (
	otherNode     nodeKind = iota // from its row, or the function; or it is a leaf
	movedNode                     // a move to another device, whose gradient is the move back
	partReadNode                  // a view reads the part of its origin that attrs describe, as as_strided has them
	partWriteNode                 // that part of an origin, its first operand, was replaced by its second
	overwriteNode                 // new contents that do not depend on the old ones, whose gradient is 0
)

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
	through func(b backwardPass, n *node, of []*Tensor) ([]*Tensor, error)
	back    any // the program of the gradient, to which it has a reference, of a run of a traced function; nil for most

	refs atomic.Int32 // the node, and passes that are calling Backward
}

// backwardPass is a backward pass, for functions whose gradient depends on it.
type backwardPass interface {
	// Records reports whether the gradients themselves have gradients.
	Records() bool
	// Call calls a function, whose node is n, with the gradients of its results.
	Call(n *node, f *Function, dy []*Tensor) ([]*Tensor, error)
	// End makes gradients of n results of a function, which a pass calls that goes through them.
	End(n *node, dy, dx []*Tensor, f *Function)
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

// whole refuses a node that a pass has gone through.
func (n *node) whole() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.spent.Load() {
		return nil
	}
	name := "backward"
	if n.row != nil {
		name = n.row.Name
	}
	return status.Errorf(status.Invalid, "[%s] a backward pass has gone through this call before, and its values are freed; want retain_graph=True in that pass", name)
}

// Tag identifies a function of a caller: the caller, and its number for the function. The zero Tag is of none.
type Tag struct{ Caller, Number uint64 }

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

// Unchanged reports whether no tensor has got a history since the last call of Held.
func Unchanged() bool { return watch.changes.Load() == watch.since.Load() }

// Unwatch ends the time for which Unchanged answers.
func Unwatch() { watch.on.Store(false) }

// keepOperands keeps what the rule reads of the operands, and their histories. Of x * c with a constant c, that is c alone.
//
// Operands of integers and bools have no history, even where they were computed from a tensor that asks: a cast ends it.
func (n *node) keepOperands(in []Operand) {
	n.in = make([]kept, len(in))
	for i := range in {
		k, t := &n.in[i], in[i].Tensor
		if t == nil {
			k.number = in[i].Value
			k.DType = k.number.DType()
			continue
		}
		k.of(t, n.reads.Operand(i))
		k.from = t.holdAsked()
	}
	if n.row != nil && n.row.Grad.Crossed && len(in) == 2 {
		for i := range n.in {
			if n.in[1-i].from == nil {
				n.in[i].forgetValues()
			}
		}
	}
}

// forgetValues releases what is kept of the values.
func (k *kept) forgetValues() {
	if st := k.view.store; st != nil {
		k.view.store = nil
		st.release()
	}
}

// keepResult keeps result i, as far as the rule reads it.
func (n *node) keepResult(i int, t *Tensor) {
	var k kept
	k.of(t, n.reads.Result(i))
	n.out = append(n.out, k)
}

// of describes a tensor, and keeps its memory if values are read.
func (k *kept) of(t *Tensor, values bool) {
	k.Type, k.ctx, k.displaced = op.Type{DType: t.dtype, Shape: t.Shape}, t.store.ctx, t.store.displaced
	if values {
		k.view, k.version = t.view, t.store.changes()
		t.store.retain()
	}
}

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

// zeroed says what zeros a gradient is: the dtype and the shape of the one that was freed, and its device. Zeros of complex dtypes
// are always made at once.
type zeroed struct {
	op.Type
	ctx *Context
}

// gradient is what result i has, for the holder of mu; nil for none.
func (n *node) gradient(i int) *Tensor {
	if i >= len(n.grads) {
		return nil
	}
	return n.grads[i]
}

// hooked has the node of each hook by the number of the hook. A tensor that changes in place has another node from then on, and its
// hook stays with what the tensor was.
var hooked sync.Map // of uint64: *node
