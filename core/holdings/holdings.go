// Package holdings finds which functions of a caller tensors and programs keep alive, for a garbage collector.
//
// The invariant: the answer is exact or silent. It names a node only if all references to it are known.
//
// The package only reads the tape, programs and traces. It frees nothing.
package holdings

import (
	"cmp"
	"slices"

	"github.com/paddle-mps/paddle-mps/core/execute"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/trace"
)

// Which functions of a caller tensors and programs keep alive. A language with a garbage collector cannot see what the runtime
// holds: a hook that uses its own tensor is a cycle through the tape (core/runtime/history.go), which reference counts never free. Before it
// collects, the language asks here, gives what it learns to its collector as references between its own objects, and takes the
// answer back afterwards; see python/paddle_mps/_calls/_holding.py.
//
// The answer is exact or silent. A node is named only if all references to it are known: from owners that the caller has named, and
// from other nodes. Everything that a pass, another thread or another caller holds besides is left out, with what it leads to.
//
// An example: y = x * x has hook 7, which uses y; z = exp(y). Both tensors are the language's.
//
//	y -> node of multiply, which has hook 7 -> leaf x
//	z -> node of exp -> node of multiply
//
// The node of multiply has two references, and both are met on the way from y and z. So the answer for both is a group with 7. Given
// to the collector as y -> 7 and z -> 7, beside 7 -> y, which it sees itself, it tells the collector that all three go when the
// program drops y and z. Were z not named, because a program in C has it, one reference would not be met, and nothing be said.
//
// The steps are those of a collector that counts references: visit everything behind the owners and count what is met; exclude
// what has more references than that, and all behind it; then keep what leads to functions. Each is linear in the number of nodes.
//
// Nodes are safe to read: the walk holds those of the owners, and a node that is held never loses its operands. Gradients, hooks and
// functions may change meanwhile, so that they are read under the lock of their node. A reference that goes while the walk counts,
// or comes, makes the numbers differ, so that the node is excluded this time. A tensor that names a node between the count and the
// collection is what Unchanged is for.
//
// It is about one moment. Unchanged says whether a tensor has got a history since.

// Holdings is a graph of what is held. Groups are nodes that lead to functions of the caller.
type Holdings struct {
	Owners []int   // for each tensor, then for each program, a group; -1 for none
	Groups []Group // may lead to each other in circles
}

// Group is a node of Holdings.
type Group struct {
	Numbers []uint64 // of the functions that it holds itself
	Of      []int    // the groups that it holds
}

// Of says which functions of a caller the owners hold, directly or through what they were computed from. The program calls it for
// one caller at a time. Programs stay pinned for the call; tensors that are gone hold nothing.
func Of(rt *runtime.Runtime, caller uint64, tensors []uint64, programs []*execute.Program) *Holdings {
	runtime.WatchHistories()
	w := walk{caller: caller, nodes: map[*runtime.Node]*visited{}, backs: map[*trace.Pullback]*visited{}, origins: map[*runtime.Origin]*visited{}}
	defer w.release()
	owners := make([][]*visited, 0, len(tensors)+len(programs))
	for _, handle := range tensors {
		var of []*visited
		if t := rt.Acquire(handle); t != nil {
			of = w.tensor(t)
			t.Release()
		}
		owners = append(owners, of)
	}
	for _, p := range programs {
		owners = append(owners, w.program(p))
	}
	w.visitAll()
	w.exclude()
	return w.groups(owners)
}

// visited is a node or a pullback in a walk. A pullback counts as a node that holds what its function has captured: a program and its
// recorded runs share it, and it is the only holder of a captured tensor.
type visited struct {
	n       *runtime.Node
	back    *trace.Pullback
	origin  *runtime.Origin
	known   int32 // references to it that the walk has met or holds
	numbers []uint64
	of      []*visited // what it holds
	outside bool       // someone else holds it, or what leads to it
	leads   bool       // to a function of the caller
	from    []*visited // the reverse of `of`
	group   int        // -1: none yet
}

// walk goes through the tape from the owners.
type walk struct {
	caller  uint64
	nodes   map[*runtime.Node]*visited
	backs   map[*trace.Pullback]*visited
	origins map[*runtime.Origin]*visited
	order   []*visited // all of both, in the order in which they were met
	held    []*runtime.History
	pinned  []*trace.Pullback
}

