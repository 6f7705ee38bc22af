package execute

import (
	"fmt"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/op"
)

// What the steps of a plan ask of the machine.

// The estimate decides whether a caller that holds Python's lock waits for a run, repeats it without the lock, or has it run
// on another thread. It is in floating point, because a product of sizes may be beyond an int64.

// work estimates how many elements the steps of a plan work on. So many multiplications of a matrix product or a
// convolution count as one element.
func work(plan *device.Plan) (elements float64) {
	const products = 64
	for i := range plan.Steps {
		call := plan.Steps[i].Call
		for _, list := range [2][]device.Operand{call.In, call.Out} {
			for j := range list {
				elements += float64(list[j].Numel())
			}
		}
		elements += multiplications(call) / products
	}
	return elements
}

// multiplications are those of a matrix product, a convolution, attention or a recurrent layer; 0 for other calls. Of a transposed
// convolution with strides they are an upper bound.
func multiplications(call *device.Call) float64 {
	out := float64(call.Out[0].Numel())
	switch op.ByID(call.Op).Kind {
	case op.Product:
		x := &call.In[0]
		return out * float64(x.Dims[max(x.Rank, 1)-1])
	case op.Attend: // two products for each query and key
		x := &call.In[0]
		return 2 * float64(x.Numel()) * float64(call.In[1].Dims[max(call.In[1].Rank, 2)-2])
	case op.Recur: // a product for each step and gate
		return float64(call.In[0].Numel()) * float64(call.In[1].Dims[0])
	case op.Window:
		if len(call.In) > 1 && call.In[1].Rank > 0 {
			w := &call.In[1]
			return out * float64(w.Numel()) / float64(max(w.Dims[0], 1))
		}
	}
	return 0
}

// asked is what a step asks of the machine, for people and for `paddle-mps bench`, which compares it with the time that the step
// takes: the bytes that it reads and writes, and floating-point operations. Elements that a broadcast repeats count once, and
// those that stay within a group not at all. Each multiplication comes with an addition; a call without them counts one
// operation for each element of its first operand or its first result, whichever is larger.
func asked(s *device.Step) string {
	bytes := int64(0)
	each := func(slots []device.Slot, list []device.Operand) {
		for i := range list {
			o := &list[i]
			if slots[i].Space == device.Own || slots[i].Space == device.Local || o.Absent() {
				continue
			}
			n := o.DType.Size()
			for axis := range o.Rank {
				if o.Strides[axis] != 0 {
					n *= o.Dims[axis]
				}
			}
			bytes += n
		}
	}
	each(s.In, s.Call.In)
	each(s.Out, s.Call.Out)
	flop := 2 * multiplications(s.Call)
	if flop == 0 {
		flop = float64(s.Call.Out[0].Numel())
		if len(s.Call.In) > 0 {
			flop = max(flop, float64(s.Call.In[0].Numel()))
		}
	}
	return fmt.Sprintf("%d bytes, %.0f flop", bytes, flop)
}
