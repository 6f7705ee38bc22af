// Reductions, with any region and any number of operands.
//
// The region becomes a function that combines one set of values into another. It is called for a thread's own elements,
// then for those of other lanes, whose numbers differ in one bit, then for those of other SIMD groups. Bits that lie off the
// axis play no part, so one description fits reductions of all axes in all layouts.
//
// The maximum of 1,024 floats in 4 SIMD groups becomes
//
//	float m = x[0];
//	for (ushort k = 1; k < 8; k++) combine1(m, x[k]);          // registers
//	float o2 = simd_shuffle_xor(m, ushort(1));                 // lanes: 1, 2, 4, 8, 16
//	combine1(m, o2);
//	...
//	if (lane == 0) shared[warp] = m;                           // SIMD groups
//	threadgroup_barrier(mem_flags::mem_threadgroup);
//	m = shared[0];
//	for (ushort k = 1; k < 4; k++) combine1(m, shared[k]);
//
// where combine1 is what the region says. After each step all threads that took part hold the same value, which is what
// the rest of the kernel relies on: no thread has to be told the result.

package emit

import (
	"strings"

	"github.com/paddle-mps/paddle-mps/tritonlang/layout"
	"github.com/paddle-mps/paddle-mps/tritonlang/plan"
	"github.com/paddle-mps/paddle-mps/tritonlang/tree"
	"github.com/paddle-mps/paddle-mps/tritonlang/ttir"
)

// A reduction wants its operands in one layout, that of the first which has a home.
func init() {
	rules["tt.reduce"] = (*emitter).reduce
	plan.WantRules["tt.reduce"] = func(p *plan.Plan, o *ttir.Op) {
		if unused(p, o) {
			return
		}
		l := operandsLayout(p, o)
		for _, v := range o.Operands {
			p.Want(v, l)
		}
	}
}

// unused reports whether no result of an operation is wanted.
func unused(p *plan.Plan, o *ttir.Op) bool {
	for _, v := range o.Results {
		if !v.Type.IsTensor() || len(p.Wanted[v]) > 0 {
			return false
		}
	}
	return true
}

// operandsLayout is the layout of operands that must have one: the home of the first that has a home.
func operandsLayout(p *plan.Plan, o *ttir.Op) layout.Layout {
	for _, v := range o.Operands {
		if !p.Cheap[v] {
			return p.HomeOf(v)
		}
	}
	return p.HomeOf(o.Operands[0])
}

// reduce emits tt.reduce: first each thread reduces its own elements, then lanes exchange by shuffles, then SIMD groups
// through threadgroup memory. All threads that hold an element of the result end with the same value.
func (e *emitter) reduce(o *ttir.Op) {
	if unused(e.plan, o) {
		return
	}
	from := operandsLayout(e.plan, o)
	r := e.reducer(o, from)
	accs := r.registers()
	r.lanes(accs)
	r.warps(accs)
	for i, v := range o.Results {
		if !v.Type.IsTensor() {
			e.set(v, layout.Layout{}, &value{scalar: accs[i].Name})
			continue
		}
		home := e.plan.HomeOf(v)
		x := e.convert(v, &value{regs: accs[i]}, r.to, home)
		e.done(v, x)
	}
}

// reducer is a reduction while it is emitted.
type reducer struct {
	e        *emitter
	o        *ttir.Op
	from, to layout.Layout
	// Bits of the axis.
	low, n int
	f      *combiner
}

// reducer begins a reduction of operands in a layout.
func (e *emitter) reducer(o *ttir.Op, from layout.Layout) *reducer {
	axis, shape := o.Int("axis", 0), o.Operands[0].Type.Shape
	return &reducer{
		e: e, o: o, from: from, to: plan.Reduced(from, shape, axis),
		low: layout.Dims(shape)[axis], n: layout.Log(shape[axis]), f: e.combiner(o),
	}
}

// onAxis reports whether a bit of the element's number lies on the axis that is reduced.
func (r *reducer) onAxis(bit int) bool { return bit >= r.low && bit < r.low+r.n }

// registers reduces what a thread has itself.
func (r *reducer) registers() (accs []*tree.Registers) {
	e := r.e
	// Register bits off the axis number the results, those on it what is combined.
	var kept, gone []int
	for i, b := range r.from.Reg {
		if r.onAxis(b) {
			gone = append(gone, i)
		} else {
			kept = append(kept, i)
		}
	}
	n, k := 1<<len(kept), 1<<len(gone)
	xs := make([]*tree.Registers, len(r.o.Operands))
	for i, v := range r.o.Operands {
		x := e.get(v, r.from)
		xs[i] = x.regs
		accs = append(accs, e.array(nameOf(r.o.Results[i]), cType(v.Type.Element()), n))
	}
	element := func(x *tree.Registers, i, j string) string {
		var terms []string
		if i != "" {
			terms = tree.Scatter(i, through(x.Index, kept))
		}
		if j != "" {
			terms = append(terms, tree.Scatter(j, through(x.Index, gone))...)
		}
		return e.cell(x, terms...)
	}
	each := func(i tree.RegisterNumber) {
		for m, x := range xs {
			e.say(e.element(accs[m], nil, i), " = ", element(x, i.Name, ""), ";")
		}
		if k == 1 {
			return
		}
		e.block("for (ushort k = 1; k < "+itoa(k)+"; k++)", false, false, func() {
			args := r.f.targets(e, accs, i)
			for _, x := range xs {
				args = append(args, element(x, i.Name, "k"))
			}
			e.say(r.f.call(args), ";")
		})
	}
	if n == 1 {
		each(tree.RegisterNumber{})
	} else {
		e.block("for (ushort r = 0; r < "+itoa(n)+"; r++)", false, false, func() { each(tree.RegisterNumber{Name: "r"}) })
	}
	return accs
}

