// Functions of libdevice by name, casts of pointers, and operations that are refused with a reason.
//
// Triton's language calls libdevice for what it has no operation for. Those that Metal has too are called; a few more are
// in the prelude; a name that is in neither is refused.

package emit

import (
	_ "embed" // for libdevice.txt
	"strconv"
	"strings"
	"sync"

	"github.com/paddle-mps/paddle-mps/tritonlang/layout"
	"github.com/paddle-mps/paddle-mps/tritonlang/tree"
	"github.com/paddle-mps/paddle-mps/tritonlang/ttir"
)

// libdeviceText has a line for each function: its name behind __nv_, where float32's may be without its f, and the function that
// is called, or an expression in which {0}, {1} and so on are the operands. A name behind ? answers a number that is not 0 for
// true, one behind # is a function on integers. A sum and a product of their own are written as fma, which the compiler cannot
// join with what is around them. Conversions to integers give the nearest integer there is, and 0 for NaN.
//
//go:embed libdevice.txt
var libdeviceText string

// libdevice are the lines of libdeviceText by name.
var libdevice = sync.OnceValue(func() map[string]string {
	made := map[string]string{}
	for line := range strings.Lines(libdeviceText) {
		name, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		made[name] = text
	}
	return made
})

// form is the expression of a line with its operands.
func form(text string, x []string) string {
	if !strings.Contains(text, "{0}") {
		return text + "(" + strings.Join(x, ", ") + ")"
	}
	for i := range x {
		text = strings.ReplaceAll(text, "{"+strconv.Itoa(i)+"}", x[i])
	}
	return text
}

// Functions of libdevice are operations on elements.
func init() {
	elements["tt.extern_elementwise"] = external
}

// external emits tt.extern_elementwise: a function of libdevice by its name.
func external(_ *emitter, o *ttir.Op, x []string) string {
	symbol := o.Word("symbol")
	name, ok := strings.CutPrefix(symbol, "__nv_")
	if !ok {
		refuse(o, "", "function "+symbol+" is not known")
	}
	t, lines := o.Results[0].Type.Element(), libdevice()
	// Functions on integers have the same name for all widths.
	if f := lines["#"+name]; f != "" && t.Kind == ttir.Int && o.Operands[0].Type.IsInt(0) {
		return cType(t) + "(" + form(f, x) + ")"
	}
	// __nv_expf is exp of float32, but __nv_erf ends with an f of its own.
	found := func(kind string) string {
		if f := lines[kind+name]; f != "" {
			return f
		}
		return lines[kind+strings.TrimSuffix(name, "f")]
	}
	floats := t.Name == "f32"
	for _, v := range o.Operands {
		floats = floats || v.Type.Element().Name == "f32"
	}
	if f := found("?"); f != "" && floats {
		return cType(t) + "(" + form(f, x) + " ? 1 : 0)"
	}
	f := found("")
	if rounding := name[max(0, len(name)-3):]; f == "" && (rounding == "_rz" || rounding == "_rd" || rounding == "_ru") {
		refuse(o, "", "libdevice's function "+name+" is not supported: Metal rounds to the nearest number alone")
	}
	if f == "" {
		refuse(o, "", "libdevice's function "+name+" is not supported")
	}
	if !floats {
		refuse(o, t.String(), "libdevice's functions are supported on f32")
	}
	if t.Name == "f32" {
		return form(f, x)
	}
	return cType(t) + "(" + form(f, x) + ")"
}

// castPointer emits tt.bitcast of pointers, which p.to(tl.pointer_type(...)) makes. Offsets count in elements: where these get another size, each element has a pointer
// of its own.
func (e *emitter) castPointer(o *ttir.Op) {
	v := o.Results[0]
	from, to := o.Operands[0].Type.Element().Elem, v.Type.Element().Elem
	kind := "(" + e.pointerType(v) + ")"
	cast := func(x *value, l layout.Layout) *value {
		y := *x
		switch {
		case x.full:
			y.regs = e.combine(v.Name, e.pointerType(v), l, []*tree.Registers{x.regs}, func(t []string) string { return kind + t[0] })
		case x.regs != nil && from.ByteSize() != to.ByteSize():
			// An offset counts elements of the old size, so that it is added before the cast.
			r := e.combine(v.Name, e.pointerType(v), l, []*tree.Registers{x.regs}, func(t []string) string { return kind + "(" + x.scalar + " + " + t[0] + ")" })
			y = value{regs: r, full: true}
		case memoryType(from) != memoryType(to):
			// Offsets stay as they are: the elements have one size, and only the base is cast.
			y.scalar = e.pointer(v, kind+x.scalar)
		}
		return &y
	}
	if !v.Type.IsTensor() {
		e.set(v, layout.Layout{}, cast(e.get(o.Operands[0], layout.Layout{}), layout.Layout{}))
		return
	}
	if !e.plan.Follows(v) {
		l := e.plan.HomeOf(v)
		e.done(v, cast(e.get(o.Operands[0], l), l))
		return
	}
	for _, l := range e.plan.Wanted[v] {
		e.set(v, l, cast(e.get(o.Operands[0], l), l))
	}
}

// choosePointer emits arith.select of pointers. Each element has a pointer of its own, since the choices may have other bases.
func (e *emitter) choosePointer(o *ttir.Op) {
	v := o.Results[0]
	if !v.Type.IsTensor() {
		e.set(v, layout.Layout{}, &value{scalar: e.pointer(v, e.scalar(o.Operands[0])+" ? "+e.scalar(o.Operands[1])+" : "+e.scalar(o.Operands[2]))})
		return
	}
	in := func(l layout.Layout) *value {
		var args []*tree.Registers
		var bases []string
		for i, x := range o.Operands {
			a := e.get(x, l)
			// A pointer without offsets is one register, which stands for all.
			r, base := a.regs, ""
			switch {
			case i > 0 && r == nil:
				r = &tree.Registers{Name: a.scalar, N: 1, Index: nones(len(l.Reg))}
			case i > 0 && !a.full:
				base = a.scalar + " + "
			case r == nil:
				r = &tree.Registers{Name: a.scalar, N: 1, Index: nones(len(l.Reg))} // a scalar condition
			}
			args, bases = append(args, r), append(bases, base)
		}
		r := e.combine(v.Name, e.pointerType(v), l, args, func(t []string) string {
			return t[0] + " ? " + bases[1] + t[1] + " : " + bases[2] + t[2]
		})
		return &value{regs: r, full: true}
	}
	if !e.plan.Follows(v) {
		e.done(v, in(e.plan.HomeOf(v)))
		return
	}
	for _, l := range e.plan.Wanted[v] {
		e.set(v, l, in(l))
	}
}

// A cast or choice of pointers is no operation on elements. What is refused for a reason has a row here, so that the error says it.
func init() {
	rules["tt.bitcast"] = func(e *emitter, o *ttir.Op) {
		if o.Results[0].Type.IsPointer() && o.Operands[0].Type.IsPointer() {
			e.castPointer(o)
			return
		}
		e.elementwise(o, bitcast)
	}
	rules["arith.select"] = func(e *emitter, o *ttir.Op) {
		if o.Results[0].Type.IsPointer() {
			e.choosePointer(o)
			return
		}
		e.elementwise(o, elements["arith.select"])
	}
	refusals := map[string]string{
		"tt.elementwise_inline_asm": "inline assembly is of another machine",
	}
	for name, why := range refusals {
		rules[name] = func(_ *emitter, o *ttir.Op) {
			t := ""
			if len(o.Results) > 0 {
				t = o.Results[0].Type.Element().String()
			}
			refuse(o, t, why)
		}
	}
}
