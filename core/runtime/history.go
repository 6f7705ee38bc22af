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
// version says; a pass has gone through its node and was not told to keep it; or it is a view of memory that has changed
// since the view was made, of which nobody knows any more what it was computed from.
//
// Locks: a node has one, for what changes after it was made. It is held for a few loads and stores and never during a call
// of an operator or of the caller's functions, so that those may do with any tensor what they like.

// history says what computed a tensor that asks for gradients: a result of a node.
type history struct {
	node  *node
	index int
	// Of views that share memory with an operand: the version of the storage when the view was made.
	shared  bool
	version uint32
}

// node is a recorded call, or a leaf: a tensor that asks for gradients and was not computed from any that does.
type node struct {
	seq    uint64       // ascending, so that a node has a higher one than all that it names
	refs   atomic.Int32 // of tensors, nodes and passes
	names  atomic.Int32 // of tensors that a caller may have: without any, nobody can read the gradients
	reads  op.Reads
	row    *op.Row // nil for a leaf, a move to another device, and a function of the caller
	attrs  op.Attrs
	in     []kept
	out    []kept
	moved  bool      // to another device
	custom *Function // of the caller
	leaf   bool

	mu      sync.Mutex
	stopped bool // a leaf that asks for none any more
	spent   bool // kept values are gone, because a backward pass has used them
	hooks   []hook
	grads   []*Tensor // by result: gradients of a leaf, and of results that retain theirs
	retains []bool
}

// kept is what a node knows of an operand or a result.
type kept struct {
	op.Type
	ctx     *Context // nil for a number
	number  op.Value
	view    view // without a storage where the rule does not read it
	version uint32
	from    *history // of operands that ask for gradients
}

// hook is called with the gradient of a result.
type hook struct {
	id    uint64
	index int
	*Hook
}

