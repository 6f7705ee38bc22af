package onnx

import (
	"slices"
	"strings"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
)

// Recurrent networks. The product of all inputs with their weights is one matrix product before the first step. The steps of a
// plain LSTM or GRU are one call of a row. All others become a few rows for each step: the length of the sequence is known, so that
// all steps are part of the graph.
//
// The number of steps is that of the shape, so that a longer sequence is another graph: models with many lengths
// compile for each of them.

var recurrent = []entry{
	{"RNN", 1, 0, func(c *call) []*value { return c.recurrent(1, 1, (*layer).rnn) }},
	// GRU: gates z, r, h.
	{"GRU", 1, 0, func(c *call) []*value { return c.recurrent(3, 1, (*layer).gru) }},
	// LSTM: gates i, o, f, c.
	{"LSTM", 1, 0, func(c *call) []*value { return c.recurrent(4, 2, (*layer).lstm) }},
	// DynamicQuantizeLSTM: LSTM with weights of 8 bits, [directions, input, 4 * hidden] and [directions, hidden, 4 * hidden];
	// behind its operands are scale and zero point of each.
	{"com.microsoft:DynamicQuantizeLSTM", 1, 0, func(c *call) []*value { return c.recurrent(4, 2, (*layer).lstm) }},
}

// activation is a function of a gate.
type activation func(x *value) *value

// layer is one direction of a recurrent network.
type layer struct {
	*call
	hidden   int64
	weight   weights // of the state
	early    *value  // the bias that is added before the first step, for all steps at once: [gates * hidden]; nil
	bias     *value  // of the state, where each step adds it; nil
	peephole *value  // [3 * hidden]; nil
	f        []activation
	bound    float64 // of what activations get; 0: none
	linear   bool    // GRU: the reset gate comes after the product
	coupled  bool    // LSTM: the forget gate is 1 - the input gate
	usual    bool    // the activations are those of the definition
}

// step is one step: x has the products with the inputs, and state what the step before has made, h first.
type step func(l *layer, x *value, state []*value) []*value

