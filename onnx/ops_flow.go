package onnx

import (
	"slices"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
)

// Control flow, functions and sequences. All of them are gone when a graph is built: a branch is taken, a loop is unrolled,
// and a sequence is a list of values while the nodes that use it are built.
//
// What decides has to be known while the graph is built: from constants, from shapes, or because the runtime has
// read the elements of a deciding input. A loop whose end depends on what it computes is refused.

// longestLoop is how often a loop runs at most: each time its nodes become part of the graph again.
const longestLoop = 4096

var flow = []entry{
	// If: condition; attributes then_branch and else_branch.
	{"If", 1, 0, buildIf},
	// Loop: trip count, condition, values; attribute body.
	{"Loop", 1, 0, buildLoop},
	// Scan: lengths of sequences, states, sequences; attribute body.
	{"Scan", 8, 0, scanBatches},
	// Scan: states, sequences; attribute body.
	{"Scan", 9, 0, buildScan},
	{"SequenceConstruct", 11, 0, sequenceConstruct},
	{"SequenceEmpty", 11, 0, func(*call) []*value { return one(&value{isList: true}) }},
	{"SequenceAt", 11, 0, sequenceAt},
	{"SequenceInsert", 11, 0, sequenceInsert},
	{"SequenceErase", 11, 0, sequenceErase},
	{"SequenceLength", 11, 0, func(c *call) []*value { return one(c.tensor(nil, []int64{int64(len(c.sequence(0)))})) }},
	{"SplitToSequence", 11, 0, splitToSequence},
	// ConcatFromSequence: attributes axis and new_axis.
	{"ConcatFromSequence", 11, 0, concatFromSequence},
	// SequenceMap: sequences and tensors; attribute body.
	{"SequenceMap", 17, 0, sequenceMap},
	// Optional: what there is, or nothing.
	{"Optional", 15, 0, func(c *call) []*value { return one(c.passed(0)) }},
	{"OptionalGetElement", 15, 0, func(c *call) []*value { return one(c.any(0)) }},
	{"OptionalHasElement", 15, 0, func(c *call) []*value { return one(c.boolScalar(c.has(0))) }},
}

// boolScalar is a bool as a 0-d tensor.
func (c *call) boolScalar(b bool) *value {
	raw := []byte{0}
	if b {
		raw[0] = 1
	}
	return c.constant(dtype.Bool, nil, raw)
}

// subgraph is the graph of an attribute. Graphs are checked for missing operators when the file is read, like the
// main one.
func (c *call) subgraph(name string) *Graph {
	a := c.attr(name)
	if a == nil || a.G == nil {
		c.wrong("attribute %s is missing; want a graph", name)
	}
	return a.G
}

// nest begins something within the node; the caller lowers depth again. Functions may call themselves, in a file
// that were not checked; each level takes some of the stack.
func (c *call) nest() {
	if c.depth++; c.depth > deepCalls {
		c.refuse("is within %d functions and branches; want fewer", deepCalls)
	}
}

// body runs a graph of an attribute with operands for its inputs. Names of the graph hide those around it.
func (c *call) body(g *Graph, in []*value) []*value {
	c.nest()
	defer func() { c.depth-- }()
	s := c.scope.within()
	for i, p := range g.Inputs {
		if i >= len(in) || in[i] == nil {
			c.wrong("graph %q has %d inputs and got %d", g.Name, len(g.Inputs), len(in))
		}
		s.values[p.Name] = in[i]
	}
	out, err := c.builder.body(s, g, 0)
	c.must(err)
	return out
}

