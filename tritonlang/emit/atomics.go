// Atomic operations. One thread does each: the one that owns an element, or the first of the threadgroup for a scalar.
// The functions that do the work are made here too, as text for the prelude, a function for each operation and type that
// a kernel uses.
//
// Metal has atomic operations on 32-bit integers and the sum of floats. Maxima of floats and everything on 16-bit floats
// are loops that compare and exchange the 32-bit word which holds the value. There is nothing on 64 bits.
//
// Metal's atomic operations are relaxed. An operation with release is preceded by a barrier if the program has stored
// something since the last one, and one with acquire is followed by a barrier before the next access; see sync.go.
//
//	if ((warp & 2) == 0) {                                     // of two threads with the same element, one
//	    if (mask) old = atomic_fadd_float(f_ptr + i, x);
//	}
//	...                                                        // the other gets old through threadgroup memory
//
// If nothing uses the old value, the second half is left out.

package emit

import (
	"strings"

	"github.com/paddle-mps/paddle-mps/tritonlang/layout"
	"github.com/paddle-mps/paddle-mps/tritonlang/plan"
	"github.com/paddle-mps/paddle-mps/tritonlang/tree"
	"github.com/paddle-mps/paddle-mps/tritonlang/ttir"
)

// Rules of atomic operations. The plan treats them as stores: their operands are wanted where the value is.
func init() {
	rules["tt.atomic_rmw"] = func(e *emitter, o *ttir.Op) { e.atomic(o, o.Word("atomic_rmw_op")) }
	rules["tt.atomic_cas"] = func(e *emitter, o *ttir.Op) { e.atomic(o, "cas") }
	rules["tt.atomic_load"] = func(e *emitter, o *ttir.Op) { e.atomic(o, "load") }
	rules["tt.atomic_store"] = func(e *emitter, o *ttir.Op) { e.atomic(o, "store") }
	rules["tt.atomic_poll"] = func(_ *emitter, o *ttir.Op) {
		refuse(o, "", "the kernel waits for other programs, which need not run at the same time on a Metal GPU")
	}
	for _, name := range []string{"tt.atomic_load", "tt.atomic_store"} {
		plan.WantRules[name] = (*plan.Plan).Store
	}
}

// atomic emits an atomic operation: by the thread that owns an element, once. Metal's atomic operations have no order of
// their own; what Triton promises about other memory is kept by barriers: see sync.go.
func (e *emitter) atomic(o *ttir.Op, op string) {
	root := e.roots.Argument(o.Operands[0])
	sem := o.Word("sem")
	e.add(&tree.Node{Kind: tree.TouchMemory, Effect: tree.Effect{
		Stores: true, Loads: true, Root: root, Release: sem == "release" || sem == "acq_rel",
	}})
	f, reach := atomicName(o, op), e.reach(o)
	values := 1
	switch op {
	case "cas":
		values = 2
	case "load":
		values = 0
	}
	if !o.Operands[0].Type.IsTensor() {
		e.atomicScalar(o, f, values, reach)
	} else {
		e.atomicTensor(o, f, values, reach)
	}
	if sem == "acquire" || sem == "acq_rel" {
		e.add(&tree.Node{Kind: tree.TouchMemory, Effect: tree.Effect{Acquire: true}})
	}
}

// atomicName is the function of the prelude that does an operation on a type; it refuses what Metal lacks.
func atomicName(o *ttir.Op, op string) string {
	t := o.Operands[0].Type.Element().Elem
	switch {
	case t.Bits == 64:
		// Metal has 64-bit minima and maxima on some GPUs only, and no sums.
		refuse(o, t.String(), "Metal has no atomic operations on 64 bits")
	case t.Bits < 16 || t.Kind == ttir.Int && t.Bits < 32:
		refuse(o, t.String(), "atomic operations are on 32 bits, or on floats of 16")
	case t.Kind == ttir.Float && (op == "and" || op == "or" || op == "xor" || op == "umax" || op == "umin"):
		refuse(o, t.String(), "this atomic operation is on integers")
	}
	kind := map[string]string{"int": "int", "float": "float", "half": "half", "ushort": "bf16"}[cType(t)]
	return "atomic_" + op + "_" + kind
}

// atomicCall is the call of an atomic function on an element of a type; reach finds what is behind an address of the CPU.
func atomicCall(f, place string, args []string, t *ttir.Type, reach func(string, int) string) string {
	if reach != nil {
		place = "(device " + memoryType(t) + " *)" + reach(place, t.ByteSize())
	}
	return f + "(" + strings.Join(append([]string{place}, args...), ", ") + ")"
}

