// Operations whose accesses depend on values: gather reads a tensor at indices, histogram counts. Both go through threadgroup
// memory, because which thread has an element is known at run time only.
//
//	shared[lane + warp * 32] = x;                              // gather: the source, in its own layout
//	threadgroup_barrier(mem_flags::mem_threadgroup);
//	y = shared[ulong(index) * 1];                              // the index, times the distance of elements on the axis
//
//	for (uint k = ...; k < 16; k += 128) shared[k] = 0;        // histogram: 16 bins
//	threadgroup_barrier(mem_flags::mem_threadgroup);
//	if (ulong(x) < 16) atomic_fetch_add_explicit(shared + x, 1u, memory_order_relaxed);
//
// An index that is outside of the source is undefined in Triton; a histogram does not count it.

package emit

import (
	"github.com/paddle-mps/paddle-mps/tritonlang/layout"
	"github.com/paddle-mps/paddle-mps/tritonlang/plan"
	"github.com/paddle-mps/paddle-mps/tritonlang/tree"
	"github.com/paddle-mps/paddle-mps/tritonlang/ttir"
)

// Rules of gather and histogram, and the layouts that they want. A gather's source may be in any.
func init() {
	rules["tt.gather"] = (*emitter).gather
	plan.WantRules["tt.gather"] = func(p *plan.Plan, o *ttir.Op) {
		if !unused(p, o) {
			p.Want(o.Operands[0], p.HomeOf(o.Operands[0]))
			p.Want(o.Operands[1], p.HomeOf(o.Results[0]))
		}
	}
	rules["tt.histogram"] = (*emitter).histogram
	plan.WantRules["tt.histogram"] = func(p *plan.Plan, o *ttir.Op) {
		if !unused(p, o) {
			l := operandsLayout(p, o)
			for _, v := range o.Operands {
				p.Want(v, l)
			}
		}
	}
}

// gather emits tt.gather: all of the source goes to threadgroup memory, and each thread reads what its indices say.
func (e *emitter) gather(o *ttir.Op) {
	if unused(e.plan, o) {
		return
	}
	v, source, axis := o.Results[0], o.Operands[0], o.Int("axis", 0)
	from, l := e.plan.HomeOf(source), e.plan.HomeOf(v)
	// The source is written in its own layout: a conversion to that of the result would go through the same memory.
	x := e.materialize(source, e.get(source, from), from)
	index := e.get(o.Operands[1], l).regs
	memory, bytes := sharedType(x.CType)
	a := e.area(memory, bytes, 1<<from.Bits())
	e.fill(a, x, from)
	e.reads(a)
	// The source's element has the result's coordinates but on the axis, where the index is.
	there := layout.Dims(source.Type.Shape)
	others := func(bit int) int {
		d, k := layout.DimOf(v.Type.Shape, bit)
		if d == axis {
			return layout.None
		}
		return there[d] + k
	}
	r := e.array(v.Name, x.CType, l.Registers())
	e.whole(l.Registers(), func(i tree.RegisterNumber) string {
		terms := threadPart(l, others)
		if i.Name != "" {
			reg := make([]int, len(l.Reg))
			for k, b := range l.Reg {
				reg[k] = others(b)
			}
			// In a loop over registers the number of the register is a variable, whose bits are spread at run time.
			terms = append(terms, tree.Scatter(i.Name, reg)...)
		}
		terms = append(terms, "ulong("+e.element(index, nil, i)+") * "+itoa(1<<there[axis]))
		return e.element(r, nil, i) + " = " + fromShared(x.CType, a.Name+"["+tree.Sum(terms, 0)+"]") + ";"
	})
	e.done(v, &value{regs: r})
}

// histogram emits tt.histogram: counters in threadgroup memory, which each element adds to.
func (e *emitter) histogram(o *ttir.Op) {
	if unused(e.plan, o) {
		return
	}
	v, l := o.Results[0], operandsLayout(e.plan, o)
	x := e.get(o.Operands[0], l).regs
	bins := v.Type.Count()
	a := e.area("uint", 4, bins)
	e.writes(a)
	threads := 32 << e.plan.Warps
	// All threads clear the counters together.
	e.say("for (uint k = warp * 32 + lane; k < ", itoa(bins), "; k += ", itoa(threads), ") ", a.Name, "[k] = 0;")
	e.add(&tree.Node{Kind: tree.TouchMemory, Area: a, Effect: tree.Effect{Reads: true, Writes: true}})
	// Several threads may have copies of an element: only the thread that owns it counts it.
	e.owned(l, func() {
		e.whole(l.Registers(), func(i tree.RegisterNumber) string {
			n := e.element(x, nil, i)
			// An unsigned comparison leaves out negative numbers as well as large ones.
			c := "ulong(" + n + ") < " + itoa(bins)
			if len(o.Operands) > 1 {
				c += " && " + e.element(e.get(o.Operands[1], l).regs, nil, i)
			}
			return "if (" + c + ") atomic_fetch_add_explicit((threadgroup atomic_uint *)(" + a.Name + " + " + n + "), 1u, memory_order_relaxed);"
		})
	})
	e.reads(a)
	home := e.plan.HomeOf(v)
	r := e.array(v.Name, "int", home.Registers())
	e.whole(home.Registers(), func(i tree.RegisterNumber) string {
		return e.element(r, nil, i) + " = int(" + a.Name + "[" + address(home, i) + "]);"
	})
	e.done(v, &value{regs: r})
}