// inline expands a function of the model: its names are its own. Operands that the call leaves out are absent in the
// function too. Attributes that it leaves out have the default of the function. A function imports its own opsets.
// Its outputs that nothing makes are absent, and an error where they are read.
func (c *call) inline(f *function) []*value {
	c.nest()
	defer func() { c.depth-- }()
	c.room(int64(len(f.inputs) + len(f.outputs) + len(f.defaults) + len(c.node.Attrs)))
	s := &scope{values: map[string]*value{}, opsets: f.opsets, attrs: map[string]*Attribute{}, inside: f}
	for i, name := range f.inputs {
		if c.has(i) {
			s.values[name] = c.in[i]
		}
	}
	for name, a := range f.defaults {
		s.attrs[name] = a
	}
	for name := range c.node.Attrs {
		if a := c.attr(name); a != nil {
			s.attrs[name] = a
		}
	}
	c.must(c.run(s, f.nodes))
	out := make([]*value, len(f.outputs))
	for i, name := range f.outputs {
		out[i] = s.find(name)
		c.must(c.settle(out[i]))
	}
	return out
}

// buildIf is one of two graphs. The condition has to be known: the other branch is not part of the graph at all.
func buildIf(c *call) []*value {
	branch := "else_branch"
	if c.number(0, "the condition") != 0 {
		branch = "then_branch"
	}
	return c.body(c.subgraph(branch), nil)
}

// buildLoop runs the body while it is known to go on. Its inputs are the number of the round, the condition, and
// what the round before has made; its outputs are the condition, the same again, and what is stacked. Values that a
// round makes may have other shapes in the next one. A condition that the body computes from constants is known as
// well. The trip count and the condition may both be left out, but a loop without either never ends, which the limit
// of rounds refuses.
func buildLoop(c *call) []*value {
	rounds, goes := int64(-1), true
	if c.has(0) {
		rounds = max(c.integer(0, "the trip count"), 0)
	}
	if c.has(1) {
		goes = c.number(1, "the condition") != 0
	}
	g := c.subgraph("body")
	if len(c.in) < 2 {
		c.wrong("has %d operands; want 2 or more", len(c.in))
	}
	c.room(int64(len(g.Outputs)))
	carried := slices.Clone(c.in[2:])
	stacks := make([][]*value, max(len(g.Outputs)-1-len(carried), 0))
	for i := int64(0); goes && i != rounds; i++ {
		if i == longestLoop {
			c.refuse("runs more than %d times", longestLoop)
		}
		in := append([]*value{c.tensor(nil, []int64{i}), c.boolScalar(true)}, carried...)
		out := c.body(g, in)
		if len(out) < 1+len(carried) {
			c.wrong("the body has %d outputs; want %d or more", len(out), 1+len(carried))
		}
		goes = floatsOf(c.look(out[0], "the condition"))[0] != 0
		copy(carried, out[1:])
		for j, v := range out[1+len(carried):] {
			stacks[j] = append(stacks[j], v)
		}
	}
	for j, list := range stacks {
		carried = append(carried, c.stacked(list, 0, g.Outputs[1+len(c.in)-2+j]))
	}
	return carried
}

// stacked is tensors side by side along a new axis. Of no tensors the graph has to say what the type is. Its dtype
// and dimensions follow from the list.
func (c *call) stacked(list []*value, axis int, p *Port) *value {
	for _, v := range list {
		if v.isList || v.none {
			c.wrong("a sequence or nothing is to be stacked; want tensors")
		}
	}
	if len(list) > 0 {
		return c.do(op.IDStack, with(op.StackAxis, axis), list...).as(c.alike(list))
	}
	dims := []int64{0}
	for _, d := range p.Dims {
		dims = append(dims, max(d.Size, 0))
	}
	if len(dims) > shape.MaxRank {
		c.refuse("output %q has %d dimensions", p.Name, len(dims))
	}
	return c.constant(c.carrier(p.Elem), dims, nil).as(p.Elem.lacking())
}

// buildScan runs the body for each index of the axes that are scanned. The operands are first the states and then
// what is scanned; results are the states and then what is stacked, along an axis and in a direction that attributes
// say.
func buildScan(c *call) []*value { return c.scan(c.in, c.list("scan_input_directions")) }

