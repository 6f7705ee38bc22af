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
// history from there when it is next asked whether it asks for gradients (Tensor.LatestHistory). PyTorch does the same (CopySlices and the
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

// Origin is the tensor that views were made of.
type Origin struct {
	Refs  atomic.Int32  // of tensors
	asked atomic.Int32  // of these the views that have a history
	Epoch atomic.Uint32 // how often a recorded call has written to it

	// Of the tensor. Its storage is not here: each tensor that has the origin holds one, and those of traced tensors differ.
	Context *Context
	Traced  bool
	Bits    bool // it looks at the elements of another tensor as another dtype
	dtype   dtype.DType
	Offset  int64
	shape.Layout

	Mu   sync.Mutex
	From *History // with a reference to its node; nil where the elements were computed from nothing that asks
}

// state is what the history of a tensor depends on: the version of its memory, and how often its origin was given another history.
func (o *Origin) state(st *Storage) uint64 { return uint64(st.Changes())<<32 | uint64(o.Epoch.Load()) }

// Origin is what the tensor shares with its views; nil where it has none.
//
// A view has it from the start. A tensor gets it with its first view, perhaps from several goroutines at a time.
func (t *Tensor) Origin() *Origin {
	if t.ViewOrigin != nil {
		return t.ViewOrigin
	}
	return t.own.Load()
}

// EnsureOrigin is origin, which it makes where there is none.
func (t *Tensor) EnsureOrigin() *Origin {
	if o := t.Origin(); o != nil {
		return o
	}
	o := t.Store.Context.Runtime.origins.Get().(*Origin)
	o.Context, o.Traced, o.dtype, o.Offset, o.Layout = t.Store.Context, t.Store.Traced != nil, t.DType, t.Offset, t.Layout
	o.Bits, o.From = t.IsView, t.HoldHistory() // all other views have an origin
	o.Refs.Store(1)
	t.SeenState.Store(o.state(t.Store))
	if t.own.CompareAndSwap(nil, o) {
		return o
	}
	o.Release() // another goroutine has made a view at the same time
	return t.own.Load()
}

// DeriveFrom makes t, which has just been made and shares the memory of x, a view of x.
func (t *Tensor) DeriveFrom(x *Tensor) {
	t.IsView = true
	if t.DType == x.DType && Differentiable(t.DType) {
		t.JoinOrigin(x.EnsureOrigin(), false)
	}
}

// JoinOrigin gives a new tensor the origin. whole says that it is another handle of the tensor itself.
func (t *Tensor) JoinOrigin(o *Origin, whole bool) {
	o.Refs.Add(1)
	if now := o.state(t.Store); now != 0 { // as it is in a new tensor
		t.SeenState.Store(now)
	}
	if whole {
		t.own.Store(o)
	} else {
		t.ViewOrigin = o
	}
}

// leaveOrigin makes a view a tensor of its own, as far as gradients are concerned: it becomes a leaf, which was computed from nothing
// that its origin knows. Views that are made of it from now on have it as their origin.
func (t *Tensor) leaveOrigin() {
	if o := t.ViewOrigin; o != nil {
		t.ViewOrigin, t.IsView = nil, false // it has no history
		t.SeenState.Store(0)
		o.Release()
	}
}

// Release drops the reference of a tensor.
func (o *Origin) Release() {
	if o.Refs.Add(-1) > 0 {
		return
	}
	rt, from := o.Context.Runtime, o.From
	o.Context, o.From = nil, nil
	o.Epoch.Store(0)
	o.asked.Store(0)
	rt.origins.Put(o)
	if from != nil {
		from.Node.Release()
	}
}

// LatestHistory is the history of the tensor, which another tensor of the same origin may have changed.
func (t *Tensor) LatestHistory() *History {
	if o := t.Origin(); o != nil && t.SeenState.Load() != o.state(t.Store) {
		t.refresh(o)
	}
	return t.History.Load()
}

