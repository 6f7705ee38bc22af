// Functions of libdevice by name, casts of pointers, and operations that are refused with a reason.
//
// Triton's language calls libdevice for what it has no operation for. Those that Metal has too are called; a few more are
// in the prelude; a name that is in neither is refused.

package emit

import (
	"strings"

	"github.com/paddle-mps/paddle-mps/tritonlang/layout"
	"github.com/paddle-mps/paddle-mps/tritonlang/ttir"
)

// libdevice has the functions of libdevice that Metal has too, by the name behind __nv_ and without the f of float32.
var libdevice = map[string]string{
	"exp": "exp", "exp2": "exp2", "exp10": "exp10", "log": "log", "log2": "log2", "log10": "log10", "sin": "sin", "cos": "cos", "tan": "tan",
	"asin": "asin", "acos": "acos", "atan": "atan", "atan2": "atan2", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "asinh": "asinh",
	"acosh": "acosh", "atanh": "atanh", "sqrt": "sqrt", "rsqrt": "rsqrt", "pow": "pow", "fabs": "fabs", "floor": "floor", "ceil": "ceil",
	"trunc": "trunc", "round": "round", "rint": "rint", "nearbyint": "rint", "fmod": "triton_fmod", "fmax": "fmax", "fmin": "fmin", "fdim": "fdim",
	"copysign": "copysign", "fma": "fma", "sinpi": "sinpi", "cospi": "cospi", "erf": "triton_erf", "expm1": "triton_expm1", "log1p": "triton_log1p", "cbrt": "triton_cbrt",
	"fast_exp": "fast::exp", "fast_log": "fast::log", "fast_sin": "fast::sin", "fast_cos": "fast::cos", "fast_tan": "fast::tan", "fast_pow": "fast::pow",
	"fast_log2": "fast::log2", "fast_log10": "fast::log10", "fast_exp10": "fast::exp10",
}

// libdeviceTests answer a number that is not 0 for true; libdeviceInts are on integers.
var (
	libdeviceTests = map[string]string{"isnan": "isnan", "isinf": "isinf", "finite": "isfinite", "isfinited": "isfinite", "signbit": "signbit"}
	libdeviceInts  = map[string]string{"abs": "abs", "popc": "popcount", "clz": "clz", "brev": "reverse_bits", "min": "min", "max": "max", "mulhi": "mulhi", "ffs": "triton_ffs"}
)

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
	t := o.Results[0].Type.Element()
	// Functions on integers have the same name for all widths; those on floats are told apart below.
	if f := libdeviceInts[name]; f != "" && t.Kind == ttir.Int && o.Operands[0].Type.IsInt(0) {
		return cType(t) + "(" + f + "(" + strings.Join(x, ", ") + "))"
	}
	// __nv_expf is exp of float32, but __nv_erf ends with an f of its own.
	base := name
	if libdevice[base] == "" && libdeviceTests[base] == "" {
		base = strings.TrimSuffix(name, "f")
	}
	if f := libdeviceTests[base]; f != "" && o.Operands[0].Type.Element().Name == "f32" {
		return cType(t) + "(" + f + "(" + x[0] + ") ? 1 : 0)"
	}
	f := libdevice[base]
	if f == "" {
		refuse(o, "", "libdevice's function "+name+" is not supported")
	}
	if t.Name != "f32" {
		refuse(o, t.String(), "libdevice's functions are supported on f32")
	}
	return f + "(" + strings.Join(x, ", ") + ")"
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
			y.regs = e.combine(v.Name, e.pointerType(v), l, []*reg{x.regs}, func(t []string) string { return kind + t[0] })
		case x.regs != nil && byteSize(from) != byteSize(to):
			// An offset counts elements of the old size, so that it is added before the cast.
			r := e.combine(v.Name, e.pointerType(v), l, []*reg{x.regs}, func(t []string) string { return kind + "(" + x.scalar + " + " + t[0] + ")" })
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
	if !e.plan.follows(v) {
		l := e.plan.homeOf(v)
		e.done(v, cast(e.get(o.Operands[0], l), l))
		return
	}
	for _, l := range e.plan.wanted[v] {
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
		var args []*reg
		var bases []string
		for i, x := range o.Operands {
			a := e.get(x, l)
			// A pointer without offsets is one register, which stands for all.
			r, base := a.regs, ""
			switch {
			case i > 0 && r == nil:
				r = &reg{name: a.scalar, n: 1, index: nones(len(l.Reg))}
			case i > 0 && !a.full:
				base = a.scalar + " + "
			case r == nil:
				r = &reg{name: a.scalar, n: 1, index: nones(len(l.Reg))} // a scalar condition
			}
			args, bases = append(args, r), append(bases, base)
		}
		r := e.combine(v.Name, e.pointerType(v), l, args, func(t []string) string {
			return t[0] + " ? " + bases[1] + t[1] + " : " + bases[2] + t[2]
		})
		return &value{regs: r, full: true}
	}
	if !e.plan.follows(v) {
		e.done(v, in(e.plan.homeOf(v)))
		return
	}
	for _, l := range e.plan.wanted[v] {
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
