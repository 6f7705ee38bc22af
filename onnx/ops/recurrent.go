package ops

import (
	"slices"
	"strings"

	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/onnx/build"
)

// Recurrent networks. The product of all inputs with their weights is one matrix product before the first step. The steps of a
// plain LSTM or GRU are one call of a row with kernels, and those of all others one of a formula, which is a few calls for each step.
//
// The number of steps is that of the shape, so that a longer sequence is another graph: models with many lengths
// compile for each of them.

var recurrent = []entry{
	{"RNN", 1, 0, func(c *build.Call) []*build.Value { return runRecurrent(c, "rnn", 1, 1) }},
	{"GRU", 1, 0, func(c *build.Call) []*build.Value { return runRecurrent(c, "gru", 3, 1) }},   // gates z, r, h
	{"LSTM", 1, 0, func(c *build.Call) []*build.Value { return runRecurrent(c, "lstm", 4, 2) }}, // gates i, o, f, c
	// DynamicQuantizeLSTM: LSTM with weights of 8 bits, [directions, input, 4 * hidden] and [directions, hidden, 4 * hidden];
	// behind its operands are scale and zero point of each.
	{"com.microsoft:DynamicQuantizeLSTM", 1, 0, func(c *build.Call) []*build.Value { return runRecurrent(c, "lstm", 4, 2) }},
}

// layer is one direction of a recurrent network.
type layer struct {
	*build.Call
	kind        string
	hidden      int64
	weight      *build.Quanta // of the state
	early       *build.Value  // the bias that is added before the first step, for all steps at once: [gates * hidden]; nil
	bias        *build.Value  // of the state, where each step adds it
	peephole    *build.Value  // [3 * hidden]
	names       []string      // of activations
	alpha, beta []float64     // of these
	usual       bool          // the activations are those of the definition
}

// runRecurrent runs a network of gates and states, in one direction or two. Operands: X, W, R, B, lengths of the
// sequences, initial H, initial C, peepholes. Results: all H as [steps, directions, batch, hidden], and the last of
// each state. Attribute layout puts the batch first in all of them. Steps behind the end of a sequence give 0 and
// leave the states as they are.
func runRecurrent(c *build.Call, kind string, gates, states int) []*build.Value {
	x := c.X(0)
	batchFirst := c.Yes("layout", 0)
	if x.Rank() != 3 {
		c.Wrong("the operand has %d dimensions; want 3", x.Rank())
	}
	axis, place := 1, 0 // of the directions, in all states and in single ones
	if batchFirst {
		x, axis, place = c.Swap(x, 0, 1), 2, 1
	}
	steps, batch := x.Dims()[0], x.Dims()[1]
	if steps > longestLoop {
		c.Refuse("the sequence has %d steps; want at most %d", steps, longestLoop)
	}
	direction := c.Text("direction", "forward")
	both := 1
	if direction == "bidirectional" {
		both = 2
	}
	all, last := make([]*build.Value, both), make([][]*build.Value, states)
	for d := range both {
		l := layerOf(c, kind, d, gates)
		var start []*build.Value
		for s := range states {
			start = append(start, initial(c, 5+s, place, d, batch, l.hidden))
		}
		in := weighted(c, x, weightsOf(c, 1, d))
		if c.Has(3) {
			in = c.Add(in, l.early)
		}
		all[d], start = l.sequence(in, start, d == 1 || direction == "reverse")
		if batchFirst {
			all[d] = c.Swap(all[d], 0, 1)
		}
		for s := range states {
			last[s] = append(last[s], start[s])
		}
	}
	out := []*build.Value{c.Do(op.IDStack, build.With(op.StackAxis, axis), all...)}
	for _, list := range last {
		out = append(out, c.Do(op.IDStack, build.With(op.StackAxis, place), list...))
	}
	return out
}

// plain reports whether the rows lstm and gru have what the layer is.
func (l *layer) plain() bool {
	return l.kind != "rnn" && l.usual && !l.Has(4) && l.Float("clip", 0) <= 0 && !l.Yes("input_forget", 0) && l.peephole.Number != nil && l.weight.Scale.IsAbsent()
}

// callsOfStep is about how many calls and operands a step is where the device has no kernel of the rows.
const callsOfStep = 36

// sequence is the layer as one call: its states after each step, and those after the last one. Its steps count as calls, because a
// device may run them so.
func (l *layer) sequence(x *build.Value, start []*build.Value, back bool) (all *build.Value, last []*build.Value) {
	end := x.Dims()[0] - 1
	l.Must(l.Called(int(callsOfStep * max(end, 0))))
	linear := l.Yes("linear_before_reset", 0)
	switch {
	case end < 0 || !l.plain():
		cell := build.Absent()
		if len(start) > 1 {
			cell = start[1]
		}
		in := []*build.Value{x, l.weight.Ints, start[0], cell, l.bias, l.peephole, l.Optional(4), l.weight.Scale, l.weight.Zero}
		out := l.All(op.IDRecurrent, build.With(op.RecurrentKind, l.kind, op.RecurrentActivations, strings.Join(l.names, ","), op.RecurrentAlpha, l.alpha, op.RecurrentBeta, l.beta,
			op.RecurrentClip, l.Float("clip", 0), op.RecurrentLinear, linear, op.RecurrentCoupled, l.Yes("input_forget", 0), op.RecurrentReverse, back), in...)
		return out[0], out[1:]
	case l.kind == "lstm":
		out := l.All(op.IDLstm, build.With(op.LstmReverse, back), x, l.weight.Ints, start[0], start[1])
		all, last = out[0], out[1:]
	default:
		all = l.Do(op.IDGru, build.With(op.GruReverse, back, op.GruLinear, linear), x, l.weight.Ints, start[0], l.bias)
	}
	if back {
		end = 0
	}
	return all, append([]*build.Value{l.Pick(all, 0, end)}, last...)
}

