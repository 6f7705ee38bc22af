package runtime

import (
	"sync"

	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// fallbacks counts the calls of operators that a device lacks and that the CPU ran, on the same memory.
type fallbacks struct {
	mu     sync.Mutex
	calls  map[op.ID]int64
	warned map[warning]bool
}

// warning is what is reported once: that the device lacks an operator, or that a compiler has refused it for a reason.
type warning struct {
	op     op.ID
	reason string
}

// Lack is a step that the device lacks, and why.
type Lack struct {
	Row *op.Row
	Err error
}

// count adds a call and reports whether it is the first that is to be reported.
func (f *fallbacks) count(x *Lack) (first bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.calls == nil {
		f.calls, f.warned = map[op.ID]int64{}, map[warning]bool{}
	}
	f.calls[x.Row.ID]++
	w := warning{x.Row.ID, reasonOf(x.Err)}
	first = !f.warned[w]
	f.warned[w] = true
	return first
}

// Fallbacks is how many calls the CPU has run in place of the device, by operator. The memory snapshot reports
// it as cpu_fallbacks.
func (c *Context) Fallbacks() map[string]int64 {
	c.fallbacks.mu.Lock()
	defer c.fallbacks.mu.Unlock()
	all := map[string]int64{}
	for id, n := range c.fallbacks.calls {
		all[op.ByID(id).Name] = n
	}
	return all
}

// FallsBack reports whether the CPU may run a call that the device refused with err: only where the device
// lacks it, and not with Config.NoFallback.
func (c *Context) FallsBack(err error) bool {
	return c.Runtime.fallback && c != c.Runtime.CPU && status.CodeOf(err) == status.Unsupported
}

// fallBack runs a launch on the CPU, in the device's memory, which the CPU sees. It is complete when fallBack
// returns: it waits for the hazards of its operands and blocks new submissions meanwhile. The first fallback
// of each operator, and for each reason that a compiler gives, is logged as a warning. The launch owns the call, as on
// the device, so that a failure is recorded in the outputs and the stream.
func (l *Launch) fallBack() {
	for i := range l.Lacks {
		if x := &l.Lacks[i]; l.ctx.fallbacks.count(x) {
			l.ctx.Warnf("%v; it runs on the CPU, which is slower", x.Err)
		}
	}
	l.ctx.submit.Lock()
	defer l.ctx.submit.Unlock()
	for i, st := range l.Stores {
		st.pins.Add(1)
		st.Wait(i >= len(l.Stores)-l.Writes) // Ready reports the failure of an input
	}
	l.ctx.Runtime.CPU.main.Device.Run(l.Program, &l.Call)
}
