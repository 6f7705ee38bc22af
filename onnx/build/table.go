package build

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/onnx/file"
)

// Operator is the function of an operator: it adds what the node computes to the graph and returns the results. Results that
// it does not return are not supported.
type Operator func(c *Call) []*Value

// Entry is an operator from an opset of its domain on. One that means the same in all opsets has one entry: what changed
// meanwhile follows from the attributes and operands that a node has.
type Entry struct {
	Name  string // with the domain in front, where that is not the main one: "com.microsoft:Gelu"
	Since int64
	Row   op.ID // for functions that several operators share: the row that they call
	Build Operator
}

// Table are the entries by name, in ascending order of opsets.
var Table = map[string][]Entry{}

// Define adds operators to the table. It is called while packages are initialized: functions of control flow look operators up
// in the table, so that it cannot be initialized where it is declared.
func Define(list []Entry) {
	for _, e := range list {
		Table[e.Name] = append(Table[e.Name], e)
	}
}

// operator is the entry for a node; its build is nil where there is none. Functions of the model come before
// operators of the table: a model may bring its own version of one.
func (m *Model) operator(opsets map[string]int64, n *file.Node) (found Entry) {
	if f := m.file.Functions[file.FunctionName{Domain: n.Domain, Name: n.Op, Overload: n.Overload}]; f != nil {
		return Entry{Build: func(c *Call) []*Value { return c.inline(f) }}
	}
	name, opset := n.Op, max(opsets[n.Domain], 1)
	if n.Domain != "" {
		name = n.Domain + ":" + name
	} else if opset > Newest {
		return found
	}
	for _, e := range Table[name] {
		if e.Since <= opset {
			found = e
		}
	}
	return found
}

// check refuses a model with nodes that no function is for, and names all of them. Domains that the model imports
// and does not use do not matter.
func (m *Model) check() error {
	missing := map[string][]string{} // nodes by operator
	m.lacks(m.file.Graph, m.file.Opsets, missing)
	for _, f := range m.file.Functions {
		m.lacksAny(f.Nodes, f.Opsets, missing)
	}
	if len(missing) == 0 {
		return nil
	}
	var texts []string
	for _, operator := range slices.Sorted(maps.Keys(missing)) {
		nodes := missing[operator]
		const shown = 5
		more := ""
		if len(nodes) > shown {
			more = fmt.Sprintf(" and %d more", len(nodes)-shown)
			nodes = nodes[:shown]
		}
		texts = append(texts, fmt.Sprintf("%s (%s%s)", operator, strings.Join(nodes, ", "), more))
	}
	hint := ""
	if v := m.file.Opsets[""]; v > Newest {
		hint = fmt.Sprintf("; the model is of opset %d, and opsets up to %d are supported", v, Newest)
	}
	return status.Errorf(status.Unsupported, "[onnx] %s not supported: %s%s", status.Count(len(texts), "operator is", "operators are"), strings.Join(texts, "; "), hint)
}

// lacks collects what a graph lacks. Sparse tensors are refused with the name of their graph.
func (m *Model) lacks(g *file.Graph, opsets map[string]int64, missing map[string][]string) {
	if g.Sparse > 0 {
		missing["sparse initializers"] = append(missing["sparse initializers"], fmt.Sprintf("graph %q", g.Name))
	}
	m.lacksAny(g.Nodes, opsets, missing)
}

// lacksAny collects what nodes lack, and the graphs in their attributes. Branches that a known condition never takes
// count too: which one it takes is not known yet.
func (m *Model) lacksAny(nodes []*file.Node, opsets map[string]int64, missing map[string][]string) {
	for _, n := range nodes {
		if m.operator(opsets, n).Build == nil {
			operator := fmt.Sprintf("%s-%d", n.Op, max(opsets[n.Domain], 1))
			if n.Domain != "" {
				operator = n.Domain + ":" + operator
			}
			name := n.Name
			if name == "" && len(n.Out) > 0 {
				name = n.Out[0]
			}
			missing[operator] = append(missing[operator], fmt.Sprintf("node %q", name))
		}
		for _, a := range n.Attrs {
			if a.G != nil {
				m.lacks(a.G, opsets, missing)
			}
		}
	}
}
