// tt.map_elementwise, whose region is an ordinary function of scalars.
//
//	inline void map1(thread float &result2, float x) { if (x < 0.0f) { ... } }
//	...
//	for (ushort r = 0; r < 8; r++) map1(y[r], x[r]);

package emit

import (
	"strings"

	"github.com/paddle-mps/paddle-mps/tritonlang/tree"
	"github.com/paddle-mps/paddle-mps/tritonlang/ttir"
)

// The region's terminator ends a function's body, as tt.return does.
func init() {
	rules["tt.map_elementwise"] = (*emitter).mapElements
	terminal["tt.map_elementwise.return"] = true
}

// mapElements emits tt.map_elementwise: its region becomes a function, which is called for each element. A region may
// have branches, and these differ from element to element: no operation of a region needs other threads.
//
// With a pack of n a call takes n elements of each operand. Triton does not say which; here they are registers of a thread,
// repeated where it has fewer.
func (e *emitter) mapElements(o *ttir.Op) {
	pack := o.Int("pack", 1)
	f, extra := e.mapFunction(o, pack)
	l := e.plan.HomeOf(o.Results[0])
	var out []*tree.Registers
	for _, v := range o.Results {
		out = append(out, e.array(nameOf(v), cType(v.Type.Element()), l.Registers()))
	}
	call := func(slots []tree.RegisterNumber) string {
		var args []string
		each := func(r *tree.Registers) {
			for _, i := range slots {
				args = append(args, e.element(r, nil, i))
			}
		}
		for _, r := range out {
			each(r)
		}
		for _, v := range o.Operands {
			each(e.get(v, l).regs)
		}
		return f + "(" + strings.Join(append(args, extra...), ", ") + ");"
	}
	if pack == 1 {
		e.whole(l.Registers(), func(i tree.RegisterNumber) string { return call([]tree.RegisterNumber{i}) })
	} else {
		e.packs(l.Registers(), pack, call)
	}
	for i, v := range o.Results {
		e.done(v, e.convert(v, &value{regs: out[i]}, l, e.plan.HomeOf(v)))
	}
}

// packs emits a call for each pack of n registers, with the numbers of those that it takes.
func (e *emitter) packs(n, pack int, call func([]tree.RegisterNumber) string) {
	e.block("for (ushort p = 0; p < "+itoa(max(1, n/pack))+"; p++)", false, false, func() {
		var slots []tree.RegisterNumber
		for j := range pack {
			name := e.temp("at")
			e.say("ushort ", name, " = p * ", itoa(pack), " + ", itoa(j%n), ";")
			slots = append(slots, tree.RegisterNumber{Name: name})
		}
		e.say(call(slots))
	})
}

// mapFunction makes a function of a region: its first parameters are the results, pack of each.
func (e *emitter) mapFunction(o *ttir.Op, pack int) (name string, extra []string) {
	name = e.temp("map")
	r := o.Regions[0]
	var params []string
	var results []*slot
	for _, v := range o.Results {
		t := v.Type.Element()
		// All elements of a pack of one result stand before those of the next, as the terminator has them.
		for range pack {
			s := &slot{v: &ttir.Value{Name: v.Name, Type: t}, name: e.temp("result")}
			results = append(results, s)
			params = append(params, "thread "+cType(t)+" &"+s.name)
		}
	}
	for _, v := range r.Blocks[0].Args {
		params = append(params, e.parameter(v))
	}
	captured, extra := e.captures(r)
	e.function(name, append(params, captured...), func() { e.body(r, results) })
	return name, extra
}
