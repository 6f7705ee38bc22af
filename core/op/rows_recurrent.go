package op

import (
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// Recurrent layers over a whole sequence, in one direction. Composed of other rows, each time step is a product and a dozen of small
// calls; a device with a kernel of its own runs all steps in one call. The product of the inputs with their weights is not part of
// the rows, because it is one matrix product for all steps.

// reversed is the attribute of the direction.
var reversed = Attr{Name: "reverse", Type: BoolAttr, Default: Value{Kind: Bool}, Doc: "the last step of x comes first; results are in the order of x"}

var recurrentRows = []Row{
	// The sums of a step have a rounding for each product. How much of an error of a state the next step passes on depends on the
	// weights, which is more than the tolerance can say, and is in the bound of the test.
	{
		ID: 232, Name: "lstm", Kind: Recur,
		In:  []Input{{Name: "x", Domain: Ordinary}, {Name: "weight", Domain: Ordinary}, {Name: "h", Domain: Ordinary}, {Name: "cell", Domain: Ordinary}},
		Out: []Output{{Name: "out"}, {Name: "last", Optional: true}}, Accepts: dtype.Floats, Infer: rules{same, recurred},
		Lower: lowerToCalls, Calls: lstmCalls, Tolerance: accurate.plus(Roundings{Term: 2}), Python: internal,
		Attrs: []Attr{reversed},
	},
	{
		ID: 233, Name: "gru", Kind: Recur,
		In:      []Input{{Name: "x", Domain: Ordinary}, {Name: "weight", Domain: Ordinary}, {Name: "h", Domain: Ordinary}, {Name: "bias", Domain: Ordinary, Optional: true}},
		Accepts: dtype.Floats, Infer: rules{same, recurred},
		Lower: lowerToCalls, Calls: gruCalls, Tolerance: accurate.plus(Roundings{Term: 2}), Python: internal,
		Attrs: []Attr{reversed, {Name: "linear", Type: BoolAttr, Default: Value{Kind: Bool}, Doc: "the reset gate multiplies the product with its bias instead of h"}},
	},
}

// recurred is the rule of recurrent layers: x is [steps, batch, gates * hidden], weight [hidden, gates * hidden] and a state
// [batch, hidden]. An LSTM has 4 gates and a second state, a GRU 3 and a bias.
//
// Without a step a result would be a state as it was, which devices do not copy for calls whose first result is empty.
func recurred(c *Inference) error {
	x, w, h, last := &c.In[0].Shape, &c.In[1].Shape, &c.In[2].Shape, &c.In[3]
	gates := int64(3)
	state := c.Row.ID == IDLstm
	if state {
		gates = 4
	}
	if x.Rank != 3 || w.Rank != 2 || h.Rank != 2 || differ(x.Dims[2], w.Dims[1]) || differ(x.Dims[1], h.Dims[0]) || differ(w.Dims[0], h.Dims[1]) ||
		differ(w.Dims[1], c.times(w.Dims[0], gates)) || x.Dims[0] == 0 {
		return status.Errorf(status.Invalid, "[%s] x has shape %s, weight %s and h %s; want [1 or more steps, batch, %d * hidden], [hidden, %d * hidden] and [batch, hidden]",
			c.Row.Name, x, w, h, gates, gates)
	}
	want := *h
	if !state {
		want = shape.Shape{Rank: 1, Dims: [shape.MaxRank]int64{w.Dims[1]}}
	}
	if !last.Absent && unlike(&last.Shape, &want) {
		return status.Errorf(status.Invalid, "[%s] %s has shape %s; want %s", c.Row.Name, c.Row.In[3].Name, &last.Shape, &want)
	}
	c.Out[0].Shape = *x
	c.Out[0].Shape.Dims[2] = h.Dims[1]
	if state {
		c.Out = append(c.Out, Type{DType: c.Out[0].DType, Shape: *h})
	}
	return nil
}