// Hook is a function of the caller that sees the gradients of a tensor.
type Hook struct {
	// See is called during a backward pass. It may return another tensor to take the gradient's place, which is the
	// runtime's from then on; nil leaves it. The gradient stays the runtime's.
	See func(gradient *Tensor) (*Tensor, error)
	// Close is called once, when the hook is removed, or no backward pass can reach it any more, and See is not being
	// called. It may be nil.
	Close func()

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
	for len(todo) > 0 {
		last := len(todo) - 1
		n, todo = todo[last], todo[:last]
		if n.refs.Add(-1) > 0 {
			continue
		}
		n.mu.Lock()
		n.drop()
		grads, hooks := n.grads, n.hooks
		n.grads, n.hooks = nil, nil
		for i := range n.in {
			if h := n.in[i].from; h != nil {
				todo = append(todo, h.node)
				n.in[i].from = nil
			}
		}
		n.mu.Unlock()
		freeGradients(grads)
		for i := range hooks {
			hooks[i].release()
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
		grads, n.grads = n.grads, nil
	}
	n.mu.Unlock()
	freeGradients(grads)
}

// drop releases what was kept for the rule.
func (n *node) drop() {
	for _, list := range [2][]kept{n.in, n.out} {
		for i := range list {
			if st := list[i].view.store; st != nil {
				list[i].view.store = nil
				st.release()
			}
		}
	}
	n.spent = true
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
	t.replace(h)
}

// forget makes the tensor one that asks for no gradient.
//
// Other tensors that were computed from it keep its node.
func (t *Tensor) forget() { t.replace(nil) }

func (t *Tensor) replace(h *history) {
	old := t.history.Swap(h)
	if old == nil {
		return
	}
	if !t.hidden {
		old.node.unname()
	}
	old.node.release()
}

// hide notes that no caller has the tensor, nor will: it is the gradient that another one keeps.
func (t *Tensor) hide() {
	if h := t.history.Load(); h != nil {
		h.node.unname()
	}
	t.hidden = true
}

// hold is the history of a tensor with a reference to its node, which the caller releases; nil where there is none.
// Another goroutine may give the tensor another history meanwhile.
func (t *Tensor) hold() *history {
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
	if h != nil && h.node.leaf && h.node.isStopped() {
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
	h := t.history.Load()
	if h != nil && h.node.leaf && h.node.isStopped() {
		return nil
	}
	return h
}

func (n *node) isStopped() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.stopped
}

// watches reports whether a call with this operand may be recorded, for paths that do not record.
func (m Mode) watches(t *Tensor) bool {
	return m&Recording != 0 && t != nil && t.history.Load() != nil
}

// records reports whether a call is to be recorded, and refuses one whose operands are not what they were.
//
// The answer is made before the call runs, and what is refused is refused then: nothing has been computed or written.
func records(row *op.Row, in []Operand, mode Mode) (bool, error) {
	if !mode.has(Recording) {
		return false, nil
	}
	asked := false
	for i := range in {
		h := in[i].Tensor.asks()
		if h == nil {
			continue
		}
		asked = true
		if h.shared && h.version != in[i].Tensor.store.version.Load() {
			return false, status.Errorf(status.Invalid, "[%s] operand %d is a view of memory that was changed in place after the view was made; want the view made anew", row.Name, i)
		}
	}
	if asked && row.Grad.Compact && !in[0].Tensor.IsContiguous() {
		return false, status.Errorf(status.Unsupported, "[%s] the gradient of a tensor that is not contiguous does not exist yet; want x.contiguous()", row.Name)
	}
	return asked && !row.Grad.Constant, nil
}

// record makes the node of a call, which its results name. Results of integers and bools ask for none. The results are
// freed where the row has no gradient.
//
// Everything that a node keeps is a view with a reference to its storage. Nothing is copied: a value that is overwritten
// before the backward pass is found by its version.
func (rt *Runtime) record(row *op.Row, in []Operand, at op.Attrs, out []*Tensor) ([]*Tensor, error) {
	complexes := slices.ContainsFunc(out, func(t *Tensor) bool { return t.dtype.IsComplex() })
	if !complexes && !slices.ContainsFunc(out, func(t *Tensor) bool { return t.dtype.IsFloat() }) {
		return out, nil
	}
	if row.Grad.Rule == nil || complexes {
		for _, t := range out {
			rt.Free(t.handle)
		}
		return nil, withoutGradient(row.Name)
	}
	n := newNode(row, slices.Clone(at))
	n.keepOperands(in)
	for i, t := range out {
		n.keepResult(i, t)
	}
	for i, t := range out {
		if t.dtype.IsFloat() {
			h := &history{node: n, index: i}
			h.share(t, in)
			t.inherit(h)
		}
	}
	return out, nil
}

// withoutGradient is the error for an operator that has no rule.
func withoutGradient(name string) error {
	return status.Errorf(status.Unsupported, "[%s] has no gradient yet; want operands with stop_gradient=True, or no_grad()", name)
}

// share notes whether a result shares memory with the operand.
func (h *history) share(t *Tensor, in []Operand) {
	if x := in[0].Tensor; x != nil && x.store == t.store {
		h.shared, h.version = true, t.store.version.Load()
	}
}

// keepOperands keeps what the rule reads of the operands, and their histories.
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
}

// keepResult keeps result i, as far as the rule reads it.
func (n *node) keepResult(i int, t *Tensor) {
	var k kept
	k.of(t, n.reads.Result(i))
	n.out = append(n.out, k)
}

// of describes a tensor, and keeps its memory if values are read.
func (k *kept) of(t *Tensor, values bool) {
	k.Type, k.ctx = op.Type{DType: t.dtype, Shape: t.Shape}, t.store.ctx
	if values {
		k.view, k.version = t.view, t.store.version.Load()
		t.store.retain()
	}
}

// change is a call that writes into a tensor, from before it runs until it has.
type change struct {
	node *node // nil: not recorded
	cuts bool  // the tensor's history ends, because the new contents do not depend on it
}

