package ops

import (
	"slices"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/onnx/build"
	"github.com/paddle-mps/paddle-mps/onnx/file"
)

// Control flow, functions and sequences. All of them are gone when a graph is built: a branch is taken, a loop is unrolled,
// and a sequence is a list of values while the nodes that use it are built.
//
// What decides has to be known while the graph is built: from constants, from shapes, or because the runtime has
// read the elements of a deciding input. A loop whose end depends on what it computes is refused.

// longestLoop is how often a loop runs at most: each time its nodes become part of the graph again.
const longestLoop = 4096

var flow = []entry{
	{"If", 1, 0, buildIf},       // condition; attributes then_branch and else_branch
	{"Loop", 1, 0, buildLoop},   // trip count, condition, values; attribute body
	{"Scan", 8, 0, scanBatches}, // lengths of sequences, states, sequences; attribute body
	{"Scan", 9, 0, buildScan},   // states, sequences; attribute body
	{"SequenceConstruct", 11, 0, sequenceConstruct},
	{"SequenceEmpty", 11, 0, func(*build.Call) []*build.Value { return build.One(&build.Value{IsList: true}) }},
	{"SequenceAt", 11, 0, sequenceAt},
	{"SequenceInsert", 11, 0, sequenceInsert},
	{"SequenceErase", 11, 0, sequenceErase},
	{"SequenceLength", 11, 0, func(c *build.Call) []*build.Value {
		return build.One(c.Tensor(nil, []int64{int64(len(sequence(c, 0)))}))
	}},
	{"SplitToSequence", 11, 0, splitToSequence},
	{"ConcatFromSequence", 11, 0, concatFromSequence},                                         // attributes axis and new_axis
	{"SequenceMap", 17, 0, sequenceMap},                                                       // sequences and tensors; attribute body
	{"Optional", 15, 0, func(c *build.Call) []*build.Value { return build.One(c.Passed(0)) }}, // what there is, or nothing
	{"OptionalGetElement", 15, 0, func(c *build.Call) []*build.Value { return build.One(c.Any(0)) }},
	{"OptionalHasElement", 15, 0, func(c *build.Call) []*build.Value { return build.One(boolScalar(c, c.Has(0))) }},
}

// boolScalar is a bool as a 0-d tensor.
func boolScalar(c *build.Call, b bool) *build.Value {
	raw := []byte{0}
	if b {
		raw[0] = 1
	}
	return c.Constant(dtype.Bool, nil, raw)
}

// subgraph is the graph of an attribute. Graphs are checked for missing operators when the file is read, like the
// main one.
func subgraph(c *build.Call, name string) *file.Graph {
	a := c.Attr(name)
	if a == nil || a.G == nil {
		c.Wrong("attribute %s is missing; want a graph", name)
	}
	return a.G
}

// body runs a graph of an attribute with operands for its inputs. Names of the graph hide those around it.
func body(c *build.Call, g *file.Graph, in []*build.Value) []*build.Value {
	c.Nest()
	defer func() { c.Depth-- }()
	s := c.Scope.Within()
	for i, p := range g.Inputs {
		if i >= len(in) || in[i] == nil {
			c.Wrong("graph %q has %d inputs and got %d", g.Name, len(g.Inputs), len(in))
		}
		s.Values[p.Name] = in[i]
	}
	out, err := c.Builder.Body(s, g, 0)
	c.Must(err)
	return out
}

// buildIf is one of two graphs. The condition has to be known: the other branch is not part of the graph at all.
func buildIf(c *build.Call) []*build.Value {
	branch := "else_branch"
	if c.Number(0, "the condition") != 0 {
		branch = "then_branch"
	}
	return body(c, subgraph(c, branch), nil)
}

// buildLoop runs the body while it is known to go on. Its inputs are the number of the round, the condition, and
// what the round before has made; its outputs are the condition, the same again, and what is stacked. Values that a
// round makes may have other shapes in the next one. A condition that the body computes from constants is known as
// well. The trip count and the condition may both be left out, but a loop without either never ends, which the limit
// of rounds refuses.
func buildLoop(c *build.Call) []*build.Value {
	rounds, goes := int64(-1), true
	if c.Has(0) {
		rounds = max(c.Integer(0, "the trip count"), 0)
	}
	if c.Has(1) {
		goes = c.Number(1, "the condition") != 0
	}
	g := subgraph(c, "body")
	if len(c.In) < 2 {
		c.Wrong("has %d operands; want 2 or more", len(c.In))
	}
	c.Room(int64(len(g.Outputs)))
	carried := slices.Clone(c.In[2:])
	stacks := make([][]*build.Value, max(len(g.Outputs)-1-len(carried), 0))
	for i := int64(0); goes && i != rounds; i++ {
		if i == longestLoop {
			c.Refuse("runs more than %d times", longestLoop)
		}
		in := append([]*build.Value{c.Tensor(nil, []int64{i}), boolScalar(c, true)}, carried...)
		out := body(c, g, in)
		if len(out) < 1+len(carried) {
			c.Wrong("the body has %d outputs; want %d or more", len(out), 1+len(carried))
		}
		goes = build.FloatsOf(c.Look(out[0], "the condition"))[0] != 0
		copy(carried, out[1:])
		for j, v := range out[1+len(carried):] {
			stacks[j] = append(stacks[j], v)
		}
	}
	for j, list := range stacks {
		carried = append(carried, stacked(c, list, 0, g.Outputs[1+len(c.In)-2+j]))
	}
	return carried
}

