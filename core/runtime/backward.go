package runtime

import (
	"cmp"
	"container/heap"
	"slices"

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
		return dy.Same()
	}
	c := calculator{rt: b.rt, ctx: t.store.ctx, on: b.on}
	defer c.free()
	calls := op.Calls{Calculator: &c}
	ones := calls.Full(c.push(operandVar{Operand: Operand{Tensor: t}}), 1)
	if calls.Err != nil {
		return nil, calls.Err
	}
	return c.take(ones)
}

// find notes which nodes lead to the tensors that are asked for, so that no other gradient is computed.
//
// It goes through the nodes twice: once to reach all of them, and once in ascending order, in which each node comes after
// those that it was computed from. Without it a pass for one input would compute the gradients of all.
func (b *backward) find() {
	b.leads = map[*node]bool{}
	var reached []*node
	todo := []*node{}
	for _, h := range b.roots {
		if h != nil {
			todo = append(todo, h.node)
		}
	}
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if _, seen := b.leads[n]; seen {
			continue
		}
		b.leads[n] = false
		reached = append(reached, n)
		for i := range n.in {
			if h := n.in[i].from; h != nil {
				todo = append(todo, h.node)
			}
		}
	}
	for _, h := range b.to {
		if h != nil {
			b.leads[h.node] = true
		}
	}
	slices.SortFunc(reached, func(x, y *node) int { return cmp.Compare(x.seq, y.seq) }) // operands first
	for _, n := range reached {
		for i := range n.in {
			if h := n.in[i].from; h != nil && !b.stops(h) && b.leads[h.node] {
				b.leads[n] = true
			}
		}
	}
}

// stops reports whether gradients go no further than this result.
func (b *backward) stops(h *history) bool {
	return slices.ContainsFunc(b.pass.Stop, func(t *Tensor) bool {
		s := t.history.Load()
		return s != nil && s.node == h.node && s.index == h.index
	})
}

// wanted reports whether the gradient of an operand is to be computed.
func (b *backward) wanted(k *kept) bool {
	h := k.from
	return h != nil && (b.leads == nil || b.leads[h.node] && !b.stops(h))
}

// add adds to the gradient of a result, and takes dy over.
func (b *backward) add(h *history, dy *Tensor) error {
	list, queued := b.of[h.node]
	for len(list) <= h.index {
		list = append(list, nil)
	}
	b.of[h.node] = list
	if !queued {
		heap.Push(&b.queue, h.node)
	}
	before := list[h.index]
	if before == nil {
		list[h.index] = dy
		return nil
	}
	list[h.index] = nil
	sum, err := b.sum(before, dy)
	list[h.index] = sum
	return err
}

// sum adds two gradients, and frees both.
//
// In place where no other tensor shares the memory, which saves one allocation for each time that a value is used more than once.
// Gradients that are recorded are never changed.
func (b *backward) sum(x, y *Tensor) (*Tensor, error) {
	defer b.rt.Free(y.handle)
	if x.dtype.IsComplex() {
		defer b.rt.Free(x.handle)
		c := calculator{rt: b.rt, on: b.on, mode: b.mode}
		made, _, err := c.onComplex(addition, []Operand{{Tensor: x}, {Tensor: y}}, nil)
		if err != nil {
			return nil, err
		}
		return made[0], nil
	}
	in := []Operand{{Tensor: x}, {Tensor: y}}
	if b.mode == 0 && x.alone() {
		if err := b.rt.CallInto(addition, in, nil, x, b.on); err != nil {
			b.rt.Free(x.handle)
			return nil, err
		}
		return x, nil
	}
	defer b.rt.Free(x.handle)
	made, err := b.rt.In(b.mode).Call(addition, in, nil, nil, b.on)
	if err != nil {
		return nil, err
	}
	return made[0], nil
}

var addition = op.ByID(op.IDAdd)

