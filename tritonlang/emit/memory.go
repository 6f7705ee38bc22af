// Loads and stores.
//
// A tensor of pointers is a scalar base and an offset for each element. Where it is proven that registers lie behind each
// other in memory, from an address that is a multiple of the whole, they are moved by one access of up to 16 bytes. A mask
// need not be known: if the masks of a vector are all true it is moved as one, otherwise element by element.
//
// An element that several threads hold is loaded by all of them and stored by one, its owner.
//
// A masked load of 4 floats at once becomes
//
//	if (mask[q * 4] && mask[q * 4 + 1] && mask[q * 4 + 2] && mask[q * 4 + 3]) {
//	    float4 t = *(device const float4 *)(x + offs[q * 4]);
//	    ...
//	} else {
//	    v[q * 4] = mask[q * 4] ? x[offs[q * 4]] : other[q * 4];
//	    ...
//	}
//
// If the mask is known to be the same for all 4, the condition is one of them, and the other branch loads nothing.

package emit

import (
	"strconv"
	"strings"

	"github.com/paddle-mps/paddle-mps/tritonlang/layout"
	"github.com/paddle-mps/paddle-mps/tritonlang/tree"
	"github.com/paddle-mps/paddle-mps/tritonlang/ttir"
)

// Rules of loads and stores.
func init() {
	rules["tt.load"] = (*emitter).load
	rules["tt.store"] = (*emitter).store
}

// place is a pointer to a register's element, as an array and a number in it.
func (e *emitter) place(p *value, l *tree.Node, i tree.RegisterNumber) (base, number string) {
	switch {
	case p.full:
		return e.element(p.regs, l, i), "0"
	case p.regs == nil:
		return p.scalar, "0"
	}
	return p.scalar, e.element(p.regs, l, i)
}

// fetched is what is loaded, as it is kept: bool is a byte in memory.
func fetched(t *ttir.Type, text string) string {
	if t.Element().Kind == ttir.Int && t.Element().Bits == 1 {
		return "(" + text + " != 0)"
	}
	if t.Element().Name == "f64" {
		return "f64_to_float(" + text + ")"
	}
	return text
}

// given is a register as it is stored.
func given(t *ttir.Type, text string) string {
	if t.Element().Kind == ttir.Int && t.Element().Bits == 1 {
		return "uchar(" + text + ")"
	}
	if t.Element().Name == "f64" {
		return "float_to_f64(" + text + ")"
	}
	return text
}

// load emits tt.load. An element whose mask is false is the other value, or zero bits.
func (e *emitter) load(o *ttir.Op) {
	v := o.Results[0]
	if v.Type.IsPointer() {
		refuse(o, v.Type.Element().String(), "pointers are kept in memory as integers; want a load of int64 and .to(tl.pointer_type(...))")
	}
	if !v.Type.IsTensor() {
		e.device(tree.Effect{Loads: true, Shared: true, Root: e.roots.Argument(o.Operands[0])})
		// All threads load a scalar. A mask that is false must keep them from the address.
		a := &target{elem: v.Type, reach: e.reach(o)}
		text := fetched(v.Type, a.cell(e.scalar(o.Operands[0]), "0", true))
		if len(o.Operands) > 1 {
			other := zero(v.Type)
			if len(o.Operands) > 2 {
				other = e.scalar(o.Operands[2])
			}
			text = e.scalar(o.Operands[1]) + " ? " + text + " : " + other
		}
		e.closeLoop()
		r := e.define(v.Name, cType(v.Type), 1, func(func(*tree.Registers) string) string { return text })
		e.set(v, layout.Layout{}, &value{scalar: r.Name})
		return
	}
	l := e.plan.HomeOf(v)
	a := e.accessOf(o, l, 1)
	// Several threads load the same elements: see effect.shared.
	lanes, warps := l.Replicated()
	e.device(tree.Effect{Loads: true, Shared: lanes != 0 || warps != 0, Root: a.root})
	if a.vec == 0 {
		e.done(v, &value{regs: e.loadEach(o, a, l)})
		return
	}
	e.done(v, &value{regs: e.loadVectors(o, a, l)})
}

// closeLoop makes sure that the next statement on scalars is not put before what has been loaded or stored already.
func (e *emitter) closeLoop() {
	if e.openLoop() != nil {
		e.add(&tree.Node{Kind: tree.TouchMemory})
	}
}

// zero is the value of an element that is masked off.
func zero(t *ttir.Type) string {
	if t.Element().Kind == ttir.Int && t.Element().Bits == 1 {
		return "false"
	}
	return cType(t.Element()) + "(0)"
}

