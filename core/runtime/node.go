package runtime

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// Node is a recorded call, or a leaf: a tensor that asks for gradients and was not computed from any that does.
type Node struct {
	Seq    uint64       // ascending, so that a node has a higher one than all that it names
	Refs   atomic.Int32 // of tensors, nodes and passes
	Names  atomic.Int32 // of tensors that a caller may have: without any, the gradients cannot be read
	reads  op.Reads
	Row    *op.Row // nil for a leaf, a move to another device, and a function of the caller
	Attrs  op.Attrs
	In     []NodeValue
	Out    []NodeValue
	Kind   nodeKind
	Custom *Function // of the caller
	Leaf   bool

	stopped atomic.Uint64 // by result, up to 64: tensors that ask for none any more
	Adding  sync.Mutex    // of a leaf: held while a pass adds to its gradient

	spent atomic.Bool // kept values are gone, because a backward pass has used them; written under mu

	Mu        sync.Mutex
	Hooks     []NodeHook
	Gradients []*Tensor     // by result: gradients of a leaf, and of results that retain theirs
	Zeros     *PendingZeros // of a leaf: its gradient is zeros that have not been made yet; see ZeroGradient
}

// nodeKind says where the gradient of a node comes from that has neither a row nor a function of the caller.
type nodeKind uint8

const (
	RuleNode      nodeKind = iota // from its row, or the function; or it is a leaf
	MovedNode                     // a move to another device, whose gradient is the move back
	PartReadNode                  // a view reads the part of its origin that attrs describe, as as_strided has them
	PartWriteNode                 // that part of an origin, its first operand, was replaced by its second
	overwriteNode                 // new contents that do not depend on the old ones, whose gradient is 0
)

// NodeValue is what a node knows of an operand or a result.
type NodeValue struct {
	op.Type
	Context *Context // nil for a number
	Number  op.Value
	View    View // without a storage where the rule does not read it
	Version uint32
	From    *History // of operands that ask for gradients

	Displaced int32 // as in the storage, for the gradient of the operand
}

// NodeHook is called with the gradient of a result.
type NodeHook struct {
	ID    uint64
	Index int
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

	Refs atomic.Int32 // of the node, and of passes that call See
}