// scanBatches is Scan before opset 9: all operands and results have an axis of batches in front, and the first operand, which
// may be left out, says how long each sequence is.
func scanBatches(c *call) []*value {
	if c.has(0) {
		c.refuse("sequence_lens is not supported")
	}
	if len(c.in) < 2 || c.x(1).rank() == 0 || c.x(1).dims()[0] == 0 {
		c.wrong("has no batches; want operands with an axis of them")
	}
	var made [][]*value
	for b := range c.x(1).dims()[0] {
		var in []*value
		for i := range c.in[1:] {
			in = append(in, c.pick(c.x(1+i), 0, b).as(c.in[1+i].elem))
		}
		made = append(made, c.scan(in, c.list("directions")))
	}
	out := make([]*value, len(made[0]))
	for i := range out {
		var list []*value
		for _, of := range made {
			list = append(list, of[i])
		}
		out[i] = c.stacked(list, 0, nil)
	}
	return out
}

// scan is the body, for each index of the axes that are scanned.
func (c *call) scan(operands []*value, inBack []int64) []*value {
	g, scanned := c.subgraph("body"), int(c.int("num_scan_inputs", 0))
	if scanned < 1 || scanned > len(operands) {
		c.wrong("num_scan_inputs is %d; want 1 to %d", scanned, len(operands))
	}
	c.room(int64(len(g.Outputs)))
	states := len(operands) - scanned
	carried, inputs := slices.Clone(operands[:states]), operands[states:]
	inAxes := c.list("scan_input_axes")
	outAxes, outBack := c.list("scan_output_axes"), c.list("scan_output_directions")
	at := func(list []int64, i int) int64 {
		if i < len(list) {
			return list[i]
		}
		return 0
	}
	rounds := int64(-1)
	for i, x := range inputs {
		if x == nil || x.isList {
			c.wrong("operand %d is no tensor; want one to scan", states+i)
		}
		rounds = x.dims()[c.axis(at(inAxes, i), x.rank())]
	}
	if rounds > longestLoop {
		c.refuse("runs %d times; want at most %d", rounds, longestLoop)
	}
	stacks := make([][]*value, max(len(g.Outputs)-states, 0))
	// Each round reads one index of what is scanned, from the end where a direction is 1.
	for r := range rounds {
		in := slices.Clone(carried)
		for i, x := range inputs {
			axis, index := c.axis(at(inAxes, i), x.rank()), r
			if at(inBack, i) == 1 {
				index = rounds - 1 - r
			}
			in = append(in, c.pick(x, axis, index).as(x.elem))
		}
		out := c.body(g, in)
		if len(out) < states {
			c.wrong("the body has %d outputs; want %d or more", len(out), states)
		}
		copy(carried, out[:states])
		for j, v := range out[states:] {
			stacks[j] = append(stacks[j], v)
		}
	}
	for j, list := range stacks {
		if at(outBack, j) == 1 {
			slices.Reverse(list)
		}
		axis := 0
		if len(list) > 0 {
			axis = c.axis(at(outAxes, j), list[0].rank()+1)
		}
		carried = append(carried, c.stacked(list, axis, g.Outputs[states+j]))
	}
	return carried
}

// sequence is operand i, a sequence.
func (c *call) sequence(i int) []*value {
	if !c.has(i) || !c.in[i].isList {
		c.wrong("operand %d is no sequence", i)
	}
	return c.in[i].list
}

// listOf is a sequence as the one result of a node.
func listOf(list []*value) []*value { return one(&value{isList: true, list: list}) }

// sequenceConstruct is a sequence of all operands.
func sequenceConstruct(c *call) []*value {
	for i := range c.in {
		c.x(i)
	}
	return listOf(slices.Clone(c.in))
}

// place is operand i as a position in a sequence of n tensors, counted from the end if negative.
func (c *call) position(i, n, last int) int {
	at := int(c.integer(i, "the position"))
	if at < 0 {
		at += n
	}
	if at < 0 || at > last {
		c.wrong("the position is %d in a sequence of %d", at, n)
	}
	return at
}

