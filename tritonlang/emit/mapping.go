// tt.map_elementwise, whose region is an ordinary function of scalars.

package emit

import (
	"strings"

	"github.com/paddle-mps/paddle-mps/tritonlang/ttir"
)

// The region's terminator ends a function's body, as tt.return does.
func init() {
	rules["tt.map_elementwise"] = (*emitter).mapElements
	terminal["tt.map_elementwise.return"] = true
}

// mapElements emits tt.map_elementwise: its region becomes a function, which is called for each element. A region may
// have branches, and these differ from element to element: no operation of a region needs other threads.
func (e *emitter) mapElements(o *ttir.Op) {
	if o.Int("pack", 1) != 1 {
		refuse(o, "", "map_elementwise with a pack of more than 1 is not supported")
	}
	f, extra := e.mapFunction(o)
	l := e.plan.homeOf(o.Results[0])
	var out []*reg
	for _, v := range o.Results {
		out = append(out, e.array(nameOf(v), cType(v.Type.Element()), l.Registers()))
	}
	e.whole(l.Registers(), func(i at) string {
		var args []string
		for _, r := range out {
			args = append(args, e.element(r, nil, i))
		}
		for _, v := range o.Operands {
			args = append(args, e.element(e.get(v, l).regs, nil, i))
		}
		return f + "(" + strings.Join(append(args, extra...), ", ") + ");"
	})
	for i, v := range o.Results {
		e.done(v, e.convert(v, &value{regs: out[i]}, l, e.plan.homeOf(v)))
	}
}

// mapFunction makes a function of a region: its first parameters are the results.
func (e *emitter) mapFunction(o *ttir.Op) (name string, extra []string) {
	name = e.temp("map")
	r := o.Regions[0]
	var params []string
	var results []*slot
	for _, v := range o.Results {
		t := v.Type.Element()
		s := &slot{v: &ttir.Value{Name: v.Name, Type: t}, name: e.temp("result")}
		results = append(results, s)
		params = append(params, "thread "+cType(t)+" &"+s.name)
	}
	for _, v := range r.Blocks[0].Args {
		params = append(params, e.parameter(v))
	}
	captured, extra := e.captures(r)
	e.function(name, append(params, captured...), func() { e.body(r, results) })
	return name, extra
}
