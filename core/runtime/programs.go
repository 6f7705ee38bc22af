package runtime

import (
	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/program"
)

// startPrograms makes the cache of compiled programs.
func (c *Context) startPrograms(cfg Config) {
	limits := cfg.Programs
	limits.Failed = func(err error) { c.warn("[program] %s: %v", c.place, err) }
	c.programs = program.New(limits)
}

// Programs are the figures of the device's compiled programs.
func (c *Context) Programs() program.Stats { return c.programs.Stats() }

// program is the program for the launch in the cache of a device, which need not be its own. The launch
// holds it until it is recycled.
func (l *launch) program(c *Context, row *op.Row) (device.Program, error) {
	key := c.dev.Key(row.ID, &l.Call)
	e := c.programs.Find(&key, l.lane)
	if e == nil {
		var err error
		if e, err = c.programs.Get(key, l.lane, func() (device.Program, error) { return c.dev.Compile(graphOf(row, &l.Call)) }); err != nil {
			return nil, err
		}
	}
	p, lacking := e.Program()
	if lacking != nil {
		e.Release(l.lane)
		return nil, lacking
	}
	l.held = e
	return p, nil
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