// sequenceAt is one tensor of a sequence.
func sequenceAt(c *call) []*value {
	list := c.sequence(0)
	return one(list[c.position(1, len(list), len(list)-1)])
}

// sequenceInsert puts a tensor before a position; without one at the end.
func sequenceInsert(c *call) []*value {
	list := c.sequence(0)
	c.room(int64(len(list)) + 1)
	at := len(list)
	if c.has(2) {
		at = c.position(2, len(list), len(list))
	}
	return listOf(slices.Insert(slices.Clone(list), at, c.x(1)))
}

// sequenceErase drops the tensor at a position; without one the last.
func sequenceErase(c *call) []*value {
	list := c.sequence(0)
	c.room(int64(len(list)))
	at := len(list) - 1
	if c.has(1) {
		at = c.position(1, len(list), len(list)-1)
	}
	if at < 0 {
		c.wrong("the sequence is empty")
	}
	return listOf(slices.Delete(slices.Clone(list), at, at+1))
}

// splitToSequence cuts an axis into parts of one size, of the sizes that are listed, or of single elements, which
// may lose the axis.
func splitToSequence(c *call) []*value {
	x := c.x(0)
	axis := c.axis(c.int("axis", 0), x.rank())
	n := x.dims()[axis]
	var sizes []int64
	alone := !c.has(1)
	switch {
	case alone:
		sizes = slices.Repeat([]int64{1}, int(min(n, longestLoop+1)))
	case c.in[1].rank() == 0:
		each := c.integer(1, "split")
		if each < 1 {
			c.wrong("split is %d; want 1 or more", each)
		}
		c.atMost((n-1)/each + 1) // before the list is made; of no elements it has no parts
		for left := n; left > 0; left -= each {
			sizes = append(sizes, min(each, left))
		}
	default:
		sizes = c.ints(1, "split")
	}
	c.atMost(int64(len(sizes)))
	parts := c.parts(x, axis, sizes)
	if alone && !c.yes("keepdims", 1) {
		for i := range parts {
			parts[i] = c.squeeze(parts[i], int64(axis))
		}
	}
	for i := range parts {
		parts[i] = parts[i].as(x.elem)
	}
	return listOf(parts)
}

// atMost refuses more tensors of a sequence than rounds of a loop.
func (c *call) atMost(n int64) {
	if n > longestLoop {
		c.refuse("makes %d tensors; want at most %d", n, longestLoop)
	}
}

// concatFromSequence joins the tensors of a sequence along an axis, or along a new one.
func concatFromSequence(c *call) []*value {
	list := c.sequence(0)
	if len(list) == 0 {
		c.wrong("the sequence is empty")
	}
	if c.yes("new_axis", 0) {
		return one(c.stacked(list, c.axis(c.int("axis", 0), list[0].rank()+1), nil))
	}
	return one(c.concat(c.axis(c.int("axis", 0), list[0].rank()), list...).as(c.alike(list)))
}

// sequenceMap runs the body for each position; tensors among the further operands are the same each time. The number
// of results is that of the first operand, which has to be a sequence.
func sequenceMap(c *call) []*value {
	g := c.subgraph("body")
	c.room(int64(len(g.Outputs)))
	made := make([][]*value, len(g.Outputs))
	for i := range c.sequence(0) {
		in := []*value{c.in[0].list[i]}
		for j := 1; j < len(c.in); j++ {
			if c.has(j) && c.in[j].isList {
				if i >= len(c.in[j].list) {
					c.wrong("sequence %d is shorter than sequence 0", j)
				}
				in = append(in, c.in[j].list[i])
				continue
			}
			in = append(in, c.x(j))
		}
		for j, v := range c.body(g, in) {
			made[j] = append(made[j], v)
		}
	}
	out := make([]*value, len(made))
	for i := range made {
		out[i] = &value{isList: true, list: made[i]}
	}
	return out
}