// stacked is tensors side by side along a new axis. Of no tensors the graph has to say what the type is. Its dtype
// and dimensions follow from the list.
func stacked(c *build.Call, list []*build.Value, axis int, p *file.Port) *build.Value {
	for _, v := range list {
		if v.IsList || v.None {
			c.Wrong("a sequence or nothing is to be stacked; want tensors")
		}
	}
	if len(list) > 0 {
		return c.Do(op.IDStack, build.With(op.StackAxis, axis), list...).As(c.Alike(list))
	}
	dims := []int64{0}
	for _, d := range p.Dims {
		dims = append(dims, max(d.Size, 0))
	}
	if len(dims) > shape.MaxRank {
		c.Refuse("output %q has %d dimensions", p.Name, len(dims))
	}
	return c.Constant(c.Carrier(p.Elem), dims, nil).As(p.Elem.Lacking())
}

// buildScan runs the body for each index of the axes that are scanned. The operands are first the states and then
// what is scanned; results are the states and then what is stacked, along an axis and in a direction that attributes
// say.
func buildScan(c *build.Call) []*build.Value { return scan(c, c.In, c.List("scan_input_directions")) }

// scanBatches is Scan before opset 9: all operands and results have an axis of batches in front, and the first operand, which
// may be left out, says how long each sequence is.
func scanBatches(c *build.Call) []*build.Value {
	if c.Has(0) {
		c.Refuse("sequence_lens is not supported")
	}
	if len(c.In) < 2 || c.X(1).Rank() == 0 || c.X(1).Dims()[0] == 0 {
		c.Wrong("has no batches; want operands with an axis of them")
	}
	var made [][]*build.Value
	for b := range c.X(1).Dims()[0] {
		var in []*build.Value
		for i := range c.In[1:] {
			in = append(in, c.Pick(c.X(1+i), 0, b).As(c.In[1+i].Elem))
		}
		made = append(made, scan(c, in, c.List("directions")))
	}
	out := make([]*build.Value, len(made[0]))
	for i := range out {
		var list []*build.Value
		for _, of := range made {
			list = append(list, of[i])
		}
		out[i] = stacked(c, list, 0, nil)
	}
	return out
}

// scan is the body, for each index of the axes that are scanned.
func scan(c *build.Call, operands []*build.Value, inBack []int64) []*build.Value {
	g, scanned := subgraph(c, "body"), int(c.Int("num_scan_inputs", 0))
	if scanned < 1 || scanned > len(operands) {
		c.Wrong("num_scan_inputs is %d; want 1 to %d", scanned, len(operands))
	}
	c.Room(int64(len(g.Outputs)))
	states := len(operands) - scanned
	carried, inputs := slices.Clone(operands[:states]), operands[states:]
	inAxes := c.List("scan_input_axes")
	outAxes, outBack := c.List("scan_output_axes"), c.List("scan_output_directions")
	at := func(list []int64, i int) int64 {
		if i < len(list) {
			return list[i]
		}
		return 0
	}
	rounds := int64(-1)
	for i, x := range inputs {
		if x == nil || x.IsList {
			c.Wrong("operand %d is no tensor; want one to scan", states+i)
		}
		rounds = x.Dims()[c.Axis(at(inAxes, i), x.Rank())]
	}
	if rounds > longestLoop {
		c.Refuse("runs %d times; want at most %d", rounds, longestLoop)
	}
	stacks := make([][]*build.Value, max(len(g.Outputs)-states, 0))
	// Each round reads one index of what is scanned, from the end where a direction is 1.
	for r := range rounds {
		in := slices.Clone(carried)
		for i, x := range inputs {
			axis, index := c.Axis(at(inAxes, i), x.Rank()), r
			if at(inBack, i) == 1 {
				index = rounds - 1 - r
			}
			in = append(in, c.Pick(x, axis, index).As(x.Elem))
		}
		out := body(c, g, in)
		if len(out) < states {
			c.Wrong("the body has %d outputs; want %d or more", len(out), states)
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
			axis = c.Axis(at(outAxes, j), list[0].Rank()+1)
		}
		carried = append(carried, stacked(c, list, axis, g.Outputs[states+j]))
	}
	return carried
}

