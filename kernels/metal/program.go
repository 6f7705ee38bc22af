package metal

import (
	"encoding/binary"
	"math"
	"slices"
	"sync"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/kernels"
	"github.com/paddle-mps/paddle-mps/objc"
)

// kernel computes one operator for all calls with one key. It is immutable and may encode into many
// streams at once; everything about a call is in the call.
type kernel interface {
	// encode says the call to the GPU, through the methods of the batch. What it returns, without the
	// operator's name, ends the call.
	encode(b *batch, c *device.Call) error
	// workspace is the scratch bytes of a call.
	workspace(c *device.Call) int64
	// close gives back what the kernel has of Metal; command buffers keep what they use.
	close()
}

// finisher is a kernel with something left to do when the GPU has ended a call: to see whether it
// failed, or how many results there are.
type finisher interface {
	// finish gets the word that the call asked the batch for, zero if it did not.
	finish(c *device.Call, w word) error
}

// program is a kernel as the runtime holds it.
type program struct{ kernel }

// Workspace asks the kernel.
func (p *program) Workspace(c *device.Call) int64 { return p.workspace(c) }

// What programs hold of Metal and MPSGraph nobody tells; these are guesses.
const (
	shaderBytes = 16 << 10
	graphBytes  = 64 << 10
	nodeBytes   = 4 << 10
)

// Bytes is a guess at the memory of the program.
func (p *program) Bytes() int64 {
	if x, ok := p.kernel.(*executable); ok {
		return graphBytes + nodeBytes*int64(x.nodes)
	}
	return shaderBytes
}

// Close gives the kernel back.
func (p *program) Close() error {
	defer objc.Pool().Close()
	p.close()
	return nil
}

// alien is the kernel of a program that another device compiled.
type alien struct{}

func (alien) encode(*batch, *device.Call) error {
	return status.Errorf(status.Internal, "got a program of another device")
}
func (alien) workspace(*device.Call) int64 { return 0 }
func (alien) close()                       {}

// way is how an operator of one dtype is run, by a shader or by MPSGraph.
type way struct {
	// class tells calls apart that need different kernels, such as by layout; ok is false for calls that
	// the way cannot run. It looks only at what a graph says too: dtypes, layouts, axes, attributes. nil:
	// there is one class, and all calls are in it.
	class func(d *Device, c *device.Call) (class uint64, ok bool)
	// make makes the kernel of a class. status.Unsupported leaves the call to the other way.
	make func(d *Device, c *device.Call) (kernel, error)
	// fed is a set of attributes that each call gives anew: they make no other program.
	fed uint
	// last is a way that is tried after the other one, whatever is preferred.
	last bool
}

// The ways of the package, under the dtype that decisive names. Shaders are compiled for a class of
// calls, graphs for the dimensions, axes and attributes of one.
var shaders, graphs kernels.Registry[way]

// Prefer says which way comes first.
type Prefer uint8

// The preferences. Shaders are the default, because their dispatch costs a tenth.
const (
	PreferShaders Prefer = iota
	PreferGraphs
)

// route is a way that a call can go.
type route struct {
	way
	id    uint64 // of the class
	graph bool
}

// routes are the ways of a call, in the order in which they are tried.
func (d *Device) routes(id op.ID, c *device.Call) (all [2]route, n int) {
	for i := range Prefer(2) {
		if r, ok := d.route(id, c, d.prefer != i); ok {
			all[n] = r
			n++
		}
	}
	if n == 2 && all[0].last && !all[1].last {
		all[0], all[1] = all[1], all[0]
	}
	return all, n
}

// route is one way of a call, by a graph or by a shader.
func (d *Device) route(id op.ID, c *device.Call, graph bool) (r route, ok bool) {
	from := &shaders
	if graph {
		from = &graphs
	}
	w, ok := from.Find(id, decisive(c))
	if !ok || graph && d.graphs == 0 {
		return r, false
	}
	r = route{way: w, graph: graph}
	if w.class != nil {
		r.id, ok = w.class(d, c)
	}
	return r, ok
}

// decisive is the dtype that a way is registered under: of the first input, but of the second where the
// first is a condition, and of the output where there are no inputs.
func decisive(c *device.Call) dtype.DType {
	switch {
	case len(c.In) == 0:
		return c.Out[0].DType
	case len(c.In) == 3 && c.In[0].DType == dtype.Bool && c.In[1].DType != dtype.Bool:
		return c.In[1].DType
	}
	return c.In[0].DType
}

// Classes of keys: the lowest bits say which way.
const (
	keyNone = iota
	keyShader
	keyGraph
)

