package runtime

import (
	"sync"
	"sync/atomic"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// programs is the compiled programs of a device by key. A small direct-mapped table in front answers
// warm look-ups with one atomic load.
type programs struct {
	front [256]atomic.Pointer[compiled]
	mu    sync.Mutex
	all   map[device.Key]*compiled
}

// compiled is a program, or why the device has none.
type compiled struct {
	key     device.Key
	program device.Program
	lacking error
}

func (ps *programs) slot(k *device.Key) *atomic.Pointer[compiled] {
	h := uint64(k.Op)*0x9e3779b97f4a7c15 ^ k.DTypes*0xbf58476d1ce4e5b9 ^ k.Class
	return &ps.front[(h^h>>29)&0xff]
}

// find is the program for a call, compiled when there is none yet.
func (c *Context) find(row *op.Row, call *device.Call) (device.Program, error) {
	key := c.dev.Key(row.ID, call)
	slot := c.programs.slot(&key)
	if e := slot.Load(); e != nil && same(&e.key, &key) {
		return e.program, e.lacking
	}
	return c.lookUp(row, call, key, slot)
}

// same is ==, in the order in which keys differ and without a call where they have no Dims.
func same(a, b *device.Key) bool {
	return a.DTypes == b.DTypes && a.Op == b.Op && a.Class == b.Class && (a.Dims == "" && b.Dims == "" || a.Dims == b.Dims)
}

// lookUp finds or compiles a program that the front does not have.
func (c *Context) lookUp(row *op.Row, call *device.Call, key device.Key, slot *atomic.Pointer[compiled]) (device.Program, error) {
	c.programs.mu.Lock()
	defer c.programs.mu.Unlock()
	e := c.programs.all[key]
	if e == nil {
		p, err := c.dev.Compile(graphOf(row, call))
		if err != nil && status.CodeOf(err) != status.Unsupported {
			return nil, err
		}
		if c.programs.all == nil {
			c.programs.all = map[device.Key]*compiled{}
		}
		e = &compiled{key, p, err}
		c.programs.all[key] = e
	}
	slot.Store(e)
	return e.program, e.lacking
}

// graphOf is a call as the graph of one operator.
func graphOf(row *op.Row, call *device.Call) *graph.Graph {
	values := func(os []device.Operand) (vs []graph.Value) {
		for i := range os {
			vs = append(vs, graph.Value{DType: os[i].DType, Layout: os[i].Layout})
		}
		return vs
	}
	return graph.Single(row, call.Attrs, call.Axes, values(call.In), values(call.Out))
}

// clear forgets all programs. Runs in flight keep theirs: a program is closed by its device.
func (ps *programs) clear() {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	for i := range ps.front {
		ps.front[i].Store(nil)
	}
	ps.all = nil
}
