package file

import "github.com/paddle-mps/paddle-mps/core/status"

// Definitions checks what names of a file stand for: in each graph and function one input, initializer or result. An initializer
// may have the name of an input, whose default it is. onnxruntime refuses other files too; which of two meanings one of them had
// would depend on the order of its fields. Sizes of initializers, inputs and outputs are checked as well, those that nothing reads
// included.
func (f *Model) Definitions() error {
	if err := f.Graph.definitions(); err != nil {
		return err
	}
	for _, fn := range f.Functions {
		made := map[string]bool{}
		for _, name := range fn.Inputs {
			if err := define(made, name, "function", fn.Name); err != nil {
				return err
			}
		}
		if err := definedBy(fn.Nodes, made, "function", fn.Name); err != nil {
			return err
		}
	}
	return nil
}

// definitions is that of a file, for one graph and the graphs in attributes of its nodes.
func (g *Graph) definitions() error {
	inputs, initializers := map[string]bool{}, map[string]bool{}
	for _, p := range g.Inputs {
		if err := define(inputs, p.Name, "graph", g.Name); err != nil {
			return err
		}
	}
	for _, t := range g.Initializers {
		if err := define(initializers, t.Name, "graph", g.Name); err != nil {
			return err
		}
		if _, err := t.Type(); status.CodeOf(err) == status.Invalid {
			return err
		}
		inputs[t.Name] = true
	}
	for _, list := range [2][]*Port{g.Inputs, g.Outputs} {
		for _, p := range list {
			for _, d := range p.Dims {
				if d.Size < -1 {
					return status.Errorf(status.Invalid, "[onnx] %q of graph %q has a dimension of %d; want 0 or more, or -1 where it is not known", p.Name, g.Name, d.Size)
				}
			}
		}
	}
	return definedBy(g.Nodes, inputs, "graph", g.Name)
}

// definedBy adds the results of nodes to the names that are made, and checks the graphs in their attributes.
func definedBy(nodes []*Node, made map[string]bool, kind, where string) error {
	for _, n := range nodes {
		for _, name := range n.Out {
			if err := define(made, name, kind, where); err != nil {
				return err
			}
		}
		for _, a := range n.Attrs {
			if a.G != nil {
				if err := a.G.definitions(); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// define adds a name to those that are made. An empty one is a result that is left out.
func define(made map[string]bool, name, kind, where string) error {
	if name == "" {
		return nil
	}
	if made[name] {
		return status.Errorf(status.Invalid, "[onnx] %s %q defines %q twice; want one input, initializer or result of that name", kind, where, name)
	}
	made[name] = true
	return nil
}
