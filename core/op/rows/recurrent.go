package rows

import (
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// Recurrent layers over a whole sequence, in one direction. Composed of other rows, each time step is a product and a dozen of small
// calls; a device with a kernel of its own runs all steps in one call. The product of the inputs with their weights is not part of
// the rows, because it is one matrix product for all steps.

// reversed is the attribute of the direction.
var reversed = op.Attr{Name: "reverse", Type: op.BoolAttr, Default: op.Value{Kind: op.Bool}, Doc: "the last step of x comes first; results are in the order of x"}

// throughSteps is backpropagation through time: the gradient of the steps, which are computed once more.
var throughSteps = op.Grad{Rule: op.DifferentiateCalls, Reads: op.ReadsX | op.ReadsY | op.ReadsZ}

var recurrentRows = []op.Row{
	// The sums of a step have a rounding for each product. How much of an error of a state the next step passes on depends on the
	// weights, which is more than the tolerance can say, and is in the bound of the test.
	{
		ID: 232, Name: "lstm", Kind: op.Recur,
		In:  []op.Input{{Name: "x", Domain: op.Ordinary}, {Name: "weight", Domain: op.Ordinary}, {Name: "h", Domain: op.Ordinary}, {Name: "cell", Domain: op.Ordinary}},
		Out: []op.Output{{Name: "out"}, {Name: "last", Optional: true}}, Accepts: dtype.Floats, Infer: op.Rules{Same, recurred},
		Lower: op.LowerToCalls, Calls: lstmCalls, Grad: throughSteps, Tolerance: Accurate.Plus(op.Roundings{Term: 2}), Python: internal,
		Attrs: []op.Attr{reversed},
	},
	{
		ID: 233, Name: "gru", Kind: op.Recur,
		In:      []op.Input{{Name: "x", Domain: op.Ordinary}, {Name: "weight", Domain: op.Ordinary}, {Name: "h", Domain: op.Ordinary}, {Name: "bias", Domain: op.Ordinary, Optional: true}},
		Accepts: dtype.Floats, Infer: op.Rules{Same, recurred},
		Lower: op.LowerToCalls, Calls: gruCalls, Grad: throughSteps, Tolerance: Accurate.Plus(op.Roundings{Term: 2}), Python: internal,
		Attrs: []op.Attr{reversed, {Name: "linear", Type: op.BoolAttr, Default: op.Value{Kind: op.Bool}, Doc: "the reset gate multiplies the product with its bias instead of h"}},
	},
}

// recurred is the rule of recurrent layers: x is [steps, batch, gates * hidden], weight [hidden, gates * hidden] and a state
// [batch, hidden]. An LSTM has 4 gates and a second state, a GRU 3 and a bias.
//
// Without a step a result would be a state as it was, which devices do not copy for calls whose first result is empty.
func recurred(c *op.Inference) error {
	x, w, h, last := &c.In[0].Shape, &c.In[1].Shape, &c.In[2].Shape, &c.In[3]
	gates := int64(3)
	state := c.Row.ID == op.IDLstm
	if state {
		gates = 4
	}
	if x.Rank != 3 || w.Rank != 2 || h.Rank != 2 || op.Differ(x.Dims[2], w.Dims[1]) || op.Differ(x.Dims[1], h.Dims[0]) || op.Differ(w.Dims[0], h.Dims[1]) ||
		op.Differ(w.Dims[1], c.Times(w.Dims[0], gates)) || x.Dims[0] == 0 {
		return status.Errorf(status.Invalid, "[%s] x has shape %s, weight %s and h %s; want [1 or more steps, batch, %d * hidden], [hidden, %d * hidden] and [batch, hidden]",
			c.Row.Name, x, w, h, gates, gates)
	}
	want := *h
	if !state {
		want = shape.Shape{Rank: 1, Dims: [shape.MaxRank]int64{w.Dims[1]}}
	}
	if !last.Absent && op.Unlike(&last.Shape, &want) {
		return status.Errorf(status.Invalid, "[%s] %s has shape %s; want %s", c.Row.Name, c.Row.In[3].Name, &last.Shape, &want)
	}
	c.Out[0].Shape = *x
	c.Out[0].Shape.Dims[2] = h.Dims[1]
	if state {
		c.Out = append(c.Out, op.Type{DType: c.Out[0].DType, Shape: *h})
	}
	return nil
}

// Recurrent layers in terms of other rows, for devices without kernels of them: the steps of the sequence one after the other.

// lstmCalls is an LSTM as calls of other rows.
func lstmCalls(c *op.Calls, in []op.Var, at op.Attrs) []op.Var {
	h, cell := in[2], in[3]
	hidden := c.Shape(h).Dims[1]
	out := unrolled(c, in[0], at[op.LstmReverse].I != 0, func(x op.Var) op.Var {
		g := gates(c, c.Add(x, Product(c, h, in[1], false, false)), hidden, hidden, hidden, hidden)
		cell = c.Add(c.Multiply(sigmoid(c, g[2]), cell), c.Multiply(sigmoid(c, g[0]), tanh(c, g[3])))
		h = c.Multiply(sigmoid(c, g[1]), tanh(c, cell))
		return h
	})
	return []op.Var{out, cell}
}

// gruCalls is a GRU as calls of other rows.
func gruCalls(c *op.Calls, in []op.Var, at op.Attrs) []op.Var {
	h, bias := in[2], in[3]
	n := c.Shape(h).Dims[1]
	linear, biased := at[op.GruLinear].I != 0, c.Err == nil && !c.Absent(bias)
	// A product of its own is that of the state times the reset gate.
	weights, biases := []op.Var{in[1]}, []op.Var{bias}
	if !linear {
		weights = gates(c, in[1], 2*n, n)
		if biased {
			biases = partsAlong(c, bias, 0, 2*n, n)
		}
	}
	times := func(state op.Var, i int) op.Var {
		p := Product(c, state, weights[i], false, false)
		if biased {
			p = c.Add(p, biases[i])
		}
		return p
	}
	out := unrolled(c, in[0], at[op.GruReverse].I != 0, func(all op.Var) op.Var {
		x := gates(c, all, n, n, n)
		var p []op.Var
		if linear {
			p = gates(c, times(h, 0), n, n, n)
		} else {
			p = gates(c, times(h, 0), n, n)
		}
		z, r := sigmoid(c, c.Add(x[0], p[0])), sigmoid(c, c.Add(x[1], p[1]))
		var own op.Var
		if linear {
			own = c.Multiply(r, p[2])
		} else {
			own = times(c.Multiply(r, h), 1)
		}
		own = tanh(c, c.Add(x[2], own))
		h = c.Add(c.Multiply(c.Subtract(c.Float(1), z), own), c.Multiply(z, h))
		return h
	})
	return []op.Var{out}
}

// unrolled calls next with each step of a sequence, and stacks what it returns in the order of the sequence.
func unrolled(c *op.Calls, x op.Var, reverse bool, next func(op.Var) op.Var) op.Var {
	n := c.Shape(x).Dims[0]
	made := make([]op.Var, n)
	for i := int64(0); i < n && c.Err == nil; i++ {
		t := i
		if reverse {
			t = n - 1 - i
		}
		step := c.Do(op.IDSlice, op.Attrs{
			op.SliceAxes: {Kind: op.Ints, Ints: []int64{0}}, op.SliceStarts: {Kind: op.Ints, Ints: []int64{t}}, op.SliceEnds: {Kind: op.Ints, Ints: []int64{t + 1}},
		}, x)
		made[t] = next(c.Do(op.IDSqueeze, op.Attrs{op.SqueezeAxis: {Kind: op.Ints, Ints: []int64{0}}}, step))
	}
	return c.Do(op.IDStack, op.Attrs{op.StackAxis: {Kind: op.Int}}, made...)
}

// gates are parts of the columns of a matrix, of these widths.
func gates(c *op.Calls, v op.Var, widths ...int64) []op.Var { return partsAlong(c, v, 1, widths...) }

// partsAlong are parts of a value along an axis, of these sizes. After an error they are as many, so that rules need not look at it.
func partsAlong(c *op.Calls, v op.Var, axis int64, sizes ...int64) []op.Var {
	out := c.DoMany(op.IDSplit, op.Attrs{op.SplitSections: {Kind: op.Ints, Ints: sizes}, op.SplitAxis: {Kind: op.Int, I: axis}}, v)
	return append(out, make([]op.Var, len(sizes)-len(out))...)
}

func sigmoid(c *op.Calls, x op.Var) op.Var { return c.Do(op.IDSigmoid, nil, x) }
func tanh(c *op.Calls, x op.Var) op.Var    { return c.Do(op.IDTanh, nil, x) }