// node is the visit of a node, to which the walk has met a reference.
func (w *walk) node(n *runtime.Node) *visited {
	v := w.nodes[n]
	if v == nil {
		v = &visited{n: n, group: -1}
		w.nodes[n] = v
		w.order = append(w.order, v)
	}
	v.known++
	return v
}

// pullback is node for a pullback. One that is going already is nil.
func (w *walk) pullback(b *trace.Pullback) *visited {
	v := w.backs[b]
	if v == nil {
		if !b.Retain() {
			return nil
		}
		w.pinned = append(w.pinned, b)
		v = &visited{back: b, known: 1, group: -1}
		w.backs[b] = v
		w.order = append(w.order, v)
	}
	v.known++
	return v
}

// tensor visits what a tensor was computed from, and holds it so that it stays.
func (w *walk) tensor(t *runtime.Tensor) (of []*visited) {
	for _, h := range [2]*runtime.History{t.History.Load(), t.ChangedFrom.Load()} {
		if h == nil || !h.Node.Retain() {
			continue
		}
		w.held = append(w.held, h)
		v := w.node(h.Node)
		v.known++ // of the walk itself
		of = append(of, v)
	}
	if o := t.Origin(); o != nil {
		of = append(of, w.origin(o))
	}
	return of
}

// origin visits what a tensor and its views share, which has a reference to the history of that tensor.
//
// A view so holds the hooks of the tensor that it was made of, and of what was written into that, also when its own history is older:
// it takes the other one when it is used next. The history is read once, under the lock of the origin; when another write replaces it,
// the tensor that wrote gets a history too, and Unchanged tells. An origin that is released meanwhile may be used again for other
// tensors; its count then differs from what the walk has met, or the tensor that took it is new.
func (w *walk) origin(o *runtime.Origin) *visited {
	v := w.origins[o]
	if v == nil {
		v = &visited{origin: o, group: -1}
		w.origins[o] = v
		w.order = append(w.order, v)
		o.Mu.Lock()
		defer o.Mu.Unlock()
		if h := o.From; h != nil && h.Node.Retain() {
			w.held = append(w.held, h)
			from := w.node(h.Node)
			from.known++ // of the walk itself
			v.of = append(v.of, from)
		}
	}
	v.known++
	return v
}

// program visits what a program has captured.
func (w *walk) program(p *execute.Program) (of []*visited) {
	if p.Gradient != nil {
		if v := w.pullback(trace.PullbackOf(p)); v != nil {
			of = append(of, v)
		}
		return of
	}
	return w.captured(p)
}

func (w *walk) captured(p *execute.Program) (of []*visited) {
	for _, list := range [2][]*runtime.Tensor{p.CapturedInputs, p.Asking} {
		for _, t := range list {
			of = append(of, w.tensor(t)...)
		}
	}
	return of
}

// visitAll visits everything behind what has been visited.
func (w *walk) visitAll() {
	for i := 0; i < len(w.order); i++ {
		v := w.order[i]
		switch {
		case v.back != nil:
			v.of = w.behind(v.back)
		case v.n != nil:
			w.through(v)
		}
	}
}

// behind visits what a pullback holds: the captured tensors of its function, and the program of the second gradient. Someone who is
// tracing that holds the lock, perhaps this thread; what is traced holds tensors that the walk does not know.
func (w *walk) behind(b *trace.Pullback) []*visited {
	of := w.captured(b.Function)
	if b.Tracing.TryLock() {
		defer b.Tracing.Unlock()
		if b.Second != nil {
			of = append(of, w.program(b.Second)...)
		}
	}
	return of
}