// nameOf is a value's name, for those that the text has not named.
func nameOf(v *ttir.Value) string {
	if v.Name == "" {
		return "%result"
	}
	return v.Name
}

// lanes reduces over the lanes of a SIMD group.
func (r *reducer) lanes(accs []*tree.Registers) {
	for bit, b := range r.from.Lane {
		if !r.onAxis(b) {
			continue
		}
		r.each(accs[0].N, func(i tree.RegisterNumber) {
			e := r.e
			var others []string
			for _, a := range accs {
				t := e.temp("o")
				e.say(a.CType, " ", t, " = ", shuffled(a.CType, e.element(a, nil, i), itoa(1<<bit)), ";")
				others = append(others, t)
			}
			// The lane whose bit is 0 stands first. Both lanes of a pair then compute the same, to the bit.
			if !r.f.commutes {
				e.block("if ((lane & "+itoa(1<<bit)+") != 0)", false, false, func() {
					for m, a := range accs {
						t := e.temp("t")
						e.say(a.CType, " ", t, " = ", e.element(a, nil, i), ";")
						e.say(e.element(a, nil, i), " = ", others[m], ";")
						e.say(others[m], " = ", t, ";")
					}
				})
			}
			e.say(r.f.call(append(r.f.targets(e, accs, i), others...)), ";")
		})
	}
}

// each runs body for each register, in a loop or, for one register, in a block of its own.
func (r *reducer) each(n int, body func(tree.RegisterNumber)) {
	if n == 1 {
		r.e.block("", false, false, func() { body(tree.RegisterNumber{}) })
		return
	}
	r.e.block("for (ushort r = 0; r < "+itoa(n)+"; r++)", false, false, func() { body(tree.RegisterNumber{Name: "r"}) })
}

// warps reduces over SIMD groups: each writes what it has, and all read all.
func (r *reducer) warps(accs []*tree.Registers) {
	e := r.e
	// Each SIMD group along the axis has a slot for each result.
	width := 0
	slot := make([]int, len(r.from.Warp))
	for i, b := range r.from.Warp {
		if slot[i] = layout.None; r.onAxis(b) {
			slot[i] = width
			width++
		}
	}
	if width == 0 {
		return
	}
	// Slots of one result follow each other, so that bits of the result's number move up by those of the slot.
	up := func(part []int) []int {
		out := make([]int, len(part))
		for i, b := range part {
			if out[i] = layout.None; b != layout.None {
				out[i] = b + width
			}
		}
		return out
	}
	base := func(i tree.RegisterNumber) []string {
		terms := tree.Scatter("lane", up(r.to.Lane))
		terms = append(terms, tree.Scatter("warp", up(r.to.Warp))...)
		if i.Name != "" {
			terms = append(terms, tree.Scatter(i.Name, up(r.to.Reg))...)
		}
		return terms
	}
	var areas []*tree.Area
	for _, a := range accs {
		memory, bytes := sharedType(a.CType)
		areas = append(areas, e.area(memory, bytes, 1<<(r.to.Bits()+width)))
	}
	// Lanes along the axis hold the same by now; SIMD groups do not, and each writes its own slot.
	writer := r.to
	writer.Warp = append([]int{}, r.from.Warp...)
	for i, a := range accs {
		e.writes(areas[i])
		e.owned(layout.Layout{Lane: writer.Lane, Warp: writer.Warp}, func() {
			e.whole(a.N, func(k tree.RegisterNumber) string {
				return areas[i].Name + "[" + tree.Sum(append(base(k), tree.Scatter("warp", slot)...), 0) + "] = " + toShared(a.CType, e.element(a, nil, k)) + ";"
			})
		})
	}
	for _, a := range areas {
		e.reads(a)
	}
	r.each(accs[0].N, func(i tree.RegisterNumber) {
		for m, a := range accs {
			e.say(e.element(a, nil, i), " = ", fromShared(a.CType, areas[m].Name+"["+tree.Sum(base(i), 0)+"]"), ";")
		}
		e.block("for (ushort k = 1; k < "+itoa(1<<width)+"; k++)", false, false, func() {
			args := r.f.targets(e, accs, i)
			for m, a := range accs {
				args = append(args, fromShared(a.CType, areas[m].Name+"["+tree.Sum(append(base(i), "k"), 0)+"]"))
			}
			e.say(r.f.call(args), ";")
		})
	})
}

