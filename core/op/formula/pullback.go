package formula

import (
	"slices"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
)

// The gradients of composites.
//
// Each composite has a pullback: a row that is not in the table, which makes the gradients of the operands from the operands
// and the gradient of the result. It is said by calls, as the composite is, so that an eager backward pass runs it as one
// program. Its own gradient, for gradients of gradients, is that of its calls, which run one by one.

// pullbackBit tells the number of a pullback from that of its composite.
const pullbackBit op.ID = 1 << 15

// pullback is the row with the gradients of a composite. Its last attribute has a bit for each operand whose gradient is wanted.
func (f *formula) pullback(id op.ID, kind op.Kind) *op.Row {
	attrs := append(slices.Clone(f.attrs), op.Attr{Name: "wants", Type: op.IntAttr, Needed: true, Doc: "a bit for each operand"})
	last, in := len(f.attrs), append(slices.Clone(f.in), op.Input{Name: "dy"})
	for i := 1; i < len(f.out); i++ {
		in[len(f.in)].Optional = true // nothing may depend on one result, but not on all
		in = append(in, op.Input{Name: "dy_" + f.out[i].Name, Optional: true})
	}
	return &op.Row{
		ID: id | pullbackBit, Name: f.name, Kind: kind, In: in, Attrs: attrs,
		Accepts: dtype.Floats, Infer: op.Rules{f.inferPullback}, Out: []op.Output{{Name: "dx", Variadic: true}}, Lower: op.LowerToCalls,
		Calls: func(c *op.Calls, in []op.Var, at op.Attrs) []op.Var { return f.gradients(c, in, at[:last], at[last].I) },
		Grad:  op.Grad{Rule: op.DifferentiateCalls, Reads: op.ReadsX | op.ReadsY | op.ReadsZ},
	}
}

// inferPullback is the rule of pullbacks: a gradient has the type of its operand.
func (f *formula) inferPullback(c *op.Inference) error {
	c.Out = c.Out[:0]
	for i := range f.in {
		if c.Attrs[len(c.Attrs)-1].I>>i&1 != 0 {
			c.Out = append(c.Out, c.In[i].Type)
		}
	}
	return nil
}

// gradients are those of the operands that are wanted, in the order of the operands. in ends with the gradients of the results.
// Halves are computed in float32.
func (f *formula) gradients(c *op.Calls, in []op.Var, at op.Attrs, wants int64) []op.Var {
	wide, n := widened(c, in), len(f.in)
	g := op.Gradient{Calls: *c, Attrs: at, In: wide[:n], Dy: slices.Clone(wide[n:]), Wants: make([]bool, n)}
	for i, dy := range g.Dy {
		if c.Absent(dy) {
			g.Dy[i] = op.NoVar
		}
	}
	for i := range g.Wants {
		g.Wants[i] = wants>>i&1 != 0
	}
	g.Clear()
	if f.gradient != nil {
		if slope := f.gradient.calls(&g.Calls, wide, at); g.Err == nil {
			g.Set(0, slope[0])
		}
	} else {
		g.ThroughCalls(f.calls)
	}
	var out []op.Var
	for i, dx := range g.Dx {
		if !g.Wants[i] {
			continue
		}
		if g.Err == nil && dx == op.NoVar {
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
func gradOfComposite(g *op.Gradient) {
	pull, wants := g.Row.Pullback, int64(0)
	for i, wanted := range g.Wants {
		if wanted {
			wants |= 1 << i
		}
	}
	at := append(slices.Clone(g.Attrs), op.Value{Kind: op.Int, I: wants})
	in := slices.Clone(g.In)
	for _, dy := range g.Dy {
		if dy == op.NoVar {
			dy = g.Number(op.Value{})
		}
		in = append(in, dy)
	}
	var out []op.Var
	if w, ok := g.Calculator.(op.Whole); ok && w.RunsWhole() {
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