// target is an access to memory: a pointer, a mask and other values in a layout, and how wide it may be.
type target struct {
	pointer *value
	// Nil: all.
	mask *tree.Registers
	// Of a load; nil: zero.
	other *tree.Registers
	// Of a store.
	value *tree.Registers
	// Bits.
	vec int
	// The mask is the same for all elements of a vector.
	steady bool
	root   string
	elem   *ttir.Type
	// What finds the memory behind an address of the CPU; nil for pointers of arguments.
	reach func(pointer string, bytes int) string
}

// cell is an element in memory: it may be loaded, and assigned unless it is only read.
func (a *target) cell(base, number string, reads bool) string {
	if a.reach == nil {
		return base + "[" + number + "]"
	}
	return a.through(memoryType(a.elem), a.elem.ByteSize(), base, number, reads)
}

// vectorCell is a vector of elements in memory.
func (a *target) vectorCell(base, number string, reads bool) string {
	t := vectorType(a.elem, a.vec)
	if a.reach == nil {
		return dereferenced(t, base+" + "+number, reads)
	}
	return a.through(t, a.elem.ByteSize()<<a.vec, base, number, reads)
}

// through is a place of a type and so many bytes behind an address of the CPU.
func (a *target) through(ctype string, bytes int, base, number string, reads bool) string {
	return dereferenced(ctype, a.reach(base+" + "+number, bytes), reads)
}

// dereferenced is what a pointer points to, as an element of a type.
func dereferenced(ctype, pointer string, reads bool) string {
	if reads {
		ctype = "const " + ctype
	}
	return "*(device " + ctype + " *)(" + pointer + ")"
}

// accessOf collects an access; mask is the number of the operand that is the mask.
func (e *emitter) accessOf(o *ttir.Op, l layout.Layout, mask int) *target {
	p := o.Operands[0]
	a := &target{pointer: e.get(p, l), root: e.roots.Argument(p), elem: p.Type.Element().Elem, reach: e.reach(o)}
	if len(o.Operands) > mask {
		a.mask = e.get(o.Operands[mask], l).regs
	}
	if mask == 1 && len(o.Operands) > 2 {
		a.other = e.get(o.Operands[2], l).regs
	}
	if mask == 2 {
		a.value = e.get(o.Operands[1], l).regs
	}
	a.vec = e.vector(p, l)
	if a.vec > 0 && a.mask != nil {
		d, _ := layout.DimOf(p.Type.Shape, l.Reg[0])
		a.steady = e.plan.Facts.Of(o.Operands[mask]).Equal[d] >= 1<<a.vec
	}
	// Pointers of their own, or one address for all: nothing lies behind the other.
	if a.pointer.full || a.pointer.regs == nil {
		a.vec = 0
	}
	e.stats.Accesses = append(e.stats.Accesses, o.Where()+" "+o.Name+": "+strconv.Itoa(a.elem.ByteSize()<<a.vec)+" bytes an access")
	return a
}

// vector is how many of a layout's first register bits go through memory by steps of one element, from an address that is
// a multiple of all of them; at most 16 bytes.
func (e *emitter) vector(p *ttir.Value, l layout.Layout) int {
	if len(l.Reg) == 0 {
		return 0
	}
	k, bytes := e.plan.Facts.Of(p), p.Type.Element().Elem.ByteSize()
	d, bit := layout.DimOf(p.Type.Shape, l.Reg[0])
	if bit != 0 {
		return 0
	}
	n := 0
	// The first register bits must be the lowest bits of the fastest dimension, in order.
	for n < len(l.Reg) && l.Reg[n] == l.Reg[0]+n && n < layout.Log(p.Type.Shape[d]) {
		if next := 2 << n; k.Contiguous[d] < next || k.Divisor[d] < next*bytes || next*bytes > 16 {
			break
		}
		n++
	}
	return n
}

// loadEach loads element by element.
func (e *emitter) loadEach(o *ttir.Op, a *target, l layout.Layout) *tree.Registers {
	v := o.Results[0]
	// A load must not stand in a loop that has stored before: its other elements would be loaded
	// behind the store.
	if n := e.openLoop(); n != nil && n.Effect.Stores {
		e.closeLoop()
	}
	r := e.define(v.Name, cType(v.Type.Element()), l.Registers(), func(read func(*tree.Registers) string) string {
		var base, number string
		switch {
		case a.pointer.full:
			base, number = read(a.pointer.regs), "0"
		case a.pointer.regs == nil:
			base, number = a.pointer.scalar, "0"
		default:
			base, number = a.pointer.scalar, read(a.pointer.regs)
		}
		text := fetched(v.Type, a.cell(base, number, true))
		if a.mask == nil {
			return text
		}
		other := zero(v.Type)
		if a.other != nil {
			other = read(a.other)
		}
		return read(a.mask) + " ? " + text + " : " + other
	})
	if r.Loop != nil {
		if r.Loop.Loaded == nil {
			r.Loop.Loaded = map[string]bool{}
		}
		r.Loop.Loaded[a.root] = true
	} else {
		e.closeLoop()
	}
	return r
}

