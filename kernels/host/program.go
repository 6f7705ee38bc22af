package host

import (
	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/kernels"
)

// kernel computes one operator in one dtype. It is immutable: everything about a call is in the
// call.
type kernel interface {
	// cost is the work of a call, in additions of two elements; it decides where the call runs.
	cost(c *device.Call) int64
	// workspace is the scratch bytes of a call.
	workspace(c *device.Call) int64
	// run computes the call; an error leaves the outputs undefined.
	run(t *threads, c *device.Call) error
}

// simple is the part of a kernel that most share: a few cycles an element and no scratch memory.
type simple struct{}

func (simple) cost(c *device.Call) int64    { return c.Out[0].Numel() }
func (simple) workspace(*device.Call) int64 { return 0 }

// registry holds the kernels of the package under the dtype of computing; see decisive.
var registry kernels.Registry[kernel]

// register adds a portable kernel for one dtype.
func register(operator string, d dtype.DType, k kernel) {
	registry.Add(operator, dtype.SetOf(d), kernels.Portable, k)
}

// program is a kernel as the runtime holds it.
type program struct{ kernel kernel }

// Workspace asks the kernel.
func (p *program) Workspace(c *device.Call) int64 { return p.kernel.workspace(c) }

// Close does nothing: a program holds no memory of its own.
func (p *program) Close() error { return nil }

// Compile finds the kernel for a graph of one operator.
func (d *Device) Compile(g *graph.Graph) (device.Program, error) {
	if len(g.Nodes) != 1 {
		return nil, status.Errorf(status.Unsupported, "[compile] got a graph of %d operators; want 1", len(g.Nodes))
	}
	node := &g.Nodes[0]
	compute := decisive(node.Op.Kind, len(node.In), func(i int) dtype.DType {
		if i < len(node.In) {
			return g.Values[node.In[i]].DType
		}
		return g.Values[node.Out[0]].DType
	})
	k, ok := registry.Find(node.Op.ID, compute)
	if !ok {
		return nil, status.Errorf(status.Unsupported, "[%s] host has no kernel for %s; want one of %v",
			node.Op.Name, compute, registry.DTypes(node.Op.ID).Members())
	}
	return &program{k}, nil
}

// decisive is the dtype that a kernel is registered under: of the first input, but of the second
// where the first is a condition, and of the output where there are no inputs. Operand i >= inputs
// is the output.
func decisive(kind op.Kind, inputs int, of func(i int) dtype.DType) dtype.DType {
	if kind == op.Select && inputs == 3 && of(0) == dtype.Bool && of(1) != dtype.Bool {
		return of(1)
	}
	return of(0)
}

// Key tells calls apart by operator and dtypes: host kernels take every layout and attribute.
func (d *Device) Key(id op.ID, c *device.Call) device.Key {
	key := device.Key{Op: id}
	for i := range c.Out {
		key.DTypes = key.DTypes<<4 | uint64(c.Out[i].DType)
	}
	for i := range c.In {
		key.DTypes = key.DTypes<<4 | uint64(c.In[i].DType)
	}
	return key
}
