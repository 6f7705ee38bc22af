// Which layout each tensor is held in. Tensors that are combined element by element should have one layout, so they are
// joined to groups, and a layout is chosen for a group as a whole.
//
// Groups with products come first, then larger ones, because a smaller tensor that is broadcast to a larger one, or reduced
// from it, can take that one's layout without its missing dimension, and nothing has to move.

package plan

import (
	"slices"
	"sort"

	"github.com/paddle-mps/paddle-mps/tritonlang/layout"
	"github.com/paddle-mps/paddle-mps/tritonlang/ttir"
)

// groups are sets of tensors that are best held in one layout, because an operation computes some from others element by
// element, or a loop or condition makes one out of the other. Each group's layout is chosen once: by its products, else by
// the larger tensor that it is broadcast to or reduced from, else by its accesses to memory.
type groups struct {
	p      *Plan
	parent map[*ttir.Value]*ttir.Value
	// By root.
	of map[*ttir.Value]*group
}

// group is what a set's layout is chosen by.
type group struct {
	root *ttir.Value
	bits int
	// Of the root.
	shape   []int
	product *ttir.Op
	scan    *ttir.Op
	access  []access
	// Layouts that would cost nothing.
	derive []func() (layout.Layout, bool)
	// Among those to choose for.
	listed bool
	chosen bool
	layout layout.Layout
}

// access is what suits an access to memory: bits in the order of addresses, and how many of them make a vector. Of rows of
// 64 float16 that follow each other, the order is that of the element's number, and the vector is 8 elements: 3 bits.
type access struct {
	order []int
	vec   int
}

// makeGroups joins tensors to groups and chooses a layout for each.
func makeGroups(p *Plan, f *ttir.Func) *groups {
	g := &groups{p: p, parent: map[*ttir.Value]*ttir.Value{}, of: map[*ttir.Value]*group{}}
	f.Body.Walk(g.join)
	f.Body.Walk(g.collect)
	all := make([]*group, 0, len(g.of))
	f.Body.Walk(func(o *ttir.Op) {
		for _, v := range o.Results {
			if v.Type.IsTensor() {
				if one := g.group(v); !one.listed {
					one.listed = true
					all = append(all, one)
				}
			}
		}
	})
	// Chosen layouts are what later groups derive theirs from.
	sort.SliceStable(all, func(i, j int) bool { return all[i].rank() > all[j].rank() })
	for _, one := range all {
		g.choose(one)
	}
	return g
}

// rank orders groups: those with a product first, then larger ones.
func (g *group) rank() int {
	n := g.bits
	if g.product != nil {
		n += 100
	}
	return n
}

// root is the value that stands for a set. The path to it is made short.
func (g *groups) root(v *ttir.Value) *ttir.Value {
	top := v
	for g.parent[top] != nil {
		top = g.parent[top]
	}
	for v != top {
		v, g.parent[v] = g.parent[v], top
	}
	return top
}

// union joins the sets of two tensors, unless one is cheap.
func (g *groups) union(a, b *ttir.Value) {
	if !a.Type.IsTensor() || !b.Type.IsTensor() || g.p.Cheap[a] || g.p.Cheap[b] || a.Type.Count() != b.Type.Count() {
		return
	}
	if a, b = g.root(a), g.root(b); a != b {
		g.parent[b] = a
	}
}

// group is the group of a tensor.
func (g *groups) group(v *ttir.Value) *group {
	v = g.root(v)
	if g.of[v] == nil {
		g.of[v] = &group{root: v, bits: layout.Log(v.Type.Count()), shape: v.Type.Shape}
	}
	return g.of[v]
}