// trips runs body for each vector of a thread's registers, or once without a loop.
func (e *emitter) trips(n, vec int, body func(i func(k int) tree.RegisterNumber)) {
	// A single vector has fixed register numbers.
	count := n >> vec
	if count == 1 {
		body(func(k int) tree.RegisterNumber { return tree.RegisterNumber{Shift: vec, Fixed: k} })
		return
	}
	e.block("for (ushort q = 0; q < "+strconv.Itoa(count)+"; q++)", false, false, func() {
		body(func(k int) tree.RegisterNumber { return tree.RegisterNumber{Name: "q", Shift: vec, Fixed: k} })
	})
}

// allSet is the condition that all masks of a vector are true; "" if there is no mask.
func (e *emitter) allSet(a *target, i func(int) tree.RegisterNumber) string {
	switch {
	case a.mask == nil:
		return ""
	case a.steady || a.mask.N == 1:
		// One mask stands for all.
		return e.element(a.mask, nil, i(0))
	}
	all := make([]string, 1<<a.vec)
	for k := range all {
		all[k] = e.element(a.mask, nil, i(k))
	}
	return strings.Join(all, " && ")
}

// loadVectors loads as many elements at once as one access takes. Where the mask may differ among them, a vector whose
// masks are not all true is loaded element by element.
func (e *emitter) loadVectors(o *ttir.Op, a *target, l layout.Layout) *tree.Registers {
	v := o.Results[0]
	r := e.array(v.Name, cType(v.Type.Element()), l.Registers())
	e.trips(l.Registers(), a.vec, func(i func(int) tree.RegisterNumber) {
		whole := func() {
			t := e.temp("t")
			base, number := e.place(a.pointer, nil, i(0))
			e.say(vectorType(a.elem, a.vec), " ", t, " = ", a.vectorCell(base, number, true), ";")
			for k := range 1 << a.vec {
				e.say(e.element(r, nil, i(k)), " = ", fetched(v.Type, component(a.elem, a.vec, t, k)), ";")
			}
		}
		c := e.allSet(a, i)
		if c == "" {
			whole()
			return
		}
		n := e.block("if ("+c+")", false, false, whole)
		// At the edge of what the mask allows, elements are loaded one by one.
		n.Other = []*tree.Node{}
		e.inside(&n.Other, func() {
			for k := range 1 << a.vec {
				other := zero(v.Type)
				if a.other != nil {
					other = e.element(a.other, nil, i(k))
				}
				if !a.steady {
					base, number := e.place(a.pointer, nil, i(k))
					other = e.element(a.mask, nil, i(k)) + " ? " + fetched(v.Type, a.cell(base, number, true)) + " : " + other
				}
				e.say(e.element(r, nil, i(k)), " = ", other, ";")
			}
		})
	})
	return r
}

// vectorType is the type of a vector of elements in memory.
func vectorType(t *ttir.Type, vec int) string {
	if n := 1 << vec; n <= 4 {
		return memoryType(t) + strconv.Itoa(n)
	}
	return "uint" + strconv.Itoa(t.ByteSize()<<vec/4)
}

const components = "xyzw"

// component is an element of a vector.
func component(t *ttir.Type, vec int, name string, k int) string {
	if vec <= 2 {
		return name + "." + components[k:k+1]
	}
	per := 4 / t.ByteSize()
	return "as_type<" + memoryType(t) + strconv.Itoa(per) + ">(" + name + "." + components[k/per:k/per+1] + ")." + components[k%per:k%per+1]
}

// assembled is a vector of elements.
func assembled(t *ttir.Type, vec int, all []string) string {
	if vec <= 2 {
		return vectorType(t, vec) + "(" + strings.Join(all, ", ") + ")"
	}
	per := 4 / t.ByteSize()
	var words []string
	for i := 0; i < len(all); i += per {
		words = append(words, "as_type<uint>("+memoryType(t)+strconv.Itoa(per)+"("+strings.Join(all[i:i+per], ", ")+"))")
	}
	return vectorType(t, vec) + "(" + strings.Join(words, ", ") + ")"
}

// owner is the condition that a thread is the one of several with the same elements that stores them; "" for all threads.
func owner(l layout.Layout) string {
	lanes, warps := l.Replicated()
	var all []string
	for _, one := range []struct {
		name    string
		mask, n int
	}{{"lane", lanes, layout.Lanes}, {"warp", warps, len(l.Warp)}} {
		switch {
		case one.mask == 0:
		case one.mask == 1<<one.n-1:
			all = append(all, one.name+" == 0")
		default:
			all = append(all, "("+one.name+" & "+strconv.Itoa(one.mask)+") == 0")
		}
	}
	return strings.Join(all, " && ")
}

