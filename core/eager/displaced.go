package eager

import (
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/place"
)

// A displaced tensor is on the CPU only because the mps device that it was made for lacks its dtype: float64, or a complex one.
// It is a tensor of the CPU like any other, and so is what is computed from it, until a call finds it beside a tensor of an mps
// device. There a tensor of the CPU is an error, and a displaced one is cast and copied to that device, as if it had been there.
// Complex numbers have no counterpart there, so that such a call runs on the CPU instead.
//
// An example, with x of float64 displaced from mps:0 and g there:
//
//	x > 0        a call of the CPU; its result is of bool and displaced
//	g[x > 0]     the mask is copied to mps:0
//	x * g        x is cast to float32 and copied; the result is on mps:0
//	x[0] = g[1]  g[1] is copied to the CPU; x stays what it is
//
// The mark is of the storage: views share it, and results get it from operands. It is decided when a storage is made and never
// changes. A runtime without displaced tensors asks one flag a call.

// CastRow is the operator that casts.
var CastRow = op.ByID(op.IDCast)

// CastTo are its attributes for a dtype.
func CastTo(d dtype.DType) op.Attrs { return op.Attrs{op.CastDtype: {Kind: op.DType, I: int64(d)}} }

// displacement is the first mark among the operands, 0 where there is none.
func displacement(in []runtime.Operand) int32 {
	for i := range in {
		if t := in[i].Tensor; t != nil && t.Store.Displacement != 0 {
			return t.Store.Displacement
		}
	}
	return 0
}

// inheritDisplacement marks results of a call on the CPU whose operands are displaced. A view has the mark of its memory.
func inheritDisplacement(in []runtime.Operand, made []*runtime.Tensor) {
	from := displacement(in)
	if from == 0 {
		return
	}
	for _, t := range made {
		if st := t.Store; st.Context.Place().Kind == place.CPUKind && st.Displacement == 0 && !sharedWith(in, st) {
			st.Displace(from)
		}
	}
}

func sharedWith(in []runtime.Operand, st *runtime.Storage) bool {
	for i := range in {
		if t := in[i].Tensor; t != nil && t.Store == st {
			return true
		}
	}
	return false
}

// A 0-d tensor of the CPU may stand beside tensors of any device, as a number of its dtype. For a displaced one that would be a dtype that
// the device lacks, and the result of the call would be one of it.

// apart reports whether a displaced number, a 0-d tensor, is beside tensors of a device that lacks its dtype. A call would read it as a
// number of that dtype.
func apart(in []runtime.Operand, c *runtime.Context) bool {
	for i := range in {
		if t := in[i].Tensor; t != nil && t.Store.Context != c && t.Store.Displacement != 0 && c.Supports("", t.DType) != nil {
			return true
		}
	}
	return false
}

// A call that finds its operands apart is made again with copies of some of them, so that nothing else of it knows of displaced tensors.
// The second time they are on one device, or the call fails as any other.

// gathered are operands on one device. The caller frees what was made for that.
type gathered struct {
	rt   *runtime.Runtime
	in   []runtime.Operand
	made []*runtime.Tensor
}

// free frees the copies.
func (g *gathered) free() { g.rt.FreeAll(g.made) }

// gather brings the operands of a call to one device, where displaced tensors are all that keeps them apart: to out's, if the call
// writes into one, else to that of the tensors that are not displaced. ok is false where something else keeps them apart. Copies
// are recorded in the mode of the call.
func gather(rt *runtime.Runtime, row *op.Row, in []runtime.Operand, out *runtime.Tensor, on *runtime.Stream, mode runtime.Mode) (g gathered, ok bool, err error) {
	to, from, ok := meeting(rt, row, in, out)
	if !ok || on.Traces() { // which brings them there at each run: see DTypeOn
		return g, false, nil
	}
	g = gathered{rt: rt, in: make([]runtime.Operand, len(in))}
	copy(g.in, in)
	caller := In(rt, mode)
	for i := range in {
		t := in[i].Tensor
		if t == nil || t.Store.Context == to || t.Store.Context == rt.CPU && t.Store.Displacement == 0 {
			continue
		}
		u, err := caller.Carry(t, to, on)
		if err != nil {
			g.free()
			return g, false, err
		}
		u.Store.Displace(from)
		g.in[i].Tensor, g.made = u, append(g.made, u)
	}
	return g, true, nil
}

