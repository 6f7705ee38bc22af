package ops

import (
	"slices"
	"strings"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/onnx/build"
)

// Recurrent networks. The product of all inputs with their weights is one matrix product before the first step. The steps of a
// plain LSTM or GRU are one call of a row. All others become a few rows for each step: the length of the sequence is known, so that
// all steps are part of the graph.
//
// The number of steps is that of the shape, so that a longer sequence is another graph: models with many lengths
// compile for each of them.

var recurrent = []entry{
	{"RNN", 1, 0, func(c *build.Call) []*build.Value { return runRecurrent(c, 1, 1, (*layer).rnn) }},
	// GRU: gates z, r, h.
	{"GRU", 1, 0, func(c *build.Call) []*build.Value { return runRecurrent(c, 3, 1, (*layer).gru) }},
	// LSTM: gates i, o, f, c.
	{"LSTM", 1, 0, func(c *build.Call) []*build.Value { return runRecurrent(c, 4, 2, (*layer).lstm) }},
	// DynamicQuantizeLSTM: LSTM with weights of 8 bits, [directions, input, 4 * hidden] and [directions, hidden, 4 * hidden];
	// behind its operands are scale and zero point of each.
	{"com.microsoft:DynamicQuantizeLSTM", 1, 0, func(c *build.Call) []*build.Value { return runRecurrent(c, 4, 2, (*layer).lstm) }},
}

// activation is a function of a gate.
type activation func(x *build.Value) *build.Value

// layer is one direction of a recurrent network.
type layer struct {
	*build.Call
	hidden   int64
	weight   weights      // of the state
	early    *build.Value // the bias that is added before the first step, for all steps at once: [gates * hidden]; nil
	bias     *build.Value // of the state, where each step adds it; nil
	peephole *build.Value // [3 * hidden]; nil
	f        []activation
	bound    float64 // of what activations get; 0: none
	linear   bool    // GRU: the reset gate comes after the product
	coupled  bool    // LSTM: the forget gate is 1 - the input gate
	usual    bool    // the activations are those of the definition
}

// step is one step: x has the products with the inputs, and state what the step before has made, h first.
type step func(l *layer, x *build.Value, state []*build.Value) []*build.Value

// runRecurrent runs a network of gates and states, in one direction or two. Operands: X, W, R, B, lengths of the
// sequences, initial H, initial C, peepholes. Results: all H as [steps, directions, batch, hidden], and the last of
// each state. Attribute layout puts the batch first in all of them. Steps behind the end of a sequence give 0 and
// leave the states as they are.
func runRecurrent(c *build.Call, gates, states int, next step) []*build.Value {
	x := c.X(0)
	batchFirst := c.Yes("layout", 0)
	if x.Rank() != 3 {
		c.Wrong("the operand has %d dimensions; want 3", x.Rank())
	}
	if batchFirst {
		x = c.Swap(x, 0, 1)
	}
	steps, batch := x.Dims()[0], x.Dims()[1]
	if steps > longestLoop {
		c.Refuse("the sequence has %d steps; want at most %d", steps, longestLoop)
	}
	var lengths *build.Value
	if c.Has(4) {
		lengths = c.Cast(c.X(4), dtype.Int64)
	}
	direction := c.Text("direction", "forward")
	both := 1
	if direction == "bidirectional" {
		both = 2
	}
	all, last := make([]*build.Value, both), make([][]*build.Value, states)
	// The directions share nothing but the operands. The one that goes back sees a sequence in reverse, and its results
	// are reversed again at the end.
	for d := range both {
		l := layerOf(c, d, gates)
		var start []*build.Value
		for s := range states {
			start = append(start, initial(c, 5+s, d, batch, l.hidden, batchFirst, x.DType))
		}
		back := d == 1 || direction == "reverse"
		in, plain := x, steps > 0 && lengths == nil && l.plain()
		if back && !plain {
			in = backwards(c, x, lengths)
		}
		in = weightsOf(c, 1, d).of(c, in)
		if c.Has(3) {
			in = c.Add(in, l.early)
		}
		if plain {
			all[d], start = l.sequence(in, start, back)
			for s := range states {
				last[s] = append(last[s], start[s])
			}
			continue
		}
		made := make([]*build.Value, steps)
		for t := range steps {
			before := start
			start = next(l, c.Pick(in, 0, t), before)
			made[t] = start[0]
			if lengths != nil {
				on := c.Reshape(c.Binary(op.IDLessThan, build.Whole(t), lengths), batch, 1)
				made[t] = c.Where(on, start[0], zero(c, x.DType))
				for s := range start {
					start[s] = c.Where(on, start[s], before[s])
				}
			}
		}
		all[d] = c.Do(op.IDStack, nil, made...)
		if back {
			all[d] = backwards(c, all[d], lengths)
		}
		for s := range states {
			last[s] = append(last[s], start[s])
		}
	}
	axis := int64(1)
	if batchFirst {
		axis = 2
		for d := range all {
			all[d] = c.Swap(all[d], 0, 1)
		}
	}
	out := []*build.Value{c.Do(op.IDStack, build.With(op.StackAxis, axis), all...)}
	for _, list := range last {
		at := build.Integer(0)
		if batchFirst {
			at = build.Integer(1)
		}
		out = append(out, c.Do(op.IDStack, build.With(op.StackAxis, at), list...))
	}
	return out
}

