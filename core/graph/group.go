package graph

import (
	"slices"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/op"
)

// Fuses says which steps a device can run as part of a group, or as its head; see device.Fuser. nil stands for a device
// that runs no groups.
type Fuses func(s *op.Step) bool

// grouper finds the groups of a legal graph. It goes over the steps once, in order, and holds one group open,
// which a step joins if it computes as many elements and meets what the group has read and written element
// by element. Small steps between, such as the cast of a bias, move in front of the open group where neither
// depends on the other; a step of another kind, or with more elements, ends the group. A step of another kind that the
// device can run as a head opens one, and a reduction of what the group has computed is its last step.
//
// Random steps never join or move, so that they draw in the order of the nodes.
type grouper struct {
	legal   *Legal
	fuses   Fuses
	ends    []int          // steps, by their numbers in the legal graph, before which a group ends
	order   []int          // the steps in their new order, without those of the open group
	open    []int          // the steps of the open group
	touched []touch        // by buffer: what the open group does with it
	number  int            // of the open group, from 1
	groups  []device.Group // those that are complete
}

// touch is what a group does with a buffer; it counts for the group of that number only.
type touch struct {
	group       int
	read, wrote bool
	whole       bool // written as linear says
}

// group orders the steps so that those which can run block by block stand together, and returns their groups of
// two or more. origin is, for each step, the number that it had before; ends are such numbers (see Planned.Divide).
func (l *Legal) group(fuses Fuses, ends []int) (groups []device.Group, origin []int) {
	if fuses == nil {
		return nil, nil
	}
	g := grouper{legal: l, fuses: fuses, ends: ends, number: 1, touched: make([]touch, len(l.Buffers)), order: make([]int, 0, len(l.Steps))}
	for i := range l.Steps {
		g.place(i)
	}
	g.close()
	steps := make([]op.Step, len(g.order))
	for i, number := range g.order {
		steps[i] = l.Steps[number]
	}
	l.Steps = steps
	return g.groups, g.order
}

// Divide is where a group of a plan has to end earlier, so that it becomes two of half the size. Devices find out only when
// they compile that a group is too large, or that their compiler refuses it: PlanFor makes a plan without it.
func (p *Planned) Divide(group int) (end int) {
	g := &p.Groups[group]
	return p.origin[g.First+(g.End-g.First)/2]
}

// place puts the next step into the open group, in front of it, or behind it. Only steps that are smaller than the
// group move in front: larger ones would make intermediate results live longer, and more memory is what groups
// are to save.
func (g *grouper) place(number int) {
	s := &g.legal.Steps[number]
	if slices.Contains(g.ends, number) {
		g.close()
	}
	fusable := g.fusable(s)
	n, most := s.Out[0].Numel(), int64(-1)
	if len(g.open) > 0 {
		most = g.elements()
	}
	switch {
	case fusable && n == most && g.joins(s):
		g.add(number)
		return
	case n < most && !s.Row.Random && g.independent(s):
		g.order = append(g.order, number)
		return
	case most >= 0 && g.tails(s):
		g.add(number)
		g.close()
		return
	}
	g.close()
	if fusable || g.heads(s) {
		g.add(number)
	} else {
		g.order = append(g.order, number)
	}
}

// elements is how many elements each step of the open group computes.
func (g *grouper) elements() int64 { return g.legal.Steps[g.open[0]].Out[0].Numel() }

// fusable reports whether a step may be part of a group at all: it has one result, each element of which comes
// from the elements at the same place in operands that have been broadcast to its shape, and the device wants it.
func (g *grouper) fusable(s *op.Step) bool {
	if !s.Row.Elementwise() || s.Row.Random || s.Row.Updates || len(s.Out) != 1 {
		return false
	}
	for i := range s.In {
		r := &s.In[i]
		if r.Number != nil && !r.Number.Set() || r.Shape != s.Out[0].Shape {
			return false
		}
	}
	return g.fuses(s)
}

// heads reports whether a step that is not elementwise can be the first of a group: it has one result, which is a buffer in
// its order, and the device wants it.
func (g *grouper) heads(s *op.Step) bool {
	return !s.Row.Elementwise() && !s.Row.Tail && !s.Row.Random && !s.Row.Updates && len(s.Out) == 1 && s.Out[0].Number == nil &&
		s.Out[0].Numel() > 0 && g.legal.coversBuffer(&s.Out[0]) && g.fuses(s)
}

// tails reports whether a step can be the last one of the open group: it reduces the last axes of a result of the group that
// lies in order, its own result is elsewhere, and the device wants it. The pieces of a head are in no order.
func (g *grouper) tails(s *op.Step) bool {
	if !s.Row.Tail || len(s.Out) != 1 || !g.legal.Steps[g.open[0]].Row.Elementwise() {
		return false
	}
	in, out := &s.In[0], &s.Out[0]
	if in.Number != nil || out.Number != nil || in.Buffer == out.Buffer || in.Numel() != g.elements() || !s.Axes.Last(&in.Shape) {
		return false
	}
	from, to := g.state(in.Buffer), g.state(out.Buffer)
	return from.wrote && from.whole && g.legal.linear(in) && !to.read && !to.wrote && g.fuses(s)
}

