package op

import (
	"slices"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// The gradients of composites.
//
// Each composite has a pullback: a row that is not in the table, which makes the gradients of the operands from the operands
// and the gradient of the result. It is said by calls, as the composite is, so that an eager backward pass runs it as one
// program. Its own gradient, for gradients of gradients, is that of its calls, which run one by one.

// pullbackBit tells the number of a pullback from that of its composite.
const pullbackBit ID = 1 << 15

// Whole is a calculator that runs the call of a composite as one program. Rules of composites are then one call.
type Whole interface {
	Calculator
	RunsWhole() bool
}

// pullback is the row with the gradients of a composite. Its last attribute has a bit for each operand whose gradient is wanted.
func (f *formula) pullback(id ID, kind Kind) *Row {
	attrs := append(slices.Clone(f.attrs), Attr{Name: "wants", Type: IntAttr, Needed: true, Doc: "a bit for each operand"})
	last := len(f.attrs)
	return &Row{
		ID: id | pullbackBit, Name: f.name, Kind: kind, In: append(slices.Clone(f.in), Input{Name: "dy"}), Attrs: attrs,
		Accepts: dtype.Floats, Infer: rules{inferPullback}, Out: []Output{{Name: "dx", Variadic: true}}, Lower: lowerToCalls,
		Calls: func(c *Calls, in []Var, at Attrs) []Var { return f.gradients(c, in, at[:last], at[last].I) },
		Grad:  Grad{Rule: differentiateCalls, Reads: ReadsX | ReadsY | ReadsZ},
	}
}

// inferPullback is the rule of pullbacks: a gradient has the type of its operand.
func inferPullback(c *Inference) error {
	c.Out = c.Out[:0]
	for i := range len(c.In) - 1 {
		if c.Attrs[len(c.Attrs)-1].I>>i&1 != 0 {
			c.Out = append(c.Out, c.In[i].Type)
		}
	}
	return nil
}

// gradients are those of the operands that are wanted, in the order of the operands. in ends with the gradient of the result.
// Halves are computed in float32, unless the formula is narrow.
func (f *formula) gradients(c *Calls, in []Var, at Attrs, wants int64) []Var {
	wide, n := in, len(in)-1
	if !f.narrow {
		wide = c.widened(in)
	}
	g := Gradient{Calls: *c, Attrs: at, In: wide[:n], Dy: wide[n:], Wants: make([]bool, n)}
	for i := range g.Wants {
		g.Wants[i] = wants>>i&1 != 0
	}
	g.clear()
	if f.gradient != nil {
		g.Set(0, f.gradient.calls(&g.Calls, wide, at))
	} else {
		g.throughCalls(func(c *Calls, in []Var, at Attrs) []Var { return []Var{f.calls(c, in, at)} })
	}
	var out []Var
	for i, dx := range g.Dx {
		if !g.Wants[i] {
			continue
		}
		if g.Err == nil && dx == NoVar {
			dx = g.Full(in[i], 0)
		}
		if g.Err == nil {
			dx = g.Cast(dx, g.TypeOf(in[i]).DType)
		}
		out = append(out, dx)
	}
	c.Err = g.Err
	return out
}

// gradOfComposite is the rule of all composites: a call of the pullback or, where that would not be one program, its calls.
func gradOfComposite(g *Gradient) {
	pull, wants := g.Row.pullback, int64(0)
	for i, wanted := range g.Wants {
		if wanted {
			wants |= 1 << i
		}
	}
	at := append(slices.Clone(g.Attrs), Value{Kind: Int, I: wants})
	in := append(slices.Clone(g.In), g.Dy[0])
	var out []Var
	if w, ok := g.Calculator.(Whole); ok && w.RunsWhole() {
		out, g.Err = g.Call(pull, in, at)
	} else {
		out = pull.Calls(&g.Calls, in, at)
	}
	for i := range g.Wants {
		if g.Wants[i] && g.Err == nil {
			g.Dx[i], out = out[0], out[1:]
		}
	}
}

// differentiateCalls is the rule of rows whose gradient is that of their calls.
func differentiateCalls(g *Gradient) { g.throughCalls(g.Row.Calls) }

// throughCalls answers with the gradients of calls: they are made once more, and then the rules of their rows are asked, from
// the last call to the first.
func (g *Gradient) throughCalls(calls func(c *Calls, in []Var, at Attrs) []Var) {
	tape := tape{Calculator: g.Calculator, asks: map[Var]bool{}}
	for i, v := range g.In {
		if g.Wants[i] {
			tape.asks[v] = true
		}
	}
	forward := Calls{Calculator: &tape}
	out := calls(&forward, g.In, g.Attrs)
	if g.Err = forward.Err; g.Err != nil {
		return
	}
	dy := map[Var]Var{}
	for i, v := range out {
		if i < len(g.Dy) && g.Dy[i] != NoVar && tape.asks[v] {
			g.accumulate(dy, v, g.Dy[i])
		}
	}
	for _, n := range slices.Backward(tape.nodes) {
		g.through(&n, dy, tape.asks)
	}
	for i, v := range g.In {
		if d, ok := dy[v]; ok {
			g.Set(i, d)
		}
	}
}

// tape is a calculator that remembers its calls, and which values depend on the operands that want gradients.
type tape struct {
	Calculator
	nodes []taped
	asks  map[Var]bool
}

// taped is a call of a tape.
type taped struct {
	row     *Row
	at      Attrs
	in, out []Var
}

// Call makes a call and remembers it, if a gradient goes through it.
func (t *tape) Call(row *Row, in []Var, at Attrs) ([]Var, error) {
	given := slices.Clone(in)
	out, err := t.Calculator.Call(row, in, at)
	if err != nil || row.Grad.Constant || !slices.ContainsFunc(given, func(v Var) bool { return t.asks[v] }) {
		return out, err
	}
	for _, v := range out {
		if d := t.TypeOf(v).DType; d.IsFloat() || d.IsComplex() {
			t.asks[v] = true
		}
	}
	t.nodes = append(t.nodes, taped{row, at, given, out})
	return out, nil
}

// through asks the rule of a call, if its results have a gradient, and adds up what it answers.
func (g *Gradient) through(n *taped, dy map[Var]Var, asks map[Var]bool) {
	one := Gradient{Calls: g.Calls, Row: n.row, Attrs: n.at, In: n.in, Out: n.out, Wants: make([]bool, len(n.in))}
	found := false
	for _, v := range n.out {
		d, ok := dy[v]
		if !ok {
			d = NoVar
		}
		found = found || ok
		one.Dy = append(one.Dy, d)
	}
	if g.Err != nil || !found {
		return
	}
	for i, v := range n.in {
		one.Wants[i] = asks[v]
	}
	if g.Err = one.Differentiate(); g.Err != nil {
		return
	}
	for i, d := range one.Dx {
		if d != NoVar && one.Wants[i] {
			g.accumulate(dy, n.in[i], d)
		}
	}
}

// accumulate adds to the gradient of a value.
func (g *Gradient) accumulate(dy map[Var]Var, v, d Var) {
	if before, ok := dy[v]; ok {
		d = g.add(before, d)
	}
	dy[v] = d
}

// clear sets all gradients to none.
func (g *Gradient) clear() {
	g.Dx = make([]Var, len(g.In))
	for i := range g.Dx {
		g.Dx[i] = NoVar
	}
}

// Differentiate asks the rule of the row.
func (g *Gradient) Differentiate() error {
	g.clear()
	if g.Row.Grad.Rule == nil {
		return status.Errorf(status.Unsupported, "[%s] has no gradient", g.Row.Name)
	}
	g.Row.Grad.Rule(g)
	return g.Err
}