// plain reports whether a row has what the layer is: an LSTM or a GRU without extras.
func (l *layer) plain() bool {
	return len(l.f) > 1 && l.usual && l.bound <= 0 && !l.coupled && l.peephole == nil && l.weight.scale == nil
}

// callsOfStep is about how many calls and operands a step is where the device has no kernel of the rows.
const callsOfStep = 36

// sequence is a plain layer as one call: its states after each step, and those after the last one. Its steps count as calls, because a
// device may run them so.
func (l *layer) sequence(x *build.Value, start []*build.Value, back bool) (all *build.Value, last []*build.Value) {
	end := x.Dims()[0] - 1
	l.Must(l.Called(int(callsOfStep * end)))
	if len(start) == 2 {
		out := l.All(op.IDLstm, build.With(op.LstmReverse, back), x, l.weight.matrix, start[0], start[1])
		all, last = out[0], out[1:]
	} else {
		bias := l.bias
		if bias == nil {
			bias = build.Absent()
		}
		all = l.Do(op.IDGru, build.With(op.GruReverse, back, op.GruLinear, l.linear), x, l.weight.matrix, start[0], bias)
	}
	if back {
		end = 0
	}
	return all, append([]*build.Value{l.Pick(all, 0, end)}, last...)
}

// backwards is a sequence in reverse, each of a batch within its own length.
func backwards(c *build.Call, x, lengths *build.Value) *build.Value {
	if lengths == nil {
		return c.Flip(x, 0)
	}
	return reversed(c, x, lengths, 1, 0)
}

// initial is a state before the first step: an operand, or zeros.
func initial(c *build.Call, i, direction int, batch, hidden int64, batchFirst bool, d dtype.DType) *build.Value {
	if !c.Has(i) {
		return c.Full(d, build.Integer(0), batch, hidden)
	}
	axis := 0
	if batchFirst {
		axis = 1
	}
	return c.Pick(c.X(i), axis, int64(direction))
}

// weights are those of one direction, [rows, gates * hidden].
type weights struct {
	matrix *build.Value
	scale  *build.Value // of integers less zero; nil: they are floats
	zero   *build.Value
}

// weightsOf are operand i, for a direction. Those of floats are transposed in the file; those of integers are not, and
// have their scales and zero points in the operands behind those of LSTM.
func weightsOf(c *build.Call, i, d int) weights {
	w := c.Pick(c.X(i), 0, int64(d))
	if !strings.HasPrefix(c.Node.Op, "DynamicQuantize") {
		return weights{matrix: c.Swap(w, 0, 1)}
	}
	scale, zero := c.X(6+2*i), c.X(7+2*i)
	return weights{w, c.Pick(scale, 0, int64(d)), c.Pick(zero, 0, int64(d))}
}