// changing prepares a call that writes into out. What is recorded of the operands is what they are before the call. It
// refuses changes that would make other gradients wrong: of a leaf, and of a part of a larger tensor.
//
// The cases that are refused have an answer in principle. A leaf that changes would make its gradient that of a value which is
// gone. A view that changes would have to change the history of what it is a view of, and of all other views; Python does so
// for x[...] = value, where it knows both.
func (rt *Runtime) changing(row *op.Row, in []Operand, at op.Attrs, out *Tensor, mode Mode) (c change, err error) {
	if !mode.has(Recording) {
		return c, nil
	}
	asked, err := records(row, in, mode)
	if err != nil {
		return c, err
	}
	h := out.asks()
	switch {
	case h != nil && h.node.leaf:
		return c, status.Errorf(status.Invalid, "[%s] the output is a leaf that asks for gradients; want no_grad() to change it in place, or a new tensor", row.Name)
	case h != nil && h.shared, asked && h == nil && out.store.refs.Load() > 0 && (out.partial() || out.viewed):
		return c, status.Errorf(status.Unsupported, "[%s] the output is a view of a larger tensor, whose gradient would be lost; want that tensor changed, as in x[...] = value", row.Name)
	}
	if !asked || !out.dtype.IsFloat() {
		c.cuts = h != nil
		return c, nil
	}
	if row.Grad.Rule == nil {
		return c, withoutGradient(row.Name)
	}
	c.node = newNode(row, slices.Clone(at))
	c.node.keepOperands(in)
	c.node.refs.Add(1)
	return c, nil
}

// partial reports whether the tensor is a part of its storage.
func (t *Tensor) partial() bool { return t.Numel()*t.dtype.Size() < t.store.bytes }

// drop ends a change that may not have run.
func (c *change) drop() {
	if c.node != nil {
		c.node.release()
	}
}

// done records a change that was submitted.
//
// The version counts every write, recorded or not: also those under no_grad make older values stale.
func (c *change) done(out *Tensor) {
	out.store.version.Add(1)
	switch {
	case c.node != nil:
		c.node.keepResult(0, out)
		out.inherit(&history{node: c.node})
	case c.cuts:
		out.forget()
	}
}

// Asks reports whether the tensor asks for gradients: stop_gradient is False.
func (t *Tensor) Asks() bool { return t.asks() != nil }

// IsLeaf reports whether the tensor was not computed from tensors that ask for gradients.
func (t *Tensor) IsLeaf() bool {
	h := t.asks()
	return h == nil || h.node.leaf
}

// Version is how often the runtime has written to the memory of the tensor since its first contents.
func (t *Tensor) Version() uint32 { return t.store.version.Load() }

// Ask makes the tensor a leaf that asks for gradients, or one that asks for none. A leaf keeps its gradient and hooks
// meanwhile. Only floats have gradients.
//
// A tensor that was computed from others loses its history when it is told to ask for none; told to ask again, it is a leaf.
func (t *Tensor) Ask(yes bool) error {
	h := t.history.Load()
	switch {
	case h != nil && h.node.leaf:
		h.node.mu.Lock()
		h.node.stopped = !yes
		h.node.mu.Unlock()
	case !yes:
		t.forget()
	case h == nil:
		if !t.dtype.IsFloat() {
			return status.Errorf(status.Type, "[stop_gradient] a tensor of %s has no gradient; want a floating-point dtype", t.dtype)
		}
		n := newNode(nil, nil)
		n.leaf, n.retains = true, []bool{true}
		n.keepResult(0, t)
		t.inherit(&history{node: n})
	}
	return nil
}

// Retain makes a backward pass keep the gradient of a tensor that is no leaf.
func (t *Tensor) Retain() error {
	h := t.asks()
	if h == nil {
		return status.Errorf(status.Invalid, "[retain_grads] the tensor asks for no gradient; want stop_gradient=False")
	}
	n := h.node
	n.mu.Lock()
	defer n.mu.Unlock()
	for len(n.retains) <= h.index {
		n.retains = append(n.retains, false)
	}
	n.retains[h.index] = true
	return nil
}