// through visits what a node holds: those of its operands, its gradients, its function and its hooks.
func (w *walk) through(v *visited) {
	n := v.n
	n.Mu.Lock()
	defer n.Mu.Unlock()
	for i := range n.In {
		if h := n.In[i].From; h != nil {
			v.of = append(v.of, w.node(h.Node))
		}
	}
	for _, g := range n.Gradients {
		if g != nil {
			v.of = append(v.of, w.tensor(g)...)
		}
	}
	for _, h := range n.Hooks {
		if h.Hook != nil && h.Tag.Caller == w.caller && h.Tag.Number != 0 {
			v.numbers = append(v.numbers, h.Tag.Number)
		}
	}
	if f := n.Custom; f != nil {
		if f.Tag.Caller == w.caller && f.Tag.Number != 0 {
			v.numbers = append(v.numbers, f.Tag.Number)
		}
		if f.Back != nil {
			if b := w.pullback(f.Back.(*trace.Pullback)); b != nil {
				v.of = append(v.of, b)
			}
		}
	}
}

// A count is read after all references have been met. One that came since makes it larger, one that went makes it smaller, and either
// excludes the node: the answer of the next collection will have it.

// exclude marks what has references that the walk has not met, and all behind it.
func (w *walk) exclude() {
	var todo []*visited
	for _, v := range w.order {
		if v.refs() != v.known {
			v.outside = true
			todo = append(todo, v)
		}
	}
	for len(todo) > 0 {
		v := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, o := range v.of {
			if !o.outside {
				o.outside = true
				todo = append(todo, o)
			}
		}
	}
}

// refs are all references to what is visited.
func (v *visited) refs() int32 {
	switch {
	case v.n != nil:
		return v.n.Refs.Load()
	case v.back != nil:
		return v.back.Refs.Load()
	}
	return v.origin.Refs.Load()
}

// groups are the visits that lead to functions. A node that holds one group and no function of its own is left out: it is that group
// to those who hold it, so that a chain of operators is one group.
func (w *walk) groups(owners [][]*visited) *Holdings {
	w.leading()
	h := &Holdings{Owners: make([]int, len(owners))}
	order := slices.DeleteFunc(w.order, func(v *visited) bool { return !v.leads })
	slices.SortStableFunc(order, func(a, b *visited) int { return cmp.Compare(a.seq(), b.seq()) })
	for _, v := range order {
		if v.group = v.only(); v.group < 0 {
			v.group = len(h.Groups)
			h.Groups = append(h.Groups, Group{Numbers: v.numbers})
		}
	}
	for _, v := range order {
		if g := &h.Groups[v.group]; len(g.Of) == 0 {
			g.Of = distinct(v.of, v.group)
		}
	}
	for i, of := range owners {
		switch list := distinct(of, -1); len(list) {
		case 0:
			h.Owners[i] = -1
		case 1:
			h.Owners[i] = list[0]
		default:
			h.Owners[i] = len(h.Groups)
			h.Groups = append(h.Groups, Group{Of: list})
		}
	}
	return h
}

// seq orders a visit behind what it holds, but for gradients, which are newer than their leaf, and for pullbacks.
func (v *visited) seq() uint64 {
	if v.n != nil {
		return v.n.Seq
	}
	return 0
}

// only is the one group that a visit leads to; -1 where there are others or none, or where some have no number yet.
func (v *visited) only() int {
	if len(v.numbers) > 0 {
		return -1
	}
	found := -1
	for _, o := range v.of {
		switch {
		case !o.leads:
		case o.group < 0, found >= 0 && o.group != found:
			return -1
		default:
			found = o.group
		}
	}
	return found
}

// distinct are the groups of visits, each once and without one.
func distinct(of []*visited, without int) (list []int) {
	for _, o := range of {
		if o.leads && o.group != without {
			list = append(list, o.group)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// leading marks what leads to functions of the caller that no one else holds.
func (w *walk) leading() {
	var todo []*visited
	for _, v := range w.order {
		for _, o := range v.of {
			o.from = append(o.from, v)
		}
		if len(v.numbers) > 0 && !v.outside {
			v.leads = true
			todo = append(todo, v)
		}
	}
	for len(todo) > 0 {
		v := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, o := range v.from {
			if !o.leads && !o.outside {
				o.leads = true
				todo = append(todo, o)
			}
		}
	}
}

// release ends what the walk holds. Functions of the caller may be closed by it.
func (w *walk) release() {
	for _, h := range w.held {
		h.Node.Release()
	}
	for _, b := range w.pinned {
		b.Release()
	}
}