// Key tells calls apart by operator, dtypes and what their way distinguishes.
func (d *Device) Key(id op.ID, c *device.Call) device.Key {
	key := device.Key{Op: id}
	for i := range c.Out {
		key.DTypes = key.DTypes<<4 | uint64(c.Out[i].DType)
	}
	for i := range c.In {
		key.DTypes = key.DTypes<<4 | uint64(c.In[i].DType)
	}
	routes, n := d.routes(id, c)
	switch first := &routes[0]; {
	case n == 0:
		key.Class = keyNone
	case first.graph:
		key.Class, key.Dims = first.id<<2|keyGraph, dims.of(c, first.fed)
	default:
		key.Class = first.id<<2 | keyShader
	}
	return key
}

// Compile makes the kernel for a graph of one operator.
func (d *Device) Compile(g *graph.Graph) (device.Program, error) {
	if len(g.Nodes) != 1 {
		return nil, status.Errorf(status.Unsupported, "[compile] got a graph of %d operators; want 1", len(g.Nodes))
	}
	c := callOf(g)
	row := g.Nodes[0].Op
	if slices.Contains(d.leave, row.ID) {
		return nil, status.Errorf(status.Unsupported, "[%s] is left to the CPU", row.Name)
	}
	var first *status.Error
	defer objc.Pool().Close()
	routes, n := d.routes(c.Op, c)
	for _, r := range routes[:n] {
		k, err := r.make(d, c)
		if err == nil {
			return &program{k}, nil
		}
		if e := status.From(err); first == nil || e.Code != status.Unsupported {
			first = &status.Error{Code: e.Code, Msg: "[" + row.Name + "] " + e.Msg}
		}
		if first.Code != status.Unsupported {
			return nil, first
		}
	}
	if first == nil {
		first = status.Errorf(status.Unsupported, "[%s] metal has nothing for %s of this layout", row.Name, decisive(c))
	}
	return nil, first
}

// callOf is a graph of one operator as a call without memory.
func callOf(g *graph.Graph) *device.Call {
	node := &g.Nodes[0]
	values := func(which []int) (os []device.Operand) {
		for _, v := range which {
			os = append(os, device.Operand{DType: g.Values[v].DType, Layout: g.Values[v].Layout})
		}
		return os
	}
	return &device.Call{
		Op: node.Op.ID, In: values(node.In), Out: values(node.Out), Attrs: node.Attrs, Axes: node.Axes,
	}
}

// names keeps one string for each sequence of bytes, so that a warm look-up makes none.
type names struct {
	mu  sync.RWMutex
	all map[string]string
}

// dims are the shapes that graphs have been compiled for.
var dims names

// mostNames bounds the table; beyond it the table starts anew, and keys are equal all the same.
const mostNames = 1 << 14

// of is everything that a graph is compiled for, besides operator and dtypes. fed is as in way.
func (n *names) of(c *device.Call, fed uint) string {
	var room [1024]byte
	text := room[:0]
	for _, os := range [2][]device.Operand{c.Out, c.In} {
		for i := range os {
			text = appendLayout(text, &os[i].Layout)
		}
	}
	text = append(text, byte(c.Axes), byte(c.Axes>>8))
	for i := range c.Attrs {
		if fed&(1<<i) == 0 {
			text = appendValue(text, &c.Attrs[i])
		}
	}
	return n.keep(text)
}

func (n *names) keep(text []byte) string {
	n.mu.RLock()
	s, ok := n.all[string(text)]
	n.mu.RUnlock()
	if ok {
		return s
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.all == nil || len(n.all) >= mostNames {
		n.all = map[string]string{}
	}
	s = string(text)
	n.all[s] = s
	return s
}

// appendLayout writes dimensions, and strides where they are not those of contiguous elements.
func appendLayout(text []byte, l *shape.Layout) []byte {
	text = append(text, byte(l.Rank))
	for _, d := range l.Dims[:l.Rank] {
		text = appendInt(text, d)
	}
	if l.IsContiguous() {
		return append(text, 0)
	}
	text = append(text, 1)
	for _, s := range l.Strides[:l.Rank] {
		text = appendInt(text, s)
	}
	return text
}

func appendValue(text []byte, v *op.Value) []byte {
	text = append(text, byte(v.Kind), byte(len(v.Ints)))
	text = appendInt(appendInt(text, v.I), int64(math.Float64bits(v.F)))
	for _, n := range v.Ints {
		text = appendInt(text, n)
	}
	return text
}

func appendInt(text []byte, n int64) []byte { return binary.LittleEndian.AppendUint64(text, uint64(n)) }
