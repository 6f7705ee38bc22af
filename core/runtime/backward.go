package runtime

import (
	"container/heap"

	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// Pass says what a backward pass is about.
type Pass struct {
	Of    []*Tensor // the results that are differentiated; each asks for gradients
	Dy    []*Tensor // their gradients, as many; nil for ones
	To    []*Tensor // the tensors whose gradients are wanted; nil: all leaves, which keep theirs
	Stop  []*Tensor // gradients go no further than these; only with To
	Keep  bool      // kept values stay, for another pass over the same calls
	Again bool      // the gradients themselves have gradients; implies Keep
	Ends  bool      // gradients go no further than the tensors of To
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
func (rt *Runtime) Backward(p *Pass, on *Stream) ([]*Tensor, error) {
	if on.Traces() && p.To == nil {
		return nil, status.Errorf(status.Traced, "[backward] a function that is traced cannot add to the gradients of leaves; want grad() of them, or backward() outside of the function")
	}
	defer passing()()
	b := &backward{rt: rt, pass: p, on: on, of: map[*node][]*Tensor{}}
	defer b.free()
	if p.Again {
		b.mode = Recording
	}
	if err := b.begin(); err != nil {
		return nil, err
	}
	for len(b.queue) > 0 {
		if err := b.visit(heap.Pop(&b.queue).(*node)); err != nil {
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
	rt    *Runtime
	pass  *Pass
	mode  Mode
	on    *Stream
	queue queue
	of    map[*node][]*Tensor // gradients so far, by result; a node is in the queue as long as it is here
	roots []*history          // of the results; nil for one that asks for none. The pass holds them, so that the graph stays
	to    []*history          // of the tensors of To, likewise
	leads map[*node]bool      // with To: whether a node leads to a tensor of it
	found []*Tensor           // gradients of To
}

// queue has the nodes that are next, the latest first. It is a heap, because nodes are found in the order of their
// consumers and not of their numbers: a value of the first layer may be used by the last one too.
type queue []*node

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].seq > q[j].seq }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)        { *q = append(*q, x.(*node)) }
func (q *queue) Pop() any {
	last := len(*q) - 1
	n := (*q)[last]
	*q = (*q)[:last]
	return n
}

// hold keeps what the tensors name from now on, whatever becomes of them.
func hold(list []*Tensor) []*history {
	held := make([]*history, len(list))
	for i, t := range list {
		held[i] = t.holdAsked()
	}
	return held
}

// free drops what a pass that failed has left, and what each holds.
func (b *backward) free() {
	for _, list := range b.of {
		b.rt.freeAll(list)
	}
	b.rt.freeAll(b.found)
	for _, list := range [2][]*history{b.roots, b.to} {
		for _, h := range list {
			if h != nil {
				h.node.release()
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
		b.found = make([]*Tensor, len(p.To))
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
func (b *backward) first(i int, t *Tensor) (*Tensor, error) {
	if i < len(b.pass.Dy) && b.pass.Dy[i] != nil {
		dy := b.pass.Dy[i]
		if dy.Shape != t.Shape {
			return nil, status.Errorf(status.Invalid, "[backward] gradient %d has shape %s; want %s, that of its tensor", i, &dy.Shape, &t.Shape)
		}
		if dy.dtype != t.dtype || dy.store.ctx != t.store.ctx {
			return nil, status.Errorf(status.Type, "[backward] gradient %d is %s on %s; want %s on %s, as its tensor", i, dy.dtype, dy.Place(), t.dtype, t.Place())
		}
		if from := t.store.displaced; from != 0 && dy.store.displaced == 0 {
			return b.rt.In(b.mode).Bring(dy, dy.store.ctx, from, true, b.on)
		}
		return dy.Same()
	}
	c := calculator{rt: b.rt, ctx: t.store.ctx, on: b.on}
	defer c.free()
	calls := op.Calls{Calculator: &c}
	ones := calls.Full(c.push(operandVar{Operand: Operand{Tensor: t}}), 1)
	if calls.Err != nil {
		return nil, calls.Err
	}
	return displacedLike(t)(c.take(ones))
}

// visit computes the gradients of a node's operands from those of its results, which are complete.
//
// First hooks see the gradients and may replace them; then the tensors that asked for them get them; then they go on to the operands.
func (b *backward) visit(n *node) error {
	dy := b.of[n]
	for len(dy) < len(n.out) {
		dy = append(dy, nil)
	}
	b.of[n] = dy // free finds it after an error
	if err := b.callHooks(n, dy); err != nil {
		return err
	}
	if err := b.deliver(n, dy); err != nil {
		return err
	}
	if !n.leaf && (b.leads == nil || b.leads[n]) && !(b.pass.Ends && b.reaches(n)) {
		if err := b.through(n, dy); err != nil {
			return err
		}
	}
	delete(b.of, n)
	b.rt.freeAll(dy)
	return nil
}