// meeting is the device where operands meet, and on the CPU the mark that copies get there. ok is false where an operand may not
// go there, or none has to.
func meeting(rt *runtime.Runtime, row *op.Row, in []runtime.Operand, out *runtime.Tensor) (to *runtime.Context, from int32, ok bool) {
	from = displacement(in)
	complexes := false
	for i := range in {
		t := in[i].Tensor
		if t == nil {
			continue
		}
		complexes = complexes || t.Store.Displacement != 0 && t.DType.IsComplex()
		switch {
		case t.Store.Context != rt.CPU && to != nil && to != t.Store.Context, t.Store.Traced != nil:
			return nil, 0, false
		case t.Store.Context != rt.CPU:
			to = t.Store.Context
		case t.Rank > 0 && t.Store.Displacement == 0 && out == nil:
			return nil, 0, false
		}
	}
	switch {
	case out != nil && out.Store.Context == rt.CPU:
		return rt.CPU, out.Store.Displacement, out.Store.Displacement != 0
	case out != nil && (from == 0 || to != nil && to != out.Store.Context):
		return nil, 0, false
	case out != nil:
		to = out.Store.Context
	case to == nil || from == 0:
		return nil, 0, false
	}
	if complexes && row != runtime.AssignRow { // which drops imaginary parts
		return rt.CPU, from, out == nil
	}
	return to, 0, true
}

// DTypeOn is the dtype of a tensor on a device: float32 for one that is displaced from it, because of its dtype.
func DTypeOn(t *runtime.Tensor, c *runtime.Context) dtype.DType {
	if t.Store.Displacement != 0 && !t.DType.IsComplex() && c.Supports("", t.DType) != nil {
		return dtype.Float32
	}
	return t.DType
}

// DisplacedLike marks a tensor that was just made as another one is.
func DisplacedLike(t *runtime.Tensor) func(made *runtime.Tensor, err error) (*runtime.Tensor, error) {
	return func(made *runtime.Tensor, err error) (*runtime.Tensor, error) {
		if err == nil {
			made.Store.Displace(t.Store.Displacement)
		}
		return made, err
	}
}

// readIn makes the operands of a traced call what they are to the trace of a device.
func readIn(n *runtime.Node, c *runtime.Context, in []runtime.Operand) {
	for i := range in {
		if t := in[i].Tensor; t != nil && t.Store.Displacement != 0 && c != c.Runtime.CPU {
			k := &n.In[i]
			k.DType, k.Context, k.Displaced = DTypeOn(t, c), c, 0
		}
	}
}

// The cast and the copy are two calls, so that each has its node where the call is recorded: the gradient of the copy is the copy back, and
// that of the cast the cast back. The result of the cast is displaced like its operand, and freed when it has been copied.

// Carry copies a tensor to another device, as float32 if that device lacks its dtype.
func (c Caller) Carry(t *runtime.Tensor, to *runtime.Context, on *runtime.Stream) (*runtime.Tensor, error) {
	if to.Supports(CastRow.Name, t.DType) == nil {
		return c.To(t, to, true, on)
	}
	cast, err := c.Call(CastRow, []runtime.Operand{{Tensor: t}}, CastTo(dtype.Float32), nil, on)
	if err != nil {
		return nil, err
	}
	defer c.Free(cast[0].Handle())
	return c.To(cast[0], to, true, on)
}

// callGathered is callAs with operands that displaced tensors keep apart; ok is false for others.
func callGathered(rt *runtime.Runtime, row *op.Row, in []runtime.Operand, at op.Attrs, on *runtime.Stream, mode runtime.Mode) (made []*runtime.Tensor, ok bool, err error) {
	g, ok, err := gather(rt, row, in, nil, on, mode)
	if !ok {
		return nil, err != nil, err
	}
	defer g.free()
	made, err = callAs(rt, row, g.in, at, nil, on, mode)
	return made, true, err
}

// callIntoGathered is callIntoAs with operands that displaced tensors keep apart from each other or from out; ok is false for others.
func callIntoGathered(rt *runtime.Runtime, row *op.Row, in []runtime.Operand, at op.Attrs, out *runtime.Tensor, on *runtime.Stream, mode runtime.Mode) (ok bool, err error) {
	g, ok, err := gather(rt, row, in, out, on, mode)
	if !ok {
		return err != nil, err
	}
	defer g.free()
	return true, callIntoAs(rt, row, g.in, at, out, on, mode)
}

// Bring is To for a place that may be the CPU of displaced tensors: from is the mark of the result, 0 for none. A tensor on the CPU
// with another mark is copied, because views share theirs.
func (c Caller) Bring(t *runtime.Tensor, to *runtime.Context, from int32, copy bool, on *runtime.Stream) (*runtime.Tensor, error) {
	if to != c.CPU || t.Store.Traced != nil || t.Store.Context == to && t.Store.Displacement == from && !copy {
		return c.To(t, to, copy, on)
	}
	u, err := c.To(t, to, true, on)
	if err == nil {
		u.Store.Redisplace(from) // the mark may be that of its operand, where it is a call
	}
	return u, err
}

// The fast path of operators makes no list of results, and its result is never a view: what is left of the question is whether one of
// two operands is displaced.