// Gradient is a new handle of the gradient that backward passes have left; nil where there is none.
func (t *Tensor) Gradient() (*Tensor, error) {
	h := t.history.Load()
	if h == nil {
		return nil, nil
	}
	h.node.mu.Lock()
	defer h.node.mu.Unlock()
	if g := h.node.gradient(h.index); g != nil {
		return g.Same()
	}
	return nil, nil
}

// HasGradient reports whether backward passes have left a gradient.
func (t *Tensor) HasGradient() bool {
	h := t.history.Load()
	if h == nil {
		return false
	}
	h.node.mu.Lock()
	defer h.node.mu.Unlock()
	return h.node.gradient(h.index) != nil
}

// SetGradient replaces the gradient by another handle of g, or removes it.
func (t *Tensor) SetGradient(g *Tensor) error {
	h := t.hold()
	if h == nil {
		return status.Errorf(status.Invalid, "[grad] the tensor asks for no gradient; want stop_gradient=False")
	}
	defer h.node.release()
	if g != nil && (g.Shape != t.Shape || g.dtype != t.dtype || g.store.ctx != t.store.ctx) {
		return status.Errorf(status.Invalid, "[grad] got %s of shape %s on %s for a tensor of %s, %s, on %s; want them equal", g.dtype, &g.Shape, g.Place(), t.dtype, &t.Shape, t.Place())
	}
	var same *Tensor
	if g != nil {
		var err error
		if same, err = g.Same(); err != nil {
			return err
		}
	}
	h.node.put(h.index, same)
	return nil
}

// put replaces the gradient of a result by one that the node owns from then on; nil removes it.
func (n *node) put(i int, g *Tensor) {
	if g != nil {
		g.hide()
	}
	n.mu.Lock()
	old := n.swap(i, g)
	n.mu.Unlock()
	freeGradients([]*Tensor{old})
}

// swap is put for the holder of mu. It returns the tensor to free.
func (n *node) swap(i int, g *Tensor) *Tensor {
	if n.names.Load() == 0 {
		return g // nobody can read it
	}
	for len(n.grads) <= i {
		n.grads = append(n.grads, nil)
	}
	old := n.grads[i]
	n.grads[i] = g
	return old
}

// putIf is put where the gradient is still that of a handle, 0 for none. False where it is not: the caller frees g.
func (n *node) putIf(i int, before uint64, g *Tensor) bool {
	g.hide() // before the lock: g may name the node itself
	n.mu.Lock()
	now := n.gradient(i)
	same := now == nil && before == 0 || now != nil && now.handle == before
	var old *Tensor
	if same {
		old = n.swap(i, g)
	}
	n.mu.Unlock()
	freeGradients([]*Tensor{old})
	return same
}

// gradient is what result i has, for the holder of mu; nil for none.
func (n *node) gradient(i int) *Tensor {
	if i >= len(n.grads) {
		return nil
	}
	return n.grads[i]
}

// AddHook calls a hook with each gradient of the tensor, and returns its number. Hooks are called in the order in which
// they were added.
func (t *Tensor) AddHook(call *Hook) (uint64, error) {
	h := t.holdAsked()
	if h == nil {
		return 0, status.Errorf(status.Invalid, "[register_hook] the tensor asks for no gradient; want stop_gradient=False")
	}
	defer h.node.release()
	h.node.mu.Lock()
	defer h.node.mu.Unlock()
	id := nodes.Add(1)
	call.refs.Store(1)
	h.node.hooks = append(h.node.hooks, hook{id, h.index, call})
	return id, nil
}

// RemoveHook removes a hook; false where there is none of that number.
func (t *Tensor) RemoveHook(id uint64) bool {
	h := t.history.Load()
	if h == nil {
		return false
	}
	removed := h.node.unhook(id)
	if removed == nil {
		return false
	}
	removed.release()
	return true
}

// unhook removes a hook and returns it; nil where there is none of that number. A pass may be going through the list.
func (n *node) unhook(id uint64) *Hook {
	n.mu.Lock()
	defer n.mu.Unlock()
	at := slices.IndexFunc(n.hooks, func(k hook) bool { return k.id == id })
	if at < 0 {
		return nil
	}
	removed := n.hooks[at].Hook
	n.hooks = slices.Delete(slices.Clone(n.hooks), at, at+1)
	return removed
}

