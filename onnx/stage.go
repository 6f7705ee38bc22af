package onnx

import (
	"maps"
	"slices"
	"strconv"

	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// The results of NonZero, Compress, NonMaxSuppression and Unique have a size that only elements tell, and a graph is made for
// known sizes. The graph of such a model therefore ends at the call, and the rest of the model is a source of its own, which is
// resolved once the call has run; see [graph.Staged]. Calls on strings end it as well; see strings.go.
//
// The function of the node runs again in the rest, from its beginning, and finds the result among the inputs. So it remains
// an ordinary function; what it computes before the call becomes a part of both graphs.
//
// A call within a branch, a loop or a function of the model ends the graph at the node of the main graph around it, which runs
// again as a whole: a loop with a call in each round computes all rounds before it again. Random numbers would be others then,
// so that they are refused before such a call.

// cut ends a graph at a counted call, or at one on strings. It is an error of the node that build handles.
type cut struct {
	node     *Node // of the main graph, around the call
	row      *op.Row
	attrs    op.Attrs
	strings  graph.StringCall // nil: row
	operands []*value
	results  []value // their types have symbols for sizes; inputs are those of the model that they depend on
}

// Error satisfies the interface; users never see it.
func (*cut) Error() string { return "the graph ends here" }

// counted calls a row whose result has a size that follows from elements. Where these are known, so is the result.
func (c *call) counted(id op.ID, at op.Attrs, in ...*value) *value {
	row, b := op.ByID(id), c.builder
	full, err := b.infer(row, at, in)
	c.must(err)
	result := value{Type: b.ask.Out[0], fixed: !c.tainted}
	known := true
	for _, v := range in {
		known, result.fixed, result.inputs = known && v.known(), result.fixed && v.fixed, result.inputs|v.inputs
	}
	switch {
	case known:
		for _, v := range in { // the result may have the indices of all elements
			if v.data != nil {
				c.room(v.Shape.Numel())
				c.room(int64(v.rank()), v.Shape.Numel())
			}
		}
		made, err := b.model.evaluate(row, full, in)
		c.must(err)
		result.Type, result.data = made[0].Type, made[0]
		return &result
	case b.taken < len(b.given):
		b.taken++
		return b.given[b.taken-1]
	case b.drawn:
		c.refuse("its size depends on elements, and random numbers were drawn before it in a branch, a loop or a function; want them outside")
	}
	result.fixed = false
	panic(refusal{&cut{node: b.outer, row: row, attrs: full, operands: in, results: []value{result}}})
}

// rest is a model from a node on. Its inputs are the results of calls of the node that ended graphs, those of the latest call
// first, and values by name.
type rest struct {
	*Model
	known   map[int]*op.Const // inputs of the model; see Model.Given
	tensors int               // of all inputs
	from    int               // the node
	stage   int               // how many stages there are before it
	results int
	latest  int               // how many of them are of the latest call
	inputs  []value           // types, and the inputs of the model that they depend on
	names   []string          // of the inputs behind the results
	ready   map[string]*value // values with elements
	lists   []named           // sequences, those within others first
}

// named is a sequence by its name, and its elements by names that no file has given.
type named struct {
	name     string
	elements []string
}

// cutAt ends the graph at a call. Its outputs are the operands, the results of earlier calls of the node, and what the
// nodes from this one on read.
func (b *builder) cutAt(at *cut) (*graph.Graph, *graph.Stage, error) {
	main := b.model.file.graph
	r := &rest{
		Model: b.model, known: b.known, tensors: b.tensors, from: slices.Index(main.Nodes, at.node), stage: b.stage + 1, results: len(at.results) + len(b.given), latest: len(at.results), inputs: at.results, ready: map[string]*value{},
	}
	if r.stage > mostStages {
		return nil, nil, status.Errorf(status.Unsupported, "[onnx] %s: the model has more than %d results whose sizes depend on elements, or that are made of strings", at.node.named(b.main.opsets[at.node.Domain]), mostStages)
	}
	var outputs []graph.Value
	for _, v := range at.operands {
		outputs = append(outputs, b.place(v))
	}
	pass := func(v *value) {
		outputs = append(outputs, b.place(v))
		r.inputs = append(r.inputs, value{Type: v.Type, elem: v.elem, inputs: v.inputs})
	}
	for _, v := range b.given {
		pass(v)
	}
	// Inputs of this graph go to the rest as they are, behind all others: as outputs of the graph they would be copies.
	var ports []int
	var again []string // names of ports
	elements := 0      // of all sequences, which are named by their numbers: names of the file may be long
	var carry func(name string, v *value)
	carry = func(name string, v *value) {
		switch {
		case v == nil: // one of these nodes makes it
		case v.isList:
			list := named{name: name}
			for i, e := range v.list {
				list.elements = append(list.elements, "\x00"+strconv.Itoa(elements))
				elements++
				carry(list.elements[i], e)
			}
			r.lists = append(r.lists, list)
		case v.known() || v.none:
			r.ready[name] = &value{Type: v.Type, elem: v.elem, data: v.data, number: v.number, none: v.none, fixed: v.fixed, inputs: v.inputs}
		case slices.Contains(b.ports, v):
			ports, again = append(ports, slices.Index(b.ports, v)), append(again, name)
		default:
			pass(v)
			r.names = append(r.names, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(main.reads(r.from))) {
		if err := b.settle(b.main.values[name]); err != nil {
			return nil, nil, err
		}
		carry(name, b.main.values[name])
	}
	for _, i := range ports {
		r.inputs = append(r.inputs, value{Type: b.ports[i].Type, elem: b.ports[i].elem, inputs: b.ports[i].inputs})
	}
	r.names = append(r.names, again...)
	return b.graph.Build(outputs...), &graph.Stage{
		Row: at.row, Attrs: at.attrs, Strings: at.strings, Model: b.model.strings, Operands: len(at.operands), Inputs: ports, Rest: r,
	}, nil
}

// reads is the names that the outputs and the nodes from one on read, those of graphs in attributes included.
func (g *Graph) reads(from int) map[string]bool {
	names := map[string]bool{}
	for _, p := range g.Outputs {
		names[p.Name] = true
	}
	for _, n := range g.Nodes[from:] {
		n.reads(names)
	}
	return names
}

// reads adds the names that a node reads, and graphs in its attributes beside those that are their own.
func (n *Node) reads(names map[string]bool) {
	for _, name := range n.In {
		names[name] = true
	}
	for _, a := range n.Attrs {
		if a.G == nil {
			continue
		}
		inner := a.G.reads(0)
		for _, p := range a.G.Inputs {
			delete(inner, p.Name)
		}
		for _, own := range a.G.Nodes {
			for _, name := range own.Out {
				delete(inner, name)
			}
		}
		maps.Copy(names, inner)
	}
}

// Counts reports whether sizes may follow from the elements of inputs: a node counts what others compute of them. The first
// size of an output may be such a number then, whatever the file calls it.
func (m *Model) Counts() bool {
	computed := map[string]bool{} // of elements of inputs
	for _, p := range m.inputs {
		computed[p.Name] = true
	}
	for _, n := range m.file.graph.Nodes {
		// What follows from constants alone is counted when the graph is built, for all calls alike.
		names := map[string]bool{}
		n.reads(names)
		follows := false
		for name := range names {
			follows = follows || computed[name]
		}
		if n.Op == "Shape" || n.Op == "Size" { // they read no elements
			continue
		}
		if follows && m.counting(n, map[*function]bool{}) {
			return true
		}
		for _, name := range n.Out {
			computed[name] = follows
		}
	}
	return false
}

// counting reports whether a node counts, or one in its branches or the function that it calls. A function that was seen is
// not looked at again.
func (m *Model) counting(n *Node, seen map[*function]bool) bool {
	switch n.Op {
	case "NonZero", "Compress", "NonMaxSuppression", "Unique", "StringSplit", "StringNormalizer":
		return true
	}
	one := func(n *Node) bool { return m.counting(n, seen) }
	for _, a := range n.Attrs {
		if a.G != nil && slices.ContainsFunc(a.G.Nodes, one) {
			return true
		}
	}
	f := m.file.functions[functionName{n.Domain, n.Op, n.Overload}]
	if f == nil || seen[f] {
		return false
	}
	seen[f] = true
	return slices.ContainsFunc(f.nodes, one)
}

// Inputs are the types of the results of the calls, and of the values that follow.
func (r *rest) Inputs() []op.Type {
	types := make([]op.Type, len(r.inputs))
	for i := range types {
		types[i] = r.inputs[i].Type
	}
	return types
}

// Resolve is Stage, for a rest that nothing follows.
func (r *rest) Resolve(inputs []op.Type) (*graph.Graph, error) { return unstaged(r.Stage(inputs)) }

// Stage is the graph of the rest up to the next call. The runtime made the inputs, of which only the sizes of results are new.
func (r *rest) Stage(inputs []op.Type) (*graph.Graph, *graph.Stage, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	b := r.newBuilder(r.known, r.tensors)
	b.stage = r.stage
	var made []*value
	for i, t := range inputs {
		made = append(made, b.input(t, r.inputs[i].elem, r.inputs[i].inputs))
	}
	// The node made the earlier calls first.
	b.given = append(made[r.latest:r.results:r.results], made[:r.latest]...)
	for i, name := range r.names {
		b.main.values[name] = made[r.results+i]
	}
	for name, v := range r.ready {
		again := *v // a graph says of a value whether it is placed
		b.main.values[name] = &again
	}
	for _, l := range r.lists {
		v := &value{isList: true}
		for _, name := range l.elements {
			v.list = append(v.list, b.main.values[name])
		}
		b.main.values[l.name] = v
	}
	return b.build(r.from)
}
