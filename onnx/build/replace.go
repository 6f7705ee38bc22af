package build

import (
	"slices"

	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/onnx/file"
)

// An initializer that the file lists among the inputs of its graph is a default: a caller may give another value. Models are
// read without such inputs, because what follows from constants is then computed once; a caller who wants one says so before
// the model is used.

// Take makes inputs of the model of initializers that the file lists as inputs, behind the inputs that it has, and returns
// their values, which a call without them gives. It comes before any other use of the model.
func (m *Model) Take(names []string) (defaults []*op.Const, err error) {
	symbols := 0
	for _, t := range append(m.types[:len(m.types):len(m.types)], m.outputs...) {
		symbols += t.Shape.Rank // no more than these are in use
	}
	for _, name := range names {
		at := slices.IndexFunc(m.replaceable, func(p *file.Port) bool { return p.Name == name })
		from := slices.IndexFunc(m.file.Graph.Initializers, func(t *file.Tensor) bool { return t.Name == name })
		if at < 0 || from < 0 {
			return nil, status.Errorf(status.NotFound, "[onnx] the model has no input %q with a value of its own", name)
		}
		c, err := m.Constant(m.file.Graph.Initializers[from])
		if err != nil {
			return nil, err
		}
		p := m.replaceable[at]
		t, err := typeWith(p, &symbols)
		if err != nil {
			return nil, err
		}
		m.inputs, m.types = append(m.inputs, p), append(m.types, t)
		m.replaceable = slices.Delete(m.replaceable, at, at+1)
		defaults = append(defaults, c)
	}
	return defaults, nil
}

// taken reports whether an initializer of the graph of the model is an input of it.
func (m *Model) taken(g *file.Graph, name string) bool {
	return g == m.file.Graph && slices.ContainsFunc(m.inputs, func(p *file.Port) bool { return p.Name == name })
}

// Replaceable are the initializers that [Model.Take] can make inputs of.
func (m *Model) Replaceable() []*file.Port { return m.replaceable }
