package emit

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

// area is a part of the pool, in use from the first touch to the last.
type area struct {
	name, ctype   string
	bytes, offset int
	// Touches.
	first, last int
}

// effect is what a touch does.
type effect struct {
	// Of the area.
	reads, writes bool
	// device memory
	// Writes it.
	stores bool
	// Reads it.
	loads bool
	// What was written before is to be seen by other programs.
	release bool
	// What is read later is what other programs have released.
	acquire bool
	// Several threads load the same elements, of which one stores what is made of them.
	shared bool
	// The argument that the pointer comes from; "" if unknown.
	root string
	// The program's own barrier.
	everyone bool
}

// mostThreadgroup is how much threadgroup memory every GPU from family Apple7 on has.
const mostThreadgroup = 32 << 10

// softPool is how much the pool may grow only to save barriers.
const softPool = 4 << 10

// lay gives areas their places, and answers the size of the pool.
func lay(areas []*area) (int, error) {
	size, before := 0, 0
	for i, a := range areas {
		// Behind the area before, if that keeps the pool small.
		soft := before + a.bytes
		var live []*area
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
		before = a.offset + a.bytes
		size = max(size, before)
	}
	if size > mostThreadgroup {
		return 0, &ttir.OutOfResources{Name: "shared memory", Required: size, Limit: mostThreadgroup}
	}
	return size, nil
}

// place puts an area somewhere, unless areas that are in use lie there.
func place(a *area, at int, live []*area) bool {
	for _, b := range live {
		if at < b.offset+b.bytes && b.offset < at+a.bytes {
			return false
		}
	}
	a.offset = at
	return true
}

// pending is what has happened since the last barrier.
type pending struct {
	reads, writes map[*area]bool
	// Roots from which several threads have loaded the same elements.
	shared map[string]bool
	// Device memory was written.
	stored bool
	// An atomic operation may have taken a lock.
	acquired bool
}

// newPending is the state behind a barrier: nothing is pending.
func newPending() *pending {
	return &pending{reads: map[*area]bool{}, writes: map[*area]bool{}, shared: map[string]bool{}}
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
func overlaps(all map[*area]bool, a *area) bool {
	for b := range all {
		if a.offset < b.offset+b.bytes && b.offset < a.offset+a.bytes {
			return true
		}
	}
	return false
}

// needs is the memory that a barrier before an effect must order: bits of mem_threadgroup and mem_device.
func (p *pending) needs(n *node) (pool, device bool) {
	e := n.effect
	if n.area != nil {
		pool = e.reads && overlaps(p.writes, n.area) || e.writes && (overlaps(p.reads, n.area) || overlaps(p.writes, n.area))
	}
	// A lock that is released shows what was stored under it; a lock that was taken is asked before
	// what it guards.
	device = e.release && p.stored || (e.loads || e.stores) && p.acquired
	// Another thread may still have to load what is stored here.
	if e.stores && len(p.shared) > 0 && (e.root == "" || p.shared[e.root] || p.shared[""]) {
		device = true
	}
	if e.everyone {
		return true, true
	}
	return pool, device
}

// after notes an effect.
func (p *pending) after(n *node) {
	e := n.effect
	if e.reads {
		p.reads[n.area] = true
	}
	if e.writes {
		p.writes[n.area] = true
	}
	if e.shared {
		p.shared[e.root] = true
	}
	p.stored = p.stored || e.stores
	p.acquired = p.acquired || e.acquire
}

// synchronize adds the barriers that are needed; it answers the tree with them, and counts them.
func synchronize(all []*node) (out []*node, count int) {
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
func (s *syncer) flow(all []*node, p *pending) (out []*node) {
	// Touches since the last statement: what they stand for is still to come, behind a barrier that a later one asks for.
	var ahead []*node
	for _, n := range all {
		if n.kind != touch && n.kind != open {
			ahead = nil
		}
		switch n.kind {
		case touch:
			pool, device := p.needs(n)
			if pool || device {
				// A barrier orders what all threads have done before it, whatever memory it names; naming it makes that seen.
				flags := "mem_flags::mem_threadgroup"
				if device {
					flags = "mem_flags::mem_device | mem_flags::mem_threadgroup"
				}
				out = append(out, &node{kind: barrier, text: flags, where: n.where})
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
		case block:
			s.branch(n, p)
		case leave:
			s.exits[len(s.exits)-1].merge(p)
		}
		out = append(out, n)
	}
	return out
}

// branch goes through a condition or loop. What a loop's end leaves pending is pending at its beginning.
func (s *syncer) branch(n *node, p *pending) {
	before := p.copy()
	// What the end of the body leaves pending, found by walks that insert nothing. With more pending at its beginning barriers
	// move, and leave other things pending at its end: the walks go on until nothing is new.
	if n.again {
		for known := -1; known < p.size(); {
			known = p.size()
			dry := &syncer{exits: []*pending{newPending()}}
			around := p.copy()
			dry.flow(n.body, around)
			p.merge(around)
		}
		s.exits = append(s.exits, newPending())
	}
	other := before.copy()
	body := s.flow(n.body, p)
	if n.again {
		p.merge(s.exits[len(s.exits)-1])
		s.exits = s.exits[:len(s.exits)-1]
	}
	if n.other != nil {
		rest := s.flow(n.other, other)
		if s.insert {
			n.other = rest
		}
	}
	if s.insert {
		n.body = body
	}
	// The body may be left out: then what was pending before still is.
	if n.may || n.other != nil {
		p.merge(other)
	}
}

// measure finds where areas are in use: the order of touches, where a loop's end counts for all areas that the loop uses
// and that were opened before it.
func measure(all []*node) (areas []*area) {
	seen := map[*area]bool{}
	now := 0
	var walk func([]*node)
	walk = func(list []*node) {
		for _, n := range list {
			now++
			if n.area != nil && (n.kind == open || n.kind == touch) {
				if !seen[n.area] {
					seen[n.area] = true
					n.area.first = now
					areas = append(areas, n.area)
				}
				n.area.last = now
			}
			from := now
			walk(n.body)
			walk(n.other)
			// An area from outside of a loop is in use until the loop ends.
			if n.again {
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
