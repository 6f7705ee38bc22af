package build

import (
	"maps"
	"slices"
	"strconv"

	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/onnx/file"
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
	node     *file.Node // of the main graph, around the call
	row      *op.Row
	attrs    op.Attrs
	strings  graph.StringCall // nil: row
	operands []*Value
	results  []Value // their types have symbols for sizes; inputs are those of the model that they depend on
}

// Error satisfies the interface; users never see it.
func (*cut) Error() string { return "the graph ends here" }

// Counted calls a row whose result has a size that follows from elements. Where these are known, so is the result.
func (c *Call) Counted(id op.ID, at op.Attrs, in ...*Value) *Value {
	row, b := op.ByID(id), c.Builder
	full, err := b.infer(row, at, in)
	c.Must(err)
	result := Value{Type: b.ask.Out[0], Fixed: !c.Tainted}
	known := true
	for _, v := range in {
		known, result.Fixed, result.inputs = known && v.known(), result.Fixed && v.Fixed, result.inputs|v.inputs
	}
	switch {
	case known:
		for _, v := range in { // the result may have the indices of all elements
			if v.Data != nil {
				c.Room(v.Shape.Numel())
				c.Room(int64(v.Rank()), v.Shape.Numel())
			}
		}
		made, err := b.Model.evaluate(row, full, in)
		c.Must(err)
		result.Type, result.Data = made[0].Type, made[0]
		return &result
	case b.taken < len(b.given):
		b.taken++
		return b.given[b.taken-1]
	case b.drawn:
		c.Refuse("its size depends on elements, and random numbers were drawn before it in a branch, a loop or a function; want them outside")
	}
	result.Fixed = false
	panic(refusal{&cut{node: b.outer, row: row, attrs: full, operands: in, results: []Value{result}}})
}

// Rest is a model from a node on. Its inputs are the results of calls of the node that ended graphs, those of the latest call
// first, and values by name.
type Rest struct {
	*Model
	known   map[int]*op.Const // inputs of the model; see Model.Given
	tensors int               // of all inputs
	from    int               // the node
	stage   int               // how many stages there are before it
	results int
	latest  int               // how many of them are of the latest call
	inputs  []Value           // types, and the inputs of the model that they depend on
	names   []string          // of the inputs behind the results
	ready   map[string]*Value // values with elements
	lists   []named           // sequences, those within others first
}

// named is a sequence by its name, and its elements by names that no file has given.
type named struct {
	name     string
	elements []string
}