// owned runs do in the threads that own their elements.
func (e *emitter) owned(l layout.Layout, do func()) {
	if c := owner(l); c != "" {
		e.block("if ("+c+")", true, false, do)
		return
	}
	do()
}

// store emits tt.store.
func (e *emitter) store(o *ttir.Op) {
	e.device(tree.Effect{Stores: true, Root: e.roots.Argument(o.Operands[0])})
	if !o.Operands[0].Type.IsTensor() {
		c := "lane == 0 && warp == 0"
		if len(o.Operands) > 2 {
			c += " && " + e.scalar(o.Operands[2])
		}
		a := &target{elem: o.Operands[1].Type, reach: e.reach(o)}
		e.add(&tree.Node{Kind: tree.Block, Text: "if (" + c + ")", May: true, Body: []*tree.Node{
			{Kind: tree.Statement, Text: a.cell(e.scalar(o.Operands[0]), "0", false) + " = " + given(o.Operands[1].Type, e.scalar(o.Operands[1])) + ";"},
		}})
		return
	}
	l := e.plan.AccessLayout(o)
	a := e.accessOf(o, l, 2)
	if a.vec == 0 {
		e.storeEach(a, l)
		return
	}
	e.owned(l, func() {
		e.trips(l.Registers(), a.vec, func(i func(int) tree.RegisterNumber) { e.storeVector(a, i) })
	})
}

// storeEach stores element by element: in the loop that computes the elements, if nothing that it loads may be what is
// stored, or in one of its own.
func (e *emitter) storeEach(a *target, l layout.Layout) {
	loop := e.openLoop()
	// The store joins the loop only if each iteration may store before the next one loads, and has computed what it stores.
	if a.early(loop) || owner(l) != "" || l.Registers() == 1 || loop == nil || loop.Trips != l.Registers() || loads(loop, a.root) {
		e.owned(l, func() {
			e.whole(l.Registers(), func(i tree.RegisterNumber) string { return e.storeOne(a, nil, i) })
		})
		return
	}
	loop.Effect.Stores = true
	loop.Body = append(loop.Body, &tree.Node{Kind: tree.Statement, Text: e.storeOne(a, loop, tree.RegisterNumber{Name: "r"}), Where: e.where})
}

// loads reports whether a loop over registers loads from what may be an argument; "" stands for any.
func loads(n *tree.Node, root string) bool {
	return n.Loaded[root] || n.Loaded[""] || root == "" && n.Loaded != nil
}

// early reports whether a loop computes a register of an access in another iteration than the one that uses it.
func (a *target) early(loop *tree.Node) bool {
	for _, r := range []*tree.Registers{a.pointer.regs, a.mask, a.value} {
		if r != nil && crosses(r, loop, tree.RegisterNumber{Name: "r"}) {
			return true
		}
	}
	return false
}

// storeOne is the statement that stores an element.
func (e *emitter) storeOne(a *target, l *tree.Node, i tree.RegisterNumber) string {
	base, number := e.place(a.pointer, l, i)
	text := a.cell(base, number, false) + " = " + given(a.elem, e.element(a.value, l, i)) + ";"
	if a.mask != nil {
		text = "if (" + e.element(a.mask, l, i) + ") " + text
	}
	return text
}

// storeVector stores a vector at once if all its masks are true.
func (e *emitter) storeVector(a *target, i func(int) tree.RegisterNumber) {
	whole := func() {
		base, number := e.place(a.pointer, nil, i(0))
		all := make([]string, 1<<a.vec)
		for k := range all {
			all[k] = given(a.elem, e.element(a.value, nil, i(k)))
		}
		e.say(a.vectorCell(base, number, false), " = ", assembled(a.elem, a.vec, all), ";")
	}
	c := e.allSet(a, i)
	if c == "" {
		whole()
		return
	}
	n := e.block("if ("+c+")", true, false, whole)
	// All masks are false then.
	if a.steady {
		return
	}
	n.Other = []*tree.Node{}
	e.inside(&n.Other, func() {
		for k := range 1 << a.vec {
			e.say(e.storeOne(a, nil, i(k)))
		}
	})
}

// device notes an access to device memory: in front of an open loop, or, for a store to what the loop loads, behind it.
func (e *emitter) device(f tree.Effect) {
	n := &tree.Node{Kind: tree.TouchMemory, Effect: f}
	if l := e.openLoop(); l != nil && f.Stores && loads(l, f.Root) {
		e.add(n)
		return
	}
	e.before(n)
}