// initial is a state before the first step: an operand, whose directions have an axis, or zeros.
func initial(c *build.Call, i, axis, direction int, batch, hidden int64) *build.Value {
	if !c.Has(i) {
		return c.Full(c.X(0).DType, build.Integer(0), batch, hidden)
	}
	return c.Pick(c.X(i), axis, int64(direction))
}

// weightsOf are operand i, for a direction: [rows, gates * hidden]. Those of floats, which have no scale, are transposed in the file;
// those of integers are not, and have their scales and zero points in the operands behind those of LSTM.
func weightsOf(c *build.Call, i, d int) *build.Quanta {
	w := c.Pick(c.X(i), 0, int64(d))
	if !strings.HasPrefix(c.Node.Op, "DynamicQuantize") {
		return &build.Quanta{Ints: c.Swap(w, 0, 1), Scale: build.Absent(), Zero: build.Absent()}
	}
	scale, zero := c.Pick(c.X(6+2*i), 0, int64(d)), c.Pick(c.X(7+2*i), 0, int64(d))
	if isNought(zero) {
		zero = build.Absent()
	}
	return &build.Quanta{Ints: w, Scale: scale, Zero: zero}
}

// weighted is the product of x with weights. With those of integers, x is quantized as DynamicQuantizeLinear does; x
// that is 0 everywhere gets the scale 1.
func weighted(c *build.Call, x *build.Value, w *build.Quanta) *build.Value {
	if w.Scale.IsAbsent() {
		return c.Matmul(x, w.Ints)
	}
	return dynamicProduct(c, x, w)
}

// Biases of input and state are terms of one sum, so that both can be added before the first step. The exception is a GRU with
// linear_before_reset, whose reset gate multiplies the product of the state with its bias.

// layerOf reads the weights and attributes of one direction. Peepholes are for LSTM alone; attribute input_forget couples two of
// its gates.
func layerOf(c *build.Call, kind string, d, gates int) *layer {
	r := c.X(2)
	if r.Rank() != 3 || int64(d) >= r.Dims()[0] || c.X(1).Rank() != 3 || int64(d) >= c.X(1).Dims()[0] {
		c.Wrong("the weights have shapes %s and %s; want [directions, gates * hidden, ...]", &c.X(1).Shape, &r.Shape)
	}
	l := &layer{Call: c, kind: kind, weight: weightsOf(c, 2, d), bias: build.Absent(), peephole: build.Absent()}
	l.hidden = l.weight.Ints.Dims()[0]
	n := int64(gates) * l.hidden
	if of := weightsOf(c, 1, d).Ints.Dims()[1]; of != n || l.weight.Ints.Dims()[1] != n {
		c.Wrong("the weights of input and state are for %d and %d gates of %d; want %d", of, l.weight.Ints.Dims()[1], l.hidden, n)
	}
	if c.Has(3) {
		b := c.Pick(c.X(3), 0, int64(d))
		if b.Dims()[0] != 2*n {
			c.Wrong("the bias has %d elements for each direction; want %d", b.Dims()[0], 2*n)
		}
		l.early = c.Slice(b, 0, 0, n)
		if state := c.Slice(b, 0, n, 2*n); gates == 3 && c.Yes("linear_before_reset", 0) {
			l.bias = state
		} else {
			l.early = c.Add(l.early, state)
		}
	}
	if gates == 4 && c.Has(7) {
		l.peephole = c.Pick(c.X(7), 0, int64(d))
	}
	usual := map[int][]string{1: {"tanh"}, 3: {"sigmoid", "tanh"}, 4: {"sigmoid", "tanh", "tanh"}}[gates]
	l.names = usual
	each := len(usual)
	if a := c.Attr("activations"); a != nil {
		c.Room(int64(len(a.Texts)))
		l.names = nil
		for _, t := range a.Texts {
			l.names = append(l.names, strings.ToLower(string(t)))
		}
		if len(l.names) < each*(d+1) {
			c.Wrong("there are %d activations; want %d for each direction", len(l.names), each)
		}
		l.names = l.names[each*d : each*d+each]
	}
	l.usual = slices.Equal(l.names, usual)
	l.alpha, l.beta = parameters(c, "activation_alpha", each*d, each), parameters(c, "activation_beta", each*d, each)
	return l
}

// parameters are n of a list for all activations, from one on. Those of activations that have none are skipped in the lists, as ONNX
// says.
func parameters(c *build.Call, name string, from, n int) []float64 {
	list := c.Floats(name)
	return list[min(from, len(list)):min(from+n, len(list))]
}
