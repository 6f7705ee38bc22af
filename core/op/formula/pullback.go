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
	last := len(f.attrs)
	return &op.Row{
		ID: id | pullbackBit, Name: f.name, Kind: kind, In: append(slices.Clone(f.in), op.Input{Name: "dy"}), Attrs: attrs,
		Accepts: dtype.Floats, Infer: op.Rules{inferPullback}, Out: []op.Output{{Name: "dx", Variadic: true}}, Lower: op.LowerToCalls,
		Calls: func(c *op.Calls, in []op.Var, at op.Attrs) []op.Var { return f.gradients(c, in, at[:last], at[last].I) },
		Grad:  op.Grad{Rule: op.DifferentiateCalls, Reads: op.ReadsX | op.ReadsY | op.ReadsZ},
	}
}

// inferPullback is the rule of pullbacks: a gradient has the type of its operand.
func inferPullback(c *op.Inference) error {
	c.Out = c.Out[:0]
	for i := range len(c.In) - 1 {
		if c.Attrs[len(c.Attrs)-1].I>>i&1 != 0 {
			c.Out = append(c.Out, c.In[i].Type)
		}
	}
	return nil
}

// gradients are those of the operands that are wanted, in the order of the operands. in ends with the gradient of the result.
// Halves are computed in float32.
func (f *formula) gradients(c *op.Calls, in []op.Var, at op.Attrs, wants int64) []op.Var {
	wide, n := widened(c, in), len(in)-1
	g := op.Gradient{Calls: *c, Attrs: at, In: wide[:n], Dy: wide[n:], Wants: make([]bool, n)}
	for i := range g.Wants {
		g.Wants[i] = wants>>i&1 != 0
	}
	g.Clear()
	if f.gradient != nil {
		g.Set(0, f.gradient.calls(&g.Calls, wide, at))
	} else {
		g.ThroughCalls(func(c *op.Calls, in []op.Var, at op.Attrs) []op.Var { return []op.Var{f.calls(c, in, at)} })
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
	in := append(slices.Clone(g.In), g.Dy[0])
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