// of is the product of x with the weights. With those of integers, x is quantized as DynamicQuantizeLinear does; x
// that is 0 everywhere gets the scale 1.
func (w weights) of(c *build.Call, x *build.Value) *build.Value {
	if w.scale == nil {
		return c.Matmul(x, w.matrix)
	}
	q := c.All(op.IDDynamicQuantizeLinear, nil, x)
	p := integerProduct(c, q[0], w.matrix, q[2], w.zero)
	return c.Mul(c.Cast(p, x.DType), c.Mul(q[1], w.scale))
}

// Biases of input and state are terms of one sum, so that both can be added before the first step. The exception is a GRU with
// linear_before_reset, whose reset gate multiplies the product of the state with its bias.

// layerOf reads the weights and attributes of one direction. Peepholes are for LSTM alone; attribute input_forget couples two of
// its gates.
func layerOf(c *build.Call, d, gates int) *layer {
	r := c.X(2)
	if r.Rank() != 3 || int64(d) >= r.Dims()[0] || c.X(1).Rank() != 3 || int64(d) >= c.X(1).Dims()[0] {
		c.Wrong("the weights have shapes %s and %s; want [directions, gates * hidden, ...]", &c.X(1).Shape, &r.Shape)
	}
	l := &layer{Call: c, weight: weightsOf(c, 2, d), bound: c.Float("clip", 0), linear: c.Yes("linear_before_reset", 0), coupled: c.Yes("input_forget", 0)}
	l.hidden = l.weight.matrix.Dims()[0]
	n := int64(gates) * l.hidden
	if of := weightsOf(c, 1, d).matrix.Dims()[1]; of != n || l.weight.matrix.Dims()[1] != n {
		c.Wrong("the weights of input and state are for %d and %d gates of %d; want %d", of, l.weight.matrix.Dims()[1], l.hidden, n)
	}
	if c.Has(3) {
		b := c.Pick(c.X(3), 0, int64(d))
		if b.Dims()[0] != 2*n {
			c.Wrong("the bias has %d elements for each direction; want %d", b.Dims()[0], 2*n)
		}
		l.early = c.Slice(b, 0, 0, n)
		if state := c.Slice(b, 0, n, 2*n); gates == 3 && l.linear {
			l.bias = state
		} else {
			l.early = c.Add(l.early, state)
		}
	}
	if gates == 4 && c.Has(7) {
		l.peephole = c.Pick(c.X(7), 0, int64(d))
	}
	names := map[int][]string{1: {"Tanh"}, 3: {"Sigmoid", "Tanh"}, 4: {"Sigmoid", "Tanh", "Tanh"}}[gates]
	each := len(names)
	usual := names
	if a := c.Attr("activations"); a != nil {
		c.Room(int64(len(a.Texts)))
		names = nil
		for _, t := range a.Texts {
			names = append(names, string(t))
		}
		if len(names) < each*(d+1) {
			c.Wrong("there are %d activations; want %d for each direction", len(names), each)
		}
		names = names[each*d:]
	}
	l.usual = slices.EqualFunc(names[:each], usual, strings.EqualFold)
	for i, name := range names[:each] {
		l.f = append(l.f, gate(c, name, each*d+i))
	}
	return l
}

// gate is an activation by its name. i is its place among the lists of parameters. Names are compared without case,
// as in onnxruntime. Parameters of activations that have none are skipped in the lists, as ONNX says.
func gate(c *build.Call, name string, i int) activation {
	param := func(list string, otherwise float64) float64 {
		if a := c.Attr(list); a != nil && i < len(a.Floats) {
			return float64(a.Floats[i])
		}
		return otherwise
	}
	rows := map[string]op.ID{"relu": op.IDRelu, "tanh": op.IDTanh, "sigmoid": op.IDSigmoid, "softplus": op.IDSoftplus}
	name = strings.ToLower(name)
	if id, ok := rows[name]; ok {
		return func(x *build.Value) *build.Value { return c.Do(id, nil, x) }
	}
	alpha, beta := param("activation_alpha", 0.01), param("activation_beta", 0)
	switch name {
	case "affine":
		return func(x *build.Value) *build.Value {
			return c.Add(c.Mul(x, build.Num(param("activation_alpha", 1))), build.Num(beta))
		}
	case "leakyrelu":
		return func(x *build.Value) *build.Value {
			return c.Do(op.IDLeakyRelu, build.With(op.LeakyReluNegativeSlope, alpha), x)
		}
	case "thresholdedrelu":
		return func(x *build.Value) *build.Value {
			return c.Do(op.IDThresholdedRelu, build.With(op.ThresholdedReluThreshold, param("activation_alpha", 1)), x)
		}
	case "scaledtanh":
		return func(x *build.Value) *build.Value {
			return c.Mul(c.Unary(op.IDTanh, c.Mul(x, build.Num(param("activation_beta", 1)))), build.Num(param("activation_alpha", 1)))
		}
	case "hardsigmoid":
		return func(x *build.Value) *build.Value {
			return hardSigmoid(c, x, param("activation_alpha", 0.2), param("activation_beta", 0.5))
		}
	case "elu":
		return func(x *build.Value) *build.Value { return elu(c, x, param("activation_alpha", 1)) }
	case "softsign":
		return func(x *build.Value) *build.Value { return c.Unary(op.IDSoftsign, x) }
	}
	c.Refuse("activation %q is not supported", name)
	return nil
}