// join unites the tensors that an operation binds together.
func (g *groups) join(o *ttir.Op) {
	pairs := func(a, b []*ttir.Value) {
		for i := range min(len(a), len(b)) {
			g.union(a[i], b[i])
		}
	}
	switch o.Name {
	case "scf.for":
		b := o.Regions[0].Blocks[0]
		pairs(b.Args[1:], o.Operands[3:])
		pairs(b.Args[1:], o.Results)
		pairs(b.Args[1:], b.Terminator().Operands)
	case "scf.if":
		for _, r := range o.Regions {
			pairs(o.Results, r.Blocks[0].Terminator().Operands)
		}
	case "scf.while":
		before, after := o.Regions[0].Blocks[0], o.Regions[1].Blocks[0]
		pairs(before.Args, o.Operands)
		pairs(before.Args, after.Terminator().Operands)
		pairs(after.Args, before.Terminator().Operands[1:])
		pairs(after.Args, o.Results)
	case "cf.br", "cf.cond_br":
		for _, s := range o.Succs {
			pairs(s.To.Args, s.Args)
		}
	case ttir.Inlined:
		pairs(o.Regions[0].Blocks[0].Args, o.Operands)
		for _, b := range o.Regions[0].Blocks {
			if end := b.Terminator(); end.Name == "tt.return" {
				pairs(o.Results, end.Operands)
			}
		}
	case "tt.reduce", "tt.broadcast", "tt.trans", "tt.join", "tt.split", "tt.cat", "tt.gather", "tt.histogram":
	// These have operands of other sizes, or in another order.
	case "tt.dot":
		// Factors are not united with the product: they go through threadgroup memory.
		g.union(o.Results[0], o.Operands[2])
	default:
		g.elements(o)
	}
}

// elements unites the operands and results of an operation on elements.
func (g *groups) elements(o *ttir.Op) {
	if len(o.Regions) > 0 && o.Name != "tt.scan" && o.Name != "tt.map_elementwise" {
		return
	}
	var first *ttir.Value
	// What is cheap follows any layout, and would tie together tensors that have nothing else in
	// common.
	for _, v := range slices.Concat(o.Results, o.Operands) {
		if !v.Type.IsTensor() || g.p.Cheap[v] {
			continue
		}
		if first != nil {
			g.union(first, v)
		} else {
			first = v
		}
	}
}

// collect notes what the layouts of groups are chosen by.
func (g *groups) collect(o *ttir.Op) {
	switch o.Name {
	case "tt.dot":
		g.group(o.Results[0]).product = o
	case "tt.scan":
		g.group(o.Results[0]).scan = o
	case "tt.load", "tt.store", "tt.atomic_rmw", "tt.atomic_cas":
		if o.Operands[0].Type.IsTensor() {
			v := o.Operands[0]
			// The pointer is often cheap; what is loaded or stored is in the group then.
			for _, other := range slices.Concat(o.Results, o.Operands[1:]) {
				if other.Type.IsTensor() && !g.p.Cheap[other] {
					v = other
					break
				}
			}
			one := g.group(v)
			one.access = append(one.access, g.suits(o.Operands[0]))
		}
	case "tt.reduce":
		from, axis := o.Operands[0], o.Int("axis", 0)
		for _, v := range o.Results {
			if v.Type.IsTensor() {
				g.derive(v, from, func(l layout.Layout) layout.Layout { return Reduced(l, from.Type.Shape, axis) })
			}
		}
	case "tt.broadcast":
		g.derive(o.Operands[0], o.Results[0], func(l layout.Layout) layout.Layout { return OperandLayout(o, 0, l) })
	case "tt.join", "tt.cat":
		for _, v := range o.Operands {
			g.derive(v, o.Results[0], func(l layout.Layout) layout.Layout { return OperandLayout(o, 0, l) })
		}
		if o.Name == "tt.join" {
			g.derive(o.Results[0], o.Operands[0], WithMinor)
		}
	case "tt.split":
		for _, v := range o.Results {
			g.derive(v, o.Operands[0], func(l layout.Layout) layout.Layout { return WithoutBit(l, 0) })
		}
		g.derive(o.Operands[0], o.Results[0], WithMinor)
	case "tt.trans":
		order, _ := o.Attr("order")
		to := make([]int, len(order.Ints))
		for i, d := range order.Ints {
			to[i] = int(d)
		}
		g.derive(o.Results[0], o.Operands[0], func(l layout.Layout) layout.Layout { return l.Transpose(o.Operands[0].Type.Shape, to) })
		g.derive(o.Operands[0], o.Results[0], func(l layout.Layout) layout.Layout { return OperandLayout(o, 0, l) })
	}
}