// atomicScalar has the first thread do the operation, and gives the old value to all through threadgroup memory, if
// anything uses it.
func (e *emitter) atomicScalar(o *ttir.Op, f string, values int, reach func(string, int) string) {
	p := e.scalar(o.Operands[0])
	var args []string
	for _, v := range o.Operands[1 : 1+values] {
		args = append(args, e.scalar(v))
	}
	c := "lane == 0 && warp == 0"
	if len(o.Operands) > 1+values {
		if m := e.scalar(o.Operands[1+values]); m != "true" {
			c += " && " + m
		}
	}
	call := atomicCall(f, p, args, o.Operands[0].Type.Elem, reach)
	if len(o.Results) == 0 || !e.used(o.Results[0]) {
		e.block("if ("+c+")", true, false, func() { e.say(call, ";") })
		return
	}
	v := o.Results[0]
	ctype := cType(v.Type)
	memory, bytes := sharedType(ctype)
	a := e.area(memory, bytes, 1)
	e.writes(a)
	e.block("if ("+c+")", true, false, func() { e.say(a.Name, "[0] = ", call, ";") })
	e.reads(a)
	r := e.define(nameOf(v), ctype, 1, func(func(*tree.Registers) string) string { return a.Name + "[0]" })
	e.set(v, layout.Layout{}, &value{scalar: r.Name})
}

// used reports whether a scalar result is used by anything.
func (e *emitter) used(v *ttir.Value) bool { return e.counts[v] > 0 }

// atomicTensor has each owner do the operation on its elements. Threads that hold the same elements get the old values
// from the owner.
func (e *emitter) atomicTensor(o *ttir.Op, f string, values int, reach func(string, int) string) {
	l := e.plan.AccessLayout(o)
	p := e.get(o.Operands[0], l)
	var regs []*tree.Registers
	for _, v := range o.Operands[1:] {
		regs = append(regs, e.get(v, l).regs)
	}
	statement := func(i tree.RegisterNumber, before string) string {
		base, number := e.place(p, nil, i)
		var args []string
		for _, r := range regs[:values] {
			args = append(args, e.element(r, nil, i))
		}
		text := before + atomicCall(f, base+" + "+number, args, o.Operands[0].Type.Element().Elem, reach) + ";"
		if len(regs) > values && regs[values].Name != "true" {
			text = "if (" + e.element(regs[values], nil, i) + ") " + text
		}
		return text
	}
	if len(o.Results) == 0 || len(e.plan.Wanted[o.Results[0]]) == 0 {
		e.owned(l, func() { e.whole(l.Registers(), func(i tree.RegisterNumber) string { return statement(i, "") }) })
		return
	}
	v := o.Results[0]
	r := e.array(nameOf(v), cType(v.Type.Element()), l.Registers())
	// What is masked off is zero.
	e.whole(r.N, func(i tree.RegisterNumber) string { return e.element(r, nil, i) + " = 0;" })
	e.owned(l, func() {
		e.whole(l.Registers(), func(i tree.RegisterNumber) string { return statement(i, e.element(r, nil, i)+" = ") })
	})
	// Others that hold the element get the old value from its owner.
	if owner(l) != "" {
		r = e.throughPool(nameOf(v), r, l, l)
	}
	e.done(v, e.convert(v, &value{regs: r}, l, e.plan.HomeOf(v)))
}

// atomicHelpers are the functions of atomic operations, for the prelude.
func atomicHelpers() (all []helper) {
	for name, f := range map[string]string{"add": "add", "and": "and", "or": "or", "xor": "xor", "max": "max", "min": "min"} {
		all = append(all, helper{"atomic_" + name + "_int", "", "inline int atomic_" + name + "_int(device int *p, int x) {\n" +
			"    return atomic_fetch_" + f + "_explicit((device atomic_int *)p, x, memory_order_relaxed);\n}\n"})
	}
	for _, name := range []string{"max", "min"} {
		all = append(all, helper{"atomic_u" + name + "_int", "", "inline int atomic_u" + name + "_int(device int *p, int x) {\n" +
			"    return int(atomic_fetch_" + name + "_explicit((device atomic_uint *)p, uint(x), memory_order_relaxed));\n}\n"})
	}
	all = append(all,
		helper{"atomic_exch_int", "", `inline int atomic_exch_int(device int *p, int x) {
    return atomic_exchange_explicit((device atomic_int *)p, x, memory_order_relaxed);
}
`}, helper{"atomic_load_int", "", `inline int atomic_load_int(device int *p) {
    return atomic_load_explicit((device atomic_int *)p, memory_order_relaxed);
}
`}, helper{"atomic_store_int", "", `inline void atomic_store_int(device int *p, int x) {
    atomic_store_explicit((device atomic_int *)p, x, memory_order_relaxed);
}
`}, helper{"atomic_load_float", "", `inline float atomic_load_float(device float *p) {
    return as_type<float>(atomic_load_explicit((device atomic_uint *)p, memory_order_relaxed));
}
`}, helper{"atomic_store_float", "", `inline void atomic_store_float(device float *p, float x) {
    atomic_store_explicit((device atomic_uint *)p, as_type<uint>(x), memory_order_relaxed);
}
`}, helper{"atomic_exch_float", "", `inline float atomic_exch_float(device float *p, float x) {
    return as_type<float>(atomic_exchange_explicit((device atomic_uint *)p, as_type<uint>(x), memory_order_relaxed));
}
`}, helper{"atomic_cas_int", "", `inline int atomic_cas_int(device int *p, int expected, int x) {
    int old = expected;
    while (!atomic_compare_exchange_weak_explicit((device atomic_int *)p, &old, x, memory_order_relaxed, memory_order_relaxed) && old == expected) {
    }
    return old;
}
`}, helper{"atomic_cas_float", "atomic_cas_int", `inline float atomic_cas_float(device float *p, float expected, float x) {
    return as_type<float>(atomic_cas_int((device int *)p, as_type<int>(expected), as_type<int>(x)));
}
`}, helper{"atomic_fadd_float", "", `inline float atomic_fadd_float(device float *p, float x) {
    return atomic_fetch_add_explicit((device atomic_float *)p, x, memory_order_relaxed);
}
`})
	for name, f := range map[string]string{"max": "fmax(now, x)", "min": "fmin(now, x)"} {
		all = append(all, helper{"atomic_" + name + "_float", "", "inline float atomic_" + name + "_float(device float *p, float x) {\n" +
			"    uint old = atomic_load_explicit((device atomic_uint *)p, memory_order_relaxed);\n    float now;\n" +
			"    do {\n        now = as_type<float>(old);\n" +
			"    } while (!atomic_compare_exchange_weak_explicit((device atomic_uint *)p, &old, as_type<uint>(" + f + "), memory_order_relaxed, memory_order_relaxed));\n" +
			"    return now;\n}\n"})
	}
	for _, kind := range []string{"half", "bf16"} {
		all = append(all, shortAtomics(kind)...)
	}
	return all
}