// sequence is operand i, a sequence.
func sequence(c *build.Call, i int) []*build.Value {
	if !c.Has(i) || !c.In[i].IsList {
		c.Wrong("operand %d is no sequence", i)
	}
	return c.In[i].List
}

// listOf is a sequence as the one result of a node.
func listOf(list []*build.Value) []*build.Value {
	return build.One(&build.Value{IsList: true, List: list})
}

// sequenceConstruct is a sequence of all operands.
func sequenceConstruct(c *build.Call) []*build.Value {
	for i := range c.In {
		c.X(i)
	}
	return listOf(slices.Clone(c.In))
}

// position is operand i as a position in a sequence of n tensors, counted from the end if negative; the last one if it is left out.
func position(c *build.Call, i, n, last int) int {
	if !c.Has(i) {
		return last
	}
	at := int(c.Integer(i, "the position"))
	if at < 0 {
		at += n
	}
	if at < 0 || at > last {
		c.Wrong("the position is %d in a sequence of %d", at, n)
	}
	return at
}

// sequenceAt is one tensor of a sequence.
func sequenceAt(c *build.Call) []*build.Value {
	list := sequence(c, 0)
	c.X(1) // has to be given
	return build.One(list[position(c, 1, len(list), len(list)-1)])
}

// sequenceInsert puts a tensor before a position; without one at the end.
func sequenceInsert(c *build.Call) []*build.Value {
	list := sequence(c, 0)
	c.Room(int64(len(list)) + 1)
	return listOf(slices.Insert(slices.Clone(list), position(c, 2, len(list), len(list)), c.X(1)))
}

// sequenceErase drops the tensor at a position; without one the last.
func sequenceErase(c *build.Call) []*build.Value {
	list := sequence(c, 0)
	c.Room(int64(len(list)))
	at := position(c, 1, len(list), len(list)-1)
	if at < 0 {
		c.Wrong("the sequence is empty")
	}
	return listOf(slices.Delete(slices.Clone(list), at, at+1))
}

// splitToSequence cuts an axis into parts of one size, of the sizes that are listed, or of single elements, which
// may lose the axis.
func splitToSequence(c *build.Call) []*build.Value {
	x := c.X(0)
	axis := c.Axis(c.Int("axis", 0), x.Rank())
	n := x.Dims()[axis]
	var sizes []int64
	alone := !c.Has(1)
	switch {
	case alone:
		sizes = slices.Repeat([]int64{1}, int(min(n, longestLoop+1)))
	case c.In[1].Rank() == 0:
		each := c.Integer(1, "split")
		if each < 1 {
			c.Wrong("split is %d; want 1 or more", each)
		}
		atMost(c, (n-1)/each+1) // before the list is made; of no elements it has no parts
		for left := n; left > 0; left -= each {
			sizes = append(sizes, min(each, left))
		}
	default:
		sizes = c.Ints(1, "split")
	}
	atMost(c, int64(len(sizes)))
	list := parts(c, x, axis, sizes)
	for i, v := range list {
		if alone && !c.Yes("keepdims", 1) {
			v = c.Squeeze(v, int64(axis))
		}
		list[i] = v.As(x.Elem)
	}
	return listOf(list)
}

// atMost refuses more tensors of a sequence than rounds of a loop.
func atMost(c *build.Call, n int64) {
	if n > longestLoop {
		c.Refuse("makes %d tensors; want at most %d", n, longestLoop)
	}
}

// concatFromSequence joins the tensors of a sequence along an axis, or along a new one.
func concatFromSequence(c *build.Call) []*build.Value {
	list := sequence(c, 0)
	if len(list) == 0 {
		c.Wrong("the sequence is empty")
	}
	if c.Yes("new_axis", 0) {
		return build.One(stacked(c, list, c.Axis(c.Int("axis", 0), list[0].Rank()+1), nil))
	}
	return build.One(c.Concat(c.Axis(c.Int("axis", 0), list[0].Rank()), list...).As(c.Alike(list)))
}

// sequenceMap runs the body for each position; tensors among the further operands are the same each time. The number
// of results is that of the first operand, which has to be a sequence.
func sequenceMap(c *build.Call) []*build.Value {
	g := subgraph(c, "body")
	c.Room(int64(len(g.Outputs)))
	made := make([][]*build.Value, len(g.Outputs))
	for i := range sequence(c, 0) {
		in := []*build.Value{c.In[0].List[i]}
		for j := 1; j < len(c.In); j++ {
			if c.Has(j) && c.In[j].IsList {
				if i >= len(c.In[j].List) {
					c.Wrong("sequence %d is shorter than sequence 0", j)
				}
				in = append(in, c.In[j].List[i])
				continue
			}
			in = append(in, c.X(j))
		}
		for j, v := range body(c, g, in) {
			made[j] = append(made[j], v)
		}
	}
	out := make([]*build.Value, len(made))
	for i := range made {
		out[i] = &build.Value{IsList: true, List: made[i]}
	}
	return out
}
