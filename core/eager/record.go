package eager

import (
	"slices"

	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// What is recorded, and when: calls of operators, calls that write into a tensor, moves between devices, basic indexing, and
// functions of the caller. Each makes a node (core/runtime/history.go) from its operands, and names it as the history of its results.

// watches reports whether a call with this operand may be recorded or traced, for paths that do neither.
func watches(m runtime.Mode, t *runtime.Tensor) bool {
	return t != nil && (m&runtime.Recording != 0 && t.LatestHistory() != nil || t.Store.Traced != nil)
}

// records reports whether a call is to be recorded, and refuses one whose operands are not what they were.
//
// The answer is made before the call runs, and what is refused is refused then: nothing has been computed or written.
func records(row *op.Row, in []runtime.Operand, mode runtime.Mode) (bool, error) {
	if !mode.Has(runtime.Recording) {
		return false, nil
	}
	asked := false
	for i := range in {
		h := in[i].Tensor.AskedHistory()
		if h == nil {
			continue
		}
		asked = true
		if h.Opaque && h.Version != in[i].Tensor.Store.Changes() {
			return false, status.Errorf(status.Invalid, "[%s] operand %d is what a PyLayer returned, a view of memory that was changed in place since; want the view made anew", row.Name, i)
		}
	}
	if asked && row.Grad.Compact && !in[0].Tensor.IsContiguous() && !in[0].Tensor.ReadsOrigin() {
		return false, status.Errorf(status.Unsupported, "[%s] the gradient of a tensor that is not contiguous does not exist yet; want x.contiguous()", row.Name)
	}
	return asked && !row.Grad.Constant, nil
}

// record makes the node of a call, which its results name. Results of integers and bools ask for none. The results are
// freed where the row has no gradient.
//
// Everything that a node keeps is a view with a reference to its storage. Nothing is copied: a value that is overwritten
// before the backward pass is found by its version.
func record(rt *runtime.Runtime, row *op.Row, in []runtime.Operand, at op.Attrs, out []*runtime.Tensor) ([]*runtime.Tensor, error) {
	if !slices.ContainsFunc(out, func(t *runtime.Tensor) bool { return runtime.Differentiable(t.DType) }) {
		return out, nil
	}
	if row.Grad.Rule == nil {
		for _, t := range out {
			rt.Free(t.Handle())
		}
		return nil, withoutGradient(row.Name)
	}
	if row.Grad.Compact && !in[0].Tensor.IsContiguous() {
		out[0].RecordPart()
		return out, nil
	}
	n := runtime.NewNode(row, slices.Clone(at))
	n.KeepOperands(in)
	if out[0].Traced() {
		readIn(n, out[0].Store.Context, in)
	}
	for i, t := range out {
		n.KeepResult(i, t)
	}
	for i, t := range out {
		if runtime.Differentiable(t.DType) {
			t.InheritHistory(&runtime.History{Node: n, Index: i})
		}
	}
	return out, nil
}

func withoutGradient(name string) error {
	return status.Errorf(status.Unsupported, "[%s] has no gradient yet; want operands with stop_gradient=True, or no_grad()", name)
}

// share notes whether a result of a function of the caller shares memory with an operand.
func share(h *runtime.History, t *runtime.Tensor, in []runtime.Operand) {
	for i := range in {
		if x := in[i].Tensor; x != nil && x.Store.SharesWith(t.Store) {
			h.Opaque, h.Version = true, t.Store.Changes()
		}
	}
}

// Apply makes results those of a function of the caller: gradients go through its Backward. The operands are those that
// the function was computed from. Where none of them asks for gradients nothing is recorded, and the function closed.
//
// Results of integers and bools are left alone. A result that is an operand has to be another handle, or the operand would
// become its own result.
func Apply(rt *runtime.Runtime, f *runtime.Function, in, out []*runtime.Tensor) {
	operands, asked := make([]runtime.Operand, len(in)), false
	for i, t := range in {
		operands[i].Tensor = t
		asked = asked || t.AskedHistory() != nil
	}
	if !asked {
		if f.Close != nil {
			f.Close()
		}
		return
	}
	n := runtime.NewNode(nil, nil)
	n.Custom = f
	f.Refs.Add(1)
	n.Refs.Add(1)
	defer n.Release()
	n.KeepOperands(operands)
	for i, t := range out {
		n.KeepResult(i, t)
	}
	for i, t := range out {
		if runtime.Differentiable(t.DType) {
			h := &runtime.History{Node: n, Index: i}
			share(h, t, operands)
			t.InheritHistory(h)
		}
	}
}

// To is Tensor.To; in mode Recording the copy has a gradient if the tensor asks for one.
//
// A move is a node of its own kind and no row: its gradient is the move back.
func (c Caller) To(t *runtime.Tensor, to *runtime.Context, copy bool, on *runtime.Stream) (*runtime.Tensor, error) {
	if t.Store.Traced != nil {
		return t.ToTraced(to, copy, c.mode)
	}
	if to == t.Store.Context && watches(c.mode, t) {
		if !copy {
			return t.Same()
		}
		made, err := c.Call(runtime.AssignRow, []runtime.Operand{{Tensor: t}}, nil, nil, on)
		if err != nil {
			return nil, err
		}
		return made[0], nil
	}
	u, err := t.To(to, copy, on)
	if err != nil || !watches(c.mode, t) || t.AskedHistory() == nil {
		return u, err
	}
	n := runtime.NewNode(nil, nil)
	n.Kind = runtime.MovedNode
	n.KeepOperands([]runtime.Operand{{Tensor: t}})
	n.KeepResult(0, u)
	u.InheritHistory(&runtime.History{Node: n})
	return u, nil
}

// Index is Tensor.Index; in mode Recording the view has a gradient if the tensor asks for one.
//
// Basic indexing is no operator of the table, because it takes a shorter way. It is recorded as the slice that it amounts to;
// axes of one element that come or go do not matter to the gradient.
func (c Caller) Index(t *runtime.Tensor, items []runtime.IndexItem, on *runtime.Stream) (*runtime.Tensor, error) {
	if t.Store.Traced != nil || on.Traces() {
		return c.indexTraced(t, items, on)
	}
	if !watches(c.mode, t) {
		return t.Index(items)
	}
	in := []runtime.Operand{{Tensor: t}}
	asked, err := records(slicing, in, c.mode)
	if err != nil {
		return nil, err
	}
	v, err := t.Index(items)
	if err != nil || !asked {
		return v, err
	}
	_, err = record(c.Runtime, slicing, in, sliceOf(t, items), []*runtime.Tensor{v})
	return v, err
}

// slicing is the operator that basic indexing is recorded as; its gradient takes any shape of the same elements.
var slicing = op.ByID(op.IDSlice)

// sliceOf is an index expression as attributes of slice. The expression is valid for the tensor.
//
// Integers become slices of one element. New axes are left out.
func sliceOf(t *runtime.Tensor, items []runtime.IndexItem) op.Attrs {
	var axes, starts, ends, steps []int64
	left, _ := runtime.EllipsisAxes(items, t.Rank)
	axis := int64(0)
	for i := range items {
		it := &items[i]
		var start, end, step int64
		switch it.Kind {
		case runtime.IndexNewAxis:
			continue
		case runtime.IndexEllipsis:
			axis += int64(left)
			continue
		case runtime.IndexInt:
			if start = it.Start; start < 0 {
				start += t.Dims[axis]
			}
			end, step = start+1, 1
		default:
			start, end, step = it.Bounds(t.Dims[axis])
		}
		axes, starts = append(axes, axis), append(starts, start)
		ends, steps = append(ends, end), append(steps, step)
		axis++
	}
	list := func(v []int64) op.Value { return op.Value{Kind: op.Ints, Ints: v} }
	return op.Attrs{op.SliceAxes: list(axes), op.SliceStarts: list(starts), op.SliceEnds: list(ends), op.SliceSteps: list(steps)}
}

// indexTraced is basic indexing while calls are traced: the slice that it amounts to, in the shape of the view.
//
// Integers are slices of one element whose axis a reshape removes, and new axes are added by it. Both are views, so that a
// write into the result reaches t.
func (c Caller) indexTraced(t *runtime.Tensor, items []runtime.IndexItem, on *runtime.Stream) (*runtime.Tensor, error) {
	if err := untraced(slicing.Name, []runtime.Operand{{Tensor: t}}, on); err != nil {
		return nil, err
	}
	if on.Traces() && on.Tracer.IsNumber(t) {
		return t.Index(items)
	}
	v, err := t.Index(items) // a layout without memory
	if err != nil {
		return nil, err
	}
	to := v.Shape
	c.Free(v.Handle())
	part := t
	if at := sliceOf(t, items); len(at[op.SliceAxes].Ints) > 0 {
		made, err := c.Call(slicing, []runtime.Operand{{Tensor: t}}, at, nil, on)
		if err != nil {
			return nil, err
		}
		part = made[0]
	}
	if part != t && part.Shape == to {
		return part, nil
	}
	made, err := c.Call(reshaping, []runtime.Operand{{Tensor: part}}, op.Attrs{op.ReshapeShape: {Kind: op.Ints, Ints: to.Slice()}}, nil, on)
	if part != t {
		c.Free(part.Handle())
	}
	if err != nil {
		return nil, err
	}
	return made[0], nil
}

var reshaping = op.ByID(op.IDReshape)

// Changing is asked before a call writes into out: about calls that write their result (CallInto), and the results of programs. What
// is recorded of the operands is what they are before the call.
//
// It refuses, while gradients are recorded, what Paddle and PyTorch refuse: a leaf that asks for gradients, and a view of one. A leaf
// that changes would make its gradient that of a value which is gone. Further it refuses views that a function of the caller has made
// of its operand, and, where gradients would have to pass between them, views of another dtype and those of tensors that are not
// contiguous, which have no layout of their own in a gradient.
func Changing(rt *runtime.Runtime, row *op.Row, in []runtime.Operand, at op.Attrs, out *runtime.Tensor, mode runtime.Mode) (c runtime.Change, err error) {
	h := out.AskedHistory()
	if old := out.History.Load(); h == nil && old != nil && !old.Node.Leaf {
		c.Stale = true
	}
	if c.Recording = mode.Has(runtime.Recording); !c.Recording {
		return c, nil
	}
	asked, err := records(row, in, mode)
	if err != nil {
		return c, err
	}
	o := out.Origin()
	whole := o.AskedHistory()
	switch {
	case h != nil && h.Node.Leaf:
		return c, status.Errorf(status.Invalid, "[%s] the output is a leaf that asks for gradients; want no_grad() to change it in place, or a new tensor", row.Name)
	case whole != nil && whole.Node.Leaf:
		return c, status.Errorf(status.Invalid, "[%s] the output is a view of a leaf that asks for gradients; want no_grad() to change it in place, or a new tensor", row.Name)
	case h != nil && h.Opaque:
		return c, status.Errorf(status.Unsupported, "[%s] the output is what a PyLayer returns and shares memory with its operand; want a copy to change", row.Name)
	case asked && runtime.Differentiable(out.DType) && (o == nil && out.IsView || o != nil && o.Bits):
		return c, status.Errorf(status.Unsupported, "[%s] the output is a view of a tensor of another dtype, whose gradient would be lost; want that tensor changed", row.Name)
	case (asked || whole != nil) && o != nil && o.Refs.Load() > 1 && !o.IsContiguous():
		return c, status.Errorf(status.Unsupported, "[%s] the output is, or has, a view of a tensor that is not contiguous, and gradients cannot pass between them; want x.contiguous() first", row.Name)
	}
	if !asked || !runtime.Differentiable(out.DType) {
		switch {
		case o != nil && !o.Covers(out):
			c.Constant = o.Matters()
		case h != nil:
			c.Node = rt.OverwrittenNode(out)
		}
		return c, nil
	}
	if row.Grad.Rule == nil {
		return c, withoutGradient(row.Name)
	}
	c.Node = runtime.NewNode(row, slices.Clone(at))
	c.Node.KeepOperands(in)
	c.Node.Refs.Add(1)
	return c, nil
}
