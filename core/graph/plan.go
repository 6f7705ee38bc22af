package graph

import (
	"math"
	"slices"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// # The arena
//
// Buffers that the graph gives (inputs, constants) and those of its outputs have memory of their own. All
// others, the temporary ones, share one arena. Each is in use from the first step that touches it to the
// last; buffers whose spans meet get places that do not. Steps are taken in order: a buffer that begins goes
// into the smallest hole that holds it, and one that ends leaves a hole, joined with its neighbours. An
// elementwise step may write its result over an operand that nothing reads later (donor).
//
// The memory of an output is there from the start of a run, and free until the output is first written: until then it
// has room for a temporary buffer at a time.
//
// The order of the steps is that of the calls: it is what the caller had in mind, and it keeps random
// numbers those of the same calls one by one.

// Planned is a graph that a device can compile. A call of its program has the graph's inputs and then
// Constants in Call.In, the outputs in Call.Out.
type Planned struct {
	device.Plan
	Inputs, Outputs []op.Type
	Constants       []*op.Const
	origin          []int // the number of each step before groups were made; none for a device that runs no groups
}

// Plan is PlanFor for a device without kernels for composites that runs step by step.
func (g *Graph) Plan() (*Planned, error) { return g.PlanFor(nil, nil) }

// PlanFor legalizes a graph whose dimensions are known for a device, finds groups of the steps that it fuses, and
// gives every buffer a place. ends is for groups that a plan has had and that the device refused, see Planned.Divide; it
// applies where all else is equal.
func (g *Graph) PlanFor(composes Composes, fuses Fuses, ends ...int) (*Planned, error) {
	if !g.Known() {
		return nil, status.Errorf(status.Invalid, "[program] a dimension of an input is not known; want numbers (see Resolve)")
	}
	p := &Planned{Inputs: g.Inputs(), Outputs: g.Outputs()}
	l := Legal{Composes: composes}
	if err := l.addGraph(g, p); err != nil {
		return nil, err
	}
	if err := l.fits(); err != nil {
		return nil, err
	}
	l.dropUnread()
	groups, origin := l.group(fuses, ends)
	p.Plan, p.origin = *makePlan(&l, len(g.inputs), groups), origin
	return p, nil
}

// dropUnread leaves out the optional results that no step reads and the graph does not make, so that devices need
// not compute them.
func (l *Legal) dropUnread() {
	var read []bool // by buffer
	for i := range l.Steps {
		s := &l.Steps[i]
		for j := range s.Row.Out {
			if !s.Row.Out[j].Optional {
				continue
			}
			if read == nil {
				read = l.read()
			}
			if r := &s.Out[j]; !read[r.Buffer] && l.Buffers[r.Buffer].Role == Temporary {
				*r = op.Ref{Number: &op.Value{}}
			}
		}
	}
}

// read finds out which buffers any step reads.
func (l *Legal) read() []bool {
	read := make([]bool, len(l.Buffers))
	for i := range l.Steps {
		for j := range l.Steps[i].In {
			if r := &l.Steps[i].In[j]; r.Number == nil {
				read[r.Buffer] = true
			}
		}
	}
	return read
}

// fits refuses graphs whose intermediate results together are beyond all address spaces, so that places in
// the arena can be added up without looking.
func (l *Legal) fits() error {
	const most = math.MaxInt64 / 2
	total := int64(0)
	for i := range l.Buffers {
		b := &l.Buffers[i]
		if b.Role != Temporary {
			continue
		}
		n := b.Count * b.DType.Size() // which make has found to be no more than an int64 holds
		if n > most-granule || total > most-granule-n {
			return status.Errorf(status.Invalid, "[program] the intermediate results take more bytes than the address space has")
		}
		total += b.bytes()
	}
	return nil
}

// addGraph legalizes the nodes of a graph and gives its outputs buffers of their own. Nodes that nothing
// reads become steps like all others.
func (l *Legal) addGraph(g *Graph, p *Planned) error {
	if err := g.onlyTensors(); err != nil {
		return err
	}
	if err := g.Sized(); err != nil {
		return err
	}
	refs := make([]op.Ref, len(g.values))
	for i, v := range g.inputs {
		contiguous := shape.Contiguous(g.values[v].Shape)
		l.Give(&refs[v], g.values[v].DType, &contiguous, 0, i)
	}
	for v := range g.values {
		switch x := &g.values[v]; {
		case x.data != nil:
			refs[v] = l.constant(x.data, len(p.Constants))
			p.Constants = append(p.Constants, x.data)
		case x.number != nil:
			refs[v] = op.Ref{Number: x.number}
		}
	}
	for i := range g.nodes {
		n := &g.nodes[i]
		in := make([]op.Ref, len(n.In))
		for j, v := range n.In {
			in[j] = refs[v]
		}
		out, err := l.Call(n.Row, in, n.Attrs)
		if err != nil {
			return err
		}
		for j, v := range n.Out {
			refs[v] = out[j]
		}
	}
	for i, v := range g.outputs {
		if err := l.output(refs[v], i); err != nil {
			return err
		}
	}
	return nil
}

// onlyTensors refuses graphs with values that no device has memory for: sequences and optionals, and element types
// that tensors do not have yet. A graph may hold them for passes that make tensors of them.
func (g *Graph) onlyTensors() error {
	for i := range g.values {
		switch x := &g.values[i]; {
		case x.number != nil:
		case x.Form != op.TensorForm:
			return status.Errorf(status.Unsupported, "[program] value %d is %s; a device has only tensors", i, x.Form)
		case !x.DType.Valid():
			return status.Errorf(status.Unsupported, "[program] value %d is of %s; there are no tensors of it yet", i, x.DType)
		}
	}
	for i, v := range g.outputs {
		if g.values[v].number != nil {
			return status.Errorf(status.Invalid, "[program] output %d is a scalar; want a tensor", i)
		}
	}
	return nil
}

// constant adds a buffer whose contents are known.
func (l *Legal) constant(c *op.Const, index int) op.Ref {
	l.Buffers = append(l.Buffers, Buffer{Role: Known, DType: c.DType, Count: c.Shape.Numel(), Index: index, data: c})
	return op.Ref{Buffer: len(l.Buffers) - 1, DType: c.DType, Layout: shape.Contiguous(c.Shape)}
}

// output makes the buffer of a value output i, or copies the value there: where it is a view, an input,
// a constant or another output already. A copy costs a step, but callers can rely on outputs that share
// memory with nothing.
func (l *Legal) output(r op.Ref, i int) error {
	b := &l.Buffers[r.Buffer]
	if b.Role == Temporary && r.Offset == 0 && r.IsContiguous() && r.Numel() == b.Count && r.DType == b.DType {
		b.Role, b.Index = Made, i
		return nil
	}
	var made op.Ref
	if err := l.make(&made, r.DType, &r.Shape); err != nil {
		return err
	}
	l.Buffers[made.Buffer].Role, l.Buffers[made.Buffer].Index = Made, i
	return l.copy(r, made)
}

// makePlan turns steps on buffers into steps on slots. Random steps take their counters one behind the other
// from those that a run takes as a whole.
func makePlan(l *Legal, inputs int, groups []device.Group) *device.Plan {
	p := &device.Plan{Steps: make([]device.Step, len(l.Steps)), Groups: groups}
	places := arrange(l, groups)
	p.Arena = places.arena
	for i := range l.Steps {
		s := &l.Steps[i]
		c := &device.Call{Op: s.Row.ID, Attrs: s.Attrs, Axes: s.Axes}
		to := &p.Steps[i]
		to.Call = c
		c.In, to.In = l.operands(s.In, &places, inputs)
		c.Out, to.Out = l.operands(s.Out, &places, inputs)
		if s.Row.Random {
			to.Draw = p.Draws
			p.Draws += s.Out[0].Numel()
		}
	}
	return p
}

// operands are refs as a device takes them, and where they lie. A constant that is read as a whole, in order,
// has its elements in the operand, so that the device can prepare them when it compiles.
func (l *Legal) operands(refs []op.Ref, places *places, inputs int) (os []device.Operand, slots []device.Slot) {
	for i := range refs {
		r := &refs[i]
		o := device.Operand{DType: r.DType, Layout: r.Layout}
		if r.Number != nil {
			if r.Number.Set() {
				o = device.Scalar(r.Number.Bits(r.DType), r.DType, &r.Layout)
			}
			os, slots = append(os, o), append(slots, device.Slot{Space: device.Own})
			continue
		}
		at := device.Slot{Offset: r.Offset * r.DType.Size()}
		switch b := &l.Buffers[r.Buffer]; b.Role {
		case Given:
			at.Space, at.Index = device.Input, b.Index
		case Known:
			at.Space, at.Index = device.Input, inputs+b.Index
			if low, high, ok := r.Extent(); ok && low == 0 {
				o.Const = b.data.Bytes[at.Offset:][:(high+1)*r.DType.Size()]
			}
		case Made:
			at.Space, at.Index = device.Output, b.Index
		default:
			switch at.Index = places.locals[r.Buffer]; {
			case at.Index >= 0:
				at.Space = device.Local
			case places.guestOf[r.Buffer] >= 0:
				at.Space, at.Index = device.Output, l.Buffers[places.guestOf[r.Buffer]].Index
			default:
				at = device.Slot{Space: device.Scratch, Offset: at.Offset + places.arenaAt[r.Buffer]}
			}
		}
		os, slots = append(os, o), append(slots, at)
	}
	return os, slots
}

// granule is what places in the arena are multiples of, as blocks of the allocator are.
const granule = 256

// span is from the first step that touches a buffer to the last.
type span struct{ first, last int }

// places is where temporary buffers lie. Each is in one of four ways: in the arena, in the memory of an output, local to a
// group, or nowhere, because no step touches it.
type places struct {
	arenaAt []int64 // by buffer: bytes from the start of the arena
	guestOf []int   // by buffer: the buffer of the output whose memory it is in, else -1
	locals  []int   // by buffer: the number among the locals of a group, which have no place in the arena; else -1
	arena   int64   // its length in bytes
}

// arrange gives each temporary buffer a place in the arena, such that buffers which are in use at the
// same time do not meet, and finds out how long the arena is. Locals of groups take no place.
//
// Steps are visited once, in order, and a buffer takes the smallest hole that it fits when it is first
// written: best fit, which for the chains and branches of models comes close to the largest sum of what is
// alive at once. A step takes time in proportion to its operands and to the holes that there are. The steps of a group
// run side by side, so that whatever one of them uses is in use until the last of them ends.
//
// Two choices of the buffers that use the memory of outputs are tried, and the shorter arena counts. If any buffer may that
// comes first, the last layer but one of a chain can be there, where the last may not be, and a third place is needed. The
// choice from the last step backward lets a chain alternate between two places.
func arrange(l *Legal, groups []device.Group) places {
	spans := l.spans()
	locals := l.locals(groups, spans)
	first := arrangeBy(l, groups, spans, locals, false)
	if slices.Max(append(first.guestOf, -1)) < 0 {
		return first
	}
	if backward := arrangeBy(l, groups, spans, locals, true); backward.arena < first.arena {
		return backward
	}
	return first
}

// arrangeBy is arrange with one of the two choices.
func arrangeBy(l *Legal, groups []device.Group, spans []span, locals []int, backward bool) places {
	p := places{arenaAt: make([]int64, len(l.Buffers)), guestOf: make([]int, len(l.Buffers)), locals: locals}
	d := donors{legal: l, spans: spans, groupOf: make([]*device.Group, len(l.Steps)), given: make([]bool, len(l.Buffers))}
	for i := range groups {
		for j := groups[i].First; j < groups[i].End; j++ {
			d.groupOf[j] = &groups[i]
		}
	}
	starting, ending := make([][]int, len(l.Steps)), make([][]int, len(l.Steps))
	hosts := d.hosts()
	for i := range l.Buffers {
		p.guestOf[i] = -1
		if s := spans[i]; l.Buffers[i].Role == Temporary && s.first >= 0 && p.locals[i] < 0 {
			starting[s.first] = append(starting[s.first], i)
			ending[d.end(i)] = append(ending[d.end(i)], i)
		}
	}
	var suits []bool
	if backward {
		suits = d.backward(hosts, starting, ending)
	}
	var free holes
	for i := range l.Steps {
		for _, b := range starting[i] {
			from := d.donor(b)
			if from >= 0 && p.guestOf[from] >= 0 && !hosts[p.guestOf[from]].takes(&d, b) {
				from = -1
			}
			if from >= 0 {
				p.arenaAt[b], p.guestOf[b] = p.arenaAt[from], p.guestOf[from]
				d.given[from] = true // its place is b's now
				continue
			}
			if suits == nil || suits[b] {
				if h := d.host(hosts, b); h != nil {
					p.guestOf[b], h.taken = h.output, true
					continue
				}
			}
			p.arenaAt[b] = free.take(l.Buffers[b].bytes())
		}
		for _, b := range ending[i] {
			switch {
			case d.given[b]:
			case p.guestOf[b] >= 0:
				hosts[p.guestOf[b]].taken = false
			default:
				free.give(p.arenaAt[b], l.Buffers[b].bytes())
			}
		}
	}
	p.arena = free.end
	return p
}

// An output is written over its donor as a temporary buffer would be. The donor is therefore the one buffer that may still be
// in the memory of the output when that is written; all others have to be out of it before.

// host is an output whose memory temporary buffers can be in.
type host struct {
	output int   // its buffer
	size   int64 // bytes
	first  int   // the first step that writes it, or the first of its group
	donor  int   // the buffer that it may be written over; -1: none
	taken  bool  // now
}

// hosts are the outputs that have elements, by their buffers.
func (d *donors) hosts() map[int]*host {
	hosts := map[int]*host{}
	for i := range d.legal.Buffers {
		b := &d.legal.Buffers[i]
		if b.Role != Made || d.spans[i].first < 1 {
			continue
		}
		h := &host{output: i, size: b.Count * b.DType.Size(), first: d.spans[i].first, donor: d.donor(i)}
		if g := d.groupOf[h.first]; g != nil {
			h.first = g.First
		}
		hosts[i] = h
	}
	return hosts
}

// takes reports whether a buffer can be in the memory of the output when nothing else is.
func (h *host) takes(d *donors, b int) bool {
	x := &d.legal.Buffers[b]
	return x.Count*x.DType.Size() <= h.size && (d.end(b) < h.first || b == h.donor)
}

// host is the smallest output whose memory a buffer can be in from its first step on; nil where there is none.
func (d *donors) host(hosts map[int]*host, b int) (best *host) {
	for _, h := range hosts {
		if h.taken || !h.takes(d, b) {
			continue
		}
		if best == nil || h.size < best.size || h.size == best.size && h.output < best.output {
			best = h
		}
	}
	return best
}

// backward chooses the buffers that use the memory of outputs by visiting the steps from the last to the first: a buffer takes
// it at its last step and gives it back at its first. One that is written over a donor goes where that is, so that these two
// count as one. starting and ending are the buffers by these steps.
func (d *donors) backward(hosts map[int]*host, starting, ending [][]int) []bool {
	over, under := make([]int, len(d.spans)), make([]int, len(d.spans)) // by buffer: its donor, and whose donor it is
	for b := range over {
		over[b], under[b] = -1, -1
	}
	given := slices.Clone(d.given)
	for _, buffers := range starting {
		for _, b := range buffers {
			if from := d.donor(b); from >= 0 {
				d.given[from], over[b], under[from] = true, from, b
			}
		}
	}
	d.given = given
	suits, hosted := make([]bool, len(d.spans)), make([]*host, len(d.spans)) // hosted: by the first of those that are one
	for i := len(starting) - 1; i >= 0; i-- {
		for _, b := range ending[i] {
			if under[b] >= 0 {
				continue
			}
			if h := d.host(hosts, b); h != nil {
				h.taken, suits[b] = true, true
				first := b
				for ; over[first] >= 0; first = over[first] {
					suits[over[first]] = true
				}
				hosted[first] = h
			}
		}
		for _, b := range starting[i] {
			if hosted[b] != nil {
				hosted[b].taken = false
			}
		}
	}
	return suits
}

// end is the last step until which a buffer is in use. In a group that is its last one: until it ends, another block may
// still use the buffer.
func (d *donors) end(b int) int {
	last := d.spans[b].last
	if g := d.groupOf[last]; g != nil {
		return g.End - 1
	}
	return last
}

// bytes is the room of a buffer in the arena: whole granules, so that a vector load at its end stays within
// its own.
func (b *Buffer) bytes() int64 { return (b.Count*b.DType.Size() + granule - 1) / granule * granule }

// spans finds out when buffers are in use; -1 for those that never are: results of calls that nothing reads
// still have a step that writes them, but buffers without elements have none.
func (l *Legal) spans() []span {
	spans := make([]span, len(l.Buffers))
	for i := range spans {
		spans[i] = span{-1, -1}
	}
	for i := range l.Steps {
		for _, refs := range [2][]op.Ref{l.Steps[i].In, l.Steps[i].Out} {
			for j := range refs {
				if refs[j].Number != nil {
					continue
				}
				s := &spans[refs[j].Buffer]
				if s.first < 0 {
					s.first = i
				}
				s.last = i
			}
		}
	}
	return spans
}

// donors finds buffers whose place another one can take.
type donors struct {
	legal   *Legal
	spans   []span          // by buffer
	groupOf []*device.Group // by step; nil for a step that runs alone
	given   []bool          // by buffer: its place has another owner
}

// donor is a buffer that an elementwise step reads for the last time, element by element as it writes
// buffer b, which can take its place; -1 where there is none. In a group an earlier step may be the last to read it.
func (d *donors) donor(b int) int {
	l, step := d.legal, d.spans[b].first
	s := &l.Steps[step]
	out := &s.Out[0]
	if !s.Row.Elementwise() || out.Buffer != b || out.Offset != 0 || out.Numel() != l.Buffers[b].Count {
		return -1
	}
	if g := d.groupOf[step]; g != nil {
		return d.donorIn(g, out)
	}
	for i := range s.In {
		r := &s.In[i]
		if r.Number != nil || r.Layout != out.Layout || r.DType != out.DType || r.Offset != 0 {
			continue
		}
		x := &l.Buffers[r.Buffer]
		if x.Role == Temporary && x.Count == l.Buffers[b].Count && d.spans[r.Buffer].last == step && l.readOnce(s, r.Buffer) {
			return r.Buffer
		}
	}
	return -1
}

// donorIn is donor for a result of a group, which no other step writes. All steps of the group read the donor element
// by element, none after the result has been written; so a block overwrites only what it does not read any more,
// and no other block reads there. The donor may be the result of the head, but nothing that the head reads.
func (d *donors) donorIn(g *device.Group, out *op.Ref) int {
	l, step := d.legal, d.spans[out.Buffer].first
	if !l.linear(out) {
		return -1
	}
	first := g.First
	if g.Head {
		first++
	}
	for i := first; i <= step; i++ {
		for j := range l.Steps[i].In {
			r := &l.Steps[i].In[j]
			if r.Number != nil || r.DType != out.DType || !l.linear(r) || l.Buffers[r.Buffer].Role != Temporary || d.given[r.Buffer] {
				continue
			}
			s := d.spans[r.Buffer]
			if r.Numel() == out.Numel() && s.first < first && s.last == i && l.readLinearly(g, r.Buffer) {
				return r.Buffer
			}
		}
	}
	return -1
}

// readLinearly reports whether all steps of a group that read a buffer read element i for element i of their results. A head
// reads anywhere.
func (l *Legal) readLinearly(g *device.Group, buffer int) bool {
	for i := g.First; i < g.End; i++ {
		for j := range l.Steps[i].In {
			if r := &l.Steps[i].In[j]; r.Number == nil && r.Buffer == buffer && (g.Head && i == g.First || !l.linear(r)) {
				return false
			}
		}
	}
	return true
}

// readOnce reports whether every operand of a step in a buffer has the layout of the result, so that
// writing the result over the buffer changes no element that is still to be read.
func (l *Legal) readOnce(s *op.Step, buffer int) bool {
	for i := range s.In {
		if r := &s.In[i]; r.Number == nil && r.Buffer == buffer && (r.Layout != s.Out[0].Layout || r.Offset != 0 || r.DType != s.Out[0].DType) {
			return false
		}
	}
	return true
}

// holes are the free parts of an arena in ascending order; neighbours are always joined. Programs have
// hundreds of buffers and few holes at a time: a list is as fast as a tree here.
type holes struct {
	list []hole
	end  int64 // of the arena
}

type hole struct{ at, size int64 }

// take finds the smallest hole that is large enough, or goes beyond the end, from the last hole on if that
// is there.
func (h *holes) take(size int64) (at int64) {
	if size == 0 {
		return 0 // nothing is ever read or written there
	}
	best := -1
	for i := range h.list {
		if x := h.list[i].size; x >= size && (best < 0 || x < h.list[best].size) {
			best = i
		}
	}
	if best >= 0 {
		x := &h.list[best]
		at = x.at
		x.at, x.size = x.at+size, x.size-size
		if x.size == 0 {
			h.list = append(h.list[:best], h.list[best+1:]...)
		}
		return at
	}
	if n := len(h.list); n > 0 && h.list[n-1].at+h.list[n-1].size == h.end { // the end is free: it grows
		at = h.list[n-1].at
		h.list = h.list[:n-1]
	} else {
		at = h.end
	}
	h.end = at + size
	return at
}

// give makes a part free again.
func (h *holes) give(at, size int64) {
	if size == 0 {
		return
	}
	i := 0
	for i < len(h.list) && h.list[i].at < at {
		i++
	}
	h.list = append(h.list, hole{})
	copy(h.list[i+1:], h.list[i:])
	h.list[i] = hole{at, size}
	if i+1 < len(h.list) && at+size == h.list[i+1].at {
		h.list[i].size += h.list[i+1].size
		h.list = append(h.list[:i+1], h.list[i+2:]...)
	}
	if i > 0 && h.list[i-1].at+h.list[i-1].size == at {
		h.list[i-1].size += h.list[i].size
		h.list = append(h.list[:i], h.list[i+1:]...)
	}
}