// refresh takes the history of the tensor from its origin. A view that retains its gradient goes on to do so, because what is computed
// from it does not depend on what it was.
func (t *Tensor) refresh(o *Origin) {
	old := t.History.Load()
	retains := t.ViewOrigin != nil && old != nil && old.Retains()
	o.Mu.Lock()
	now := o.state(t.Store)
	h, other := o.historyOf(t)
	t.SeenState.Store(now)
	o.Mu.Unlock()
	if other {
		if h != nil && retains {
			h.Retain()
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
func (o *Origin) historyOf(t *Tensor) (h *History, other bool) {
	old := t.History.Load()
	switch {
	case t.ViewOrigin == nil:
		if old == o.From {
			return nil, false
		}
		return o.From.held(), true
	case old != nil && (old.Node.Leaf || old.Opaque):
		return nil, false
	case uint32(t.SeenState.Load()) == o.Epoch.Load() && (old == nil || !old.Node.isSpent()):
		return nil, false
	case o.From == nil:
		return nil, old != nil
	case o.From.IsStopped() && old == nil: // it was made of a tensor that asks for nothing
		return nil, false
	}
	h = &History{Node: o.read(t)}
	if old != nil && old.IsStopped() {
		h.stop(true)
	}
	return h, true
}

// held is the history with a further reference to its node; nil for nil.
func (h *History) held() *History {
	if h != nil {
		h.Node.Refs.Add(1)
	}
	return h
}

// isSpent reports whether a backward pass has gone through the node and did not keep it.
func (n *Node) isSpent() bool { return n.spent.Load() }

// SetHistory replaces the history, with a reference to its node that the origin takes over.
func (o *Origin) SetHistory(h *History) {
	o.Mu.Lock()
	old := o.From
	if old == h {
		o.Mu.Unlock()
	} else {
		o.From = h
		o.Mu.Unlock()
	}
	if old != nil {
		old.Node.Release()
	}
}

// HoldHistory is the history with a reference to its node; nil where there is none.
func (o *Origin) HoldHistory() *History {
	o.Mu.Lock()
	defer o.Mu.Unlock()
	return o.From.held()
}

// AskedHistory is the history where the origin asks for gradients, else nil. The answer is for the caller to look at, and not to keep.
func (o *Origin) AskedHistory() *History {
	if o == nil {
		return nil
	}
	o.Mu.Lock()
	defer o.Mu.Unlock()
	if o.From == nil || o.From.IsStopped() {
		return nil
	}
	return o.From
}

// IsNewerThan reports whether the origin was computed after so many nodes were made. Leaves are not computed.
func (o *Origin) IsNewerThan(nodes uint64) bool {
	o.Mu.Lock()
	defer o.Mu.Unlock()
	return o.From != nil && o.From.Node.Seq > nodes && !o.From.Node.Leaf
}

// wrote notes that a call has written into t, which has computed its elements as h says: nil for a constant. The whole has a new
// history then, from which the others take theirs.
//
// A whole that asks for nothing is a constant in what is computed of it and a part that asks. Where the part is a constant too, it
// stays as it is: views may ask that were made before it was stopped.
//
// The whole of before is read and replaced under one lock: calls on several goroutines may write into parts of it at a time.
func (o *Origin) wrote(t *Tensor, h *History) {
	o.Mu.Lock()
	old, before := o.From, o.From
	stopped := before != nil && before.IsStopped()
	if stopped && h != nil {
		before = nil
	}
	switch {
	case o.Covers(t):
		o.From = h.held()
	case before != nil || h != nil:
		o.From = &History{Node: o.replaced(t, before.held(), h)}
		o.From.stop(stopped && h == nil)
	default:
		old = nil // it stays
	}
	o.Epoch.Add(1)
	o.Mu.Unlock()
	if old != nil { // without the lock: nodes that end may call functions of the caller
		old.Node.Release()
	}
}

// Matters reports whether the gradient of something depends on what is written into parts of the origin: it asks, or it does not and views
// do that were made before.
func (o *Origin) Matters() bool {
	o.Mu.Lock()
	defer o.Mu.Unlock()
	return o.From != nil && (!o.From.IsStopped() || o.asked.Load() > 0 && !o.From.Node.Leaf)
}

// Covers reports whether t shows all elements of the origin, in their order.
func (o *Origin) Covers(t *Tensor) bool {
	return t.Offset == o.Offset && t.Layout == o.Layout
}

// part is the layout of t in a contiguous tensor like the origin, as attributes of as_strided.
func (o *Origin) part(t *Tensor) op.Attrs {
	ints := func(v []int64) op.Value { return op.Value{Kind: op.Ints, Ints: slices.Clone(v)} }
	return op.Attrs{
		op.AsStridedShape: ints(t.Shape.Slice()), op.AsStridedStride: ints(t.Strides[:t.Rank]),
		op.AsStridedOffset: {Kind: op.Int, I: t.Offset - o.Offset},
	}
}

// Nodes of parts. Their gradients are calls like any others, so that a recorded pass has gradients of them, and a traced one makes
// them nodes of the graph.

// read is a node with one result, the part of the origin that t shows. mu is held.
func (o *Origin) read(t *Tensor) *Node {
	part := o.part(t)
	if t.MayOverlap() { // the gradients of an element that is shown twice add up, as the rule of as_strided does
		n := NewNode(StridedRow, part)
		n.In, n.Out = []NodeValue{o.kept(o.From.held())}, []NodeValue{typeOf(t)}
		n.Refs.Store(1)
		return n
	}
	n := newKindNode(PartReadNode, part)
	n.In, n.Out = []NodeValue{o.kept(o.From.held())}, []NodeValue{typeOf(t)}
	return n
}

// ReadsOrigin reports whether the history of a view of the tensor may be that of a part of its origin: where what computed the
// tensor is what computed the origin.
func (t *Tensor) ReadsOrigin() bool {
	o := t.EnsureOrigin()
	h := t.AskedHistory()
	return h != nil && !h.Node.Leaf && !h.Opaque && o.IsContiguous() && o.AskedHistory() != nil
}

// RecordPart makes the tensor, a new view, a part of its origin.
func (t *Tensor) RecordPart() {
	o := t.Origin()
	o.Mu.Lock()
	n := o.read(t)
	o.Mu.Unlock()
	t.exchange(&History{Node: n})
}

// replaced is a node with one result, the origin with the part that t shows replaced; mu is held. old and value are the histories of the origin
// before and of what was written, with a reference to the node of old, which it takes over; nil for what asks for nothing.
func (o *Origin) replaced(t *Tensor, old, value *History) *Node {
	n := newKindNode(PartWriteNode, o.part(t))
	n.In, n.Out = []NodeValue{o.kept(old), typeOf(t)}, []NodeValue{o.kept(nil)}
	n.In[1].From = value.held()
	return n
}

// kept describes the origin as an operand or a result of a node.
func (o *Origin) kept(from *History) NodeValue {
	k := NodeValue{Context: o.Context, From: from}
	k.DType, k.Shape = o.dtype, o.Shape
	return k
}

// typeOf describes a tensor, whose values are not kept.
func typeOf(t *Tensor) (k NodeValue) {
	k.Describe(t, false)
	return k
}

// newKindNode is a node of a kind, which one history will name.
func newKindNode(kind nodeKind, part op.Attrs) *Node {
	n := NewNode(nil, part)
	n.Kind = kind
	n.Refs.Store(1)
	return n
}

// StridedRow is the operator that makes a view of any layout.
var StridedRow = op.ByID(op.IDAsStrided)

// The one question of every writer.

// Done records a change that was submitted.
//
// The version counts every write, recorded or not: also those under no_grad make older values stale.
func (c *Change) Done(out *Tensor) {
	out.Store.Version.Add(1)
	c.RecordCounted(out)
}

// RecordCounted is done for a change that is counted already, as a trace counts those of all views.
func (c *Change) RecordCounted(out *Tensor) {
	switch {
	case c.Node != nil:
		c.Node.KeepResult(0, out)
		out.WrittenAs(&History{Node: c.Node})
	case c.Constant:
		o := out.Origin()
		o.wrote(out, nil)
		if h := o.HoldHistory(); h != nil {
			out.Store.rewritten(h)
			h.Node.Release()
		}
	case c.Stale:
		if o := out.Origin(); o != nil && c.Recording { // its views end as well
			o.wrote(out, nil)
		}
		out.ForgetHistory()
	}
}

// WrittenAs gives a tensor the history of elements that were written into it, and tells its origin.
//
// A view takes its history from the origin when it is next asked, as the other views do: what is computed from it depends on the
// tensor that was written to.
func (t *Tensor) WrittenAs(h *History) {
	t.Store.rewritten(h)
	t.InheritHistory(h)
	if o := t.Origin(); o != nil {
		o.wrote(t, h)
		if t.ViewOrigin == nil {
			t.SeenState.Store(o.state(t.Store))
		}
	}
}

// rewritten notes that memory has elements with another history, so that programs which have captured it are traced anew. That
// matters to memory alone: what is traced has no program yet.
func (st *Storage) rewritten(h *History) {
	if st.Traced == nil && h != nil {
		st.Asked.Add(h.mark())
	}
}

// Change is a call that writes into a tensor, from before it runs until it has.
type Change struct {
	Node      *Node // nil: not recorded
	Recording bool
	Constant  bool // a part of an origin whose gradient matters gets elements that ask for none
	Stale     bool // the tensor has a history and asks for no gradient: it ends, because it is that of other contents
}

// Drop ends a change that may not have run.
func (c *Change) Drop() {
	if c.Node != nil {
		c.Node.Release()
	}
}

// OverwrittenNode is the node of a tensor whose new contents do not depend on the old ones: these get the gradient 0. The tensor
// goes on to ask for gradients, so that a program in which it happens to be constant runs as before, as in Paddle.
func (rt *Runtime) OverwrittenNode(out *Tensor) *Node {
	n := newKindNode(overwriteNode, nil)
	n.KeepOperands([]Operand{{Tensor: out}})
	return n
}