// Release drops a reference to a hook.
func (h *Hook) Release() {
	if h.Refs.Add(-1) == 0 && h.Close != nil {
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

	// Through stands for Backward where the gradient depends on the pass and the node.
	Through func(b BackwardPass, n *Node, of []*Tensor) ([]*Tensor, error)
	Back    any // the program of the gradient, to which it has a reference, of a run of a traced function; nil for most

	Refs atomic.Int32 // the node, and passes that are calling Backward
}

// BackwardPass is a backward pass, for functions whose gradient depends on it.
type BackwardPass interface {
	// Records reports whether the gradients themselves have gradients.
	Records() bool
	// Call calls a function, whose node is n, with the gradients of its results.
	Call(n *Node, f *Function, dy []*Tensor) ([]*Tensor, error)
	// End makes gradients of n results of a function, which a pass calls that goes through them.
	End(n *Node, dy, dx []*Tensor, f *Function)
}

// Release drops a reference to the function.
func (f *Function) Release() {
	if f.Refs.Add(-1) == 0 && f.Close != nil {
		f.Close()
	}
}

// RetainFunction is the node's function of the caller, with a reference for the pass that calls it; nil where there is none.
func (n *Node) RetainFunction() *Function {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	if n.Custom != nil {
		n.Custom.Refs.Add(1)
	}
	return n.Custom
}

var NodesMade atomic.Uint64 // made so far

// NewNode makes a node that one tensor will name.
func NewNode(row *op.Row, at op.Attrs) *Node {
	n := &Node{Seq: NodesMade.Add(1), Row: row, Attrs: at}
	if row != nil {
		n.reads = row.Grad.ReadsFor(at)
	}
	return n
}

// Retain adds a reference to a node; false where the last one is gone.
func (n *Node) Retain() bool {
	for {
		refs := n.Refs.Load()
		if refs == 0 {
			return false
		}
		if n.Refs.CompareAndSwap(refs, refs+1) {
			return true
		}
	}
}

// Release drops a reference to a node. The nodes that only it names go with it: one after the other, because a chain of
// them may be long.
func (n *Node) Release() {
	todo := []*Node{n}
	var room [4]*Storage
	for len(todo) > 0 {
		last := len(todo) - 1
		n, todo = todo[last], todo[:last]
		if n.Refs.Add(-1) > 0 {
			continue
		}
		n.Mu.Lock()
		values := n.DropValues(room[:0])
		grads, hooks := n.Gradients, n.Hooks
		n.Gradients, n.Zeros, n.Hooks = nil, nil, nil
		for i := range n.In {
			if h := n.In[i].From; h != nil {
				todo = append(todo, h.Node)
				n.In[i].From = nil
			}
		}
		n.Mu.Unlock()
		ReleaseValues(values)
		FreeGradients(grads)
		for i := range hooks {
			if hooks[i].Hook != nil {
				HookedNodes.Delete(hooks[i].ID)
				hooks[i].Release()
			}
		}
		if f := n.Custom; f != nil {
			f.Release()
		}
	}
}

// FreeGradients frees what tensors have kept.
func FreeGradients(list []*Tensor) {
	for _, g := range list {
		if g != nil {
			g.Store.Context.Runtime.Free(g.handle)
		}
	}
}

// unname notes that a tensor is gone. With the last one the gradients go: they may name the node themselves, after a
// pass with Again, and would keep it for ever.
func (n *Node) unname() {
	if n.Names.Add(-1) > 0 {
		return
	}
	n.Mu.Lock()
	var grads []*Tensor
	if n.Names.Load() == 0 { // a backward pass may have made one meanwhile
		grads, n.Gradients, n.Zeros = n.Gradients, nil, nil
	}
	n.Mu.Unlock()
	FreeGradients(grads)
}

// DropValues takes away what was kept for the rule, and appends it to values; mu is held. The caller releases it without mu: the memory of
// another owner ends with a call of that owner.
func (n *Node) DropValues(values []*Storage) []*Storage {
	for _, list := range [2][]NodeValue{n.In, n.Out} {
		for i := range list {
			if st := list[i].View.Store; st != nil {
				list[i].View.Store = nil
				values = append(values, st)
			}
		}
	}
	n.spent.Store(true)
	return values
}

// ReleaseValues releases what a node has kept.
func ReleaseValues(values []*Storage) {
	for _, st := range values {
		st.Release()
	}
}

// KeepOperands keeps what the rule reads of the operands, and their histories. Of x * c with a constant c, that is c alone.
//
// Operands of integers and bools have no history, even where they were computed from a tensor that asks: a cast ends it.
func (n *Node) KeepOperands(in []Operand) {
	n.In = make([]NodeValue, len(in))
	for i := range in {
		k, t := &n.In[i], in[i].Tensor
		if t == nil {
			k.Number = in[i].Value
			k.DType = k.Number.DType()
			continue
		}
		k.Describe(t, n.reads.Operand(i))
		k.From = t.HoldAskedHistory()
	}
	if n.Row != nil && n.Row.Grad.Crossed && len(in) == 2 {
		for i := range n.In {
			if n.In[1-i].From == nil {
				n.In[i].forgetValues()
			}
		}
	}
}

// forgetValues releases what is kept of the values.
func (k *NodeValue) forgetValues() {
	if st := k.View.Store; st != nil {
		k.View.Store = nil
		st.Release()
	}
}

// KeepResult keeps result i, as far as the rule reads it.
func (n *Node) KeepResult(i int, t *Tensor) {
	var k NodeValue
	k.Describe(t, n.reads.Result(i))
	n.Out = append(n.Out, k)
}

// Describe describes a tensor, and keeps its memory if values are read.
func (k *NodeValue) Describe(t *Tensor, values bool) {
	k.Type, k.Context, k.Displaced = op.Type{DType: t.DType, Shape: t.Shape}, t.Store.Context, t.Store.Displacement
	if values {
		k.View, k.Version = t.View, t.Store.Changes()
		t.Store.Retain()
	}
}

// CheckUnspent refuses a node that a pass has gone through.
func (n *Node) CheckUnspent() error {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	if !n.spent.Load() {
		return nil
	}
	name := "backward"
	if n.Row != nil {
		name = n.Row.Shown()
	}
	return status.Errorf(status.Invalid, "[%s] a backward pass has gone through this call before, and its values are freed; want retain_graph=True in that pass", name)
}

// PendingZeros says what zeros a gradient is: the dtype and the shape of the one that was freed, and its device. Zeros of complex dtypes
// are always made at once.
type PendingZeros struct {
	op.Type
	Context *Context
}

// Gradient is what result i has, for the holder of mu; nil for none.
func (n *Node) Gradient(i int) *Tensor {
	if i >= len(n.Gradients) {
		return nil
	}
	return n.Gradients[i]
}

// KnownGradient is a new handle of the gradient of a result, or what zeros to make for it; neither where there is none.
func (n *Node) KnownGradient(i int) (*Tensor, *PendingZeros, error) {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	if g := n.Gradient(i); g != nil {
		same, err := g.SameAsSeen()
		return same, nil, err
	}
	if i > 0 {
		return nil, nil, nil
	}
	return nil, n.Zeros, nil
}

// ZeroGradient frees the gradient of a leaf that has no other handle or view, of a dtype that [zeros] can make. It answers with a new handle of
// any other, to be changed.
func (n *Node) ZeroGradient(i int) (*Tensor, error) {
	n.Mu.Lock()
	g := n.Gradient(i)
	if g == nil || !n.Leaf || !g.IsAlone() || g.DType.IsComplex() {
		defer n.Mu.Unlock()
		if g == nil {
			return nil, nil
		}
		return g.SameAsSeen()
	}
	n.swap(i, nil)
	n.Zeros = &PendingZeros{op.Type{DType: g.DType, Shape: g.Shape}, g.Store.Context}
	n.Mu.Unlock()
	FreeGradients([]*Tensor{g})
	return nil, nil
}

// PutGradient replaces the gradient of a result by one that the node owns from then on; nil removes it.
func (n *Node) PutGradient(i int, g *Tensor) {
	if g != nil {
		g.hide()
	}
	n.Mu.Lock()
	old := n.swap(i, g)
	n.Mu.Unlock()
	FreeGradients([]*Tensor{old})
}

// swap is put for the holder of mu. It returns the tensor to free.
func (n *Node) swap(i int, g *Tensor) *Tensor {
	n.Zeros = nil
	if n.Names.Load() == 0 {
		return g // it cannot be read
	}
	for len(n.Gradients) <= i {
		n.Gradients = append(n.Gradients, nil)
	}
	old := n.Gradients[i]
	n.Gradients[i] = g
	return old
}

// PutGradientIf is put where the gradient is still that of a handle, 0 for none. False where it is not: the caller frees g.
func (n *Node) PutGradientIf(i int, before uint64, g *Tensor) bool {
	g.hide() // before the lock: g may name the node itself
	n.Mu.Lock()
	now := n.Gradient(i)
	same := now == nil && before == 0 || now != nil && now.handle == before
	var old *Tensor
	if same {
		old = n.swap(i, g)
	}
	n.Mu.Unlock()
	FreeGradients([]*Tensor{old})
	return same
}

// HookedNodes has the node of each hook by the number of the hook. A tensor that changes in place has another node from then on, and its
// hook stays with what the tensor was.
var HookedNodes sync.Map // of uint64: *node

// RemoveHook removes the hook of a number, also of what a tensor was before it changed in place; false where there is none.
func RemoveHook(id uint64) bool {
	n, ok := HookedNodes.Load(id)
	if !ok {
		return false
	}
	removed := n.(*Node).unhook(id)
	if removed == nil {
		return false
	}
	removed.Release()
	return true
}

// unhook removes a hook and returns it; nil where there is none of that number. A pass may be going through the list.
func (n *Node) unhook(id uint64) *Hook {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	at := slices.IndexFunc(n.Hooks, func(k NodeHook) bool { return k.ID == id })
	if at < 0 {
		return nil
	}
	removed := n.Hooks[at].Hook
	HookedNodes.Delete(id)
	n.Hooks = slices.Delete(slices.Clone(n.Hooks), at, at+1)
	return removed
}

// Tag identifies a function of a caller: the caller, and its number for the function. The zero Tag is of none.
type Tag struct{ Caller, Number uint64 }