// Apply makes results those of a function of the caller: gradients go through its Backward. The operands are those that
// the function was computed from. Where none of them asks for gradients nothing is recorded, and the function closed.
//
// Results of integers and bools are left alone. A result that is an operand has to be another handle, or the operand would
// become its own result.
func (rt *Runtime) Apply(f *Function, in, out []*Tensor) {
	operands, asked := make([]Operand, len(in)), false
	for i, t := range in {
		operands[i].Tensor = t
		asked = asked || t.asks() != nil
	}
	if !asked {
		if f.Close != nil {
			f.Close()
		}
		return
	}
	n := newNode(nil, nil)
	n.custom = f
	f.refs.Add(1)
	n.refs.Add(1)
	defer n.release()
	n.keepOperands(operands)
	for i, t := range out {
		n.keepResult(i, t)
	}
	for i, t := range out {
		if t.dtype.IsFloat() {
			t.inherit(&history{node: n, index: i})
		}
	}
}

// To is Tensor.To; in mode Recording the copy has a gradient if the tensor asks for one.
//
// A move is a node of its own kind and no row: its gradient is the move back.
func (c Caller) To(t *Tensor, to *Context, copy bool, on *Stream) (*Tensor, error) {
	if to == t.store.ctx && c.mode.watches(t) {
		if !copy {
			return t.Same()
		}
		made, err := c.Call(assign, []Operand{{Tensor: t}}, nil, nil, on)
		if err != nil {
			return nil, err
		}
		return made[0], nil
	}
	u, err := t.To(to, copy, on)
	if err != nil || !c.mode.watches(t) || t.asks() == nil {
		return u, err
	}
	n := newNode(nil, nil)
	n.moved = true
	n.keepOperands([]Operand{{Tensor: t}})
	n.keepResult(0, u)
	u.inherit(&history{node: n})
	return u, nil
}

// Index is Tensor.Index; in mode Recording the view has a gradient if the tensor asks for one.
//
// Basic indexing is no operator of the table, because it takes a shorter way. It is recorded as the slice that it amounts to;
// axes of one element that come or go do not matter to the gradient.
func (c Caller) Index(t *Tensor, items []IndexItem) (*Tensor, error) {
	if !c.mode.watches(t) {
		return t.Index(items)
	}
	in := []Operand{{Tensor: t}}
	asked, err := records(slicing, in, c.mode)
	if err != nil {
		return nil, err
	}
	v, err := t.Index(items)
	if err != nil || !asked {
		return v, err
	}
	_, err = c.record(slicing, in, sliceOf(t, items), []*Tensor{v})
	return v, err
}

// slicing is the operator that basic indexing is recorded as; its gradient takes any shape of the same elements.
var slicing = op.ByID(op.IDSlice)

// sliceOf is an index expression as attributes of slice. The expression is valid for the tensor.
//
// Integers become slices of one element. New axes are left out.
func sliceOf(t *Tensor, items []IndexItem) op.Attrs {
	var axes, starts, ends, steps []int64
	left, _ := ellipsisAxes(items, t.Rank)
	axis := int64(0)
	for i := range items {
		it := &items[i]
		var start, end, step int64
		switch it.Kind {
		case IndexNewAxis:
			continue
		case IndexEllipsis:
			axis += int64(left)
			continue
		case IndexInt:
			if start = it.Start; start < 0 {
				start += t.Dims[axis]
			}
			end, step = start+1, 1
		default:
			start, end, step = it.bounds(t.Dims[axis])
		}
		axes, starts = append(axes, axis), append(starts, start)
		ends, steps = append(ends, end), append(steps, step)
		axis++
	}
	list := func(v []int64) op.Value { return op.Value{Kind: op.Ints, Ints: v} }
	return op.Attrs{op.SliceAxes: list(axes), op.SliceStarts: list(starts), op.SliceEnds: list(ends), op.SliceSteps: list(steps)}
}