// cutAt ends the graph at a call. Its outputs are the operands, the results of earlier calls of the node, and what the
// nodes from this one on read.
func (b *Builder) cutAt(at *cut) (*graph.Graph, *graph.Stage, error) {
	main := b.Model.file.Graph
	r := &Rest{
		Model: b.Model, known: b.known, tensors: b.tensors, from: slices.Index(main.Nodes, at.node), stage: b.stage + 1, results: len(at.results) + len(b.given), latest: len(at.results), inputs: at.results, ready: map[string]*Value{},
	}
	if r.stage > MostStages {
		return nil, nil, status.Errorf(status.Unsupported, "[onnx] %s: the model has more than %d results whose sizes depend on elements, or that are made of strings", at.node.Named(b.main.Opsets[at.node.Domain]), MostStages)
	}
	var outputs []graph.Value
	for _, v := range at.operands {
		outputs = append(outputs, b.place(v))
	}
	pass := func(v *Value) {
		outputs = append(outputs, b.place(v))
		r.inputs = append(r.inputs, Value{Type: v.Type, Elem: v.Elem, inputs: v.inputs})
	}
	for _, v := range b.given {
		pass(v)
	}
	// Inputs of this graph go to the rest as they are, behind all others: as outputs of the graph they would be copies.
	var ports []int
	var again []string // names of ports
	elements := 0      // of all sequences, which are named by their numbers: names of the file may be long
	var carry func(name string, v *Value)
	carry = func(name string, v *Value) {
		switch {
		case v == nil: // one of these nodes makes it
		case v.IsList:
			list := named{name: name}
			for i, e := range v.List {
				list.elements = append(list.elements, "\x00"+strconv.Itoa(elements))
				elements++
				carry(list.elements[i], e)
			}
			r.lists = append(r.lists, list)
		case v.known() || v.None:
			r.ready[name] = &Value{Type: v.Type, Elem: v.Elem, Data: v.Data, Number: v.Number, None: v.None, Fixed: v.Fixed, inputs: v.inputs}
		case slices.Contains(b.ports, v):
			ports, again = append(ports, slices.Index(b.ports, v)), append(again, name)
		default:
			pass(v)
			r.names = append(r.names, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(main.Reads(r.from))) {
		if err := b.settle(b.main.Values[name]); err != nil {
			return nil, nil, err
		}
		carry(name, b.main.Values[name])
	}
	for _, i := range ports {
		r.inputs = append(r.inputs, Value{Type: b.ports[i].Type, Elem: b.ports[i].Elem, inputs: b.ports[i].inputs})
	}
	r.names = append(r.names, again...)
	return b.Graph.Build(outputs...), &graph.Stage{
		Row: at.row, Attrs: at.attrs, Strings: at.strings, Model: b.Model.strings, Operands: len(at.operands), Inputs: ports, Rest: r,
	}, nil
}

// Counts reports whether sizes may follow from the elements of inputs: a node counts what others compute of them. The first
// size of an output may be such a number then, whatever the file calls it.
func (m *Model) Counts() bool {
	computed := map[string]bool{} // of elements of inputs
	for _, p := range m.inputs {
		computed[p.Name] = true
	}
	for _, n := range m.file.Graph.Nodes {
		// What follows from constants alone is counted when the graph is built, for all calls alike.
		names := map[string]bool{}
		n.Reads(names)
		follows := false
		for name := range names {
			follows = follows || computed[name]
		}
		if n.Op == "Shape" || n.Op == "Size" { // they read no elements
			continue
		}
		if follows && m.Counting(n, map[*file.Function]bool{}) {
			return true
		}
		for _, name := range n.Out {
			computed[name] = follows
		}
	}
	return false
}

// Counting reports whether a node counts, or one in its branches or the function that it calls. A function that was seen is
// not looked at again.
func (m *Model) Counting(n *file.Node, seen map[*file.Function]bool) bool {
	switch n.Op {
	case "NonZero", "Compress", "NonMaxSuppression", "Unique", "StringSplit", "StringNormalizer":
		return true
	}
	one := func(n *file.Node) bool { return m.Counting(n, seen) }
	for _, a := range n.Attrs {
		if a.G != nil && slices.ContainsFunc(a.G.Nodes, one) {
			return true
		}
	}
	f := m.file.Functions[file.FunctionName{Domain: n.Domain, Name: n.Op, Overload: n.Overload}]
	if f == nil || seen[f] {
		return false
	}
	seen[f] = true
	return slices.ContainsFunc(f.Nodes, one)
}

// Inputs are the types of the results of the calls, and of the values that follow.
func (r *Rest) Inputs() []op.Type {
	types := make([]op.Type, len(r.inputs))
	for i := range types {
		types[i] = r.inputs[i].Type
	}
	return types
}

// Resolve is Stage, for a rest that nothing follows.
func (r *Rest) Resolve(inputs []op.Type) (*graph.Graph, error) { return unstaged(r.Stage(inputs)) }

// Stage is the graph of the rest up to the next call. The runtime made the inputs, of which only the sizes of results are new.
func (r *Rest) Stage(inputs []op.Type) (*graph.Graph, *graph.Stage, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	b := r.newBuilder(r.known, r.tensors)
	b.stage = r.stage
	var made []*Value
	for i, t := range inputs {
		made = append(made, b.input(t, r.inputs[i].Elem, r.inputs[i].inputs))
	}
	// The node made the earlier calls first.
	b.given = append(made[r.latest:r.results:r.results], made[:r.latest]...)
	for i, name := range r.names {
		b.main.Values[name] = made[r.results+i]
	}
	for name, v := range r.ready {
		again := *v // a graph says of a value whether it is placed
		b.main.Values[name] = &again
	}
	for _, l := range r.lists {
		v := &Value{IsList: true}
		for _, name := range l.elements {
			v.List = append(v.List, b.main.Values[name])
		}
		b.main.Values[l.name] = v
	}
	return b.build(r.from)
}
