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
	last, dy := len(f.attrs), []op.Input{{Name: "dy"}}
	for i := 1; i < len(f.out); i++ {
		dy[0].Optional = true // nothing may depend on one result, but not on all
		dy = append(dy, op.Input{Name: "dy_" + f.out[i].Name, Optional: true})
	}
	in := arranged(f.in, f.in, dy)
	return &op.Row{
		ID: id | pullbackBit, Name: f.name, Kind: kind, In: in, Attrs: attrs,
		Accepts: dtype.Floats, Infer: op.Rules{f.inferPullback}, Out: []op.Output{{Name: "dx", Variadic: true}}, Lower: op.LowerToCalls,
		Calls: func(c *op.Calls, in []op.Var, at op.Attrs) []op.Var { return f.gradients(c, in, at[:last], at[last].I) },
		Grad:  op.Grad{Rule: op.DifferentiateCalls, Reads: op.ReadsX | op.ReadsY | op.ReadsZ},
	}
}

// arranged is what a pullback takes, in its order: operands of the formula and gradients of its results, which come first where the
// last operand is any number of them.
func arranged[T any](declared []op.Input, in, dy []T) []T {
	if declared[len(declared)-1].Variadic {
		in, dy = dy, in
	}
	return slices.Concat(in, dy)
}

// gradientsGiven is how many results a formula has.
func (f *formula) gradientsGiven() int { return max(len(f.out), 1) }

// operandsOf are those of the formula, of what a pullback takes.
func operandsOf[T any](f *formula, in []T) []T {
	n := f.gradientsGiven()
	if f.many() {
		return in[n:]
	}
	return in[:len(in)-n]
}

// inferPullback is the rule of pullbacks: a gradient has the type of its operand.
func (f *formula) inferPullback(c *op.Inference) error {
	c.Out = c.Out[:0]
	in := operandsOf(f, c.In)
	for i := range in {
		if c.Attrs[len(c.Attrs)-1].I>>i&1 != 0 {
			c.Out = append(c.Out, in[i].Type)
		}
	}
	return nil
}

// gradients are those of the operands that are wanted, in the order of the operands. in is what a pullback takes.
// Halves are computed in float32, unless the formula is narrow.
func (f *formula) gradients(c *op.Calls, in []op.Var, at op.Attrs, wants int64) []op.Var {
	wide := in
	if !f.narrow {
		wide = widened(c, in)
	}
	in = operandsOf(f, in)
	dy := wide[len(in):]
	if f.many() {
		dy = wide[:f.gradientsGiven()]
	}
	g := op.Gradient{Calls: *c, Attrs: at, In: operandsOf(f, wide), Dy: slices.Clone(dy), Wants: make([]bool, len(in))}
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
	if len(g.Wants) > 63 { // more operands than there are bits
		op.DifferentiateCalls(g)
		return
	}
	pull, wants := g.Row.Pullback, int64(0)
	for i, wanted := range g.Wants {
		if wanted {
			wants |= 1 << i
		}
	}
	at := append(slices.Clone(g.Attrs), op.Value{Kind: op.Int, I: wants})
	dy := slices.Clone(g.Dy)
	for i := range dy {
		if dy[i] == op.NoVar {
			dy[i] = g.Number(op.Value{})
		}
	}
	in := arranged(g.Row.In, g.In, dy)
	var out []op.Var
	if w, ok := g.Calculator.(op.Whole); ok && w.RunsWhole() && !g.TypeOf(in[0]).DType.IsComplex() { // sums of complex ones are calls on their parts
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