// derive notes that a layout of one tensor follows from that of another without an exchange.
func (g *groups) derive(v, from *ttir.Value, f func(layout.Layout) layout.Layout) {
	if g.p.Cheap[v] || g.p.Cheap[from] {
		return
	}
	one := g.group(v)
	one.derive = append(one.derive, func() (layout.Layout, bool) {
		other := g.group(from)
		if !other.chosen || other == one {
			return layout.Layout{}, false
		}
		return f(other.layout), true
	})
}

// Reduced is the layout of a reduction's result from that of its operand.
func Reduced(l layout.Layout, shape []int, axis int) layout.Layout {
	first := layout.Dims(shape)
	low, n := first[axis], layout.Log(shape[axis])
	return l.Map(func(bit int) int {
		switch {
		case bit < low:
			return bit
		case bit < low+n:
			return layout.None
		}
		return bit - n
	})
}

// suits says in which order a tensor of pointers goes through memory, and how many elements one access can take.
func (g *groups) suits(v *ttir.Value) access {
	k := g.p.Facts.Of(v)
	// The dimension with the longest runs is the fastest in memory; where nothing is known, the last
	// one.
	dims := make([]int, len(v.Type.Shape))
	for i := range dims {
		dims[i] = len(dims) - 1 - i
	}
	sort.SliceStable(dims, func(i, j int) bool { return k.Contiguous[dims[i]] > k.Contiguous[dims[j]] })
	bytes := v.Type.Element().Elem.ByteSize()
	// A vector is no longer than a run, its address a multiple of it, and it has 16 bytes at most.
	n := min(k.Contiguous[dims[0]], max(1, k.Divisor[dims[0]]/bytes), 16/bytes, v.Type.Shape[dims[0]])
	return access{layout.Order(v.Type.Shape, dims), layout.Log(n)}
}

// layoutOf is the layout of a tensor's group.
func (g *groups) layoutOf(v *ttir.Value) layout.Layout {
	one := g.group(v)
	if g.p.Cheap[v] {
		return g.blocked(one, g.suitsAny(v))
	}
	g.choose(one)
	return one.layout
}

// suitsAny is what suits a cheap tensor, by its pointers or its shape.
func (g *groups) suitsAny(v *ttir.Value) access {
	if v.Type.IsPointer() {
		return g.suits(v)
	}
	dims := make([]int, len(v.Type.Shape))
	for i := range dims {
		dims[i] = len(dims) - 1 - i
	}
	return access{layout.Order(v.Type.Shape, dims), 2}
}

// choose decides the layout of a group, once.
func (g *groups) choose(one *group) {
	if one.chosen {
		return
	}
	one.layout = g.pick(one)
	one.chosen = true
}

// pick chooses a group's layout by the first of these that it has: a product, a scan, a layout that another group's
// gives without an exchange, accesses to memory, the shape.
func (g *groups) pick(one *group) layout.Layout {
	if one.product != nil {
		return productLayout(one.product.Results[0].Type.Shape, g.p.Warps)
	}
	if one.scan != nil {
		return ScanLayout(one.scan.Operands[0].Type.Shape, one.scan.Int("axis", 0), g.p.Warps)
	}
	for _, f := range one.derive {
		if l, ok := f(); ok {
			return l
		}
	}
	// The widest access decides: others are cut into accesses of their own width.
	best := g.suitsAny(one.root)
	if len(one.access) > 0 {
		best = one.access[0]
		for _, a := range one.access[1:] {
			if a.vec > best.vec {
				best = a
			}
		}
	}
	return g.blocked(one, best)
}

// blocked is the layout that suits an access: vectors first, unless threads would be without work then.
func (g *groups) blocked(one *group, a access) layout.Layout {
	return layout.Chunks(a.order, min(a.vec, max(0, one.bits-layout.Lanes-g.p.Warps)), g.p.Warps)
}
