// tl.device_print and tl.device_assert: records in a buffer that the kernel gets behind its arguments. Package report has
// their form, and reads them when the kernel is done.
//
// A kernel goes on behind a condition that does not hold, because others of its threads may wait for it at a barrier.

package emit

import (
	"strconv"

	"github.com/paddle-mps/paddle-mps/tritonlang/layout"
	"github.com/paddle-mps/paddle-mps/tritonlang/plan"
	"github.com/paddle-mps/paddle-mps/tritonlang/report"
	"github.com/paddle-mps/paddle-mps/tritonlang/tree"
	"github.com/paddle-mps/paddle-mps/tritonlang/ttir"
)

// Operands stay in the layouts that they have: each is reported by the threads that own its elements.
func init() {
	for name, f := range map[string]rule{"tt.print": (*emitter).print, "tt.assert": (*emitter).assert} {
		rules[name] = f
		plan.WantRules[name] = func(p *plan.Plan, o *ttir.Op) {
			for _, v := range o.Operands {
				if v.Type.IsTensor() {
					p.Want(v, p.HomeOf(v))
				}
			}
		}
	}
}

// reporting reports whether a function has operations that report.
func reporting(f *ttir.Func) (found bool) {
	f.Body.Walk(func(o *ttir.Op) { found = found || o.Name == "tt.print" || o.Name == "tt.assert" })
	return found
}

// site adds a place that may report; it answers its number.
func (e *emitter) site(o *ttir.Op, s report.Site) string {
	// Such a function has neither the buffer nor the program's number.
	if e.inFunction {
		refuse(o, "", "in a function of a reduction, scan or map nothing can be reported")
	}
	s.Where = o.Where()
	if len(o.Operands) > 0 && s.Kind != report.Address {
		s.Shape = o.Operands[0].Type.Shape
	}
	e.sites = append(e.sites, s)
	return strconv.Itoa(len(e.sites) - 1)
}

// print emits tt.print: a record for each element of each operand.
func (e *emitter) print(o *ttir.Op) {
	// Integers have no sign in the IR; the front end notes what the program's type says.
	signed, _ := o.Attr("isSigned")
	s := report.Site{Kind: "print", Text: o.Word("prefix"), Hex: o.Int("hex", 0) != 0}
	for i, v := range o.Operands {
		kind := signature(v.Type.Element())
		if v.Type.Element().Kind == ttir.Int && i < len(signed.Ints) && signed.Ints[i] == 0 {
			kind = "u" + strconv.Itoa(v.Type.Element().Bits)
		}
		if v.Type.IsPointer() {
			refuse(o, "", "an address of the GPU says nothing to a program; want a value")
		}
		s.Types = append(s.Types, kind)
	}
	number := e.site(o, s)
	// A text without a value is one record of the program.
	if len(o.Operands) == 0 {
		e.block("if (lane == 0 && warp == 0)", true, false, func() { e.say("report_value(records, ", number, "u, program, 0u, 0ul);") })
	}
	for i, v := range o.Operands {
		t := v.Type.Element()
		e.elementsOf(v, func(x, element string) string {
			return "report_value(records, " + number + "u | " + itoa(i) + "u << 16, program, " + element + ", " + reported(t, x) + ");"
		})
	}
}

// assert emits tt.assert: a record of the first element for which the condition does not hold.
func (e *emitter) assert(o *ttir.Op) {
	number := e.site(o, report.Site{Kind: "assert", Text: o.Word("message")})
	e.elementsOf(o.Operands[0], func(x, element string) string {
		return "if (!" + x + ") report_failure(records, " + number + "u, program, " + element + ");"
	})
}

// elementsOf emits a statement for each element of a tensor, in one thread each, or for a scalar.
func (e *emitter) elementsOf(v *ttir.Value, statement func(x, element string) string) {
	if !v.Type.IsTensor() {
		x := e.scalar(v)
		e.block("if (lane == 0 && warp == 0)", true, false, func() { e.say(statement(x, "0u")) })
		return
	}
	// Views and constants become registers of their own, so that each element can be named by its number.
	l := e.plan.HomeOf(v)
	x := e.materialize(v, e.get(v, l), l)
	e.owned(layout.Layout{Lane: l.Lane, Warp: l.Warp}, func() {
		e.whole(l.Registers(), func(i tree.RegisterNumber) string { return statement(e.element(x, nil, i), address(l, i)) })
	})
}

// reported are the bits of a value: integers in 64 bits, floats as float32.
func reported(t *ttir.Type, x string) string {
	switch {
	case t.Kind != ttir.Float && t.Bits == 1:
		return "ulong(" + x + ")"
	case t.Kind != ttir.Float:
		return "ulong(long(" + x + "))"
	}
	return "ulong(as_type<uint>(" + toFloat(t.Name, x) + "))"
}