// combiner is the function that a region of a reduction or scan became. Of a region with n results, the function has 2n
// parameters: n references that are combined into, and n values that are combined with them.
type combiner struct {
	name string
	// Values of the kernel that the region uses.
	extra    []string
	commutes bool
}

// targets are the first arguments: what is combined into.
func (c *combiner) targets(e *emitter, accs []*tree.Registers, i tree.RegisterNumber) (args []string) {
	for _, a := range accs {
		args = append(args, e.element(a, nil, i))
	}
	return args
}

// call is the text of a call, with the values of the kernel that the region uses behind the other arguments.
func (c *combiner) call(args []string) string {
	return c.name + "(" + strings.Join(append(args, c.extra...), ", ") + ")"
}

// symmetric are operations whose result does not depend on the order of operands.
var symmetric = map[string]bool{
	"arith.addi": true, "arith.addf": true, "arith.muli": true, "arith.mulf": true, "arith.andi": true, "arith.ori": true, "arith.xori": true,
	"arith.maxsi": true, "arith.minsi": true, "arith.maxui": true, "arith.minui": true, "arith.maxnumf": true, "arith.minnumf": true,
	"arith.maximumf": true, "arith.minimumf": true,
}

// combiner makes a function of a region: its first arguments are combined with the others, and hold the result.
func (e *emitter) combiner(o *ttir.Op) *combiner {
	if len(o.Regions) != 1 || len(o.Regions[0].Blocks) != 1 {
		refuse(o, "", "a region with several blocks is not supported")
	}
	b := o.Regions[0].Blocks[0]
	// One operation whose operands may be swapped, and its terminator. Only then may pairs of lanes combine in either order.
	c := &combiner{name: e.temp("combine"), commutes: len(b.Ops) == 2 && symmetric[b.Ops[0].Name]}
	var params []string
	n := len(b.Args) / 2
	for i, v := range b.Args {
		text := e.parameter(v)
		if i < n {
			text = "thread " + cType(v.Type) + " &" + e.scalar(v)
		}
		params = append(params, text)
	}
	captured, extra := e.captures(o.Regions[0])
	c.extra = extra
	e.function(c.name, append(params, captured...), func() { e.combined(b) })
	return c
}

// parameter declares an argument of a region as a parameter of a function.
func (e *emitter) parameter(v *ttir.Value) string {
	name := e.name(v.Name)
	e.set(v, layout.Layout{}, &value{scalar: name})
	return cType(v.Type) + " " + name
}

// combined emits a region without branches, and gives its first arguments what it returns. All results are computed
// before one is assigned.
func (e *emitter) combined(b *ttir.Block) {
	e.ops(b)
	var results []string
	for _, v := range b.Terminator().Operands {
		s := e.scalar(v)
		if len(b.Args) > 2 {
			t := e.temp("t")
			e.say(cType(v.Type), " ", t, " = ", s, ";")
			s = t
		}
		results = append(results, s)
	}
	for i, t := range results {
		e.say(e.scalar(b.Args[i]), " = ", t, ";")
	}
}

// captures are scalars of the kernel that a region uses: parameters of its function, and arguments of a call. Literals
// are not among them, since they stand in the function as they do in the kernel.
func (e *emitter) captures(r *ttir.Region) (params, args []string) {
	seen := map[*ttir.Value]bool{}
	for _, b := range r.Blocks {
		for _, v := range b.Args {
			seen[v] = true
		}
	}
	r.Walk(func(o *ttir.Op) {
		for _, v := range o.Results {
			seen[v] = true
		}
		for _, v := range o.Operands {
			if s := e.scalarIfAny(v); !seen[v] && s != "" && !isLiteral(s) {
				seen[v] = true
				args = append(args, s)
				params = append(params, cType(v.Type)+" "+s)
			}
		}
	})
	return params, args
}

// function writes a function in front of the kernel, whose statements body emits.
func (e *emitter) function(name string, params []string, body func()) {
	var list []*tree.Node
	where, outer := e.where, e.inFunction
	e.inFunction = true
	e.inside(&list, body)
	e.where, e.inFunction = where, outer
	w := &tree.Writer{}
	w.Line("inline void "+name+"("+strings.Join(params, ", ")+") {", where)
	w.Depth++
	w.Nodes(list)
	w.Depth--
	w.Line("}", "")
	e.prefix = append(e.prefix, w.Out.String()+"\n")
}

// scalarIfAny is a scalar that is computed already; "" if it is not.
func (e *emitter) scalarIfAny(v *ttir.Value) string {
	if x := e.values[v][""]; x != nil {
		return x.scalar
	}
	return ""
}

// isLiteral reports whether an expression needs no variable of the kernel.
func isLiteral(s string) bool {
	return s == "true" || s == "false" || s == "INFINITY" || s == "NAN" || s[0] >= '0' && s[0] <= '9' || s[0] == '-' || s[0] == '(' ||
		strings.HasPrefix(s, "half(") || strings.HasPrefix(s, "char(") || strings.HasPrefix(s, "short(") || strings.HasPrefix(s, "ushort(") || strings.HasPrefix(s, "uchar(")
}