// recurrent runs a network of gates and states, in one direction or two. Operands: X, W, R, B, lengths of the
// sequences, initial H, initial C, peepholes. Results: all H as [steps, directions, batch, hidden], and the last of
// each state. Attribute layout puts the batch first in all of them. Steps behind the end of a sequence give 0 and
// leave the states as they are.
func (c *call) recurrent(gates, states int, next step) []*value {
	x := c.x(0)
	batchFirst := c.yes("layout", 0)
	if x.rank() != 3 {
		c.wrong("the operand has %d dimensions; want 3", x.rank())
	}
	if batchFirst {
		x = c.swap(x, 0, 1)
	}
	steps, batch := x.dims()[0], x.dims()[1]
	if steps > longestLoop {
		c.refuse("the sequence has %d steps; want at most %d", steps, longestLoop)
	}
	var lengths *value
	if c.has(4) {
		lengths = c.cast(c.x(4), dtype.Int64)
	}
	direction := c.text("direction", "forward")
	both := 1
	if direction == "bidirectional" {
		both = 2
	}
	all, last := make([]*value, both), make([][]*value, states)
	// The directions share nothing but the operands. The one that goes back sees a sequence in reverse, and its results
	// are reversed again at the end.
	for d := range both {
		l := c.layer(d, gates)
		var start []*value
		for s := range states {
			start = append(start, c.initial(5+s, d, batch, l.hidden, batchFirst, x.DType))
		}
		back := d == 1 || direction == "reverse"
		in, plain := x, steps > 0 && lengths == nil && l.plain()
		if back && !plain {
			in = c.backwards(x, lengths)
		}
		in = c.weights(1, d).of(c, in)
		if c.has(3) {
			in = c.add(in, l.early)
		}
		if plain {
			all[d], start = l.sequence(in, start, back)
			for s := range states {
				last[s] = append(last[s], start[s])
			}
			continue
		}
		made := make([]*value, steps)
		for t := range steps {
			before := start
			start = next(l, c.pick(in, 0, t), before)
			made[t] = start[0]
			if lengths != nil {
				on := c.reshape(c.binary(op.IDLessThan, whole(t), lengths), batch, 1)
				made[t] = c.where(on, start[0], c.zero(x.DType))
				for s := range start {
					start[s] = c.where(on, start[s], before[s])
				}
			}
		}
		all[d] = c.do(op.IDStack, nil, made...)
		if back {
			all[d] = c.backwards(all[d], lengths)
		}
		for s := range states {
			last[s] = append(last[s], start[s])
		}
	}
	axis := int64(1)
	if batchFirst {
		axis = 2
		for d := range all {
			all[d] = c.swap(all[d], 0, 1)
		}
	}
	out := []*value{c.do(op.IDStack, with(op.StackAxis, axis), all...)}
	for _, list := range last {
		at := integer(0)
		if batchFirst {
			at = integer(1)
		}
		out = append(out, c.do(op.IDStack, with(op.StackAxis, at), list...))
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
func (l *layer) sequence(x *value, start []*value, back bool) (all *value, last []*value) {
	end := x.dims()[0] - 1
	l.must(l.called(int(callsOfStep * end)))
	if len(start) == 2 {
		out := l.all(op.IDLstm, with(op.LstmReverse, back), x, l.weight.matrix, start[0], start[1])
		all, last = out[0], out[1:]
	} else {
		bias := l.bias
		if bias == nil {
			bias = absent()
		}
		all = l.do(op.IDGru, with(op.GruReverse, back, op.GruLinear, l.linear), x, l.weight.matrix, start[0], bias)
	}
	if back {
		end = 0
	}
	return all, append([]*value{l.pick(all, 0, end)}, last...)
}

// backwards is a sequence in reverse, each of a batch within its own length.
func (c *call) backwards(x, lengths *value) *value {
	if lengths == nil {
		return c.flip(x, 0)
	}
	return c.reversed(x, lengths, 1, 0)
}

// initial is a state before the first step: an operand, or zeros.
func (c *call) initial(i, direction int, batch, hidden int64, batchFirst bool, d dtype.DType) *value {
	if !c.has(i) {
		return c.full(d, integer(0), batch, hidden)
	}
	axis := 0
	if batchFirst {
		axis = 1
	}
	return c.pick(c.x(i), axis, int64(direction))
}

// weights are those of one direction, [rows, gates * hidden].
type weights struct {
	matrix *value
	scale  *value // of integers less zero; nil: they are floats
	zero   *value
}

// weights are operand i, for a direction. Those of floats are transposed in the file; those of integers are not, and
// have their scales and zero points in the operands behind those of LSTM.
func (c *call) weights(i, d int) weights {
	w := c.pick(c.x(i), 0, int64(d))
	if !strings.HasPrefix(c.node.Op, "DynamicQuantize") {
		return weights{matrix: c.swap(w, 0, 1)}
	}
	scale, zero := c.x(6+2*i), c.x(7+2*i)
	return weights{w, c.pick(scale, 0, int64(d)), c.pick(zero, 0, int64(d))}
}

// of is the product of x with the weights. With those of integers, x is quantized as DynamicQuantizeLinear does; x
// that is 0 everywhere gets the scale 1.
func (w weights) of(c *call, x *value) *value {
	if w.scale == nil {
		return c.matmul(x, w.matrix)
	}
	scale, zero := c.dynamicScale(x)
	scale = c.where(c.binary(op.IDEqual, scale, num(0)), c.full(scale.DType, integer(1)), scale)
	p := c.integerProduct(c.quantize(x, scale, zero, dtype.Uint8), w.matrix, zero, w.zero)
	return c.mul(c.cast(p, x.DType), c.mul(scale, w.scale))
}

// Biases of input and state are terms of one sum, so that both can be added before the first step. The exception is a GRU with
// linear_before_reset, whose reset gate multiplies the product of the state with its bias.

// layer reads the weights and attributes of one direction. Peepholes are for LSTM alone; attribute input_forget couples two of
// its gates.
func (c *call) layer(d, gates int) *layer {
	r := c.x(2)
	if r.rank() != 3 || int64(d) >= r.dims()[0] || c.x(1).rank() != 3 || int64(d) >= c.x(1).dims()[0] {
		c.wrong("the weights have shapes %s and %s; want [directions, gates * hidden, ...]", &c.x(1).Shape, &r.Shape)
	}
	l := &layer{call: c, weight: c.weights(2, d), bound: c.float("clip", 0), linear: c.yes("linear_before_reset", 0), coupled: c.yes("input_forget", 0)}
	l.hidden = l.weight.matrix.dims()[0]
	n := int64(gates) * l.hidden
	if of := c.weights(1, d).matrix.dims()[1]; of != n || l.weight.matrix.dims()[1] != n {
		c.wrong("the weights of input and state are for %d and %d gates of %d; want %d", of, l.weight.matrix.dims()[1], l.hidden, n)
	}
	if c.has(3) {
		b := c.pick(c.x(3), 0, int64(d))
		if b.dims()[0] != 2*n {
			c.wrong("the bias has %d elements for each direction; want %d", b.dims()[0], 2*n)
		}
		l.early = c.slice(b, 0, 0, n)
		if state := c.slice(b, 0, n, 2*n); gates == 3 && l.linear {
			l.bias = state
		} else {
			l.early = c.add(l.early, state)
		}
	}
	if gates == 4 && c.has(7) {
		l.peephole = c.pick(c.x(7), 0, int64(d))
	}
	names := map[int][]string{1: {"Tanh"}, 3: {"Sigmoid", "Tanh"}, 4: {"Sigmoid", "Tanh", "Tanh"}}[gates]
	each := len(names)
	usual := names
	if a := c.attr("activations"); a != nil {
		c.room(int64(len(a.Texts)))
		names = nil
		for _, t := range a.Texts {
			names = append(names, string(t))
		}
		if len(names) < each*(d+1) {
			c.wrong("there are %d activations; want %d for each direction", len(names), each)
		}
		names = names[each*d:]
	}
	l.usual = slices.EqualFunc(names[:each], usual, strings.EqualFold)
	for i, name := range names[:each] {
		l.f = append(l.f, c.gate(name, each*d+i))
	}
	return l
}

// gate is an activation by its name. i is its place among the lists of parameters. Names are compared without case,
// as in onnxruntime. Parameters of activations that have none are skipped in the lists, as ONNX says.
func (c *call) gate(name string, i int) activation {
	param := func(list string, otherwise float64) float64 {
		if a := c.attr(list); a != nil && i < len(a.Floats) {
			return float64(a.Floats[i])
		}
		return otherwise
	}
	rows := map[string]op.ID{"relu": op.IDRelu, "tanh": op.IDTanh, "sigmoid": op.IDSigmoid, "softplus": op.IDSoftplus}
	name = strings.ToLower(name)
	if id, ok := rows[name]; ok {
		return func(x *value) *value { return c.do(id, nil, x) }
	}
	alpha, beta := param("activation_alpha", 0.01), param("activation_beta", 0)
	switch name {
	case "affine":
		return func(x *value) *value { return c.add(c.mul(x, num(param("activation_alpha", 1))), num(beta)) }
	case "leakyrelu":
		return func(x *value) *value {
			return c.do(op.IDLeakyRelu, with(op.LeakyReluNegativeSlope, alpha), x)
		}
	case "thresholdedrelu":
		return func(x *value) *value {
			return c.do(op.IDThresholdedRelu, with(op.ThresholdedReluThreshold, param("activation_alpha", 1)), x)
		}
	case "scaledtanh":
		return func(x *value) *value {
			return c.mul(c.unary(op.IDTanh, c.mul(x, num(param("activation_beta", 1)))), num(param("activation_alpha", 1)))
		}
	case "hardsigmoid":
		return func(x *value) *value {
			return c.hardSigmoid(x, param("activation_alpha", 0.2), param("activation_beta", 0.5))
		}
	case "elu":
		return func(x *value) *value { return c.elu(x, param("activation_alpha", 1)) }
	case "softsign":
		return func(x *value) *value { return c.unary(op.IDSoftsign, x) }
	}
	c.refuse("activation %q is not supported", name)
	return nil
}

// act applies activation i, to what lies within the bound.
func (l *layer) act(i int, x *value) *value {
	if l.bound > 0 {
		x = l.clamp(x, -l.bound, l.bound)
	}
	return l.f[i](x)
}

// gate is part i of products of all gates.
func (l *layer) part(x *value, i int64) *value { return l.slice(x, 1, i*l.hidden, (i+1)*l.hidden) }

// recur is the product of a state with its weights.
func (l *layer) recur(h *value) *value { return l.weight.of(l.call, h) }

// rnn has one gate: H' = f(x + H R).
func (l *layer) rnn(x *value, state []*value) []*value {
	return []*value{l.act(0, l.add(x, l.recur(state[0])))}
}

// gru has the gates z, r and h: H' = (1 - z) h + z H. Attribute linear_before_reset says whether the reset gate is
// applied to H or to its product, which is what cuDNN does.
func (l *layer) gru(x *value, state []*value) []*value {
	h, matrix, last := state[0], l.weight.matrix, 2*l.hidden
	if !l.linear { // the product of the last gate is another
		matrix = l.slice(matrix, 1, 0, last)
	}
	made := l.matmul(h, matrix)
	if l.bias != nil {
		made = l.add(made, l.bias)
	}
	z := l.act(0, l.add(l.part(x, 0), l.part(made, 0)))
	r := l.act(0, l.add(l.part(x, 1), l.part(made, 1)))
	var hidden *value
	if l.linear {
		hidden = l.mul(r, l.part(made, 2))
	} else {
		hidden = l.matmul(l.mul(r, h), l.slice(l.weight.matrix, 1, last, last+l.hidden))
	}
	hidden = l.act(1, l.add(l.part(x, 2), hidden))
	return []*value{l.add(l.mul(l.sub(num(1), z), hidden), l.mul(z, h))}
}

// lstm has the gates i, o, f and c. C' = f C + i c and H' = o h(C'). Peepholes let i and f see C, and o see C'. The bound of
// attribute clip is for the gates, not for the cell: ONNX leaves that open, and onnxruntime does it so.
func (l *layer) lstm(x *value, state []*value) []*value {
	h, cell := state[0], state[1]
	sum := l.add(x, l.recur(h))
	gate := func(i int64, seen *value, peep int64) *value {
		v := l.part(sum, i)
		if l.peephole != nil {
			v = l.add(v, l.mul(l.slice(l.peephole, 0, peep*l.hidden, (peep+1)*l.hidden), seen))
		}
		return l.act(0, v)
	}
	in := gate(0, cell, 0)
	forget := in
	if l.coupled {
		forget = l.sub(num(1), in)
	} else {
		forget = gate(2, cell, 2)
	}
	cell = l.add(l.mul(forget, cell), l.mul(in, l.act(1, l.part(sum, 3))))
	return []*value{l.mul(gate(1, cell, 1), l.f[2](cell)), cell}
}
