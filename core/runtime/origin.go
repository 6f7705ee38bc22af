package runtime

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
)

// Views and gradients. A write through a view changes the tensor that the view was made of, and all other views of it. So a tensor
// and its views, and views of those, share an [origin], which knows what computed the elements of the whole tensor. A recorded write
// into a part of it makes a node, the whole with that part replaced, the history of the origin; each of the other tensors takes its
// history from there when it is next asked whether it asks for gradients (Tensor.latest). PyTorch does the same (CopySlices and the
// regenerated grad_fn of views).
//
//	h = y * 1.0    origin: multiply of y
//	v = h[0]       slice of the origin
//	v[1] = w       origin: the multiply with the element at offset 1 replaced by w; v and h take their histories from it
//
// Parts are told by where they lie in memory, and not by the calls that made the views: all views of one dtype are strided layouts
// of one storage, so that the part of any chain of views has one offset, one shape and one set of strides.
//
// Tensors hold their origin, and no node does. So there is no cycle: when the last tensor that shares it is gone, so are its history
// and what that has kept.
//
// A tensor that is detached, or whose elements are looked at as another dtype, has the memory and not the origin: what is written
// through it is no part of any history, as a write under no_grad is none. It advances the version of the storage all the same.

// origin is the tensor that views were made of.
type origin struct {
	refs  atomic.Int32  // of tensors
	asked atomic.Int32  // of these the views that have a history
	epoch atomic.Uint32 // how often a recorded call has written to it

	// Of the tensor. Its storage is not here: each tensor that has the origin holds one, and those of traced tensors differ.
	ctx    *Context
	traced bool
	bits   bool // it looks at the elements of another tensor as another dtype
	dtype  dtype.DType
	offset int64
	shape.Layout

	mu   sync.Mutex
	from *history // with a reference to its node; nil where the elements were computed from nothing that asks
}

// state is what the history of a tensor depends on: the version of its memory, and how often its origin was given another history.
func (o *origin) state(st *storage) uint64 { return uint64(st.changes())<<32 | uint64(o.epoch.Load()) }

// origin is what the tensor shares with its views; nil where it has none.
//
// A view has it from the start. A tensor gets it with its first view, perhaps from several goroutines at a time.
func (t *Tensor) origin() *origin {
	if t.of != nil {
		return t.of
	}
	return t.own.Load()
}

// ensureOrigin is origin, which it makes where there is none.
func (t *Tensor) ensureOrigin() *origin {
	if o := t.origin(); o != nil {
		return o
	}
	o := t.store.ctx.rt.origins.Get().(*origin)
	o.ctx, o.traced, o.dtype, o.offset, o.Layout = t.store.ctx, t.store.traced != nil, t.dtype, t.offset, t.Layout
	o.bits, o.from = t.viewed, t.hold() // all other views have an origin
	o.refs.Store(1)
	t.seen.Store(o.state(t.store))
	if t.own.CompareAndSwap(nil, o) {
		return o
	}
	o.release() // another goroutine has made a view at the same time
	return t.own.Load()
}

// derive makes t, which has just been made and shares the memory of x, a view of x.
func (t *Tensor) derive(x *Tensor) {
	t.viewed = true
	if t.dtype == x.dtype && differentiable(t.dtype) {
		t.join(x.ensureOrigin(), false)
	}
}

// join gives a new tensor the origin. whole says that it is another handle of the tensor itself.
func (t *Tensor) join(o *origin, whole bool) {
	o.refs.Add(1)
	if now := o.state(t.store); now != 0 { // as it is in a new tensor
		t.seen.Store(now)
	}
	if whole {
		t.own.Store(o)
	} else {
		t.of = o
	}
}

// leaveOrigin makes a view a tensor of its own, as far as gradients are concerned: it becomes a leaf, which was computed from nothing
// that its origin knows. Views that are made of it from now on have it as their origin.
func (t *Tensor) leaveOrigin() {
	if o := t.of; o != nil {
		t.of, t.viewed = nil, false // it has no history
		t.seen.Store(0)
		o.release()
	}
}

// release drops the reference of a tensor.
func (o *origin) release() {
	if o.refs.Add(-1) > 0 {
		return
	}
	rt, from := o.ctx.rt, o.from
	o.ctx, o.from = nil, nil
	o.epoch.Store(0)
	o.asked.Store(0)
	rt.origins.Put(o)
	if from != nil {
		from.node.release()
	}
}

// latest is the history of the tensor, which another tensor of the same origin may have changed.
func (t *Tensor) latest() *history {
	if o := t.origin(); o != nil && t.seen.Load() != o.state(t.store) {
		t.refresh(o)
	}
	return t.history.Load()
}

