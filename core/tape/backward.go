// Package tape computes gradients: it walks from results through what calls have recorded.
//
// The nodes of the tape, and how tensors name them, are in package runtime (core/runtime/history.go and core/runtime/node.go there), because each tensor has a
// history and each view an origin; package eager records. A pass (backward.go) visits nodes, the latest first: it calls hooks
// (hooks.go), gives leaves their sums (sums.go), asks the rule of each node for the gradients of its operands (rules.go), and knows
// from needed.go which are wanted. What a tensor offers about its gradient is in gradients.go.
//
// The invariant: a gradient is complete when its node is visited, and is computed from the values that the call has read, or the pass
// is an error. No function of the caller runs with a lock held; the order of locks is in core/runtime/history.go.
//
// The package has no rule of an operator, those are data of core/op, and does not record: calls of a recorded pass record themselves.
package tape

import (
	"container/heap"

	"github.com/paddle-mps/paddle-mps/core/eager"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// Pass says what a backward pass is about.
type Pass struct {
	Of    []*runtime.Tensor // the results that are differentiated; each asks for gradients
	Dy    []*runtime.Tensor // their gradients, as many; nil for ones
	To    []*runtime.Tensor // the tensors whose gradients are wanted; nil: all leaves, which keep theirs
	Stop  []*runtime.Tensor // gradients go no further than these; only with To
	Keep  bool              // kept values stay, for another pass over the same calls
	Again bool              // the gradients themselves have gradients; implies Keep
	Ends  bool              // gradients go no further than the tensors of To
}

// Backward computes gradients, and adds them to those that the leaves have. With To it leaves the leaves alone and
// returns the gradients of those tensors, nil for one that no result depends on; the caller frees them.
//
// Nodes are visited in the order opposite to that of the calls, so that a gradient is complete when its node is. Work
// runs on a stream of the device of each tensor, nil for the default one. It may be called from many goroutines, also for
// the same leaves. After an error some leaves may have got their gradients; with To nothing has changed.
//
// The order of nodes is that of their numbers, the highest first. A node has a higher number than all whose results it was
// computed from, so that when it is the highest in the queue, no node that is still to come leads to it: there is no need to
// count how often each is named, as other engines do.
//
// A gradient is kept as long as it is needed: those of a node's results go when the node has been visited, and kept values go
// with them unless Keep is set, so that the memory of a pass falls as it proceeds.
func Backward(rt *runtime.Runtime, p *Pass, on *runtime.Stream) ([]*runtime.Tensor, error) {
	if on.Traces() && p.To == nil {
		return nil, status.Errorf(status.Traced, "[backward] a function that is traced cannot add to the gradients of leaves; want grad() of them, or backward() outside of the function")
	}
	defer runtime.Passing()()
	b := &backward{rt: rt, pass: p, on: on, of: map[*runtime.Node][]*runtime.Tensor{}}
	defer b.free()
	if p.Again {
		b.mode = runtime.Recording
	}
	if err := b.begin(); err != nil {
		return nil, err
	}
	for len(b.queue) > 0 {
		if err := b.visit(heap.Pop(&b.queue).(*runtime.Node)); err != nil {
			return nil, err
		}
	}
	found := b.found
	b.found = nil
	return found, nil
}

// backward is one pass. It belongs to the goroutine that runs it; several may go through the same nodes at a time. What
// they share is guarded by the nodes: values are only read, and sums of leaves are replaced as a whole.
//
// Gradients on the way belong to the pass. A node's are freed when it has been visited, and after an error all that are
// left are, so that a pass that fails leaves nothing behind but the sums of leaves that it had reached.
type backward struct {
	rt    *runtime.Runtime
	pass  *Pass
	mode  runtime.Mode
	on    *runtime.Stream
	queue queue
	of    map[*runtime.Node][]*runtime.Tensor // gradients so far, by result; a node is in the queue as long as it is here
	roots []*runtime.History                  // of the results; nil for one that asks for none. The pass holds them, so that the graph stays
	to    []*runtime.History                  // of the tensors of To, likewise
	leads map[*runtime.Node]bool              // with To: whether a node leads to a tensor of it
	found []*runtime.Tensor                   // gradients of To
}

// queue has the nodes that are next, the latest first. It is a heap, because nodes are found in the order of their
// consumers and not of their numbers: a value of the first layer may be used by the last one too.
type queue []*runtime.Node

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].Seq > q[j].Seq }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)        { *q = append(*q, x.(*runtime.Node)) }
func (q *queue) Pop() any {
	last := len(*q) - 1
	n := (*q)[last]
	*q = (*q)[:last]
	return n
}