// act applies activation i, to what lies within the bound.
func (l *layer) act(i int, x *build.Value) *build.Value {
	if l.bound > 0 {
		x = l.Clamp(x, -l.bound, l.bound)
	}
	return l.f[i](x)
}

// gate is part i of products of all gates.
func (l *layer) part(x *build.Value, i int64) *build.Value {
	return l.Slice(x, 1, i*l.hidden, (i+1)*l.hidden)
}

// recur is the product of a state with its weights.
func (l *layer) recur(h *build.Value) *build.Value { return l.weight.of(l.Call, h) }

// rnn has one gate: H' = f(x + H R).
func (l *layer) rnn(x *build.Value, state []*build.Value) []*build.Value {
	return []*build.Value{l.act(0, l.Add(x, l.recur(state[0])))}
}

// gru has the gates z, r and h: H' = (1 - z) h + z H. Attribute linear_before_reset says whether the reset gate is
// applied to H or to its product, which is what cuDNN does.
func (l *layer) gru(x *build.Value, state []*build.Value) []*build.Value {
	h, matrix, last := state[0], l.weight.matrix, 2*l.hidden
	if !l.linear { // the product of the last gate is another
		matrix = l.Slice(matrix, 1, 0, last)
	}
	made := l.Matmul(h, matrix)
	if l.bias != nil {
		made = l.Add(made, l.bias)
	}
	z := l.act(0, l.Add(l.part(x, 0), l.part(made, 0)))
	r := l.act(0, l.Add(l.part(x, 1), l.part(made, 1)))
	var hidden *build.Value
	if l.linear {
		hidden = l.Mul(r, l.part(made, 2))
	} else {
		hidden = l.Matmul(l.Mul(r, h), l.Slice(l.weight.matrix, 1, last, last+l.hidden))
	}
	hidden = l.act(1, l.Add(l.part(x, 2), hidden))
	return []*build.Value{l.Add(l.Mul(l.Sub(build.Num(1), z), hidden), l.Mul(z, h))}
}

// lstm has the gates i, o, f and c. C' = f C + i c and H' = o h(C'). Peepholes let i and f see C, and o see C'. The bound of
// attribute clip is for the gates, not for the cell: ONNX leaves that open, and onnxruntime does it so.
func (l *layer) lstm(x *build.Value, state []*build.Value) []*build.Value {
	h, cell := state[0], state[1]
	sum := l.Add(x, l.recur(h))
	gate := func(i int64, seen *build.Value, peep int64) *build.Value {
		v := l.part(sum, i)
		if l.peephole != nil {
			v = l.Add(v, l.Mul(l.Slice(l.peephole, 0, peep*l.hidden, (peep+1)*l.hidden), seen))
		}
		return l.act(0, v)
	}
	in := gate(0, cell, 0)
	forget := in
	if l.coupled {
		forget = l.Sub(build.Num(1), in)
	} else {
		forget = gate(2, cell, 2)
	}
	cell = l.Add(l.Mul(forget, cell), l.Mul(in, l.act(1, l.part(sum, 3))))
	return []*build.Value{l.Mul(gate(1, cell, 1), l.f[2](cell)), cell}
}
