package runtime

import (
	"slices"

	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// What is recorded, and when: calls of operators, calls that write into a tensor, moves between devices, basic indexing, and
// functions of the caller. Each makes a node (history.go) from its operands, and names it as the history of its results.

// watches reports whether a call with this operand may be recorded or traced, for paths that do neither.
func (m Mode) watches(t *Tensor) bool {
	return t != nil && (m&Recording != 0 && t.latest() != nil || t.store.traced != nil)
}

// records reports whether a call is to be recorded, and refuses one whose operands are not what they were.
//
// The answer is made before the call runs, and what is refused is refused then: nothing has been computed or written.
func records(row *op.Row, in []Operand, mode Mode) (bool, error) {
	if !mode.has(Recording) {
		return false, nil
	}
	asked := false
	for i := range in {
		h := in[i].Tensor.asks()
		if h == nil {
			continue
		}
		asked = true
		if h.opaque && h.version != in[i].Tensor.store.changes() {
			return false, status.Errorf(status.Invalid, "[%s] operand %d is what a PyLayer returned, a view of memory that was changed in place since; want the view made anew", row.Name, i)
		}
	}
	if asked && row.Grad.Compact && !in[0].Tensor.IsContiguous() && !in[0].Tensor.readsOrigin() {
		return false, status.Errorf(status.Unsupported, "[%s] the gradient of a tensor that is not contiguous does not exist yet; want x.contiguous()", row.Name)
	}
	return asked && !row.Grad.Constant, nil
}

// record makes the node of a call, which its results name. Results of integers and bools ask for none. The results are
// freed where the row has no gradient.
//
// Everything that a node keeps is a view with a reference to its storage. Nothing is copied: a value that is overwritten
// before the backward pass is found by its version.
func (rt *Runtime) record(row *op.Row, in []Operand, at op.Attrs, out []*Tensor) ([]*Tensor, error) {
	if !slices.ContainsFunc(out, func(t *Tensor) bool { return differentiable(t.dtype) }) {
		return out, nil
	}
	if row.Grad.Rule == nil {
		for _, t := range out {
			rt.Free(t.handle)
		}
		return nil, withoutGradient(row.Name)
	}
	if row.Grad.Compact && !in[0].Tensor.IsContiguous() {
		out[0].recordPart()
		return out, nil
	}
	n := newNode(row, slices.Clone(at))
	n.keepOperands(in)
	if out[0].Traced() {
		n.readIn(out[0].store.ctx, in)
	}
	for i, t := range out {
		n.keepResult(i, t)
	}
	for i, t := range out {
		if differentiable(t.dtype) {
			t.inherit(&history{node: n, index: i})
		}
	}
	return out, nil
}

func withoutGradient(name string) error {
	return status.Errorf(status.Unsupported, "[%s] has no gradient yet; want operands with stop_gradient=True, or no_grad()", name)
}

// share notes whether a result of a function of the caller shares memory with an operand.
func (h *history) share(t *Tensor, in []Operand) {
	for i := range in {
		if x := in[i].Tensor; x != nil && x.store.sharesWith(t.store) {
			h.opaque, h.version = true, t.store.changes()
		}
	}
}

// Apply makes results those of a function of the caller: gradients go through its Backward. The operands are those that
// the function was computed from. Where none of them asks for gradients nothing is recorded, and the function closed.
//
// Results of integers and bools are left alone. A result that is an operand has to be another handle, or the operand would
// become its own result.
func (rt *Runtime) Apply(f *Function, in, out []*Tensor) {
	operands, asked := make([]Operand, len(in)), false
	for i, t := range in {
		operands[i].Tensor = t
		asked = asked || t.asks() != nil
	}
	if !asked {
		if f.Close != nil {
			f.Close()
		}
		return
	}
	n := newNode(nil, nil)
	n.custom = f
	f.refs.Add(1)
	n.refs.Add(1)
	defer n.release()
	n.keepOperands(operands)
	for i, t := range out {
		n.keepResult(i, t)
	}
	for i, t := range out {
		if differentiable(t.dtype) {
			h := &history{node: n, index: i}
			h.share(t, operands)
			t.inherit(h)
		}
	}
}

// To is Tensor.To; in mode Recording the copy has a gradient if the tensor asks for one.
//
// A move is a node of its own kind and no row: its gradient is the move back.
func (c Caller) To(t *Tensor, to *Context, copy bool, on *Stream) (*Tensor, error) {
	if t.store.traced != nil {
		return t.toTraced(to, copy, c.mode)
	}
	if to == t.store.ctx && c.mode.watches(t) {
		if !copy {
			return t.Same()
		}
		made, err := c.Call(assign, []Operand{{Tensor: t}}, nil, nil, on)
		if err != nil {
			return nil, err
		}
		return made[0], nil
	}
	u, err := t.To(to, copy, on)
	if err != nil || !c.mode.watches(t) || t.asks() == nil {
		return u, err
	}
	n := newNode(nil, nil)
	n.kind = movedNode
	n.keepOperands([]Operand{{Tensor: t}})
	n.keepResult(0, u)
	u.inherit(&history{node: n})
	return u, nil
}

// Index is Tensor.Index; in mode Recording the view has a gradient if the tensor asks for one.
//
// Basic indexing is no operator of the table, because it takes a shorter way. It is recorded as the slice that it amounts to;
// axes of one element that come or go do not matter to the gradient.
func (c Caller) Index(t *Tensor, items []IndexItem, on *Stream) (*Tensor, error) {
	if t.store.traced != nil || on.Traces() {
		return c.indexTraced(t, items, on)
	}
	if !c.mode.watches(t) {
		return t.Index(items)
	}
	in := []Operand{{Tensor: t}}
	asked, err := records(slicing, in, c.mode)
	if err != nil {
		return nil, err
	}
	v, err := t.Index(items)
	if err != nil || !asked {
		return v, err
	}
	_, err = c.record(slicing, in, sliceOf(t, items), []*Tensor{v})
	return v, err
}

// slicing is the operator that basic indexing is recorded as; its gradient takes any shape of the same elements.
var slicing = op.ByID(op.IDSlice)

// sliceOf is an index expression as attributes of slice. The expression is valid for the tensor.
//
// Integers become slices of one element. New axes are left out.
func sliceOf(t *Tensor, items []IndexItem) op.Attrs {
	var axes, starts, ends, steps []int64
	left, _ := ellipsisAxes(items, t.Rank)
	axis := int64(0)
	for i := range items {
		it := &items[i]
		var start, end, step int64
		switch it.Kind {
		case IndexNewAxis:
			continue
		case IndexEllipsis:
			axis += int64(left)
			continue
		case IndexInt:
			if start = it.Start; start < 0 {
				start += t.Dims[axis]
			}
			end, step = start+1, 1
		default:
			start, end, step = it.bounds(t.Dims[axis])
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
func (c Caller) indexTraced(t *Tensor, items []IndexItem, on *Stream) (*Tensor, error) {
	if err := untraced(slicing.Name, []Operand{{Tensor: t}}, on); err != nil {
		return nil, err
	}
	if on.Traces() && on.trace.IsNumber(t) {
		return t.Index(items)
	}
	v, err := t.Index(items) // a layout without memory
	if err != nil {
		return nil, err
	}
	to := v.Shape
	c.Free(v.handle)
	part := t
	if at := sliceOf(t, items); len(at[op.SliceAxes].Ints) > 0 {
		made, err := c.Call(slicing, []Operand{{Tensor: t}}, at, nil, on)
		if err != nil {
			return nil, err
		}
		part = made[0]
	}
	if part != t && part.Shape == to {
		return part, nil
	}
	made, err := c.Call(reshaping, []Operand{{Tensor: part}}, op.Attrs{op.ReshapeShape: {Kind: op.Ints, Ints: to.Slice()}}, nil, on)
	if part != t {
		c.Free(part.handle)
	}
	if err != nil {
		return nil, err
	}
	return made[0], nil
}

var reshaping = op.ByID(op.IDReshape)

// changing is asked before a call writes into out: about calls that write their result (callInto), and the results of programs. What
// is recorded of the operands is what they are before the call.
//
// It refuses, while gradients are recorded, what Paddle and PyTorch refuse: a leaf that asks for gradients, and a view of one. A leaf
// that changes would make its gradient that of a value which is gone. Further it refuses views that a function of the caller has made
// of its operand, and, where gradients would have to pass between them, views of another dtype and those of tensors that are not
// contiguous, which have no layout of their own in a gradient.
func (rt *Runtime) changing(row *op.Row, in []Operand, at op.Attrs, out *Tensor, mode Mode) (c change, err error) {
	h := out.asks()
	if old := out.history.Load(); h == nil && old != nil && !old.node.leaf {
		c.stale = true
	}
	if c.recording = mode.has(Recording); !c.recording {
		return c, nil
	}
	asked, err := records(row, in, mode)
	if err != nil {
		return c, err
	}
	o := out.origin()
	whole := o.asks()
	switch {
	case h != nil && h.node.leaf:
		return c, status.Errorf(status.Invalid, "[%s] the output is a leaf that asks for gradients; want no_grad() to change it in place, or a new tensor", row.Name)
	case whole != nil && whole.node.leaf:
		return c, status.Errorf(status.Invalid, "[%s] the output is a view of a leaf that asks for gradients; want no_grad() to change it in place, or a new tensor", row.Name)
	case h != nil && h.opaque:
		return c, status.Errorf(status.Unsupported, "[%s] the output is what a PyLayer returns and shares memory with its operand; want a copy to change", row.Name)
	case asked && differentiable(out.dtype) && (o == nil && out.viewed || o != nil && o.bits):
		return c, status.Errorf(status.Unsupported, "[%s] the output is a view of a tensor of another dtype, whose gradient would be lost; want that tensor changed", row.Name)
	case (asked || whole != nil) && o != nil && o.refs.Load() > 1 && !o.IsContiguous():
		return c, status.Errorf(status.Unsupported, "[%s] the output is, or has, a view of a tensor that is not contiguous, and gradients cannot pass between them; want x.contiguous() first", row.Name)
	}
	if !asked || !differentiable(out.dtype) {
		switch {
		case o != nil && !o.covers(out):
			c.constant = o.matters()
		case h != nil:
			c.node = rt.overwritten(out)
		}
		return c, nil
	}
	if row.Grad.Rule == nil {
		return c, withoutGradient(row.Name)
	}
	c.node = newNode(row, slices.Clone(at))
	c.node.keepOperands(in)
	c.node.refs.Add(1)
	return c, nil
}
