package runtime

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// refusals is what a context knows of kernels that turned out to be refused.
type refusals struct {
	mu       sync.Mutex
	base     device.Refusals // when the figures were reset
	composed []composite     // which the device has claimed to have a kernel for, and has not
	changes  atomic.Uint64   // of composed
}

// composite is what devices have kernels of composites for; see device.Composer.
type composite struct {
	op    op.ID
	dtype dtype.DType // of the first operand, or of the result where there is none
}

// startRefusals connects the context with a device that composes, and with one whose kernels may be refused.
func (c *Context) startRefusals() {
	if d, ok := c.Device.(device.Composer); ok {
		c.composes = func(s *op.Step) bool { return d.Composes(s) && !c.lowered(s) }
	}
	of := []op.Ref{{DType: dtype.Float32}}
	if attention := (op.Step{Row: op.ByID(op.IDAttention), In: of, Out: of}); c.composes == nil || !c.composes(&attention) {
		c.passes &^= graph.Attention // in terms of other rows it would be what the program has
	}
	if d, ok := c.Device.(device.Refuser); ok {
		c.refuser = d
		d.OnRefusal(func(text string) { c.Warnf("%s", text) })
	}
}

// compositeOf is the composite of a step, as lowersFrom finds it again from the call that the step has become: its
// frame changes layouts and axes, but no dtype.
func compositeOf(s *op.Step) composite {
	if len(s.In) > 0 {
		return composite{s.Row.ID, s.In[0].DType}
	}
	return composite{s.Row.ID, s.Out[0].DType}
}

// lowered reports whether a step of a composite is lowered although the device claims a kernel for it.
func (c *Context) lowered(s *op.Step) bool {
	c.refusals.mu.Lock()
	defer c.refusals.mu.Unlock()
	return slices.Contains(c.refusals.composed, compositeOf(s))
}

// ErrLowered is the error of a call with a composite that the device turned out to lack: once more, it is lowered.
var ErrLowered = status.Errorf(status.Internal, "[compile] a composite has to be lowered")

// LowersFrom reports whether a call that failed with err can be tried again: it had a composite of the device's own,
// which turned out to lack it and is lowered from now on.
func (c *Context) LowersFrom(err error, call *device.Call) bool {
	row := op.ByID(call.Op)
	if status.CodeOf(err) != status.Unsupported || row == nil || row.Lower == nil || row.Own || c.composes == nil {
		return false
	}
	what := composite{row.ID, call.Out[0].DType}
	if len(call.In) > 0 {
		what.dtype = call.In[0].DType
	}
	c.refusals.mu.Lock()
	defer c.refusals.mu.Unlock()
	if slices.Contains(c.refusals.composed, what) {
		return false // its lowering has it again: there is nothing to try
	}
	c.refusals.composed = append(c.refusals.composed, what)
	c.refusals.changes.Add(1)
	c.logf("%v; it is lowered to other operators", err)
	return true
}

// Refusals are the figures of kernels that the compilers of the system refused, since the start or ResetAccumulated.
func (c *Context) Refusals() device.Refusals {
	if c.refuser == nil {
		return device.Refusals{}
	}
	c.refusals.mu.Lock()
	defer c.refusals.mu.Unlock()
	now, base := c.refuser.Refusals(), c.refusals.base
	return device.Refusals{Shaders: now.Shaders - base.Shaders, Graphs: now.Graphs - base.Graphs, SecondWay: now.SecondWay - base.SecondWay}
}

// resetRefusals sets the figures to zero. The device goes on counting; what it had counted is subtracted from then on.
func (c *Context) resetRefusals() {
	if c.refuser == nil {
		return
	}
	c.refusals.mu.Lock()
	defer c.refusals.mu.Unlock()
	c.refusals.base = c.refuser.Refusals()
}

// retryRefused has the compilers see again what they have refused. Composites are the device's own again. What the CPU
// has been warned of is not forgotten: the same refusal is reported once in the life of a process.
func (c *Context) retryRefused() {
	c.refusals.mu.Lock()
	if c.refusals.composed != nil {
		c.refusals.composed = nil
		c.refusals.changes.Add(1)
	}
	c.refusals.mu.Unlock()
	if c.refuser != nil {
		c.refuser.Retry()
	}
}

// reasonOf tells apart the reasons of a fallback that are reported one by one: those of compilers. All others are
// reported once for an operator.
func reasonOf(err error) string {
	if r := (*device.Refused)(nil); errors.As(err, &r) {
		return r.Reason
	}
	return ""
}
