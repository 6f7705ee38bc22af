package runtime

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/status"
)

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

// known is a new handle of the gradient of a result, or what zeros to make for it; neither where there is none.
func (n *node) known(i int) (*Tensor, *zeroed, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if g := n.gradient(i); g != nil {
		same, err := g.sameAsSeen()
		return same, nil, err
	}
	if i > 0 {
		return nil, nil, nil
	}
	return nil, n.zeros, nil
}

// zero frees the gradient of a leaf that has no other handle or view, of a dtype that [zeros] can make. It answers with a new handle of
// any other, to be changed.
func (n *node) zero(i int) (*Tensor, error) {
	n.mu.Lock()
	g := n.gradient(i)
	if g == nil || !n.leaf || !g.alone() || g.dtype.IsComplex() {
		defer n.mu.Unlock()
		if g == nil {
			return nil, nil
		}
		return g.sameAsSeen()
	}
	n.swap(i, nil)
	n.zeros = &zeroed{op.Type{DType: g.dtype, Shape: g.Shape}, g.store.ctx}
	n.mu.Unlock()
	freeGradients([]*Tensor{g})
	return nil, nil
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
	n.zeros = nil
	if n.names.Load() == 0 {
		return g // it cannot be read
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

// hooked has the node of each hook by the number of the hook. A tensor that changes in place has another node from then on, and its
// hook stays with what the tensor was.
var hooked sync.Map // of uint64: *node

// RemoveHook removes the hook of a number, also of what a tensor was before it changed in place; false where there is none.
func RemoveHook(id uint64) bool {
	n, ok := hooked.Load(id)
	if !ok {
		return false
	}
	removed := n.(*node).unhook(id)
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
	hooked.Delete(id)
	n.hooks = slices.Delete(slices.Clone(n.hooks), at, at+1)
	return removed
}

// Tag identifies a function of a caller: the caller, and its number for the function. The zero Tag is of none.
type Tag struct{ Caller, Number uint64 }
