package onnx

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/paddle-mps/paddle-mps/core/status"
)

// build is the function of an operator: it adds what the node computes to the graph and returns the results. Results that
// it does not return are not supported.
type build func(c *call) []*value

// version is an operator from an opset of its domain on.
type version struct {
	since int64
	build build
}

// from is an operator that means the same in all opsets from one on; what changed meanwhile follows from the attributes and
// operands that a node has.
func from(since int64, f build) []version { return []version{{since, f}} }

// table lists the operators by their names, with the domain in front where it is not the main one. The families add theirs
// in their files.
var table map[string][]version

// Functions of control flow look operators up in the table, so that it cannot be initialized where it is declared.
func init() {
	table = join(elementwise, reductions, arrays, selections, networks, pools, norms, recurrent, images, quantized, flow, attentions, losses, signals)
}

// join puts families together; an operator that two of them have is a mistake of this package.
func join(families ...map[string][]version) map[string][]version {
	all := map[string][]version{}
	for _, f := range families {
		for name, versions := range f {
			if all[name] != nil {
				panic("onnx: two families have " + name)
			}
			all[name] = versions
		}
	}
	return all
}

// operator is the function for a node; nil where there is none.
func (m *Model) operator(opsets map[string]int64, n *Node) build {
	if f := m.file.functions[functionName{n.Domain, n.Op, n.Overload}]; f != nil {
		return func(c *call) []*value { return c.inline(f) }
	}
	name, opset := n.Op, max(opsets[n.Domain], 1)
	if n.Domain != "" {
		name = n.Domain + ":" + name
	} else if opset > newest {
		return nil
	}
	var found build
	for _, v := range table[name] {
		if v.since <= opset {
			found = v.build
		}
	}
	return found
}

// check refuses a model with nodes that no function is for, and names all of them.
func (m *Model) check() error {
	missing := map[string][]string{} // nodes by operator
	m.lacks(m.file.graph, m.file.opsets, missing)
	for _, f := range m.file.functions {
		m.lacksAny(f.nodes, f.opsets, missing)
	}
	if len(missing) == 0 {
		return nil
	}
	var texts []string
	for _, op := range slices.Sorted(maps.Keys(missing)) {
		nodes := missing[op]
		const shown = 5
		more := ""
		if len(nodes) > shown {
			more = fmt.Sprintf(" and %d more", len(nodes)-shown)
			nodes = nodes[:shown]
		}
		texts = append(texts, fmt.Sprintf("%s (%s%s)", op, strings.Join(nodes, ", "), more))
	}
	hint := ""
	if v := m.file.opsets[""]; v > newest {
		hint = fmt.Sprintf("; the model is of opset %d, and opsets up to %d are supported", v, newest)
	}
	return status.Errorf(status.Unsupported, "[onnx] %s not supported: %s%s", status.Count(len(texts), "operator is", "operators are"), strings.Join(texts, "; "), hint)
}

// lacks collects what a graph lacks.
func (m *Model) lacks(g *Graph, opsets map[string]int64, missing map[string][]string) {
	if g.sparse > 0 {
		missing["sparse initializers"] = append(missing["sparse initializers"], fmt.Sprintf("graph %q", g.Name))
	}
	m.lacksAny(g.Nodes, opsets, missing)
}

// lacksAny collects what nodes lack, and the graphs in their attributes.
func (m *Model) lacksAny(nodes []*Node, opsets map[string]int64, missing map[string][]string) {
	for _, n := range nodes {
		if m.operator(opsets, n) == nil {
			op := fmt.Sprintf("%s-%d", n.Op, max(opsets[n.Domain], 1))
			if n.Domain != "" {
				op = n.Domain + ":" + op
			}
			name := n.Name
			if name == "" && len(n.Out) > 0 {
				name = n.Out[0]
			}
			missing[op] = append(missing[op], fmt.Sprintf("node %q", name))
		}
		for _, a := range n.Attrs {
			if a.G != nil {
				m.lacks(a.G, opsets, missing)
			}
		}
	}
}