// alone reports whether no other tensor shares the memory, and each element has its own.
func (t *Tensor) alone() bool {
	return t.store.refs.Load() == 0 && t.IsContiguous() && t.store.traced == nil
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

// reaches reports whether the node is that of a tensor of To.
func (b *backward) reaches(n *node) bool {
	return slices.ContainsFunc(b.to, func(h *history) bool { return h != nil && h.node == n })
}

// callHooks passes the gradients through the hooks, in the order in which they were added.
//
// With To the hooks of leaves are not called: they are about what a leaf adds up.
func (b *backward) callHooks(n *node, dy []*Tensor) error {
	if n.leaf && b.pass.To != nil {
		return nil
	}
	n.mu.Lock()
	hooks := n.hooks
	for _, h := range hooks {
		if h.Hook != nil {
			h.refs.Add(1) // somebody may remove it meanwhile
		}
	}
	n.mu.Unlock()
	defer func() {
		for _, h := range hooks {
			if h.Hook != nil {
				h.release()
			}
		}
	}()
	for _, h := range hooks {
		if dy[h.index] == nil {
			continue
		}
		var err error
		if h.Hook == nil {
			err = b.retain(n, h.index, dy[h.index])
		} else {
			err = b.see(n, h, dy)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// see shows a gradient to a hook.
func (b *backward) see(n *node, h hook, dy []*Tensor) error {
	other, err := h.See(dy[h.index])
	if err != nil || other == nil {
		return err
	}
	b.rt.Free(dy[h.index].handle)
	dy[h.index] = other
	if want := &n.out[h.index]; other.Shape != want.Shape || other.dtype != want.DType || other.store.ctx != want.ctx {
		return status.Errorf(status.Invalid, "[register_hook] the hook returned %s of shape %s on %s; want %s of shape %s on %s", other.dtype, &other.Shape, other.Place(), want.DType, &want.Shape, want.ctx.place)
	}
	return nil
}

// retain leaves a gradient to a tensor that is no leaf, in the place of that of the last pass: it does not add up, as Paddle's
// does not. It is a copy, because a hook that comes later may change the gradient in place.
func (b *backward) retain(n *node, i int, dy *Tensor) error {
	if n.names.Load() == 0 {
		return nil
	}
	kept, err := b.own(dy)
	if err == nil {
		n.put(i, kept)
	}
	return err
}

// own is a gradient as a tensor that shares no memory with others; where the pass is recorded, another handle.
func (b *backward) own(dy *Tensor) (*Tensor, error) {
	if b.mode != 0 {
		return dy.Same()
	}
	return dy.To(dy.store.ctx, true, b.on)
}

// deliver gives the gradients to who asked for them: tensors of To, or the leaf.
//
// With To no leaf changes, so that a pass for gradients of gradients leaves the sums of a training step alone.
func (b *backward) deliver(n *node, dy []*Tensor) error {
	for i, h := range b.to {
		if h == nil || h.node != n || dy[h.index] == nil {
			continue
		}
		same, err := dy[h.index].Same()
		if err != nil {
			return err
		}
		b.found[i] = same
	}
	if b.pass.To != nil || !n.leaf || dy[0] == nil || n.names.Load() == 0 {
		return nil
	}
	return b.accumulate(n, dy[0])
}

// accumulate adds to the gradient of a leaf. Another pass may do so at the same time.
//
// The sum is in the memory of the first gradient, so that who has that sees it. A pass that is recorded makes a new one.
func (b *backward) accumulate(n *node, dy *Tensor) error {
	for {
		n.mu.Lock()
		var old *Tensor
		var before uint64
		var err error
		if g := n.gradient(0); g != nil {
			before = g.handle
			old, err = g.Same()
		}
		n.mu.Unlock()
		if err != nil {
			return err
		}
		done, err := b.addTo(n, old, before, dy)
		if done || err != nil {
			return err
		}
	}
}

// addTo adds to a gradient, which it frees, or makes the first one; false where the leaf has another one meanwhile.
func (b *backward) addTo(n *node, old *Tensor, before uint64, dy *Tensor) (done bool, err error) {
	var made *Tensor
	switch {
	case old == nil && dy.alone() && b.mode == 0:
		made, err = dy.Same()
	case old == nil:
		made, err = b.own(dy)
	case b.mode == 0 && old.asks() == nil && old.IsContiguous() && !old.dtype.IsComplex():
		defer b.rt.Free(old.handle)
		n.adding.Lock() // two additions at a time would lose one
		defer n.adding.Unlock()
		return true, b.rt.CallInto(addition, []Operand{{Tensor: old}, {Tensor: dy}}, nil, old, b.on)
	default:
		if made, err = dy.Same(); err != nil {
			b.rt.Free(old.handle)
			return false, err
		}
		made, err = b.sum(old, made)
	}
	if err != nil {
		return false, err
	}
	if n.putIf(0, before, made) {
		return true, nil
	}
	b.rt.Free(made.handle)
	return false, nil
}

// through computes the gradients of the operands.
//
// Operands that ask for no gradient cost nothing: the rule is told which are wanted, and is not asked at all where none is.
func (b *backward) through(n *node, dy []*Tensor) error {
	wants, any := make([]bool, len(n.in)), false
	for i := range n.in {
		wants[i] = b.wanted(&n.in[i])
		any = any || wants[i]
	}
	if !any {
		return nil
	}
	dx, err := b.differentiate(n, dy, wants)
	if err != nil {
		b.rt.freeAll(dx)
		return err
	}
	for i, d := range dx {
		if d == nil {
			continue
		}
		dx[i] = nil
		if !wants[i] {
			b.rt.Free(d.handle)
			continue
		}
		if d, err = b.move(d, n.in[i].ctx); err == nil {
			err = b.add(n.in[i].from, d)
		}
		if err != nil {
			b.rt.freeAll(dx)
			return err
		}
	}
	return nil
}

// move brings a gradient to the device of its tensor, where it is on another: a 0-d operand may have been on the CPU.
//
// The copy is recorded where the pass is.
func (b *backward) move(d *Tensor, to *Context) (*Tensor, error) {
	if d.store.ctx == to {
		return d, nil
	}
	defer b.rt.Free(d.handle)
	return b.rt.In(b.mode).To(d, to, false, b.on)
}

// differentiate asks the rule of the node. What it kept is released unless another pass is to come.
//
// The rule runs with the mode of the pass: recorded, its calls become nodes like any others, with higher numbers than all
// that there are. So gradients of gradients need no rules of their own.
func (b *backward) differentiate(n *node, dy []*Tensor, wants []bool) ([]*Tensor, error) {
	if n.moved {
		same, err := dy[0].Same()
		return []*Tensor{same}, err
	}
	if err := n.whole(); err != nil {
		return nil, err
	}
	if f := n.function(); f != nil {
		defer f.release()
		dx, err := b.custom(n, f, dy)
		if err == nil {
			b.spend(n)
		}
		return dx, err
	}
	if n.row == nil { // a function that another pass has just spent
		return nil, n.whole()
	}
	mode := b.mode
	if n.row.Grad.Once {
		mode = 0
	}
	c := calculator{rt: b.rt, ctx: dyContext(dy), on: b.on, mode: mode}
	defer c.free()
	g := op.Gradient{Calls: op.Calls{Calculator: &c}, Row: n.row, Attrs: n.attrs, Wants: wants}
	if err := c.unpack(n, &g); err != nil {
		return nil, err
	}
	for _, d := range dy {
		if d == nil {
			g.Dy = append(g.Dy, op.NoVar)
		} else {
			g.Dy = append(g.Dy, c.push(operandVar{Operand: Operand{Tensor: d}}))
		}
	}
	if err := g.Differentiate(); err != nil {
		return nil, err
	}
	dx := make([]*Tensor, len(g.Dx))
	for i, v := range g.Dx {
		if v == op.NoVar {
			continue
		}
		var err error
		if dx[i], err = c.take(v); err != nil {
			return dx, err
		}
	}
	if n.row.Grad.Once {
		b.end(n, dy, dx, status.Errorf(status.Unsupported, "[%s] its gradient has no gradient; want create_graph=False", n.row.Name))
	}
	b.spend(n)
	return dx, nil
}

// end makes gradients the results of a function that has none itself, where the pass is recorded: a pass that goes through
// them fails. They depend on the gradients of the node's results and on whatever the node was computed from.
//
// A pass may be recorded only in case that somebody differentiates it again, as those of paddle.func are. So the pass that
// is recorded succeeds, and the error comes from the one that would need what is missing.
func (b *backward) end(n *node, dy, dx []*Tensor, why error) {
	if b.mode == 0 {
		return
	}
	end := newNode(nil, nil)
	end.custom = &Function{Backward: func([]*Tensor) ([]*Tensor, error) { return nil, why }}
	end.custom.refs.Add(1)
	end.refs.Add(1)
	defer end.release()
	for i := range n.in {
		if h := n.in[i].from; h != nil {
			h.node.refs.Add(1)
			end.in = append(end.in, kept{Type: n.in[i].Type, ctx: n.in[i].ctx, from: h})
		}
	}
	for _, d := range dy {
		if d == nil {
			continue
		}
		if h := d.holdAsked(); h != nil {
			end.in = append(end.in, kept{Type: op.Type{DType: d.dtype, Shape: d.Shape}, ctx: d.store.ctx, from: h})
		}
	}
	for i, d := range dx {
		if d == nil {
			end.out = append(end.out, kept{})
			continue
		}
		end.keepResult(i, d)
		d.inherit(&history{node: end, index: i})
	}
}

// spend releases what a node kept, unless another pass is to come.
func (b *backward) spend(n *node) {
	if b.pass.Keep || b.pass.Again {
		return
	}
	n.mu.Lock()
	n.drop()
	f := n.custom
	n.custom = nil
	n.mu.Unlock()
	if f != nil {
		f.release() // what it has kept of the call may be its own result
	}
}

// whole refuses a node that a pass has gone through.
func (n *node) whole() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.spent {
		return nil
	}
	name := "backward"
	if n.row != nil {
		name = n.row.Name
	}
	return status.Errorf(status.Invalid, "[%s] a backward pass has gone through this call before, and its values are freed; want retain_graph=True in that pass", name)
}

// dyContext is the device of the gradients, at least one of which there is.
func dyContext(dy []*Tensor) *Context {
	for _, d := range dy {
		if d != nil {
			return d.store.ctx
		}
	}
	return nil
}

// custom calls the function of the caller.
func (b *backward) custom(n *node, f *Function, dy []*Tensor) ([]*Tensor, error) {
	dx, err := f.Backward(dy)
	if err != nil {
		return dx, err
	}
	if len(dx) != len(n.in) {
		return dx, status.Errorf(status.Invalid, "[backward] the function returned %d gradients; want %d, one an operand", len(dx), len(n.in))
	}
	for i, d := range dx {
		if want := &n.in[i]; d != nil && (d.Shape != want.Shape || d.dtype != want.DType) {
			return dx, status.Errorf(status.Invalid, "[backward] the function returned gradient %d as %s of shape %s; want %s of shape %s", i, d.dtype, &d.Shape, want.DType, &want.Shape)
		}
	}
	if f.Once {
		b.end(n, dy, dx, withoutSecond)
	}
	return dx, nil
}

// withoutSecond is the error for the gradient of a traced function's gradient.
var withoutSecond = status.Errorf(status.Unsupported, "[jit] the gradient of a traced function has no gradient; want create_graph=False, or the gradient taken within the function")