// refresh takes the history of the tensor from its origin. A view that retains its gradient goes on to do so, because what is computed
// from it does not depend on what it was.
func (t *Tensor) refresh(o *origin) {
	old := t.history.Load()
	retains := t.of != nil && old != nil && old.retains()
	o.mu.Lock()
	now := o.state(t.store)
	h, other := o.historyOf(t)
	t.seen.Store(now)
	o.mu.Unlock()
	if other {
		if h != nil && retains {
			h.retain()
		}
		t.exchange(h) // without the lock: nodes that end may call functions of the caller
	}
}

// historyOf is the history of a tensor of the origin, with a reference to its node; false where it has that already. mu is held.
//
// A leaf stays one. So does a result of a function of the caller that shares memory with its operand: it cannot be computed from the
// origin but by that function, and `records` refuses it once the memory has changed. A view that asked for nothing, because it was
// made where nothing is recorded, asks for nothing until something is recorded.
//
// Also that of a view of everything is its own: what is computed from the origin does not depend on the view, its hooks and whether it
// is stopped.
func (o *origin) historyOf(t *Tensor) (h *history, other bool) {
	old := t.history.Load()
	switch {
	case t.of == nil:
		if old == o.from {
			return nil, false
		}
		return o.from.held(), true
	case old != nil && (old.node.leaf || old.opaque):
		return nil, false
	case uint32(t.seen.Load()) == o.epoch.Load() && (old == nil || !old.node.isSpent()):
		return nil, false
	case o.from == nil:
		return nil, old != nil
	case o.from.isStopped() && old == nil: // it was made of a tensor that asks for nothing
		return nil, false
	}
	h = &history{node: o.read(t)}
	if old != nil && old.isStopped() {
		h.stop(true)
	}
	return h, true
}

// held is the history with a further reference to its node; nil for nil.
func (h *history) held() *history {
	if h != nil {
		h.node.refs.Add(1)
	}
	return h
}

// isSpent reports whether a backward pass has gone through the node and did not keep it.
func (n *node) isSpent() bool { return n.spent.Load() }

// set replaces the history, with a reference to its node that the origin takes over.
func (o *origin) set(h *history) {
	o.mu.Lock()
	old := o.from
	if old == h {
		o.mu.Unlock()
	} else {
		o.from = h
		o.mu.Unlock()
	}
	if old != nil {
		old.node.release()
	}
}

// hold is the history with a reference to its node; nil where there is none.
func (o *origin) hold() *history {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.from.held()
}

// asks is the history where the origin asks for gradients, else nil. The answer is for the caller to look at, and not to keep.
func (o *origin) asks() *history {
	if o == nil {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.from == nil || o.from.isStopped() {
		return nil
	}
	return o.from
}

// isNewerThan reports whether the origin was computed after so many nodes were made. Leaves are not computed.
func (o *origin) isNewerThan(nodes uint64) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.from != nil && o.from.node.seq > nodes && !o.from.node.leaf
}

// wrote notes that a call has written into t, which has computed its elements as h says: nil for a constant. The whole has a new
// history then, from which the others take theirs.
//
// A whole that asks for nothing is a constant in what is computed of it and a part that asks. Where the part is a constant too, it
// stays as it is: views may ask that were made before it was stopped.
//
// The whole of before is read and replaced under one lock: calls on several goroutines may write into parts of it at a time.
func (o *origin) wrote(t *Tensor, h *history) {
	o.mu.Lock()
	old, before := o.from, o.from
	stopped := before != nil && before.isStopped()
	if stopped && h != nil {
		before = nil
	}
	switch {
	case o.covers(t):
		o.from = h.held()
	case before != nil || h != nil:
		o.from = &history{node: o.replaced(t, before.held(), h)}
		o.from.stop(stopped && h == nil)
	default:
		old = nil // it stays
	}
	o.epoch.Add(1)
	o.mu.Unlock()
	if old != nil { // without the lock: nodes that end may call functions of the caller
		old.node.release()
	}
}

// matters reports whether the gradient of something depends on what is written into parts of the origin: it asks, or it does not and views
// do that were made before.
func (o *origin) matters() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.from != nil && (!o.from.isStopped() || o.asked.Load() > 0 && !o.from.node.leaf)
}

// covers reports whether t shows all elements of the origin, in their order.
func (o *origin) covers(t *Tensor) bool {
	return t.offset == o.offset && t.Layout == o.Layout
}

// part is the layout of t in a contiguous tensor like the origin, as attributes of as_strided.
func (o *origin) part(t *Tensor) op.Attrs {
	ints := func(v []int64) op.Value { return op.Value{Kind: op.Ints, Ints: slices.Clone(v)} }
	return op.Attrs{
		op.AsStridedShape: ints(t.Shape.Slice()), op.AsStridedStride: ints(t.Strides[:t.Rank]),
		op.AsStridedOffset: {Kind: op.Int, I: t.offset - o.offset},
	}
}

