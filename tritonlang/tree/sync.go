package tree

import (
	"maps"
	"sort"

	"github.com/paddle-mps/paddle-mps/tritonlang/ttir"
)

// Threadgroup memory is one pool. An operation that exchanges values opens an area, writes it and reads it; areas that are
// used at one time lie apart, and others may share bytes. Neighbours in time are put apart too where that costs little,
// because then the second needs no barrier before it writes.
//
// Where a barrier is needed follows from the tree: between a write and a read of the same bytes, and between a read and a
// write, on every path through conditions and around loops. Nothing else emits one, but the program's own barriers.

// Area is a part of the pool, in use from the first touch to the last.
type Area struct {
	Name, CType   string
	Bytes, offset int
	// Touches.
	first, last int
}

// Effect is what a touch does.
type Effect struct {
	// Of the area.
	Reads, Writes bool
	// device memory
	// Writes it.
	Stores bool
	// Reads it.
	Loads bool
	// What was written before is to be seen by other programs.
	Release bool
	// What is read later is what other programs have released.
	Acquire bool
	// Several threads load the same elements, of which one stores what is made of them.
	Shared bool
	// The argument that the pointer comes from; "" if unknown.
	Root string
	// The program's own barrier.
	Everyone bool
}

// MostThreadgroup is how much threadgroup memory every GPU from family Apple7 on has.
const MostThreadgroup = 32 << 10

// softPool is how much the pool may grow only to save barriers.
const softPool = 4 << 10

// PlaceAreas gives areas their places, and answers the size of the pool.
func PlaceAreas(areas []*Area) (int, error) {
	size, before := 0, 0
	for i, a := range areas {
		// Behind the area before, if that keeps the pool small.
		soft := before + a.Bytes
		var live []*Area
		for _, b := range areas[:i] {
			if b.last >= a.first {
				live = append(live, b)
			}
		}
		if soft > softPool || !place(a, before, live) {
			// First fit. The loop ends, since above all live areas there is room.
			for at := 0; !place(a, at, live); at += 16 {
			}
		}
		before = a.offset + a.Bytes
		size = max(size, before)
	}
	if size > MostThreadgroup {
		return 0, &ttir.OutOfResources{Name: "shared memory", Required: size, Limit: MostThreadgroup}
	}
	return size, nil
}

// place puts an area somewhere, unless areas that are in use lie there.
func place(a *Area, at int, live []*Area) bool {
	for _, b := range live {
		if at < b.offset+b.Bytes && b.offset < at+a.Bytes {
			return false
		}
	}
	a.offset = at
	return true
}

// pending is what has happened since the last barrier.
type pending struct {
	reads, writes map[*Area]bool
	// Roots from which several threads have loaded the same elements.
	shared map[string]bool
	// Device memory was written.
	stored bool
	// An atomic operation may have taken a lock.
	acquired bool
}

// newPending is the state behind a barrier: nothing is pending.
func newPending() *pending {
	return &pending{reads: map[*Area]bool{}, writes: map[*Area]bool{}, shared: map[string]bool{}}
}

// copy is the state on another path.
func (p *pending) copy() *pending {
	return &pending{maps.Clone(p.reads), maps.Clone(p.writes), maps.Clone(p.shared), p.stored, p.acquired}
}

// merge adds what is pending on another path that leads here.
func (p *pending) merge(o *pending) {
	maps.Copy(p.reads, o.reads)
	maps.Copy(p.writes, o.writes)
	maps.Copy(p.shared, o.shared)
	p.stored, p.acquired = p.stored || o.stored, p.acquired || o.acquired
}

// size is how much is pending: it grows whenever merge adds something.
func (p *pending) size() int {
	n := len(p.reads) + len(p.writes) + len(p.shared)
	for _, flag := range []bool{p.stored, p.acquired} {
		if flag {
			n++
		}
	}
	return n
}

// overlaps reports whether an area shares bytes with one of a set.
func overlaps(all map[*Area]bool, a *Area) bool {
	for b := range all {
		if a.offset < b.offset+b.Bytes && b.offset < a.offset+a.Bytes {
			return true
		}
	}
	return false
}

// needs is the memory that a barrier before an effect must order: bits of mem_threadgroup and mem_device.
func (p *pending) needs(n *Node) (pool, device bool) {
	e := n.Effect
	if n.Area != nil {
		pool = e.Reads && overlaps(p.writes, n.Area) || e.Writes && (overlaps(p.reads, n.Area) || overlaps(p.writes, n.Area))
	}
	// A lock that is released shows what was stored under it; a lock that was taken is asked before
	// what it guards.
	device = e.Release && p.stored || (e.Loads || e.Stores) && p.acquired
	// Another thread may still have to load what is stored here.
	if e.Stores && len(p.shared) > 0 && (e.Root == "" || p.shared[e.Root] || p.shared[""]) {
		device = true
	}
	if e.Everyone {
		return true, true
	}
	return pool, device
}

