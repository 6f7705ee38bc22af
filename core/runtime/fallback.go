package runtime

import (
	"sync"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// fallbacks counts the operators that a device lacks and the CPU ran on the same memory.
type fallbacks struct {
	mu    sync.Mutex
	calls map[op.ID]int64
}

// count adds a call and reports whether it is the first of its operator.
func (f *fallbacks) count(id op.ID) (first bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.calls == nil {
		f.calls = map[op.ID]int64{}
	}
	f.calls[id]++
	return f.calls[id] == 1
}

// Fallbacks is how many calls the CPU has run in place of the device, by operator.
func (c *Context) Fallbacks() map[string]int64 {
	c.fallbacks.mu.Lock()
	defer c.fallbacks.mu.Unlock()
	all := map[string]int64{}
	for id, n := range c.fallbacks.calls {
		all[op.ByID(id).Name] = n
	}
	return all
}

// fallsBack reports whether the CPU may run what the device does not.
func (c *Context) fallsBack(err error) bool {
	return c.rt.fallback && c != c.rt.cpu && status.CodeOf(err) == status.Unsupported
}

// fallBack runs a launch on the CPU, in the device's memory, which the CPU sees. It is over when the
// call returns: it waits for what the streams still do with its operands, and holds new work back
// meanwhile. The owner is the launch as ever, so a failure stays with the outputs and the stream.
func (l *launch) fallBack(row *op.Row, lacking error) error {
	cpu := l.ctx.rt.cpu
	p, err := l.program(cpu, row)
	if err == nil {
		err = l.reserveFor(p, nil)
	}
	if err != nil {
		l.recycle()
		return err
	}
	if l.ctx.fallbacks.count(row.ID) {
		l.ctx.warn("%v; it runs on the CPU, which is slower", lacking)
	}
	l.ctx.submit.Lock()
	defer l.ctx.submit.Unlock()
	for i, st := range l.stores {
		st.pins.Add(1)
		st.settle(i >= len(l.stores)-l.writes) // Ready meets its failure
	}
	cpu.main.dev.Run(p, &l.Call)
	return nil
}

// reserveFor gets the scratch memory that a program asks for; on is the stream that will use it, nil for
// the CPU.
func (l *launch) reserveFor(p device.Program, on device.Stream) error {
	n := p.Workspace(&l.Call)
	if n == 0 {
		return nil
	}
	block, err := l.ctx.allocate(n, on)
	if err != nil {
		return err
	}
	l.scratch, l.Workspace, l.Scratch = block, block.Addr, block.Heap
	return nil
}
