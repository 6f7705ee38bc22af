package formula

import (
	"math"
	"strings"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/op/rows"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// Recurrent layers with what the rows lstm and gru lack: other activations, bounds, peepholes, sequences of several lengths, weights
// of 8 bits. A step is a few calls, and all steps are.

// recurrentGates is how many gates a kind of layer has, and how many activations it names.
var recurrentGates = map[string]struct{ gates, activations int64 }{"rnn": {1, 1}, "gru": {3, 2}, "lstm": {4, 3}}

// activations are the functions of gates, and what alpha and beta are where they are not given.
var activations = map[string][2]float64{
	"relu": {}, "tanh": {}, "sigmoid": {}, "softplus": {}, "softsign": {}, "affine": {1, 0}, "leakyrelu": {0.01}, "thresholdedrelu": {1},
	"scaledtanh": {1, 1}, "hardsigmoid": {0.2, 0.5}, "elu": {1},
}

// steppedStates is the rule of recurrent.
func steppedStates(c *op.Inference) error {
	if err := likeFirst(c); err != nil {
		return err
	}
	x, w, h := &c.In[0].Shape, &c.In[1].Shape, &c.In[2].Shape
	kind, known := recurrentGates[c.Attr("kind").Str()]
	if !known {
		return oneOf(c, map[string][]string{"kind": {"rnn", "gru", "lstm"}})
	}
	wrong := func(format string, args ...any) error {
		return status.Errorf(status.Invalid, "[%s] "+format, append([]any{c.Row.Name}, args...)...)
	}
	names := strings.Split(c.Attr("activations").Str(), ",")
	for _, name := range names {
		if _, ok := activations[name]; !ok {
			return status.Errorf(status.Unsupported, "[%s] activation %q is not supported", c.Row.Name, name)
		}
	}
	if alpha, beta := c.Attr("alpha").Floats(), c.Attr("beta").Floats(); int64(len(names)) != kind.activations || len(alpha) > len(names) || len(beta) > len(names) {
		return wrong("there are %d activations with %d and %d parameters; want %d, and at most one of each", len(names), len(alpha), len(beta), kind.activations)
	}
	if x.Rank != 3 || w.Rank != 2 || h.Rank != 2 || op.Differ(x.Dims[2], w.Dims[1]) || op.Differ(x.Dims[1], h.Dims[0]) || op.Differ(w.Dims[0], h.Dims[1]) ||
		op.Differ(w.Dims[1], c.Times(w.Dims[0], kind.gates)) || x.Dims[0] == 0 {
		return wrong("x has shape %s, weight %s and h %s; want [1 or more steps, batch, %d * hidden], [hidden, %d * hidden] and [batch, hidden]", x, w, h, kind.gates, kind.gates)
	}
	line := func(n int64) *shape.Shape { s := rows.Line(n, 1, 0); return &s }
	for i, want := range map[int]*shape.Shape{3: h, 4: line(w.Dims[1]), 5: line(c.Times(w.Dims[0], 3)), 6: line(x.Dims[1])} {
		if given := &c.In[i]; !given.Absent && op.Unlike(&given.Shape, want) {
			return wrong("%s has shape %s; want %s", c.Row.In[i].Name, &given.Shape, want)
		}
	}
	if c.In[3].Absent == (kind.gates == 4) {
		return wrong("cell is given: %t; want it of kind 'lstm' alone", !c.In[3].Absent)
	}
	c.Out[0].Shape = *x
	c.Out[0].Shape.Dims[2] = h.Dims[1]
	c.Out = append(c.Out, op.Type{DType: c.Out[0].DType, Shape: *h}, op.Type{DType: c.Out[0].DType, Shape: *h})
	return nil
}

// stepping is a call of recurrent.
type stepping struct {
	*evaluation
	weight, bias, peephole, scale, zero op.Var // NoVar where one is left out
	hidden                              int64
	names                               []string
	alpha, beta                         []float64
	clip                                float64
	linear, coupled                     bool
}

// stepStates computes recurrent. Steps behind the end of a sequence give 0 and leave the states as they are.
func stepStates(e *evaluation, args []*quantity) *quantity {
	given := func(i int) op.Var {
		if isGiven(e, args[i:i+1]).value.I == 0 {
			return op.NoVar
		}
		return args[i].v
	}
	kind, reverse := args[9].value.Str(), args[16].value.I != 0
	l := &stepping{
		evaluation: e, weight: args[1].v, bias: given(4), peephole: given(5), scale: given(7), zero: given(8), hidden: e.Shape(args[1].v).Dims[0],
		names: strings.Split(args[10].value.Str(), ","), alpha: args[11].value.Floats(), beta: args[12].value.Floats(),
		clip: args[13].value.F, linear: args[14].value.I != 0, coupled: args[15].value.I != 0,
	}
	x, lengths := args[0].v, given(6)
	s := e.Shape(x)
	steps, line := s.Dims[0], shape.Shape{Rank: 2}
	line.Dims[0], line.Dims[1] = s.Dims[1], s.Dims[2]
	on := shape.Shape{Rank: 2}
	on.Dims[0], on.Dims[1] = s.Dims[1], 1
	if lengths != op.NoVar {
		lengths = e.Reshape(e.Cast(lengths, dtype.Int64), &on)
	}
	state := []op.Var{args[2].v, args[2].v}
	if kind == "lstm" {
		state[1] = args[3].v
	}
	made := make([]op.Var, steps)
	for i := range steps {
		t := i
		if reverse {
			t = steps - 1 - i
		}
		before := state
		state = l.step(kind, e.Reshape(between(e.Calls, x, 0, t, t+1), &line), before)
		made[t] = state[0]
		if lengths != op.NoVar {
			runs := e.Do(op.IDGreaterThan, nil, lengths, e.Int(t))
			made[t] = e.Where(runs, state[0], none(e.Calls, state[0]))
			for k := range state {
				state[k] = e.Where(runs, state[k], before[k])
			}
		}
	}
	all := e.Do(op.IDStack, op.Attrs{{Kind: op.Int}}, made...)
	return &quantity{v: all, results: []op.Var{all, state[0], e.Do(op.IDAssign, nil, state[1])}}
}

// step is the states behind a step: x has the products with the inputs. The second state is that of an LSTM, or the first.
func (l *stepping) step(kind string, x op.Var, state []op.Var) []op.Var {
	switch kind {
	case "gru":
		h := l.gru(x, state[0])
		return []op.Var{h, h}
	case "lstm":
		return l.lstm(x, state[0], state[1])
	}
	h := l.activated(0, l.Add(x, l.product(state[0])))
	return []op.Var{h, h}
}

// product is that of a state with the weights. With those of integers, the state is quantized.
func (l *stepping) product(h op.Var) op.Var {
	y := op.NoVar
	if l.scale == op.NoVar {
		y = rows.Product(l.Calls, h, l.weight, false, false)
	} else {
		q := l.DoMany(op.IDDynamicQuantizeLinear, nil, h)
		if l.Err != nil {
			return op.NoVar
		}
		p := l.Do(op.IDMatmulInteger, nil, q[0], l.weight, q[2])
		if l.zero != op.NoVar { // it takes from an element the sum of a line of the state, which is its product with ones
			ones := shape.Shape{Rank: 2}
			ones.Dims[0], ones.Dims[1] = l.hidden, 1
			sums := l.Do(op.IDMatmulInteger, nil, q[0], l.Filled(&ones, op.Value{Kind: op.Int, I: 1}, dtype.Int8), q[2])
			p = l.Do(op.IDSubtract, nil, p, l.Do(op.IDMultiply, nil, sums, l.Cast(l.zero, dtype.Int32)))
		}
		y = l.Multiply(l.Cast(p, l.dtypeOf(h)), l.Multiply(q[1], l.scale))
	}
	return y
}

// part is part i of products of all gates.
func (l *stepping) part(x op.Var, i int64) op.Var {
	return between(l.Calls, x, int64(l.Shape(x).Rank-1), i*l.hidden, (i+1)*l.hidden)
}

// gru has the gates z, r and h: H' = (1 - z) h + z H. linear says whether the reset gate is applied to the product of H, as in cuDNN,
// and not to H.
func (l *stepping) gru(x, h op.Var) op.Var {
	made, last := op.NoVar, op.NoVar
	if l.linear {
		if made = l.product(h); l.bias != op.NoVar {
			made = l.Add(made, l.bias)
		}
	} else {
		made = rows.Product(l.Calls, h, between(l.Calls, l.weight, 1, 0, 2*l.hidden), false, false)
	}
	z := l.activated(0, l.Add(l.part(x, 0), l.part(made, 0)))
	r := l.activated(0, l.Add(l.part(x, 1), l.part(made, 1)))
	if l.linear {
		last = l.Multiply(r, l.part(made, 2))
	} else {
		last = rows.Product(l.Calls, l.Multiply(r, h), l.part(l.weight, 2), false, false)
	}
	last = l.activated(1, l.Add(l.part(x, 2), last))
	return l.Add(l.Multiply(l.Subtract(l.Float(1), z), last), l.Multiply(z, h))
}

// lstm has the gates i, o, f and c. C' = f C + i c and H' = o h(C'). Peepholes let i and f see C, and o see C'. The bound is for the
// gates, not for the cell: ONNX leaves that open, and onnxruntime does it so.
func (l *stepping) lstm(x, h, cell op.Var) []op.Var {
	sum := l.Add(x, l.product(h))
	gate := func(i int64, seen op.Var, peep int64) op.Var {
		v := l.part(sum, i)
		if l.peephole != op.NoVar {
			v = l.Add(v, l.Multiply(l.part(l.peephole, peep), seen))
		}
		return l.activated(0, v)
	}
	in := gate(0, cell, 0)
	forget := op.NoVar
	if l.coupled {
		forget = l.Subtract(l.Float(1), in)
	} else {
		forget = gate(2, cell, 2)
	}
	cell = l.Add(l.Multiply(forget, cell), l.Multiply(in, l.activated(1, l.part(sum, 3))))
	return []op.Var{l.Multiply(gate(1, cell, 1), l.activation(2, cell)), cell}
}

// activated applies activation i, to what lies within the bound.
func (l *stepping) activated(i int, x op.Var) op.Var {
	if l.clip > 0 {
		x = l.Do(op.IDClip, nil, x, l.Float(-l.clip), l.Float(l.clip))
	}
	return l.activation(i, x)
}

func (l *stepping) activation(i int, x op.Var) op.Var {
	param := func(list []float64, k int) float64 {
		if i < len(list) && !math.IsNaN(list[i]) {
			return list[i]
		}
		return activations[l.names[i]][k]
	}
	alpha, beta := param(l.alpha, 0), param(l.beta, 1)
	number := func(f float64) op.Value { return op.Value{Kind: op.Float, F: f} }
	switch l.names[i] {
	case "affine":
		return l.Plus(l.Scale(x, alpha), beta)
	case "leakyrelu":
		return l.Do(op.IDLeakyRelu, op.Attrs{op.LeakyReluNegativeSlope: number(alpha)}, x)
	case "thresholdedrelu":
		return l.Do(op.IDThresholdedRelu, op.Attrs{op.ThresholdedReluThreshold: number(alpha)}, x)
	case "scaledtanh":
		return l.Scale(l.Do(op.IDTanh, nil, l.Scale(x, beta)), alpha)
	case "hardsigmoid":
		return l.Do(op.IDHardsigmoid, op.Attrs{op.HardsigmoidSlope: number(alpha), op.HardsigmoidOffset: number(beta)}, x)
	case "elu":
		return l.Do(op.IDElu, op.Attrs{op.EluAlpha: number(alpha)}, x)
	}
	row, err := op.ByName(l.names[i])
	if err != nil {
		l.Err = err
		return op.NoVar
	}
	return l.Do(row.ID, nil, x)
}