// shortAtomics are operations on 16-bit floats, by exchange of the 32-bit word that holds one. The other half of the word is
// written back as it was read; if another thread has changed it, the exchange fails and is tried again.
func shortAtomics(kind string) (all []helper) {
	ctype, widen, narrow, needs := "half", "float(now)", "half(%)", ""
	bits, back := "as_type<ushort>(next)", "as_type<half>(ushort(%))"
	if kind == "bf16" {
		ctype, widen, narrow, needs = "ushort", "bf16_to_float(now)", "float_to_bf16(%)", "bf16_to_float float_to_bf16"
		bits, back = "next", "ushort(%)"
	}
	wide := "x"
	if kind == "bf16" {
		wide = "bf16_to_float(x)"
	} else {
		wide = "float(x)"
	}
	put := func(pattern, x string) string { return strings.ReplaceAll(pattern, "%", x) }
	raw := func(x string) string { return x }
	if kind == "half" {
		raw = func(x string) string { return "as_type<ushort>(" + x + ")" }
	}
	// Compared are bits, as Triton compares them: zeros of two signs differ, and a NaN is equal to itself.
	where := "    ulong at = (ulong)p;\n    uint shift = uint(at & 2) * 8;\n    device atomic_uint *word = (device atomic_uint *)(at & ~ulong(3));\n"
	all = append(all, helper{"atomic_cas_" + kind, "", "inline " + ctype + " atomic_cas_" + kind + "(device " + ctype + " *p, " + ctype + " expected, " + ctype + " x) {\n" + where +
		"    uint old = atomic_load_explicit(word, memory_order_relaxed), want;\n" +
		"    do {\n        if (ushort(old >> shift) != " + raw("expected") + ") break;\n" +
		"        want = (old & ~(0xffffu << shift)) | uint(" + raw("x") + ") << shift;\n" +
		"    } while (!atomic_compare_exchange_weak_explicit(word, &old, want, memory_order_relaxed, memory_order_relaxed));\n    return " + put(back, "old >> shift") + ";\n}\n"},
		helper{"atomic_load_" + kind, "", "inline " + ctype + " atomic_load_" + kind + "(device " + ctype + " *p) {\n" + where +
			"    return " + put(back, "atomic_load_explicit(word, memory_order_relaxed) >> shift") + ";\n}\n"},
		helper{"atomic_store_" + kind, "atomic_exch_" + kind + " " + needs, "inline void atomic_store_" + kind + "(device " + ctype + " *p, " + ctype + " x) {\n    atomic_exch_" + kind + "(p, x);\n}\n"})
	for name, f := range map[string]string{"fadd": widen + " + " + wide, "max": "fmax(" + widen + ", " + wide + ")", "min": "fmin(" + widen + ", " + wide + ")", "exch": ""} {
		next := "x"
		if f != "" {
			next = put(narrow, f)
		}
		all = append(all, helper{"atomic_" + name + "_" + kind, needs, "inline " + ctype + " atomic_" + name + "_" + kind + "(device " + ctype + " *p, " + ctype + " x) {\n" +
			"    ulong at = (ulong)p;\n    uint shift = uint(at & 2) * 8;\n    device atomic_uint *word = (device atomic_uint *)(at & ~ulong(3));\n" +
			"    uint old = atomic_load_explicit(word, memory_order_relaxed), want;\n    " + ctype + " now;\n" +
			"    do {\n        now = " + put(back, "old >> shift") + ";\n        " + ctype + " next = " + next + ";\n" +
			"        want = (old & ~(0xffffu << shift)) | uint(" + bits + ") << shift;\n" +
			"    } while (!atomic_compare_exchange_weak_explicit(word, &old, want, memory_order_relaxed, memory_order_relaxed));\n    return now;\n}\n"})
	}
	return all
}
