// Pointers that a program makes out of integers: addresses that it has loaded from memory, such as a list of tensors.
//
// What a program knows is what data_ptr() has given, an address of the CPU. The GPU has the same memory at another address.
// A kernel that accesses memory through such a pointer therefore gets a table of the tensors whose address is known to the
// program, and finds the GPU's address in it by a binary search: package report has its form.
//
// The search comes as late as possible, at the access and not where the pointer is made. In between a pointer is the
// address of the CPU in a variable of a pointer type, so that offsets, loops and conditions need no rules of their own, and
// each access is held to the tensors: one that is outside of them, or through an address of no tensor, is redirected to a
// few bytes of the report buffer and reported. A pointer that is not used, such as that of an element which is masked off,
// may be anything.
//
// The invariant: a set of pointers (see roots) is either of arguments, whose addresses are the GPU's, or of addresses of the
// CPU. A program that mixes the two is refused.

package emit

import (
	"strings"

	"github.com/paddle-mps/paddle-mps/tritonlang/layout"
	"github.com/paddle-mps/paddle-mps/tritonlang/plan"
	"github.com/paddle-mps/paddle-mps/tritonlang/report"
	"github.com/paddle-mps/paddle-mps/tritonlang/tree"
	"github.com/paddle-mps/paddle-mps/tritonlang/ttir"
)

// Rules of conversions between pointers and integers.
func init() {
	rules["tt.int_to_ptr"] = (*emitter).intToPointer
	rules["tt.ptr_to_int"] = (*emitter).pointerToInt
}

// accesses are the operations that go to memory through their first operand.
var accesses = map[string]bool{
	"tt.load": true, "tt.store": true, "tt.atomic_rmw": true, "tt.atomic_cas": true, "tt.atomic_load": true, "tt.atomic_store": true,
}

// addressing reports whether a function accesses memory through addresses of the CPU.
func addressing(r *plan.Roots, f *ttir.Func) (found bool) {
	f.Body.Walk(func(o *ttir.Op) { found = found || accesses[o.Name] && isAddress(r, o.Operands[0]) })
	return found
}

// isAddress reports whether a pointer is an address of the CPU.
func isAddress(r *plan.Roots, v *ttir.Value) bool { return r.Addresses[r.Root(v)] }

// refuseMixed refuses a function in which a pointer may be an argument or an address of the CPU.
func refuseMixed(r *plan.Roots, f *ttir.Func) {
	for _, v := range f.Params() {
		if v.Type.IsPointer() && isAddress(r, v) {
			panic(&ttir.Unsupported{
				Op: "argument " + strings.TrimPrefix(v.Name, "%"), Where: v.Loc.Where(),
				Why: "a pointer of the kernel may be this argument or an address that is made from an integer; want one of the two",
			})
		}
	}
}

// intToPointer emits tt.int_to_ptr. Each element has a pointer of its own.
func (e *emitter) intToPointer(o *ttir.Op) {
	v := o.Results[0]
	cast := func(x string) string { return "(" + e.pointerType(v) + ")(ulong)" + x }
	if !v.Type.IsTensor() {
		e.set(v, layout.Layout{}, &value{scalar: e.pointer(v, cast(e.scalar(o.Operands[0])))})
		return
	}
	l := e.plan.HomeOf(v)
	r := e.combine(v.Name, e.pointerType(v), l, []*tree.Registers{e.get(o.Operands[0], l).regs}, func(t []string) string { return cast(t[0]) })
	e.done(v, &value{regs: r, full: true})
}

// pointerToInt emits tt.ptr_to_int of an address of the CPU. That of an argument would be one of the GPU, which means
// nothing to the program.
func (e *emitter) pointerToInt(o *ttir.Op) {
	p, v := o.Operands[0], o.Results[0]
	if !isAddress(e.roots, p) {
		refuse(o, v.Type.Element().String(), "the address of an argument as an integer is not supported: a GPU's addresses are not the CPU's")
	}
	if !v.Type.IsTensor() {
		r := e.define(v.Name, "long", 1, func(func(*tree.Registers) string) string { return "(long)" + e.scalar(p) })
		e.set(v, layout.Layout{}, &value{scalar: r.Name})
		return
	}
	l := e.plan.HomeOf(v)
	x, r := e.get(p, l), e.array(v.Name, "long", l.Registers())
	e.whole(r.N, func(i tree.RegisterNumber) string {
		base, number := e.place(x, nil, i)
		return e.element(r, nil, i) + " = (long)(" + base + " + " + number + ");"
	})
	e.done(v, &value{regs: r})
}

// reach notes an access, and answers what turns its pointer into one that may be followed, from the pointer as an expression
// and how many bytes are accessed. Pointers of arguments stay as they are.
func (e *emitter) reach(o *ttir.Op) func(pointer string, bytes int) string {
	if !isAddress(e.roots, o.Operands[0]) {
		return nil
	}
	number := e.site(o, report.Site{Kind: report.Address})
	return func(pointer string, bytes int) string {
		return "triton_find(addresses, records, " + number + "u, program, (ulong)(" + pointer + "), " + itoa(bytes) + "u)"
	}
}