// hold keeps what the tensors name from now on, whatever becomes of them.
func hold(list []*runtime.Tensor) []*runtime.History {
	held := make([]*runtime.History, len(list))
	for i, t := range list {
		held[i] = t.HoldAskedHistory()
	}
	return held
}

// free drops what a pass that failed has left, and what each holds.
func (b *backward) free() {
	for _, list := range b.of {
		b.rt.FreeAll(list)
	}
	b.rt.FreeAll(b.found)
	for _, list := range [2][]*runtime.History{b.roots, b.to} {
		for _, h := range list {
			if h != nil {
				h.Node.Release()
			}
		}
	}
}

// begin gives the results their gradients.
//
// A result may be there twice, and may be computed from another one: gradients add up.
func (b *backward) begin() error {
	p := b.pass
	b.roots, b.to = hold(p.Of), hold(p.To)
	if p.To != nil {
		b.found = make([]*runtime.Tensor, len(p.To))
		b.find()
	}
	for i, t := range p.Of {
		h := b.roots[i]
		if h == nil {
			if p.To == nil && i >= len(p.Dy) {
				continue
			}
			return status.Errorf(status.Invalid, "[backward] tensor %d asks for no gradient; want one that was computed from tensors with stop_gradient=False", i)
		}
		dy, err := b.first(i, t)
		if err != nil {
			return err
		}
		if err := b.add(h, dy); err != nil {
			return err
		}
	}
	return nil
}

// first is the gradient that the pass begins with at result i.
func (b *backward) first(i int, t *runtime.Tensor) (*runtime.Tensor, error) {
	if i < len(b.pass.Dy) && b.pass.Dy[i] != nil {
		dy := b.pass.Dy[i]
		if dy.Shape != t.Shape {
			return nil, status.Errorf(status.Invalid, "[backward] gradient %d has shape %s; want %s, that of its tensor", i, &dy.Shape, &t.Shape)
		}
		if dy.DType != t.DType || dy.Store.Context != t.Store.Context {
			return nil, status.Errorf(status.Type, "[backward] gradient %d is %s on %s; want %s on %s, as its tensor", i, dy.DType, dy.Place(), t.DType, t.Place())
		}
		if from := t.Store.Displacement; from != 0 && dy.Store.Displacement == 0 {
			return eager.In(b.rt, b.mode).Bring(dy, dy.Store.Context, from, true, b.on)
		}
		return dy.Same()
	}
	c := eager.Calculator{Runtime: b.rt, Context: t.Store.Context, Stream: b.on}
	defer c.Free()
	calls := op.Calls{Calculator: &c}
	ones := calls.Full(c.Push(eager.Variable{Operand: runtime.Operand{Tensor: t}}), 1)
	if calls.Err != nil {
		return nil, calls.Err
	}
	return eager.DisplacedLike(t)(c.Take(ones))
}

// visit computes the gradients of a node's operands from those of its results, which are complete.
//
// First hooks see the gradients and may replace them; then the tensors that asked for them get them; then they go on to the operands.
func (b *backward) visit(n *runtime.Node) error {
	dy := b.of[n]
	for len(dy) < len(n.Out) {
		dy = append(dy, nil)
	}
	b.of[n] = dy // free finds it after an error
	if err := b.callHooks(n, dy); err != nil {
		return err
	}
	if err := b.deliver(n, dy); err != nil {
		return err
	}
	if !n.Leaf && (b.leads == nil || b.leads[n]) && !(b.pass.Ends && b.reaches(n)) {
		if err := b.through(n, dy); err != nil {
			return err
		}
	}
	delete(b.of, n)
	b.rt.FreeAll(dy)
	return nil
}