// Nodes of parts. Their gradients are calls like any others, so that a recorded pass has gradients of them, and a traced one makes
// them nodes of the graph.

// read is a node with one result, the part of the origin that t shows. mu is held.
func (o *origin) read(t *Tensor) *node {
	part := o.part(t)
	if t.MayOverlap() { // the gradients of an element that is shown twice add up, as the rule of as_strided does
		n := newNode(strided, part)
		n.in, n.out = []kept{o.kept(o.from.held())}, []kept{typeOf(t)}
		n.refs.Store(1)
		return n
	}
	n := newPartNode(partReadNode, part)
	n.in, n.out = []kept{o.kept(o.from.held())}, []kept{typeOf(t)}
	return n
}

// readsOrigin reports whether the history of a view of the tensor may be that of a part of its origin: where what computed the
// tensor is what computed the origin.
func (t *Tensor) readsOrigin() bool {
	o := t.ensureOrigin()
	h := t.asks()
	return h != nil && !h.node.leaf && !h.opaque && o.IsContiguous() && o.asks() != nil
}

// recordPart makes the tensor, a new view, a part of its origin.
func (t *Tensor) recordPart() {
	o := t.origin()
	o.mu.Lock()
	n := o.read(t)
	o.mu.Unlock()
	t.exchange(&history{node: n})
}

// replaced is a node with one result, the origin with the part that t shows replaced; mu is held. old and value are the histories of the origin
// before and of what was written, with a reference to the node of old, which it takes over; nil for what asks for nothing.
func (o *origin) replaced(t *Tensor, old, value *history) *node {
	n := newPartNode(partWriteNode, o.part(t))
	n.in, n.out = []kept{o.kept(old), typeOf(t)}, []kept{o.kept(nil)}
	n.in[1].from = value.held()
	return n
}

// kept describes the origin as an operand or a result of a node.
func (o *origin) kept(from *history) kept {
	k := kept{ctx: o.ctx, from: from}
	k.DType, k.Shape = o.dtype, o.Shape
	return k
}

// typeOf describes a tensor, whose values are not kept.
func typeOf(t *Tensor) (k kept) {
	k.of(t, false)
	return k
}

// newPartNode is a node of a kind, which one history will name.
func newPartNode(kind nodeKind, part op.Attrs) *node {
	n := newNode(nil, part)
	n.kind = kind
	n.refs.Store(1)
	return n
}

// strided is the operator that makes a view of any layout.
var strided = op.ByID(op.IDAsStrided)

// The one question of every writer.

// done records a change that was submitted.
//
// The version counts every write, recorded or not: also those under no_grad make older values stale.
func (c *change) done(out *Tensor) {
	out.store.version.Add(1)
	c.counted(out)
}

// counted is done for a change that is counted already, as a trace counts those of all views.
func (c *change) counted(out *Tensor) {
	switch {
	case c.node != nil:
		c.node.keepResult(0, out)
		out.written(&history{node: c.node})
	case c.constant:
		o := out.origin()
		o.wrote(out, nil)
		if h := o.hold(); h != nil {
			out.store.rewritten(h)
			h.node.release()
		}
	case c.stale:
		if o := out.origin(); o != nil && c.recording { // its views end as well
			o.wrote(out, nil)
		}
		out.forget()
	}
}

// written gives a tensor the history of elements that were written into it, and tells its origin.
//
// A view takes its history from the origin when it is next asked, as the other views do: what is computed from it depends on the
// tensor that was written to.
func (t *Tensor) written(h *history) {
	t.store.rewritten(h)
	t.inherit(h)
	if o := t.origin(); o != nil {
		o.wrote(t, h)
		if t.of == nil {
			t.seen.Store(o.state(t.store))
		}
	}
}

// rewritten notes that memory has elements with another history, so that programs which have captured it are traced anew. That
// matters to memory alone: what is traced has no program yet.
func (st *storage) rewritten(h *history) {
	if st.traced == nil && h != nil {
		st.asked.Add(h.mark())
	}
}

// change is a call that writes into a tensor, from before it runs until it has.
type change struct {
	node      *node // nil: not recorded
	recording bool
	constant  bool // a part of an origin whose gradient matters gets elements that ask for none
	stale     bool // the tensor has a history and asks for no gradient: it ends, because it is that of other contents
}

// drop ends a change that may not have run.
func (c *change) drop() {
	if c.node != nil {
		c.node.release()
	}
}

// overwritten is the node of a tensor whose new contents do not depend on the old ones: these get the gradient 0. The tensor
// goes on to ask for gradients, so that a program in which it happens to be constant runs as before, as in Paddle.
func (rt *Runtime) overwritten(out *Tensor) *node {
	n := newPartNode(overwriteNode, nil)
	n.keepOperands([]Operand{{Tensor: out}})
	return n
}
