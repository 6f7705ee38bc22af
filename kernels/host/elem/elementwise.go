// Package elem holds the elementwise kernels: element i of a result is a function of the elements i of the operands.
//
// A kernel of one operand is a [Unary], one of two a [Binary]; casts, copies, where and clip are kernels of their own. Results that
// exceed the cache are written past it (streamed.go). [CastOf] and [Staging] convert and copy operands for kernels of other packages.
package elem

import (
	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
)

// Effort is what elements of an elementwise kernel cost, in which out[i] is a function of the elements i of the inputs.
type Effort struct {
	native bool               // neither coding does anything
	weight int64              // cost of an element, in additions
	Past   engine.Elementwise // see PastCache
}

// EffortOf describes a kernel by how elements are read and written and what one costs.
func EffortOf(in, out engine.Coding, weight int64) Effort {
	return Effort{native: in.Read == nil && out.Write == nil, weight: weight}
}

// Cost counts the weight for each element.
func (e *Effort) Cost(c *device.Call) int64 { return c.Out[0].Numel() * e.weight }

// Workspace is nothing: elements go through the buffers of a frame.
func (e *Effort) Workspace(*device.Call) int64 { return 0 }

// PerElement is true; see engine.Elementwise.
func (e *Effort) PerElement() bool { return true }

// Elements does all elements of the output. Operands that are walked block by block cost four times as much, which is looked at
// only where it may decide how many threads take part.
func (e *Effort) Elements(work engine.Splitter, t *engine.Threads, c *device.Call) error {
	cost := e.Cost(c)
	if cost >= engine.LeastForThread/2 && cost < 2*engine.LeastToWake && !(contiguous(c.Out) && contiguous(c.In)) {
		cost *= 4
	}
	if e.Past != nil && ExceedsCache(&c.Out[0]) {
		work = streamed{e.Past}
	}
	return t.Each(work, c, c.Out[0].Numel(), cost)
}

// contiguous reports whether the elements of each operand lie one behind the other, or are all the same one.
func contiguous(operands []device.Operand) bool {
	for i := range operands {
		if o := &operands[i]; !o.IsContiguous() && !engine.IsScalar(o) {
			return false
		}
	}
	return true
}