// after notes an effect.
func (p *pending) after(n *Node) {
	e := n.Effect
	if e.Reads {
		p.reads[n.Area] = true
	}
	if e.Writes {
		p.writes[n.Area] = true
	}
	if e.Shared {
		p.shared[e.Root] = true
	}
	p.stored = p.stored || e.Stores
	p.acquired = p.acquired || e.Acquire
}

// Synchronize adds the barriers that are needed; it answers the tree with them, and counts them.
func Synchronize(all []*Node) (out []*Node, count int) {
	s := &syncer{insert: true}
	out = s.flow(all, newPending())
	return out, s.count
}

type syncer struct {
	insert bool
	count  int
	// What is pending where the loops around are left.
	exits []*pending
}

// flow goes through statements, and changes what is pending.
func (s *syncer) flow(all []*Node, p *pending) (out []*Node) {
	// Touches since the last statement: what they stand for is still to come, behind a barrier that a later one asks for.
	var ahead []*Node
	for _, n := range all {
		if n.Kind != TouchMemory && n.Kind != OpenArea {
			ahead = nil
		}
		switch n.Kind {
		case TouchMemory:
			pool, device := p.needs(n)
			if pool || device {
				// A barrier orders what all threads have done before it, whatever memory it names; naming it makes that seen.
				flags := "mem_flags::mem_threadgroup"
				if device {
					flags = "mem_flags::mem_device | mem_flags::mem_threadgroup"
				}
				out = append(out, &Node{Kind: Barrier, Text: flags, Where: n.Where})
				// A barrier is one in execution for everything, but it makes only the memory seen that it names.
				clean := newPending()
				if !device {
					clean.stored, clean.acquired = p.stored, p.acquired
				}
				*p = *clean
				for _, a := range ahead {
					p.after(a)
				}
				if s.insert {
					s.count++
				}
			}
			p.after(n)
			ahead = append(ahead, n)
		case Block:
			s.branch(n, p)
		case Leave:
			s.exits[len(s.exits)-1].merge(p)
		}
		out = append(out, n)
	}
	return out
}

// branch goes through a condition or loop. What a loop's end leaves pending is pending at its beginning.
func (s *syncer) branch(n *Node, p *pending) {
	before := p.copy()
	// What the end of the body leaves pending, found by walks that insert nothing. With more pending at its beginning barriers
	// move, and leave other things pending at its end: the walks go on until nothing is new.
	if n.Again {
		for known := -1; known < p.size(); {
			known = p.size()
			dry := &syncer{exits: []*pending{newPending()}}
			around := p.copy()
			dry.flow(n.Body, around)
			p.merge(around)
		}
		s.exits = append(s.exits, newPending())
	}
	other := before.copy()
	body := s.flow(n.Body, p)
	if n.Again {
		p.merge(s.exits[len(s.exits)-1])
		s.exits = s.exits[:len(s.exits)-1]
	}
	if n.Other != nil {
		rest := s.flow(n.Other, other)
		if s.insert {
			n.Other = rest
		}
	}
	if s.insert {
		n.Body = body
	}
	// The body may be left out: then what was pending before still is.
	if n.May || n.Other != nil {
		p.merge(other)
	}
}

// Measure finds where areas are in use: the order of touches, where a loop's end counts for all areas that the loop uses
// and that were opened before it.
func Measure(all []*Node) (areas []*Area) {
	seen := map[*Area]bool{}
	now := 0
	var walk func([]*Node)
	walk = func(list []*Node) {
		for _, n := range list {
			now++
			if n.Area != nil && (n.Kind == OpenArea || n.Kind == TouchMemory) {
				if !seen[n.Area] {
					seen[n.Area] = true
					n.Area.first = now
					areas = append(areas, n.Area)
				}
				n.Area.last = now
			}
			from := now
			walk(n.Body)
			walk(n.Other)
			// An area from outside of a loop is in use until the loop ends.
			if n.Again {
				for _, a := range areas {
					if a.first < from && a.last >= from {
						a.last = now
					}
				}
			}
		}
	}
	walk(all)
	sort.SliceStable(areas, func(i, j int) bool { return areas[i].first < areas[j].first })
	return areas
}