// coversBuffer reports whether a view is all of its buffer, with its axes in any order.
func (l *Legal) coversBuffer(r *op.Ref) bool {
	b := &l.Buffers[r.Buffer]
	if r.Offset != 0 || r.DType != b.DType || r.Numel() != b.Count {
		return false
	}
	step := int64(1)
	for range r.Rank {
		for axis, d := range r.Shape.Slice() {
			if d > 1 && r.Strides[axis] == step { // of one axis only: the next one has a larger stride
				step *= d
				break
			}
		}
	}
	return step == b.Count
}

// linear reports whether a view is all of its buffer, in order: element i of the view is that of the buffer.
func (l *Legal) linear(r *op.Ref) bool {
	b := &l.Buffers[r.Buffer]
	return r.Offset == 0 && r.DType == b.DType && r.Numel() == b.Count && r.IsContiguous()
}

// state is what the open group does with a buffer.
func (g *grouper) state(buffer int) *touch {
	t := &g.touched[buffer]
	if t.group != g.number {
		*t = touch{group: g.number}
	}
	return t
}

// joins reports whether a step can run block by block with those of the open group: it reads what the group has
// written element by element, and writes nothing that the group has read or written.
func (g *grouper) joins(s *op.Step) bool {
	for i := range s.In {
		r := &s.In[i]
		if r.Number != nil {
			continue
		}
		if t := g.state(r.Buffer); t.wrote && !(t.whole && g.legal.linear(r)) {
			return false
		}
		if r.Buffer == s.Out[0].Buffer { // as parts of one buffer, perhaps at different elements
			return false
		}
	}
	t := g.state(s.Out[0].Buffer)
	return !t.read && !t.wrote
}

// independent reports whether a step reads nothing that the open group writes, and writes nothing that it touches.
func (g *grouper) independent(s *op.Step) bool {
	for i := range s.In {
		if r := &s.In[i]; r.Number == nil && g.state(r.Buffer).wrote {
			return false
		}
	}
	for i := range s.Out {
		r := &s.Out[i]
		if r.Number != nil {
			continue
		}
		if t := g.state(r.Buffer); t.read || t.wrote {
			return false
		}
	}
	return true
}

// add makes a step the last one of the open group.
func (g *grouper) add(number int) {
	s := &g.legal.Steps[number]
	for i := range s.In {
		if r := &s.In[i]; r.Number == nil {
			g.state(r.Buffer).read = true
		}
	}
	t := g.state(s.Out[0].Buffer)
	t.wrote, t.whole = true, g.legal.linear(&s.Out[0]) || len(g.open) == 0 && !s.Row.Elementwise() // of a head, see heads
	g.open = append(g.open, number)
}

// close ends the open group, if there is one. A single step is none.
func (g *grouper) close() {
	if n := len(g.open); n > 1 {
		first := len(g.order)
		head := !g.legal.Steps[g.open[0]].Row.Elementwise()
		tail := g.legal.Steps[g.open[n-1]].Row.Tail
		g.groups = append(g.groups, device.Group{First: first, End: first + n, Elements: g.elements(), Head: head, Tail: tail})
	}
	g.order = append(g.order, g.open...)
	g.open = g.open[:0]
	g.number++
}

// locals finds the intermediate results that only one group touches, and gives each a number among the locals of its
// group, which are used again: -1 stands for a buffer that is no local, such as the result of a head or tail. It completes the
// groups.
func (l *Legal) locals(groups []device.Group, spans []span) []int {
	numbers := make([]int, len(l.Buffers))
	for i := range numbers {
		numbers[i] = -1
	}
	for i := range groups {
		l.number(&groups[i], spans, numbers)
	}
	return numbers
}

// number gives numbers to the locals of one group. A result takes the number of an operand of its dtype that is
// read for the last time, else one that is free since an earlier step.
func (l *Legal) number(g *device.Group, spans []span, numbers []int) {
	var free, ended []int // numbers; buffers
	for i := g.First; i < g.End; i++ {
		s := &l.Steps[i]
		ended = ended[:0]
		for j := range s.In {
			if r := &s.In[j]; r.Number == nil && numbers[r.Buffer] >= 0 && spans[r.Buffer].last == i && !slices.Contains(ended, r.Buffer) {
				ended = append(ended, r.Buffer)
			}
		}
		alone := g.Head && i == g.First || g.Tail && i == g.End-1
		if out := &s.Out[0]; !alone && l.Buffers[out.Buffer].Role == Temporary && spans[out.Buffer].first == i && spans[out.Buffer].last < g.End && l.linear(out) {
			// Kernels may write over an operand of the same dtype, as in the arena, but not over one that is still to be read.
			same := slices.IndexFunc(ended, func(b int) bool { return l.Buffers[b].DType == out.DType })
			switch {
			case same >= 0:
				numbers[out.Buffer] = numbers[ended[same]]
				ended = slices.Delete(ended, same, same+1)
			case len(free) > 0:
				numbers[out.Buffer] = free[len(free)-1]
				free = free[:len(free)-1]
			default:
				numbers[out.Buffer] = g.Locals
				g.Locals++
			}
			if spans[out.Buffer].last == i { // nothing reads it
				ended = append(ended, out.Buffer)
			}
		}
		for _, b := range ended {
			free = append(free, numbers[b])
		}
	}
}
